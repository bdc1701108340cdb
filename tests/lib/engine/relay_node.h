/* SPDX-License-Identifier: Apache-2.0 */
/* What is there on a node, by what happened: the scan that an engine gets when it starts. */
#ifndef TESTS_LIB_ENGINE_RELAY_NODE_H
#define TESTS_LIB_ENGINE_RELAY_NODE_H

#include "lib/engine/world.h"

#define RELAY_CGROUPS 64

struct relay_cgroup {
	uint64_t id;
	char path[512];
	bool there, alive; /* alive: its init is */
	struct graced_proc init;
	uint32_t rank;
	uint32_t keeper_pid;
	struct graced_counts counts; /* as fed last */
};

struct relay_node {
	struct relay_cgroup cgroups[RELAY_CGROUPS];
	size_t n;
};

void relay_node_take(struct relay_node *node, const struct obs *obs);
/* Tells what is there, as found in /proc: starts are cut to the tick. */
void relay_node_scan(const struct relay_node *node, struct world *w, uint64_t at);
/* The kernel half counts anew: takes off obs what had been counted by then. */
void relay_node_recount(const struct relay_node *node, struct obs *obs);

#endif
