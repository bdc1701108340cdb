// SPDX-License-Identifier: Apache-2.0
// An init that ran before its container was recorded is reported as late, however it is found. On
// the hierarchies that this host has.
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define LEVELS 70 /* more than a scan visits, or a container may have of its own */

static void run_exec(struct page *page)
{
	page_ready(page);
	page_await_go(page, 1);
	execl("/bin/sleep", "sleep", "600", (char *)NULL);
	_exit(1);
}

/* --- the kernel half ------------------------------------------------------------------------ */

static int setup(void **state)
{
	return kernhalf_open(state, "late");
}

enum found { BY_SIGNAL, BY_EXIT, BY_EXEC };

static const struct {
	enum found by;
	bool late;
} rows[] = {
	{BY_SIGNAL, false}, {BY_SIGNAL, true}, {BY_EXIT, false},
	{BY_EXIT, true},    {BY_EXEC, false},  {BY_EXEC, true},
};

/* Its processes have not been seen so far. */
static void record_anew(struct kernhalf *k, const struct box *box)
{
	uint64_t id = kernhalf_id(box->dir);

	assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_BRANCH), 0);
	assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_CONTAINER), 0);
}

static void await_init(struct kernhalf *k)
{
	for (int i = 0; i < 30000; i++) {
		kernhalf_drain(k);
		if (k->n_inits)
			return;
		usleep(1000);
	}
	fail_msg("no init was found");
}

static void find(struct kernhalf *k, enum found by, struct box *box)
{
	if (by == BY_SIGNAL)
		assert_int_equal(kill(box->init_pid, SIGTERM), 0);
	else
		page_go(box->proc.page, 1);
	await_init(k);
	assert_int_equal(k->n_inits, 1);
	assert_int_equal(k->inits[0].hdr.watch_id, kernhalf_id(box->dir));
	assert_int_equal(k->inits[0].proc.pid, box->init_pid);
}

static void one_from_before_is_late(void **state)
{
	struct kernhalf *k = kernhalf_need(state);

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct box_spec spec = {.run = rows[i].by == BY_EXEC ? run_exec
									   : page_exit_at_go,
					      .host_pidns = true};
		struct box box;

		print_message("row %zu\n", i);
		assert_int_equal(box_start(&k->tree, &spec, &box), 0);
		assert_true(box.proc.ready);
		if (rows[i].late)
			record_anew(k, &box);
		kernhalf_drain(k);
		find(k, rows[i].by, &box);
		assert_int_equal(k->inits[0].flags, rows[i].late ? GRACED_INIT_LATE : 0);
		assert_int_equal(box_remove(&box), 0);
	}
}

static void one_from_after_is_not(void **state)
{
	const struct box_spec spec = {.run = page_exit_at_go, .host_pidns = true};
	struct kernhalf *k = kernhalf_need(state);
	struct proc proc;
	struct box box;

	assert_int_equal(box_start(&k->tree, &spec, &box), 0);
	proc_free(&box.proc);
	record_anew(k, &box);
	kernhalf_drain(k);
	assert_int_equal(box_exec(&k->tree, &box, "workload", false, BOX_ARGV("graceful"), &proc),
			 0);
	await_init(k);
	assert_int_equal(k->inits[0].proc.pid, proc.pid);
	assert_int_equal(k->inits[0].flags, 0);
	proc_free(&proc);
	assert_int_equal(box_remove(&box), 0);
}

/* --- all of it ------------------------------------------------------------------------------ */

static int setup_traced(void **state)
{
	const char *why = box_unavailable();
	struct fixture *f;

	*state = NULL;
	why = why ? why : tracer_unavailable();
	if (why) {
		fprintf(stderr, "SKIP late inits: %s\n", why);
		return 0;
	}
	f = calloc(1, sizeof(*f));
	*state = f;
	return f && box_tree_open(&f->tree, "deep") == 0 ? 0 : -1;
}

static int teardown_traced(void **state)
{
	struct fixture *f = *state;
	int r = f ? box_tree_close(&f->tree) : 0;

	free(f);
	return r;
}

/* Moves the init to the deepest of so many cgroups; the uppermost of them is in ret. */
static void move_down(struct fixture *f, const struct box *box, char ret[static HIER_PATH_MAX])
{
	char dir[HIER_PATH_MAX];
	size_t len = strlen(box->dir);

	assert_true(len + 2 * LEVELS < sizeof(dir));
	memcpy(dir, box->dir, len + 1);
	for (int i = 0; i < LEVELS; i++) {
		strcpy(dir + len, "/d");
		len += 2;
		assert_int_equal(hier_make(&f->tree.hier, dir, false), 0);
		if (i == 0)
			memcpy(ret, dir, len + 1);
	}
	assert_int_equal(cg_enter(dir, box->init_pid), 0);
}

static void an_init_far_below_its_container_is_late(void **state)
{
	struct fixture *f = judge_need(state);
	char below[HIER_PATH_MAX];
	struct proc_end end;
	struct sent sent;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful"), .host_pidns = true}, &box);
	move_down(f, &box, below);
	assert_int_equal(tracer_start(&(struct tracer_spec){}, &f->tracer), 0);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	judge_record(f,
		     (struct truth){.box = &box,
				    .end = &end,
				    .outcome = "graceful",
				    .cause = "stop-signal",
				    .stop = &sent,
				    .gaps = "['attached-late','init-guessed']",
				    .loose_empty = true},
		     tracer_await_stop(f->tracer, &box));
	assert_int_equal(cg_sweep(below), 0);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(tracer_stop(f->tracer), 0);
	f->tracer = tracer_free(f->tracer);
}

static int run(const char *hierarchy)
{
	static const struct CMUnitTest kernel[] = {
		CLAIM("an init that started before its container was recorded is late",
		      one_from_before_is_late),
		CLAIM("one that started after is not", one_from_after_is_not),
	};
	static const struct CMUnitTest traced[] = {
		CLAIM("an init 70 cgroups below its container is late, as any other",
		      an_init_far_below_its_container_is_late),
	};
	struct hier hier;

	setenv("GRACED_TEST_HIERARCHY", hierarchy, 1);
	if (hier_detect(&hier)) {
		printf("# %s is not mounted here\n", hierarchy);
		return 0;
	}
	return cmocka_run_group_tests_name(hierarchy, kernel, setup, kernhalf_close) +
	       cmocka_run_group_tests_name(hierarchy, traced, setup_traced, teardown_traced);
}

int main(void)
{
	return run("memory") + run("unified");
}
