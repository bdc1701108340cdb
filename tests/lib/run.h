/* SPDX-License-Identifier: Apache-2.0 */
/* Run a command to its end and keep what it printed: for tests of the command line. */
#ifndef TESTS_LIB_RUN_H
#define TESTS_LIB_RUN_H

#include <stddef.h>
#include <sys/types.h>

struct run_spec {
	const char *exe;	 /* NULL: the program GRACED names */
	const char *const *args; /* after argv[0], NULL-terminated */
	/* Become this user first (and its group), who runs a copy of exe; 0 stays what it is. */
	uid_t uid;
	size_t read_max; /* close the pipe of its output after so many bytes; 0: read it all */
};

struct run_result {
	pid_t pid;  /* it had */
	int status; /* exit status, or 128 + n when it died of signal n */
	char *out;  /* NUL-terminated; freed by run_done() */
	size_t out_len;
	char *err;
	size_t err_len;
};

/* 0, -errno when it could not be started, -ETIMEDOUT (it is killed) after PATIENCE_S. */
int run(const struct run_spec *spec, struct run_result *ret);

/* Free the texts of a result. */
void run_done(struct run_result *result);

#endif
