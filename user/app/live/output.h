/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output as the sink of records, set up by the options. */
#ifndef APP_LIVE_OUTPUT_H
#define APP_LIVE_OUTPUT_H

#include <stdbool.h>

#include "app/config/options.h"
#include "app/live/sinks.h"

struct output {
	struct out *out;
	struct sinks *sinks;
};

/* live: a slow reader does not block. False when it failed, which is told. */
bool output_open(const struct options *options, bool live, struct output *ret);
void output_close(struct output *output);

/* Standard output is a terminal that shows colours, and nobody asked for none. */
bool output_wants_colour(void);

#endif
