// SPDX-License-Identifier: Apache-2.0
// Exits on a CPU where a task that is exiting gives way to another: from Linux 7.0 on within the
// program itself, which the kernel does not run for the other then. A second one does its work.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXITING	 2    /* processes whose children end one after the other */
#define EXITS	 2000 /* of children of the one that does not wait for the CPU */
#define PAUSE_NS 100000

static int setup(void **state)
{
	return kernhalf_open(state, "preempted");
}

static void end_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static pid_t start_exiting(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		end_child();
}

/* In the midst of what the others do: they are preempted when its timer expires. */
static void end_at_any_moment(void)
{
	const struct sched_param first = {.sched_priority = 1};
	const struct sched_param none = {};

	if (sched_setscheduler(0, SCHED_FIFO, &first) < 0)
		skip();
	for (int i = 0; i < EXITS; i++) {
		struct timespec pause = {.tv_nsec = PAUSE_NS + i % 97 * 1000};

		nanosleep(&pause, NULL);
		end_child();
	}
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

static void no_exit_is_missed_for_one_that_is_preempted(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	pid_t pids[EXITING];
	struct kern_misses misses;

	stay_on_one_cpu();
	for (int i = 0; i < EXITING; i++)
		pids[i] = start_exiting();
	end_at_any_moment();
	for (int i = 0; i < EXITING; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	kern_misses(k->kern, &misses);
	assert_true(!misses.sure && misses.open <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an exit is not missed because another one is preempted",
		      no_exit_is_missed_for_one_that_is_preempted),
	};

	return cmocka_run_group_tests_name("preempted", tests, setup, kernhalf_close);
}
