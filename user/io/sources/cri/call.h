/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the runtime: each a unary gRPC call, whose answer makes sense or ends the session;
 * and the look-ups that they are for.
 */
#ifndef IO_SOURCES_CRI_CALL_H
#define IO_SOURCES_CRI_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "core/names/meta.h"
#include "io/fetch/fetch.h"
#include "io/files/socket.h"
#include "io/sources/cri/cri.h"
#include "io/sources/source.h"
#include "wire/grpc/message.h"
#include "wire/runtime/cri.h"

/* Look-ups, by where they stand. */

enum source_cri_place {
	PLACE_WAITING, /* to be asked singly, or listed */
	PLACE_EXITS,   /* the same for those no list answers */
	PLACE_IDLE,    /* no caller waits for it */
	PLACE_LISTED,  /* a list that is under way answers it */
	PLACE_FLYING,  /* a request is under way */
	PLACE_DOOMED,  /* to be answered that it failed */
	PLACE_COUNT,
};

struct source_cri_lookup {
	struct source_cri_lookup *prev, *next, *chain;
	char id[META_ID_MAX];
	enum source_cri_place place;
	bool exit;	    /* source_cri_exit() */
	bool seen;	    /* in a list */
	bool lacks_signal;  /* there */
	unsigned int asked; /* how often source_cri_find() wants an answer; 0: by itself */
	unsigned int tries; /* before this one */
};

#define SOURCE_CRI_BUCKETS 1024

struct source_cri_queue {
	struct {
		struct source_cri_lookup *first, *last;
		size_t n;
	} places[PLACE_COUNT];
	struct source_cri_lookup *buckets[SOURCE_CRI_BUCKETS];
	size_t n;
};

struct source_cri_lookup *source_cri_queue_get(const struct source_cri_queue *q, const char *id,
					       bool exit);
/* The new one, or NULL: no room (4096, fewer in PLACE_IDLE), or no memory. */
struct source_cri_lookup *source_cri_queue_add(struct source_cri_queue *q, const char *id,
					       bool exit, enum source_cri_place place);
/* Exits that should wait do so in their own place. */
void source_cri_queue_move(struct source_cri_queue *q, struct source_cri_lookup *lookup,
			   enum source_cri_place place);
void source_cri_queue_remove(struct source_cri_queue *q, struct source_cri_lookup *lookup);
void source_cri_queue_done(struct source_cri_queue *q);

/* How much of a turn of the loop reading may take. */
#define SOURCE_CRI_SLICE_NS UINT64_C(1000000)

struct source_cri_call;

/* The calls under way, and the connections for them. */
struct source_cri_calls {
	struct fetch *fetch;
	struct source_cri_queue *queue;
	char path[SOCKET_PATH_MAX]; /* of the socket; "" for none */
	uint64_t connection;	    /* names it: CLOCK_BOOTTIME */
	enum cri_version version;
	uint64_t timeout_ns;
	uint64_t answered_ns; /* the last sensible answer */
	LIST_HEAD(, source_cri_call) list;
	/* An answer speaks against the runtime: the session is over. what: the method's name. */
	void (*failed)(void *userdata, const char *what, const char *text);
	void *userdata; /* of failed */
};

/* What makes the connection useless is a failed(); what is left goes to the call's done, whose call
 * is gone when it returns. */
enum source_cri_verdict {
	VERDICT_ANSWER,
	VERDICT_REFUSED, /* with grpc_status */
	VERDICT_LOST,	 /* too long, or too slow while others were answered */
};

struct source_cri_answer {
	enum source_cri_verdict verdict;
	int grpc_status;
	const void *payload;
	size_t len;
	char text[FETCH_TEXT_MAX];
};

typedef void (*source_cri_call_fn)(struct source_cri_call *call,
				   const struct source_cri_answer *answer);

struct source_cri_call {
	struct source_cri_calls *calls;
	LIST_ENTRY(source_cri_call) link;
	struct fetch_call *fetch;
	enum cri_method method;
	struct source_cri_lookup *lookup; /* NULL: the session's own */
	unsigned int line;		  /* which connection: one call at a time has it */
	char key[CRI_KEY_MAX];
	struct buf body;
	uint64_t begun_ns;
	source_cri_call_fn done;
	void *userdata; /* of done */
};

/* lookup: the one that it answers, or NULL. -errno. */
int source_cri_call(struct source_cri_calls *calls, enum cri_method method, const char *key,
		    struct source_cri_lookup *lookup, source_cri_call_fn done, void *userdata);
/* All of them; their look-ups go there. */
void source_cri_call_cancel_all(struct source_cri_calls *calls, enum source_cri_place place);

#define SOURCE_CRI_EVENT_LINE 31
/* For the stream of events and for stops, which are requests of other kinds: they belong to no
 * session. question: cri_request(); line: calls at once have different ones. -errno of
 * fetch_start(). */
int source_cri_call_open(const struct source_cri_calls *calls, enum cri_method method,
			 const struct buf *question, unsigned int line,
			 struct fetch_request *request, struct fetch_call **ret);

/*
 * What the runtime has, found and reported: one container after another, a crowd by a list of
 * everything, and what its events name.
 */

struct source_cri_look;

struct source_cri_look_session {
	void *userdata;
	/* A list makes no sense, or cannot be requested: the session is over. */
	void (*failed)(void *userdata, const char *what, const char *text);
	/* The first list was reported. */
	void (*listed)(void *userdata);
};

/* calls and its queue are the caller's, and outlive it. node: whose containers are reported; NULL:
 * all. -errno. */
int source_cri_look_new(sd_event *event, struct source_cri_calls *calls, const char *node,
			const struct source_sink *sink,
			const struct source_cri_look_session *session,
			struct source_cri_look **ret);
struct source_cri_look *source_cri_look_free(struct source_cri_look *l);

/* connected: the runtime can be asked; ready: its first list was reported, too. */
void source_cri_look_set(struct source_cri_look *l, bool connected, bool ready);
/* For another connection: its lists may be shorter. */
void source_cri_look_renew(struct source_cri_look *l);
/* Lists everything for the first time on this connection. */
void source_cri_look_list(struct source_cri_look *l);
/* Gives the list up; who waited for it goes there. */
void source_cri_look_abort(struct source_cri_look *l, enum source_cri_place place);
/* Answers all that wait that they failed, from the event loop. */
void source_cri_look_doom(struct source_cri_look *l);

/* As source_cri_find(), or with exit as source_cri_exit(), of an ID that is valid. */
void source_cri_look_up(struct source_cri_look *l, const char *id, bool exit);
/* Counts and reports the end of a source_cri_find(). */
void source_cri_look_answer(struct source_cri_look *l, const char *id, enum meta_result result);
/* Reports what an event holds, and looks up what it lacks. */
void source_cri_look_event(struct source_cri_look *l, struct cri_event *event);

void source_cri_look_count(const struct source_cri_look *l, uint64_t ret[META_RESULT_COUNT]);

/*
 * Stops that the runtime was requested to make. They are apart from the session's calls: a stop
 * takes as long as the container wants, and containerd gives a stop up when its client hangs up, so
 * that a session that fails for another reason must not end it.
 */

struct source_cri_stops;

/* calls has the socket and the client, is the caller's and outlives it. -errno. */
int source_cri_stops_new(sd_event *event, const struct source_cri_calls *calls,
			 struct source_cri_stops **ret);
/* Hangs up; there is no done any more. */
struct source_cri_stops *source_cri_stops_free(struct source_cri_stops *stops);

/* As source_cri_stop(), of an ID that is valid. */
int source_cri_stops_add(struct source_cri_stops *stops, const struct source_cri_stop *stop);

#endif
