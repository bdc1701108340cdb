/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was there before the programs were attached, and what the kernel half could not record: the
 * cgroups and their inits.
 */
#ifndef APP_LIVE_SCAN_H
#define APP_LIVE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "app/config/options.h"
#include "app/live/feed.h"
#include "io/cgroup/fs.h"
#include "io/kernel/kernel.h"
#include "io/kernel/ring.h"

struct scan;

/* What a scan works with; all are borrowed. */
struct scan_parts {
	const struct options *options;
	struct feed *feed;
	struct kern *kern;
	struct cgfs *cgfs;
	struct ring *ring;
};

/* 0 or -ENOMEM. */
int scan_new(const struct scan_parts *parts, struct scan **ret);
struct scan *scan_free(struct scan *scan);

/*
 * Watches and feeds every cgroup from the root down to the containers, parents first, each
 * container with its init. To be called with the programs attached: what is made meanwhile is the
 * kernel half's, what vanishes meanwhile is not fed. -errno.
 */
int scan_all(struct scan *scan);

/* Feeds OBS_CGROUP_FOUND for an id, if there is such a cgroup. */
void scan_find(struct scan *scan, uint64_t id);

/* The kernel half's guess of what a cgroup is was wrong: corrects its entry, and what follows from
 * it for the cgroups below and for the init. */
void scan_correct(struct scan *scan, uint64_t id, uint32_t kind);

/* The process is id's init, whatever was guessed: feeds OBS_INIT if it is there. */
void scan_set_init(struct scan *scan, uint64_t id, uint32_t pid);

/*
 * Searches containers that lack an init for a while: feeds OBS_INIT if the kernel half knows it or
 * one of the processes can be taken for it, OBS_NO_INIT (and logs) if there are processes and
 * neither is so. To be called again and again: each call does a bounded part of a round. `again`
 * begins a new round, unless the last one is under way; if a record was being written then, with
 * the next call.
 */
void scan_find_inits(struct scan *scan, bool again);

/* Whether a process is in the cgroup or below it. */
bool scan_populated(struct scan *scan, uint64_t id);

#endif
