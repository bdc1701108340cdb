// SPDX-License-Identifier: Apache-2.0
// An init that is moved to another cgroup, and what lives in the first one after it: one record for
// each life. On the hierarchies that this host has.
#include "lib/box/hier.h"
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
	return attach_open(state, "moved");
}

static size_t count_at(struct fixture *f, const char *path)
{
	const struct tracer_want want = {.type = "stop", .cgroup = path};

	return tracer_count(f->tracer, &want);
}

/* What lives in the cgroup that it left: it is asked to stop, and has its own record, complete. */
static void live_again(struct fixture *f, struct box *first)
{
	struct tracer_want want = {.type = "stop", .cgroup = first->path};
	struct proc next;
	struct proc_end end;
	struct sent sent;

	assert_int_equal(box_exec(&f->tree, first, "workload", false, BOX_ARGV("graceful"), &next),
			 0);
	want.pid = next.pid;
	assert_int_equal(send_signal(&f->tree, SEND_RUNTIME, NULL, next.pid, SIGTERM, &sent), 0);
	assert_int_equal(proc_wait(&next, &end), 0);
	judge_match(tracer_await(f->tracer, &want),
		    "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
		    "'evidence':{'complete':true}}");
	proc_free(&next);
}

enum when { MOVED_FIRST, MOVED_BETWEEN, MOVED_COUNT };

/* Into another container's cgroup. */
static void move_into(struct fixture *f, enum when when, bool next)
{
	struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	struct box first, other;
	struct proc_end end;
	struct sent sent;
	struct tracer_want want = {.type = "stop"};

	attach_begin(f);
	judge_start(f, &spec, &first);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &other);
	judge_send(f, SEND_RUNTIME, &other, SIGTERM, &sent);
	assert_int_equal(proc_wait(&other.proc, &end), 0);
	assert_non_null(tracer_await_stop(f->tracer, &other));
	if (when == MOVED_BETWEEN)
		judge_send(f, SEND_RUNTIME, &first, SIGTERM, &sent);
	assert_int_equal(cg_enter(other.dir, first.init_pid), 0);
	if (next)
		live_again(f, &first);
	if (when == MOVED_FIRST)
		judge_send(f, SEND_RUNTIME, &first, SIGTERM, &sent);
	judge_send(f, SEND_RUNTIME, &first, SIGKILL, &sent);
	assert_int_equal(proc_wait(&first.proc, &end), 0);
	want.pid = first.init_pid;
	want.cgroup = other.path;
	judge_match(tracer_await(f->tracer, &want),
		    "{'outcome':'killed','exit':{'signal':9},'stop_signal':{'number':15,"
		    "'result':'ignored'},'kill_signal':{'number':9},'deaf':true}");
	assert_int_equal(count_at(f, other.path), 2);
	assert_int_equal(count_at(f, first.path), next);
	assert_int_equal(box_remove(&first), 0);
	assert_int_equal(box_remove(&other), 0);
	assert_int_equal(count_at(f, first.path), next);
	attach_end(f);
}

static void its_life_is_reported_where_it_ends(void **state)
{
	struct fixture *f = judge_need(state);

	move_into(f, MOVED_FIRST, false);
	move_into(f, MOVED_BETWEEN, false);
	move_into(f, MOVED_FIRST, true);
	move_into(f, MOVED_BETWEEN, true);
}

/* To where no container is, or beside another's init: what becomes of it is not followed. */
static void move_out(struct fixture *f, enum when when, bool beside)
{
	struct box first, other;
	struct proc_end end;
	struct sent sent;
	char want[256];

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &first);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &other);
	if (when == MOVED_BETWEEN)
		judge_send(f, SEND_RUNTIME, &first, SIGTERM, &sent);
	assert_int_equal(cg_enter(beside ? other.dir : f->tree.root, first.init_pid), 0);
	snprintf(want, sizeof(want),
		 "{'process':{'pid':%d},'outcome':'unknown','cause':'unknown',"
		 "'evidence':{'gaps':['exit-unseen','init-moved']}}",
		 (int)first.init_pid);
	judge_match(tracer_await_stop(f->tracer, &first), want);
	live_again(f, &first);
	judge_send(f, SEND_RUNTIME, &first, SIGKILL, &sent);
	assert_int_equal(proc_wait(&first.proc, &end), 0);
	assert_int_equal(count_at(f, first.path), 2);
	judge_send(f, SEND_RUNTIME, &other, SIGTERM, &sent);
	assert_int_equal(proc_wait(&other.proc, &end), 0);
	judge_match(tracer_await_stop(f->tracer, &other),
		    "{'outcome':'graceful','evidence':{'complete':true}}");
	assert_int_equal(count_at(f, other.path), 1);
	assert_int_equal(box_remove(&first), 0);
	assert_int_equal(box_remove(&other), 0);
	attach_end(f);
}

static void outside_it_is_not_followed(void **state)
{
	struct fixture *f = judge_need(state);

	move_out(f, MOVED_FIRST, false);
	move_out(f, MOVED_BETWEEN, false);
	move_out(f, MOVED_BETWEEN, true);
}

/* Out of containers until that is reported, and back. again: and out once more, where it ends. */
static void come_back(struct fixture *f, bool host_pidns, bool again)
{
	const struct box_spec spec = {.argv = BOX_ARGV("deaf"), .host_pidns = host_pidns};
	struct proc_end end;
	const json_t *rec;
	struct sent sent;
	struct box box;

	attach_begin(f);
	judge_start(f, &spec, &box);
	assert_int_equal(cg_enter(f->tree.root, box.init_pid), 0);
	judge_match(tracer_await_stop(f->tracer, &box),
		    "{'outcome':'unknown','evidence':{'gaps':['exit-unseen','init-moved']}}");
	assert_int_equal(cg_enter(box.dir, box.init_pid), 0);
	if (again)
		assert_int_equal(cg_enter(f->tree.root, box.init_pid), 0);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	if (!again) {
		const struct tracer_want want = {.type = "stop", .cgroup = box.path, .nth = 1};

		rec = tracer_await(f->tracer, &want);
		judge_match(rec, host_pidns ? "{'outcome':'killed','exit':{'signal':9},'evidence':"
					      "{'gaps':['attached-late','init-guessed']}}"
					    : "{'outcome':'killed','exit':{'signal':9},"
					      "'evidence':{'gaps':['attached-late']}}");
		assert_string_not_equal(jrec_text(rec, "id"),
					jrec_text(tracer_await_stop(f->tracer, &box), "id"));
	}
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(count_at(f, box.path), again ? 1 : 2);
	attach_end(f);
}

static void its_end_is_reported_where_it_came_back(void **state)
{
	struct fixture *f = judge_need(state);

	come_back(f, false, false);
	come_back(f, true, false);
	come_back(f, false, true);
}

/* Its container is not empty meanwhile. What it is sent elsewhere is not seen. */
static void be_away(struct fixture *f, bool asked_before, bool beside)
{
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	struct proc_end end;
	struct box box, other;
	struct sent sent;
	struct proc stays;

	attach_begin(f);
	judge_start(f, &spec, &box);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &other);
	assert_int_equal(box_exec(&f->tree, &box, "workload", false, BOX_ARGV("deaf"), &stays), 0);
	if (asked_before)
		judge_send(f, SEND_RUNTIME, &box, SIGINT, &sent);
	assert_int_equal(cg_enter(beside ? other.dir : f->tree.root, box.init_pid), 0);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	assert_int_equal(cg_enter(box.dir, box.init_pid), 0);
	assert_int_equal(send_signal(&f->tree, SEND_RUNTIME, NULL, stays.pid, SIGKILL, &sent), 0);
	assert_int_equal(proc_wait(&stays, &end), 0);
	proc_free(&stays);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	judge_match(tracer_await_stop(f->tracer, &box), "{'outcome':'killed','exit':{'signal':9},"
							"'evidence':{'gaps':['attached-late']}}");
	judge_send(f, SEND_RUNTIME, &other, SIGKILL, &sent);
	assert_int_equal(proc_wait(&other.proc, &end), 0);
	judge_match(tracer_await_stop(f->tracer, &other),
		    "{'outcome':'killed','evidence':{'complete':true}}");
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&other), 0);
	attach_end(f);
}

static void what_it_was_sent_elsewhere_is_a_gap(void **state)
{
	struct fixture *f = judge_need(state);

	be_away(f, false, false);
	be_away(f, true, false);
	be_away(f, false, true);
}

/* It is in its container all the time. */
static void below_its_container_nothing_changes(void **state)
{
	struct fixture *f = judge_need(state);

	for (enum when when = MOVED_FIRST; when < MOVED_COUNT; when++) {
		struct proc_end end;
		struct sent sent;
		struct box box;

		attach_begin(f);
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
		assert_true(snprintf(box.nested_dir, sizeof(box.nested_dir), "%s/below", box.dir) <
			    (int)sizeof(box.nested_dir));
		assert_int_equal(hier_make(&f->tree.hier, box.nested_dir, false), 0);
		if (when == MOVED_BETWEEN)
			judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		assert_int_equal(cg_enter(box.nested_dir, box.init_pid), 0);
		if (when == MOVED_FIRST)
			judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
		judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
		assert_int_equal(proc_wait(&box.proc, &end), 0);
		judge_match(tracer_await_stop(f->tracer, &box),
			    "{'outcome':'killed','exit':{'signal':9},'stop_signal':{'number':15},"
			    "'deaf':true,'evidence':{'complete':true}}");
		assert_int_equal(judge_count(f, &box, "stop"), 1);
		assert_int_equal(box_remove(&box), 0);
		attach_end(f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an init that is moved to another container is one life, and the next one "
		      "in its cgroup another",
		      its_life_is_reported_where_it_ends),
		CLAIM("the end of one that is moved out of containers is unseen, and that is said",
		      outside_it_is_not_followed),
		CLAIM("one that comes back when that was reported has a record of its end",
		      its_end_is_reported_where_it_came_back),
		CLAIM("one that was elsewhere for a while is said to have been seen late",
		      what_it_was_sent_elsewhere_is_a_gap),
		CLAIM("one that is moved below its container is followed",
		      below_its_container_nothing_changes),
	};

	return attach_run(tests, setup);
}
