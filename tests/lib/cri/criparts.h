/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes and containers as a test writes them down, given to wire/runtime/cri in each of the
 * answers that can hold them. */
#ifndef TESTS_LIB_CRI_CRIPARTS_H
#define TESTS_LIB_CRI_CRIPARTS_H

#include "lib/cri/crienc.h"
#include "wire/runtime/cri.h"

#define CRIPARTS_ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CRIPARTS_UID  "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6"
#define CRIPARTS_HASH "0123456789abcdef0123456789abcdef"
#define CRIPARTS_SHA  "sha256:" CRIPARTS_ID
#define CRIPARTS_POD  "io.kubernetes.pod."
#define CRIPARTS_CTR  "io.kubernetes.container."

enum criparts_answer {
	CRIPARTS_LIST_SANDBOX,
	CRIPARTS_EVENT_SANDBOX,
	CRIPARTS_LIST_CONTAINER,
	CRIPARTS_STATUS,
};

/* NULL: not written. */
struct criparts_pair {
	const char *key, *value;
};

struct criparts_sandbox {
	const char *id, *name, *namespace_, *uid;
	int attempt, state;
	struct criparts_pair labels[6], annotations[3];
};

struct criparts_container {
	const char *id, *sandbox_id, *name;
	int attempt, state;
	const char *image, *user_image, *image_ref, *image_id;
	struct criparts_pair labels[6], annotations[3];
};

/* Adds the message. */
void criparts_write_sandbox(struct buf *buf, enum criparts_answer answer,
			    const struct criparts_sandbox *s);
void criparts_write_container(struct buf *buf, enum criparts_answer answer,
			      const struct criparts_container *c);

/* Reads buf as the only item of such an answer, and empties it; fails the test where it is not one
 * item. */
void criparts_read(struct buf *buf, enum criparts_answer answer, const char *node,
		   struct cri_item *ret);

/* Both at once. */
void criparts_sandbox(enum criparts_answer answer, const struct criparts_sandbox *s,
		      const char *node, struct cri_item *ret);
void criparts_container(enum criparts_answer answer, const struct criparts_container *c,
			struct cri_item *ret);

#endif
