// SPDX-License-Identifier: Apache-2.0
/* Questions to a container runtime and gRPC as far as a client needs it beyond HTTP/2: messages in
 * a body, and the trailers that say how a call ended (gRPC over HTTP2, in the repository
 * grpc/grpc). */
#include "wire/runtime/cri.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cri.pb-c.h"

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

/* ContainerStatusRequest and StopPodSandboxRequest have the ID in one place. */
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

int cri_ask_stop(struct buf *buf, const char *id, uint64_t timeout_s)
{
	Cri__StopContainerRequest request = CRI__STOP_CONTAINER_REQUEST__INIT;
	size_t len = strlen(id);

	if (len == 0 || len >= CRI_KEY_MAX || timeout_s > INT64_MAX)
		return -EINVAL;
	request.container_id = (ProtobufCBinaryData){.len = len, .data = (uint8_t *)id};
	request.timeout = (int64_t)timeout_s;
	return add_framed(buf, &request.base);
}

int cri_ask_exec(struct buf *buf, const char *id, const char *args, size_t n)
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
	r = add_framed(buf, &request.base);
	free(cmd);
	return r;
}

/* gRPC as far as its client needs it beyond HTTP/2: messages in a body, and the trailers that say
 * how a call ended (gRPC over HTTP2, in the repository grpc/grpc). */

#define PREFIX 5 /* a byte of flags, and the length in four */

int cri_unframe(const void *bytes, size_t len, size_t max, const void **ret_payload,
		size_t *ret_payload_len, size_t *ret_consumed)
{
	const uint8_t *at = bytes;
	size_t size;

	if (len > 0 && at[0] != 0)
		return -EBADMSG;
	if (len >= PREFIX) {
		size = (size_t)at[1] << 24 | (size_t)at[2] << 16 | (size_t)at[3] << 8 | at[4];
		if (size > max)
			return -EMSGSIZE;
		if (size <= len - PREFIX) {
			*ret_payload = at + PREFIX;
			*ret_payload_len = size;
			*ret_consumed = size + PREFIX;
			return 0;
		}
	}
	*ret_payload = NULL;
	*ret_payload_len = 0;
	*ret_consumed = 0;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int cri_grpc_status(const char *text, size_t len)
{
	int status = 0;

	while (len > 0 && is_blank(text[len - 1]))
		len--;
	while (len > 0 && is_blank(text[0])) {
		text++;
		len--;
	}
	if (len < 1 || len > 3)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EBADMSG;
		status = status * 10 + (text[i] - '0');
	}
	return status;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes up to room bytes into ret and returns how many; a percent sign that begins no code is
 * itself, as the specification asks for. */
static size_t percent_decode(const char *text, size_t len, char *ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < room; i++) {
		int high = -1, low = -1;

		if (text[i] == '%' && len - i > 2) {
			high = hex_value(text[i + 1]);
			low = hex_value(text[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			ret[n++] = (char)(high << 4 | low);
			i += 2;
		} else {
			ret[n++] = text[i];
		}
	}
	return n;
}

void cri_grpc_message(const char *text, size_t len, char *ret, size_t size)
{
	char raw[512];
	size_t n = percent_decode(text, len, raw, sizeof(raw)), used = 0, step;
	uint32_t code;

	for (size_t at = 0; at < n; at += step) {
		size_t shown;

		step = utf8_decode(raw + at, n - at, &code);
		shown = step > 0 && !utf8_is_treacherous(code) ? step : 1;
		if (shown > size - 1 - used)
			break;
		if (step > 0 && !utf8_is_treacherous(code))
			memcpy(ret + used, raw + at, step);
		else
			ret[used] = '?';
		used += shown;
		step = step > 0 ? step : 1;
	}
	ret[used] = '\0';
}
