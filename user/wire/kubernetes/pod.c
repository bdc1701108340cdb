// SPDX-License-Identifier: Apache-2.0
/* A pod's JSON from its text on, and what is said of the pod itself. */
#include "wire/kubernetes/pod.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/kubernetes/pod_priv.h"
#include "wire/kubernetes/pods_priv.h"

static const char *problem_of(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_duplicate_key:
		return "is there twice";
	case json_error_numeric_overflow:
		return "a number is too large";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text has a NUL in it";
	case json_error_stack_overflow:
		return "it is nested too deep";
	default:
		return "it is no JSON";
	}
}

/* Jansson tells the name at the end of its own words, `... near '"kind"'`. */
static void name_twice(const json_error_t *error, struct podread_error *ret)
{
	const char *near = strstr(error->text, " near '");
	size_t n;

	near = near ? near + strlen(" near '") : "a name";
	n = strlen(near);
	if (n > 0 && near[n - 1] == '\'')
		n--;
	snprintf(ret->member, sizeof(ret->member), "%.*s", (int)n, near);
}

static bool is_blank(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && strchr(" \t\r\n", text[n]) && text[n])
		n++;
	return n == size;
}

int podread_parse(const char *text, size_t size, json_t **ret, struct podread_error *ret_error)
{
	json_error_t error;
	json_t *json;

	*ret_error = (struct podread_error){.problem = "is longer than a pod can be"};
	if (size > PODREAD_TEXT_MAX)
		return -E2BIG;
	ret_error->problem = "it is empty";
	if (is_blank(text, size))
		return -EBADMSG;
	json = json_loadb(text, size,
			  JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
			  &error);
	if (!json) {
		ret_error->problem = problem_of(&error);
		ret_error->line = error.line;
		ret_error->column = error.column;
		if (json_error_code(&error) == json_error_duplicate_key)
			name_twice(&error, ret_error);
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	}
	*ret = json;
	return 0;
}

/* A static pod's object at the API is its mirror; the kubelet itself lists it without
 * (pkg/kubelet/types/pod_update.go). */
static int read_annotations(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	const json_t *annotations;
	const char *source = "api";
	int e = podread_object(r, metadata, "annotations", &annotations);

	if (e < 0 || !annotations)
		return e;
	podread_enter(r, "annotations", 0);
	e = podread_text(r, annotations, "kubernetes.io/config.source", PODREAD_NAME_MAX, &source);
	podread_leave(r);
	pod->mirror = podjson_get(annotations, "kubernetes.io/config.mirror") != NULL;
	pod->is_static = pod->mirror || strcmp(source, "api") != 0;
	return e;
}

static int read_owner(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	const json_t *owner, *list;
	int e = podread_list(r, metadata, "ownerReferences", PODREAD_ITEMS_MAX, &list);

	if (e < 0)
		return e;
	owner = podjson_controller(metadata);
	podread_enter(r, "ownerReferences", 0);
	(void)((e = podread_text(r, owner, "kind", PODREAD_NAME_MAX, &pod->owner_kind)) < 0 ||
	       (e = podread_text(r, owner, "apiVersion", PODREAD_NAME_MAX, &pod->owner_api)) < 0 ||
	       (e = podread_text(r, owner, "uid", PODREAD_NAME_MAX, &pod->owner_uid)) < 0 ||
	       (e = podread_text(r, owner, "name", PODREAD_NAME_MAX, &pod->owner)) < 0);
	podread_leave(r);
	return e;
}

static int read_metadata(struct podread *r, const json_t *metadata, struct podobj_pod *pod)
{
	int e;

	pod->deleting = podjson_get(metadata, "deletionTimestamp") != NULL;
	pod->has_deletion_grace = podjson_get(metadata, "deletionGracePeriodSeconds") != NULL;
	if ((e = podread_text(r, metadata, "namespace", PODREAD_NAME_MAX, &pod->namespace_)) < 0 ||
	    (e = podread_text(r, metadata, "name", PODREAD_NAME_MAX, &pod->name)) < 0 ||
	    (e = podread_text(r, metadata, "uid", PODREAD_NAME_MAX, &pod->uid)) < 0 ||
	    (e = podread_time(r, metadata, "deletionTimestamp", &pod->deleted_wall_ns)) < 0 ||
	    (e = podread_integer(r, metadata, "deletionGracePeriodSeconds", INT64_MIN, INT64_MAX,
				 &pod->deletion_grace_s)) < 0 ||
	    (e = read_annotations(r, metadata, pod)) < 0)
		return e;
	return read_owner(r, metadata, pod);
}

static int read_pod_status(struct podread *r, const json_t *status, struct podobj_pod *pod)
{
	int e = podread_time(r, status, "startTime", &pod->start_wall_ns);

	return e < 0 ? e : podread_status_in(r, status, &pod->status);
}

int podread_pod(const json_t *json, struct arena *arena, struct podobj_pod *ret,
		struct podread_error *ret_error)
{
	static const struct {
		const char *key;
		int (*read)(struct podread *r, const json_t *json, struct podobj_pod *pod);
	} parts[] = {
		{"metadata", read_metadata},
		{"spec", podread_spec},
		{"status", read_pod_status},
	};
	static const char *const kinds[] = {"Pod", NULL};
	struct podread r = {.arena = arena, .error = ret_error};
	const json_t *kind = podjson_get(json, "kind");
	struct podobj_pod pod;

	podobj_init(&pod);
	if (!json_is_object(json))
		return podread_fail(&r, NULL, "is not an object");
	if (kind && !podjson_word(kind, kinds))
		return podread_fail(&r, "kind", "is not Pod");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *part;
		int e = podread_object(&r, json, parts[i].key, &part);

		if (e == 0 && !part && i < 2)
			return podread_fail(&r, parts[i].key, "is missing");
		podread_enter(&r, parts[i].key, 0);
		if (e == 0)
			e = parts[i].read(&r, part, &pod);
		podread_leave(&r);
		if (e < 0)
			return e;
	}
	*ret = pod;
	return 0;
}
