// SPDX-License-Identifier: Apache-2.0
// Scrape a `graced run` child and add up samples.
#include "lib/daemon/service.h"
#include "lib/net/http.h"
#include "lib/patience.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int service_get(const struct service *s, const char *path, const char *headers, struct buf *page)
{
	return http_get(service_port(s), path, headers, page);
}

/* The value of a sample line of that metric with that text among its labels. */
static bool take_sample(const char *line, const char *metric, const char *label, double *ret)
{
	size_t name = strlen(metric), len = strcspn(line, "\n");
	const char *end = line + name, *found;

	if (strncmp(line, metric, name) != 0 || (*end != '{' && *end != ' '))
		return false;
	if (*end == '{') {
		for (end = line + len; end > line && *end != '}'; end--)
			;
		end++;
	}
	if (label) {
		found = memmem(line, len, label, strlen(label));
		if (!found || found > end)
			return false;
	}
	*ret = strtod(end, NULL);
	return true;
}

double service_sum(const char *page, const char *metric, const char *label)
{
	double sum = 0, value;
	bool any = false;

	for (; *page; page += strcspn(page, "\n"), page += *page == '\n') {
		if (!take_sample(page, metric, label, &value))
			continue;
		sum += value;
		any = true;
	}
	return any ? sum : -1;
}

double service_metric(const struct service *s, const char *metric, const char *label)
{
	struct buf page = {};
	double sum = -1;

	if (service_get(s, "/metrics", NULL, &page) == 200)
		sum = service_sum(buf_str(&page), metric, label);
	buf_free(&page);
	return sum;
}

double service_await_metric(const struct service *s, const char *metric, const char *label,
			    double least)
{
	time_t until = time(NULL) + PATIENCE_S;
	double sum;

	while ((sum = service_metric(s, metric, label)) < least && time(NULL) < until)
		usleep(50000);
	return sum;
}
