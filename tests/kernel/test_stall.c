// SPDX-License-Identifier: Apache-2.0
/*
 * A tracer that is held up while containers come and go: each stop has its record, and none says
 * that its evidence is complete unless it is.
 */
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define BEFORE 20  /* run when it is held up, and end meanwhile */
#define ALONE  120 /* made and gone meanwhile, each in a pod of its own */
#define BESIDE 120 /* ... in the pod of a container that runs on */
#define AFTER  5   /* made meanwhile, and run when it goes on */
#define STOPS  (BEFORE + ALONE + BESIDE + AFTER + 1)

#define EXIT_CODE 3

static int setup(void **state)
{
	return fixture_open(state, "stall", BOX_ARGV("--ring-size", "65536"));
}

static void hold_up(struct fixture *f)
{
	pid_t pid = tracer_pid(f->tracer);
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void begin(struct fixture *f, struct box *ret)
{
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, ret);
}

static void end(struct box *box)
{
	page_go(box->proc.page, 1);
	assert_int_equal(proc_wait(&box->proc, &(struct proc_end){}), 0);
	assert_int_equal(box_remove(box), 0);
}

static void nth_beside(void *userdata, uint32_t number, struct many_life *ret)
{
	snprintf(ret->leaf, sizeof(ret->leaf), "%064x", number);
}

static void live_beside(struct fixture *f, const struct box *keeper)
{
	char workload[HIER_PATH_MAX + 16];
	const struct many_spec spec = {.root = keeper->pod_dir,
				       .workload = workload,
				       .first = 1,
				       .n = BESIDE,
				       .fn = nth_beside};
	struct many many;

	snprintf(workload, sizeof(workload), "%s/workload", f->tree.helpers);
	assert_int_equal(many_start(&spec, &many), 0);
	assert_int_equal(many_wait(&many), 0);
}

static bool is_stop(const json_t *rec)
{
	return strcmp(jrec_text(rec, "type"), "stop") == 0;
}

/* What is complete says how it ended; what had no record left has nothing that could be wrong. */
static void check_stop(const json_t *rec, const struct box *keeper, size_t *unnamed)
{
	bool complete = json_is_true(jrec_get(rec, "evidence.complete"));
	int64_t code = jrec_int(rec, "exit.code", -1);

	if (!jrec_is_null(rec, "exit.code"))
		assert_true(code == 0 || code == EXIT_CODE);
	if (complete) {
		assert_string_equal(jrec_text(rec, "outcome"), code ? "failed" : "completed");
		assert_string_equal(jrec_text(rec, "cause"), "self");
	}
	if (!jrec_is_null(rec, "container.id"))
		return;
	assert_false(complete);
	/* There was room for a record of its init, or of its end, and for none of its cgroup. */
	if (!jrec_is_null(rec, "process.pid"))
		return;
	judge_match(rec, "{'outcome':'unknown','cause':'unknown','process':{'pid':null},"
			 "'evidence':{'complete':false,'gaps':"
			 "['events-lost','unknown-cgroup','exit-unseen','init-unseen']}}");
	if (!jrec_is_null(rec, "pod"))
		assert_string_equal(jrec_text(rec, "pod.uid"), keeper->uid);
	unnamed[!jrec_is_null(rec, "pod")]++;
}

/* An id is that of one stop. */
static void check_ids(struct fixture *f)
{
	for (size_t i = 0; i < tracer_records(f->tracer); i++) {
		const json_t *a = tracer_record(f->tracer, i);

		for (size_t j = i + 1; is_stop(a) && j < tracer_records(f->tracer); j++)
			if (is_stop(tracer_record(f->tracer, j)))
				assert_string_not_equal(jrec_text(a, "id"),
							jrec_text(tracer_record(f->tracer, j),
								  "id"));
	}
}

static void each_stop_has_a_record(void **state)
{
	struct box keeper, before[BEFORE], after[AFTER], last;
	const struct tracer_want all = {.type = "stop", .nth = STOPS - 1};
	const struct tracer_want stops = {.type = "stop"}, lost = {.type = "lost"};
	struct fixture *f = judge_need(state);
	size_t unnamed[2] = {};

	begin(f, &keeper);
	for (size_t i = 0; i < BEFORE; i++)
		begin(f, &before[i]);
	/* They are known when this one is. */
	begin(f, &last);
	end(&last);
	assert_non_null(tracer_await_stop(f->tracer, &last));

	hold_up(f);
	for (size_t i = 0; i < BEFORE; i++)
		end(&before[i]);
	live_beside(f, &keeper);
	assert_int_equal(many_containers(&f->tree, 1000, ALONE), 0);
	for (size_t i = 0; i < AFTER; i++)
		begin(f, &after[i]);
	assert_int_equal(kill(tracer_pid(f->tracer), SIGCONT), 0);
	assert_non_null(tracer_await(f->tracer, &lost));
	for (size_t i = 0; i < AFTER; i++)
		end(&after[i]);

	assert_non_null(tracer_await(f->tracer, &all));
	end(&keeper);
	assert_non_null(tracer_await_stop(f->tracer, &keeper));
	assert_int_equal(tracer_stop(f->tracer), 0);
	assert_int_equal(tracer_count(f->tracer, &stops), STOPS + 1);
	for (size_t i = 0; i < tracer_records(f->tracer); i++)
		if (is_stop(tracer_record(f->tracer, i)))
			check_stop(tracer_record(f->tracer, i), &keeper, unnamed);
	check_ids(f);
	for (size_t i = 0; i < BEFORE; i++)
		assert_int_equal(judge_count(f, &before[i], "stop"), 1);
	print_message("# %d stops, %zu without a name, %zu of them in a known pod\n", STOPS + 1,
		      unnamed[0] + unnamed[1], unnamed[1]);
	assert_true(unnamed[0] && unnamed[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each stop has one record, none is complete that is not",
		      each_stop_has_a_record),
	};

	return cmocka_run_group_tests_name("held up", tests, setup, fixture_close);
}
