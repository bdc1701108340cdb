// SPDX-License-Identifier: Apache-2.0
// What graced audit says of each process of a container, and then the truth: shells, traps, names
// that lie, processes from outside, more of them than are listed. Wrappers are the affair of
// tests/runtime/test_wrappers.
#include "lib/claim.h"
#include "lib/kernel/audited.h"
#include "lib/kernel/fates.h"
#include "lib/patience.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct grown {
	const char *shell, *script;
	const char *fates;
	const char *says; /* members that the record has; NULL: any */
	unsigned int ends;
};

static const struct box_tree *tree;
static const struct grown *played;

static void run(struct page *page)
{
	char path[HIER_PATH_MAX + 64];
	char *env[] = {path, NULL};

	(void)page;
	snprintf(path, sizeof(path), "PATH=%s:.:/usr/bin:/bin", tree->helpers);
	/* What signals its process group must not reach ours. */
	if (setsid() < 0)
		_exit(120);
	execve(played->shell, (char *[]){"sh", "-c", (char *)played->script, NULL}, env);
	_exit(127);
}

static bool has_fates(const json_t *rec, const char *fates)
{
	char found[1024];

	fates_of(rec, found, sizeof(found));
	return strcmp(found, fates) == 0;
}

static json_t *await_fates(const struct grown *g, struct box *box)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS / 4;
	json_t *rec = NULL;

	do {
		json_decref(rec);
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
		rec = audited_any_by(box, 0);
	} while ((!rec || !has_fates(rec, g->fates)) && page_clock_ns() < until);
	if (!rec || !has_fates(rec, g->fates)) {
		char found[1024] = "no audit";

		if (rec)
			fates_of(rec, found, sizeof(found));
		fail_msg("%s: %s, not %s", g->script, found, g->fates);
	}
	return rec;
}

static void start(struct fixture *f, const struct grown *g, struct box *ret)
{
	print_message("%s %s\n", g->shell, g->script);
	played = g;
	tree = &f->tree;
	judge_start(f, &(struct box_spec){.run = run, .no_wait = true}, ret);
}

static void finish(const struct grown *g, struct box *box)
{
	json_t *rec = await_fates(g, box);

	if (g->says)
		judge_match(rec, g->says);
	fates_check(rec, box, g->ends);
	json_decref(rec);
	assert_int_equal(box_remove(box), 0);
}

static void play(void **state, const struct grown *rows, size_t n)
{
	struct fixture *f = judge_need(state);
	struct box box;

	for (size_t i = 0; i < n; i++) {
		start(f, rows + i, &box);
		finish(rows + i, &box);
	}
}

#define SH   "/bin/sh"
#define BASH "/bin/bash"

static void shells_pass_on_what_their_traps_do(void **state)
{
	static const struct grown rows[] = {
		{SH, "leaf; true", "ignores cut", "{'verdict':'deaf','warnings':[]}", 1},
		{SH, "trap : TERM; leaf; true", "receives cut", "{'warnings':['shell-waits']}", 1},
		{SH, "trap 'kill $p; wait $p; exit' TERM; leaf & p=$!; wait $p", "receives unknown",
		 NULL, 0},
		{SH, "trap 'trap - TERM; kill 0' TERM; leaf & wait", "receives unknown", NULL, 1},
		{BASH, "trap : TERM; leaf die; true", "receives cut", NULL, 1},
		/* The masks of an app started with & may look the same. */
		{BASH, "trap : TERM; leaf; true", "receives unknown", NULL, 1},
		{BASH, "trap : TERM; leaf & wait; wait", "receives unknown", NULL, 1},
		{BASH, "trap '' TERM; leaf; true", "ignores cut", NULL, 1},
	};

	play(state, rows, LEN(rows));
}

static void who_is_called_as_a_wrapper_is_not_believed_for_that(void **state)
{
	static const struct grown rows[] = {
		{SH,
		 "cp /bin/bash tini; exec ./tini -c 'trap \"kill \\$!\" TERM; leaf & wait; true'",
		 "receives unknown", NULL, 1},
		{SH, "cp /bin/bash su; exec ./su -c 'leaf; true'", "ignores cut", NULL, 1},
		{SH, "cp /bin/bash nginx; exec ./nginx -c './nginx -c \"leaf; true\"; true'",
		 "ignores cut cut", NULL, 1},
	};

	play(state, rows, LEN(rows));
}

static void what_came_from_outside_is_not_asked(void **state)
{
	static const struct grown grown = {SH, "leaf; true", "ignores cut cut", NULL, 1};
	struct fixture *f = judge_need(state);
	struct proc outside;
	json_t *rec;
	struct box box;

	start(f, &grown, &box);
	assert_int_equal(box_exec(&f->tree, &box, "stopper", true, BOX_ARGV("go"), &outside), 0);
	rec = await_fates(&grown, &box);
	assert_string_equal(jrec_text(json_array_get(json_object_get(rec, "processes"), 2),
				      "reason"),
			    "from-outside");
	json_decref(rec);
	proc_free(&outside);
	assert_int_equal(box_remove(&box), 0);
}

static void the_nearest_are_listed_and_the_others_counted(void **state)
{
	static const struct grown grown = {
		SH,
		"i=0; while [ $i -lt 70 ]; do sh -c 'leaf; true' & i=$((i+1)); done; leaf; true",
		NULL, NULL, 1};
	struct fixture *f = judge_need(state);
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	json_t *rec = NULL;
	struct box box;

	start(f, &grown, &box);
	do {
		assert_true(page_clock_ns() < until);
		json_decref(rec);
		rec = audited_any_by(&box, 0);
	} while (!rec || jrec_int(rec, "processes_other", 0) != 142 - 64);
	assert_int_equal(json_array_size(json_object_get(rec, "processes")), 64);
	for (size_t i = 1; i < 64; i++)
		assert_int_equal(jrec_int(json_array_get(json_object_get(rec, "processes"), i),
					  "parent_ns_pid", 0),
				 1);
	json_decref(rec);
	assert_int_equal(box_remove(&box), 0);
}

static int setup(void **state)
{
	const char *why = fates_open();

	*state = NULL;
	if (!why)
		return audited_setup(state);
	fprintf(stderr, "SKIP trees: %s\n", why);
	return 0;
}

static int teardown(void **state)
{
	fates_close();
	return audited_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("shells pass on what their traps do", shells_pass_on_what_their_traps_do),
		CLAIM("who is called as a wrapper is not believed for that",
		      who_is_called_as_a_wrapper_is_not_believed_for_that),
		CLAIM("what came from outside is not asked", what_came_from_outside_is_not_asked),
		CLAIM("the nearest are listed, and the others counted",
		      the_nearest_are_listed_and_the_others_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
