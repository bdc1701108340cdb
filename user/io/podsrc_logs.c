// SPDX-License-Identifier: Apache-2.0
/* Keeps what the log directories' names say, read again when a directory changed. */
#include "io/podsrc_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "io/clock.h"
#include "io/fd.h"

#define ENTRIES_MAX 65536

/* A directory's stamp has the grain of a clock tick: one read so soon after a change may have
 * missed the next change in the same tick. */
#define STAMP_GRAIN_NS 100000000ll

typedef bool (*parse_fn)(const char *name, struct podsrc_logs_name *ret);

struct entry {
	char *text; /* owned; name points into it */
	struct podsrc_logs_name name;
};

struct table {
	const char *subdir;
	parse_fn parse;
	mode_t type;
	int64_t stamp_ns;   /* of the directory when it was read; 0: read it again */
	struct entry *list; /* sorted by key, then by text */
	size_t n, room;
};

struct podsrc_logs {
	struct table pods, containers;
	char dir[];
};

static void table_clear(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].text);
	free(t->list);
	t->list = NULL;
	t->n = t->room = 0;
	t->stamp_ns = 0;
}

int podsrc_logs_new(const char *dir, struct podsrc_logs **ret)
{
	struct podsrc_logs *src = calloc(1, sizeof(*src) + strlen(dir) + 1);

	if (!src)
		return -ENOMEM;
	strcpy(src->dir, dir);
	src->pods = (struct table){"pods", podsrc_logs_parse_pod, S_IFDIR, 0, NULL, 0, 0};
	src->containers =
		(struct table){"containers", podsrc_logs_parse_container, S_IFLNK, 0, NULL, 0, 0};
	*ret = src;
	return 0;
}

struct podsrc_logs *podsrc_logs_free(struct podsrc_logs *src)
{
	if (src) {
		table_clear(&src->pods);
		table_clear(&src->containers);
	}
	free(src);
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	size_t len = x->name.key_len < y->name.key_len ? x->name.key_len : y->name.key_len;
	int r = memcmp(x->name.key, y->name.key, len);

	if (r)
		return r;
	if (x->name.key_len != y->name.key_len)
		return x->name.key_len < y->name.key_len ? -1 : 1;
	return strcmp(x->text, y->text);
}

static int table_add(struct table *t, const char *text)
{
	struct podsrc_logs_name name;
	struct entry *list;
	char *copy;

	if (!t->parse(text, &name))
		return 0;
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
	t->list[t->n++] = (struct entry){copy, name};
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

static int table_read(struct table *t, DIR *dir)
{
	struct dirent *entry;
	int r = 0;

	while (r >= 0 && t->n < ENTRIES_MAX && (entry = readdir(dir)))
		if (is_type(dirfd(dir), entry, t->type))
			r = table_add(t, entry->d_name);
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), by_key);
	return r;
}

static int64_t to_ns(struct timespec at)
{
	return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static int open_subdir(const struct podsrc_logs *src, const char *subdir, DIR **ret)
{
	_cleanup_(cleanup_close) int fd = open(src->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd_opendir(fd, subdir, ret);
}

static int table_refresh(const struct podsrc_logs *src, struct table *t)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct stat st;
	int64_t now;
	int r;

	if (open_subdir(src, t->subdir, &dir) < 0 || fstat(dirfd(dir), &st) < 0) {
		table_clear(t);
		return 0;
	}
	if (t->stamp_ns && t->stamp_ns == to_ns(st.st_mtim))
		return 0;
	table_clear(t);
	now = (int64_t)clock_wall_ns();
	r = table_read(t, dir);
	if (r >= 0 && now - to_ns(st.st_mtim) > STAMP_GRAIN_NS)
		t->stamp_ns = to_ns(st.st_mtim);
	return r;
}

static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* The one entry for a key: NULL when there is none, or several (then *ret_several). */
static const struct entry *table_find(const struct table *t, const char *key, bool *ret_several)
{
	size_t low = 0, high = t->n, len = strlen(key);
	struct entry want = {.text = (char[]){""}, .name = {.key = key, .key_len = len}};
	const struct podsrc_logs_name *next;

	*ret_several = false;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_key(t->list + mid, &want) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == t->n || !same(t->list[low].name.key, t->list[low].name.key_len, key, len))
		return NULL;
	next = low + 1 < t->n ? &t->list[low + 1].name : NULL;
	*ret_several = next && same(next->key, next->key_len, key, len);
	return *ret_several ? NULL : t->list + low;
}

static void copy(char *ret, size_t size, const char *at, size_t len)
{
	snprintf(ret, size, "%.*s", (int)len, at ? at : "");
}

/* The directory of the pod that a link under containers/ points into: the third component from the
 * end of its target. False when it is not named as one. */
static bool link_pod(const struct podsrc_logs *src, const struct entry *link,
		     char ret[static NAME_MAX + 1], struct podsrc_logs_name *ret_name)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	char target[PATH_MAX], *at;
	ssize_t n;

	if (open_subdir(src, src->containers.subdir, &dir) < 0)
		return false;
	n = readlinkat(dirfd(dir), link->text, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	for (int i = 0; i < 2; i++) {
		at = strrchr(target, '/');
		if (!at)
			return false;
		*at = 0;
	}
	at = strrchr(target, '/');
	at = at ? at + 1 : target;
	if (strlen(at) > NAME_MAX)
		return false;
	strcpy(ret, at);
	return podsrc_logs_parse_pod(ret, ret_name);
}

static bool same_pod(const struct podsrc_logs_name *a, const struct podsrc_logs_name *b)
{
	return same(a->namespace_, a->namespace_len, b->namespace_, b->namespace_len) &&
	       same(a->pod, a->pod_len, b->pod, b->pod_len);
}

static void take_pod(struct obs_names *names, const struct podsrc_logs_name *pod)
{
	copy(names->namespace_, sizeof(names->namespace_), pod->namespace_, pod->namespace_len);
	copy(names->pod, sizeof(names->pod), pod->pod, pod->pod_len);
	names->found = true;
}

static void take_container(struct obs_names *names, const struct podsrc_logs_name *container)
{
	copy(names->container, sizeof(names->container), container->container,
	     container->container_len);
}

/* Out of the tables as they are. */
static void look_up(const struct podsrc_logs *src, const char *pod_uid, const char *container_id,
		    struct obs_names *ret)
{
	const struct entry *pod, *container;
	struct podsrc_logs_name target;
	char text[NAME_MAX + 1];
	bool several, torn;

	pod = table_find(&src->pods, pod_uid, &several);
	if (several)
		return;
	if (pod)
		take_pod(ret, &pod->name);
	container = table_find(&src->containers, container_id, &torn);
	if (!container || !link_pod(src, container, text, &target) ||
	    !same(target.key, target.key_len, pod_uid, strlen(pod_uid)) ||
	    !same_pod(&target, &container->name) || (pod && !same_pod(&target, &pod->name)))
		return;
	take_pod(ret, &target);
	take_container(ret, &container->name);
}

static int refresh(struct podsrc_logs *src)
{
	int r = table_refresh(src, &src->pods);

	return r < 0 ? r : table_refresh(src, &src->containers);
}

static void begin_names(struct obs_names *ret, const char *pod_uid, size_t uid_len,
			const char *container_id, size_t id_len)
{
	memset(ret, 0, sizeof(*ret));
	copy(ret->pod_uid, sizeof(ret->pod_uid), pod_uid, uid_len);
	copy(ret->container_id, sizeof(ret->container_id), container_id, id_len);
}

void podsrc_logs_find(struct podsrc_logs *src, const char *pod_uid, const char *container_id,
		      struct obs_names *ret)
{
	begin_names(ret, pod_uid, strlen(pod_uid), container_id, strlen(container_id));
	/* Without a uid to hold it against, a name proves nothing. */
	if (*pod_uid && refresh(src) >= 0)
		look_up(src, ret->pod_uid, ret->container_id, ret);
}

static void each_container(struct podsrc_logs *src, podsrc_logs_fn fn, void *userdata)
{
	for (size_t i = 0; i < src->containers.n; i++) {
		const struct entry *e = src->containers.list + i;
		struct podsrc_logs_name target;
		struct obs_names names;
		char text[NAME_MAX + 1];

		if (!link_pod(src, e, text, &target))
			continue;
		begin_names(&names, target.key, target.key_len, e->name.key, e->name.key_len);
		look_up(src, names.pod_uid, names.container_id, &names);
		if (names.container[0])
			fn(userdata, &names);
	}
}

int podsrc_logs_each(struct podsrc_logs *src, podsrc_logs_fn fn, void *userdata)
{
	int r = refresh(src);

	if (r < 0)
		return r;
	for (size_t i = 0; i < src->pods.n; i++) {
		const struct podsrc_logs_name *name = &src->pods.list[i].name;
		struct obs_names names;

		begin_names(&names, name->key, name->key_len, "", 0);
		look_up(src, names.pod_uid, "", &names);
		if (names.found)
			fn(userdata, &names);
	}
	each_container(src, fn, userdata);
	return 0;
}
