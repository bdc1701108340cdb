/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names from a container runtime, by the interface that the kubelet uses (CRI, gRPC over a unix
 * socket). On connecting everything that the runtime has is reported, then what is asked for and,
 * if the runtime has a stream of events, what they say.
 *
 * What it costs is bounded: 4 requests at once, 200 look-ups a second (100 more in a burst) of
 * three requests, 4096 waiting. More than 16 that wait are answered by one list of everything
 * instead, at most one in 100 ms and no more than a tenth of the time: 1,000 new containers a
 * second are ten lists a second. A list is reported in slices of 1 ms.
 *
 * The runtime is trusted because of its socket: a socket that a user other than root (or this user)
 * could have put there is not connected to.
 */
#ifndef IO_SOURCES_CRI_CRI_H
#define IO_SOURCES_CRI_CRI_H

#include <systemd/sd-event.h>

#include "io/fetch/fetch.h"
#include "io/sources/source.h"

struct source_cri;

/* Where runtimes have their sockets, NULL-ended: the first that is there is asked. */
extern const char *const source_cri_places[];

/* Copied, except search. All zero will do. */
struct source_cri_options {
	const char *endpoint;	   /* a path, with or without unix://; NULL: found by itself */
	const char *const *search; /* where, NULL-ended; NULL: source_cri_places */
	const char *node;	   /* its name; NULL: not known */
	uint64_t timeout_ns;	   /* of one request; 0: 2 s */
	uint64_t retry_min_ns, retry_max_ns; /* after a failure, doubling; 0: 100 ms, 30 s */
};

/*
 * Connects from the event loop and for ever again. The client is shared, and must outlive it. A
 * runtime that is not there, or has no CRI, makes it SOURCE_OFF, unless there is an endpoint: then
 * SOURCE_DOWN. -EINVAL for an endpoint that is no absolute path, or too long for a socket; -ENOMEM.
 */
int source_cri_new(sd_event *event, struct fetch *fetch, const struct source_cri_options *options,
		   const struct source_sink *sink, struct source_cri **ret);
/* No look-up is reported any more. */
struct source_cri *source_cri_free(struct source_cri *cri);

/*
 * Looks a container or a sandbox up by its whole ID. done is called once for each call: META_FOUND
 * after its pod, names and, as far as the runtime knows, stop signal were reported; META_ABSENT
 * (also while SOURCE_OFF); META_FAILED; META_SHED. What was absent is looked for five times more
 * within 35 s, since runtimes list a sandbox only when it runs: it is reported then without done.
 */
void source_cri_find(struct source_cri *cri, const char *container_id);

/* Reports META_CTR_EXIT as soon as the runtime knows how a container has ended; queries six times
 * within 35 s, since a runtime on a busy host knows it seconds late. There is no done. */
void source_cri_exit(struct source_cri *cri, const char *container_id);

/* What becomes of a container's preStop hook. */
enum source_cri_hook {
	SOURCE_CRI_HOOK_BEGUN,
	SOURCE_CRI_HOOK_ENDED,	 /* or is not awaited any more */
	SOURCE_CRI_HOOK_NOT_RUN, /* instead of both */
};

#define SOURCE_CRI_HOOK_NAME_MAX (3 * META_NAME_MAX)

/* More that are under way at once are refused. */
#define SOURCE_CRI_STOPS_MAX 512

/* A container to be stopped by the runtime. */
struct source_cri_stop {
	const char *container_id;
	/* It is a sandbox (StopPodSandbox), and only container_id, tag and done are used. A runtime
	 * kills every container that is left in it. */
	bool sandbox;
	uint64_t timeout_s; /* from the stop signal to SIGKILL */
	/* How long its preStop hook may run before; 0: none is run. It is off timeout_s then
	 * (core/pods/kill_grace). */
	uint64_t hook_s;
	uint64_t tag; /* for done */
	/* Once, from the event loop, unless the source is freed: error is NULL when the runtime
	 * answers that the container has ended; else what is wrong, a line for people. That answer
	 * is not proof. */
	void (*done)(void *userdata, uint64_t tag, const char *error);
	/* With hook_s, before done, and perhaps from within source_cri_stop(). name: namespace, pod
	 * and container, or the beginning of its ID; text: NULL, or a line for people: how it
	 * failed, or why it is not run. The stop goes on in any case. */
	void (*hook)(void *userdata, uint64_t tag, enum source_cri_hook what, const char *name,
		     const char *text);
	void *userdata;
};

/*
 * Requests the stop (StopContainer). The call lasts as long as the stop does, on a connection of
 * its own, timeout_s and SOURCE_CRI_STOP_SLACK_NS at most; it ends at once when that connection
 * breaks, as the runtime's death breaks it, and does not end because the runtime answers no other
 * request.
 *
 * With hook_s it first queries the container's preStop hook, for a second, and runs it: a command
 * (ExecSync), or a sleep; other kinds are not run. A command that takes longer is left running, and
 * ends with the container. While the hook runs another request for the same container replaces this
 * one, whose done does not come; the hook is not run again.
 *
 * Copied. -EINVAL for an invalid ID, -ENOTCONN: no runtime answers now, -ENOBUFS: too
 * many are under way, -ENOMEM: then there is no done.
 */
#define SOURCE_CRI_STOP_SLACK_NS UINT64_C(10000000000)
int source_cri_stop(struct source_cri *cri, const struct source_cri_stop *stop);

/* lookups counts what source_cri_find() asked for. */
void source_cri_get_state(const struct source_cri *cri, struct source_state *ret);

#endif
