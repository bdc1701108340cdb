/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known, while containers run, of whether each would react to its stop signal: which is to
 * be looked at next, and which answer counts.
 *
 * A program installs its handlers some time after it has begun, and a process blocks signals while
 * it starts another one. So no look is taken before an init is HEARING_SETTLE_NS old, one look that
 * finds that the signal takes effect counts at once, and anything else counts when HEARING_LOOKS in
 * a row agree on it. An init that execs another program has the answer of the old one until its
 * next look: after HEARING_AGAIN_NS, or later where more looks are due than the caller takes.
 */
#ifndef CORE_STOP_HEARING_H
#define CORE_STOP_HEARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/stop/audit.h"

#define HEARING_SETTLE_NS AUDIT_STAGE_NS
#define HEARING_LOOKS	  3
#define HEARING_AGAIN_NS  60000000000ull /* from one look to the next while the answer stands */
#define HEARING_MAX	  8192		 /* containers; no answer is known of more */

/* All zero: no container runs. */
struct hearing {
	struct map list;
	bool round;
};

/* The init of a container, by its cgroup's id: another process in the same cgroup is another
 * container. start_ns and times are CLOCK_BOOTTIME. */
struct hearing_init {
	uint64_t id;
	uint64_t start_ns;
	uint32_t pid;
	uint32_t ns_pid;
	uint32_t signal;	/* its stop signal, 1 to 64 */
	struct audit_runs runs; /* of the last look, as struct audit_facts has them */
};

/* The container runs. Another init or stop signal than before: nothing is known of it. 0 or
 * -ENOMEM, or -ENOSPC beyond HEARING_MAX. */
int hearing_seen(struct hearing *h, const struct hearing_init *init);
/* All that run were seen: forgets those that were not since the last call. */
void hearing_end_round(struct hearing *h);

/* The one whose look has been due for longest; false: none is due. */
bool hearing_next(const struct hearing *h, uint64_t now_ns, struct hearing_init *ret);
/* A look was taken, whatever it found (init->runs are its); the next is due a minute later, or at
 * once while looks do not agree: not with the same now_ns. */
void hearing_take(struct hearing *h, const struct hearing_init *init, const struct audit *audit,
		  uint64_t now_ns);

/* Gets the answer that counts. False: looks have not given one yet, or it is unknown. */
bool hearing_get(const struct hearing *h, uint64_t id, uint64_t start_ns, struct audit *ret);

void hearing_done(struct hearing *h);

#endif
