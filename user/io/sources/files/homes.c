// SPDX-License-Identifier: Apache-2.0
/* A table of users, each with the look-ups that wait and the child that has some of them now. */
#include "io/sources/files/homes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/cgroup/path.h"
#include "core/names/meta.h"
#include "io/files/fd.h"
#include "io/proc/child.h"
#include "io/proc/clock.h"
#include "wire/runtime/files.h"

/* --- the child -------------------------------------------------------------------------------- */

/* Opens all that is asked about, gives up what it may do, and reads only then. */

struct home_query {
	char id[META_ID_MAX]; /* 64 hex digits */
	enum cgpath_runtime runtime;
};

struct home_question {
	const char *passwd; /* as in struct source_homes_options */
	uint32_t user;
	unsigned int n;
	struct home_query queries[SOURCE_HOMES_WAITING];
};

/* One of each, in any order, by messages. The child may have fallen to what it read: any bytes are
 * to be expected. */
struct home_answer {
	uint32_t index;
	uint32_t result; /* enum meta_result */
	struct meta_container container;
};

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define CONFIG_MAX ((size_t)1 << 20)
#define LIST_MAX   ((size_t)4 << 20)
#define LISTS	   2
#define DRIVERS	   4
#define PASSWD_MAX 16384
#define DOCKER	   ".local/share/docker/containers"
#define PODMAN	   ".local/share/containers/storage"

static const char *const drivers[DRIVERS] = {"overlay", "vfs", "btrfs", "zfs"};
static const char *const lists[LISTS] = {"containers", "volatile-containers"};

/* Descriptors; -1: the file is missing, or may not be read. */
struct opened {
	int docker[SOURCE_HOMES_WAITING];
	int podman[SOURCE_HOMES_WAITING][DRIVERS];
	int lists[DRIVERS][LISTS];
};

/* --- with privileges -------------------------------------------------------------------------- */

static bool find_in(const char *file, uint32_t user, char *ret, size_t size)
{
	_cleanup_(cleanup_fclose) FILE *f = fopen(file, "re");
	const struct passwd *entry;

	while (f && (entry = fgetpwent(f)))
		if (entry->pw_uid == user)
			return snprintf(ret, size, "%s", entry->pw_dir) < (int)size;
	return false;
}

static bool find_home(const struct home_question *q, char *ret, size_t size)
{
	struct passwd entry, *found = NULL;
	char text[PASSWD_MAX];

	if (q->passwd)
		return find_in(q->passwd, q->user, ret, size);
	if (getpwuid_r(q->user, &entry, text, sizeof(text), &found) != 0 || !found)
		return false;
	return snprintf(ret, size, "%s", found->pw_dir) < (int)size;
}

static int open_home(const struct home_question *q)
{
	_cleanup_(cleanup_close) int fd = -1;
	char path[CGPATH_MAX];
	struct stat st;

	if (!find_home(q, path, sizeof(path)) || path[0] != '/')
		return -1;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != q->user)
		return -1;
	return TAKE_FD(fd);
}

/* No link leads elsewhere, no mount of the user's (FUSE) is entered, and a FIFO, or a file that
 * another process holds a lease of, is not waited for. */
static int open_file(int home, uint32_t user, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	/* glibc 2.31 has no SYS_openat2. */
	_cleanup_(cleanup_close) int fd = (int)syscall(__NR_openat2, home, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != user)
		return -1;
	return TAKE_FD(fd);
}

static int open_podman(int home, uint32_t user, const char *driver, const char *rest)
{
	char path[CGPATH_MAX];

	snprintf(path, sizeof(path), PODMAN "/%s-containers/%s", driver, rest);
	return open_file(home, user, path);
}

static void open_container(int home, const struct home_question *q, unsigned int i,
			   struct opened *ret)
{
	const struct home_query *query = &q->queries[i];
	char path[256];

	if (query->runtime != CGPATH_RT_PODMAN) {
		snprintf(path, sizeof(path), DOCKER "/%s/config.v2.json", query->id);
		ret->docker[i] = open_file(home, q->user, path);
		return;
	}
	snprintf(path, sizeof(path), "%s/userdata/config.json", query->id);
	for (size_t d = 0; d < DRIVERS; d++)
		ret->podman[i][d] = open_podman(home, q->user, drivers[d], path);
}

static void open_all(const struct home_question *q, struct opened *ret)
{
	_cleanup_(cleanup_close) int home = open_home(q);
	char path[64];

	memset(ret, -1, sizeof(*ret));
	for (unsigned int i = 0; home >= 0 && i < q->n; i++)
		open_container(home, q, i, ret);
	for (size_t d = 0; home >= 0 && d < DRIVERS; d++)
		for (size_t l = 0; l < LISTS; l++) {
			snprintf(path, sizeof(path), "%s.json", lists[l]);
			ret->lists[d][l] = open_podman(home, q->user, drivers[d], path);
		}
}

/* --- without ---------------------------------------------------------------------------------- */

/* The caller frees *ret. -EFBIG for more than max bytes, however the file grows meanwhile. */
static int read_all(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct stat st;

	if (lseek(fd, 0, SEEK_SET) < 0 || fstat(fd, &st) < 0)
		return -errno;
	*ret_len = (size_t)st.st_size;
	return fd_read_sized(fd, st.st_size, max, ret);
}

static int read_docker(int fd, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r = fd < 0 ? -ENOENT : read_all(fd, CONFIG_MAX, &text, &len);

	return r < 0 ? r : ctrjson_docker(text, len, id, ret);
}

static int read_list(int fd, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r = fd < 0 ? -ENOENT : read_all(fd, LIST_MAX, &text, &len);

	return r < 0 ? r : ctrjson_storage(text, len, id, ret);
}

static int read_podman(const struct opened *opened, unsigned int i, size_t driver, const char *id,
		       struct meta_container *ret)
{
	struct meta_container found = {.source = META_PODMAN, .kind = META_KIND_CONTAINER};
	_cleanup_(cleanup_free) char *text = NULL;
	struct ctrjson_bundle bundle;
	int fd = opened->podman[i][driver], r;
	size_t len;

	r = fd < 0 ? -ENOENT : read_all(fd, CONFIG_MAX, &text, &len);
	if (r >= 0)
		r = ctrjson_bundle(text, len, &bundle);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t l = 0; l < LISTS && r == -ENOENT; l++)
		r = read_list(opened->lists[driver][l], id, &found);
	return r < 0 && r != -ENOENT ? r : ctrjson_podman(&bundle, &found, ret);
}

static int read_container(const struct home_question *q, const struct opened *opened,
			  unsigned int i, struct meta_container *ret)
{
	const struct home_query *query = &q->queries[i];
	int r = -ENOENT;

	if (query->runtime != CGPATH_RT_PODMAN)
		return read_docker(opened->docker[i], query->id, ret);
	for (size_t d = 0; d < DRIVERS && r == -ENOENT; d++)
		r = read_podman(opened, i, d, query->id, ret);
	return r;
}

/* A child_fn; userdata is a question. */
static void home_child_run(void *question, bool confined)
{
	const struct home_question *q = question;
	struct opened opened;

	open_all(q, &opened);
	if (!child_confine())
		child_end(1);
	for (unsigned int i = 0; i < q->n; i++) {
		struct home_answer answer = {.index = i};
		int r = read_container(q, &opened, i, &answer.container);

		answer.result = r == 0 ? META_FOUND : r == -ENOENT ? META_ABSENT : META_FAILED;
		if (send(0, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			child_end(1);
	}
}

/* --- the table of users ----------------------------------------------------------------------- */

#define PATIENCE_NS (2 * (uint64_t)NS_PER_S)
/* A user's children begin so far apart, after some that may come at once; and they compute for a
 * small part of the time, since what a user has written says how long one takes. */
#define PAUSE_NS    ((uint64_t)NS_PER_S / 4)
#define BURST_NS    (2 * (uint64_t)NS_PER_S)
#define REST	    8

struct home {
	struct source_homes *homes;
	uint32_t user;		       /* 0: free */
	struct home_question question; /* that the child has; n 0: it has been answered */
	struct home_query waiting[SOURCE_HOMES_WAITING];
	unsigned int n_waiting;

	struct child child;	     /* pid 0: none runs */
	sd_event_source *end;	     /* on the child's pidfd */
	sd_event_source *limit;	     /* of its time, or of the pause before the next one */
	uint64_t started_ns, due_ns; /* CLOCK_MONOTONIC; of the last one, of the next one */
};

struct source_homes {
	sd_event *event;
	struct source_sink sink;
	struct source_homes_options options;
	unsigned int children;
	struct home *users; /* SOURCE_HOMES_USERS; NULL until one is queried about */
};

void source_homes_key(uint32_t user, const char *container_id,
		      char ret[static SOURCE_HOMES_KEY_SIZE])
{
	snprintf(ret, SOURCE_HOMES_KEY_SIZE, "%u/%s", user, container_id);
}

static void conclude(struct source_homes *h, uint32_t user, const char *id, enum meta_result result)
{
	char key[SOURCE_HOMES_KEY_SIZE];

	source_homes_key(user, id, key);
	h->sink.done(h->sink.userdata, META_PODMAN, key, result);
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool is_text(const char *text, size_t size)
{
	size_t len = strnlen(text, size), at = 0, n;
	uint32_t code;

	while (at < len) {
		n = utf8_decode(text + at, len - at, &code);
		if (!n)
			return false;
		at += n;
	}
	return len < size;
}

/* What a user can say, of the container that was asked about. */
static bool take(uint32_t user, const char *id, const struct meta_container *from,
		 struct meta_container *ret)
{
	*ret = (struct meta_container){
		.source = from->source,
		.kind = META_KIND_CONTAINER,
		.user = user,
		.known = from->known & (META_CTR_GRACE | META_CTR_ATTEMPT),
		.grace_ns = from->grace_ns,
		.attempt = from->attempt,
		.stop_signal = from->stop_signal <= 64 ? from->stop_signal : 0,
	};
	if (from->source != META_DOCKER && from->source != META_PODMAN)
		return false;
	if (!is_text(from->name, sizeof(from->name)) ||
	    !is_text(from->image, sizeof(from->image)) ||
	    !is_text(from->namespace_, sizeof(from->namespace_)) ||
	    !is_text(from->workload, sizeof(from->workload)))
		return false;
	strcpy(ret->id, id);
	strcpy(ret->name, from->name);
	strcpy(ret->image, from->image);
	strcpy(ret->namespace_, from->namespace_);
	strcpy(ret->workload, from->workload);
	return true;
}

/* The sink may call the source again: what was asked is copied first. */
static void settle(struct home *home, unsigned int i, enum meta_result result,
		   const struct meta_container *container)
{
	struct source_homes *h = home->homes;
	struct home_query *query = &home->question.queries[i];
	struct meta_container found;
	char id[META_ID_MAX];

	if (!query->id[0])
		return;
	strcpy(id, query->id);
	query->id[0] = '\0';
	if (result == META_FOUND && !take(home->user, id, container, &found))
		result = META_FAILED;
	if (result == META_FOUND)
		h->sink.container(h->sink.userdata, &found);
	conclude(h, home->user, id, result);
}

static void take_answers(struct home *home)
{
	struct home_answer answer;

	for (unsigned int n = 0; n < SOURCE_HOMES_WAITING; n++) {
		if (recv(home->child.fd, &answer, sizeof(answer), MSG_DONTWAIT) !=
		    (ssize_t)sizeof(answer))
			break;
		if (answer.index < home->question.n && answer.result <= META_FAILED)
			settle(home, answer.index, (enum meta_result)answer.result,
			       &answer.container);
	}
}

/* Of those that have none. */
static void fail_rest(struct home *home)
{
	for (unsigned int i = 0; i < home->question.n; i++)
		settle(home, i, META_FAILED, NULL);
	home->question.n = 0;
}

/* --- children --------------------------------------------------------------------------------- */

static void run(void *userdata, bool confined)
{
	setpriority(PRIO_PROCESS, 0, 5);
	home_child_run(userdata, confined);
}

static void begin_all(struct source_homes *h);

/* The child has ended, so that nothing here waits. */
static int on_end(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct home *home = userdata;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t rested_ns = now_ns + REST * (now_ns - home->started_ns);

	take_answers(home);
	fail_rest(home);
	child_stop(&home->child);
	home->end = sd_event_source_disable_unref(home->end);
	home->limit = sd_event_source_disable_unref(home->limit);
	home->homes->children--;
	if (rested_ns > home->due_ns)
		home->due_ns = rested_ns;
	begin_all(home->homes);
	return 0;
}

/* One that waits for a disk ends later, and keeps its place. */
static int on_limit(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct home *home = userdata;

	if (home->child.pid) {
		kill(home->child.pid, SIGKILL);
		fail_rest(home);
	} else {
		home->limit = sd_event_source_disable_unref(home->limit);
		begin_all(home->homes);
	}
	return 0;
}

static int set_limit(struct home *home, uint64_t ns)
{
	home->limit = sd_event_source_disable_unref(home->limit);
	return sd_event_add_time_relative(home->homes->event, &home->limit, CLOCK_MONOTONIC,
					  ns / (uint64_t)NS_PER_US, 0, on_limit, home);
}

static int watch_child(struct home *home)
{
	const struct source_homes_options *o = &home->homes->options;
	_cleanup_(cleanup_close) int pidfd = (int)syscall(SYS_pidfd_open, home->child.pid, 0);
	int r;

	if (pidfd < 0)
		return -errno;
	r = sd_event_add_io(home->homes->event, &home->end, pidfd, EPOLLIN, on_end, home);
	if (r < 0)
		return r;
	sd_event_source_set_io_fd_own(home->end, true);
	TAKE_FD(pidfd);
	return set_limit(home, o->patience_ns ? o->patience_ns : PATIENCE_NS);
}

static void start(struct home *home, uint64_t now_ns)
{
	struct source_homes *h = home->homes;
	struct home_question *q = &home->question;
	uint64_t from_ns = now_ns > BURST_NS ? now_ns - BURST_NS : 0;

	*q = (struct home_question){
		.passwd = h->options.passwd, .user = home->user, .n = home->n_waiting};
	memcpy(q->queries, home->waiting, sizeof(q->queries));
	home->n_waiting = 0;
	home->limit = sd_event_source_disable_unref(home->limit);
	home->started_ns = now_ns;
	home->due_ns = (home->due_ns > from_ns ? home->due_ns : from_ns) + PAUSE_NS;
	if (child_start_privileged("graced-home", run, q, &home->child) >= 0) {
		if (watch_child(home) >= 0) {
			h->children++;
			return;
		}
		home->end = sd_event_source_disable_unref(home->end);
		home->limit = sd_event_source_disable_unref(home->limit);
		child_stop(&home->child);
	}
	fail_rest(home);
}

static void begin(struct home *home)
{
	struct source_homes *h = home->homes;
	uint64_t now_ns = clock_monotonic_ns();

	if (!home->n_waiting || home->child.pid || h->children >= SOURCE_HOMES_CHILDREN)
		return;
	if (h->options.at_once || home->due_ns <= now_ns)
		start(home, now_ns);
	else if (!home->limit && set_limit(home, home->due_ns - now_ns) < 0)
		start(home, now_ns);
}

static void begin_all(struct source_homes *h)
{
	for (size_t i = 0; i < SOURCE_HOMES_USERS; i++)
		begin(&h->users[i]);
}

/* --- look-ups --------------------------------------------------------------------------------- */

/* The user's own place, or that of the one who had no question for the longest time; NULL: all have
 * some, or there is no memory. */
static struct home *place_of(struct source_homes *h, uint32_t user)
{
	struct home *idle = NULL;

	if (!h->users)
		h->users = calloc(SOURCE_HOMES_USERS, sizeof(*h->users));
	for (size_t i = 0; h->users && i < SOURCE_HOMES_USERS; i++) {
		struct home *at = &h->users[i];

		if (at->user == user)
			return at;
		if (!at->child.pid && !at->n_waiting && (!idle || at->due_ns < idle->due_ns))
			idle = at;
	}
	if (idle)
		*idle = (struct home){.homes = h, .user = user};
	return idle;
}

static bool is_asked(const struct home *home, const char *id)
{
	for (unsigned int i = 0; i < home->n_waiting; i++)
		if (strcmp(home->waiting[i].id, id) == 0)
			return true;
	for (unsigned int i = 0; i < home->question.n; i++)
		if (strcmp(home->question.queries[i].id, id) == 0)
			return true;
	return false;
}

void source_homes_find(struct source_homes *h, uint32_t user, const char *container_id,
		       enum cgpath_runtime runtime)
{
	bool known = runtime == CGPATH_RT_PODMAN || runtime == CGPATH_RT_DOCKER ||
		     runtime == CGPATH_RT_UNKNOWN;
	struct home_query *query;
	struct home *home;

	if (!user || !known || !cgpath_is_id(container_id)) {
		conclude(h, user, container_id, META_ABSENT);
		return;
	}
	home = place_of(h, user);
	if (home && is_asked(home, container_id))
		return;
	if (!home || home->n_waiting == SOURCE_HOMES_WAITING) {
		conclude(h, user, container_id, META_SHED);
		return;
	}
	query = &home->waiting[home->n_waiting++];
	*query = (struct home_query){.runtime = runtime};
	strcpy(query->id, container_id);
	begin(home);
}

int source_homes_new(sd_event *event, const struct source_homes_options *options,
		     const struct source_sink *sink, struct source_homes **ret)
{
	struct source_homes *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->event = sd_event_ref(event);
	h->sink = *sink;
	if (options)
		h->options = *options;
	*ret = h;
	return 0;
}

struct source_homes *source_homes_free(struct source_homes *h)
{
	if (!h)
		return NULL;
	for (size_t i = 0; h->users && i < SOURCE_HOMES_USERS; i++) {
		h->users[i].end = sd_event_source_disable_unref(h->users[i].end);
		h->users[i].limit = sd_event_source_disable_unref(h->users[i].limit);
		child_stop(&h->users[i].child);
	}
	sd_event_unref(h->event);
	free(h->users);
	free(h);
	return NULL;
}
