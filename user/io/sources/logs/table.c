// SPDX-License-Identifier: Apache-2.0
/* Reads a directory's names into a sorted list that is searched by uid or container id. */
#include "io/sources/logs/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"

/* Names of any kind that are looked at in one directory. */
#define SEEN_MAX 65536

/* A directory's stamp has the grain of a clock tick: one read so soon after a change may have
 * missed the next change in the same tick. */
#define STAMP_GRAIN_NS 100000000ll

/* A user who fills a directory and keeps changing it costs at most this part of the time, after a
 * burst that is enough for some dozens of containers that start together on a busy node. */
#define SLOW_NS	   1000000ll
#define SLOW_PART  8
#define SLOW_BURST 100000000ll

void source_logs_table_clear(struct source_logs_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].text);
	free(t->list);
	t->list = NULL;
	t->n = t->room = 0;
	t->overflow = false;
	t->stamp_ns = 0;
}

static int by_key(const void *a, const void *b)
{
	const struct source_logs_entry *x = a, *y = b;
	size_t len = x->name.key_len < y->name.key_len ? x->name.key_len : y->name.key_len;
	int r = memcmp(x->name.key, y->name.key, len);

	if (r)
		return r;
	if (x->name.key_len != y->name.key_len)
		return x->name.key_len < y->name.key_len ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int add(struct source_logs_table *t, const char *text)
{
	struct source_logs_name name;
	struct source_logs_entry *list;
	char *copy;

	if (!t->parse(text, &name))
		return 0;
	if (t->n == t->max) {
		t->overflow = true;
		return 0;
	}
	if (t->n == t->room) {
		size_t room = t->room ? t->room * 2 : 64;

		list = reallocarray(t->list, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		t->list = list;
		t->room = room;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	t->parse(copy, &name);
	t->list[t->n++] = (struct source_logs_entry){copy, name};
	return 0;
}

static bool is_type(int dirfd_, const struct dirent *entry, mode_t type)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == IFTODT(type);
	return fstatat(dirfd_, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_mode & S_IFMT) == type;
}

static int read_names(struct source_logs_table *t, DIR *dir)
{
	struct dirent *entry;
	size_t seen = 0;
	int r = 0;

	while (r >= 0 && !t->overflow && (entry = readdir(dir))) {
		if (++seen > SEEN_MAX)
			t->overflow = true;
		else if (is_type(dirfd(dir), entry, t->type))
			r = add(t, entry->d_name);
	}
	if (t->overflow) {
		source_logs_table_clear(t);
		t->overflow = true;
	}
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), by_key);
	return r;
}

static int64_t to_ns(struct timespec at)
{
	return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* Whether what is kept is good enough, although the directory may have changed. */
static bool must_wait(struct source_logs_table *t)
{
	uint64_t now = clock_boot_ns();

	t->credit_ns += (int64_t)((now - t->credited_ns) / SLOW_PART);
	if (t->credit_ns > SLOW_BURST)
		t->credit_ns = SLOW_BURST;
	t->credited_ns = now;
	return t->credit_ns <= 0;
}

static int read_again(struct source_logs_table *t, DIR *dir, int64_t stamp_ns)
{
	uint64_t began_ns = clock_thread_ns();
	int64_t now = (int64_t)clock_wall_ns(), cost;
	int r;

	source_logs_table_clear(t);
	r = read_names(t, dir);
	if (r >= 0 && now - stamp_ns > STAMP_GRAIN_NS)
		t->stamp_ns = stamp_ns;
	cost = (int64_t)(clock_thread_ns() - began_ns);
	if (cost > SLOW_NS)
		t->credit_ns -= cost;
	return r;
}

int source_logs_table_refresh(struct source_logs_table *t, int dir)
{
	_cleanup_(cleanup_closedir) DIR *names = NULL;
	struct stat st;

	t->error = dir < 0 ? dir : 0;
	if (t->error == 0 && fstat(dir, &st) < 0)
		t->error = -errno;
	if (t->error == 0 && ((t->stamp_ns && t->stamp_ns == to_ns(st.st_mtim)) || must_wait(t)))
		return 0;
	if (t->error == 0)
		t->error = fd_opendir(dir, ".", &names);
	if (t->error < 0) {
		source_logs_table_clear(t);
		return 0;
	}
	return read_again(t, names, to_ns(st.st_mtim));
}

static bool has_key(const struct source_logs_entry *entry, const char *key, size_t len)
{
	return entry->name.key_len == len && memcmp(entry->name.key, key, len) == 0;
}

const struct source_logs_entry *source_logs_table_find(const struct source_logs_table *t,
						       const char *key, bool *ret_several)
{
	size_t low = 0, high = t->n, len = strlen(key);
	struct source_logs_entry want = {.text = (char[]){""},
					 .name = {.key = key, .key_len = len}};

	*ret_several = false;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_key(t->list + mid, &want) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == t->n || !has_key(t->list + low, key, len))
		return NULL;
	*ret_several = low + 1 < t->n && has_key(t->list + low + 1, key, len);
	return *ret_several ? NULL : t->list + low;
}
