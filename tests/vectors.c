// SPDX-License-Identifier: Apache-2.0
/* Runs JSON test vectors: `vectors DIR…` takes every *.json below each DIR, runs each case through
 * the module that the file is named after, and compares the answer with "expected", all of it in
 * both directions. One line per failure, then "N passed, N failed"; exit 1 on any failure, a file
 * that cannot be used counting as one, and if no case ran at all. */

#include <ctype.h>
#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vectors.h"

static const struct {
	const char *file;
	vectors_run_fn run;
} modules[] = {
	{"cgroup_paths", vectors_run_cgroup_paths},
};

struct tally {
	unsigned long passed, failed;
};

static vectors_run_fn module_of(const char *file_name)
{
	size_t len = strlen(file_name) - strlen(".json");

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strlen(modules[i].file) == len && !memcmp(modules[i].file, file_name, len))
			return modules[i].run;
	return NULL;
}

/* One line is one failure, whatever bytes a file or a case has in its name. */
static void print_escaped(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			printf("\\x%02x", (unsigned char)*text);
		else
			putchar(*text);
}

/* NAME is NULL when the whole file failed. */
static void __attribute__((format(printf, 4, 5)))
fail(struct tally *tally, const char *file, const char *name, const char *why, ...)
{
	va_list args;

	tally->failed++;
	print_escaped(file);
	if (name) {
		fputs(": ", stdout);
		print_escaped(name);
	}
	fputs(": ", stdout);
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	putchar('\n');
}

/* The members of A that B lacks or has otherwise. */
static json_t *difference(json_t *a, json_t *b)
{
	json_t *diff = json_object(), *value;
	const char *key;

	json_object_foreach(a, key, value)
		if (!json_equal(value, json_object_get(b, key)))
			json_object_set(diff, key, value);
	return diff;
}

static void report_difference(struct tally *tally, const char *file, const char *name,
			      json_t *expected, json_t *got)
{
	json_auto_t *wanted = difference(expected, got), *had = difference(got, expected);
	_cleanup_(cleanup_free) char *wanted_text = json_dumps(wanted, JSON_ENSURE_ASCII);
	_cleanup_(cleanup_free) char *had_text = json_dumps(had, JSON_ENSURE_ASCII);

	fail(tally, file, name, "expected %s, got %s", wanted_text ? wanted_text : "?",
	     had_text ? had_text : "?");
}

static void run_case(struct tally *tally, const char *file, const char *name, json_t *vector,
		     vectors_run_fn run)
{
	json_t *expected = json_object_get(vector, "expected");
	json_auto_t *got = NULL;
	int r;

	if (json_object_size(expected) == 0) {
		fail(tally, file, name, "nothing is expected");
		return;
	}
	r = run(vector, &got);
	if (r == -ENOTSUP)
		fail(tally, file, name, "the kind is not known");
	else if (r < 0)
		fail(tally, file, name, "the input cannot be used: %s", strerror(-r));
	else if (!json_equal(expected, got))
		report_difference(tally, file, name, expected, got);
	else
		tally->passed++;
}

static void run_file(struct tally *tally, const char *path, const char *file_name)
{
	vectors_run_fn run = module_of(file_name);
	json_auto_t *root = NULL;
	json_error_t error;
	json_t *vectors, *vector;
	size_t i;

	if (!run) {
		fail(tally, path, NULL, "no module has this name");
		return;
	}
	root = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!root) {
		fail(tally, path, NULL, "line %d: %s", error.line, error.text);
		return;
	}
	vectors = json_object_get(root, "vectors");
	if (!json_is_array(vectors)) {
		fail(tally, path, NULL, "there is no array \"vectors\"");
		return;
	}
	json_array_foreach(vectors, i, vector) {
		const char *name = json_string_value(json_object_get(vector, "name"));
		char number[32];

		snprintf(number, sizeof(number), "case %zu", i + 1);
		run_case(tally, path, name ? name : number, vector, run);
	}
}

static bool is_json(const char *name)
{
	size_t len = strlen(name);

	return len >= strlen(".json") && !strcmp(name + len - strlen(".json"), ".json");
}

static void visit(struct tally *tally, const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D:
	case FTS_DP:
		break;
	case FTS_F:
		if (is_json(entry->fts_name))
			run_file(tally, entry->fts_path, entry->fts_name);
		break;
	case FTS_DC:
		fail(tally, entry->fts_path, NULL, "the directory contains itself");
		break;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		fail(tally, entry->fts_path, NULL, "%s", strerror(entry->fts_errno));
		break;
	default:
		if (is_json(entry->fts_name))
			fail(tally, entry->fts_path, NULL, "not a regular file");
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int walk(struct tally *tally, char *const dirs[])
{
	FTS *tree = fts_open(dirs, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	const FTSENT *entry;
	int r;

	if (!tree)
		return -errno;
	errno = 0;
	while ((entry = fts_read(tree))) {
		visit(tally, entry);
		errno = 0;
	}
	r = -errno;
	fts_close(tree);
	return r;
}

int main(int argc, char **argv)
{
	struct tally tally = {0};
	int r;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DIR…\n", argv[0]);
		return 2;
	}
	r = walk(&tally, argv + 1);
	if (r < 0)
		fail(&tally, argv[1], NULL, "%s", strerror(-r));
	if (tally.passed + tally.failed == 0)
		puts("no case ran");
	printf("%lu passed, %lu failed\n", tally.passed, tally.failed);
	if (fflush(stdout) != 0 || tally.failed > 0 || tally.passed == 0)
		return 1;
	return 0;
}
