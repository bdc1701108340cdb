/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps logind's InhibitDelayMaxSec high enough, by a drop-in of our own: written, logind made to
 * read it, and read back until it is in effect; raised at once when any other file wants more.
 * core/shutdown/delay_limit decides; docs/kubelet-rules.md, "Delay limit", says why.
 *
 * It asks by an io/logind of its user's, who passes on what that tells of the limit.
 */
#ifndef IO_LOGIND_DELAY_KEEP_H
#define IO_LOGIND_DELAY_KEEP_H

#include <stdint.h>
#include <systemd/sd-event.h>

#include "io/logind/logind.h"

enum delaykeep_status {
	DELAYKEEP_UNKNOWN, /* what logind does is not known yet */
	DELAYKEEP_ENOUGH,  /* what is needed is in effect */
	DELAYKEEP_RAISING, /* the drop-in is written, and not in effect yet */
	DELAYKEEP_PINNED,  /* it has no effect: another file has the last word */
	DELAYKEEP_FAILED,  /* it cannot be written, or logind does not read it; tried again */
};

struct delaykeep_state {
	enum delaykeep_status status;
	uint64_t effective_ns, need_ns;
	uint64_t own_ns;     /* what the drop-in says; 0: there is none */
	char pinned_by[256]; /* the file's name; "" for none */
	char text[160];	     /* why it failed, "" for nothing yet */
	uint64_t written;    /* times, since delaykeep_new() */
};

struct delaykeep_sink {
	void *userdata;
	/* The kubelet's configuration may have changed: what is needed may be another. May be NULL.
	 */
	void (*kubelet)(void *userdata);
};

struct delaykeep_options {
	const char *root;	    /* before each path; NULL: "" */
	const char *kubelet_config; /* its file, watched only; NULL: none */
};

struct delaykeep;

/* -errno. logind, event and what sink points to are borrowed. Nothing is written before there is a
 * need. */
int delaykeep_new(sd_event *event, struct logind *logind, const struct delaykeep_options *options,
		  const struct delaykeep_sink *sink, struct delaykeep **ret);
/* The drop-in stays. */
struct delaykeep *delaykeep_free(struct delaykeep *k);

/* What is to be in effect from now on; 0: nothing, but what the drop-in says stays said. */
void delaykeep_need(struct delaykeep *k, uint64_t need_ns);
/* What io/logind told of the limit, and of the reload. */
void delaykeep_limit(struct delaykeep *k, uint64_t limit_ns);
void delaykeep_reloaded(struct delaykeep *k, const char *error);

void delaykeep_get_state(const struct delaykeep *k, struct delaykeep_state *ret);

#endif
