// SPDX-License-Identifier: Apache-2.0
// Inits that never exec, as CRIU restores them and fork servers make them: found by what happens to
// them. With the tracer attached before and after, on the hierarchies that this host has.
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state)
{
	return attach_open(state, "unexecd");
}

static void leave(int sig)
{
	_exit(0);
}

/* The inits. */
static void run_graceful(struct page *page)
{
	signal(SIGTERM, leave);
	page_exit_at_go(page);
}

static const struct {
	void (*run)(struct page *page);
	bool host_pidns;
	int sig; /* 0: it exits by itself */
	const char *outcome, *cause;
} rows[] = {
	{run_graceful, true, SIGTERM, "graceful", "stop-signal"},
	{run_graceful, false, SIGTERM, "graceful", "stop-signal"},
	{page_exit_at_go, true, SIGTERM, "terminated", "stop-signal"},
	{page_exit_at_go, true, SIGKILL, "killed", "no-grace"},
	{page_exit_at_go, false, SIGKILL, "killed", "no-grace"},
	{page_exit_at_go, true, 0, "failed", "self"},
	{page_exit_at_go, false, 0, "failed", "self"},
};

static const char *gaps_of(enum attach when, bool host_pidns)
{
	if (when == BEFORE)
		return host_pidns ? "['init-guessed']" : NULL;
	return host_pidns ? "['attached-late','init-guessed']" : "['attached-late']";
}

static void play(struct fixture *f, enum attach when, size_t i)
{
	const struct box_spec spec = {.run = rows[i].run, .host_pidns = rows[i].host_pidns};
	struct truth truth = {
		.outcome = rows[i].outcome,
		.cause = rows[i].cause,
		.gaps = gaps_of(when, rows[i].host_pidns),
	};
	struct sent sent;
	struct box box;

	attach_if(f, when, BEFORE);
	judge_start(f, &spec, &box);
	attach_if(f, when, AFTER);
	if (!rows[i].sig)
		page_go(box.proc.page, 1);
	else
		judge_send(f, SEND_RUNTIME, &box, rows[i].sig, &sent);
	if (rows[i].sig == SIGKILL)
		truth.kill = &sent;
	else if (rows[i].sig)
		truth.stop = &sent;
	judge_box(f, &box, truth);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(judge_count(f, &box, "signal"), rows[i].sig != 0);
	attach_end(f);
}

static void its_stop_is_reported(void **state)
{
	struct fixture *f = judge_need(state);

	for (int when = BEFORE; when <= AFTER; when++)
		for (size_t i = 0; i < LEN(rows); i++)
			play(f, (enum attach)when, i);
}

/* As `docker exec` does, in a container that CRIU restored. */
static void what_joins_its_pid_namespace_is_not_the_init(void **state)
{
	struct fixture *f = judge_need(state);
	struct sent sent;
	struct proc joined;
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.run = run_graceful}, &box);
	assert_int_equal(box_exec(&f->tree, &box, "workload", true, BOX_ARGV("deaf"), &joined), 0);
	proc_free(&joined);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	judge_box(f, &box,
		  (struct truth){.outcome = "graceful", .cause = "stop-signal", .stop = &sent});
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	attach_end(f);
}

static bool has_gap(const json_t *rec, const char *gap)
{
	const json_t *gaps = jrec_get(rec, "evidence.gaps");
	size_t n = json_array_size(gaps);

	while (n--)
		if (!strcmp(json_string_value(json_array_get(gaps, n)), gap))
			return true;
	return false;
}

/*
 * As `docker exec` does, in one without a pid namespace of its own, before anything has happened to
 * the init: which of the two is the init cannot be known.
 */
static void what_execs_beside_it_is_a_guess(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc beside;
	struct sent sent;
	struct box box;

	/* By whether the init is the first to go. */
	for (int first = 0; first < 2; first++) {
		attach_begin(f);
		judge_start(f, &(struct box_spec){.run = run_graceful, .host_pidns = true}, &box);
		assert_int_equal(
			box_exec(&f->tree, &box, "workload", false, BOX_ARGV("deaf"), &beside), 0);
		if (!first)
			proc_free(&beside);
		judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
		proc_free(&beside);
		assert_int_equal(box_remove(&box), 0);
		assert_int_equal(tracer_stop(f->tracer), 0);
		assert_int_not_equal(judge_count(f, &box, "stop"), 0);
		for (unsigned int i = 0; i < judge_count(f, &box, "stop"); i++) {
			struct tracer_want want = {.type = "stop", .id = box.id, .nth = i};

			assert_true(has_gap(tracer_await(f->tracer, &want), "init-guessed"));
		}
		f->tracer = tracer_free(f->tracer);
	}
}

/* Longer than a stage of a runtime lives before the init's exec: STAGE_NS in bpf/init.bpf.h. */
#define WORKER_AGE_S 4

static void run_worker(struct page *page)
{
	page_ready(page);
	page_await_go(page, 1);
	_exit(0);
}

/*
 * A fork server makes the init, and later another process in the container, which execs; then the
 * init leaves as a stage of a runtime does.
 */
static void an_old_init_that_leaves_is_no_stage(void **state)
{
	struct fixture *f = judge_need(state);
	struct tracer_want want = {.type = "stop"};
	struct proc beside;
	struct proc_end end;
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.run = run_worker, .host_pidns = true}, &box);
	sleep(WORKER_AGE_S);
	assert_int_equal(box_exec(&f->tree, &box, "workload", false, BOX_ARGV("deaf"), &beside), 0);
	page_go(box.proc.page, 1);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(end.status, 0);
	proc_free(&beside);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(tracer_stop(f->tracer), 0);
	want.id = box.id;
	assert_true(has_gap(tracer_await(f->tracer, &want), "init-guessed"));
	f->tracer = tracer_free(f->tracer);
}

/* The helper under the name of a runtime's program. */
static void copy_as_runc(const struct fixture *f, char *ret, size_t size)
{
	char from[HIER_PATH_MAX + 16];
	struct stat st;
	int in, out;

	snprintf(from, sizeof(from), "%s/tenant", f->tree.helpers);
	snprintf(ret, size, "%s/stage", f->tree.tmp);
	assert_true(mkdir(ret, 0755) == 0 || errno == EEXIST);
	snprintf(ret, size, "%s/stage/runc", f->tree.tmp);
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(ret, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(in >= 0 && out >= 0 && fstat(in, &st) == 0);
	assert_int_equal(sendfile(out, in, NULL, (size_t)st.st_size), st.st_size);
	close(in);
	close(out);
}

/* A runtime makes the cgroup, comes in, fails before it has exec'd anything, and leaves. */
static void a_runtime_that_fails_is_no_stop(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_spec spec = {.cwd = f->tree.tmp};
	char exe[HIER_PATH_MAX];
	struct proc_end end;
	struct proc runtime;
	struct box box;

	copy_as_runc(f, exe, sizeof(exe));
	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("exit", "0"), .host_pidns = true}, &box);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_non_null(tracer_await_stop(f->tracer, &box));
	spec.exe = exe;
	spec.argv = BOX_ARGV("visit", box.dir);
	assert_int_equal(proc_start(&spec, &runtime), 0);
	assert_int_equal(proc_wait(&runtime, &end), 0);
	assert_int_equal(end.status, 0);
	proc_free(&runtime);
	assert_int_equal(box_remove(&box), 0);
	/* Whatever was to be reported of it is, at the latest, when the trace ends. */
	assert_int_equal(tracer_stop(f->tracer), 0);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	f->tracer = tracer_free(f->tracer);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an init that never execs is found by its first signal or its exit",
		      its_stop_is_reported),
		CLAIM("what joins the pid namespace of such an init is not the init",
		      what_joins_its_pid_namespace_is_not_the_init),
		CLAIM("what execs in a container beside such an init is a guess",
		      what_execs_beside_it_is_a_guess),
		CLAIM("an init of some age that leaves beside an exec is no stage of a runtime",
		      an_old_init_that_leaves_is_no_stage),
		CLAIM("a runtime that fails before the container's exec is no stop",
		      a_runtime_that_fails_is_no_stop),
	};

	return attach_run(tests, setup);
}
