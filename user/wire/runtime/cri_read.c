// SPDX-License-Identifier: Apache-2.0
/* Reads a container runtime's answers that are one message. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signame.h"
#include "wire/runtime/cri_priv.h"

/* A JSON value of two bytes takes a hundred times as many in memory, and an image's author chooses
 * how many there are; real configurations have hundreds. */
#define JSON_VALUES_MAX 16384

DEFINE_CLEANUP(json_t *, json_decref);

int cri_read_version(const void *payload, size_t len, struct cri_runtime *ret)
{
	_cleanup_(cri_arena_done) struct cri_arena arena;
	ProtobufCMessage *message;
	const Cri__VersionResponse *version;
	struct cri_runtime runtime;
	int r;

	cri_arena_start(&arena);
	r = cri_unpack(&arena, &cri__version_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	version = (const Cri__VersionResponse *)message;
	cri_text_cut(version->runtime_name, runtime.name, sizeof(runtime.name));
	cri_text_cut(version->runtime_version, runtime.version, sizeof(runtime.version));
	cri_text_cut(version->runtime_api_version, runtime.api, sizeof(runtime.api));
	*ret = runtime;
	return 0;
}

int cri_read_status(const void *payload, size_t len, struct cri_item *ret)
{
	_cleanup_(cri_arena_done) struct cri_arena arena;
	ProtobufCMessage *message;
	const Cri__ContainerStatusResponse *response;
	int r;

	cri_arena_start(&arena);
	r = cri_unpack(&arena, &cri__container_status_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	response = (const Cri__ContainerStatusResponse *)message;
	if (!response->status)
		return -ENOENT;
	return cri_item_status(response->status, ret) ? 0 : -EBADMSG;
}

/* --- images ---------------------------------------------------------------------------------- */

/* No document has more values than it has marks that can begin or separate some. */
static bool has_few_values(ProtobufCBinaryData json)
{
	size_t marks = 0;

	for (size_t i = 0; i < json.len; i++)
		marks += json.data[i] == '{' || json.data[i] == '[' || json.data[i] == ',';
	return marks <= JSON_VALUES_MAX;
}

static int read_signal(const json_t *value, uint32_t *ret_signal)
{
	const char *text = json_string_value(value);

	if (!value || (text && json_string_length(value) == 0)) {
		*ret_signal = 0;
		return 0;
	}
	if (!text || strlen(text) != json_string_length(value))
		return -EBADMSG;
	return signame_parse(text, ret_signal) < 0 ? -EBADMSG : 0;
}

int cri_read_image(const void *payload, size_t len, uint32_t *ret_signal)
{
	_cleanup_(cri_arena_done) struct cri_arena arena;
	_cleanup_(cleanup_json_decref) json_t *info = NULL;
	ProtobufCMessage *message;
	const Cri__ImageStatusResponse *response;
	ProtobufCBinaryData text;
	const json_t *config;
	bool found;
	int r;

	cri_arena_start(&arena);
	r = cri_unpack(&arena, &cri__image_status_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	response = (const Cri__ImageStatusResponse *)message;
	text = cri_map_find((struct cri_map){response->n_info, response->info}, "info", &found);
	if (response->image.len == 0 || !found)
		return -ENOENT;
	if (!has_few_values(text))
		return -EMSGSIZE;
	/* Other strings of the image's may hold what they want. */
	info = json_loadb((const char *)text.data, text.len, JSON_ALLOW_NUL, NULL);
	if (!info)
		return -EBADMSG;
	config = json_object_get(json_object_get(info, "imageSpec"), "config");
	if (!json_is_object(config))
		return -ENOENT;
	return read_signal(json_object_get(config, "StopSignal"), ret_signal);
}

/* --- events ---------------------------------------------------------------------------------- */

static int read_sandbox(const Cri__ContainerEventResponse *event, const char *node,
			struct cri_arena *arena, struct cri_event *ret)
{
	ProtobufCMessage *message;
	int r;

	if (event->pod_sandbox_status.len == 0)
		return 0;
	r = cri_unpack(arena, &cri__pod_sandbox_status__descriptor, event->pod_sandbox_status.data,
		       event->pod_sandbox_status.len, &message);
	if (r < 0)
		return r;
	ret->has_sandbox = cri_item_sandbox_status((const Cri__PodSandboxStatus *)message, node,
						   &ret->sandbox);
	return 0;
}

/* The status of the container that the event is about, among those of its whole pod. */
static int read_container(const Cri__ContainerEventResponse *event, struct cri_arena *arena,
			  struct cri_event *ret)
{
	ProtobufCMessage *message;
	struct cri_item item;
	int r;

	for (size_t i = 0; i < event->n_containers_statuses && !ret->has_container; i++) {
		r = cri_unpack(arena, &cri__container_status__descriptor,
			       event->containers_statuses[i].data,
			       event->containers_statuses[i].len, &message);
		if (r < 0)
			return r;
		if (!cri_item_status((const Cri__ContainerStatus *)message, &item) ||
		    strcmp(item.container.id, ret->id) != 0)
			continue;
		ret->has_container = true;
		ret->container = item;
		if (ret->has_sandbox)
			memcpy(ret->container.sandbox_id, ret->sandbox.sandbox_id,
			       sizeof(ret->sandbox.sandbox_id));
	}
	return 0;
}

int cri_read_event(const void *payload, size_t len, const char *node, struct cri_event *ret)
{
	_cleanup_(cri_arena_done) struct cri_arena arena, inner;
	ProtobufCMessage *message;
	const Cri__ContainerEventResponse *response;
	struct cri_event event = {};
	int r;

	cri_arena_start(&arena);
	cri_arena_start(&inner);
	r = cri_unpack(&arena, &cri__container_event_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	response = (const Cri__ContainerEventResponse *)message;
	if (!cri_id_take(response->container_id, event.id) ||
	    response->container_event_type > CRI_EVENT_DELETED)
		return -EBADMSG;
	event.type = (enum cri_event_type)response->container_event_type;
	event.wall_ns = response->created_at > 0 ? response->created_at : 0;
	r = read_sandbox(response, node, &inner, &event);
	if (r == 0)
		r = read_container(response, &inner, &event);
	if (r < 0)
		return r;
	*ret = event;
	return 0;
}
