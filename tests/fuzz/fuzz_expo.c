// SPDX-License-Identifier: Apache-2.0
/* Any bytes as names of containers, a NUL between them: each becomes a label that cleaning again
 * leaves alone and that reads back from the page as it was, and no name adds a line to it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/metrics/label.h"
#include "fuzz/fuzz.h"
#include "wire/prometheus/metrics.h"

#define LIMIT (METRICS_OWN_LINES + (uint32_t)series_overflow_lines() + 300)

DEFINE_CLEANUP(struct series *, series_free);

static void feed(struct series *series, const char *name)
{
	struct record record = {
		.type = RECORD_STOP,
		.stop =
			{
				.pod = {.known = true, .namespace_ = name, .name = name},
				.container = {.known = true, .name = name},
				.latency_known = strlen(name) % 2,
				.latency_ns = strlen(name),
				.outcome = OUTCOME_FAILED,
				.cause = CAUSE_SELF,
			},
	};

	snprintf(record.stop.id, sizeof(record.stop.id), "boot/%s/1", name);
	series_record(series, &record);
}

/* The value of the page's one label, unescaped. */
static void read_label(const char *page, char *ret)
{
	const char *at = strstr(page, "{l=\"");

	assert(at);
	for (at += 4; *at != '"'; at++) {
		bool escaped = *at == '\\';

		at += escaped;
		assert(escaped ? *at && strchr("\\\"n", *at) : *at && *at != '\n');
		*ret++ = escaped && *at == 'n' ? '\n' : *at;
	}
	*ret = '\0';
	assert(strcmp(at, "\"} 1\n") == 0);
}

static void check_label(const char *name)
{
	static const struct expo_family family = {"f", EXPO_GAUGE, NULL, "F."};
	char clean[LABEL_MAX + 1], again[LABEL_MAX + 1], shown[LABEL_MAX + 1];
	const struct expo_label label = {"l", name};
	_cleanup_(buf_free) struct buf page = {};
	struct expo expo;

	assert(label_clean(clean, name) == strlen(clean));
	label_clean(again, clean);
	assert(strcmp(clean, again) == 0);
	expo_begin(&expo, &page, EXPO_TEXT);
	expo_family(&expo, &family);
	expo_u64(&expo, &label, 1, 1);
	read_label(buf_str(&page), shown);
	assert(strcmp(clean, shown) == 0);
}

static size_t samples_of(const char *page)
{
	size_t n = 0;

	for (; *page; page = strchr(page, '\n') + 1)
		n += *page != '#';
	return n;
}

static void check_page(struct series *series, enum expo_format format)
{
	const struct metrics metrics = {.series = series};
	_cleanup_(buf_free) struct buf page = {};
	const char *count;

	assert(metrics_write(&page, format, &metrics) == 0);
	assert(samples_of(buf_str(&page)) <= LIMIT);
	count = strstr(buf_str(&page), "\ngraced_series ");
	assert(count);
	assert(strtoull(count + strlen("\ngraced_series "), NULL, 10) ==
	       samples_of(buf_str(&page)));
}

static void check_protobuf(const struct series *series)
{
	const struct metrics metrics = {.series = series};
	_cleanup_(buf_free) struct buf page = {};

	assert(metrics_write(&page, EXPO_PROTOBUF, &metrics) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct series_config config = {.max_series = LIMIT, .reserved = METRICS_OWN_LINES};
	_cleanup_(cleanup_series_free) struct series *series = NULL;
	_cleanup_(cleanup_free) char *text = malloc(size + 1);

	if (!text || series_new(&config, &series) < 0)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (const char *name = text; name <= text + size; name += strlen(name) + 1) {
		check_label(name);
		feed(series, name);
	}
	check_page(series, EXPO_TEXT);
	check_page(series, EXPO_OPENMETRICS);
	check_protobuf(series);
	return 0;
}
