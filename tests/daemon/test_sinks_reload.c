// SPDX-License-Identifier: Apache-2.0
// Claims about SIGHUP and records: files that are rotated, and configurations that are wrong.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"

#define LIVES	  600
#define ROTATIONS 20

struct stage {
	struct box_tree tree;
	struct service *service;
	char records[96], config[96];
	uint32_t lives;
	uint32_t stops[LIVES + 100]; /* stop records of each container */
};

static int setup(void **state)
{
	static struct stage stage;

	*state = NULL;
	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (box_tree_open(&stage.tree, "reload") < 0)
		return -1;
	snprintf(stage.records, sizeof(stage.records), "%s/records", stage.tree.tmp);
	snprintf(stage.config, sizeof(stage.config), "%s/graced.yaml", stage.tree.tmp);
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	service_free(stage->service);
	return box_tree_close(&stage->tree);
}

/* Each line is a record, wherever it is. */
static void take_records(struct stage *stage, const char *path)
{
	const char *root = box_tree_relative(&stage->tree, stage->tree.root);
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	assert_non_null(in);
	while (getline(&line, &size, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);
		const char *id;
		unsigned long number;

		assert_non_null(record);
		id = jrec_text(record, "container.id");
		if (!strcmp(jrec_text(record, "type"), "stop") &&
		    !strncmp(jrec_text(record, "container.cgroup"), root, strlen(root))) {
			number = strtoul(id + 56, NULL, 16);
			assert_true(number < LEN(stage->stops));
			stage->stops[number]++;
		}
		json_decref(record);
	}
	free(line);
	fclose(in);
}

static void name_old(const struct stage *stage, unsigned int n, char ret[128])
{
	snprintf(ret, 128, "%s.%u", stage->records, n);
}

static void rotate(struct stage *stage, unsigned int n)
{
	char old[128];

	name_old(stage, n, old);
	assert_int_equal(rename(stage->records, old), 0);
	assert_int_equal(kill(service_pid(stage->service), SIGHUP), 0);
	assert_true(service_await(stage->service, "READY=1", n + 1));
	assert_int_equal(access(stage->records, F_OK), 0);
}

static void test_rotation(void **state)
{
	struct stage *stage = *state;
	unsigned int n = 0, wrong = 0;
	struct many many;
	char old[128];

	if (!stage)
		skip();
	assert_int_equal(
		service_start(&(struct service_spec){.tree = &stage->tree,
						     .args = BOX_ARGV("--sinks.file", stage->records,
								      "--sinks.journal=false",
								      "--names.enabled=false")},
			      &stage->service),
		0);
	assert_int_equal(many_containers_start(&stage->tree, 0, LIVES, &many), 0);
	while (!many_done(&many) || n < ROTATIONS)
		rotate(stage, ++n);
	assert_int_equal(many_wait(&many), 0);
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 LIVES) >= LIVES);
	assert_int_equal(
		service_metric(stage->service, "graced_sink_dropped_total", "sink=\"file\""), 0);
	assert_int_equal(service_stop(stage->service), 0);
	stage->service = service_free(stage->service);

	take_records(stage, stage->records);
	for (; n; n--) {
		name_old(stage, n, old);
		take_records(stage, old);
	}
	for (uint32_t i = 0; i < LIVES; i++)
		wrong += stage->stops[i] != 1;
	assert_int_equal(wrong, 0);
	stage->lives = LIVES;
	unlink(stage->records);
}

static void write_config(const struct stage *stage, const char *text)
{
	int fd = open(stage->config, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Whether one line of the log has all of it. */
static bool has_line(const struct stage *stage, const char *a, const char *b, const char *c)
{
	char *log = service_log(stage->service), *line, *rest = log;
	bool found = false;

	while ((line = strsep(&rest, "\n")))
		found = found || (strstr(line, a) && strstr(line, b) && strstr(line, c));
	if (!found)
		print_message("%s\n", log);
	free(log);
	return found;
}

static void reload(struct stage *stage, unsigned int n, bool right)
{
	assert_int_equal(kill(service_pid(stage->service), SIGHUP), 0);
	assert_true(service_await(stage->service, "READY=1", n + 1));
	usleep(300000); /* longer than a page is kept */
	assert_int_equal(service_metric(stage->service, "graced_config_last_reload_successful",
					NULL),
			 right);
}

/* Records still go where they went. */
static void check_goes_on(struct stage *stage)
{
	uint32_t last = stage->lives++;

	assert_int_equal(many_containers(&stage->tree, last, 1), 0);
	for (int i = 0; i < 300 && !stage->stops[last]; i++) {
		if (i)
			usleep(100000);
		take_records(stage, stage->records);
	}
	assert_int_equal(stage->stops[last], 1);
}

static void test_wrong_config(void **state)
{
	static const struct {
		const char *text;
		const char *line, *key; /* what the log is to name */
	} wrong[] = {
		{"log:\n  level: info\n  levle: debug\n", ":3:", "levle"},
		{"sinks:\n  file: /nowhere\n\n  stdout: perhaps\n", ":4:", "stdout"},
		{"# one\nbudget:\n  cpu: [1, 2]\n", ":3:", "cpu"},
		{"log: {level: info\n", ":", ""},
	};
	struct stage *stage = *state;
	unsigned int n = 0;
	char right[256];

	if (!stage)
		skip();
	snprintf(right, sizeof(right), "sinks:\n  file: %s\n  journal: false\n", stage->records);
	write_config(stage, right);
	assert_int_equal(
		service_start(&(struct service_spec){.args = BOX_ARGV("--config", stage->config),
						     .tree = &stage->tree},
			      &stage->service),
		0);
	for (size_t i = 0; i < LEN(wrong); i++) {
		write_config(stage, wrong[i].text);
		reload(stage, ++n, false);
		assert_true(has_line(stage, stage->config, wrong[i].line, wrong[i].key));
		check_goes_on(stage);
	}
	write_config(stage, right);
	reload(stage, ++n, true);
	check_goes_on(stage);
	assert_int_equal(service_stop(stage->service), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a file that is rotated while containers stop loses no record",
		      test_rotation),
		CLAIM("a configuration that is wrong is logged by file, line and key, and changes "
		      "nothing",
		      test_wrong_config),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
