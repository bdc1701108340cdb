/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Daemons one after the other in one runtime directory, with one file of records. As group setup,
 * teardown and each test's teardown of cmocka: the state is NULL, said aloud, where they cannot run.
 */
#ifndef TESTS_LIB_DAEMON_RESTARTS_H
#define TESTS_LIB_DAEMON_RESTARTS_H

#include "lib/box/box.h"
#include "lib/daemon/service.h"

struct restarts {
	struct box_tree tree;
	char dir[64]; /* the daemons' runtime directory */
	char file[96], checkpoint[96];
	struct service *service; /* that runs now */
};

int restarts_setup(void **state);
int restarts_teardown(void **state);

/* After each test, whatever became of it: nothing runs, nothing is left of its files. */
int restarts_clear(void **state);

/* Starts a daemon that writes to file. wait: until it is ready. */
void restarts_start(struct restarts *restarts, bool wait);

/* Ends it by that signal, and makes sure that it does. */
void restarts_end_by(struct restarts *restarts, int sig);

#endif
