// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/file: every line once, whatever its length, and a bound that holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/file.h"
#include "lib/claim.h"

#define MAX 1000

static char path[] = "/tmp/graced-lines-XXXXXX";

static struct lines *open_with(const char *text, size_t len)
{
	struct lines *lines;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(lines_open(path, MAX, &lines), 0);
	return lines;
}

static void expect(struct lines *lines, const char *text, bool ended)
{
	struct lines_line line;

	assert_int_equal(lines_next(lines, &line), 1);
	assert_int_equal(line.len, strlen(text));
	assert_memory_equal(line.at, text, line.len);
	assert_int_equal(line.ended, ended);
}

static void expect_end(struct lines *lines, int r)
{
	struct lines_line line;

	assert_int_equal(lines_next(lines, &line), r);
	lines_free(lines);
}

static void test_endings(void **state)
{
	struct lines *lines;

	expect_end(open_with("", 0), 0);
	lines = open_with("\n", 1);
	expect(lines, "", true);
	expect_end(lines, 0);
	lines = open_with("a\n\nb", 4);
	expect(lines, "a", true);
	expect(lines, "", true);
	expect(lines, "b", false);
	expect_end(lines, 0);
	lines = open_with("a\nb\n", 4);
	expect(lines, "a", true);
	expect(lines, "b", true);
	expect_end(lines, 0);
}

/* Together longer than several pieces of reading, so that lines lie across their borders. */
static void test_lengths(void **state)
{
	size_t room = 2000 * (MAX + 1), len = 0;
	char *text = malloc(room);
	struct lines_line line;
	struct lines *lines;

	assert_non_null(text);
	for (size_t i = 0; i < 2000; i++) {
		size_t n = i * 7919 % (MAX + 1);

		memset(text + len, 'a' + (int)(i % 26), n);
		len += n;
		text[len++] = '\n';
	}
	lines = open_with(text, len);
	for (size_t i = 0; i < 2000; i++) {
		assert_int_equal(lines_next(lines, &line), 1);
		assert_int_equal(line.len, i * 7919 % (MAX + 1));
		for (size_t k = 0; k < line.len; k++)
			assert_int_equal(line.at[k], 'a' + (int)(i % 26));
	}
	expect_end(lines, 0);
	free(text);
}

static void test_too_long(void **state)
{
	static char text[MAX + 2];
	struct lines *lines;

	memset(text, 'x', MAX + 1);
	text[MAX] = '\n';
	lines = open_with(text, MAX + 1);
	text[MAX] = 0;
	expect(lines, text, true);
	expect_end(lines, 0);
	text[MAX] = 'x';
	expect_end(open_with(text, MAX + 1), -EMSGSIZE);
}

/* Shorter than a piece of reading, and longer than several. */
static void test_skip(void **state)
{
	static const size_t lengths[] = {MAX + 1, 3 * MAX, 300000};

	for (size_t i = 0; i < LEN(lengths); i++) {
		char *text = malloc(lengths[i] + 16);
		struct lines_line line;
		struct lines *lines;

		assert_non_null(text);
		memset(text, 'x', lengths[i]);
		memcpy(text + lengths[i], "\nb\n", 3);
		lines = open_with(text, lengths[i] + 3);
		assert_int_equal(lines_next(lines, &line), -EMSGSIZE);
		assert_int_equal(lines_skip(lines), 0);
		expect(lines, "b", true);
		expect_end(lines, 0);
		/* The last one has no end. */
		lines = open_with(text, lengths[i]);
		assert_int_equal(lines_next(lines, &line), -EMSGSIZE);
		assert_int_equal(lines_skip(lines), 0);
		expect_end(lines, 0);
		free(text);
	}
}

static void test_no_file(void **state)
{
	struct lines *lines;

	assert_int_equal(lines_open("/nonexistent/file", MAX, &lines), -ENOENT);
	assert_int_equal(lines_open("/tmp", MAX, &lines), -EISDIR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a file ends with or without a newline, and that is reported", test_endings),
		CLAIM("lines of all lengths come whole and in order", test_lengths),
		CLAIM("the longest line is taken and a longer one is refused", test_too_long),
		CLAIM("a line that is too long can be left out, and the next one follows",
		      test_skip),
		CLAIM("what is no file is not opened", test_no_file),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests_name("io/files/file", tests, NULL, NULL);
	unlink(path);
	return failed;
}
