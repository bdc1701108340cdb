/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of log names as the kubelet keeps it under /var/log, from which graced takes the
 * names of pods and containers. */
#ifndef TESTS_LIB_DAEMON_LOGNAMES_H
#define TESTS_LIB_DAEMON_LOGNAMES_H

#include "lib/box/box.h"

struct lognames {
	char dir[64]; /* for --names.log-directory; "" when there is none */
};

/* 0 or -errno. */
int lognames_open(struct lognames *ret);
/* Names a box: its pod's log directory and its container's link. 0 or -errno. */
int lognames_add(const struct lognames *names, const struct box *box, const char *namespace,
		 const char *pod, const char *container);
/* Removes it with all names. */
void lognames_close(struct lognames *names);

/* A box's names before it starts: box_spec.named is lognames_of, box_spec.userdata one of these. */
struct lognames_of {
	const struct lognames *names;
	const char *namespace, *pod, *container;
};
int lognames_of(void *userdata, const struct box *box);

#endif
