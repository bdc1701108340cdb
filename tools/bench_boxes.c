// SPDX-License-Identifier: Apache-2.0
/* Containers for the benchmark: COUNT of them, each the only one of its pod, their inits deaf.
 * Prints pid and cgroup directory of each, and with LOG_DIR leaves their names there as the kubelet
 * does; ends, and everything with it, when standard input does. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/box/box.h"

static int make_dir(const char *dir, const char *name)
{
	char path[HIER_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int name_box(const char *dir, size_t i, const struct box *box)
{
	char path[HIER_PATH_MAX], pod[128];
	int r;

	snprintf(pod, sizeof(pod), "pods/default_web-%zu_%s", i, box->uid);
	r = make_dir(dir, pod);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/containers/web-%zu_default_main-%s.log", dir, i, box->id);
	return symlink("/dev/null", path) < 0 ? -errno : 0;
}

static int start_all(struct box_tree *tree, size_t n, const char *log_dir, struct box *boxes)
{
	const struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	int r = 0;

	if (log_dir && ((r = make_dir(log_dir, "pods")) || (r = make_dir(log_dir, "containers"))))
		return r;
	for (size_t i = 0; !r && i < n; i++) {
		r = box_start(tree, &spec, boxes + i);
		if (!r && log_dir)
			r = name_box(log_dir, i, boxes + i);
		if (!r)
			printf("%d %s\n", boxes[i].init_pid, boxes[i].dir);
	}
	return r;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct box *boxes = calloc(n ? n : 1, sizeof(*boxes));
	struct box_tree tree;
	char byte;
	int r;

	if (!n || !boxes || argc > 3) {
		fputs("usage: bench_boxes COUNT [LOG_DIR]\n", stderr);
		return 2;
	}
	if (box_unavailable()) {
		fprintf(stderr, "bench_boxes: %s\n", box_unavailable());
		return 1;
	}
	r = box_tree_open(&tree, "bench");
	if (!r) {
		r = start_all(&tree, n, argc > 2 ? argv[2] : NULL, boxes);
		if (!r) {
			puts("ready");
			fflush(stdout);
			while (read(STDIN_FILENO, &byte, 1) > 0)
				;
		}
		for (size_t i = 0; i < n; i++)
			if (boxes[i].dir[0])
				box_remove(boxes + i);
		box_tree_close(&tree);
	}
	if (r)
		fprintf(stderr, "bench_boxes: %s\n", strerror(-r));
	free(boxes);
	return r ? 1 : 0;
}
