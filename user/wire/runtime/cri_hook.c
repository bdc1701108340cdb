// SPDX-License-Identifier: Apache-2.0
/* Reads preStop hooks as the kubelet notes them at a container (newContainerAnnotations() in
 * pkg/kubelet/kuberuntime/labels.go), from where it reads them itself when it does not know the pod
 * any more (restoreSpecsFromContainerLabels() in kuberuntime_container.go). */
#include "wire/runtime/cri.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cri.pb-c.h"
#include "wire/grpc/message.h"

#define PRE_STOP "io.kubernetes.container.preStopHandler"

DEFINE_CLEANUP(json_t *, json_decref);

void cri_hook_done(struct cri_hook *hook)
{
	buf_free(&hook->args);
	*hook = (struct cri_hook){};
}

static int read_exec(const json_t *exec, struct cri_hook *ret)
{
	const json_t *command = json_object_get(exec, "command"), *arg;
	size_t i;

	if (!json_is_array(command) || json_array_size(command) == 0)
		return -EBADMSG;
	if (json_array_size(command) > CRI_HOOK_ARGS_MAX)
		return -E2BIG;
	json_array_foreach(command, i, arg) {
		if (!json_is_string(arg))
			return -EBADMSG;
		/* Jansson was not allowed to take a NUL. */
		buf_add(&ret->args, json_string_value(arg), json_string_length(arg) + 1);
	}
	ret->type = CRI_HOOK_EXEC;
	ret->n_args = json_array_size(command);
	return buf_error(&ret->args);
}

static int read_sleep(const json_t *sleep, struct cri_hook *ret)
{
	const json_t *seconds = json_object_get(sleep, "seconds");

	if (!json_is_integer(seconds) || json_integer_value(seconds) < 0)
		return -EBADMSG;
	ret->type = CRI_HOOK_SLEEP;
	ret->sleep_s = (uint64_t)json_integer_value(seconds);
	return 0;
}

/* The first handler counts, in the order of the kubelet (Run() in pkg/kubelet/lifecycle). */
static int read_handler(const json_t *handler, struct cri_hook *ret)
{
	const json_t *exec = json_object_get(handler, "exec");
	const json_t *sleep = json_object_get(handler, "sleep");

	if (json_is_object(exec))
		return read_exec(exec, ret);
	if (json_is_object(json_object_get(handler, "httpGet")))
		ret->type = CRI_HOOK_HTTP;
	else if (json_is_object(sleep))
		return read_sleep(sleep, ret);
	else if (json_is_object(json_object_get(handler, "tcpSocket")))
		ret->type = CRI_HOOK_TCP;
	else
		return -EBADMSG;
	return 0;
}

static int read_text(ProtobufCBinaryData text, struct cri_hook *ret)
{
	_cleanup_(cleanup_json_decref) json_t *handler = NULL;
	struct cri_hook hook = {};
	int r;

	if (text.len > CRI_HOOK_TEXT_MAX)
		return -E2BIG;
	handler = json_loadb((const char *)text.data, text.len, 0, NULL);
	if (!handler)
		return -EBADMSG;
	r = read_handler(handler, &hook);
	if (r < 0)
		cri_hook_done(&hook);
	else
		*ret = hook;
	return r;
}

int cri_read_hook(const void *payload, size_t len, struct cri_hook *ret)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	ProtobufCMessage *message;
	const Cri__ContainerStatus *status;
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena, &cri__container_status_response__descriptor, payload, len,
			&message);
	if (r < 0)
		return r;
	status = ((const Cri__ContainerStatusResponse *)message)->status;
	if (!status)
		return -ENOENT;
	/* The last of two pairs with one key counts. */
	for (size_t i = status->n_annotations; i-- > 0;) {
		const Cri__Pair *pair = status->annotations[i];

		if (pair->key.len == strlen(PRE_STOP) &&
		    memcmp(pair->key.data, PRE_STOP, pair->key.len) == 0)
			return read_text(pair->value, ret);
	}
	*ret = (struct cri_hook){};
	return 0;
}

int cri_read_exec(const void *payload, size_t len, int32_t *ret_code)
{
	_cleanup_(grpc_arena_done) struct grpc_arena arena;
	ProtobufCMessage *message;
	int r;

	grpc_arena_start(&arena, CRI_ITEM_MAX, CRI_MEMORY_MAX);
	r = grpc_unpack(&arena, &cri__exec_sync_response__descriptor, payload, len, &message);
	if (r < 0)
		return r;
	*ret_code = ((const Cri__ExecSyncResponse *)message)->exit_code;
	return 0;
}
