/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that the daemon told at one time, those a user asked for, in the order of a listing. */
#ifndef APP_COMMANDS_POD_LIST_H
#define APP_COMMANDS_POD_LIST_H

#include <stddef.h>

#include "base/arena.h"
#include "core/stop/filter.h"
#include "io/control/control.h"
#include "wire/json/pods.h"

/* All zero is an empty list. */
struct podlist {
	struct pods_record *list; /* in the arena, as their strings */
	const struct pods_record **by_uid;
	size_t n;
	struct arena arena;
};

/* Reads an answer to CONTROL_PODS; *ret is an empty list. -EBADMSG when a line is none of a pod,
 * -ENOMEM. */
int podlist_read(const struct control_answer *answer, const struct filter *filter,
		 struct podlist *ret);

void podlist_free(struct podlist *list);

/* The pod of that uid; NULL when it is not there. */
const struct pods_record *podlist_find(const struct podlist *list, const char *uid);

#endif
