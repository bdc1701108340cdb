// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/file; tests/daemon/test_power_loss.c shows what is on a disk. */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/files/file.h"
#include "lib/claim.h"
#include "lib/patience.h"

static void make(char dir[static 32], char path[static 64])
{
	snprintf(dir, 32, "/tmp/graced-sync-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, 64, "%s/note", dir);
	assert_int_equal(statefile_write(path, "1\n", 2), 0);
}

static void remove_all(const char *dir, const char *path)
{
	unlink(path);
	rmdir(dir);
}

/* When none is under way. */
static int begin(struct filesync *sync, const char *path)
{
	unsigned int tries = 0;
	int r;

	while ((r = filesync_begin(sync, path)) == -EBUSY) {
		assert_true(++tries < PATIENCE_MS);
		usleep(1000);
	}
	return r;
}

/* One at a time, again and again. */
static void test_again(void **state)
{
	struct filesync sync = {};
	char dir[32], path[64];

	make(dir, path);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(statefile_write(path, "2\n", 2), 0);
		assert_int_equal(begin(&sync, path), 0);
		assert_int_equal(sync.pending, 2);
	}
	filesync_close(&sync);
	assert_int_equal(sync.pending, 0);
	remove_all(dir, path);
}

/* What cannot be synced, and what is not there, keep nothing that comes after it from the disk. */
static void test_fails(void **state)
{
	struct filesync sync = {};
	char dir[32], path[64];

	assert_int_equal(filesync_begin(&sync, "note"), -EINVAL);
	assert_int_equal(filesync_begin(&sync, "/dev/null"), -EINVAL);
	make(dir, path);
	assert_int_equal(filesync_begin(&sync, path), -EINVAL);
	assert_int_equal(sync.pending, 2);
	assert_int_equal(begin(&sync, path), 0);
	filesync_close(&sync);
	unlink(path);
	assert_int_equal(filesync_begin(&sync, path), -ENOENT);
	filesync_close(&sync);
	filesync_close(&sync);
	remove_all(dir, path);
}

/* Its directory cannot be. */
static void test_half(void **state)
{
	struct filesync sync = {};
	char dir[32], path[64];

	make(dir, path);
	for (int i = 0; i < 3; i++)
		assert_int_equal(begin(&sync, "/sys/kernel/uevent_seqnum"), -EINVAL);
	assert_int_equal(begin(&sync, path), -EINVAL);
	assert_int_equal(begin(&sync, path), 0);
	filesync_close(&sync);
	remove_all(dir, path);
}

/* In place of a request that the disk has failed: what ends with an error, too. */
static void spoil(struct filesync *sync, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct iocb read = {.aio_lio_opcode = IOCB_CMD_PREAD,
			    .aio_fildes = (uint32_t)file,
			    .aio_buf = 1,
			    .aio_nbytes = 1};
	struct iocb *list = &read;
	struct io_event events[2];

	assert_int_equal(syscall(SYS_io_getevents, sync->context, 2L, 2L, events, NULL), 2);
	assert_int_equal(syscall(SYS_io_submit, sync->context, 1L, &list), 1);
	sync->pending = 1;
	close(file);
}

/* It is known when the next one is begun, and is an error until one has completed. */
static void test_fails_late(void **state)
{
	struct filesync sync = {};
	char dir[32], path[64];

	make(dir, path);
	assert_int_equal(filesync_begin(&sync, path), 0);
	for (int i = 0; i < 3; i++) {
		spoil(&sync, path);
		assert_int_equal(begin(&sync, path), -EFAULT);
		assert_int_equal(sync.pending, 2);
	}
	assert_int_equal(begin(&sync, path), 0);
	filesync_close(&sync);
	remove_all(dir, path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a file goes to the disk time and again, once at a time", test_again),
		CLAIM("what cannot be synced is an error, and the next one can", test_fails),
		CLAIM("so is what goes to the disk in part", test_half),
		CLAIM("one that fails on its way is an error until another has completed",
		      test_fails_late),
	};

	return cmocka_run_group_tests_name("io/files/file", tests, NULL, NULL);
}
