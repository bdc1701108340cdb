// SPDX-License-Identifier: Apache-2.0
/* A pod's line, written and read; how two compare. */
#include "wire/json/pods.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "core/kubelet/pod.h"
#include "wire/json/parts.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

void discrepancy_json_names(struct buf *out, const char *key, uint32_t bits)
{
	jsonw_array(out, key);
	for (int kind = 0; kind < DISCREPANCY_COUNT; kind++)
		if (bits & DISCREPANCY_BIT(kind))
			jsonw_str(out, NULL, discrepancy_name((enum discrepancy)kind));
	jsonw_array_end(out);
}

/* Order and sameness of pods, and what follows from what is known of them. */

const char *pods_record_state(const struct pods_record *record)
{
	return record->gone ? "gone" : pod_stage_name(record->view.stage);
}

bool pods_record_is_orphan(const struct pods_record *record)
{
	const struct podview *v = &record->view;

	return !record->gone && record->desired_known && !v->desired &&
	       (v->running || v->sandbox_running);
}

bool pods_record_left(const struct pods_record *record, int64_t *ret_ns)
{
	if (!record->view.deadline_ns || record->view.stage != POD_STAGE_TERMINATING)
		return false;
	*ret_ns = (int64_t)(record->view.deadline_ns - record->at_ns);
	return true;
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

/* What goes away is what is looked for. */
static int rank_of(const struct pods_record *record)
{
	switch (record->view.stage) {
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

int pods_record_order(const struct pods_record *a, const struct pods_record *b)
{
	int order = rank_of(a) - rank_of(b);

	if (order == 0)
		order = compare_text(a->view.namespace_, b->view.namespace_);
	if (order == 0)
		order = compare_text(a->view.name, b->view.name);
	return order ? order : compare_text(a->view.uid, b->view.uid);
}

static bool same_names(const struct podview *a, const struct podview *b)
{
	return compare_text(a->uid, b->uid) == 0 && compare_text(a->name, b->name) == 0 &&
	       compare_text(a->namespace_, b->namespace_) == 0 &&
	       compare_text(a->workload, b->workload) == 0 &&
	       compare_text(a->workload_kind, b->workload_kind) == 0 && a->qos == b->qos;
}

bool pods_record_same(const struct pods_record *first, const struct pods_record *second)
{
	const struct podview *a = &first->view, *b = &second->view;

	return first->gone == second->gone && first->desired_known == second->desired_known &&
	       same_names(a, b) && a->stage == b->stage && a->first_ns == b->first_ns &&
	       a->since_ns == b->since_ns && a->grace_ns == b->grace_ns &&
	       a->deadline_ns == b->deadline_ns && a->containers == b->containers &&
	       a->running == b->running && a->sandbox_running == b->sandbox_running &&
	       a->desired == b->desired && a->is_static == b->is_static &&
	       a->deleting == b->deleting && a->waiting == b->waiting &&
	       a->ready_known == b->ready_known && a->ready == b->ready &&
	       a->ready_stop_ns == b->ready_stop_ns && a->discrepancies == b->discrepancies;
}

/* Writes the line of a pod, and reads back those members that `graced pods` shows. */

#define GRACE_MAX_S   1000000000.0
#define NS_DECIMALS   9
#define CONTAINER_MAX UINT32_MAX

DEFINE_CLEANUP(json_t *, json_decref);

static void add_head(struct buf *out, const struct pods_record *r)
{
	const struct podview *v = &r->view;
	const struct record_pod pod = {.known = true,
				       .namespace_ = v->namespace_,
				       .name = v->name,
				       .uid = v->uid,
				       .workload = v->workload,
				       .workload_kind = v->workload_kind,
				       .qos = v->qos,
				       .is_static = v->is_static};
	char time[RFC3339_SIZE];

	jsonw_str(out, "type", "pods");
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	jsonw_str(out, "time", rfc3339_format(r->wall_ns, time));
	jsonw_u64(out, "boot_ns", r->at_ns);
	jsonw_str(out, "node", r->node);
	members_write_object(out, "pod", parts_pod, &pod);
}

static void add_grace(struct buf *out, const struct pods_record *r)
{
	int64_t left;

	if (!r->view.grace_ns) {
		jsonw_null(out, "grace");
		return;
	}
	jsonw_object(out, "grace");
	jsonw_decimal(out, "seconds", r->view.grace_ns, NS_DECIMALS);
	jsonw_time(out, "deadline_boot_ns", r->view.deadline_ns);
	if (pods_record_left(r, &left))
		jsonw_i64(out, "left_ns", left);
	else
		jsonw_null(out, "left_ns");
	jsonw_object_end(out);
}

static void add_bool(struct buf *out, const char *key, bool known, bool value)
{
	if (known)
		jsonw_bool(out, key, value);
	else
		jsonw_null(out, key);
}

int pods_json(struct buf *out, const struct pods_record *r)
{
	const struct podview *v = &r->view;

	jsonw_object(out, NULL);
	add_head(out, r);
	jsonw_str(out, "state", pods_record_state(r));
	jsonw_time(out, "first_boot_ns", v->first_ns);
	jsonw_time(out, "since_boot_ns", v->since_ns);
	jsonw_object(out, "containers");
	jsonw_u64(out, "running", v->running);
	jsonw_u64(out, "all", v->containers);
	jsonw_object_end(out);
	jsonw_bool(out, "sandbox_running", v->sandbox_running);
	add_grace(out, r);
	add_bool(out, "ready", v->ready_known, v->ready);
	add_bool(out, "desired", r->desired_known, v->desired);
	jsonw_bool(out, "deleting", v->deleting);
	jsonw_bool(out, "waiting", v->waiting);
	add_bool(out, "orphan", r->desired_known, pods_record_is_orphan(r));
	jsonw_time(out, "ready_stop_boot_ns", v->ready_stop_ns);
	discrepancy_json_names(out, "discrepancies", v->discrepancies);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}

/* NULL for what is no text; false when memory is out. */
static bool read_text(const json_t *object, const char *key, struct arena *arena, const char **ret)
{
	const char *text = json_string_value(json_object_get(object, key));

	*ret = text ? arena_strdup(arena, text) : NULL;
	return !text || *ret;
}

/* What is no number that fits is 0: not known. */
static uint64_t read_number(const json_t *object, const char *key, uint64_t most)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && (uint64_t)value <= most ? (uint64_t)value : 0;
}

static enum cgpath_qos read_qos(const json_t *pod)
{
	static const enum cgpath_qos all[] = {CGPATH_QOS_GUARANTEED, CGPATH_QOS_BURSTABLE,
					      CGPATH_QOS_BESTEFFORT};
	const char *name = json_string_value(json_object_get(pod, "qos"));

	for (size_t i = 0; name && i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(name, cgpath_qos_name(all[i])) == 0)
			return all[i];
	return CGPATH_QOS_UNKNOWN;
}

static int read_pod(const json_t *pod, struct arena *arena, struct podview *ret)
{
	if (!read_text(pod, "namespace", arena, &ret->namespace_) ||
	    !read_text(pod, "name", arena, &ret->name) ||
	    !read_text(pod, "uid", arena, &ret->uid) ||
	    !read_text(pod, "workload", arena, &ret->workload) ||
	    !read_text(pod, "workload_kind", arena, &ret->workload_kind))
		return -ENOMEM;
	ret->qos = read_qos(pod);
	ret->is_static = json_is_true(json_object_get(pod, "static"));
	return ret->uid ? 0 : -EBADMSG;
}

/* null is a pod that has come to no stage yet. */
static int read_state(const json_t *line, struct pods_record *ret)
{
	const json_t *member = json_object_get(line, "state");
	const char *state = json_string_value(member);

	if (!state)
		return json_is_null(member) ? 0 : -EBADMSG;
	ret->gone = strcmp(state, "gone") == 0;
	for (int i = POD_STAGE_SYNC; i < POD_STAGE_COUNT; i++) {
		if (strcmp(state, pod_stage_name((enum pod_stage)i)) != 0)
			continue;
		ret->view.stage = (enum pod_stage)i;
		return 0;
	}
	return ret->gone ? 0 : -EBADMSG;
}

/* Names of kinds that are not known here are left out. */
static uint32_t read_discrepancies(const json_t *names)
{
	uint32_t bits = 0;
	const json_t *one;
	size_t i;

	json_array_foreach(names, i, one) {
		const char *name = json_string_value(one);
		enum discrepancy kind = name ? discrepancy_named(name) : DISCREPANCY_COUNT;

		if (kind != DISCREPANCY_COUNT)
			bits |= DISCREPANCY_BIT(kind);
	}
	return bits;
}

static void read_view(const json_t *line, struct podview *ret)
{
	const json_t *containers = json_object_get(line, "containers");
	const json_t *grace = json_object_get(line, "grace");
	const json_t *ready = json_object_get(line, "ready");
	double seconds = json_number_value(json_object_get(grace, "seconds"));

	ret->first_ns = read_number(line, "first_boot_ns", INT64_MAX);
	ret->since_ns = read_number(line, "since_boot_ns", INT64_MAX);
	ret->containers = (uint32_t)read_number(containers, "all", CONTAINER_MAX);
	ret->running = (uint32_t)read_number(containers, "running", CONTAINER_MAX);
	ret->sandbox_running = json_is_true(json_object_get(line, "sandbox_running"));
	if (seconds > 0 && seconds <= GRACE_MAX_S)
		ret->grace_ns = (uint64_t)(seconds * NS_PER_S + 0.5);
	ret->deadline_ns = read_number(grace, "deadline_boot_ns", INT64_MAX);
	ret->ready_known = json_is_boolean(ready);
	ret->ready = json_is_true(ready);
	ret->desired = json_is_true(json_object_get(line, "desired"));
	ret->deleting = json_is_true(json_object_get(line, "deleting"));
	ret->waiting = json_is_true(json_object_get(line, "waiting"));
	ret->ready_stop_ns = read_number(line, "ready_stop_boot_ns", INT64_MAX);
	ret->discrepancies = read_discrepancies(json_object_get(line, "discrepancies"));
}

static int read_line(const json_t *line, struct arena *arena, struct pods_record *ret)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	int r;

	if (!type || strcmp(type, "pods") != 0)
		return -EBADMSG;
	r = read_pod(json_object_get(line, "pod"), arena, &ret->view);
	if (r < 0)
		return r;
	ret->at_ns = read_number(line, "boot_ns", INT64_MAX);
	if (!read_text(line, "node", arena, &ret->node))
		return -ENOMEM;
	ret->desired_known = json_is_boolean(json_object_get(line, "desired"));
	read_view(line, &ret->view);
	return read_state(line, ret);
}

int pods_json_read(const char *text, size_t size, struct arena *arena, struct pods_record *ret)
{
	_cleanup_(cleanup_json_decref) json_t *line =
		json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
	struct pods_record record = {};
	int r = read_line(line, arena, &record);

	if (r == 0)
		*ret = record;
	return r;
}
