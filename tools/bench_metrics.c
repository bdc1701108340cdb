// SPDX-License-Identifier: Apache-2.0
/*
 * What the metrics of containers cost, for the benchmark: containers that ran, stopped and were
 * killed by the OOM killer, until their series fill the limit of 10,000 lines, each histogram with
 * exemplars. Prints a name and a number each: "memory" is the resident bytes that 1,000 lines take;
 * then for each format, "text" and "protobuf", the microseconds of CPU time that a page takes and,
 * with
 * "_size", its bytes; "lines" are those of the page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/metrics/series.h"
#include "wire/prometheus/metrics.h"

#define SECOND_NS 1000000000ULL
#define ROUNDS	  20
#define ADDED_MAX 100000 /* containers, should the limit never be reached */

/* Other load does not count. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static uint64_t resident_bytes(void)
{
	unsigned long long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (!statm || fscanf(statm, "%*u %llu", &pages) != 1)
		exit(1);
	fclose(statm);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void count_stop(struct series *series, const struct record_pod *pod,
		       const struct record_container *container, unsigned int number)
{
	struct record record = {
		.type = RECORD_STOP,
		.at_ns = SECOND_NS,
		.wall_ns = 1700000000000000000,
		.stop = {.pod = *pod,
			 .container = *container,
			 .latency_known = true,
			 .grace = {.from = GRACE_SPEC, .ns = 30 * SECOND_NS},
			 .outcome = OUTCOME_GRACEFUL,
			 .cause = CAUSE_STOP_SIGNAL},
	};

	snprintf(record.stop.id, sizeof(record.stop.id), "boot/container/%u", number);
	for (uint64_t i = 1; i <= 8; i++) {
		record.stop.latency_ns = i * i * SECOND_NS / 2;
		series_record(series, &record);
	}
}

/* Adds the same to each container; false: some of its series had no room. */
static bool add_container(struct series *series, unsigned int number)
{
	char workload[32], pod_name[48];
	const struct record_pod pod = {.known = true,
				       .namespace_ = "production",
				       .name = pod_name,
				       .uid = "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968",
				       .workload = workload,
				       .workload_kind = "Deployment"};
	const struct record_container container = {
		.known = true, .name = "app", .kind = CONTAINER_KIND_CONTAINER};
	struct record oom = {.type = RECORD_OOM, .at_ns = SECOND_NS};
	struct series_stats stats;

	snprintf(workload, sizeof(workload), "a-service-%05u", number);
	snprintf(pod_name, sizeof(pod_name), "a-service-%05u-5d78c9869d-x2x4z", number);
	series_seen(series, &pod, &container, SECOND_NS, 1700000000000000000);
	count_stop(series, &pod, &container, number);
	oom.oom.pod = pod;
	oom.oom.container = container;
	oom.oom.level = OOM_LEVEL_CONTAINER;
	series_record(series, &oom);
	series_get_stats(series, &stats);
	return stats.absorbed[SERIES_OOM_KILLS] == 0;
}

static void time_page(const struct metrics *metrics, enum expo_format format, const char *name)
{
	struct buf page = {};
	uint64_t from_ns = cpu_ns();

	for (int i = 0; i < ROUNDS; i++) {
		buf_reset(&page);
		if (metrics_write(&page, format, metrics) < 0)
			exit(1);
	}
	printf("%s %.1f\n", name, (double)(cpu_ns() - from_ns) / ROUNDS / 1000);
	printf("%s_size %zu\n", name, page.len);
	buf_free(&page);
}

int main(void)
{
	const struct series_config config = {.reserved = METRICS_OWN_LINES};
	struct metrics metrics = {};
	struct series_stats stats;
	struct series *series;
	uint64_t before;

	if (series_new(&config, &series) < 0)
		return 1;
	before = resident_bytes();
	for (unsigned int i = 0; i < ADDED_MAX && add_container(series, i); i++)
		continue;
	series_get_stats(series, &stats);
	printf("memory %llu\n",
	       (unsigned long long)((resident_bytes() - before) * 1000 / stats.lines));
	printf("lines %llu\n", (unsigned long long)(stats.lines + METRICS_OWN_LINES));
	metrics.series = series;
	time_page(&metrics, EXPO_TEXT, "text");
	time_page(&metrics, EXPO_PROTOBUF, "protobuf");
	series_free(series);
	return 0;
}
