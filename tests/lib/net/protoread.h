/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a page of delimited io.prometheus.client.MetricFamily messages back, strictly. */
#ifndef TESTS_LIB_NET_PROTOREAD_H
#define TESTS_LIB_NET_PROTOREAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define PROTOREAD_BUCKETS 128

struct protoread_native {
	int64_t schema;
	double zero_threshold;
	uint64_t zero, count;
	size_t n;
	int index[PROTOREAD_BUCKETS];
	uint64_t counts[PROTOREAD_BUCKETS];
};

/*
 * Adds the samples as lines of OpenMetrics without its comments, with exemplars and lines of
 * _created; values are %.17g. Returns the last native histogram. Fails the test for what is not
 * protobuf, and for a field that is not known or has another type than it should.
 */
struct protoread_native protoread_page(const struct buf *page, struct buf *out);

#endif
