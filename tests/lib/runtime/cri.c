// SPDX-License-Identifier: Apache-2.0
// Ask a container runtime to make and end pods, by gRPC over its socket.
#include "lib/runtime/cri.h"

#include "lib/box/page.h"
#include "lib/patience.h"
#include "lib/runtime/grpc.h"

#include "base/buf.h"
#include "wire/runtime/cri.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE "/runtime.v1.RuntimeService/"

/* NamespaceMode */
#define CONTAINER 1
#define NODE	  2

struct runtime_cri {
	struct runtime_grpc *grpc;
};

int runtime_cri_open(const char *socket, struct runtime_cri **ret)
{
	struct runtime_cri *cri = calloc(1, sizeof(*cri));
	int r;

	if (!cri)
		return -ENOMEM;
	r = runtime_grpc_open(socket, &cri->grpc);
	if (r)
		free(cri);
	else
		*ret = cri;
	return r;
}

struct runtime_cri *runtime_cri_free(struct runtime_cri *cri)
{
	if (cri)
		runtime_grpc_free(cri->grpc);
	free(cri);
	return NULL;
}

/* --- protobuf, as far as requests need it --- */

static void put_varint(struct buf *buf, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_addc(buf, (char)(value | 0x80));
	buf_addc(buf, (char)value);
}

static void put_number(struct buf *buf, unsigned int field, uint64_t value)
{
	put_varint(buf, field << 3);
	put_varint(buf, value);
}

static void put_bytes(struct buf *buf, unsigned int field, const void *data, size_t len)
{
	put_varint(buf, field << 3 | 2);
	put_varint(buf, len);
	buf_add(buf, data, len);
}

static void put_text(struct buf *buf, unsigned int field, const char *text)
{
	put_bytes(buf, field, text, strlen(text));
}

/* A message within another; the inner one is empty afterwards. */
static void put_message(struct buf *buf, unsigned int field, struct buf *inner)
{
	put_bytes(buf, field, buf_str(inner), inner->len);
	buf_free(inner);
}

static void put_pair(struct buf *buf, unsigned int field, const char *key, const char *value)
{
	struct buf pair = {0};

	put_text(&pair, 1, key);
	put_text(&pair, 2, value);
	put_message(buf, field, &pair);
}

/* --- calls --- */

static int call(struct runtime_cri *cri, const char *method, struct buf *request, struct buf *reply)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), SERVICE "%s", method);
	r = runtime_grpc_call(cri->grpc, path, request, reply);
	buf_free(request);
	return r;
}

/* The first field of a reply is the id of what was made. */
static int call_for_id(struct runtime_cri *cri, const char *method, struct buf *request,
		       char id[RUNTIME_ID_SIZE])
{
	struct buf reply = {0};
	int r = call(cri, method, request, &reply);
	size_t len;

	if (!r) {
		len = reply.len > 2 ? (unsigned char)reply.data[1] : 0;
		if (len == 0 || len >= RUNTIME_ID_SIZE || reply.len < len + 2 ||
		    reply.data[0] != (1 << 3 | 2)) {
			r = -EBADMSG;
		} else {
			memcpy(id, reply.data + 2, len);
			id[len] = '\0';
		}
	}
	buf_free(&reply);
	return r;
}

static int call_with_id(struct runtime_cri *cri, const char *method, const char *id)
{
	struct buf request = {0}, reply = {0};
	int r;

	put_text(&request, 1, id);
	r = call(cri, method, &request, &reply);
	buf_free(&reply);
	return r;
}

int runtime_cri_await(struct runtime_cri *cri)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	int r;

	runtime_grpc_quiet(cri->grpc, true);
	for (;;) {
		struct buf request = {0}, reply = {0};

		r = call(cri, "Version", &request, &reply);
		buf_free(&reply);
		if (!r || page_clock_ns() > until)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	runtime_grpc_quiet(cri->grpc, false);
	return r;
}

/* --- pods --- */

static void put_pod_labels(struct buf *buf, unsigned int field, const struct runtime_pod *pod)
{
	put_pair(buf, field, "io.kubernetes.pod.name", pod->name);
	put_pair(buf, field, "io.kubernetes.pod.namespace", pod->namespace_);
	put_pair(buf, field, "io.kubernetes.pod.uid", pod->uid);
}

/* As pods have them by default, but for the network: one of their own would need plugins. */
static void put_namespaces(struct buf *buf, unsigned int field)
{
	struct buf namespaces = {0}, security = {0};

	put_number(&namespaces, 1, NODE);
	put_number(&namespaces, 2, CONTAINER);
	put_message(&security, field, &namespaces);
	put_message(buf, 2, &security);
}

static void put_sandbox_config(struct buf *buf, unsigned int field, const struct runtime_pod *pod)
{
	struct buf config = {0}, metadata = {0}, os = {0};

	put_text(&metadata, 1, pod->name);
	put_text(&metadata, 2, pod->uid);
	put_text(&metadata, 3, pod->namespace_);
	put_message(&config, 1, &metadata);
	put_pod_labels(&config, 6, pod);
	put_text(&os, 1, pod->cgroup_parent);
	put_namespaces(&os, 1);
	put_message(&config, 8, &os);
	put_message(buf, field, &config);
}

int runtime_cri_run_pod(struct runtime_cri *cri, struct runtime_pod *pod)
{
	struct buf request = {0};

	put_sandbox_config(&request, 1, pod);
	put_text(&request, 2, pod->handler);
	return call_for_id(cri, "RunPodSandbox", &request, pod->id);
}

int runtime_cri_stop_pod(struct runtime_cri *cri, const char *id)
{
	return call_with_id(cri, "StopPodSandbox", id);
}

int runtime_cri_pod_is_ready(struct runtime_cri *cri, const char *id)
{
	struct buf request = {0}, filter = {0}, reply = {0};
	struct cri_item item;
	struct cri_walk walk;
	int r;

	put_text(&filter, 1, id);
	put_message(&request, 1, &filter);
	r = call(cri, "ListPodSandbox", &request, &reply);
	if (r == 0) {
		cri_walk_start(&walk, CRI_SANDBOXES, NULL, reply.data, reply.len);
		r = cri_walk_next(&walk, &item) == CRI_WALK_ITEM ? item.state == CRI_STATE_RUNNING
								 : -ENOENT;
	}
	buf_free(&reply);
	return r;
}

int runtime_cri_remove_pod(struct runtime_cri *cri, const char *id)
{
	return call_with_id(cri, "RemovePodSandbox", id);
}

/* --- containers --- */

static void put_container_config(struct buf *buf, unsigned int field,
				 const struct runtime_container *container)
{
	struct buf config = {0}, metadata = {0}, image = {0}, os = {0};
	char number[16];

	put_text(&metadata, 1, container->name);
	put_number(&metadata, 2, container->attempt);
	put_message(&config, 1, &metadata);
	put_text(&image, 1, container->image);
	put_message(&config, 2, &image);
	for (size_t i = 0; container->args && container->args[i]; i++)
		put_text(&config, 4, container->args[i]);
	put_pod_labels(&config, 9, container->pod);
	put_pair(&config, 9, "io.kubernetes.container.name", container->name);
	snprintf(number, sizeof(number), "%u", container->attempt);
	put_pair(&config, 10, "io.kubernetes.container.restartCount", number);
	snprintf(number, sizeof(number), "%u", container->pod->grace_s);
	put_pair(&config, 10, "io.kubernetes.pod.terminationGracePeriod", number);
	if (container->hook)
		put_pair(&config, 10, "io.kubernetes.container.preStopHandler", container->hook);
	put_namespaces(&os, 3);
	put_message(&config, 15, &os);
	put_message(buf, field, &config);
}

int runtime_cri_create(struct runtime_cri *cri, struct runtime_container *container)
{
	struct buf request = {0};

	put_text(&request, 1, container->pod->id);
	put_container_config(&request, 2, container);
	put_sandbox_config(&request, 3, container->pod);
	return call_for_id(cri, "CreateContainer", &request, container->id);
}

int runtime_cri_start(struct runtime_cri *cri, const char *id)
{
	return call_with_id(cri, "StartContainer", id);
}

int runtime_cri_stop(struct runtime_cri *cri, const char *id, unsigned int timeout_s)
{
	struct buf request = {0}, reply = {0};
	int r;

	put_text(&request, 1, id);
	put_number(&request, 2, timeout_s);
	r = call(cri, "StopContainer", &request, &reply);
	buf_free(&reply);
	return r;
}

static int read_status(struct runtime_cri *cri, const char *id, struct cri_item *ret)
{
	struct buf request = {0}, reply = {0};
	int r;

	put_text(&request, 1, id);
	r = call(cri, "ContainerStatus", &request, &reply);
	if (!r)
		r = cri_read_status(reply.data, reply.len, ret);
	buf_free(&reply);
	return r;
}

int runtime_cri_wait(struct runtime_cri *cri, const char *id)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	struct cri_item item;

	while (page_clock_ns() < until) {
		int r = read_status(cri, id, &item);

		if (r)
			return r;
		if (item.state == CRI_STATE_EXITED)
			return item.container.exit_code;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	return -ETIMEDOUT;
}

int runtime_cri_remove(struct runtime_cri *cri, const char *id)
{
	return call_with_id(cri, "RemoveContainer", id);
}

int runtime_cri_exec(struct runtime_cri *cri, const char *id, const char *const *argv)
{
	struct buf request = {0}, reply = {0};
	int r;

	put_text(&request, 1, id);
	for (size_t i = 0; argv[i]; i++)
		put_text(&request, 2, argv[i]);
	put_number(&request, 3, 20);
	r = call(cri, "ExecSync", &request, &reply);
	buf_free(&reply);
	return r;
}
