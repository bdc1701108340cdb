/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of io/sources/cri share. */
#ifndef IO_SOURCES_CRI_PRIV_H
#define IO_SOURCES_CRI_PRIV_H

#include <sys/types.h>

#include "base/buf.h"
#include "io/sources/cri/cri.h"
#include "wire/runtime/cri.h"

#define PODSRC_CRI_PATH_MAX 108 /* sockaddr_un.sun_path */
#define PODSRC_CRI_SLICE_NS UINT64_C(1000000)
#define PODSRC_CRI_LIST_MAX ((size_t)16 << 20) /* the kubelet takes no longer ones either */

/* --- podsrc_cri_sock.c: whose socket it is ------------------------------------------------------ */

struct podsrc_cri_sock {
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* an inode's number may come back */
};

/* 0 for a socket that nobody but root or this user can have put at path, -ENOENT, -ENOTSOCK,
 * -EPERM, -ELOOP or another of lstat()'s; *ret_text says what is wrong then. */
int podsrc_cri_sock_check(const char *path, struct podsrc_cri_sock *ret, char ret_text[static 160]);
/* Whether another one, or none, is there now. */
bool podsrc_cri_sock_is_replaced(const char *path, const struct podsrc_cri_sock *sock);

/* --- podsrc_cri_queue.c: look-ups, by where they stand ------------------------------------------ */

enum podsrc_cri_place {
	PLACE_WAITING, /* to be asked singly, or listed */
	PLACE_EXITS,   /* the same for those no list answers */
	PLACE_IDLE,    /* nobody waits for it */
	PLACE_LISTED,  /* a list that is under way answers it */
	PLACE_FLYING,  /* a request is under way */
	PLACE_DOOMED,  /* to be told that it failed */
	PLACE_COUNT,
};

struct podsrc_cri_lookup {
	struct podsrc_cri_lookup *prev, *next, *chain;
	char id[META_ID_MAX];
	enum podsrc_cri_place place;
	bool exit;	    /* podsrc_cri_exit() */
	bool seen;	    /* in a list */
	bool lacks_signal;  /* there */
	unsigned int asked; /* how often podsrc_cri_find() wants to be told; 0: by itself */
	unsigned int tries; /* before this one */
};

#define PODSRC_CRI_BUCKETS 1024

struct podsrc_cri_queue {
	struct {
		struct podsrc_cri_lookup *first, *last;
		size_t n;
	} places[PLACE_COUNT];
	struct podsrc_cri_lookup *buckets[PODSRC_CRI_BUCKETS];
	size_t n;
};

struct podsrc_cri_lookup *podsrc_cri_queue_get(const struct podsrc_cri_queue *q, const char *id,
					       bool exit);
/* The new one, or NULL: no room (4096, fewer in PLACE_IDLE), or no memory. */
struct podsrc_cri_lookup *podsrc_cri_queue_add(struct podsrc_cri_queue *q, const char *id,
					       bool exit, enum podsrc_cri_place place);
/* Exits that should wait do so in their own place. */
void podsrc_cri_queue_move(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup,
			   enum podsrc_cri_place place);
void podsrc_cri_queue_remove(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup);
void podsrc_cri_queue_done(struct podsrc_cri_queue *q);

/* --- podsrc_cri_image.c: which stop signal an image has ------------------------------------------
 */

#define PODSRC_CRI_IMAGES 256

struct podsrc_cri_images {
	struct {
		char *key;
		uint32_t signal;
	} list[PODSRC_CRI_IMAGES];
	size_t n, oldest;
};

/* False when it is not known; *ret_signal is 0 where the runtime does not tell. */
bool podsrc_cri_images_get(const struct podsrc_cri_images *images, const char *key,
			   uint32_t *ret_signal);
/* Forgets the oldest where there is no room. */
void podsrc_cri_images_put(struct podsrc_cri_images *images, const char *key, uint32_t signal);
void podsrc_cri_images_done(struct podsrc_cri_images *images);

/* --- the source
 * ----------------------------------------------------------------------------------- */

enum podsrc_cri_phase {
	PHASE_OFF,
	PHASE_DOWN,    /* until the next attempt */
	PHASE_HELLO,   /* asks for the version */
	PHASE_LISTING, /* tells everything */
	PHASE_READY,
};

#define PODSRC_CRI_AGAIN_MAX 256

/* To be asked once more, at a time. */
struct podsrc_cri_again {
	char id[META_ID_MAX];
	bool exit;
	unsigned int tries;
	uint64_t due_ns;
};

struct podsrc_cri_list {
	bool active;
	bool initial;
	bool finishing; /* all is told, but to those who wait for it */
	bool useless;	/* too long to be read */
	struct buf body;
	struct cri_walk walk;
	uint64_t spent_ns; /* CPU time that it takes, or the last one took */
	uint64_t due_ns;   /* of the next one */
};

struct podsrc_cri_stream {
	struct fetch_call *call;
	sd_event_source *slice, *retry;
	struct buf bytes;
	unsigned int failures;
	bool refused; /* the runtime has none */
	bool open;    /* bytes came */
};

struct podsrc_cri {
	sd_event *event;
	struct fetch *fetch;
	struct podsrc_sink sink;
	char endpoint[PODSRC_CRI_PATH_MAX], node[META_NAME_MAX];
	const char *const *search;
	uint64_t timeout_ns, retry_min_ns, retry_max_ns;

	enum podsrc_cri_phase phase;
	char path[PODSRC_CRI_PATH_MAX]; /* of the socket; "" for none */
	struct podsrc_cri_sock sock;
	uint64_t sock_checked_ns;
	size_t candidate;    /* of search */
	uint64_t connection; /* names it: CLOCK_BOOTTIME */
	enum cri_version version;
	struct cri_runtime runtime;
	sd_event_source *retry;
	uint64_t retry_ns;
	uint64_t failures;
	char text[160];

	struct podsrc_cri_call *calls;
	uint64_t answered_ns;	/* the last sensible answer */
	sd_event_source *slice; /* of the list, and of telling the doomed */
	struct podsrc_cri_list list;
	struct podsrc_cri_stream stream;
	struct podsrc_cri_queue queue;
	struct podsrc_cri_images images;
	struct podsrc_cri_again again[PODSRC_CRI_AGAIN_MAX];
	size_t n_again;
	sd_event_source *pace;
	uint64_t pace_ns; /* when it is due; 0: it is not */
	uint64_t credit_ns, credited_ns;
	uint64_t lookups[META_RESULT_COUNT];
};

/* podsrc_cri_call.c: one question. What makes the connection useless ends the session; what is left
 * is told to done, whose call is gone when it returns. */
enum podsrc_cri_verdict {
	VERDICT_ANSWER,
	VERDICT_REFUSED, /* with grpc_status */
	VERDICT_LOST,	 /* too long, or too slow while others were answered */
};

struct podsrc_cri_answer {
	enum podsrc_cri_verdict verdict;
	int grpc_status;
	const void *payload;
	size_t len;
	char text[FETCH_TEXT_MAX];
};

struct podsrc_cri_call;
typedef void (*podsrc_cri_call_fn)(struct podsrc_cri_call *call,
				   const struct podsrc_cri_answer *answer);

struct podsrc_cri_call {
	struct podsrc_cri *cri;
	struct podsrc_cri_call *prev, *next;
	struct fetch_call *fetch;
	enum cri_method method;
	struct podsrc_cri_lookup *lookup; /* NULL: the session's own */
	unsigned int line;		  /* which connection: one call at a time has it */
	char key[CRI_KEY_MAX];
	struct buf body;
	uint64_t begun_ns;
	podsrc_cri_call_fn done;
};

int podsrc_cri_call(struct podsrc_cri *cri, enum cri_method method, const char *key,
		    struct podsrc_cri_lookup *lookup, podsrc_cri_call_fn done);
/* All of them; their look-ups go there. */
void podsrc_cri_call_cancel_all(struct podsrc_cri *cri, enum podsrc_cri_place place);
#define PODSRC_CRI_EVENT_LINE 31
/* For the stream of events, which is a request of another kind. -errno of fetch_start(). */
int podsrc_cri_call_open(struct podsrc_cri *cri, enum cri_method method, const char *key,
			 unsigned int line, struct fetch_request *request, struct fetch_call **ret);

/* podsrc_cri_session.c: finding, connecting, failing. */
int podsrc_cri_session_open(struct podsrc_cri *cri);
void podsrc_cri_session_close(struct podsrc_cri *cri);
/* Backs off; what is asked for has failed. */
void podsrc_cri_session_fail(struct podsrc_cri *cri, const char *what, const char *text);
/* Everything is told. */
void podsrc_cri_session_ready(struct podsrc_cri *cri);
/* Before something is asked: a socket that came, or was replaced, is connected to. */
void podsrc_cri_session_look(struct podsrc_cri *cri);

/* Asks whether it is still there. */
void podsrc_cri_session_probe(struct podsrc_cri *cri);

/* podsrc_cri_list.c: everything the runtime has. */
int podsrc_cri_list_open(struct podsrc_cri *cri);
void podsrc_cri_list_close(struct podsrc_cri *cri);
void podsrc_cri_list_start(struct podsrc_cri *cri, bool initial);
/* Gives up; who waited for it goes there. */
void podsrc_cri_list_abort(struct podsrc_cri *cri, enum podsrc_cri_place place);
/* Tells the doomed, from the event loop. */
void podsrc_cri_list_tell_doomed(struct podsrc_cri *cri);

/* podsrc_cri_look.c: one look-up after another. */
int podsrc_cri_look_open(struct podsrc_cri *cri);
void podsrc_cri_look_close(struct podsrc_cri *cri);
/* Starts what may be started now. */
void podsrc_cri_look_pump(struct podsrc_cri *cri);
void podsrc_cri_look_end(struct podsrc_cri *cri, struct podsrc_cri_lookup *lookup,
			 enum meta_result result);
/* Tells an item, with its image's stop signal where that is known. False when its stop signal is
 * still to be learnt. */
bool podsrc_cri_look_tell(struct podsrc_cri *cri, struct cri_item *item);
/* Counts and tells the end of a podsrc_cri_find(). */
void podsrc_cri_look_done(struct podsrc_cri *cri, const char *id, enum meta_result result);

/* podsrc_cri_events.c: the runtime's stream of them, if it has one. */
int podsrc_cri_events_open(struct podsrc_cri *cri);
void podsrc_cri_events_close(struct podsrc_cri *cri);
void podsrc_cri_events_start(struct podsrc_cri *cri);
void podsrc_cri_events_stop(struct podsrc_cri *cri);

#endif
