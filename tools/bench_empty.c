// SPDX-License-Identifier: Apache-2.0
/* How long after the last process of COUNT containers that end at random graced wait --empty
 * returns: nanoseconds, one line for each of ROUNDS. For the benchmark. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/box/ends.h"
#include "lib/box/page.h"

#define WITHIN_MS 2000
#define LEAD_MS	  1500

static pid_t begin(const char *graced, const struct box_tree *tree)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	execl(graced, "graced", "wait", "--empty", "--cri.endpoint", "none", "--hierarchy",
	      tree->hier.name, "--container-roots", box_tree_relative(tree, tree->root), NULL);
	_exit(127);
}

/* 0, or 1 when it failed or returned early, which was said. */
static int measure(const char *graced, struct box_tree *tree, size_t n)
{
	uint64_t returned_ns, last_ns;
	int status = -1, r;
	size_t running;
	struct ends ends;
	pid_t pid;

	r = ends_start(tree, n, WITHIN_MS, &ends);
	if (r) {
		fprintf(stderr, "bench_empty: %s\n", strerror(-r));
		ends_free(&ends);
		return 1;
	}
	pid = begin(graced, tree);
	ends_go(&ends, LEAD_MS);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	returned_ns = page_clock_ns();
	last_ns = ends_last_ns(&ends, &running);
	ends_free(&ends);
	if (status != 0 || running > 0 || last_ns > returned_ns) {
		fprintf(stderr, "bench_empty: status %d with %zu containers running\n", status,
			running);
		return 1;
	}
	printf("%llu\n", (unsigned long long)(returned_ns - last_ns));
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	size_t n = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	int rounds = argc == 4 ? atoi(argv[2]) : 0, status = 0;

	if (n < 16 || rounds < 1) {
		fputs("usage: bench_empty COUNT ROUNDS GRACED\n", stderr);
		return 2;
	}
	if (box_unavailable()) {
		fprintf(stderr, "bench_empty: %s\n", box_unavailable());
		return 1;
	}
	for (int i = 0; i < rounds && status == 0; i++) {
		struct box_tree tree;
		int r = box_tree_open(&tree, "bench");

		if (r) {
			fprintf(stderr, "bench_empty: %s\n", strerror(-r));
			return 1;
		}
		status = measure(argv[3], &tree, n);
		box_tree_close(&tree);
	}
	return status;
}
