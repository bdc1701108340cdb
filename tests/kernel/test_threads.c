// SPDX-License-Identifier: Apache-2.0
// 3,000 processes of 9 threads that race to end: one exit each, with the status that wait(2) tells;
// by the exit tracepoint's own word and by the way for kernels where it has none.
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/fixture.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PROCESSES 3000
#define DRIVERS	  2
#define THREADS	  "9"

/* How they end, one after the other. */
static const struct {
	const char *how;
	bool host_pidns; /* PID 1 of a namespace cannot kill itself */
} ways[] = {
	{"group", false},
	{"leader", false},
	{"kill", true},
};

/* One process's truth; its cgroup is gone by the time anybody looks. */
struct ended {
	char id[65];
	pid_t pid;
	int status;
};

/* Memory shared with the drivers. */
struct crowd {
	int errors[DRIVERS];
	struct ended ended[PROCESSES];
};

static struct {
	struct fixture *fixture;
	struct tracer *forced; /* the tracer that must do without group_dead */
	struct crowd *crowd;
} stage;

static int end_one(struct box_tree *tree, size_t i, struct ended *ret)
{
	char code[16];
	const char *argv[] = {"threads", THREADS, ways[i % LEN(ways)].how, code, NULL};
	struct box_spec spec = {
		.prog = "crowd",
		.argv = argv,
		.host_pidns = ways[i % LEN(ways)].host_pidns,
		.no_wait = true,
	};
	struct proc_end end;
	struct box box;
	int r;

	snprintf(code, sizeof(code), "%zu", i % 200);
	r = box_start(tree, &spec, &box);
	if (!r)
		r = proc_wait(&box.proc, &end);
	if (r)
		return r;
	memcpy(ret->id, box.id, sizeof(ret->id));
	ret->pid = box.init_pid;
	ret->status = end.status;
	return box_remove(&box);
}

static void drive(size_t driver) __attribute__((noreturn));
static void drive(size_t driver)
{
	struct box_tree tree = stage.fixture->tree;
	struct crowd *crowd = stage.crowd;

	tree.seed ^= (uint64_t)(driver + 1) << 56;
	for (size_t i = driver; i < PROCESSES && !crowd->errors[driver]; i += DRIVERS)
		crowd->errors[driver] = end_one(&tree, i, &crowd->ended[i]);
	_exit(0);
}

static int end_all(void)
{
	pid_t pids[DRIVERS];
	int status, r = 0;

	for (size_t i = 0; i < DRIVERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			drive(i);
	}
	for (size_t i = 0; i < DRIVERS; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
			r = -1;
	return r;
}

static int setup(void **state)
{
	void *opened = NULL;
	int r = fixture_open(&opened, "threads", NULL);

	*state = NULL;
	if (r || !opened)
		return r;
	stage.fixture = opened;
	r = tracer_start(&(struct tracer_spec){.args = BOX_ARGV("--no-group-dead"),
					       .tree = &stage.fixture->tree},
			 &stage.forced);
	if (r)
		return r;
	stage.crowd = mmap(NULL, sizeof(*stage.crowd), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return stage.crowd == MAP_FAILED ? -1 : end_all();
}

static int teardown(void **state)
{
	void *opened = stage.fixture;
	int r;

	if (!opened)
		return 0;
	r = stage.forced ? tracer_stop(stage.forced) : -1;
	stage.forced = tracer_free(stage.forced);
	return fixture_close(&opened) || r ? -1 : 0;
}

static bool status_is_right(const struct ended *ended, const json_t *rec)
{
	if (WIFEXITED(ended->status))
		return jrec_int(rec, "exit.code", -1) == WEXITSTATUS(ended->status) &&
		       jrec_int(rec, "exit.signal", -1) == 0;
	return jrec_is_null(rec, "exit.code") &&
	       jrec_int(rec, "exit.signal", -1) == WTERMSIG(ended->status);
}

static void check_exits(struct tracer *tracer)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < DRIVERS; i++)
		if (stage.crowd->errors[i])
			fail_msg("driver %zu: %s", i, strerror(-stage.crowd->errors[i]));
	for (size_t i = 0; i < PROCESSES && wrong < 10; i++) {
		const struct ended *ended = &stage.crowd->ended[i];
		struct tracer_want want = {.type = "stop", .id = ended->id};
		const json_t *rec = tracer_await(tracer, &want);

		if (rec && status_is_right(ended, rec) &&
		    jrec_int(rec, "process.pid", -1) == ended->pid)
			continue;
		wrong++;
		print_message("process %zu (%s): wait status %#x, record %s\n", i,
			      ways[i % LEN(ways)].how, (unsigned int)ended->status,
			      rec ? json_dumps(jrec_get(rec, "exit"), JSON_COMPACT) : "missing");
	}
	assert_int_equal(wrong, 0);
}

/* Every process has a record: it has no second one if there are no more records than processes. */
static void check_once(struct tracer *tracer)
{
	const struct box_tree *tree = &stage.fixture->tree;
	const char *root = box_tree_relative(tree, tree->root);
	unsigned int stops = 0;

	for (size_t i = 0; i < tracer_records(tracer); i++) {
		const json_t *rec = tracer_record(tracer, i);

		stops += !strcmp(jrec_text(rec, "type"), "stop") &&
			 !strncmp(jrec_text(rec, "container.cgroup"), root, strlen(root));
	}
	assert_int_equal(stops, PROCESSES);
}

static void each_process_of_nine_threads_exits_once(void **state)
{
	if (!stage.fixture)
		skip();
	check_exits(stage.fixture->tracer);
	check_once(stage.fixture->tracer);
}

static void the_same_without_group_dead(void **state)
{
	if (!stage.fixture)
		skip();
	check_exits(stage.forced);
	check_once(stage.forced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each of 3,000 processes of 9 threads exits once, with its status",
		      each_process_of_nine_threads_exits_once),
		CLAIM("the same where the tracepoint does not say that the group is dead",
		      the_same_without_group_dead),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
