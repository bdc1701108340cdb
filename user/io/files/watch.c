// SPDX-License-Identifier: Apache-2.0
/*
 * Watches directories: the one that a path is about, or the nearest one above it that is there, for
 * the next part of the path to come. When one comes or goes, all watches are made anew: that is
 * rare, and nothing can be missed in between.
 */
#include "io/files/watch.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define MASK                                                                                 \
	(IN_ONLYDIR | IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB)

struct target {
	const char *path;
	int wd;		  /* of the directory that is watched; -1: none */
	const char *next; /* the name that counts in it, up to a slash; NULL: every one */
	bool above;	  /* it is only on the way to the path */
};

struct confwatch {
	sd_event *event;
	sd_event_source *source; /* owns the inotify descriptor */
	struct confwatch_sink sink;
	size_t n;
	struct target targets[CONFWATCH_MAX];
};

/* Watches the directory that path's first len bytes name, if there is one. */
static int watch_dir(int fd, const char *path, size_t len)
{
	char dir[PATH_MAX];
	int wd;

	memcpy(dir, path, len);
	dir[len] = '\0';
	wd = inotify_add_watch(fd, dir, MASK);
	return wd < 0 ? -errno : wd;
}

static int watch_target(int fd, struct target *t)
{
	size_t len = strlen(t->path);
	int wd = -ENOENT;

	t->next = NULL;
	t->above = false;
	/* A directory's own slash stays off; a file is looked for in its directory. */
	if (t->path[len - 1] == '/')
		wd = watch_dir(fd, t->path, len - 1);
	while (wd == -ENOENT || wd == -ENOTDIR) {
		t->above = t->next || t->path[len - 1] == '/';
		len -= t->path[len - 1] == '/';
		while (t->path[len - 1] != '/')
			len--;
		t->next = t->path + len;
		wd = watch_dir(fd, t->path, len);
		if (len == 1)
			break;
	}
	t->wd = wd;
	return wd < 0 ? wd : 0;
}

static bool is_next(const struct target *t, const char *name)
{
	size_t len = t->next ? strcspn(t->next, "/") : 0;

	return !t->next || (strlen(name) == len && strncmp(t->next, name, len) == 0);
}

/* Notes which watch the event is about; whether watches are wrong from now on. */
static bool take_event(const struct confwatch *w, const struct inotify_event *e, uint32_t *changed)
{
	const char *name = e->len ? e->name : "";
	bool stale = e->mask & IN_Q_OVERFLOW;

	for (size_t i = 0; i < w->n; i++) {
		const struct target *t = w->targets + i;

		if (e->wd != t->wd)
			continue;
		if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))
			stale = true;
		else if (is_next(t, name) && t->above)
			stale = true;
		else if (is_next(t, name))
			*changed |= UINT32_C(1) << i;
	}
	return stale;
}

static int on_events(sd_event_source *source, int fd, uint32_t revents, void *userdata);

/* 0 or the first error; with no descriptor to be had, all stays as it was. */
static int watch_all(struct confwatch *w)
{
	sd_event_source *source = NULL;
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	int r = fd < 0 ? -errno : sd_event_add_io(w->event, &source, fd, EPOLLIN, on_events, w);

	if (r >= 0)
		r = sd_event_source_set_io_fd_own(source, true);
	if (r < 0) {
		sd_event_source_unref(source);
		if (fd >= 0)
			close(fd);
		return r;
	}
	sd_event_source_disable_unref(w->source);
	w->source = source;
	r = 0;
	for (size_t i = 0; i < w->n; i++) {
		int failed = watch_target(fd, w->targets + i);

		r = r < 0 ? r : failed;
	}
	return r;
}

static int on_events(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	union {
		char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
		struct inotify_event align;
	} buf;
	struct confwatch *w = userdata;
	uint32_t changed = 0;
	bool stale = false;
	ssize_t n;

	while ((n = read(fd, buf.bytes, sizeof(buf.bytes))) > 0)
		for (char *at = buf.bytes; at < buf.bytes + n;) {
			const struct inotify_event *e = (const void *)at;

			stale |= take_event(w, e, &changed);
			at += sizeof(*e) + e->len;
		}
	/* What cannot be watched now is looked at this once, and when the others change again. */
	if (stale) {
		(void)watch_all(w);
		changed = UINT32_MAX;
	}
	for (size_t i = 0; i < w->n; i++)
		if (changed & UINT32_C(1) << i)
			w->sink.changed(w->sink.userdata, i);
	return 0;
}

int confwatch_new(sd_event *event, const char *const *paths, size_t n,
		  const struct confwatch_sink *sink, struct confwatch **ret)
{
	struct confwatch *w;
	int r;

	if (n > CONFWATCH_MAX)
		return -E2BIG;
	for (size_t i = 0; i < n; i++)
		if (paths[i][0] != '/' || strlen(paths[i]) >= PATH_MAX)
			return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->event = sd_event_ref(event);
	w->sink = *sink;
	w->n = n;
	for (size_t i = 0; i < n; i++)
		w->targets[i].path = paths[i];
	r = watch_all(w);
	if (r < 0) {
		confwatch_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

struct confwatch *confwatch_free(struct confwatch *w)
{
	if (!w)
		return NULL;
	sd_event_source_disable_unref(w->source);
	sd_event_unref(w->event);
	free(w);
	return NULL;
}
