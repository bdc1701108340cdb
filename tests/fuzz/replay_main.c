// SPDX-License-Identifier: Apache-2.0
/* Runs every stored input of a corpus directory through a fuzz target, so that what a fuzzer once
 * found stays fixed without a fuzzer. Prints TAP: one test per directory, its inputs as remarks, so
 * the last remark names a crash's input. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

DEFINE_CLEANUP(FILE *, fclose);

/* The bytes are copied to a block of exactly their size, so that a read past the end is a
 * sanitizer's report. */
static int replay_file(const char *path)
{
	_cleanup_(cleanup_fclose) FILE *f = fopen(path, "rb");
	_cleanup_(cleanup_free) uint8_t *data = NULL;
	long size;

	if (!f)
		return -errno;
	if (fseek(f, 0, SEEK_END) < 0)
		return -errno;
	size = ftell(f);
	if (size < 0)
		return -errno;
	rewind(f);

	data = malloc(size ? (size_t)size : 1);
	if (!data)
		return -ENOMEM;
	if (fread(data, 1, (size_t)size, f) != (size_t)size)
		return -EIO;
	LLVMFuzzerTestOneInput(data, (size_t)size);
	return 0;
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Returns the number of inputs run, or -errno of the first that could not be read; -ENOENT when
 * there is none. */
static int replay_dir(const char *dir)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, not_hidden, alphasort), ret = n;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		char path[4096];
		int r;

		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		printf("# %s\n", path);
		fflush(stdout);
		r = replay_file(path);
		if (r < 0 && ret >= 0)
			ret = r;
		free(entries[i]);
	}
	free(entries);
	return ret ? ret : -ENOENT;
}

int main(int argc, char **argv)
{
	int failed = argc > 1 ? 0 : 1;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		int r = replay_dir(argv[i]);

		if (r < 0) {
			failed = 1;
			printf("not ok %d - the inputs of %s are read (%s)\n", i, argv[i],
			       strerror(-r));
		} else {
			printf("ok %d - the %d inputs of %s do no harm\n", i, r, argv[i]);
		}
	}
	return failed;
}
