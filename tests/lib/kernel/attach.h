/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whose outcome may depend on when the tracer is attached: each attaches one of its own,
 * before the container starts or after, on each hierarchy that containers may be in.
 *
 *   static int setup(void **state)
 *   {
 *           return attach_open(state, "senders");
 *   }
 *   static void play(struct fixture *f, enum attach when)
 *   {
 *           attach_if(f, when, BEFORE);
 *           judge_start(f, …);
 *           attach_if(f, when, AFTER);
 *           …
 *           attach_end(f);
 *   }
 *   return attach_run(tests, setup);
 */
#ifndef TESTS_LIB_KERNEL_ATTACH_H
#define TESTS_LIB_KERNEL_ATTACH_H

#include "lib/claim.h"
#include "lib/kernel/fixture.h"

enum attach { BEFORE, AFTER };

/* As fixture_open(), without a tracer. */
int attach_open(void **state, const char *what);

/* Start a tracer that reports each signal, or fail the running test. */
void attach_begin(struct fixture *f);
/* The same if when is now. */
void attach_if(struct fixture *f, enum attach when, enum attach now);

/* End the tracer, or fail the running test unless its exit status is 0. */
void attach_end(struct fixture *f);

/*
 * Run the tests on the hierarchy of the v1 memory controller and on the unified one, so far as they
 * are mounted. Returns how many failed.
 */
#define attach_run(tests, setup) attach_run_tests(tests, LEN(tests), setup)
int attach_run_tests(const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup);

#endif
