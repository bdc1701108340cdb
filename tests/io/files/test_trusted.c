// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/file: which ways to a file are trusted. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/file.h"
#include "lib/claim.h"

#define NOBODY 65534

/* In /tmp, where everybody may add names: b/file, and what leads there from a. */
static int open_place(void **state)
{
	static char dir[] = "/tmp/graced-trusted-XXXXXX";
	char end[64];

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	snprintf(end, sizeof(end), "%s/b/file", mkdtemp(dir));
	if (chdir(dir) < 0 || mkdir("a", 0755) < 0 || mkdir("b", 0755) < 0 ||
	    mkdir("b/c", 0755) < 0)
		return -1;
	close(open("b/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	*state = dir;
	return symlink("../b/file", "a/relative") || symlink(end, "a/absolute") ||
	       symlink("./relative", "a/twice") || symlink("../b", "a/dir") ||
	       symlink("../b/c/..//./file", "a/dots") || symlink("loop", "a/loop") ||
	       symlink("nothing", "a/dangling");
}

static int close_place(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", (char *)*state);
	return chdir("/") < 0 || system(command) != 0;
}

static int judge(const char *place, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return trusted_way(path);
}

static void test_followed(void **state)
{
	static const char *const names[] = {
		"b/file", "a/relative", "a/absolute", "a/twice", "a/dir/file", "a/dots",
	};

	for (size_t i = 0; i < LEN(names); i++)
		assert_int_equal(judge(*state, names[i]), 0);
	assert_int_equal(judge(*state, "a/loop"), -ELOOP);
	assert_int_equal(judge(*state, "a/dangling"), -ENOENT);
	assert_int_equal(judge(*state, "b/file/more"), -ENOTDIR);
}

static void test_relative(void **state)
{
	assert_int_equal(trusted_way("/"), 0);
	assert_int_equal(trusted_way("b/file"), -EINVAL);
	assert_int_equal(trusted_way(""), -EINVAL);
}

static void test_writable(void **state)
{
	static const char *const on_the_way[] = {"a", "b", "b/c", "b/file"};

	for (size_t i = 0; i < LEN(on_the_way); i++) {
		struct stat st;

		assert_int_equal(stat(on_the_way[i], &st), 0);
		assert_int_equal(chmod(on_the_way[i], 0775), 0);
		assert_int_equal(judge(*state, "a/dots"), -EPERM);
		assert_int_equal(chmod(on_the_way[i], 0757), 0);
		assert_int_equal(judge(*state, "a/dots"), -EPERM);
		assert_int_equal(chmod(on_the_way[i], st.st_mode & 0777), 0);
		assert_int_equal(judge(*state, "a/dots"), 0);
	}
	/* As /tmp itself is. */
	assert_int_equal(chmod("b", 01777), 0);
	assert_int_equal(judge(*state, "a/dots"), 0);
	assert_int_equal(chmod("b/file", 01666), 0);
	assert_int_equal(judge(*state, "a/dots"), -EPERM);
}

static void test_foreign(void **state)
{
	static const char *const on_the_way[] = {"a", "a/dots", "b", "b/c", "b/file"};

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < LEN(on_the_way); i++) {
		assert_int_equal(lchown(on_the_way[i], NOBODY, 0), 0);
		assert_int_equal(judge(*state, "a/dots"), -EPERM);
		assert_int_equal(lchown(on_the_way[i], 0, 0), 0);
	}
	assert_int_equal(judge(*state, "a/dots"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"links are followed to where they lead, and not for ever", test_followed,
		 open_place, close_place, NULL},
		{"only the whole of a path can be judged", test_relative, open_place, close_place,
		 NULL},
		{"a way on which others may write is not trusted, but for sticky directories",
		 test_writable, open_place, close_place, NULL},
		{"nor is one on which anything is somebody else's", test_foreign, open_place,
		 close_place, NULL},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
