// SPDX-License-Identifier: Apache-2.0
/* Questions to a container runtime. */
#include "wire/runtime/cri.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cri.pb-c.h"
#include "wire/grpc/message.h"

enum need { NO_KEY, MAY_KEY, MUST_KEY, OWN_QUESTION };

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
	[CRI_STOP] = {BOTH("RuntimeService/StopContainer"), OWN_QUESTION},
	[CRI_EXEC] = {BOTH("RuntimeService/ExecSync"), OWN_QUESTION},
	[CRI_STOP_SANDBOX] = {BOTH("RuntimeService/StopPodSandbox"), MUST_KEY},
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

static int add_list(struct buf *buf, ProtobufCBinaryData key)
{
	Cri__Filter filter = CRI__FILTER__INIT;
	Cri__ListRequest request = CRI__LIST_REQUEST__INIT;

	filter.id = key;
	if (key.len > 0)
		request.filter = &filter;
	return grpc_add_message(buf, &request.base);
}

/* ContainerStatusRequest and StopPodSandboxRequest have the ID in one place. */
static int add_status(struct buf *buf, ProtobufCBinaryData key)
{
	Cri__ContainerStatusRequest request = CRI__CONTAINER_STATUS_REQUEST__INIT;

	request.container_id = key;
	return grpc_add_message(buf, &request.base);
}

static int add_image(struct buf *buf, ProtobufCBinaryData key)
{
	Cri__ImageSpec image = CRI__IMAGE_SPEC__INIT;
	Cri__ImageStatusRequest request = CRI__IMAGE_STATUS_REQUEST__INIT;

	image.image = key;
	request.image = &image;
	request.verbose = true;
	return grpc_add_message(buf, &request.base);
}

int cri_request(struct buf *buf, enum cri_method method, const char *key)
{
	ProtobufCBinaryData bytes = {.len = key ? strlen(key) : 0, .data = (uint8_t *)key};

	if ((unsigned int)method >= CRI_METHOD_COUNT || bytes.len >= CRI_KEY_MAX)
		return -EINVAL;
	/* An empty filter would mean all, which is not what was asked. */
	if (key && (METHODS[method].key == NO_KEY || bytes.len == 0))
		return -EINVAL;
	if (METHODS[method].key == OWN_QUESTION || (!key && METHODS[method].key == MUST_KEY))
		return -EINVAL;
	if (METHODS[method].key == MAY_KEY)
		return add_list(buf, bytes);
	if (method == CRI_STATUS || method == CRI_STOP_SANDBOX)
		return add_status(buf, bytes);
	if (method == CRI_IMAGE_STATUS)
		return add_image(buf, bytes);
	return add_list(buf, (ProtobufCBinaryData){});
}

int cri_request_stop(struct buf *buf, const char *id, uint64_t timeout_s)
{
	Cri__StopContainerRequest request = CRI__STOP_CONTAINER_REQUEST__INIT;
	size_t len = strlen(id);

	if (len == 0 || len >= CRI_KEY_MAX || timeout_s > INT64_MAX)
		return -EINVAL;
	request.container_id = (ProtobufCBinaryData){.len = len, .data = (uint8_t *)id};
	request.timeout = (int64_t)timeout_s;
	return grpc_add_message(buf, &request.base);
}

int cri_request_exec(struct buf *buf, const char *id, const char *args, size_t n)
{
	Cri__ExecSyncRequest request = CRI__EXEC_SYNC_REQUEST__INIT;
	ProtobufCBinaryData *cmd;
	size_t len = strlen(id);
	int r;

	if (len == 0 || len >= CRI_KEY_MAX || n == 0)
		return -EINVAL;
	cmd = calloc(n, sizeof(*cmd));
	if (!cmd)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		cmd[i] = (ProtobufCBinaryData){.len = strlen(args), .data = (uint8_t *)args};
		args += cmd[i].len + 1;
	}
	request.container_id = (ProtobufCBinaryData){.len = len, .data = (uint8_t *)id};
	request.n_cmd = n;
	request.cmd = cmd;
	r = grpc_add_message(buf, &request.base);
	free(cmd);
	return r;
}
