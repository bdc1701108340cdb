// SPDX-License-Identifier: Apache-2.0
/* Claims about who has the lock that a process waits for, on the live kernel. */
#include "io/proc/look.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "wire/kernel/proc.h"

#define FILES 2

static char paths[FILES][64];
static pid_t started[4];
static size_t n_started;

static int setup(void **state)
{
	for (int i = 0; i < FILES; i++) {
		int fd;

		strcpy(paths[i], "/tmp/graced-lock-XXXXXX");
		fd = mkstemp(paths[i]);
		if (fd < 0)
			return -1;
		close(fd);
	}
	return 0;
}

static int teardown(void **state)
{
	for (; n_started > 0; n_started--) {
		kill(started[n_started - 1], SIGKILL);
		waitpid(started[n_started - 1], NULL, 0);
	}
	for (int i = 0; i < FILES; i++)
		unlink(paths[i]);
	return 0;
}

static void *wait_for_lock(void *path)
{
	flock(open(path, O_RDWR | O_CLOEXEC), LOCK_EX);
	pause();
	return NULL;
}

static void wait_for_open_file(const char *path)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	fcntl(open(path, O_RDWR | O_CLOEXEC), F_OFD_SETLKW, &range);
	pause();
}

static void hold_open_file(const char *path)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	fcntl(open(path, O_RDWR | O_CLOEXEC), F_OFD_SETLK, &range);
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		for (;;)
			pause();
	}
	return started[n_started++] = pid;
}

/* Until so many hold a lock of the file, or wait for one. */
static void await_locks(const char *path, bool waits, int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
	struct stat st;
	int found;

	assert_int_equal(stat(path, &st), 0);
	do {
		FILE *file = fopen("/proc/locks", "re");
		struct locks_line l;
		char line[256];

		assert_non_null(file);
		assert_true(clock_boot_ns() < end_ns);
		for (found = 0; fgets(line, sizeof(line), file);)
			found += locks_parse(line, &l) && l.inode == st.st_ino && l.waits == waits;
		fclose(file);
		usleep(10000);
	} while (found < n);
}

static uint32_t holder_of(pid_t pid, const char *path)
{
	struct obs_look look = {.proc.pid = (uint32_t)pid};

	snprintf(look.file, sizeof(look.file), "%s", path);
	look_holder(&look);
	return look.reader_pid;
}

static void hold_first(void)
{
	wait_for_lock(paths[0]);
}

static void hold_first_and_open_second(void)
{
	assert_true(open(paths[1], O_RDWR | O_CLOEXEC) >= 0);
	hold_first();
}

static void hold_second(void)
{
	hold_open_file(paths[1]);
}

static void wait_twice(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_lock, paths[0]);
	wait_for_lock(paths[0]);
}

static void wait_for_both(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_lock, paths[0]);
	wait_for_open_file(paths[1]);
}

static void threads_that_wait_for_one_lock_have_its_holder(void **state)
{
	pid_t holder = start(hold_first), waiter;

	await_locks(paths[0], false, 1);
	waiter = start(wait_twice);
	await_locks(paths[0], true, 2);
	assert_int_equal(holder_of(waiter, paths[0]), holder);
}

static void the_holder_of_another_file_is_not_named(void **state)
{
	pid_t other = start(hold_first_and_open_second), waiter;

	await_locks(paths[0], false, 1);
	start(hold_second);
	await_locks(paths[1], false, 1);
	waiter = start(wait_for_both);
	await_locks(paths[0], true, 1);
	await_locks(paths[1], true, 1);
	assert_int_equal(holder_of(waiter, paths[0]), other);
	assert_int_equal(holder_of(waiter, paths[1]), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"threads that wait for one lock have its holder",
		 threads_that_wait_for_one_lock_have_its_holder, setup, teardown, NULL},
		{"the holder of another file's lock, which has this one open, is not named",
		 the_holder_of_another_file_is_not_named, setup, teardown, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
