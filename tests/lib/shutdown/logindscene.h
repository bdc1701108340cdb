/* SPDX-License-Identifier: Apache-2.0 */
/* io/logind and its mock in one test: it takes the lock as core/shutdown does, and keeps the
 * events as words in one line. */
#ifndef TESTS_LIB_SHUTDOWN_LOGINDSCENE_H
#define TESTS_LIB_SHUTDOWN_LOGINDSCENE_H

#include <systemd/sd-event.h>

#include "io/logind/delay.h"
#include "io/logind/logind.h"
#include "lib/shutdown/logindmock.h"

struct logindscene {
	struct logindmock mock;
	sd_event *event;
	struct logind *logind;
	struct delaykeep *keep; /* the test's, freed here; it hears what it must of logind */
	bool no_lock;		/* takes none by itself */
	/* "up taken cancelled limit=5000 announced=5000:reboot holders=1:kubelet refused=…",
	 * times in ms, a space after each word. */
	char events[4096];
};

/* Starts the bus and logind, unless nothing is wanted yet; connects nothing. */
void logindscene_begin(struct logindscene *s, bool run);
void logindscene_end(struct logindscene *s);
/* For a test's setup and teardown: the scene begins where the mock can be had, else *state is NULL.
 */
int logindscene_setup(void **state);
int logindscene_setup_dark(void **state); /* neither bus nor logind runs */
int logindscene_teardown(void **state);
/* Skips the test that has none. */
struct logindscene *logindscene_of(void **state);
/* Makes the handle; options->bus_address, who and why are the scene's. */
void logindscene_open(struct logindscene *s, const struct logind_options *options);
/* Runs the loop until events has that text; fails after PATIENCE_S. */
void logindscene_await(struct logindscene *s, const char *text);
void logindscene_await_status(struct logindscene *s, enum logind_status status);
/* Runs the loop until so many locks are held of the mock. */
void logindscene_await_locks(struct logindscene *s, unsigned int n);
/* Clears events. */
void logindscene_forget(struct logindscene *s);
/* Runs the loop for that long. */
void logindscene_run_for(struct logindscene *s, uint64_t ns);
/* Goes to logind and back, so that all it sent so far is handled. */
void logindscene_settle(struct logindscene *s);
unsigned int logindscene_count(const struct logindscene *s, const char *text);
struct logind_state logindscene_state(const struct logindscene *s);

#endif
