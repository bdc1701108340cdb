// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/stopper: what else has the loop while containers are killed. A plain
 * directory tree stands for a hierarchy. */
#include "app/daemon/stopper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/claim.h"

#define CROWD	   20000
#define CROWD_PID  4194304 /* more than any process has */
#define CONTAINERS 40
#define FORKERS	   16	/* as many as take turns */
#define FORKER	   3000 /* processes, more than a slice reads */
#define TURNS_MOST 20000

struct site {
	char dir[64];
	sd_event *event;
	struct cgfs *cgfs;
	struct killer *killer;
	unsigned int turns; /* of another source */
	int forkers[FORKERS];
	size_t n_forkers;
};

/* A process of each has made another: what is listed now was not listed before. */
static void fork_on(const struct site *t)
{
	char line[16];

	for (size_t i = 0; i < t->n_forkers; i++) {
		snprintf(line, sizeof(line), "%d\n", CROWD_PID + FORKER + (int)(t->turns % FORKER));
		assert_int_equal(pwrite(t->forkers[i], line, strlen(line), 0), strlen(line));
	}
}

static int on_turn(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct site *t = userdata;

	t->turns++;
	fork_on(t);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int setup(void **state)
{
	static struct site t;
	sd_event_source *other = NULL;

	t = (struct site){.dir = "/tmp/graced-killer-XXXXXX"};
	if (!mkdtemp(t.dir) || cgfs_open(t.dir, false, &t.cgfs) < 0 || sd_event_new(&t.event) < 0 ||
	    killer_new(t.event, t.cgfs, &t.killer) < 0 ||
	    sd_event_add_time(t.event, &other, CLOCK_MONOTONIC, 0, 1, on_turn, &t) < 0)
		return -1;
	sd_event_source_set_floating(other, true);
	sd_event_source_unref(other);
	*state = &t;
	return 0;
}

static int teardown(void **state)
{
	struct site *t = *state;
	char command[128];

	t->killer = killer_free(t->killer);
	for (size_t i = 0; i < t->n_forkers; i++)
		close(t->forkers[i]);
	cgfs_free(t->cgfs);
	sd_event_unref(t->event);
	snprintf(command, sizeof(command), "rm -rf -- '%s'", t->dir);
	return system(command);
}

/* A container with a process of this test in it; its id. */
static uint64_t make(const struct site *t, const char *name, const char *below, pid_t *ret)
{
	char path[256];
	uint64_t id;
	FILE *f;

	*ret = fork();
	assert_true(*ret >= 0);
	if (*ret == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(cgfs_id_of(t->cgfs, path + strlen(t->dir), &id), 0);
	if (*below) {
		strcat(strcat(path, "/"), below);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	strcat(path, "/cgroup.procs");
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%d\n", *ret);
	assert_int_equal(fclose(f), 0);
	return id;
}

/* The same, which takes more than one slice to get to the process. */
static uint64_t make_crowd(const struct site *t, pid_t *ret)
{
	uint64_t id = make(t, "crowd", "z", ret);
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/crowd/cgroup.procs", t->dir);
	f = fopen(path, "we");
	assert_non_null(f);
	for (int i = 0; i < CROWD; i++)
		fprintf(f, "%d\n", CROWD_PID + i);
	assert_int_equal(fclose(f), 0);
	return id;
}

/* A container whose processes are others in every round. */
static uint64_t make_forker(struct site *t, int number)
{
	char path[256];
	uint64_t id;
	FILE *f;

	snprintf(path, sizeof(path), "%s/forker%d", t->dir, number);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(cgfs_id_of(t->cgfs, path + strlen(t->dir), &id), 0);
	strcat(path, "/cgroup.procs");
	f = fopen(path, "we");
	assert_non_null(f);
	for (int i = 0; i < FORKER; i++)
		fprintf(f, "%d\n", CROWD_PID + i);
	assert_int_equal(fclose(f), 0);
	t->forkers[number] = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(t->forkers[number] >= 0);
	t->n_forkers = (size_t)number + 1;
	return id;
}

static bool is_killed(pid_t pid)
{
	siginfo_t info = {};

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid == pid;
}

static void await_killed(struct site *t, pid_t pid)
{
	int status;

	while (!is_killed(pid))
		assert_true(sd_event_run(t->event, UINT64_MAX) >= 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void test_turns(void **state)
{
	struct site *t = *state;
	pid_t pid;

	killer_add(t->killer, make_crowd(t, &pid));
	assert_false(is_killed(pid));
	await_killed(t, pid);
	/* One after each slice. */
	print_message("# %u turns of another source\n", t->turns);
	assert_true(t->turns >= CROWD / KILLER_WORK - 1);
}

/* The one that takes many turns does not keep the others waiting for all of them. */
static void test_all(void **state)
{
	struct site *t = *state;
	pid_t crowd, pids[CONTAINERS];
	char name[16];

	killer_add(t->killer, make_crowd(t, &crowd));
	for (int i = 0; i < CONTAINERS; i++) {
		uint64_t id;

		snprintf(name, sizeof(name), "c%d", i);
		id = make(t, name, "", &pids[i]);
		killer_add(t->killer, id);
		killer_add(t->killer, id);
	}
	for (int i = 0; i < CONTAINERS; i++)
		await_killed(t, pids[i]);
	await_killed(t, crowd);
	/* One that is gone is none. */
	killer_add(t->killer, 1);
	assert_true(sd_event_run(t->event, UINT64_MAX) >= 0);
}

static void run_turns(struct site *t, unsigned int turns)
{
	while (turns--)
		assert_true(sd_event_run(t->event, UINT64_MAX) >= 0);
}

/* All that could take turns fork for ever. */
static void test_forkers(void **state)
{
	struct site *t = *state;
	unsigned int turns = 0;
	uint64_t id;
	pid_t pid;

	for (int i = 0; i < FORKERS; i++)
		killer_add(t->killer, make_forker(t, i));
	run_turns(t, FORKERS);
	id = make(t, "a", "", &pid);
	killer_add(t->killer, id);
	for (; !is_killed(pid); turns++) {
		assert_true(turns < TURNS_MOST);
		run_turns(t, 1);
	}
	print_message("# after %u turns\n", turns);
	await_killed(t, pid);
}

/* What is written to stderr while the loop takes so many turns. */
static void run_logged(struct site *t, unsigned int turns, char *ret, size_t size)
{
	int log = memfd_create("log", MFD_CLOEXEC), old = dup(STDERR_FILENO);
	ssize_t n;

	assert_true(log >= 0 && old >= 0 && dup2(log, STDERR_FILENO) >= 0);
	run_turns(t, turns);
	assert_true(dup2(old, STDERR_FILENO) >= 0);
	close(old);
	n = pread(log, ret, size - 1, 0);
	assert_true(n >= 0);
	ret[n] = 0;
	close(log);
}

static void test_forker_log(void **state)
{
	struct site *t = *state;
	const char *line;
	char text[4096];

	killer_add(t->killer, make_forker(t, 0));
	run_logged(t, TURNS_MOST / 4, text, sizeof(text));
	line = strstr(text, "is still forking after 64 rounds of SIGKILL");
	assert_non_null(line);
	assert_null(strstr(line + 1, "is still forking"));
}

static void test_end(void **state)
{
	struct site *t = *state;
	int status;
	pid_t pid;

	killer_add(t->killer, make(t, "a", "b", &pid));
	t->killer = killer_free(t->killer);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a container of thousands of processes is killed in many turns of the loop",
		     test_turns),
		TEST("every container is killed, however long another takes", test_all),
		TEST("containers that fork for ever do not keep another waiting", test_forkers),
		TEST("a container that forks for ever is logged once", test_forker_log),
		TEST("what was asked for is done when the daemon ends", test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
