/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon that asks a kubelet, or an API server, of the test's own (kubepeer.h) every second, and
 * what it tells then: the lines of `graced pods`, and records in a file.
 */
#ifndef TESTS_LIB_DAEMON_KUBESTAGE_H
#define TESTS_LIB_DAEMON_KUBESTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "lib/daemon/kubepeer.h"
#include "lib/daemon/service.h"

#define KUBESTAGE_INTERVAL_NS 1000000000

struct kubestage {
	struct kubepeer peer;
	struct service *service;
	const char *socket;	/* of the daemon */
	char records[64];	/* a file */
	const char *cert, *key; /* PEM, to be served by; NULL: in the clear */
};

/* A pod of the list, in the namespace "shop". */
struct kubestage_pod {
	const char *uid, *name;
	const char *metadata; /* more of it: ",\"deletionTimestamp\":…", or NULL */
	const char *phase;    /* NULL: Running */
	const char *reason;   /* of its status, or NULL */
	const char *main;     /* the id of its container, or NULL */
	bool ready;
};

/* The daemon looks for containers in that tree alone. */
void kubestage_open(struct kubestage *s, const struct box_tree *tree,
		    const struct kubestage_pod *pods, size_t n);
/* The same with an API server instead, for the node "node-1". */
void kubestage_open_api(struct kubestage *s, const struct box_tree *tree,
			const struct kubestage_pod *pods, size_t n);
void kubestage_close(struct kubestage *s);

/* From now on these are listed, and always another one: a kubelet that lists none of the API's pods
 * is taken for one that has not heard of them yet. */
void kubestage_list(struct kubestage *s, const struct kubestage_pod *pods, size_t n);

/* Waits until that list was asked for so often. What the clock (CLOCK_BOOTTIME) says then. */
uint64_t kubestage_await_asked(const struct kubestage *s, unsigned int n);

/* Waits until the pod's line has these members (jrec.h); the caller frees it. */
json_t *kubestage_await_line(const struct kubestage *s, const char *uid, const char *expected);

/* The records so far that have these members: an array, for the caller to free. */
json_t *kubestage_records(const struct kubestage *s, const char *expected);
/* The same, once there is one. */
json_t *kubestage_await_records(const struct kubestage *s, const char *expected);

#endif
