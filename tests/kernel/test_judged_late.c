// SPDX-License-Identifier: Apache-2.0
// Who asked, of containers that ran before the tracer was attached.
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Signals to one box, in this order; via is another box, or the same. */
struct asked {
	const char *what;
	const char *argv[4];
	struct {
		enum send_from from;
		bool inside; /* from its own container; else from another pod's */
		int sig;
	} acts[2];
	const char *stop_result; /* NULL: delivered */
	bool stop_known, deaf;
	const char *outcome, *cause;
};

static const struct asked table[] = {
	{.what = "another pod asks, the runtime kills",
	 .argv = {"graceful", "0", "60000"},
	 .acts = {{SEND_CONTAINER, false, SIGTERM}, {SEND_RUNTIME, false, SIGKILL}},
	 .stop_known = true,
	 .outcome = "killed",
	 .cause = "no-grace"},
	{.what = "the runtime asks and kills",
	 .argv = {"deaf"},
	 .acts = {{SEND_RUNTIME, false, SIGTERM}, {SEND_RUNTIME, false, SIGKILL}},
	 .stop_result = "ignored",
	 .stop_known = true,
	 .deaf = true,
	 .outcome = "killed",
	 .cause = "grace-expired"},
	{.what = "a process of its own container asks",
	 .argv = {"graceful"},
	 .acts = {{SEND_CONTAINER, true, SIGTERM}},
	 .stop_known = true,
	 .outcome = "completed",
	 .cause = "same-container"},
	{.what = "the same, and it exits with a code",
	 .argv = {"graceful", "143"},
	 .acts = {{SEND_CONTAINER, true, SIGTERM}},
	 .stop_known = true,
	 .outcome = "failed",
	 .cause = "same-container"},
};

static void send_act(struct fixture *f, const struct box *box, const struct box *other,
		     const struct asked *a, size_t nth, struct sent *ret)
{
	const struct box *via = a->acts[nth].inside ? box : other;

	if (a->acts[nth].from != SEND_CONTAINER)
		via = NULL;
	assert_int_equal(send_signal(&f->tree, a->acts[nth].from, via, box->init_pid,
				     a->acts[nth].sig, ret),
			 0);
}

static void judge_asked(struct fixture *f, struct box *box, const struct box *other,
			const struct asked *a)
{
	struct truth truth = {
		.outcome = a->outcome,
		.cause = a->cause,
		.stop_result = a->stop_result,
		.deaf = a->deaf,
		.gaps = "['attached-late']",
		.loose_empty = true,
	};
	struct sent sent[2];

	print_message("%s\n", a->what);
	send_act(f, box, other, a, 0, &sent[0]);
	truth.stop = a->stop_known ? &sent[0] : NULL;
	if (a->acts[1].sig) {
		send_act(f, box, other, a, 1, &sent[1]);
		truth.kill = &sent[1];
	}
	judge_box(f, box, truth);
}

/* The boxes run first. */
static void judge_all(struct fixture *f)
{
	struct box boxes[LEN(table)], other;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
	for (size_t i = 0; i < LEN(table); i++)
		judge_start(f, &(struct box_spec){.argv = table[i].argv}, &boxes[i]);
	assert_int_equal(tracer_start(&(struct tracer_spec){.tree = &f->tree}, &f->tracer), 0);
	for (size_t i = 0; i < LEN(table); i++)
		judge_asked(f, &boxes[i], &other, &table[i]);
	assert_int_equal(box_remove(&other), 0);
}

static void judge_on(const char *hierarchy)
{
	struct fixture f = {};
	struct hier hier;

	if (hierarchy)
		setenv("GRACED_TEST_HIERARCHY", hierarchy, 1);
	if (hier_detect(&hier) || box_unavailable() || tracer_unavailable()) {
		print_message("cannot run here\n");
		skip();
	}
	assert_int_equal(box_tree_open(&f.tree, "late"), 0);
	judge_all(&f);
	assert_int_equal(tracer_stop(f.tracer), 0);
	f.tracer = tracer_free(f.tracer);
	assert_int_equal(box_tree_close(&f.tree), 0);
}

static int teardown(void **state)
{
	unsetenv("GRACED_TEST_HIERARCHY");
	return 0;
}

static void who_asked_counts_in_containers_that_ran_before(void **state)
{
	judge_on(NULL);
}

static void who_asked_counts_on_the_unified_hierarchy(void **state)
{
	judge_on("unified");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("who asked counts in containers that ran before",
		      who_asked_counts_in_containers_that_ran_before),
		{"who asked counts on the unified hierarchy, too",
		 who_asked_counts_on_the_unified_hierarchy, NULL, teardown, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
