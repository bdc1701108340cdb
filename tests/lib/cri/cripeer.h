/* SPDX-License-Identifier: Apache-2.0 */
/* A container runtime's CRI, played from the test's own event loop: gRPC over HTTP/2 on a unix
 * socket, with configured containers and, method by method, misbehaviour. */
#ifndef TESTS_LIB_CRI_CRIPEER_H
#define TESTS_LIB_CRI_CRIPEER_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "base/buf.h"
#include "wire/grpc/message.h"
#include "wire/runtime/cri.h"

enum cripeer_act {
	CRIPEER_WELL,
	CRIPEER_SILENT,	  /* never answers */
	CRIPEER_CUT,	  /* half of the body, then it closes the connection */
	CRIPEER_RESET,	  /* half of the body, then RST_STREAM */
	CRIPEER_LONG,	  /* peer.padding bytes of unknown fields before the rest; of lists, all */
	CRIPEER_NOISE,	  /* bytes that are no HTTP/2 */
	CRIPEER_NONSENSE, /* a message that is no protobuf */
	CRIPEER_ERROR,	  /* peer.status */
	CRIPEER_NO_TRAILERS, /* the body ends the stream */
	CRIPEER_COMPRESSED,  /* by its flag */
	CRIPEER_SHORT,	     /* a message announced longer than it is */
	CRIPEER_TWICE,	     /* two messages */
	CRIPEER_EMPTY,	     /* no message, status 0 */
	CRIPEER_503,
	CRIPEER_GOAWAY,	 /* instead of an answer, and the connection stays */
	CRIPEER_TRICKLE, /* a byte every 5 ms, for ever */
	CRIPEER_ACTS,
};

struct cripeer_container {
	char id[META_ID_MAX], name[META_NAME_MAX], pod[META_NAME_MAX], uid[POD_UID_MAX];
	char image[META_IMAGE_MAX];
	bool sandbox;
	uint32_t state;	      /* as CRI numbers it */
	uint32_t stop_signal; /* as CRI numbers it; 0: absent */
	int exit_code;
	const char *hook; /* its preStop handler's JSON; NULL: none */
};

struct cripeer_connection;

struct cripeer {
	sd_event *event;
	char path[108];
	sd_event_source *listener;
	struct cripeer_connection *connections;
	unsigned int accepted;
	bool no_v1, no_v1alpha2, has_events;
	/* It plays the kubelet's pods API instead: its stream is that of events. */
	bool plays_kubelet;
	const struct buf *greeting; /* what each stream of events begins with; NULL: nothing */
	enum cripeer_act act[CRI_METHOD_COUNT];
	const char *mute;    /* an ID whose status is never answered */
	int status;	     /* of CRIPEER_ERROR */
	size_t padding;	     /* of CRIPEER_LONG */
	size_t annotations;  /* bytes of them in each item; 0: none */
	uint64_t delay_usec; /* before each answer */
	bool holds_stops;    /* until cripeer_release_stops() */
	bool holds_execs;    /* likewise */
	int32_t code;	     /* of each command */
	size_t printed;	     /* bytes, by each command */
	uint64_t timeout_s;  /* of the last stop that was requested */
	char command[256];   /* the last one, its arguments joined by '|' */
	unsigned int asked[CRI_METHOD_COUNT], singly[CRI_METHOD_COUNT]; /* with a key */
	unsigned int streams;						/* of events, open now */
	const char *image_signal; /* what every image has; NULL: none */
	struct cripeer_container *containers;
	size_t n, room;
};

/* Nothing listens yet. */
void cripeer_init(struct cripeer *peer, sd_event *event, const char *path);
/* Listens, in place of whatever is at the path. */
void cripeer_listen(struct cripeer *peer);
/* Stops listening and closes all connections, as if it were killed; the socket's file stays. */
void cripeer_die(struct cripeer *peer);
/* Stops listening alone: who is connected stays. */
void cripeer_leave(struct cripeer *peer);
/* All of it, and the file. */
void cripeer_done(struct cripeer *peer);

/* A container, or with name "" a sandbox, of a pod; its ID is the number in 64 digits. It belongs
 * to the peer, until the next is added. */
struct cripeer_container *cripeer_add(struct cripeer *peer, unsigned int number, const char *name,
				      unsigned int pod);
void cripeer_remove_all(struct cripeer *peer);
const char *cripeer_id(unsigned int number, char ret[static META_ID_MAX]);
/* Answers all StopContainer that it holds, or all ExecSync. */
void cripeer_release_stops(struct cripeer *peer);
void cripeer_release_execs(struct cripeer *peer);
/* To every stream of events. */
void cripeer_tell(struct cripeer *peer, const char *id, enum cri_event_type type);
/* Ends every stream of events with that status. */
void cripeer_end_events(struct cripeer *peer, int status);
/* Any bytes to every stream of events. */
void cripeer_tell_bytes(struct cripeer *peer, const void *bytes, size_t len);

/* cripeer_world.c: the message that answers a question, without its prefix; -GRPC_... */
int cripeer_answer(struct cripeer *peer, enum cri_method method, const struct buf *question,
		   struct buf *ret);
/* Whether the question is for the status of peer.mute. */
bool cripeer_is_mute(const struct cripeer *peer, enum cri_method method,
		     const struct buf *question);
void cripeer_event_message(const char *id, enum cri_event_type type, struct buf *ret);

#endif
