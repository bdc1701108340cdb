// SPDX-License-Identifier: Apache-2.0
/* Takes names of directories and files apart by the rules for names in Kubernetes, and holds them
 * against each other and against the uid asked for. */
#include "io/sources/logs/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/room.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"

/* Many times what a node can run, with what its kubelet has not removed yet. */
#define PODS_MAX       16384
#define CONTAINERS_MAX 32768

struct source_logs {
	struct source_logs_table pods, containers;
	uint64_t lookups[META_RESULT_COUNT];
	char dir[];
};

int source_logs_new(const char *dir, struct source_logs **ret)
{
	struct source_logs *src = calloc(1, sizeof(*src) + strlen(dir) + 1);

	if (!src)
		return -ENOMEM;
	strcpy(src->dir, dir);
	src->pods.subdir = "pods";
	src->pods.parse = source_logs_parse_pod;
	src->pods.type = S_IFDIR;
	src->pods.max = PODS_MAX;
	src->containers.subdir = "containers";
	src->containers.parse = source_logs_parse_container;
	src->containers.type = S_IFLNK;
	src->containers.max = CONTAINERS_MAX;
	*ret = src;
	return 0;
}

static void clear(struct source_logs_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].text);
	free(t->list);
	t->list = NULL;
	t->n = t->room = 0;
	t->overflow = false;
	t->stamp_ns = 0;
}

struct source_logs *source_logs_free(struct source_logs *src)
{
	if (src) {
		clear(&src->pods);
		clear(&src->containers);
	}
	free(src);
	return NULL;
}

static bool same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

static void copy(char *ret, size_t size, const char *at, size_t len)
{
	snprintf(ret, size, "%.*s", (int)len, at ? at : "");
}

/* The directory of the pod that a link in the directory links points into: the third component from
 * the end of its target. False when it is not named as one. */
static bool link_pod(int links, const struct source_logs_entry *link, char ret[static NAME_MAX + 1],
		     struct source_logs_name *ret_name)
{
	char target[PATH_MAX], *at;
	ssize_t n = readlinkat(links, link->text, target, sizeof(target) - 1);

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
	return source_logs_parse_pod(ret, ret_name);
}

static bool same_pod(const struct source_logs_name *a, const struct source_logs_name *b)
{
	return same(a->namespace_, a->namespace_len, b->namespace_, b->namespace_len) &&
	       same(a->pod, a->pod_len, b->pod, b->pod_len);
}

static void take_pod(struct obs_names *names, const struct source_logs_name *pod)
{
	copy(names->namespace_, sizeof(names->namespace_), pod->namespace_, pod->namespace_len);
	copy(names->pod, sizeof(names->pod), pod->pod, pod->pod_len);
	names->found = true;
}

static void take_container(struct obs_names *names, const struct source_logs_name *container)
{
	copy(names->container, sizeof(names->container), container->container,
	     container->container_len);
}

/* Out of the tables as they are. A link alone names no pod: a second name for the uid would not
 * show without reading every other link, too. */
static void look_up(const struct source_logs *src, int links, const char *pod_uid,
		    const char *container_id, struct obs_names *ret)
{
	const struct source_logs_entry *pod, *container;
	struct source_logs_name target;
	char text[NAME_MAX + 1];
	bool several;

	pod = source_logs_table_find(&src->pods, pod_uid, &several);
	if (!pod)
		return;
	take_pod(ret, &pod->name);
	container = source_logs_table_find(&src->containers, container_id, &several);
	if (container && link_pod(links, container, text, &target) &&
	    same(target.key, target.key_len, pod_uid, strlen(pod_uid)) &&
	    same_pod(&target, &container->name) && same_pod(&target, &pod->name))
		take_container(ret, &container->name);
}

static int open_table(int root, const struct source_logs_table *t)
{
	return root < 0 ? root : fd_open_dir(root, t->subdir);
}

/* *ret_links: the directory of links, which the caller closes; negative where it is not there. */
static int refresh(struct source_logs *src, int *ret_links)
{
	_cleanup_(cleanup_close) int fd = open(src->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int root = fd < 0 ? -errno : fd, r;
	_cleanup_(cleanup_close) int pods = open_table(root, &src->pods);

	*ret_links = open_table(root, &src->containers);
	r = source_logs_table_refresh(&src->pods, pods);
	return r < 0 ? r : source_logs_table_refresh(&src->containers, *ret_links);
}

/* What the caller says of its question stays. */
static void begin_names(struct obs_names *ret, const char *pod_uid, size_t uid_len,
			const char *container_id, size_t id_len)
{
	*ret = (struct obs_names){.id = ret->id, .more = ret->more};
	copy(ret->pod_uid, sizeof(ret->pod_uid), pod_uid, uid_len);
	copy(ret->container_id, sizeof(ret->container_id), container_id, id_len);
}

static enum meta_result find(struct source_logs *src, const char *pod_uid, const char *container_id,
			     struct obs_names *ret)
{
	_cleanup_(cleanup_close) int links = -1;

	/* Without a uid to hold it against, a name proves nothing. */
	if (!*pod_uid)
		return META_ABSENT;
	if (refresh(src, &links) < 0)
		return META_FAILED;
	look_up(src, links, pod_uid, container_id, ret);
	if (ret->found)
		return META_FOUND;
	return src->pods.overflow ? META_FAILED : META_ABSENT;
}

void source_logs_find(struct source_logs *src, const char *pod_uid, const char *container_id,
		      struct obs_names *ret)
{
	begin_names(ret, pod_uid, strlen(pod_uid), container_id, strlen(container_id));
	src->lookups[find(src, pod_uid, container_id, ret)]++;
}

static void each_container(struct source_logs *src, int links, source_logs_fn fn, void *userdata)
{
	for (size_t i = 0; i < src->containers.n; i++) {
		const struct source_logs_entry *e = src->containers.list + i;
		struct obs_names names = {};
		struct source_logs_name target;
		char text[NAME_MAX + 1];

		if (!link_pod(links, e, text, &target))
			continue;
		begin_names(&names, target.key, target.key_len, e->name.key, e->name.key_len);
		look_up(src, links, names.pod_uid, names.container_id, &names);
		if (names.container[0])
			fn(userdata, &names);
	}
}

int source_logs_each(struct source_logs *src, source_logs_fn fn, void *userdata)
{
	_cleanup_(cleanup_close) int links = -1;
	int r = refresh(src, &links);

	if (r < 0)
		return r;
	for (size_t i = 0; i < src->pods.n; i++) {
		const struct source_logs_name *name = &src->pods.list[i].name;
		struct obs_names names = {};

		begin_names(&names, name->key, name->key_len, "", 0);
		look_up(src, links, names.pod_uid, "", &names);
		if (names.found)
			fn(userdata, &names);
	}
	each_container(src, links, fn, userdata);
	return 0;
}

/* NULL where nothing is wrong. */
static const char *trouble(const struct source_logs_table *t, char ret[static 160])
{
	if (t->overflow)
		snprintf(ret, 160, "%s/ holds too much: no name in it counts", t->subdir);
	else if (t->error == -ELOOP || t->error == -ENOTDIR)
		snprintf(ret, 160, "%s/ is no directory, or a link to one", t->subdir);
	else if (t->error < 0 && t->error != -ENOENT)
		snprintf(ret, 160, "%s/: %s", t->subdir, strerror(-t->error));
	else
		return NULL;
	return ret;
}

void source_logs_get_state(struct source_logs *src, struct source_state *ret)
{
	_cleanup_(cleanup_close) int links = -1;
	int r = refresh(src, &links);

	*ret = (struct source_state){.status = SOURCE_DOWN};
	snprintf(ret->where, sizeof(ret->where), "%s", src->dir);
	memcpy(ret->lookups, src->lookups, sizeof(ret->lookups));
	if (r < 0) {
		snprintf(ret->text, sizeof(ret->text), "%s", strerror(-r));
		return;
	}
	if (trouble(&src->pods, ret->text) || trouble(&src->containers, ret->text))
		return;
	if (src->pods.error < 0) {
		ret->status = SOURCE_OFF;
		return;
	}
	ret->status = SOURCE_UP;
	snprintf(ret->text, sizeof(ret->text), "%zu pods and %zu containers are named", src->pods.n,
		 src->containers.n);
}

#define LABEL_MAX     63
#define SUBDOMAIN_MAX 253
#define ID_LEN	      64
#define UID_LEN	      36
#define HASH_LEN      32

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_hex(char c)
{
	return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9');
}

/* RFC 1123: lower-case letters, digits and dashes, no dash at either end. */
static bool is_label(const char *at, size_t len)
{
	if (!len || len > LABEL_MAX || !is_alnum(at[0]) || !is_alnum(at[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum(at[i]) && at[i] != '-')
			return false;
	return true;
}

/* Labels joined by dots. The API server bounds the whole, not each label. */
static bool is_subdomain(const char *at, size_t len)
{
	bool edge = true; /* at the beginning of a label */

	if (!len || len > SUBDOMAIN_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool last = i + 1 == len || at[i + 1] == '.';

		if (at[i] == '.') {
			if (edge)
				return false;
			edge = true;
			continue;
		}
		if (!is_alnum(at[i]) && (at[i] != '-' || edge || last))
			return false;
		edge = false;
	}
	return !edge;
}

static bool is_hex_run(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_hex(at[i]))
			return false;
	return true;
}

/* A UUID, or the hash that is a static pod's uid. */
static bool is_uid(const char *at, size_t len)
{
	if (len == HASH_LEN)
		return is_hex_run(at, len);
	if (len != UID_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? at[i] != '-' : !is_hex(at[i]))
			return false;
	}
	return true;
}

/* Splits at the first two underscores; no part may hold a third. */
static bool split(const char *name, size_t len, const char *ret_at[static 3],
		  size_t ret_len[static 3])
{
	const char *one = memchr(name, '_', len), *two;

	if (!one)
		return false;
	two = memchr(one + 1, '_', len - (size_t)(one + 1 - name));
	if (!two)
		return false;
	ret_at[0] = name;
	ret_len[0] = (size_t)(one - name);
	ret_at[1] = one + 1;
	ret_len[1] = (size_t)(two - one - 1);
	ret_at[2] = two + 1;
	ret_len[2] = len - (size_t)(two + 1 - name);
	return true;
}

bool source_logs_parse_pod(const char *name, struct source_logs_name *ret)
{
	const char *at[3];
	size_t len[3];

	if (!split(name, strlen(name), at, len))
		return false;
	if (!is_label(at[0], len[0]) || !is_subdomain(at[1], len[1]) || !is_uid(at[2], len[2]))
		return false;
	*ret = (struct source_logs_name){
		.namespace_ = at[0],
		.namespace_len = len[0],
		.pod = at[1],
		.pod_len = len[1],
		.key = at[2],
		.key_len = len[2],
	};
	return true;
}

bool source_logs_parse_container(const char *name, struct source_logs_name *ret)
{
	size_t total = strlen(name), len[3], tail = ID_LEN + 1;
	const char *at[3];

	if (total < 4 || strcmp(name + total - 4, ".log") || !split(name, total - 4, at, len))
		return false;
	if (len[2] <= tail || at[2][len[2] - tail] != '-' ||
	    !is_hex_run(at[2] + len[2] - ID_LEN, ID_LEN))
		return false;
	len[2] -= tail;
	if (!is_subdomain(at[0], len[0]) || !is_label(at[1], len[1]) || !is_label(at[2], len[2]))
		return false;
	*ret = (struct source_logs_name){
		.namespace_ = at[1],
		.namespace_len = len[1],
		.pod = at[0],
		.pod_len = len[0],
		.container = at[2],
		.container_len = len[2],
		.key = at[2] + len[2] + 1,
		.key_len = ID_LEN,
	};
	return true;
}

/* --- the names in one directory --------------------------------------------------------------- */

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
	char *copy;

	if (!t->parse(text, &name))
		return 0;
	if (t->n == t->max) {
		t->overflow = true;
		return 0;
	}
	if (!ROOM_FOR_ONE(t->list, t->n, t->room, 64))
		return -ENOMEM;
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
		clear(t);
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

	clear(t);
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
		clear(t);
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
