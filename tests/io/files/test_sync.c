// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/sync; tests/daemon/test_power_loss.c shows what is on a disk. */
#include "io/files/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* One at a time, again and again. */
static void test_again(void **state)
{
	struct filesync sync = {};
	char dir[32], path[64];
	int r;

	make(dir, path);
	for (int i = 0; i < 100; i++) {
		unsigned int tries = 0;

		assert_int_equal(statefile_write(path, "2\n", 2), 0);
		while ((r = filesync_begin(&sync, path)) == -EBUSY) {
			assert_true(++tries < PATIENCE_MS);
			usleep(1000);
		}
		assert_int_equal(r, 0);
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
	assert_int_equal(filesync_begin(&sync, path), 0);
	filesync_close(&sync);
	unlink(path);
	assert_int_equal(filesync_begin(&sync, path), -ENOENT);
	filesync_close(&sync);
	filesync_close(&sync);
	remove_all(dir, path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a file goes to the disk time and again, once at a time", test_again),
		CLAIM("what cannot be synced is an error, and the next one can", test_fails),
	};

	return cmocka_run_group_tests_name("io/files/sync", tests, NULL, NULL);
}
