/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What most kernel tests start with: a subtree for boxes and one tracer, for cmocka's group setup.
 *
 *   static int setup(void **state)
 *   {
 *           return fixture_open(state, "rows", BOX_ARGV("--assume-grace", "2s"));
 *   }
 *   static void a_claim(void **state)
 *   {
 *           struct fixture *f = *state;
 *           if (!f)
 *                   skip();
 *           …
 *   }
 *   return cmocka_run_group_tests(tests, setup, fixture_close);
 */
#ifndef TESTS_LIB_KERNEL_FIXTURE_H
#define TESTS_LIB_KERNEL_FIXTURE_H

#include "lib/box/box.h"
#include "lib/kernel/tracer.h"

struct fixture {
	struct box_tree tree;
	struct tracer *tracer;
};

/*
 * Open a tree and start a tracer of that tree with args (NULL for none). Where that cannot work
 * here, say why on stderr, leave *state NULL and return 0: each test then skips. -1 when it should
 * have worked.
 */
int fixture_open(void **state, const char *what, const char *const *args);

/* End the tracer, expecting exit status 0, and remove the tree; -1 when either failed. */
int fixture_close(void **state);

#endif
