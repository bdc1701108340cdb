// SPDX-License-Identifier: Apache-2.0
/* Claims about io/proc/child: how a child is ended. */
#include "io/proc/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* How many of the first ones are open, to its parent. */
static void count_descriptors(void *userdata, bool confined)
{
	unsigned char n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	if (write(0, &n, 1) != 1)
		child_end(1);
}

static void refuse_close_range(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(steps) / sizeof(*steps), .filter = steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) ||
	    syscall(__NR_close_range, 60, 60, 0) == 0)
		_exit(100);
}

static void its_end_is_its_only_descriptor(void **state)
{
	for (int refused = 0; refused < 2; refused++) {
		unsigned char n = 0;
		struct child child;
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			if (refused)
				refuse_close_range();
			if (dup2(STDERR_FILENO, 40) < 0 ||
			    child_start("counts", count_descriptors, NULL, &child) < 0 ||
			    read(child.fd, &n, 1) != 1)
				_exit(101);
			_exit(n);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
	}
}

static int let_out(void **state)
{
	return v1freezer_let_out(getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a child that is stopped is gone", one_that_is_stopped_is_gone),
		CLAIM("its end of the pair is its only descriptor, also where close_range() is refused",
		      its_end_is_its_only_descriptor),
		CLAIM("one that does not die is not waited for",
		      one_that_does_not_die_is_not_waited_for),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, let_out);
}
