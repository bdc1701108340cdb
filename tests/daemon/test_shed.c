// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about shedding, on this kernel: what it leaves out is a gap, and it ends when the load
 * does. Whether the budget is exceeded is made so: by a budget that no daemon meets and one that
 * each does, or by one between what this daemon costs without and with a load.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"

#define SPACE	 "shed-shop"
#define EXITS	 "50000" /* a second, as far as the machine does them */
#define BOMBS	 12	 /* at most: on a busy machine each does less */
#define PATIENCE 1800	 /* tenths of a second */

#define HEX_16 "0123456789abcdef"
#define HEX_64 HEX_16 HEX_16 HEX_16 HEX_16

#define NEVER_MET  "0.0001%"
#define ALWAYS_MET "100%"

struct stage {
	struct box_tree tree;
	struct lognames names;
	struct service *service;
	char records[64], config[64];
	struct box bombs[BOMBS];
	size_t n_bombs;
};

static int setup(void **state)
{
	static struct stage stage;

	*state = NULL;
	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (lognames_open(&stage.names) < 0 || box_tree_open(&stage.tree, "shed") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	if (!s)
		return 0;
	lognames_close(&s->names);
	return box_tree_close(&s->tree);
}

static void write_budget(const struct stage *s, const char *share)
{
	FILE *out = fopen(s->config, "we");

	assert_non_null(out);
	fprintf(out, "budget:\n  cpu: %s\n", share);
	assert_int_equal(fclose(out), 0);
}

static void set_budget(const struct stage *s, const char *share)
{
	write_budget(s, share);
	assert_int_equal(kill(service_pid(s->service), SIGHUP), 0);
}

static void make_file(char path[static 64])
{
	int fd;

	strcpy(path, "/tmp/graced-shed-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static void start(struct stage *s, const char *budget)
{
	make_file(s->records);
	make_file(s->config);
	write_budget(s, budget);
	assert_int_equal(service_start(
				 &(struct service_spec){
					 .args = BOX_ARGV("--sinks.journal=false", "--sinks.file",
							  s->records, "--names.log-directory",
							  s->names.dir, "--config", s->config),
					 .tree = &s->tree},
				 &s->service),
			 0);
}

static void stop(struct stage *s)
{
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	unlink(s->records);
	unlink(s->config);
}

static void run_box(struct stage *s, const char *pod, const char *container, const char *behaviour,
		    struct box *box)
{
	struct lognames_of of = {&s->names, SPACE, pod, container};
	const struct box_spec spec = {
		.argv = BOX_ARGV(behaviour), .named = lognames_of, .userdata = &of};

	assert_int_equal(box_start(&s->tree, &spec, box), 0);
}

/* The stop record of a box, once there is one; the caller frees. */
static json_t *await_stop(const struct stage *s, const struct box *box)
{
	for (int i = 0; i < PATIENCE; i++) {
		FILE *in = fopen(s->records, "re");
		char *line = NULL;
		size_t size = 0;
		json_t *found = NULL;

		assert_non_null(in);
		while (!found && getline(&line, &size, in) > 0) {
			found = json_loads(line, 0, NULL);
			if (!found || strcmp(jrec_text(found, "type"), "stop") != 0 ||
			    strcmp(jrec_text(found, "container.id"), box->id) != 0) {
				json_decref(found);
				found = NULL;
			}
		}
		free(line);
		fclose(in);
		if (found)
			return found;
		usleep(100000);
	}
	fail_msg("no stop of %s was reported", box->id);
	return NULL;
}

/* gap: the only one there is, or NULL. name: of the container, NULL: it has none. */
static void ends(struct stage *s, struct box *box, const char *name, const char *gap)
{
	struct proc_end end;
	struct sent sent;
	json_t *record;

	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box->init_pid, SIGTERM, &sent),
			 0);
	send_signal(&s->tree, SEND_RUNTIME, NULL, box->init_pid, SIGKILL, &sent);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_int_equal(box_remove(box), 0);
	record = await_stop(s, box);
	assert_int_equal(json_is_true(jrec_get(record, "evidence.complete")), !gap);
	assert_int_equal(json_array_size(jrec_get(record, "evidence.gaps")), gap ? 1 : 0);
	if (gap)
		assert_string_equal(
			json_string_value(json_array_get(jrec_get(record, "evidence.gaps"), 0)),
			gap);
	if (name)
		assert_string_equal(jrec_text(record, "container.name"), name);
	else
		assert_true(json_is_null(jrec_get(record, "container.name")));
	json_decref(record);
}

static void await_shed(const struct stage *s, const char *what, int shed)
{
	char label[32];

	snprintf(label, sizeof(label), "what=\"%s\"", what);
	for (int i = 0; i < PATIENCE; i++) {
		if ((int)service_metric(s->service, "graced_shed", label) == shed)
			return;
		usleep(100000);
	}
	fail_msg("%s: not %d", label, shed);
}

static void await_nothing_shed(const struct stage *s)
{
	await_shed(s, "names", 0);
	await_shed(s, "signals", 0);
	await_shed(s, "noisy", 0);
}

static double value_of(const struct stage *s, const char *metric, const char *container)
{
	char label[64];

	snprintf(label, sizeof(label), "container=\"%s\"", container);
	return service_metric(s->service, metric, label);
}

/* The page names a deaf container as soon as it is known to be. */
static void await_deaf(const struct stage *s)
{
	_cleanup_(buf_free) struct buf page = {};

	for (int i = 0; i < PATIENCE; i++) {
		assert_int_equal(service_get(s->service, "/", NULL, &page), 200);
		if (strstr(buf_str(&page), "data-h=\"why\">no-handler<"))
			return;
		usleep(100000);
	}
	fail_msg("no container was found to be deaf");
}

/* Docker's, of which nothing is known but its id. */
static void run_nameless(struct stage *s, struct box *box)
{
	const struct box_spec spec = {.argv = BOX_ARGV("deaf"),
				      .slice = "system.slice",
				      .leaf = "docker-" HEX_64 ".scope"};

	assert_int_equal(box_start(&s->tree, &spec, box), 0);
}

static void names(void **state)
{
	struct stage *s = *state;
	struct box before, during, deaf, alive, nameless;

	if (!s)
		skip();
	start(s, NEVER_MET);
	run_box(s, "before-0", "before", "graceful", &before);
	await_shed(s, "names", 1);
	run_box(s, "during-0", "during", "graceful", &during);
	run_box(s, "deaf-0", "deaf", "deaf", &deaf);
	run_box(s, "alive-0", "alive", "graceful", &alive);
	run_nameless(s, &nameless);
	/* What was named before has lost nothing. */
	ends(s, &before, "before", NULL);
	ends(s, &during, NULL, "shed");
	await_deaf(s);
	assert_true(value_of(s, "graced_container_hears", "") == -1);
	assert_true(value_of(s, "graced_container_deaf_stops_total", "deaf") == -1);
	/* Nor is anything counted in advance that would have another name. */
	assert_true(value_of(s, "graced_container_deaf_stops_total", "") == -1);

	set_budget(s, ALWAYS_MET);
	await_nothing_shed(s);
	for (int i = 0; i < PATIENCE && value_of(s, "graced_container_hears", "deaf") != 0; i++)
		usleep(100000);
	assert_true(value_of(s, "graced_container_hears", "deaf") == 0);
	assert_true(value_of(s, "graced_container_hears", "") == -1);
	assert_true(value_of(s, "graced_container_deaf_stops_total", "deaf") == 0);
	ends(s, &alive, "alive", NULL);
	ends(s, &deaf, "deaf", NULL);
	assert_int_equal(kill(nameless.init_pid, SIGKILL), 0);
	assert_int_equal(box_remove(&nameless), 0);
	stop(s);
}

static void light(struct stage *s)
{
	assert_true(s->n_bombs < BOMBS);
	assert_int_equal(box_start(&s->tree,
				   &(struct box_spec){.prog = "bomb", .argv = BOX_ARGV(EXITS)},
				   &s->bombs[s->n_bombs]),
			 0);
	s->n_bombs++;
}

/* How many of them were marked. */
static int put_out(struct stage *s)
{
	int shed = 0;

	for (; s->n_bombs > 0; s->n_bombs--) {
		struct box *bomb = &s->bombs[s->n_bombs - 1];
		struct proc_end end;
		json_t *record;
		char *text;

		assert_int_equal(kill(bomb->init_pid, SIGTERM), 0);
		assert_int_equal(proc_wait(&bomb->proc, &end), 0);
		assert_int_equal(box_remove(bomb), 0);
		record = await_stop(s, bomb);
		text = json_dumps(jrec_get(record, "evidence.gaps"), 0);
		shed += strstr(text, "\"shed\"") != NULL;
		free(text);
		json_decref(record);
	}
	return shed;
}

static double overhead(const struct stage *s)
{
	return service_metric(s->service, "graced_overhead_ratio", NULL);
}

/* Bombs enough that the daemon costs six times what it does without. Returns what that is; 0:
 * beside what else this machine does, no load of ours stands out. */
static double load_until_dear(struct stage *s, double calm)
{
	double cost = 0;

	for (int i = 0; i < PATIENCE; i++) {
		/* Some more each time that the window was full of those before. */
		for (int n = 0; i % 120 == 0 && n < 4 && s->n_bombs < BOMBS; n++)
			light(s);
		cost = overhead(s);
		if (cost > 6 * calm)
			return cost;
		usleep(100000);
	}
	print_message("# a load costs %g, and %g without\n", cost, calm);
	return 0;
}

static void steps(void **state)
{
	struct stage *s = *state;
	double calm, dear, changes;
	char budget[32];
	size_t n;

	if (!s)
		skip();
	start(s, "off");
	assert_true(service_await_metric(s->service, "graced_overhead_ratio", NULL, 0) > 0);
	/* The start is out of the window. */
	sleep(12);
	calm = overhead(s);
	dear = load_until_dear(s, calm);
	n = s->n_bombs;
	assert_int_equal(put_out(s), 0);
	if (dear == 0) {
		stop(s);
		skip();
	}
	snprintf(budget, sizeof(budget), "%.4f%%", 100 * dear / 2);
	print_message("# %zu bombs: %.4f %% without, %.4f %% with, a budget of %s\n", n, 100 * calm,
		      100 * dear, budget);
	set_budget(s, budget);
	changes = service_metric(s->service, "graced_shed_changes_total", NULL);
	for (int i = 1; i <= 2; i++) {
		while (s->n_bombs < n)
			light(s);
		await_shed(s, "noisy", 1);
		assert_true(service_await_metric(s->service, "graced_shed_containers", NULL, 1) >=
			    1);
		assert_true(put_out(s) >= 1);
		await_nothing_shed(s);
		assert_true(service_metric(s->service, "graced_shed_changes_total", NULL) >=
			    changes + 2 * i);
	}
	stop(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("while names are shed records say so and nothing is said of what has none; "
		      "then what lives is named",
		      names),
		CLAIM("what is shed of a load that comes and goes is a gap, and shedding ends each "
		      "time",
		      steps),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
