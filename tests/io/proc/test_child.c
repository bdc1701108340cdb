// SPDX-License-Identifier: Apache-2.0
/* Claims about io/proc/child: how a child is ended. */
#include "io/proc/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/box/v1freezer.h"
#include "lib/claim.h"

static void wait_forever(void *userdata, bool confined)
{
	while (true)
		pause();
}

static void end_now(void *userdata, bool confined)
{
}

static void expect_none(const struct child *child)
{
	assert_int_equal(child->pid, 0);
	assert_int_equal(child->fd, 0);
}

static void one_that_is_stopped_is_gone(void **state)
{
	struct child child;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(child_start("waits", i ? end_now : wait_forever, NULL, &child), 0);
		pid = child.pid;
		child_stop(&child);
		expect_none(&child);
		assert_int_equal(kill(pid, 0), -1);
		assert_int_equal(errno, ESRCH);
	}
	child_stop(&child);
	expect_none(&child);
}

static void one_that_does_not_die_is_not_waited_for(void **state)
{
	struct child child;
	int status;
	pid_t pid;

	if (geteuid() != 0 || !v1freezer_is_here(&(struct hier){}))
		skip();
	assert_int_equal(child_start("held", wait_forever, NULL, &child), 0);
	pid = child.pid;
	assert_int_equal(v1freezer_hold_process(pid), 0);
	child_stop(&child);
	expect_none(&child);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(v1freezer_let_out(getpid()), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static int let_out(void **state)
{
	return v1freezer_let_out(getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a child that is stopped is gone", one_that_is_stopped_is_gone),
		CLAIM("one that does not die is not waited for",
		      one_that_does_not_die_is_not_waited_for),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, let_out);
}
