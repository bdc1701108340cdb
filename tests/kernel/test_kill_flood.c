// SPDX-License-Identifier: Apache-2.0
// Processes of a container share the pid namespace of another one and send its init, which is PID 1
// of that, SIGKILLs without end. It ignores them: neighbours lose nothing, and of the init all that
// decides is recorded. On the hierarchies that this host has.
#include "lib/box/flood.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/kernel/kernhalf.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "io/kernel/priv.h"

#define FLOOD	   60000 /* at least, of all senders together */
#define BURST	   256	 /* so many of them are recorded at once */
#define REFILL_NS  10000000u
#define NEIGHBOURS 3
#define OTHERS	   20

/* A sandbox, and a container that shares its pid namespace. */
struct pair {
	struct box sandbox, app;
};

static void start_pair(struct box_tree *tree, const char *const *argv, struct pair *ret)
{
	assert_int_equal(box_start(tree, &(struct box_spec){.argv = argv}, &ret->sandbox), 0);
	assert_int_equal(box_start(tree,
				   &(struct box_spec){.argv = BOX_ARGV("deaf"),
						      .pod_of = &ret->sandbox,
						      .pidns_of = &ret->sandbox},
				   &ret->app),
			 0);
}

/* They died with their namespace. */
static void bury_flood(struct flood *flood)
{
	for (int i = 0; i < FLOOD_SENDERS; i++) {
		assert_int_equal(proc_wait(&flood->senders[i], &(struct proc_end){}), 0);
		proc_free(&flood->senders[i]);
	}
}

/* --- the kernel half by itself --- */

static int setup_half(void **state)
{
	return kernhalf_open(state, "kill-flood");
}

static void what_is_not_recorded_is_counted(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts counts;
	uint64_t began_ns, took_ns;
	struct flood flood;
	struct pair pair;
	int64_t sent;

	start_pair(&k->tree, BOX_ARGV("deaf"), &pair);
	kernhalf_drain(k);
	began_ns = page_clock_ns();
	flood_begin(&k->tree, &pair.app, &flood);
	flood_await(&flood, FLOOD);
	sent = flood_end(&flood);
	took_ns = page_clock_ns() - began_ns;
	kernhalf_drain(k);
	counts = kernhalf_counts(k, pair.sandbox.dir);
	assert_true(sent >= FLOOD);
	assert_int_equal(counts.lost, 0);
	assert_int_equal(k->n_signals + kernhalf_vain_kills(k, pair.sandbox.dir), sent);
	assert_int_equal(counts.suppressed, 0);
	assert_int_equal(counts.suppressed_sigs, 0);
	/* Senders that race may take the same token of the bucket. */
	assert_in_range(k->n_signals, BURST, FLOOD_SENDERS * (BURST + 1 + took_ns / REFILL_NS));
	assert_int_equal(k->signals[0].sig, SIGKILL);
	assert_int_equal(k->signals[0].hdr.watch_id, kernhalf_id(pair.sandbox.dir));
	assert_int_equal(k->signals[0].sender.watch_id, kernhalf_id(pair.app.dir));
	assert_int_equal(kernhalf_counts(k, pair.app.dir).suppressed, 0);
	assert_int_equal(kernhalf_vain_kills(k, pair.app.dir), 0);
	assert_int_equal(box_remove(&pair.app), 0);
	assert_int_equal(box_remove(&pair.sandbox), 0);
}

/* The bucket of the flood is not that of other signals, and no delivered SIGKILL needs one. */
static void a_flood_hides_no_other_signal(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts before, after;
	struct flood flood;
	struct pair pair;

	kern_limit_all(k->kern, true);
	start_pair(&k->tree, BOX_ARGV("sigign"), &pair);
	flood_begin(&k->tree, &pair.app, &flood);
	flood_await(&flood, FLOOD);
	flood_end(&flood);
	kernhalf_drain(k);
	before = kernhalf_counts(k, pair.sandbox.dir);
	for (int i = 0; i < 100; i++)
		assert_int_equal(kill(pair.sandbox.init_pid, SIGTERM), 0);
	assert_int_equal(kill(pair.sandbox.init_pid, SIGKILL), 0);
	assert_int_equal(proc_wait(&pair.app.proc, &(struct proc_end){}), 0);
	assert_int_equal(proc_wait(&pair.sandbox.proc, &(struct proc_end){}), 0);
	kernhalf_drain(k);
	after = kernhalf_counts(k, pair.sandbox.dir);
	assert_int_equal(k->n_signals, 100 + 2); /* a SIGKILL each to the sandbox and the app */
	assert_int_equal(after.suppressed, before.suppressed);
	kern_limit_all(k->kern, false);
	assert_int_equal(box_remove(&pair.app), 0);
	assert_int_equal(box_remove(&pair.sandbox), 0);
}

/* What an init's own container sends it in vain is limited, as it may do so without end. */
static void from_the_same_container_they_are_limited(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts counts;
	struct flood flood;
	struct pair pair;

	start_pair(&k->tree, BOX_ARGV("deaf"), &pair);
	kernhalf_drain(k);
	flood_begin(&k->tree, &pair.sandbox, &flood);
	flood_await(&flood, FLOOD);
	flood_end(&flood);
	kernhalf_drain(k);
	counts = kernhalf_counts(k, pair.sandbox.dir);
	assert_in_range(k->n_signals, 1, FLOOD / 2);
	assert_int_equal(counts.suppressed, 0);
	assert_int_equal(box_remove(&pair.app), 0);
	assert_int_equal(box_remove(&pair.sandbox), 0);
}

/* A container floods its neighbour's init with a signal that counts, and is asked to by the rest:
 * only the flood is limited, also while the daemon is over its budget. */
static void a_neighbours_flood_spends_its_own_records(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	uint64_t began_ns, took_ns;
	struct box other;
	struct flood flood;
	struct pair pair;
	struct sent sent;
	int64_t n;

	for (int over = 0; over < 2; over++) {
		kern_limit_all(k->kern, over);
		start_pair(&k->tree, BOX_ARGV("deaf"), &pair);
		assert_int_equal(box_start(&k->tree,
					   &(struct box_spec){.argv = BOX_ARGV("deaf"),
							      .pod_of = &pair.sandbox,
							      .pidns_of = &pair.sandbox},
					   &other),
				 0);
		kernhalf_drain(k);
		began_ns = page_clock_ns();
		flood_begin_with(&k->tree, &pair.app, SIGTERM, &flood);
		flood_await(&flood, FLOOD);
		for (int i = 0; i < OTHERS; i++) {
			assert_int_equal(kill(pair.sandbox.init_pid, SIGTERM), 0);
			assert_int_equal(send_signal(&k->tree, SEND_CONTAINER, &other,
						     pair.sandbox.init_pid, SIGTERM, &sent),
					 0);
		}
		n = flood_end(&flood);
		took_ns = page_clock_ns() - began_ns;
		kernhalf_drain(k);
		assert_int_equal(kernhalf_counts(k, pair.sandbox.dir).lost, 0);
		assert_int_equal(k->n_signals + kernhalf_counts(k, pair.sandbox.dir).suppressed,
				 n + 2 * OTHERS);
		assert_in_range(k->n_signals, BURST + 2 * OTHERS,
				2 * OTHERS + FLOOD_SENDERS * (BURST + 1 + took_ns / REFILL_NS));
		assert_int_equal(box_remove(&other), 0);
		assert_int_equal(box_remove(&pair.app), 0);
		assert_int_equal(box_remove(&pair.sandbox), 0);
	}
	kern_limit_all(k->kern, false);
}

/* --- verdicts --- */

static int setup_traced(void **state)
{
	return fixture_open(state, "kill-flood", BOX_ARGV("--signals"));
}

/* Neighbours are stopped one after the other, and their records are complete. */
static void stop_neighbours(struct fixture *f)
{
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	struct sent sent;
	struct box box;

	for (int i = 0; i < NEIGHBOURS; i++) {
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "5")}, &box);
		judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		truth.stop = &sent;
		judge_box(f, &box, truth);
	}
}

/*
 * The app goes with the sandbox's pid namespace, whatever was sent before. PID 1 does not end
 * before all others have been waited for.
 */
static void judge_pair(struct fixture *f, struct pair *pair, struct truth truth)
{
	struct truth app = {.outcome = "killed", .cause = "pid-namespace", .kernel_kill = true};

	judge_box(f, &pair->app, app);
	judge_box(f, &pair->sandbox, truth);
}

static void neighbours_lose_nothing(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal", .collateral_kills = 1};
	struct flood flood;
	struct pair pair;
	struct sent sent;

	start_pair(&f->tree, BOX_ARGV("graceful", "3"), &pair);
	flood_begin(&f->tree, &pair.app, &flood);
	flood_await(&flood, FLOOD);
	stop_neighbours(f);
	flood_await(&flood, FLOOD_STEP);
	flood_end(&flood);
	stop_neighbours(f);
	/* Asked when it is over: nothing that came after the request is missing. */
	judge_send(f, SEND_RUNTIME, &pair.sandbox, SIGTERM, &sent);
	truth.stop = &sent;
	judge_pair(f, &pair, truth);
}

/* Signals that are no SIGKILL; the records of all neighbours are complete. */
static void of_a_flood_of_stop_signals_neither(void **state)
{
	struct fixture *f = judge_need(state);
	struct flood flood;
	struct pair pair;

	start_pair(&f->tree, BOX_ARGV("deaf"), &pair);
	flood_begin_with(&f->tree, &pair.app, SIGTERM, &flood);
	flood_await(&flood, FLOOD);
	stop_neighbours(f);
	flood_await(&flood, FLOOD);
	flood_end(&flood);
	assert_int_equal(box_remove(&pair.app), 0);
	assert_int_equal(box_remove(&pair.sandbox), 0);
}

static void a_stop_amid_the_flood_is_complete(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {.outcome = "killed",
			      .cause = "grace-expired",
			      .collateral_kills = 1 + FLOOD_SENDERS};
	struct sent stop, kill;
	struct flood flood;
	struct pair pair;

	start_pair(&f->tree, BOX_ARGV("hears", "15"), &pair);
	flood_begin(&f->tree, &pair.app, &flood);
	flood_await(&flood, FLOOD);
	judge_send(f, SEND_RUNTIME, &pair.sandbox, SIGTERM, &stop);
	flood_await(&flood, 2 * FLOOD_STEP);
	judge_send(f, SEND_RUNTIME, &pair.sandbox, SIGKILL, &kill);
	truth.stop = &stop;
	truth.kill = &kill;
	bury_flood(&flood);
	judge_pair(f, &pair, truth);
}

static void a_kill_after_the_flood_is_the_one(void **state)
{
	struct fixture *f = judge_need(state);
	struct truth truth = {.outcome = "killed", .cause = "no-grace", .collateral_kills = 1};
	struct flood flood;
	struct pair pair;
	struct sent kill;

	start_pair(&f->tree, BOX_ARGV("deaf"), &pair);
	flood_begin(&f->tree, &pair.app, &flood);
	flood_await(&flood, FLOOD);
	flood_end(&flood);
	judge_send(f, SEND_RUNTIME, &pair.sandbox, SIGKILL, &kill);
	truth.kill = &kill;
	judge_pair(f, &pair, truth);
}

static int run(const char *hierarchy)
{
	static const struct CMUnitTest half[] = {
		CLAIM("ignored SIGKILLs are recorded up to a rate, all others are counted",
		      what_is_not_recorded_is_counted),
		CLAIM("they hide no other signal", a_flood_hides_no_other_signal),
		CLAIM("those of the same container are limited",
		      from_the_same_container_they_are_limited),
		CLAIM("a container that floods another one's init spends its own records",
		      a_neighbours_flood_spends_its_own_records),
	};
	static const struct CMUnitTest traced[] = {
		CLAIM("neighbours lose nothing, nor does a stop after the flood",
		      neighbours_lose_nothing),
		CLAIM("nor in a flood of stop signals", of_a_flood_of_stop_signals_neither),
		CLAIM("a stop amid the flood is complete", a_stop_amid_the_flood_is_complete),
		CLAIM("a SIGKILL that is delivered after it is the one it died of",
		      a_kill_after_the_flood_is_the_one),
	};
	struct hier hier;

	setenv("GRACED_TEST_HIERARCHY", hierarchy, 1);
	if (hier_detect(&hier)) {
		printf("# %s is not mounted here\n", hierarchy);
		return 0;
	}
	return cmocka_run_group_tests_name(hierarchy, half, setup_half, kernhalf_close) +
	       cmocka_run_group_tests_name(hierarchy, traced, setup_traced, fixture_close);
}

int main(void)
{
	return run("memory") + run("unified");
}
