// SPDX-License-Identifier: Apache-2.0
// What is an OOM kill, and what is not: processes that share the victim's memory, and processes
// that were dying already when the OOM killer marked them.
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1024 * 1024)

static int setup(void **state)
{
	return fixture_open(state, "oom-kills", BOX_ARGV("--signals"));
}

static struct fixture *need_memory(void **state)
{
	struct fixture *f = judge_need(state);

	if (!f->tree.hier.memory)
		skip();
	return f;
}

/* --- processes that share the victim's memory --- */

struct sharing {
	const char *what;
	const char *behaviour;
	bool below; /* the child is in a cgroup of its own below the container's */
	bool host_pidns;
};

static int name_below(void *userdata, const struct box *box)
{
	int n = snprintf(userdata, HIER_PATH_MAX, "%s/below", box->dir);

	return n < HIER_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void play_sharing(struct fixture *f, const struct sharing *s)
{
	const struct truth truth = {.outcome = "oom-killed",
				    .cause = "oom-container",
				    .kernel_kill = true,
				    .oom_kills = 2};
	char below[HIER_PATH_MAX];
	const char *const argv[] = {s->behaviour, s->below ? below : NULL, NULL};
	const struct box_spec spec = {.prog = "oomer",
				      .argv = argv,
				      .memory = 32UL * MIB,
				      .host_pidns = s->host_pidns,
				      .named = name_below,
				      .userdata = below};
	struct box box;

	print_message("%s\n", s->what);
	judge_start(f, &spec, &box);
	page_go(box.proc.page, 1);
	if (s->below) {
		tracer_await_stop(f->tracer, &box);
		assert_int_equal(cg_remove(below), 0);
	}
	judge_box(f, &box, truth);
}

static void what_shares_the_victim_s_memory_is_oom_killed(void **state)
{
	static const struct sharing table[] = {
		{"a child", "shared", false, false},
		{"a child, without a pid namespace", "shared", false, true},
		{"a child in a cgroup below", "shared", true, false},
		{"a child of a process whose leader has left", "leaderless", false, false},
	};
	struct fixture *f = need_memory(state);

	for (size_t i = 0; i < LEN(table); i++)
		play_sharing(f, &table[i]);
}

/* --- processes that die already --- */

static struct fixture *need_frozen(void **state)
{
	struct fixture *f = need_memory(state);

	if (!v1freezer_is_here(&f->tree.hier)) {
		fprintf(stderr, "skipped: a process that dies cannot be held here\n");
		skip();
	}
	return f;
}

/* A process of the container takes so much that the OOM killer looks for a victim, which is the
 * larger one: that dies already, and is let go. */
static void run_out(struct fixture *f, const struct box *box)
{
	struct proc hungry;
	struct proc_end end;

	assert_int_equal(box_exec(&f->tree, box, "workload", false, BOX_ARGV("oom", "44"), &hungry),
			 0);
	assert_int_equal(proc_wait(&hungry, &end), 0);
	assert_true(WIFEXITED(end.status));
	proc_free(&hungry);
}

static void what_dies_already_is_not_oom_killed(void **state)
{
	static const struct {
		bool whole; /* by cgroup.kill */
		enum send_from by;
		const char *cause;
	} table[] = {
		{false, SEND_RUNTIME, "no-grace"},
		{false, SEND_HOST, "host"},
		{true, SEND_HERE, "host"},
	};
	struct fixture *f = need_frozen(state);

	for (size_t i = 0; i < LEN(table); i++) {
		struct truth truth = {.outcome = "killed", .cause = table[i].cause};
		struct sent kill;
		struct box box;

		judge_start(f,
			    &(struct box_spec){.argv = BOX_ARGV("big", "48"),
					       .twin = table[i].whole,
					       .memory = 72UL * MIB},
			    &box);
		if (table[i].whole && !box.kill_dir[0])
			continue;
		assert_int_equal(v1freezer_hold(box.dir), 0);
		if (table[i].whole)
			assert_int_equal(send_cgroup_kill(&box, &kill), 0);
		else
			judge_send(f, table[i].by, &box, SIGKILL, &kill);
		run_out(f, &box);
		truth.kill = &kill;
		judge_box(f, &box, truth);
		assert_int_equal(v1freezer_let_out(f->tree.program), 0);
	}
}

static void a_victim_below_has_the_container_s_number(void **state)
{
	static const char script[] =
		"echo r >&4; exec 4>&-; sh -c 'tail /dev/zero; sleep 1000'; true";
	struct fixture *f = need_memory(state);
	struct tracer_want want = {.type = "oom"};
	struct box box;

	judge_start(f,
		    &(struct box_spec){.prog = "stopper",
				       .argv = BOX_ARGV("run", "/usr/bin/unshare", "-p", "sh", "-c",
							script),
				       .memory = 32UL * MIB},
		    &box);
	want.id = box.id;
	judge_match(tracer_await(f->tracer, &want), "{'victim':{'comm':'tail','ns_pid':3}}");
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what shares the victim's memory is OOM-killed",
		      what_shares_the_victim_s_memory_is_oom_killed),
		CLAIM("what dies of a SIGKILL when the OOM killer marks it is not",
		      what_dies_already_is_not_oom_killed),
		CLAIM("a victim in a namespace below has the number of the container's",
		      a_victim_below_has_the_container_s_number),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
