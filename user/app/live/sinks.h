/* SPDX-License-Identifier: Apache-2.0 */
/* Records on their way to the reader: filtered, encoded as JSON lines or table rows, counted. */
#ifndef APP_LIVE_SINKS_H
#define APP_LIVE_SINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/stop/filter.h"
#include "io/sinks/lines.h"

struct sinks;

struct sinks_config {
	const struct filter *filter; /* borrowed */
	bool json;
	bool colour;	/* table only */
	uint64_t count; /* rows after which nothing more is printed; 0: no end */
};

/* out is borrowed. 0 or -ENOMEM. */
int sinks_new(const struct sinks_config *config, struct out *out, struct sinks **ret);
struct sinks *sinks_free(struct sinks *sinks);

void sinks_record(struct sinks *sinks, const struct record *record);

/* The rows asked for by --count are out. */
bool sinks_full(const struct sinks *sinks);

struct out *sinks_out(const struct sinks *sinks);

#endif
