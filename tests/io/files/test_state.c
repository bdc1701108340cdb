// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "lib/claim.h"

struct place {
	char dir[40], sub[48], path[64];
};

static int open_place(void **state)
{
	static struct place place;

	strcpy(place.dir, "/tmp/graced-state-XXXXXX");
	if (!mkdtemp(place.dir))
		return -1;
	snprintf(place.sub, sizeof(place.sub), "%s/sub", place.dir);
	snprintf(place.path, sizeof(place.path), "%s/state", place.sub);
	*state = &place;
	return 0;
}

static int close_place(void **state)
{
	struct place *p = *state;

	if (unlink(p->path) < 0)
		rmdir(p->path);
	rmdir(p->sub);
	return rmdir(p->dir);
}

static void assert_holds(const struct place *p, const char *want)
{
	_cleanup_(cleanup_free) char *text = NULL;

	assert_true(fd_read_all(AT_FDCWD, p->path, 1000, &text) >= 0);
	assert_string_equal(text, want);
}

static unsigned int count_names(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void test_replaces(void **state)
{
	struct place *p = *state;
	struct stat st;

	assert_int_equal(statefile_write(p->path, "first", 5), 0);
	assert_holds(p, "first");
	assert_int_equal(stat(p->sub, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(statefile_write(p->path, "2", 1), 0);
	assert_holds(p, "2");
	assert_int_equal(count_names(p->sub), 1);
}

static void test_left_behind(void **state)
{
	struct place *p = *state;
	char link[80];

	assert_int_equal(mkdir(p->sub, 0700), 0);
	snprintf(link, sizeof(link), "%s/.tmp-state", p->sub);
	assert_int_equal(symlink("/nonexistent/target", link), 0);
	assert_int_equal(statefile_write(p->path, "new", 3), 0);
	assert_holds(p, "new");
	assert_int_equal(count_names(p->sub), 1);
}

static void test_refused(void **state)
{
	struct place *p = *state;
	char deep[96];

	snprintf(deep, sizeof(deep), "%s/deeper/state", p->sub);
	assert_int_equal(statefile_write(deep, "x", 1), -ENOENT);
	assert_int_equal(statefile_write("state", "x", 1), -EINVAL);
	assert_int_equal(mkdir(p->sub, 0700), 0);
	assert_int_equal(mkdir(p->path, 0700), 0);
	assert_int_equal(statefile_write(p->path, "x", 1), -EISDIR);
	assert_int_equal(count_names(p->sub), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"a file is replaced, its directory made", test_replaces, open_place, close_place,
		 NULL},
		{"what another left behind is no obstacle", test_left_behind, open_place,
		 close_place, NULL},
		{"what cannot be written leaves nothing", test_refused, open_place, close_place,
		 NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
