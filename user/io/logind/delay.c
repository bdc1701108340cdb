// SPDX-License-Identifier: Apache-2.0
/* Reads logind's files and writes one of them, has logind read it, reads back; and again when
 * something changes. */
#include "io/logind/delay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/shutdown/delay_limit.h"
#include "io/files/fd.h"
#include "io/files/watch.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "wire/config/logind.h"

#define TEMPORARY "." DELAYDROP_NAME ".new"

const char *const delaydrop_places[DELAYDROP_PLACES] = {
	"/etc/systemd",
	"/run/systemd",
	"/usr/local/lib/systemd",
	"/usr/lib/systemd",
};

struct found {
	struct logindconf_file files[DELAYDROP_FILES_MAX];
	size_t n;
	struct delaydrop_files *ret;
};

/* The whole file, through links, as logind reads it; nothing of what is none: /dev/null masks. */
static int read_file(int dirfd, const char *name, struct logindconf_value *ret)
{
	_cleanup_(cleanup_close) int fd =
		openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_(cleanup_free) char *text = NULL;
	struct stat st;
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		text = malloc(LOGINDCONF_SIZE_MAX + 1);
		if (!text)
			return -ENOMEM;
		n = fd_read_full(fd, text, LOGINDCONF_SIZE_MAX + 1);
	}
	return logindconf_read(text ? text : "", n > 0 ? (size_t)n : 0, ret);
}

static int add_file(struct found *found, int dirfd, const char *name, const char *as,
		    unsigned int rank)
{
	struct logindconf_file *f = found->files + found->n;
	char *kept;
	int r;

	if (found->n >= DELAYDROP_FILES_MAX)
		return 0;
	kept = strdup(as);
	if (!kept)
		return -ENOMEM;
	found->ret->names[found->ret->n_names++] = kept;
	*f = (struct logindconf_file){.name = kept, .rank = rank};
	r = read_file(dirfd, name, &f->value);
	if (r < 0)
		return r;
	found->n++;
	return 0;
}

static int add_dropins(struct found *found, const char *path, unsigned int rank)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir(path);
	const struct dirent *entry;
	int r = 0;

	while (dir && r == 0 && (entry = readdir(dir)))
		if (logindconf_is_dropin(entry->d_name))
			r = add_file(found, dirfd(dir), entry->d_name, entry->d_name, rank);
	return r;
}

static int add_place(struct found *found, const char *root, unsigned int rank)
{
	char path[PATH_MAX];
	int r = 0;

	snprintf(path, sizeof(path), "%s%s/logind.conf", root, delaydrop_places[rank]);
	if (access(path, F_OK) == 0)
		r = add_file(found, AT_FDCWD, path, "", rank);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s%s/logind.conf.d", root, delaydrop_places[rank]);
	return add_dropins(found, path, rank);
}

int delaydrop_read(const char *root, struct delaydrop_files *ret)
{
	_cleanup_(cleanup_free) struct found *found = calloc(1, sizeof(*found));
	size_t n;
	int r = found ? 0 : -ENOMEM;

	*ret = (struct delaydrop_files){};
	if (r < 0)
		return r;
	found->ret = ret;
	for (unsigned int rank = 0; r == 0 && rank < DELAYDROP_PLACES; rank++)
		r = add_place(found, root, rank);
	if (r < 0) {
		delaydrop_done(ret);
		return r;
	}
	n = logindconf_merge(found->files, found->n);
	for (size_t i = 0; i < n; i++) {
		const struct logindconf_file *f = found->files + i;

		ret->list[i] = (struct delaylimit_file){f->name, f->value.said, f->value.broken,
							f->value.us};
		ret->places[i] = f->rank;
	}
	ret->n = n;
	return 0;
}

void delaydrop_done(struct delaydrop_files *files)
{
	for (size_t i = 0; i < files->n_names; i++)
		free(files->names[i]);
	files->n = files->n_names = 0;
}

static int write_temporary(int dirfd, const char *text)
{
	_cleanup_(cleanup_close) int fd = -1;

	/* One that a process before this left behind goes. */
	unlinkat(dirfd, TEMPORARY, 0);
	fd = openat(dirfd, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) < 0)
		return -errno;
	return fd_write_full(fd, text, strlen(text), 0);
}

/* Not synced to disk, which could take long: after a crash an empty file says nothing, and the next
 * start writes it again. */
int delaydrop_write(const char *root, uint64_t us)
{
	_cleanup_(cleanup_close) int dirfd = -1;
	char path[PATH_MAX], text[DELAYLIMIT_TEXT_MAX];
	int r;

	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR, root);
	if (mkdir(path, 0755) == 0)
		/* Whatever the umask: logind's own user reads it. */
		(void)chmod(path, 0755);
	dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	delaylimit_text(us, text);
	errno = 0;
	r = write_temporary(dirfd, text);
	if (r == 0 && renameat(dirfd, TEMPORARY, dirfd, DELAYDROP_NAME) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, TEMPORARY, 0);
	return r;
}

int delaydrop_remove(const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR "/" DELAYDROP_NAME, root);
	if (unlink(path) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

/* The kubelet's own pace (pkg/kubelet/nodeshutdown, start()), and slower after that. */
#define DELAY_MIN_NS 100000000ull
#define DELAY_MAX_NS 30000000000ull
#define GRAIN_US     1000

/* A main file and a directory in each place, and the kubelet's. */
#define WATCHED (2 * DELAYDROP_PLACES + 1)
/* Reads of the limit after a file changed: who changed it has logind read it a moment later. */
#define LOOKS	5

#define PATH_SIZE 512

struct delaykeep {
	sd_event *event;
	sd_event_source *timer;
	struct confwatch *watch;
	struct logind *logind;
	struct delaykeep_sink sink;
	const char *root;
	char paths[WATCHED][PATH_SIZE];

	bool known; /* effective_us is what logind said */
	uint64_t effective_us, need_us, own_us;
	bool raising;	     /* own_us is not in effect yet */
	unsigned int looks;  /* to be taken after a change */
	unsigned int looked; /* since the drop-in was written */
	uint64_t delay_ns;
	bool failed; /* to read or write files */
	bool unread; /* systemd does not signal logind */
	uint64_t written;
	char pinned_by[256];
	char text[160];
};

static void set_timer(struct delaykeep *k, uint64_t delay_ns)
{
	timer_at(k->timer, delay_ns ? clock_boot_ns() + delay_ns : 0);
}

static void set_text(struct delaykeep *k, const char *what, const char *why)
{
	snprintf(k->text, sizeof(k->text), "%s: %s", what, why);
}

static void fail(struct delaykeep *k, const char *what, int error)
{
	k->failed = true;
	set_text(k, what, strerror(-error));
}

static void write_own(struct delaykeep *k, uint64_t us)
{
	int r = delaydrop_write(k->root, us);

	k->raising = true;
	if (r < 0) {
		fail(k, "cannot write " DELAYDROP_DIR "/" DELAYDROP_NAME, r);
		return;
	}
	k->own_us = us;
	k->written++;
	k->looked = 0;
	k->delay_ns = 0;
	logind_reload(k->logind);
}

static void note_own(struct delaykeep *k, const struct delaydrop_files *files)
{
	k->own_us = 0;
	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->list[i].name, DELAYDROP_NAME) == 0 && files->list[i].said)
			k->own_us = files->list[i].us;
}

static void decide(struct delaykeep *k)
{
	_cleanup_(cleanup_free) struct delaydrop_files *files = calloc(1, sizeof(*files));
	struct delaylimit_answer answer;
	int r = files ? delaydrop_read(k->root, files) : -ENOMEM;

	k->failed = false;
	if (r < 0) {
		fail(k, "cannot read logind's files", r);
		return;
	}
	note_own(k, files);
	delaylimit_decide(&(struct delaylimit_query){files->list, files->n, DELAYDROP_NAME,
						     k->effective_us, k->need_us},
			  &answer);
	snprintf(k->pinned_by, sizeof(k->pinned_by), "%s",
		 answer.pinned_by ? answer.pinned_by : "");
	delaydrop_done(files);
	if (answer.write)
		write_own(k, answer.us);
	else
		k->raising = k->own_us > k->effective_us;
}

/* The next look, if there is anything to look for. */
static void look_on(struct delaykeep *k)
{
	if (!k->raising && !k->failed && !k->looks)
		k->delay_ns = 0;
	else if (!k->delay_ns)
		k->delay_ns = DELAY_MIN_NS;
	set_timer(k, k->delay_ns);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct delaykeep *k = userdata;

	k->looks -= k->looks > 0;
	k->looked++;
	k->delay_ns = k->delay_ns > DELAY_MAX_NS / 2 ? DELAY_MAX_NS : 2 * k->delay_ns;
	/* The signal may have come while logind was not there to hear it. */
	if (k->raising && k->own_us && !k->pinned_by[0] && k->looked >= LOOKS)
		logind_reload(k->logind);
	/* The answer sets the timer anew. */
	set_timer(k, DELAY_MAX_NS);
	logind_query_limit(k->logind);
	return 0;
}

static void on_change(void *userdata, size_t index)
{
	struct delaykeep *k = userdata;

	if (index == WATCHED - 1) {
		if (k->sink.kubelet)
			k->sink.kubelet(k->sink.userdata);
		return;
	}
	k->looks = LOOKS;
	k->delay_ns = 0;
	if (k->known)
		decide(k);
	logind_query_limit(k->logind);
}

void delaykeep_need(struct delaykeep *k, uint64_t need_ns)
{
	k->need_us = need_ns / 1000 + (need_ns % 1000 > 0);
	if (k->known)
		decide(k);
	look_on(k);
}

void delaykeep_limit(struct delaykeep *k, uint64_t limit_ns)
{
	k->known = true;
	k->effective_us = limit_ns == UINT64_MAX ? DELAYLIMIT_INFINITY : limit_ns / 1000;
	decide(k);
	look_on(k);
}

void delaykeep_reloaded(struct delaykeep *k, const char *error)
{
	k->unread = error;
	if (error)
		set_text(k, "systemd does not signal logind", error);
	else
		logind_query_limit(k->logind);
}

void delaykeep_get_state(const struct delaykeep *k, struct delaykeep_state *ret)
{
	*ret = (struct delaykeep_state){
		.effective_ns =
			k->effective_us > UINT64_MAX / 1000 ? UINT64_MAX : k->effective_us * 1000,
		.need_ns = k->need_us > UINT64_MAX / 1000 ? UINT64_MAX : k->need_us * 1000,
		.own_ns = k->own_us > UINT64_MAX / 1000 ? UINT64_MAX : k->own_us * 1000,
		.written = k->written,
	};
	if (!k->known)
		ret->status = DELAYKEEP_UNKNOWN;
	else if (k->failed || (k->raising && k->unread))
		ret->status = DELAYKEEP_FAILED;
	else if (k->raising && k->pinned_by[0])
		ret->status = DELAYKEEP_PINNED;
	else if (k->raising || k->effective_us < k->need_us)
		ret->status = DELAYKEEP_RAISING;
	else
		ret->status = DELAYKEEP_ENOUGH;
	memcpy(ret->pinned_by, k->pinned_by, sizeof(ret->pinned_by));
	memcpy(ret->text, k->text, sizeof(ret->text));
}

static int add_path(struct delaykeep *k, size_t i, const char *place, const char *name)
{
	int n = snprintf(k->paths[i], PATH_SIZE, "%s%s%s", k->root, place, name);

	return n < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

static int watch(struct delaykeep *k, const char *kubelet_config)
{
	const char *paths[WATCHED];
	size_t n = kubelet_config ? WATCHED : WATCHED - 1;
	int r = 0;

	for (size_t i = 0; r == 0 && i < DELAYDROP_PLACES; i++) {
		r = add_path(k, 2 * i, delaydrop_places[i], "/logind.conf");
		if (r == 0)
			r = add_path(k, 2 * i + 1, delaydrop_places[i], "/logind.conf.d/");
	}
	if (r == 0 && kubelet_config)
		r = add_path(k, WATCHED - 1, kubelet_config, "");
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		paths[i] = k->paths[i];
	return confwatch_new(k->event, paths, n, &(struct confwatch_sink){k, on_change}, &k->watch);
}

static int set_up(struct delaykeep *k, const struct delaykeep_options *options)
{
	int r = timer_new(k->event, CLOCK_BOOTTIME, GRAIN_US, on_timer, k, &k->timer);
	return r < 0 ? r : watch(k, options->kubelet_config);
}

int delaykeep_new(sd_event *event, struct logind *logind, const struct delaykeep_options *options,
		  const struct delaykeep_sink *sink, struct delaykeep **ret)
{
	struct delaykeep *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->event = sd_event_ref(event);
	k->logind = logind;
	k->sink = *sink;
	k->root = options->root ? options->root : "";
	r = set_up(k, options);
	if (r < 0) {
		delaykeep_free(k);
		return r;
	}
	logind_query_limit(logind);
	*ret = k;
	return 0;
}

struct delaykeep *delaykeep_free(struct delaykeep *k)
{
	if (!k)
		return NULL;
	confwatch_free(k->watch);
	sd_event_source_disable_unref(k->timer);
	sd_event_unref(k->event);
	free(k);
	return NULL;
}
