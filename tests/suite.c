// SPDX-License-Identifier: Apache-2.0
/* The tests of a folder are one program, because to link one for each file took longer than to run
 * them. build/tests/core/stop/test_outcome is a link to build/tests/core/all, and says by its name
 * which main() to run, so each file has a process of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"

/* LIST has a line for each test, with the new name of its main() and its path below tests/, without
 * .c. */
#define TEST(function, name) int function(int argc, char **argv);
#include LIST
#undef TEST

#define TEST(function, name) {name, function},
static const struct test {
	const char *name;
	int (*run)(int argc, char **argv);
} tests[] = {
#include LIST
};

/* The test that a path ends with, in the build or in the sources. */
static const struct test *find(const char *path)
{
	size_t len = strlen(path);

	if (len > 2 && strcmp(path + len - 2, ".c") == 0)
		len -= 2;
	for (size_t i = 0; i < LEN(tests); i++) {
		size_t n = strlen(tests[i].name);

		if (len >= n && strncmp(path + len - n, tests[i].name, n) == 0 &&
		    (len == n || path[len - n - 1] == '/'))
			return &tests[i];
	}
	return NULL;
}

static int list(const char *program)
{
	fprintf(stderr, "usage: [CLAIM=GLOB] %s TEST [ARG...], where TEST is one of\n", program);
	for (size_t i = 0; i < LEN(tests); i++)
		fprintf(stderr, "  %s\n", tests[i].name);
	return 2;
}

int main(int argc, char **argv)
{
	const char *program = argv[0];
	const struct test *test = find(program);

	if (!test && argc > 1) {
		argc--;
		argv++;
		test = find(argv[0]);
	}
	if (!test)
		return list(program);
	if (getenv("CLAIM"))
		cmocka_set_test_filter(getenv("CLAIM"));
	return test->run(argc, argv);
}
