/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Prometheus exposition back, strictly: for tests that look at what was written. */
#ifndef TESTS_LIB_NET_EXPOREAD_H
#define TESTS_LIB_NET_EXPOREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPOREAD_LABELS 8

struct exporead_sample {
	char name[128];
	struct {
		char name[32];
		char value[256]; /* as it was before escaping */
	} labels[EXPOREAD_LABELS];
	size_t n_labels;
	char value[64];
	bool exemplar; /* its labels and value follow */
	char id[128], pod[128];
	double exemplar_value;
};

typedef void (*exporead_fn)(void *userdata, const struct exporead_sample *sample);

/*
 * Calls fn (NULL: nobody) for each sample and returns how many there are, the _created samples of
 * OpenMetrics apart. Fails the test for
 * anything that is not exposition: bad escapes, invalid UTF-8, a sample outside its family, a
 * family or a sample that is there twice, buckets that fall, a missing or early "# EOF", an
 * exemplar that is not in its bucket or has more than 128 characters of labels.
 */
size_t exporead_page(const char *page, bool openmetrics, exporead_fn fn, void *userdata);

/* The sum of the integers of all samples of that name that have the label, NULL: any. */
uint64_t exporead_sum(const char *page, const char *name, const char *label, const char *value);

#endif
