// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/recorders: when records are flushed, and what a sink that is turned off
 * leaves. */
#include "app/daemon/recorders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "app/log/log.h"
#include "lib/claim.h"
#include "wire/json/record.h"

#define SECOND 1000000000ULL

static char dir[] = "/tmp/graced-recorders-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static struct config config_of(const char *file)
{
	return (struct config){.sink_file = file, .sink_journal = CONFIG_JOURNAL_OFF};
}

static struct recorders *open_recorders(const char *file)
{
	const struct config config = config_of(file);
	struct recorders *r;

	assert_int_equal(recorders_new(&config, &r), 0);
	return r;
}

static void reload(struct recorders *r, const char *file)
{
	const struct config config = config_of(file);

	assert_int_equal(recorders_reload(r, &config), 0);
}

static void add(struct recorders *r, unsigned int n)
{
	static const struct record record = {.type = RECORD_LOST, .at_ns = SECOND};

	_cleanup_(buf_free) struct buf line = {};

	assert_int_equal(record_json(&line, &record), 0);
	assert_true(recorders_want(r, &record));
	while (n--)
		assert_true(recorders_record(r, &record, &line));
}

static struct metrics_sink file_of(const struct recorders *r)
{
	struct metrics_sink sinks[METRICS_SINK_COUNT];

	recorders_get_stats(r, sinks);
	return sinks[METRICS_FILE];
}

/* The types of the records in a file, and what is said to be missing there. */
static unsigned int check_types(const char *path, const char *const *types)
{
	FILE *in = fopen(path, "re");
	unsigned int missing = 0;
	char line[1024];

	assert_non_null(in);
	for (; *types; types++) {
		char type[64];
		const char *at;

		assert_non_null(fgets(line, sizeof(line), in));
		snprintf(type, sizeof(type), "\"type\":\"%s\"", *types);
		if (!strstr(line, type))
			fail_msg("%s is not in %s", type, line);
		at = strstr(line, "\"records\":");
		missing += at ? (unsigned int)atoi(at + strlen("\"records\":")) : 0;
	}
	assert_null(fgets(line, sizeof(line), in));
	fclose(in);
	return missing;
}

static void flushed(void **state)
{
	struct recorders *r = open_recorders(in_dir("plain"));

	assert_true(recorders_flushed(r));
	add(r, 1);
	assert_false(recorders_flushed(r));
	recorders_flush(r, SECOND);
	assert_true(recorders_flushed(r));
	assert_true(recorders_idle(r));
	recorders_free(r);
}

static void stuck(void **state)
{
	struct recorders *r = open_recorders("/dev/full");

	add(r, 1);
	assert_false(recorders_flushed(r));
	recorders_flush(r, SECOND);
	assert_true(recorders_flushed(r));
	assert_false(recorders_idle(r));
	assert_true(recorders_wait(r));
	assert_int_equal(file_of(r).waiting, 1);
	recorders_free(r);
}

static void turned_off(void **state)
{
	static const char *const types[] = {"dropped", "lost", NULL};
	struct recorders *r = open_recorders("/dev/full");

	add(r, 3);
	recorders_flush(r, SECOND);
	add(r, 2);
	reload(r, NULL);
	assert_int_equal(file_of(r).waiting, 0);
	assert_int_equal(file_of(r).dropped, 5);
	assert_false(recorders_wait(r));
	assert_true(recorders_idle(r));
	reload(r, in_dir("again"));
	add(r, 1);
	recorders_flush(r, 2 * SECOND);
	assert_int_equal(check_types(in_dir("again"), types), 5);
	assert_int_equal(file_of(r).records, 1);
	recorders_free(r);
}

static void turned_off_idle(void **state)
{
	static const char *const types[] = {"lost", "lost", NULL};
	struct recorders *r = open_recorders(in_dir("idle"));

	add(r, 1);
	reload(r, NULL);
	assert_int_equal(file_of(r).records, 1);
	assert_int_equal(file_of(r).dropped, 0);
	reload(r, in_dir("idle"));
	add(r, 1);
	recorders_flush(r, SECOND);
	assert_int_equal(check_types(in_dir("idle"), types), 0);
	recorders_free(r);
}

static int setup(void **state)
{
	log_setup(LOG_ERR, false, false);
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const names[] = {"plain", "again", "idle"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(in_dir(names[i]));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("records are flushed when each sink has them", flushed),
		CLAIM("a sink that cannot be written is not waited for, and keeps what waits",
		      stuck),
		CLAIM("what waits for a sink that is turned off is counted, and its next record "
		      "says so",
		      turned_off),
		CLAIM("a sink that is turned off has what came before", turned_off_idle),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
