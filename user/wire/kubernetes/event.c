// SPDX-License-Identifier: Apache-2.0
/* Writes Events within the server's bounds (ValidateEventCreate() in
 * pkg/apis/core/validation/events.go). */
#include "wire/kubernetes/event.h"

#include <stdio.h>
#include <string.h>

#include "base/rfc3339.h"
#include "wire/json/writer.h"

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
