// SPDX-License-Identifier: Apache-2.0
/* Questions to a container runtime, framed for gRPC, and the names of what is asked. */
#include "wire/runtime/cri.h"

#include <errno.h>
#include <string.h>

#include "wire/runtime/cri_priv.h"

enum need { NO_KEY, MAY_KEY, MUST_KEY };

static const struct {
	const char *path[CRI_VERSION_COUNT];
	enum need key;
} METHODS[] = {
#define BOTH(call)                                              \
	{                                                       \
		"/runtime.v1." call, "/runtime.v1alpha2." call, \
	}
	[CRI_VERSION] = {BOTH("RuntimeService/Version"), NO_KEY},
	[CRI_SANDBOXES] = {BOTH("RuntimeService/ListPodSandbox"), MAY_KEY},
	[CRI_CONTAINERS] = {BOTH("RuntimeService/ListContainers"), MAY_KEY},
	[CRI_STATUS] = {BOTH("RuntimeService/ContainerStatus"), MUST_KEY},
	[CRI_IMAGE_STATUS] = {BOTH("ImageService/ImageStatus"), MUST_KEY},
	[CRI_EVENTS] = {BOTH("RuntimeService/GetContainerEvents"), NO_KEY},
#undef BOTH
};

const char *cri_version_name(enum cri_version version)
{
	static const char *const names[CRI_VERSION_COUNT] = {"v1", "v1alpha2"};

	return (unsigned int)version < CRI_VERSION_COUNT ? names[version] : NULL;
}

const char *cri_method_path(enum cri_version version, enum cri_method method)
{
	if ((unsigned int)version >= CRI_VERSION_COUNT || (unsigned int)method >= CRI_METHOD_COUNT)
		return NULL;
	return METHODS[method].path[version];
}

/* Adds the message behind gRPC's prefix: no compression, and the length, highest byte first. */
static int add_framed(struct buf *buf, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	char *at = buf_reserve(buf, size + 5);

	if (!at)
		return buf_error(buf);
	at[0] = 0;
	for (int i = 0; i < 4; i++)
		at[1 + i] = (char)(size >> (24 - 8 * i) & 0xff);
	protobuf_c_message_pack(message, (uint8_t *)at + 5);
	buf_commit(buf, size + 5);
	return 0;
}

static int add_list(struct buf *buf, ProtobufCBinaryData key)
{
	Cri__Filter filter = CRI__FILTER__INIT;
	Cri__ListRequest request = CRI__LIST_REQUEST__INIT;

	filter.id = key;
	if (key.len > 0)
		request.filter = &filter;
	return add_framed(buf, &request.base);
}

static int add_status(struct buf *buf, ProtobufCBinaryData key)
{
	Cri__ContainerStatusRequest request = CRI__CONTAINER_STATUS_REQUEST__INIT;

	request.container_id = key;
	return add_framed(buf, &request.base);
}

static int add_image(struct buf *buf, ProtobufCBinaryData key)
{
	Cri__ImageSpec image = CRI__IMAGE_SPEC__INIT;
	Cri__ImageStatusRequest request = CRI__IMAGE_STATUS_REQUEST__INIT;

	image.image = key;
	request.image = &image;
	request.verbose = true;
	return add_framed(buf, &request.base);
}

int cri_ask(struct buf *buf, enum cri_method method, const char *key)
{
	ProtobufCBinaryData bytes = {.len = key ? strlen(key) : 0, .data = (uint8_t *)key};

	if ((unsigned int)method >= CRI_METHOD_COUNT || bytes.len >= CRI_KEY_MAX)
		return -EINVAL;
	/* An empty filter would mean all, which is not what was asked. */
	if (key && (METHODS[method].key == NO_KEY || bytes.len == 0))
		return -EINVAL;
	if (!key && METHODS[method].key == MUST_KEY)
		return -EINVAL;
	if (METHODS[method].key == MAY_KEY)
		return add_list(buf, bytes);
	if (method == CRI_STATUS)
		return add_status(buf, bytes);
	if (method == CRI_IMAGE_STATUS)
		return add_image(buf, bytes);
	return add_list(buf, (ProtobufCBinaryData){});
}
