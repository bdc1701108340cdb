/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon and a subtree for pods, for tests of `graced pods`. */
#ifndef TESTS_LIB_DAEMON_PODSTAGE_H
#define TESTS_LIB_DAEMON_PODSTAGE_H

#include <stdint.h>

#include <jansson.h>

#include "lib/box/box.h"
#include "lib/daemon/service.h"

struct podstage {
	struct box_tree tree;
	struct service *service;
	const char *socket; /* of the daemon */
};

/* For cmocka's group: opens a tree and starts a daemon. Where that cannot work here, says why on
 * stderr and leaves *state NULL. */
int podstage_open(void **state);
int podstage_close(void **state);

/* Skips the test where there is none. */
struct podstage *podstage_of(void **state);

/* A pod of one container, or a further one in that box's pod. */
void podstage_box(struct podstage *stage, const struct box *pod_of, struct box *box);

/* A further daemon, with its own socket or (not NULL) this one. */
struct service *podstage_service(const struct podstage *s, const char *socket);

/* The line of `graced pods -o json` for that pod; NULL: there is none. The caller frees. */
json_t *podstage_ask(const char *socket, const char *uid);

uint64_t podstage_now_ms(void);

#endif
