/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node that shuts down: a daemon, python-dbusmock's logind on a bus of the test's own, a kubelet's
 * configuration and its lock, and pods with names. What the daemon tells is read from its records.
 */
#ifndef TESTS_LIB_SHUTDOWN_SHUTSCENE_H
#define TESTS_LIB_SHUTDOWN_SHUTSCENE_H

#include <stdint.h>

#include <jansson.h>

#include "lib/box/box.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/shutdown/logindmock.h"

/* What a kubelet's configuration begins with. */
#define SHUTSCENE_KUBELET "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

struct shutscene {
	struct box_tree tree;
	struct logindmock mock;
	struct lognames names;
	struct service *service; /* NULL: none runs */
	bool begun, whole_host;
	bool no_wait; /* the test may set it: a further daemon is not waited for until it is ready */
	const char *deaf_grace;
	const char *const *args;
	char records[80], kubelet[80], state[80], systemd[80];
};

struct shutscene_spec {
	const char *mode;
	uint64_t limit_us;   /* logind's; 0: 20 s */
	const char *kubelet; /* its configuration; NULL: 5 s, the last 2 of them for critical pods */
	const char *deaf_grace; /* shutdown.deafGrace; NULL: off */
	/* Further ones of the daemon, which must outlive the scene; NULL: none. */
	const char *const *args;
	bool whole_host; /* look for containers outside the test's own tree, too */
};

/* For cmocka's group. Where that cannot work here, says why on stderr and leaves *state NULL. */
int shutscene_open(void **state);
int shutscene_close(void **state);

/* Starts all of it; skips the test where there is nothing. Overdue containers have 1 s of slack, as
 * has the status of pods. */
struct shutscene *shutscene_begin(void **state, const struct shutscene_spec *spec);
void shutscene_end(struct shutscene *s);
/* Ends what a test that failed has left, containers in a v1 freezer included. */
int shutscene_undo(void **state);
#define SHUTSCENE_CLAIM(sentence, function)                    \
	{                                                      \
		sentence, function, NULL, shutscene_undo, NULL \
	}

/* A further daemon, after the first has ended. */
void shutscene_start(struct shutscene *s, const char *mode);

/* A pod of that name in the namespace "shop", whose container "main" does not hear SIGTERM; the
 * daemon knows it. */
void shutscene_box(struct shutscene *s, const char *pod, struct box *ret);
/* The same of another program. */
void shutscene_box_of(struct shutscene *s, const char *pod, const struct box_spec *spec,
		      struct box *ret);

void shutscene_write(const char *path, const char *text);

/* The first record that has these members (jrec.h), or NULL; the caller frees. */
json_t *shutscene_find(const struct shutscene *s, const char *expected);
json_t *shutscene_await_record(const struct shutscene *s, const char *expected);

/* The kubelet's among them, once it has one. */
void shutscene_await_locks(struct shutscene *s, unsigned int n);
void shutscene_await_metric(struct shutscene *s, const char *metric, const char *label,
			    double value);

#endif
