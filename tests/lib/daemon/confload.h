/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the daemon's configuration from a file, flags and a variable, and keeps what it printed. */
#ifndef TESTS_LIB_DAEMON_CONFLOAD_H
#define TESTS_LIB_DAEMON_CONFLOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "app/config/config.h"

#define CONFLOAD_ARGS_MAX 8

/* A directory of the test's own, in which it runs, and the file in it; web.yml and other.yml are
 * right web configurations. */
extern char confload_dir[];
extern char confload_path[PATH_MAX];

struct confgiven {
	const char *yaml;		      /* NULL: no --config */
	const char *flags[CONFLOAD_ARGS_MAX]; /* NULL-ended */
	const char *variable;		      /* "NAME=value" or NULL */
};

struct confload {
	bool loaded;
	int status;
	struct config config; /* config_done() when loaded */
	char err[16384], out[16384];
};

/* For cmocka's groups; the environment holds no settings in between. */
int confload_set_up(void **state);
int confload_tear_down(void **state);

void confload_write(const char *yaml, mode_t mode);
void confload(const struct confgiven *given, struct confload *ret);
void confload_argv(int argc, char **argv, struct confload *ret);

/* What is printed to a stream until the end of it, at most size - 1 bytes. */
void confload_begin_capture(FILE *stream, int *ret_saved, int *ret_fd);
void confload_end_capture(FILE *stream, int saved, int fd, char *ret, size_t size);

/* The setting with this dotted key has this value. */
void confload_assert_shows(const struct config *config, const char *key, const char *value);

/* Ends with this status and one line on stderr, which begins so and holds that. */
void confload_assert_refused(const struct confgiven *given, int status, const char *begins,
			     const char *holds);

#endif
