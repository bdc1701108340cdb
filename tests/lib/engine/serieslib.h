/* SPDX-License-Identifier: Apache-2.0 */
/* For tests about series of containers: records to count, and the series as text. */
#ifndef TESTS_LIB_ENGINE_SERIESLIB_H
#define TESTS_LIB_ENGINE_SERIESLIB_H

#include "base/cleanup.h"
#include "core/metrics/series.h"

DEFINE_CLEANUP(struct series *, series_free);
#define _series_ _cleanup_(cleanup_series_free)

#define MS 1000000ULL
#define S  1000000000ULL
#define H  (3600 * S)

struct serieslib_page {
	char text[16384];
	size_t len;
	uint64_t lines, points, sum;
	enum series_family family;
};

struct series *serieslib_new(uint32_t max, uint32_t reserved);

/* A container that stopped at 100 s, gracefully, in 1.5 of its 30 seconds. namespace_ NULL: in no
 * pod. */
struct record serieslib_stop(const char *namespace_, const char *name);
/* An OOM kill at 100 s. */
struct record serieslib_oom(const char *namespace_, const char *name, enum oom_level level);

/* A series_fn; userdata is a page. */
void serieslib_point(void *userdata, const struct series_point *point);
/* All families; lines is what their exposition has. */
void serieslib_read(const struct series *series, struct serieslib_page *ret);
/* What was counted in all series of a family. */
uint64_t serieslib_sum(const struct series *series, enum series_family family);
/* Fails unless the text is that, and the lines are as many as the statistics say. */
void serieslib_assert(const struct series *series, const char *want);

#endif
