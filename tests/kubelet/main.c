// SPDX-License-Identifier: Apache-2.0
/* Runs JSON test vectors: `vectors DIR…` takes every *.json below each DIR, runs each case through
 * the module that the file is named after, and compares the answer with "expected", all of it in
 * both directions but for the rules of kubelet/compare.h. One line per failure, then "N passed, N
 * failed"; exit 1 on any failure, a file that cannot be used counting as one, and if no case ran at
 * all. */

#include <ctype.h>
#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kubelet/vectors.h"
#include "kubelet/compare.h"
#include "kubelet/spoil.h"

static const struct module {
	const char *file;
	vectors_run_fn run;
	vectors_rule_fn rule; /* NULL: only the rules for all */
} modules[] = {
	{"cgroup_paths", vectors_run_cgroup_paths, NULL},
	{"conditions", vectors_run_conditions, NULL},
	{"container_status", vectors_run_container_status, vectors_rule_container_status},
	{"grace", vectors_run_grace, NULL},
	{"node_failure", vectors_run_node_failure, vectors_rule_node_failure},
	{"phase", vectors_run_phase, vectors_rule_phase},
	{"pod_status", vectors_run_pod_status, NULL},
	{"pod_worker", vectors_run_pod_worker, vectors_rule_pod_worker},
	{"shutdown", vectors_run_shutdown, NULL},
};

struct tally {
	bool spoil; /* passes are wrong expectations that were noticed */
	unsigned long passed, failed;
};

static const struct module *module_of(const char *file_name)
{
	size_t len = strlen(file_name) - strlen(".json");

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strlen(modules[i].file) == len && !memcmp(modules[i].file, file_name, len))
			return &modules[i];
	return NULL;
}

int vectors_run_kind(const struct vectors_kind *kinds, json_t *vector, json_t **ret_got)
{
	const char *kind = json_string_value(json_object_get(vector, "kind"));

	for (; kind && kinds->kind; kinds++)
		if (strcmp(kinds->kind, kind) == 0)
			return kinds->run(json_object_get(vector, "input"), ret_got);
	return -ENOTSUP;
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

static void judge_answer(struct tally *tally, const char *file, const char *name, json_t *vector,
			 json_t *got, const struct module *module)
{
	json_auto_t *wanted = NULL, *had = NULL;
	_cleanup_(cleanup_free) char *wanted_text = NULL, *had_text = NULL;
	int r = vectors_compare(vector, got, module->rule, &wanted, &had);

	if (r < 0) {
		fail(tally, file, name, "the answer cannot be compared: %s", strerror(-r));
		return;
	}
	if (json_object_size(wanted) == 0 && json_object_size(had) == 0) {
		tally->passed++;
		return;
	}
	wanted_text = json_dumps(wanted, JSON_ENSURE_ASCII);
	had_text = json_dumps(had, JSON_ENSURE_ASCII);
	fail(tally, file, name, "expected %s, got %s", wanted_text ? wanted_text : "?",
	     had_text ? had_text : "?");
}

/* Every expectation that is wrong in one place has to fail. */
static void spoil_case(struct tally *tally, const char *file, const char *name, json_t *vector,
		       const struct module *module)
{
	for (size_t place = 0;; place++) {
		json_auto_t *spoiled = NULL, *got = NULL, *wanted = NULL, *had = NULL;
		char what[256];

		if (vectors_spoil(vector, place, &spoiled, what, sizeof(what)) == 0)
			return;
		if (!spoiled || module->run(spoiled, &got) < 0 ||
		    vectors_compare(spoiled, got, module->rule, &wanted, &had) < 0)
			fail(tally, file, name, "cannot be spoiled: %s", what);
		else if (json_object_size(wanted) == 0 && json_object_size(had) == 0)
			fail(tally, file, name, "%s was not noticed", what);
		else
			tally->passed++;
	}
}

static void run_case(struct tally *tally, const char *file, const char *name, json_t *vector,
		     const struct module *module)
{
	json_t *expected = json_object_get(vector, "expected");
	json_auto_t *got = NULL;
	int r;

	if (json_object_size(expected) == 0) {
		fail(tally, file, name, "nothing is expected");
		return;
	}
	if (tally->spoil) {
		spoil_case(tally, file, name, vector, module);
		return;
	}
	r = module->run(vector, &got);
	if (r == -ENOTSUP)
		fail(tally, file, name, "the kind is not known");
	else if (r < 0)
		fail(tally, file, name, "the input cannot be used: %s", strerror(-r));
	else
		judge_answer(tally, file, name, vector, got, module);
}

static void run_file(struct tally *tally, const char *path, const char *file_name)
{
	const struct module *module = module_of(file_name);
	json_auto_t *root = NULL;
	json_error_t error;
	json_t *vectors, *vector;
	size_t i;

	if (!module) {
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
		run_case(tally, path, name ? name : number, vector, module);
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
	struct tally tally = {.spoil = argc > 1 && strcmp(argv[1], "--spoil") == 0};
	char **dirs = argv + 1 + tally.spoil;
	int r;

	if (argc < 2 || !*dirs) {
		fprintf(stderr, "usage: %s [--spoil] DIR…\n", argv[0]);
		return 2;
	}
	r = walk(&tally, dirs);
	if (r < 0)
		fail(&tally, *dirs, NULL, "%s", strerror(-r));
	if (tally.passed + tally.failed == 0)
		puts("no case ran");
	printf("%lu passed, %lu failed\n", tally.passed, tally.failed);
	if (fflush(stdout) != 0 || tally.failed > 0 || tally.passed == 0)
		return 1;
	return 0;
}
