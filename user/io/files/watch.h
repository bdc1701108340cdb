/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports when files or directories of configuration change, appear or disappear (inotify(7)); they
 * need not exist yet.
 */
#ifndef IO_FILES_WATCH_H
#define IO_FILES_WATCH_H

#include <stddef.h>
#include <systemd/sd-event.h>

#define CONFWATCH_MAX 16

struct confwatch_sink {
	void *userdata;
	/* paths[index] may have changed, once for all that happened until now; also when nothing
	 * did. Must not free the handle. */
	void (*changed)(void *userdata, size_t index);
};

struct confwatch;

/*
 * Watches n absolute paths without "." and ".." in them: with a slash at the end a directory and
 * the names right in it, else a file. What they say at first is for the caller to read, afterwards.
 * -EINVAL, -E2BIG for more than CONFWATCH_MAX, -ENOMEM, -errno. The strings and what sink points to
 * are borrowed for as long as the handle lives.
 */
int confwatch_new(sd_event *event, const char *const *paths, size_t n,
		  const struct confwatch_sink *sink, struct confwatch **ret);
struct confwatch *confwatch_free(struct confwatch *watch);

#endif
