// SPDX-License-Identifier: Apache-2.0
/* The line of a pod or a container, written and read; how two compare. */
#include "wire/json/pods.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "wire/json/members.h"
#include "wire/json/record.h"
#include "wire/json/rows.h"
#include "wire/json/writer.h"

/* Order and sameness, and what follows from what is known of them. */

static const char *stage_name(bool is_container, enum pod_stage stage)
{
	if (is_container && stage == POD_STAGE_SYNC)
		return "running";
	if (is_container && stage == POD_STAGE_TERMINATING)
		return "stopping";
	return pod_stage_name(stage);
}

const char *podview_state(const struct podview *record)
{
	return record->gone ? "gone" : stage_name(record->container.known, record->stage);
}

bool podview_is_orphan(const struct podview *record)
{
	return !record->gone && record->desired_known && !record->desired &&
	       (record->running || record->sandbox_running);
}

bool podview_left(const struct podview *record, int64_t *ret_ns)
{
	if (!record->deadline_ns || record->stage != POD_STAGE_TERMINATING)
		return false;
	*ret_ns = (int64_t)(record->deadline_ns - record->at_ns);
	return true;
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

/* What goes away is what is looked for. */
static int rank_of(const struct podview *record)
{
	switch (record->stage) {
	case POD_STAGE_TERMINATING:
		return 0;
	case POD_STAGE_TERMINATED:
		return 1;
	case POD_STAGE_FINISHED:
	case POD_STAGE_FORGOTTEN:
		return 3;
	default:
		return 2;
	}
}

const char *podview_key(const struct podview *record)
{
	return record->container.known ? record->container.cgroup : record->uid;
}

int podview_order(const struct podview *a, const struct podview *b)
{
	int order = rank_of(a) - rank_of(b);

	if (order == 0)
		order = a->container.known - b->container.known;
	if (order == 0)
		order = compare_text(a->namespace_, b->namespace_);
	if (order == 0)
		order = compare_text(a->name, b->name);
	if (order == 0)
		order = compare_text(a->container.namespace_, b->container.namespace_);
	if (order == 0)
		order = compare_text(a->container.name, b->container.name);
	return order ? order : compare_text(podview_key(a), podview_key(b));
}

static bool same_names(const struct podview *a, const struct podview *b)
{
	return compare_text(a->uid, b->uid) == 0 && compare_text(a->name, b->name) == 0 &&
	       compare_text(a->namespace_, b->namespace_) == 0 &&
	       compare_text(a->workload, b->workload) == 0 &&
	       compare_text(a->workload_kind, b->workload_kind) == 0 && a->qos == b->qos;
}

static bool same_container(const struct record_container *a, const struct record_container *b)
{
	return a->known == b->known && compare_text(a->cgroup, b->cgroup) == 0 &&
	       compare_text(a->id, b->id) == 0 && compare_text(a->name, b->name) == 0 &&
	       compare_text(a->image, b->image) == 0 &&
	       compare_text(a->namespace_, b->namespace_) == 0 &&
	       compare_text(a->workload, b->workload) == 0;
}

bool podview_same(const struct podview *a, const struct podview *b)
{
	return a->gone == b->gone && a->desired_known == b->desired_known &&
	       same_container(&a->container, &b->container) && same_names(a, b) &&
	       a->stage == b->stage && a->first_ns == b->first_ns && a->since_ns == b->since_ns &&
	       a->grace_ns == b->grace_ns && a->deadline_ns == b->deadline_ns &&
	       a->containers == b->containers && a->running == b->running &&
	       a->sandbox_running == b->sandbox_running && a->desired == b->desired &&
	       a->is_static == b->is_static && a->deleting == b->deleting &&
	       a->waiting == b->waiting && a->ready_known == b->ready_known &&
	       a->ready == b->ready && a->ready_stop_ns == b->ready_stop_ns &&
	       a->discrepancies == b->discrepancies;
}

/* A pod's line, which is read leniently: what makes no sense in it is not known. */

WORDS(kind, discrepancy, enum discrepancy, DISCREPANCY_COUNT)

static bool is_pod(const struct member *m, const void *object)
{
	return !((const struct podview *)object)->container.known;
}

static void write_state(struct buf *out, const struct member *m, const void *object)
{
	jsonw_str(out, m->key, podview_state(object));
}

static int read_state(const struct member *m, const json_t *value, void *object)
{
	const char *state = json_string_value(value);
	struct podview *r = object;

	r->gone = state && strcmp(state, "gone") == 0;
	for (int i = POD_STAGE_SYNC; state && i < POD_STAGE_COUNT; i++)
		if (strcmp(state, stage_name(r->container.known, (enum pod_stage)i)) == 0)
			r->stage = (enum pod_stage)i;
	return 0;
}

static const struct member containers[] = {
	UINT(struct podview, "running", running),
	UINT(struct podview, "all", containers),
	MEMBERS_END,
};

static bool has_grace(const struct member *m, const void *object)
{
	return ((const struct podview *)object)->grace_ns;
}

static void write_left(struct buf *out, const struct member *m, const void *object)
{
	int64_t left = 0;
	bool known = podview_left(object, &left);

	jsonw_i64_if(out, m->key, known, left);
}

static const struct member grace[] = {
	SECONDS(struct podview, "seconds", grace_ns),
	UINT(struct podview, "deadline_boot_ns", deadline_ns, OPTIONAL),
	DERIVED(struct podview, "left_ns", deadline_ns, write_left),
	MEMBERS_END,
};

static void write_orphan(struct buf *out, const struct member *m, const void *object)
{
	jsonw_bool(out, m->key, podview_is_orphan(object));
}

#define DESIRED KNOWN(struct podview, desired_known)

static const struct member line[] = {
	WALL(struct podview, "time", wall_ns),
	UINT(struct podview, "boot_ns", at_ns),
	TEXT(struct podview, "node", node),
	OBJECT(struct podview, "pod", pod, parts_pod, THERE(is_pod)),
	CONTAINER(struct podview, container),
	DERIVED(struct podview, "state", stage, write_state, READ(read_state)),
	UINT(struct podview, "first_boot_ns", first_ns, OPTIONAL),
	UINT(struct podview, "since_boot_ns", since_ns, OPTIONAL),
	WITHIN("containers", containers, THERE(is_pod)),
	BOOL(struct podview, "sandbox_running", sandbox_running),
	WITHIN("grace", grace, THERE(has_grace)),
	BOOL(struct podview, "ready", ready, KNOWN(struct podview, ready_known)),
	BOOL(struct podview, "desired", desired, DESIRED),
	BOOL(struct podview, "deleting", deleting),
	BOOL(struct podview, "waiting", waiting),
	DERIVED(struct podview, "orphan", desired, write_orphan, DESIRED),
	UINT(struct podview, "ready_stop_boot_ns", ready_stop_ns, OPTIONAL),
	BITS(struct podview, "discrepancies", discrepancies, kind),
	MEMBERS_END,
};

int pods_json(struct buf *out, const struct podview *r)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "type", "pods");
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	members_write(out, line, r);
	buf_adds(out, "}\n");
	return buf_error(out);
}

int pods_json_read(const char *text, size_t size, struct arena *arena, struct podview *ret)
{
	json_auto_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(json, "type"));
	struct members_reading r = {.arena = arena};
	struct podview record = {};

	if (!type || strcmp(type, "pods") != 0)
		return -EBADMSG;
	members_read(&r, json, line, &record);
	if (r.error == -ENOMEM)
		return -ENOMEM;
	/* null is a pod that has come to no stage yet. */
	if (!podview_key(&record) || (record.stage == POD_STAGE_NONE && !record.gone &&
				      !json_is_null(json_object_get(json, "state"))))
		return -EBADMSG;
	*ret = record;
	return 0;
}
