/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random tree of processes in a container (helpers/grove.c): what each is to do, drawn from a
 * seed, and what became of it, noted by the tree itself in a file that the test has mapped too.
 * A node is a number: 0 is the init; the pids are those of the tree's own namespace.
 */
#ifndef TESTS_LIB_BOX_GROVE_H
#define TESTS_LIB_BOX_GROVE_H

#include <stdbool.h>
#include <stdint.h>

#define GROVE_NODES 40
#define GROVE_NOTES 4096

/* What a node does with SIGTERM. All other signals it leaves at their default. */
enum grove_manner {
	GROVE_DEFAULT,
	GROVE_IGNORES,
	GROVE_BLOCKS,
	GROVE_HEARS,	/* a handler, and it lives on */
	GROVE_LEAVES,	/* a handler, and it exits a while later */
	GROVE_RERAISES, /* a handler that restores the default and sends it to itself */
	GROVE_MANNERS,
};

/* To whom its handler passes a signal on. */
enum grove_forward { GROVE_TO_NONE, GROVE_TO_FIRST, GROVE_TO_ALL, GROVE_TO_GROUP, GROVE_FORWARDS };

/* What it does when its first child has ended. */
enum grove_follow { GROVE_STAYS, GROVE_PASSES_ON, GROVE_FOLLOWS, GROVE_FOLLOW_COUNT };

enum grove_act { GROVE_RESTS, GROVE_EXITS, GROVE_KILLS, GROVE_FAULTS, GROVE_ABORTS, GROVE_ACTS };

struct grove_plan {
	uint32_t parent, group; /* nodes; the group's leader */
	enum grove_manner manner;
	enum grove_forward forward;
	enum grove_follow follow;
	enum grove_act act;
	uint32_t forward_sig, leave_ms;
	uint32_t act_ms, act_other, act_sig;
};

enum grove_kind {
	GROVE_NONE,
	GROVE_SENT,   /* node sends other a signal: number; value is the call's result */
	GROVE_LEFT,   /* node is about to exit with number */
	GROVE_REAPED, /* node has waited for other: number is the status */
	GROVE_PASSED, /* node is about to exit with number, because other ended so */
};

/* Times are CLOCK_BOOTTIME in ns around the call; after_ns is 0 if the caller did not live to see
 * it. */
struct grove_note {
	uint32_t kind;
	int32_t node, other, number, value;
	uint64_t before_ns, after_ns;
};

struct grove {
	uint32_t n, used;
	uint32_t ready;
	int32_t pids[GROVE_NODES];
	struct grove_plan plans[GROVE_NODES];
	struct grove_note notes[GROVE_NOTES]; /* used may exceed it: the rest fell off */
};

/* Its own code: no other node's, and no signal's. */
static inline int grove_code(int node)
{
	return node + 1;
}

#endif
