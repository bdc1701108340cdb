// SPDX-License-Identifier: Apache-2.0
// Containers that are over, with their cgroups, before anybody could look at them, and some that
// end while the tracer runs: each has its record, with its own container id and pod uid.
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define LIVES	 250
#define BATCH	 50 /* few enough for the ring, which is not read meanwhile */
#define DRIVERS	 2
#define EMPTY_NS 250000000u /* the gap not-empty: graced-records(5) */

struct life {
	char id[65];
	char uid[40];
	char path[HIER_PATH_MAX];
	pid_t pid;
	uint64_t ns; /* from before its cgroup was made until it was removed */
};

/* Memory shared with the drivers. */
struct lives {
	int errors[DRIVERS];
	struct life life[LIVES];
};

static struct {
	struct fixture *fixture;
	struct lives *lives;
} stage;

static int live_one(struct box_tree *tree, struct life *ret)
{
	struct box_spec spec = {.argv = BOX_ARGV("exit", "0"), .no_wait = true};
	struct proc_end end;
	struct box box;
	int r = box_start(tree, &spec, &box);

	if (!r)
		r = proc_wait(&box.proc, &end);
	if (!r)
		r = box_remove(&box);
	if (r)
		return r;
	memcpy(ret->id, box.id, sizeof(ret->id));
	memcpy(ret->uid, box.uid, sizeof(ret->uid));
	memcpy(ret->path, box.path, sizeof(ret->path));
	ret->pid = box.init_pid;
	ret->ns = box.removed_ns - box.made_ns;
	return 0;
}

static int setup(void **state)
{
	void *opened = NULL;
	int r = fixture_open(&opened, "shortlived", NULL);

	*state = NULL;
	if (r || !opened)
		return r;
	stage.fixture = opened;
	stage.lives = mmap(NULL, sizeof(*stage.lives), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return stage.lives == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	void *opened = stage.fixture;

	return fixture_close(&opened);
}

/* Whether its record is there, and has what it must. */
static bool is_attributed(const struct life *life, bool complete)
{
	const json_t *rec = tracer_await(stage.fixture->tracer,
					 &(struct tracer_want){.type = "stop", .id = life->id});
	char want[512], why[512];

	snprintf(want, sizeof(want),
		 "{'pod':{'uid':'%s'},'container':{'id':'%s'},'process':{'pid':%d},"
		 "'outcome':'completed'%s}",
		 life->uid, life->id, (int)life->pid,
		 complete ? ",'evidence':{'complete':true,'gaps':[]}" : "");
	if (!jrec_match(rec, want, why, sizeof(why)) &&
	    !strcmp(jrec_text(rec, "container.cgroup"), life->path))
		return true;
	print_message("%s, %llu us: %s\n", life->id, (unsigned long long)life->ns / 1000,
		      rec ? why : "no record");
	return false;
}

/* Nothing of the tracer runs until the next SIGCONT. */
static void hold_tracer(void)
{
	pid_t pid = tracer_pid(stage.fixture->tracer);
	siginfo_t info;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	assert_int_equal(info.si_code, CLD_STOPPED);
}

static void what_is_over_before_anybody_could_look_is_attributed(void **state)
{
	unsigned int wrong = 0;
	struct life lives[BATCH];

	(void)state;
	if (!stage.fixture)
		skip();
	for (size_t done = 0; done < LIVES && !wrong; done += BATCH) {
		hold_tracer();
		for (size_t i = 0; i < BATCH; i++)
			assert_int_equal(live_one(&stage.fixture->tree, &lives[i]), 0);
		assert_int_equal(kill(tracer_pid(stage.fixture->tracer), SIGCONT), 0);
		for (size_t i = 0; i < BATCH && wrong < 5; i++)
			wrong += !is_attributed(&lives[i], true);
	}
	assert_int_equal(wrong, 0);
}

static void drive(size_t driver) __attribute__((noreturn));
static void drive(size_t driver)
{
	struct box_tree tree = stage.fixture->tree;
	struct lives *lives = stage.lives;

	tree.seed ^= (uint64_t)(driver + 1) << 56;
	for (size_t i = driver; i < LIVES && !lives->errors[driver]; i += DRIVERS)
		lives->errors[driver] = live_one(&tree, &lives->life[i]);
	_exit(0);
}

static void run_drivers(void)
{
	pid_t pids[DRIVERS];
	int status;

	for (size_t i = 0; i < DRIVERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			drive(i);
	}
	for (size_t i = 0; i < DRIVERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
		assert_int_equal(stage.lives->errors[i], 0);
	}
}

/* One that a busy machine has stretched may not be seen to be empty in time. */
static void what_ends_while_the_tracer_runs_is_attributed(void **state)
{
	unsigned int wrong = 0;

	(void)state;
	if (!stage.fixture)
		skip();
	run_drivers();
	for (size_t i = 0; i < LIVES && wrong < 5; i++)
		wrong += !is_attributed(&stage.lives->life[i], stage.lives->life[i].ns < EMPTY_NS);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("every container that is over before anybody could look is attributed",
		      what_is_over_before_anybody_could_look_is_attributed),
		CLAIM("every short life beside a tracer that runs is attributed",
		      what_ends_while_the_tracer_runs_is_attributed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
