/* SPDX-License-Identifier: Apache-2.0 */
/* What happens on a node, short: every state of a stop, names, pods in each of their stages. */
#ifndef TESTS_LIB_ENGINE_RELAY_PLAYS_H
#define TESTS_LIB_ENGINE_RELAY_PLAYS_H

#include "lib/engine/world.h"

struct relay_play {
	const char *name;
	void (*play)(struct world *w);
	const struct engine_config *config; /* NULL: as world_open() has it */
};

extern const struct relay_play relay_plays[];
extern const size_t relay_n_plays;

#endif
