// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about a container that outlives its SIGKILL in a node's shutdown: a v1 freezer of the
 * test's own holds it, logind is python-dbusmock's on a bus of the test's own.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/box/send.h"
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/shutdown/margin.h"
#include "lib/shutdown/shutscene.h"

#define S_NS 1000000000ULL

static struct shutscene *begin(void **state, const struct shutscene_spec *spec)
{
	struct shutscene *s = *state;

	if (s && !v1freezer_is_here(&s->tree.hier)) {
		fprintf(stderr, "skipped: there is no v1 freezer to hold a container with\n");
		skip();
	}
	return shutscene_begin(state, spec);
}

/* A container that stands still; the shutdown is announced, and the runtime has asked it to stop.
 * Returns when it was announced. */
static uint64_t stop_frozen(struct shutscene *s, struct box *box, struct sent *sent)
{
	uint64_t announced_ns;
	json_t *rec;

	shutscene_box(s, "frozen", box);
	assert_int_equal(v1freezer_hold(box->dir), 0);
	logindmock_announce(&s->mock, true, "poweroff");
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'announced'}");
	announced_ns = (uint64_t)jrec_int(rec, "announced_boot_ns", 0);
	json_decref(rec);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box->init_pid, SIGTERM, sent),
			 0);
	return announced_ns;
}

/* By pod and container, a second after the signal that was to end it. */
static void expect_named(const struct shutscene *s, const struct box *box, uint64_t killed_ns)
{
	json_t *rec = shutscene_await_record(s, "{'type':'shutdown','event':'container-survives',"
						"'pod':{'name':'frozen'}}");

	assert_string_equal(jrec_text(rec, "pod.namespace"), "shop");
	assert_string_equal(jrec_text(rec, "container.name"), "main");
	assert_string_equal(jrec_text(rec, "container.id"), box->id);
	assert_true((uint64_t)jrec_int(rec, "boot_ns", 0) >= killed_ns + S_NS);
	json_decref(rec);
}

/* The margin before logind's limit, with the container still there, and not earlier. */
static void expect_released(struct shutscene *s, const struct box *box, uint64_t announced_ns,
			    uint64_t limit_ns)
{
	uint64_t at_ns;
	json_t *rec;

	rec = shutscene_await_record(s, "{'type':'shutdown','event':'released'}");
	at_ns = (uint64_t)jrec_int(rec, "boot_ns", 0);
	assert_string_equal(jrec_text(rec, "reason"), "limit");
	assert_int_equal(jrec_int(rec, "limit_ns", 0), limit_ns);
	assert_true(jrec_int(rec, "containers_left", 0) >= 1);
	json_decref(rec);
	assert_in_range(at_ns, announced_ns + limit_ns - margin_ns(limit_ns),
			announced_ns + limit_ns - 1);
	shutscene_await_locks(s, 1);
	assert_int_equal(kill(box->init_pid, 0), 0);
}

/* Let out, it dies of what it was sent: reported as that signal's doing. */
static void let_out(struct shutscene *s, struct box *box, const char *comm)
{
	struct proc_end how;
	json_t *rec;

	assert_int_equal(v1freezer_let_out(getpid()), 0);
	assert_int_equal(proc_wait(&box->proc, &how), 0);
	rec = shutscene_await_record(s,
				     "{'type':'stop','outcome':'killed','pod':{'name':'frozen'}}");
	assert_string_equal(jrec_text(rec, "container.id"), box->id);
	assert_string_equal(jrec_text(rec, "kill_signal.sender.comm"), comm);
	json_decref(rec);
	assert_int_equal(box_remove(box), 0);
	shutscene_end(s);
}

static void what_the_runtime_cannot_end(void **state)
{
	struct shutscene *s =
		begin(state, &(struct shutscene_spec){.mode = "assist", .limit_us = 6000000});
	uint64_t announced_ns;
	struct sent sent;
	struct box box;

	announced_ns = stop_frozen(s, &box, &sent);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGKILL, &sent),
			 0);
	expect_named(s, &box, sent.before_ns);
	expect_released(s, &box, announced_ns, 6 * S_NS);
	/* The signal that was sent is not sent once more. */
	assert_null(shutscene_find(s, "{'type':'shutdown','event':'container-killed',"
				      "'pod':{'name':'frozen'}}"));
	let_out(s, &box, "runc");
}

static void what_graced_cannot_end(void **state)
{
	struct shutscene *s = begin(
		state, &(struct shutscene_spec){
			       .mode = "assist",
			       .limit_us = 12000000,
			       .kubelet = SHUTSCENE_KUBELET
			       "shutdownGracePeriod: 2s\nshutdownGracePeriodCriticalPods: 1s\n"});
	uint64_t announced_ns, killed_ns;
	struct sent sent;
	struct box box;
	json_t *rec;

	announced_ns = stop_frozen(s, &box, &sent);
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'container-killed',"
					"'pod':{'name':'frozen'}}");
	killed_ns = (uint64_t)jrec_int(rec, "boot_ns", 0);
	json_decref(rec);
	/* 1 s of its group and 1 s of slack. */
	assert_true(killed_ns >= sent.before_ns + 2 * S_NS);
	expect_named(s, &box, killed_ns);
	expect_released(s, &box, announced_ns, 12 * S_NS);
	let_out(s, &box, "graced");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM(
			"a frozen container that the runtime cannot kill is named, and holds "
			"no node beyond the limit",
			what_the_runtime_cannot_end),
		SHUTSCENE_CLAIM("nor does one that graced cannot kill", what_graced_cannot_end),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
