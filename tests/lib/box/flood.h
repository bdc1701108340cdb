/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of a container that send a signal to PID 1 of their pid namespace, which lives on, as
 * fast as they can. A failure fails the test. */
#ifndef TESTS_LIB_BOX_FLOOD_H
#define TESTS_LIB_BOX_FLOOD_H

#include "lib/box/box.h"

#define FLOOD_SENDERS 2
#define FLOOD_STEP    10000 /* a sender takes a note each time */

struct flood {
	struct proc senders[FLOOD_SENDERS];
};

/* They run in the box's cgroup and pid namespace, and send SIGKILL, which PID 1 ignores. */
void flood_begin(struct box_tree *tree, const struct box *box, struct flood *ret);
void flood_begin_with(struct box_tree *tree, const struct box *box, int sig, struct flood *ret);

/* Returns when so many more signals were sent, by all of them together. */
void flood_await(const struct flood *flood, unsigned int signals);

/* Ends them. Returns how many signals were sent. */
int64_t flood_end(struct flood *flood);

#endif
