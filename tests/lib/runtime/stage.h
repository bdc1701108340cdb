/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests with container runtimes have in common: a host for them, a tracer that finds them by
 * itself, and a look at what it says. The functions fail the running cmocka test.
 *
 *   static int setup(void **state)
 *   {
 *           if (runtime_stage_open(&stage, "docker"))
 *                   return -1;
 *           return stage.host ? start_docker() : 0;
 *   }
 */
#ifndef TESTS_LIB_RUNTIME_STAGE_H
#define TESTS_LIB_RUNTIME_STAGE_H

#include "lib/kernel/tracer.h"
#include "lib/runtime/host.h"

/* Images every host has: of a program that any stop signal ends. */
#define RUNTIME_IMAGE	   "docker.io/library/stops:1"
#define RUNTIME_IMAGE_QUIT "docker.io/library/quits:1" /* its stop signal is SIGQUIT */

struct runtime_stage {
	struct runtime_host *host; /* NULL: there can be none here, and every test skips */
	struct tracer *tracer;	   /* NULL until runtime_stage_trace() */
	char image[HIER_PATH_MAX], image_quit[HIER_PATH_MAX]; /* archives of the two */
};

/* For cmocka's group setup and teardown: 0 or -1. */
int runtime_stage_open(struct runtime_stage *stage, const char *what);
int runtime_stage_trace(struct runtime_stage *stage, const char *const *args);
int runtime_stage_close(struct runtime_stage *stage);

/* Skips the test where there is no host. */
void runtime_stage_need(const struct runtime_stage *stage);

/* Runs a program to its end and fails the test unless its exit status is 0. Its output belongs to
 * the caller. */
char *runtime_stage_run(const char *const *argv);

/* Waits for the program in a container (runtime_host_await()): its pid. */
pid_t runtime_stage_await(const struct runtime_stage *stage, const char *id, bool handles);

/* The stop record of the container with this id, which has the members of expected (jrec_match()).
 */
const json_t *runtime_stage_stopped(const struct runtime_stage *stage, const char *id,
				    const char *expected);

/* There are n stop records of containers on this host so far, and no event of these containers was
 * lost. Other tests may have theirs, whose floods are suppressed or lost. */
void runtime_stage_expect_stops(const struct runtime_stage *stage, size_t n);

/* What `graced audit` says of the running container with this id has the members of expected. */
void runtime_stage_audited(const char *id, const char *expected);

#endif
