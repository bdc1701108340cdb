// SPDX-License-Identifier: Apache-2.0
// Inits that die of a stop signal are counted until they wake up to it: exactly once each, however
// many threads they have, and whatever becomes of their entry meanwhile. While the count is not 0,
// each SIGKILL delivered on the host costs a look-up.
#include "lib/box/send.h"
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>

#include "graced.skel.h"
#include "io/kernel/priv.h"

#define ROUNDS 150

static int setup(void **state)
{
	return kernhalf_open(state, "dying");
}

static void start(struct kernhalf *k, const struct box_spec *spec, struct box *ret)
{
	assert_int_equal(box_start(&k->tree, spec, ret), 0);
	assert_true(ret->proc.ready);
}

static void end(struct box *box, int sig)
{
	struct proc_end ended;

	assert_int_equal(proc_wait(&box->proc, &ended), 0);
	assert_int_equal(ended.status, sig);
}

static void assert_none_counted(const struct kernhalf *k)
{
	assert_int_equal(k->kern->bss->dying, 0);
	assert_int_equal(kernhalf_entries(k, "doomed"), 0);
}

/* All threads wake up to it and exit, on all CPUs. */
static void an_init_of_many_threads_is_counted_once(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box_spec spec = {
		.prog = "crowd", .argv = BOX_ARGV("idle", "32"), .host_pidns = true};
	struct box boxes[2];

	for (int i = 0; i < ROUNDS; i++) {
		for (size_t b = 0; b < LEN(boxes); b++)
			start(k, &spec, &boxes[b]);
		for (size_t b = 0; b < LEN(boxes); b++)
			assert_int_equal(kill(boxes[b].init_pid, SIGTERM), 0);
		for (size_t b = 0; b < LEN(boxes); b++)
			end(&boxes[b], SIGTERM);
		assert_none_counted(k);
		for (size_t b = 0; b < LEN(boxes); b++)
			assert_int_equal(box_remove(&boxes[b]), 0);
		kernhalf_drain(k);
	}
}

/* As when systemd names another main process of a service. */
static void an_init_that_is_replaced_while_it_dies_leaves_no_count(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_init other = {.rank = GRACED_INIT_PID1};
	struct proc second;
	struct box box;

	if (!v1freezer_is_here(&k->tree.hier))
		skip();
	start(k, &(struct box_spec){.argv = BOX_ARGV("deaf"), .host_pidns = true}, &box);
	assert_int_equal(box_exec(&k->tree, &box, "workload", false, BOX_ARGV("deaf"), &second), 0);
	/* A process that is frozen takes no signal but SIGKILL, and wakes up to that when thawed. */
	assert_int_equal(kern_watch_set_stop(k->kern, kernhalf_id(box.dir), SIGKILL), 0);
	assert_int_equal(v1freezer_hold(box.dir), 0);
	assert_int_equal(kill(box.init_pid, SIGKILL), 0);
	assert_int_equal(k->kern->bss->dying, 1);
	other.pid = (uint32_t)second.pid;
	assert_int_equal(kern_init_set(k->kern, kernhalf_id(box.dir), &other), 0);
	assert_int_equal(v1freezer_let_out(k->tree.program), 0);
	end(&box, SIGKILL);
	proc_free(&second);
	assert_int_equal(box_remove(&box), 0);
	assert_none_counted(k);
}

/* The count is of containers: a later init of the same one is counted again. */
static void each_life_is_counted_anew(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	const struct box_spec spec = {.argv = BOX_ARGV("deaf"), .host_pidns = true};
	struct box box;

	for (int i = 0; i < 2; i++) {
		start(k, &spec, &box);
		kernhalf_drain(k);
		assert_int_equal(kill(box.init_pid, SIGTERM), 0);
		end(&box, SIGTERM);
		kernhalf_drain(k);
		assert_int_equal(k->n_exits, 1);
		assert_true(k->exits[0].deliver_ns);
		assert_none_counted(k);
		assert_int_equal(box_remove(&box), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an init of many threads that dies is counted up and down once",
		      an_init_of_many_threads_is_counted_once),
		CLAIM("an init that is replaced while it dies leaves no count behind",
		      an_init_that_is_replaced_while_it_dies_leaves_no_count),
		CLAIM("each life is counted anew", each_life_is_counted_anew),
	};

	return cmocka_run_group_tests_name("dying", tests, setup, kernhalf_close);
}
