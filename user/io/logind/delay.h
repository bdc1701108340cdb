/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logind's configuration on disk: what its files say of InhibitDelayMaxSec, graced's own drop-in
 * among them, and what keeps that drop-in as it has to be. wire/config/logind and
 * core/shutdown/delay_limit have the rules.
 */
#ifndef IO_LOGIND_DELAY_H
#define IO_LOGIND_DELAY_H

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/shutdown/delay_limit.h"
#include "io/logind/logind.h"

/* It sorts after the kubelet's 99-kubelet.conf, and after what distributions ship. */
#define DELAYDROP_NAME "zz-graced.conf"
#define DELAYDROP_DIR  "/etc/systemd/logind.conf.d"

/* What the kubelet calls its own. */
#define DELAYDROP_KUBELET "99-kubelet.conf"

/* More drop-ins than these are not read. */
#define DELAYDROP_FILES_MAX 256

/* Where logind looks, each with logind.conf and the directory logind.conf.d in it; the first wins
 * over the others. */
#define DELAYDROP_PLACES 4
extern const char *const delaydrop_places[DELAYDROP_PLACES];

/* The files as logind merges them. */
struct delaydrop_files {
	struct delaylimit_file list[DELAYDROP_FILES_MAX];
	unsigned int places[DELAYDROP_FILES_MAX]; /* of each: in which of delaydrop_places */
	size_t n;
	char *names[DELAYDROP_FILES_MAX]; /* owned; what the list points to */
	size_t n_names;
};

/* root goes before each path: "" for the host's own. 0 or -ENOMEM; what cannot be read says
 * nothing. The caller frees *ret by delaydrop_done(). */
int delaydrop_read(const char *root, struct delaydrop_files *ret);
void delaydrop_done(struct delaydrop_files *files);

/* Writes our drop-in for a value of delaylimit_decide(), whole or not at all. -errno: -EROFS where
 * the unit may not write there. */
int delaydrop_write(const char *root, uint64_t us);
/* 1: it is removed, and logind has its value until it reads its files anew; 0: there was none;
 * -errno. */
int delaydrop_remove(const char *root);

/*
 * Keeps logind's InhibitDelayMaxSec high enough, by a drop-in of our own: written, logind made to
 * read it, and read back until it is in effect; raised at once when any other file wants more.
 * core/shutdown/delay_limit decides; docs/kubelet-rules.md, "Delay limit", says why.
 *
 * It queries by an io/logind of its user's, who passes on what that reports of the limit.
 */

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
/* What io/logind reported of the limit, and of the reload. */
void delaykeep_limit(struct delaykeep *k, uint64_t limit_ns);
void delaykeep_reloaded(struct delaykeep *k, const char *error);

void delaykeep_get_state(const struct delaykeep *k, struct delaykeep_state *ret);

#endif
