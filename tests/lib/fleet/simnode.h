/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of a simulated fleet: which pods run on it, and when which container of them stops how.
 * All follows from the node's number and the time, so nothing has to be remembered: the history of
 * a node up to a later time begins with its history up to an earlier one.
 *
 * A node has SIMNODE_SERVICES pods of Deployments, one in four with a sidecar, and SIMNODE_DAEMONS
 * of DaemonSets, which are the same on all nodes. A pod of a Deployment is replaced by one of
 * another workload, which was not on the node before; one stop in four is a restart in its place.
 */
#ifndef TESTS_LIB_FLEET_SIMNODE_H
#define TESTS_LIB_FLEET_SIMNODE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/fleet/cast.h"

#define SIMNODE_SERVICES 22
#define SIMNODE_DAEMONS	 8
/* Pods of one workload in the fleet, on average. */
#define SIMNODE_REPLICAS 15

struct simnode_fleet {
	uint32_t nodes;
	/* Stops of pods of Deployments that an hour has on each node; those of DaemonSets are
	 * replaced once a day. */
	uint32_t stops_an_hour;
};

struct simnode {
	const struct simnode_fleet *fleet;
	uint32_t number;
	int64_t start_s; /* its daemon's, since 1970 */
};

/* How a container ends; each has a recording. */
struct simnode_end {
	const char *recording; /* below tests/replay, without its extension */
	uint32_t weight;
};

/* All ends, without weight at the last one. Ends of containers that are deaf, or restart in their
 * place, are others than those of pods that are deleted. */
extern const struct simnode_end simnode_ends[];

/* A container that runs, or did. */
struct simnode_container {
	const char *namespace_, *workload, *kind, *pod, *uid, *container, *container_id;
	bool deaf;
	int64_t since_s;
};

/* What a walk calls, where it is not NULL; userdata is the caller's. A container begins, stops any
 * number of times, its restarts included, and is alive where it still runs at the end of the walk. */
struct simnode_sink {
	void *userdata;
	void (*begins)(void *userdata, const struct simnode_container *container);
	/* end is an index of simnode_ends; pace is of struct cast_role. */
	void (*stops)(void *userdata, const struct simnode_container *container, int64_t at_s,
		      unsigned int end, uint32_t pace);
	/* The pod whose containers stopped last was of a Deployment, and is gone. */
	void (*left)(void *userdata);
	void (*alive)(void *userdata, const struct simnode_container *container);
};

/* The daemon of the number-th node of the fleet, which was started up to a day before now_s. */
struct simnode simnode_of(const struct simnode_fleet *fleet, uint32_t number, int64_t now_s);

/* All that happened from the daemon's start to until_s; pod by pod, not in order of time. */
void simnode_walk(const struct simnode *node, int64_t until_s, const struct simnode_sink *sink);

/* A number that looks random, of these. */
uint64_t simnode_draw(uint64_t a, uint64_t b, uint64_t c);

#endif
