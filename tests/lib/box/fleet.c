// SPDX-License-Identifier: Apache-2.0
// Boxes that are stopped, killed and removed by a timetable, held against their stop records.
#include "lib/box/fleet.h"

#include "lib/claim.h"
#include "lib/jrec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static uint64_t random_below(struct fleet *fleet, uint64_t n)
{
	return box_tree_random(fleet->tree) % n;
}

/* Most stop at once, some take a while, some have to be killed. */
static int start_one(struct fleet *fleet, struct fleet_box *b, uint64_t within_ms)
{
	uint64_t kind = random_below(fleet, 4), takes_ms = 0;
	char code[16], cleanup[16];

	b->deaf = kind == 0;
	b->code = (int)random_below(fleet, 5);
	b->stop_ms = random_below(fleet, within_ms);
	if (kind == 1)
		takes_ms = random_below(fleet, 800);
	if (b->deaf)
		takes_ms = 100 + random_below(fleet, 1500);
	b->kill_ms = b->stop_ms + takes_ms;
	b->remove_ms = b->kill_ms + 5 + random_below(fleet, 100);
	snprintf(code, sizeof(code), "%d", b->code);
	snprintf(cleanup, sizeof(cleanup), "%d", kind == 1 ? (int)takes_ms : 0);
	return box_start(fleet->tree,
			 &(struct box_spec){.argv = b->deaf ? BOX_ARGV("deaf")
							    : BOX_ARGV("graceful", code, cleanup)},
			 &b->box);
}

int fleet_start(struct box_tree *tree, size_t n, uint64_t within_ms, struct fleet *ret)
{
	struct fleet fleet = {.tree = tree, .boxes = calloc(n, sizeof(*fleet.boxes))};
	int r = fleet.boxes ? 0 : -ENOMEM;

	while (!r && fleet.n < n) {
		r = start_one(&fleet, fleet.boxes + fleet.n, within_ms);
		fleet.n += !r;
	}
	if (r) {
		fleet_done(&fleet);
		return r;
	}
	*ret = fleet;
	return 0;
}

void fleet_done(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n; i++) {
		if (!fleet->boxes[i].removed)
			box_remove(&fleet->boxes[i].box);
		free(fleet->boxes[i].line);
	}
	free(fleet->boxes);
	*fleet = (struct fleet){};
}

static int step_one(struct fleet *fleet, struct fleet_box *b, uint64_t now_ms)
{
	struct proc_end end;
	int r;

	if (!b->stopped && now_ms >= b->stop_ms) {
		b->stopped = true;
		kill(b->box.init_pid, SIGTERM);
	}
	if (b->deaf && !b->killed && now_ms >= b->kill_ms) {
		b->killed = true;
		kill(b->box.init_pid, SIGKILL);
	}
	if (b->removed || now_ms < b->remove_ms)
		return 0;
	r = proc_wait(&b->box.proc, &end);
	if (!r)
		r = box_remove(&b->box);
	b->status = end.status;
	b->removed = true;
	fleet->removed++;
	return r;
}

int fleet_step(struct fleet *fleet, uint64_t now_ms)
{
	for (size_t i = 0; i < fleet->n; i++) {
		int r = step_one(fleet, fleet->boxes + i, now_ms);

		if (r)
			return r;
	}
	return 0;
}

static struct fleet_box *find(struct fleet *fleet, const char *id)
{
	for (size_t i = 0; i < fleet->n; i++)
		if (strcmp(fleet->boxes[i].box.id, id) == 0)
			return fleet->boxes + i;
	return NULL;
}

static void take(struct fleet *fleet, const json_t *record, const char *line)
{
	const char *cgroup = jrec_text(record, "container.cgroup");
	const char *root = box_tree_relative(fleet->tree, fleet->tree->root);
	struct fleet_box *b;

	if (strcmp(jrec_text(record, "type"), "stop") != 0 ||
	    strncmp(cgroup, root, strlen(root)) != 0 || cgroup[strlen(root)] != '/')
		return;
	b = find(fleet, jrec_text(record, "container.id"));
	if (!b)
		fail_msg("there is no such container: %s", line);
	if (b->line && strcmp(b->line, line) != 0)
		fail_msg("two that differ:\n%s%s", b->line, line);
	if (!b->line)
		b->line = strdup(line);
	b->lines++;
}

size_t fleet_read(struct fleet *fleet, const char *path)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, n = 0;

	for (size_t i = 0; i < fleet->n; i++) {
		free(fleet->boxes[i].line);
		fleet->boxes[i].line = NULL;
		fleet->boxes[i].lines = 0;
	}
	while (in && getline(&line, &size, in) > 0) {
		json_t *record;

		/* It may be being written. */
		if (!strchr(line, '\n'))
			break;
		record = json_loads(line, 0, NULL);
		if (!record)
			fail_msg("this is no record: %s", line);
		take(fleet, record, line);
		json_decref(record);
	}
	free(line);
	if (in)
		fclose(in);
	for (size_t i = 0; i < fleet->n; i++)
		n += fleet->boxes[i].lines > 0;
	return n;
}

static void check_exit(const struct fleet_box *b, const json_t *record)
{
	int64_t code = jrec_int(record, "exit.code", -1), sig = jrec_int(record, "exit.signal", -1);

	if (b->deaf ? sig != SIGKILL : code != b->code)
		fail_msg("that is not how it ended (%s, %d): %s", b->deaf ? "deaf" : "graceful",
			 b->code, b->line);
	if (b->deaf)
		assert_true(WIFSIGNALED(b->status) && WTERMSIG(b->status) == SIGKILL);
	else
		assert_true(WIFEXITED(b->status) && WEXITSTATUS(b->status) == b->code);
}

static bool has_gap(const json_t *record, const char *gap)
{
	const json_t *gaps = jrec_get(record, "evidence.gaps");

	for (size_t i = 0; i < json_array_size(gaps); i++)
		if (strcmp(json_string_value(json_array_get(gaps, i)), gap) == 0)
			return true;
	return false;
}

/* A partial one may know how it ended, but must not say anything else. */
static void check_record(struct fleet *fleet, const struct fleet_box *b, const json_t *record)
{
	const char *outcome = jrec_text(record, "outcome");
	bool complete = json_is_true(jrec_get(record, "evidence.complete"));
	const char *truth = b->deaf ? "killed" : "graceful";

	if (complete) {
		fleet->complete++;
		if (strcmp(outcome, truth) != 0)
			fail_msg("it was %s: %s", truth, b->line);
		assert_int_equal(jrec_int(record, "process.pid", 0), b->box.init_pid);
		check_exit(b, record);
		return;
	}
	fleet->partial++;
	if (!has_gap(record, "daemon-down"))
		fail_msg("it is partial for another reason: %s", b->line);
	if (strcmp(outcome, "unknown") != 0)
		check_exit(b, record);
}

void fleet_check(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n; i++) {
		const struct fleet_box *b = fleet->boxes + i;
		json_t *record;

		if (!b->line)
			fail_msg("no record of %s (%s, stopped at %llu ms)", b->box.id,
				 b->deaf ? "deaf" : "graceful", (unsigned long long)b->stop_ms);
		fleet->repeated += b->lines > 1;
		record = json_loads(b->line, 0, NULL);
		check_record(fleet, b, record);
		json_decref(record);
	}
}
