// SPDX-License-Identifier: Apache-2.0
/* Runs every stored input of a corpus directory through a fuzz target, so that what a fuzzer once
 * found stays fixed without a fuzzer. Prints TAP, one line per input. */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
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

/* Returns false when the directory is unreadable, empty, or one of its inputs cannot be read. */
static bool replay_dir(const char *dir, int *count)
{
	struct dirent **entries;
	bool ok = true;
	int n = scandir(dir, &entries, not_hidden, alphasort);

	if (n <= 0) {
		printf("not ok %d - %s holds at least one input\n", ++*count, dir);
		if (n == 0)
			free(entries);
		return false;
	}
	for (int i = 0; i < n; i++) {
		char path[4096];
		int r;

		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		r = replay_file(path);
		if (r < 0) {
			printf("# %s: %s\n", path, strerror(-r));
			ok = false;
		}
		printf("%sok %d - %s does no harm\n", r < 0 ? "not " : "", ++*count, path);
		fflush(stdout);
		free(entries[i]);
	}
	free(entries);
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = argc > 1;
	int count = 0;

	if (!ok)
		fprintf(stderr, "usage: %s CORPUS…\n", argv[0]);
	for (int i = 1; i < argc; i++)
		ok &= replay_dir(argv[i], &count);
	printf("1..%d\n", count);
	return ok ? 0 : 1;
}
