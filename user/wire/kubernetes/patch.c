// SPDX-License-Identifier: Apache-2.0
/* Writes patches of the API's objects. */
#include "wire/kubernetes/patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "wire/json/writer.h"
#include "wire/kubernetes/pod.h"
#include "wire/kubernetes/rows.h"

/* The object may be another by now, or be changed: both are refused with 409. */
static json_t *make_metadata(const json_t *object)
{
	const json_t *metadata = apijson_get(object, "metadata");
	const char *uid = json_string_value(apijson_get(metadata, "uid"));
	const char *version = json_string_value(apijson_get(metadata, "resourceVersion"));

	return uid && *uid && version && *version
		       ? json_pack("{s:s, s:s}", "uid", uid, "resourceVersion", version)
		       : NULL;
}

static int print(const json_t *patch, struct buf *out)
{
	char *text = json_dumps(patch, JSON_COMPACT);

	if (!text)
		return -ENOMEM;
	buf_adds(out, text);
	free(text);
	return buf_error(out);
}

/* --- a pod's status ----------------------------------------------------------------------------- */

static json_t *find_named(const json_t *list, const char *key, const json_t *of)
{
	const char *name = json_string_value(json_object_get(of, key));
	const char *other;

	for (size_t i = 0; name && i < json_array_size(list); i++) {
		json_t *item = json_array_get(list, i);

		other = json_string_value(json_object_get(item, key));
		if (other && strcmp(other, name) == 0)
			return item;
	}
	return NULL;
}

/* Lists of container statuses are replaced whole: what a newer API has in them stays. */
static int overlay_containers(const json_t *was, json_t *made)
{
	for (size_t i = 0; i < json_array_size(made); i++) {
		json_t *item = json_array_get(made, i), *old = find_named(was, "name", item);
		json_t *both = old ? json_deep_copy(old) : NULL;

		if (!old)
			continue;
		if (!both)
			return -ENOMEM;
		if (json_object_update(both, item) < 0 || json_array_set_new(made, i, both) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const char *x = json_string_value(json_object_get(a, key));
	const char *y = json_string_value(json_object_get(b, key));

	return strcmp(x ? x : "", y ? y : "") == 0;
}

static bool same_condition(const json_t *a, const json_t *b)
{
	return same_member(a, b, "status") && same_member(a, b, "reason") &&
	       same_member(a, b, "message");
}

/* The API merges this list by the type of each, and so leaves alone what another writes. */
static void drop_unchanged(const json_t *was, json_t *made)
{
	for (size_t i = json_array_size(made); i > 0; i--) {
		json_t *item = json_array_get(made, i - 1), *old = find_named(was, "type", item);

		if (old && same_condition(old, item))
			json_array_remove(made, i - 1);
	}
}

/* A member that the new status does not have is removed by a null. */
static int clear_absent(const json_t *was, json_t *made, const char *key)
{
	if (!json_object_get(was, key) || json_object_get(made, key))
		return 0;
	return json_object_set_new(made, key, json_null());
}

static int overlay_status(const json_t *was, json_t *made)
{
	static const char *const lists[] = {"initContainerStatuses", "containerStatuses",
					    "ephemeralContainerStatuses"};
	json_t *conditions = json_object_get(made, "conditions");

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (overlay_containers(apijson_get(was, lists[i]), json_object_get(made, lists[i])))
			return -ENOMEM;
	drop_unchanged(apijson_get(was, "conditions"), conditions);
	if (json_array_size(conditions) == 0)
		json_object_del(made, "conditions");
	if (clear_absent(was, made, "reason") < 0 || clear_absent(was, made, "message") < 0)
		return -ENOMEM;
	return 0;
}

/* The status as JSON. NULL: no memory. */
static json_t *make_status(const struct podobj_pod_status *status)
{
	_cleanup_(buf_free) struct buf text = {};

	podwrite_status(&text, NULL, status);
	return buf_error(&text) ? NULL : json_loadb(text.data, text.len, 0, NULL);
}

int apipatch_pod_status(const json_t *pod, const struct podobj_pod_status *status, struct buf *out)
{
	json_auto_t *metadata = make_metadata(pod), *patch = NULL;
	json_auto_t *made = NULL;
	const json_t *was = apijson_get(pod, "status");

	if (!metadata)
		return -EINVAL;
	made = make_status(status);
	if (!made || overlay_status(was, made) < 0)
		return -ENOMEM;
	patch = json_pack("{s:O, s:O}", "metadata", metadata, "status", made);
	return patch ? print(patch, out) : -ENOMEM;
}

/* --- a node's taint ----------------------------------------------------------------------------- */

const struct apipatch_taint_kind apipatch_taints[APIPATCH_TAINTS] = {
	[APIPATCH_OUT_OF_SERVICE] = {"node.kubernetes.io/out-of-service", "nodeshutdown",
				     "NoExecute", "graced.io/out-of-service-boot"},
	[APIPATCH_SHUTDOWN] = {"graced.io/node-shutdown", NULL, "NoSchedule",
			       "graced.io/node-shutdown-boot"},
};

static bool is_it(const json_t *taint, const struct apipatch_taint_kind *kind)
{
	const char *key = json_string_value(json_object_get(taint, "key"));

	return key && strcmp(key, kind->key) == 0;
}

static const json_t *find_taint(const json_t *taints, const struct apipatch_taint_kind *kind)
{
	for (size_t i = 0; i < json_array_size(taints); i++)
		if (is_it(json_array_get(taints, i), kind))
			return json_array_get(taints, i);
	return NULL;
}

/* The list is replaced whole: the others stay in it. NULL: no memory. */
static json_t *make_taints(const json_t *taints, const struct apipatch_taint_kind *kind, bool set)
{
	json_t *made = json_array();
	int r = made ? 0 : -1;

	for (size_t i = 0; r == 0 && i < json_array_size(taints); i++)
		if (!is_it(json_array_get(taints, i), kind))
			r = json_array_append(made, json_array_get(taints, i));
	if (r == 0 && set)
		r = json_array_append_new(made,
					  json_pack("{s:s, s:s*, s:s}", "key", kind->key, "value",
						    kind->value, "effect", kind->effect));
	if (r == 0)
		return made;
	json_decref(made);
	return NULL;
}

int apipatch_node_taint(const json_t *node, enum apipatch_taint which, const char *boot,
			struct buf *out)
{
	const struct apipatch_taint_kind *kind = &apipatch_taints[which];
	json_auto_t *metadata = make_metadata(node), *patch = NULL;
	json_auto_t *taints = NULL, *notes = NULL;
	const json_t *was = apijson_get(apijson_get(node, "spec"), "taints");
	const json_t *note =
		apijson_get(apijson_get(apijson_get(node, "metadata"), "annotations"), kind->note);

	if (!metadata)
		return -EINVAL;
	/* Without the annotation the taint is an operator's. */
	if (boot ? find_taint(was, kind) != NULL : note == NULL)
		return 0;
	taints = make_taints(was, kind, boot != NULL);
	notes = json_pack("{s:s?}", kind->note, boot);
	if (!taints || !notes || json_object_set(metadata, "annotations", notes) < 0)
		return -ENOMEM;
	patch = json_pack("{s:O, s:{s:O}}", "metadata", metadata, "spec", "taints", taints);
	if (!patch)
		return -ENOMEM;
	return print(patch, out) < 0 ? -ENOMEM : 1;
}

void apipatch_read_node(const json_t *node, struct death_node *ret)
{
	const json_t *status = apijson_get(node, "status");
	const json_t *conditions = apijson_get(status, "conditions");
	const json_t *condition;
	size_t i;

	*ret = (struct death_node){
		.boot = json_string_value(apijson_get(apijson_get(status, "nodeInfo"), "bootID"))};
	json_array_foreach(conditions, i, condition) {
		const char *type = json_string_value(apijson_get(condition, "type"));
		const char *is = json_string_value(apijson_get(condition, "status"));

		ret->ready |= type && strcmp(type, "Ready") == 0 && is && strcmp(is, "True") == 0;
	}
}

/* --- Events ----------------------------------------------------------------------------------- */

#define INSTANCE_MAX 128

void eventjson_add_paths(const struct eventlist_item *item, struct buf *ret_create,
			 struct buf *ret_object)
{
	buf_printf(ret_create, "/apis/events.k8s.io/v1/namespaces/%s/events", item->namespace_);
	buf_printf(ret_object, "%s/%s", buf_str(ret_create), item->name);
}

/* MicroTime: six decimals. */
static void add_time(struct buf *out, const char *key, int64_t wall_ns)
{
	char text[RFC3339_SIZE];

	rfc3339_format(wall_ns, text);
	strcpy(strchr(text, '.') + 7, "Z");
	jsonw_str(out, key, text);
}

static void add_regarding(struct buf *out, const struct event *e)
{
	char path[EVENT_LABEL_MAX + 20];

	jsonw_object(out, "regarding");
	jsonw_str(out, "apiVersion", "v1");
	jsonw_str(out, "kind", e->of_node ? "Node" : "Pod");
	if (!e->of_node)
		jsonw_str(out, "namespace", e->namespace_);
	jsonw_str(out, "name", e->name);
	jsonw_str(out, "uid", e->uid);
	if (e->container[0]) {
		snprintf(path, sizeof(path), "spec.containers{%s}", e->container);
		jsonw_str(out, "fieldPath", path);
	}
	jsonw_object_end(out);
}

void eventjson_add(struct buf *out, const struct event *e, const struct eventlist_item *item,
		   const char *node)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "apiVersion", "events.k8s.io/v1");
	jsonw_str(out, "kind", "Event");
	jsonw_object(out, "metadata");
	jsonw_str(out, "namespace", item->namespace_);
	jsonw_str(out, "name", item->name);
	jsonw_object_end(out);
	add_time(out, "eventTime", e->wall_ns);
	jsonw_str(out, "reportingController", EVENTJSON_CONTROLLER);
	jsonw_strn(out, "reportingInstance", node, strnlen(node, INSTANCE_MAX));
	jsonw_str(out, "action", e->action);
	jsonw_str(out, "reason", e->reason);
	jsonw_str(out, "type", e->warning ? "Warning" : "Normal");
	jsonw_str(out, "note", e->note);
	add_regarding(out, e);
	jsonw_object_end(out);
}

void eventjson_add_series(struct buf *out, const struct eventlist_item *item)
{
	jsonw_object(out, NULL);
	jsonw_object(out, "series");
	jsonw_u64(out, "count", item->count);
	add_time(out, "lastObservedTime", item->last_wall_ns);
	jsonw_object_end(out);
	jsonw_object_end(out);
}
