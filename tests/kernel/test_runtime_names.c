// SPDX-License-Identifier: Apache-2.0
// Containers whose program has a runtime's name are containers like all others, and stages of a
// runtime are none. With the tracer attached before and after, on the hierarchies that this host has.
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define STAGE_AGE_S 4 /* longer than STAGE_NS in bpf/init.bpf.h */

static int setup(void **state)
{
	return attach_open(state, "names");
}

static const char *const names[] = {
	"runc-app", "crun", ".criu-wrapped", "youki.amd64", "memfd:runc_cloned",
};

static const char *gaps_of(enum attach when, bool pid1)
{
	if (when == BEFORE)
		return NULL;
	return pid1 ? "['attached-late']" : "['attached-late','init-guessed']";
}

static void end_by_signal(struct fixture *f, enum attach when, const char *name, bool pid1)
{
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	struct sent sent;
	struct box box;

	print_message("%s %d %d\n", name, when, pid1);
	attach_if(f, when, BEFORE);
	judge_start(
		f,
		&(struct box_spec){.as = name, .argv = BOX_ARGV("graceful"), .host_pidns = !pid1},
		&box);
	attach_if(f, when, AFTER);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	truth.stop = &sent;
	truth.gaps = gaps_of(when, pid1);
	judge_box(f, &box, truth);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	attach_end(f);
}

static void it_may_have_a_runtimes_name(void **state)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(names); i++)
		for (int when = BEFORE; when <= AFTER; when++)
			for (int pid1 = 0; pid1 < 2; pid1++)
				end_by_signal(f, (enum attach)when, names[i], pid1);
}

/* In the pid namespace of another container of its pod: it is not PID 1, and ends by itself. */
static void one_in_a_shared_pid_namespace_too(void **state)
{
	struct fixture *f = judge_need(state);
	struct box sandbox, box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &sandbox);
	judge_start(f,
		    &(struct box_spec){.as = names[0],
				       .prog = "workload",
				       .argv = BOX_ARGV("wait", "exit", "3"),
				       .pod_of = &sandbox,
				       .pidns_of = &sandbox},
		    &box);
	attach_begin(f);
	page_go(box.proc.page, 1);
	judge_box(f, &box,
		  (struct truth){
			  .outcome = "failed", .cause = "self", .gaps = gaps_of(AFTER, false)});
	assert_int_equal(box_remove(&sandbox), 0);
	attach_end(f);
}

/* A runtime's child waits in the container, and leaves without having exec'd the program. */
static void a_stage_that_hangs_is_no_stop(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_spec spec = {.cwd = f->tree.tmp};
	char exe[HIER_PATH_MAX];
	struct proc_end end;
	struct proc runtime;
	struct box box;
	pid_t stage;

	/* The copy is made, and the container is there. */
	judge_start(f,
		    &(struct box_spec){.as = "runc-1.4",
				       .prog = "tenant",
				       .argv = BOX_ARGV("none"),
				       .no_wait = true,
				       .host_pidns = true},
		    &box);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	snprintf(exe, sizeof(exe), "%s/runc-1.4", f->tree.tmp);
	spec.exe = exe;
	spec.argv = BOX_ARGV("lodge", box.dir);
	for (int when = BEFORE; when <= AFTER; when++) {
		attach_if(f, (enum attach)when, BEFORE);
		assert_int_equal(proc_start(&spec, &runtime), 0);
		assert_true(runtime.ready);
		sleep(STAGE_AGE_S);
		attach_if(f, (enum attach)when, AFTER);
		assert_int_equal(cg_pids(box.dir, &stage, 1), 1);
		assert_int_equal(kill(stage, SIGTERM), 0);
		assert_int_equal(proc_wait(&runtime, &end), 0);
		assert_int_equal(end.status, 0);
		proc_free(&runtime);
		/* Whatever was to be reported of it is, at the latest, when the trace ends. */
		assert_int_equal(tracer_stop(f->tracer), 0);
		assert_int_equal(judge_count(f, &box, "stop"), 0);
		f->tracer = tracer_free(f->tracer);
	}
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a container whose program has a runtime's name is reported",
		      it_may_have_a_runtimes_name),
		CLAIM("so is one that is not PID 1 and ends by itself",
		      one_in_a_shared_pid_namespace_too),
		CLAIM("a stage of a runtime that hangs is no stop", a_stage_that_hangs_is_no_stop),
	};

	return attach_run(tests, setup);
}
