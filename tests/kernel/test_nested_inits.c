// SPDX-License-Identifier: Apache-2.0
// Containers without a pid namespace of their own whose processes make some: what is PID 1 further
// down, and outlives the container's init, is not the container's init. Each is played with the
// tracer attached before and after, on the hierarchies that this host has.
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <string.h>

static int setup(void **state)
{
	return attach_open(state, "nested");
}

static void start(struct fixture *f, enum attach when, const char *const *argv, struct box *ret)
{
	attach_if(f, when, BEFORE);
	judge_start(f, &(struct box_spec){.prog = "nester", .argv = argv, .host_pidns = true}, ret);
	attach_if(f, when, AFTER);
}

/* Without its init, only the end of what is left in the cgroup is reported. */
static void leave_rest(struct fixture *f, struct box *box)
{
	page_go(box->proc.page, 2);
	kernhalf_await_note(box, NOTE_CHILD, 0);
	page_go(box->proc.page, 3);
	assert_non_null(
		tracer_await(f->tracer, &(struct tracer_want){.type = "empty", .id = box->id}));
	assert_int_equal(judge_count(f, box, "stop"), 1);
	assert_int_equal(box_remove(box), 0);
	attach_end(f);
}

static const char *gaps_of(enum attach when)
{
	return when == BEFORE ? "['not-empty']" : "['attached-late','init-guessed','not-empty']";
}

static void judge(struct fixture *f, enum attach when, struct box *box, struct truth truth)
{
	struct proc_end end;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	truth.box = box;
	truth.end = &end;
	truth.gaps = gaps_of(when);
	truth.loose_empty = true;
	judge_record(f, truth, tracer_await_stop(f->tracer, box));
}

static void a_sandbox_that_outlives_the_init_hides_no_stop(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	for (int when = BEFORE; when <= AFTER; when++) {
		start(f, when, BOX_ARGV("sandbox", "3"), &box);
		page_go(box.proc.page, 1);
		judge(f, when, &box, (struct truth){.outcome = "failed", .cause = "self"});
		/* It execs once more, its parent outside by now. */
		page_go(box.proc.page, 2);
		kernhalf_await_note(&box, NOTE_CHILD, 1);
		leave_rest(f, &box);
	}
}

static void a_sandbox_that_comes_back_from_outside_is_not_the_init(void **state)
{
	struct fixture *f = judge_need(state);
	struct sent sent;
	struct box box;

	for (int when = BEFORE; when <= AFTER; when++) {
		start(f, when, BOX_ARGV("impostor", "0"), &box);
		judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		judge(f, when, &box,
		      (struct truth){.outcome = "graceful", .cause = "stop-signal", .stop = &sent});
		leave_rest(f, &box);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a sandbox that outlives the init hides no stop",
		      a_sandbox_that_outlives_the_init_hides_no_stop),
		CLAIM("a sandbox that was adopted outside the container is not its init",
		      a_sandbox_that_comes_back_from_outside_is_not_the_init),
	};

	return attach_run(tests, setup);
}
