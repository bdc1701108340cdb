/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every room of the engine has: the time, the host, a way out for effects, and what is to be
 * saved anew.
 */
#ifndef CORE_ENGINE_OUTPUT_H
#define CORE_ENGINE_OUTPUT_H

#include "core/model/effect.h"
#include "core/facts/observation.h"
#include "core/names/meta.h"
#include "core/stop/record.h"

struct cgmap;
struct cgnode;
struct epod;
struct pods;

/* --- core/engine/marks.c: what changed since the checkpoint was written last --- */

/*
 * A cgroup by its id, a pod by its uid, each once until it is written. So however much happens in a
 * container, it costs one mark, and one write each time.
 */

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

/* --- core/engine/output.c --- */

struct output {
	/* The step under way. */
	uint64_t now_ns;
	effect_fn fn;
	void *userdata;

	struct marks marks; /* for the checkpoint */

	bool attached; /* OBS_ATTACHED has come */
	uint64_t attached_ns;
	struct obs_attached host;

	struct record record; /* of the report under way */
};

void output_effect(struct output *out, const struct effect *effect);
/* Asks for the path of a cgroup whose record was lost. */
void output_find_cgroup(struct output *out, uint64_t id);
void output_read_counts(struct output *out, uint64_t id);
/* Corrects what the kernel half takes node for. */
void output_set_watch(struct output *out, const struct cgnode *node);
/* The record to fill in, all zero; size is that of the type's member. */
struct record *output_record(struct output *out, enum record_type type, size_t size,
			     uint64_t at_ns);
/* Writes a record's id, "<boot id>/<of>/<what>/<ns>", without "/<what>" where that is NULL. */
void output_id(const struct output *out, const char *of, const char *what, uint64_t ns,
	       char ret[static RECORD_ID_SIZE]);
/* Hands the record of output_record() to the sinks. */
void output_report(struct output *out);

/* What a checkpoint has of node's cgroup or stop is another now. */
static inline void output_changed(struct output *out, struct cgnode *node)
{
	marks_cgroup(&out->marks, node);
}

/* What a checkpoint has of a pod that is followed is another now. */
static inline void output_changed_pod(struct output *out, struct epod *pod)
{
	marks_pod(&out->marks, pod);
}

#endif
