/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of Prometheus exposition: the text format 0.0.4, OpenMetrics 1.0.0, and the delimited
 * MetricFamily messages of io.prometheus.client, the only one that has native histograms.
 *
 * A family is announced, then its samples are added; the announcement is written with the first
 * sample, so that a family without one leaves no trace. Errors stick in the buffer.
 */
#ifndef WIRE_PROMETHEUS_EXPOSITION_H
#define WIRE_PROMETHEUS_EXPOSITION_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/metrics/exemplar.h"
#include "core/metrics/histogram.h"

enum expo_format { EXPO_TEXT, EXPO_OPENMETRICS, EXPO_PROTOBUF, EXPO_FORMAT_COUNT };

enum expo_type { EXPO_COUNTER, EXPO_GAUGE, EXPO_HISTOGRAM, EXPO_INFO, EXPO_UNKNOWN };

struct expo_family {
	const char *name; /* without the _total of a counter, the _info of an info */
	enum expo_type type;
	const char *unit; /* what the name ends in, behind an underscore; NULL: none */
	const char *help; /* a sentence */
};

struct expo_label {
	const char *name;
	const char *value; /* any bytes, written as label_clean() leaves them; NULL is "" */
};

struct expo {
	struct buf *out;
	enum expo_format format;
	const struct expo_family *family;
	bool announced;
	size_t begin;	  /* of the announced family's message */
	uint64_t samples; /* lines so far that are no comment and no _created: as in text */
};

void expo_begin(struct expo *ret, struct buf *out, enum expo_format format);
/* Ends the page. 0 or buf_error(). */
int expo_end(struct expo *expo);

/* family is borrowed until the next one. */
void expo_family(struct expo *expo, const struct expo_family *family);

/* One sample of a family that is no histogram. */
void expo_u64(struct expo *expo, const struct expo_label *labels, size_t n_labels, uint64_t value);
/* The same with one label. */
void expo_count(struct expo *expo, const char *label, const char *of, uint64_t value);
/* The same, of units / 10^decimals, exactly and without superfluous zeros. */
void expo_decimal(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		  uint64_t units, unsigned int decimals);

/* The same as expo_u64() of a counter that began to exist at created_wall_ns, since 1970; 0: not
 * known. The text format does not show that. */
void expo_counter(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		  uint64_t value, int64_t created_wall_ns);

struct expo_histogram {
	const struct histogram *histogram;
	const struct histogram_bounds *bounds;
	const struct exemplar *exemplars; /* of each bucket; NULL: none. Not in the text format */
	int64_t created_wall_ns;	  /* as above */
};

/* Buckets, sum and count; in protobuf beside the native buckets. */
void expo_histogram(struct expo *expo, const struct expo_label *labels, size_t n_labels,
		    const struct expo_histogram *histogram);

#endif
