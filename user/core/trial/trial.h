/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a container stops well: what graced try concludes from the record of a stop and from what
 * it has seen itself meanwhile.
 */
#ifndef CORE_TRIAL_TRIAL_H
#define CORE_TRIAL_TRIAL_H

#include "base/buf.h"
#include "core/stop/record.h"

struct trial_facts {
	const struct record_stop *stop;
	uint64_t within_ns; /* how long a good stop takes at most; 0: up to its grace period */
	/* For how long connections to it were refused while it ran; 0: none was, or none was tried.
	 */
	uint64_t refused_ns;
	bool unlooked;	/* where its processes were is not known */
	bool elsewhere; /* a process of it was in another cgroup, whose ends are not seen */
};

struct trial {
	enum trial_verdict verdict;
	uint32_t reasons; /* bits 1 << enum trial_reason; 0: it went well */
};

struct trial trial_judge(const struct trial_facts *facts);

/* Adds the verdict as a sentence. */
void trial_add_verdict(struct buf *out, const struct trial *trial, const struct trial_facts *facts);

/* What to do, beside what the stop's own story says; NULL: nothing. */
const char *trial_remedy(enum trial_reason reason);

#endif
