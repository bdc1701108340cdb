/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed since the checkpoint was written last: a cgroup by its id, a pod by its uid, each
 * once until it is written. So however much happens in a container, it costs one mark, and one
 * write each time.
 */
#ifndef CORE_ENGINE_MARKS_H
#define CORE_ENGINE_MARKS_H

#include "core/names/meta.h"

struct cgmap;
struct cgnode;
struct epod;
struct pods;

/* Cgroup ids, in the order they came. */
struct id_list {
	uint64_t *ids;
	size_t n, room;
};

/* 0 or -ENOMEM. */
int id_list_add(struct id_list *list, uint64_t id);

struct marks {
	const struct cgmap *map;
	const struct pods *pods;
	bool on;  /* a checkpoint is written */
	bool all; /* more changed than could be noted */
	bool run; /* of a shutdown */
	struct id_list cgroups;
	char (*uids)[POD_UID_MAX]; /* of pods */
	size_t n_uids, room_uids;
};

/* What would be saved of that cgroup has changed, or of the pod that it is in. */
void marks_cgroup(struct marks *marks, struct cgnode *node);
/* There is no such container any more, or another one. */
void marks_id(struct marks *marks, uint64_t id);
void marks_pod(struct marks *marks, struct epod *pod);
/* What sources provide about a pod has changed. */
void marks_names(struct marks *marks, const char *uid);
bool marks_any(const struct marks *marks);
/* All is written; what changes from now on is noted. */
void marks_clear(struct marks *marks);
void marks_done(struct marks *marks);

#endif
