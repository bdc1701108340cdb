// SPDX-License-Identifier: Apache-2.0
// A container that floods, forks, makes cgroups or forges: whatever it does, fifty others are
// started and stopped meanwhile, and none of them loses a record or its name. It goes on until they
// have ended, however much that is on this machine.
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OTHERS	 50
#define FLOOD_NS 3000000000u /* at least */

/* Names are looked up in log directories laid out as the kubelet's. */
struct stage {
	struct fixture fixture; /* first: tests take the stage for it */
	char logs[32];
	char pods[64], containers[64];
};

/* --- the stage --- */

static int make_logs(struct stage *stage)
{
	snprintf(stage->logs, sizeof(stage->logs), "/tmp/graced-logs-XXXXXX");
	if (!mkdtemp(stage->logs))
		return -errno;
	snprintf(stage->pods, sizeof(stage->pods), "%s/pods", stage->logs);
	snprintf(stage->containers, sizeof(stage->containers), "%s/containers", stage->logs);
	return mkdir(stage->pods, 0755) < 0 || mkdir(stage->containers, 0755) < 0 ? -errno : 0;
}

static int setup(void **state)
{
	const char *why = box_unavailable();
	struct stage *stage;
	int r;

	if (!why)
		why = tracer_unavailable();
	if (why) {
		fprintf(stderr, "SKIP hostile containers: %s\n", why);
		*state = NULL;
		return 0;
	}
	stage = calloc(1, sizeof(*stage));
	if (!stage)
		return -1;
	r = make_logs(stage);
	if (!r)
		r = box_tree_open(&stage->fixture.tree, "hostile");
	if (!r)
		r = tracer_start(&(struct tracer_spec){.args = BOX_ARGV("--signals",
									"--names.log-directory",
									stage->logs)},
				 &stage->fixture.tracer);
	if (r)
		fprintf(stderr, "the stage cannot be set: %s\n", strerror(-r));
	*state = stage;
	return r ? -1 : 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;
	struct run_result result;

	if (!stage)
		return 0;
	if (run(&(struct run_spec){.exe = "/bin/rm", .args = BOX_ARGV("-r", stage->logs)},
		&result) == 0)
		run_done(&result);
	return fixture_close(state); /* frees the stage, whose first member it is */
}

/* --- the others --- */

struct other {
	struct box box;
	struct sent sent;
	struct proc_end end;
	char pod_log[256], container_log[256];
};

static void name_other(struct stage *stage, struct other *other, int number)
{
	char target[512];

	snprintf(other->pod_log, sizeof(other->pod_log), "%s/shop_web-%d_%s", stage->pods, number,
		 other->box.uid);
	snprintf(other->container_log, sizeof(other->container_log), "%s/web-%d_shop_main-%s.log",
		 stage->containers, number, other->box.id);
	assert_int_equal(mkdir(other->pod_log, 0755), 0);
	snprintf(target, sizeof(target), "%s/main/0.log", other->pod_log);
	assert_int_equal(symlink(target, other->container_log), 0);
}

static void check_other(struct stage *stage, struct other *other, int number)
{
	struct fixture *f = &stage->fixture;
	const json_t *rec = tracer_await_stop(f->tracer, &other->box);
	char want[1024];

	snprintf(want, sizeof(want),
		 "{'outcome':'graceful','cause':'stop-signal','exit':{'code':%d,'signal':0},"
		 "'pod':{'namespace':'shop','name':'web-%d','uid':'%s'},"
		 "'container':{'name':'main','id':'%s','cgroup':'%s'},"
		 "'process':{'pid':%d,'ns_pid':1,'comm':'workload'},"
		 "'stop_signal':{'number':15,'result':'delivered','sender':{'pid':%d,"
		 "'comm':'test_hostile','kind':'host'}},'kill_signal':null,'deaf':false,"
		 "'collateral_kills':0,'oom_kills':0,'evidence':{'complete':true,'gaps':[]}}",
		 number, number, other->box.uid, other->box.id, other->box.path,
		 (int)other->box.init_pid, (int)getpid());
	judge_match(rec, want);
	assert_in_range(jrec_int(rec, "stop_signal.at_boot_ns", 0), other->sent.before_ns,
			other->sent.after_ns);
	assert_in_range(jrec_int(rec, "exit.at_boot_ns", 0), other->sent.before_ns,
			other->end.waited_ns);
	assert_in_range(jrec_int(rec, "empty_boot_ns", 0), jrec_int(rec, "exit.at_boot_ns", 0),
			other->box.removed_ns);
	assert_int_equal(judge_count(f, &other->box, "stop"), 1);
	assert_int_equal(judge_count(f, &other->box, "signal"), 1);
}

/* Fifty containers, a few of them at a time, each with a code of its own. */
static void fifty_come_and_go(struct stage *stage)
{
	enum { AT_ONCE = 5 };
	struct fixture *f = &stage->fixture;
	struct other *others = calloc(OTHERS, sizeof(*others));
	char code[8];

	assert_non_null(others);
	for (int i = 0; i < OTHERS + AT_ONCE; i++) {
		struct other *new = i < OTHERS ? &others[i] : NULL;
		struct other *old = i >= AT_ONCE ? &others[i - AT_ONCE] : NULL;

		snprintf(code, sizeof(code), "%d", i);
		if (new) {
			judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", code)},
				    &new->box);
			name_other(stage, new, i);
		}
		if (!old)
			continue;
		judge_send(f, SEND_HERE, &old->box, SIGTERM, &old->sent);
		assert_int_equal(proc_wait(&old->box.proc, &old->end), 0);
		assert_int_equal(box_remove(&old->box), 0);
	}
	for (int i = 0; i < OTHERS; i++) {
		check_other(stage, &others[i], i);
		rmdir(others[i].pod_log);
		unlink(others[i].container_log);
	}
	free(others);
}

static void others_come_and_go(struct stage *stage)
{
	uint64_t until_ns = page_clock_ns() + FLOOD_NS;

	do
		fifty_come_and_go(stage);
	while (page_clock_ns() < until_ns);
}

/* --- the hostile ones --- */

/* What it did while the others came and went. */
static int count_of(struct proc *hostile, enum note_kind kind)
{
	const struct note *note;
	struct proc_end end;

	page_go(hostile->page, 1);
	assert_int_equal(proc_wait(hostile, &end), 0);
	note = page_find(hostile->page, kind, 0);
	assert_non_null(note);
	assert_true(note->value > OTHERS);
	return note->value;
}

static void one_signalling_itself(void **state)
{
	struct stage *stage = (struct stage *)judge_need(state);
	struct fixture *f = &stage->fixture;
	const json_t *rec;
	struct box box;
	int sent;

	judge_start(f,
		    &(struct box_spec){.prog = "faults",
				       .argv = BOX_ARGV("selfkill", "0", "15", "handle", "3")},
		    &box);
	others_come_and_go(stage);
	sent = count_of(&box.proc, NOTE_KILL);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'outcome':'failed','cause':'same-container',"
			 "'exit':{'code':3,'signal':0}}");
	/* What is held back says so; what was let through was not much. */
	judge_match(rec, "{'evidence':{'complete':false,'gaps':['suppressed']}}");
	assert_true(judge_count(f, &box, "signal") < (size_t)sent / 10);
	assert_int_equal(box_remove(&box), 0);
}

static void one_forking(void **state)
{
	struct stage *stage = (struct stage *)judge_need(state);
	struct fixture *f = &stage->fixture;
	struct box box;

	judge_start(f, &(struct box_spec){.prog = "crowd", .argv = BOX_ARGV("forks", "0", "3")},
		    &box);
	others_come_and_go(stage);
	count_of(&box.proc, NOTE_CHILD);
	judge_match(tracer_await_stop(f->tracer, &box),
		    "{'outcome':'failed','cause':'self','exit':{'code':3,'signal':0},"
		    "'evidence':{'complete':true}}");
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(box_remove(&box), 0);
}

static void one_making_cgroups(void **state)
{
	struct stage *stage = (struct stage *)judge_need(state);
	struct fixture *f = &stage->fixture;
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	struct proc maker;
	struct sent sent;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "3")}, &box);
	assert_int_equal(box_exec(&f->tree, &box, "crowd", false,
				  BOX_ARGV("mkcgroups", "0", box.dir, "remove"), &maker),
			 0);
	others_come_and_go(stage);
	count_of(&maker, NOTE_CHILD);
	proc_free(&maker);
	judge_send(f, SEND_HERE, &box, SIGTERM, &sent);
	truth.stop = &sent;
	judge_box(f, &box, truth);
}

/* Forms of a name below the forger's own cgroup that claim to be another container. */
#define FORMS 4

static void forge(int form, const struct box *neighbour, char *ret, size_t size)
{
	switch (form) {
	case 0:
		snprintf(ret, size, "%s", neighbour->id);
		break;
	case 1:
		snprintf(ret, size, "cri-containerd-%s.scope", neighbour->id);
		break;
	case 2:
		snprintf(ret, size, "pod%s/%s", neighbour->uid, neighbour->id);
		break;
	default:
		snprintf(ret, size, "kubepods/burstable/pod%s/%s", neighbour->uid, neighbour->id);
	}
}

static void make_path(const char *dir, const char *below, char ret[HIER_PATH_MAX])
{
	assert_true(snprintf(ret, HIER_PATH_MAX, "%s/%s", dir, below) < HIER_PATH_MAX);
	for (char *at = ret + strlen(dir) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(ret, 0755);
		*at = '/';
	}
	assert_int_equal(mkdir(ret, 0755), 0);
}

static void remove_path(const char *dir, const char *below)
{
	char top[HIER_PATH_MAX];

	assert_true(snprintf(top, sizeof(top), "%s/%.*s", dir, (int)strcspn(below, "/"), below) <
		    (int)sizeof(top));
	assert_int_equal(cg_sweep(top), 0);
}

/* From a cgroup forged below its own, a container asks its neighbour to stop. */
static void ask_from_forged(struct fixture *f, const struct box *forger,
			    const struct box *neighbour, int form, struct sent *ret)
{
	char below[256], dir[HIER_PATH_MAX], pid[16], exe[HIER_PATH_MAX + 16];
	struct proc_spec spec = {.exe = exe, .cgroups = {dir}, .no_wait = true};
	struct proc sender;

	forge(form, neighbour, below, sizeof(below));
	make_path(forger->dir, below, dir);
	snprintf(pid, sizeof(pid), "%d", (int)neighbour->init_pid);
	snprintf(exe, sizeof(exe), "%s/sender", f->tree.helpers);
	spec.argv = BOX_ARGV("kill", pid, "15");
	assert_int_equal(proc_start(&spec, &sender), 0);
	assert_int_equal(send_collect(SEND_CONTAINER, forger, &sender, ret, 1), 1);
	remove_path(forger->dir, below);
}

static void one_forging_its_neighbour(void **state)
{
	struct stage *stage = (struct stage *)judge_need(state);
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	struct fixture *f = &stage->fixture;
	struct box forger, neighbour;
	struct sent sent;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &forger);
	for (int form = 0; form < FORMS; form++) {
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "9")}, &neighbour);
		ask_from_forged(f, &forger, &neighbour, form, &sent);
		truth.stop = &sent;
		judge_box(f, &neighbour, truth);
		assert_int_equal(judge_count(f, &neighbour, "stop"), 1);
		assert_int_equal(judge_count(f, &neighbour, "signal"), 1);
	}

	/* The forger itself, with its init in a forged cgroup, is still who it is. */
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "9")}, &neighbour);
	make_path(forger.dir, neighbour.id, forger.nested_dir);
	assert_int_equal(cg_enter(forger.nested_dir, forger.init_pid), 0);
	others_come_and_go(stage);
	judge_send(f, SEND_HERE, &forger, SIGTERM, &sent);
	judge_box(f, &forger, truth);
	assert_int_equal(judge_count(f, &neighbour, "stop"), 0);
	judge_send(f, SEND_HERE, &neighbour, SIGTERM, &sent);
	judge_box(f, &neighbour, truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container that signals itself as fast as it can costs nobody else",
		      one_signalling_itself),
		CLAIM("a container that forks as fast as it can costs nobody else", one_forking),
		CLAIM("a container that makes cgroups as fast as it can costs nobody else",
		      one_making_cgroups),
		CLAIM("a container that forges its neighbour's cgroup fools nobody",
		      one_forging_its_neighbour),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
