/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof of death by the next boot: an earlier boot of this node ended uncleanly, and the API still
 * has pods on the node. No process goes through the start of a kernel, so they are dead; what makes
 * the taint a lie is a kubelet of this boot, which starts the same pods again. So the taint stands
 * only while systemd holds the kubelet back because this daemon's own unit is not up yet, and is
 * removed before that ends. Whoever comes later does nothing.
 *
 * How long the start of the node is held is bounded, whatever the API server does: PROOF_HOLD_NS.
 */
#ifndef CORE_BOOT_PROOF_H
#define CORE_BOOT_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/shutdown/death.h"
#include "core/stop/record.h"
#include "core/words/words.h"

/* Until it is known whether there is anything to prove: the network may not be up yet. */
#define PROOF_LOOK_NS  15000000000ULL
#define PROOF_SET_NS   5000000000ULL
/* Pod garbage collection looks every 20 s (docs/kubelet-rules.md, "Out-of-service taint"). */
#define PROOF_STAND_NS 30000000000ULL
#define PROOF_CLEAR_NS 5000000000ULL
#define PROOF_HOLD_NS  (PROOF_LOOK_NS + PROOF_SET_NS + PROOF_STAND_NS + PROOF_CLEAR_NS)
#define PROOF_LIST_NS  1000000000ULL /* between two lists of pods */

/* --- who holds the kubelet back ----------------------------------------------------------------- */

#define PROOF_UNITS_MAX 16

/* A unit in which a kubelet runs, as systemd has it. */
struct proof_unit {
	bool after;  /* it is started after this daemon's own unit is up */
	bool idle;   /* it is inactive: no process, and it has not failed */
	bool queued; /* a job to start it waits */
};

struct proof_order {
	bool starting; /* this daemon's own unit is not up yet */
	size_t n;
	struct proof_unit units[PROOF_UNITS_MAX];
};

/* A kubelet is about to be started, and none of them is before this daemon is up. */
bool proof_order_holds(const struct proof_order *order);

/* --- the course --------------------------------------------------------------------------------- */

/* What this boot has shown so far. */
struct proof_facts {
	bool complete;	 /* every cgroup that there was at the start is known */
	bool lost;	 /* a record of the kernel half was */
	size_t occupied; /* pods with a cgroup */
	bool shutdown;	 /* one of this boot is announced */
};

enum proof_event_type {
	PROOF_EV_FACTS,
	PROOF_EV_ORDER,	  /* failed: systemd has not answered */
	PROOF_EV_LISTED,  /* answers PROOF_LIST */
	PROOF_EV_SET,	  /* answers PROOF_SET */
	PROOF_EV_CLEARED, /* answers PROOF_CLEAR */
	PROOF_EV_TIMER,
};

struct proof_event {
	enum proof_event_type type;
	bool failed;
	struct proof_facts facts;
	bool holds;	/* ORDER */
	size_t waiting; /* LISTED: pods of the node that the taint is to remove */
};

/* What the edge has to do; the answer is an event. */
enum proof_command { PROOF_NOTHING, PROOF_LIST, PROOF_SET, PROOF_CLEAR };

enum proof_stage {
	PROOF_LOOKING,
	PROOF_SETTING,
	PROOF_STANDING,
	PROOF_CLEARING,
	PROOF_OVER,
};

struct proof {
	enum proof_stage stage;
	enum proof_end end;
	char dead[DEATH_BOOT_SIZE], boot[DEATH_BOOT_SIZE];
	struct proof_facts facts;
	bool facts_known, order_known, holds;
	bool listing, listed; /* listed: waiting is of this stage */
	size_t waiting;
	uint64_t stage_ns; /* when the stage began */
	uint64_t list_ns;  /* when the next list is due */
};

/* dead: the boot that ended, and its verdict; now_boot: this one. Strings are copied. */
void proof_begin(struct proof *proof, enum boot_end end, const char *dead, const char *now_boot,
		 uint64_t now_ns);

/* Takes one event of any kind at any time. */
enum proof_command proof_step(struct proof *proof, const struct proof_event *event,
			      uint64_t now_ns);

/* When what was commanded has to be answered; the stage ends then. */
uint64_t proof_deadline(const struct proof *proof);
/* When PROOF_EV_TIMER is due; UINT64_MAX: never. */
uint64_t proof_wake(const struct proof *proof);

#endif
