// SPDX-License-Identifier: Apache-2.0
/* Takes an answer's bytes within their bounds, and says how a request ended. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "io/fetch/priv.h"
#include "io/proc/clock.h"
#include "wire/runtime/cri.h"

/* libcurl keeps every header until the request is over. */
#define HEADERS_MAX 65536

/* Of a grpc-message, before it is decoded. */
#define MESSAGE_MAX 480

static const struct {
	CURLcode code;
	int error;
} errors[] = {
	{CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT},
	{CURLE_COULDNT_CONNECT, -ECONNREFUSED},
	{CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH},
	{CURLE_PEER_FAILED_VERIFICATION, -EKEYREJECTED},
	{CURLE_SSL_CACERT_BADFILE, -EKEYREJECTED},
	{CURLE_SSL_ISSUER_ERROR, -EKEYREJECTED},
	{CURLE_SSL_CERTPROBLEM, -EACCES},
	{CURLE_SSL_CONNECT_ERROR, -EPROTO},
	{CURLE_SSL_CIPHER, -EPROTO},
	{CURLE_FILESIZE_EXCEEDED, -EMSGSIZE},
	{CURLE_SEND_ERROR, -ECONNRESET},
	{CURLE_RECV_ERROR, -ECONNRESET},
	{CURLE_GOT_NOTHING, -ECONNRESET},
	{CURLE_HTTP2, -EBADMSG},
	{CURLE_HTTP2_STREAM, -EBADMSG},
	{CURLE_PARTIAL_FILE, -EBADMSG},
	{CURLE_UNSUPPORTED_PROTOCOL, -EBADMSG}, /* not HTTP, or its 0.9 */
	{CURLE_WEIRD_SERVER_REPLY, -EBADMSG},
	{CURLE_BAD_CONTENT_ENCODING, -EBADMSG},
	{CURLE_OUT_OF_MEMORY, -ENOMEM},
};

void fetch_answer_line(const char *bytes, size_t len, char ret[static FETCH_TEXT_MAX])
{
	_cleanup_(buf_free) struct buf line = {};

	utf8_add_visible(&line, bytes, len < MESSAGE_MAX ? len : MESSAGE_MAX);
	snprintf(ret, FETCH_TEXT_MAX, "%s", buf_str(&line));
}

static void take_status(struct fetch_call *call, const char *at, size_t len)
{
	int status = cri_grpc_status(at, len);

	call->grpc_status = status < 0 ? -1 : status;
}

static void take_message(struct fetch_call *call, const char *at, size_t len)
{
	char text[MESSAGE_MAX];

	cri_grpc_message(at, len, text, sizeof(text));
	fetch_answer_line(text, strlen(text), call->grpc_message);
}

static bool is_named(const char *line, size_t len, const char *name, size_t *ret_at)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	for (n++; n < len && line[n] == ' ';)
		n++;
	*ret_at = n;
	return true;
}

static size_t refuse(struct fetch_call *call, int error)
{
	call->error = error;
	return 0;
}

size_t fetch_answer_header(char *line, size_t one, size_t len, void *userdata)
{
	struct fetch_call *call = userdata;
	size_t end = len, at;

	(void)one;
	fetch_host_answered(call);
	call->fetch->progress++;
	call->last_ns = clock_monotonic_ns();
	call->header_bytes += len;
	if (call->header_bytes > HEADERS_MAX)
		return refuse(call, -EMSGSIZE);
	while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r' || line[end - 1] == ' '))
		end--;
	/* Trailers follow the body line by line, a status line begins another head. */
	if (end == 0 || (len > 5 && memcmp(line, "HTTP/", 5) == 0))
		call->head_whole = end == 0;
	if (is_named(line, end, "grpc-status", &at))
		take_status(call, line + at, end - at);
	else if (is_named(line, end, "grpc-message", &at))
		take_message(call, line + at, end - at);
	return len;
}

static bool is_good(const struct fetch_call *call)
{
	long status = 0;

	call->fetch->curl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200 && status < 300;
}

size_t fetch_answer_body(char *bytes, size_t one, size_t len, void *userdata)
{
	struct fetch_call *call = userdata;
	int r;

	(void)one;
	call->fetch->progress++;
	call->last_ns = clock_monotonic_ns();
	if (len > call->max_bytes - call->bytes)
		return refuse(call, -EMSGSIZE);
	call->bytes += len;
	if (call->phase != FETCH_RUNNING || len == 0)
		return len;
	if (call->data) {
		r = is_good(call) ? call->data(call->userdata, bytes, len) : 0;
		return r < 0 ? refuse(call, r) : len;
	}
	buf_add(&call->body, bytes, len);
	return buf_error(&call->body) ? refuse(call, -ENOMEM) : len;
}

static int to_errno(const struct fetch_call *call)
{
	long os_error = 0, status = 0;

	if (call->error)
		return call->error;
	/* libcurl is content with half of the headers. */
	if (call->code == CURLE_OK)
		return call->head_whole ? 0 : -EBADMSG;
	call->fetch->curl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	if (call->code == CURLE_RECV_ERROR && status)
		return -EBADMSG;
	if (call->code == CURLE_COULDNT_CONNECT)
		call->fetch->curl.easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &os_error);
	if (os_error > 0 && os_error < 4096)
		return (int)-os_error;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == call->code)
			return errors[i].error;
	return -EIO;
}

static void say_error(const struct fetch_call *call, struct fetch_result *ret)
{
	const char *text = call->trouble;
	char own[FETCH_TEXT_MAX];

	if (call->header_bytes > HEADERS_MAX) {
		text = "the answer has too many headers";
	} else if (call->error == -EMSGSIZE) {
		snprintf(own, sizeof(own), "the answer is longer than %zu bytes", call->max_bytes);
		text = own;
	} else if (call->error == -ETIMEDOUT) {
		text = "nothing came for too long";
	} else if (call->error && call->error != -EHOSTUNREACH) {
		text = "the answer makes no sense";
	} else if (!call->error && call->code == CURLE_OK) {
		text = "the answer is cut short";
	} else if (!*text) {
		text = call->fetch->curl.easy_strerror(call->code);
	}
	fetch_answer_line(text, strlen(text), ret->text);
}

void fetch_answer_result(const struct fetch_call *call, struct fetch_result *ret)
{
	*ret = (struct fetch_result){
		.error = to_errno(call),
		.body = buf_str(&call->body),
		.len = call->body.len,
		.grpc_status = call->grpc_status,
	};
	call->fetch->curl.easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &ret->status);
	strcpy(ret->grpc_message, call->grpc_message);
	if (ret->error)
		say_error(call, ret);
	else if (ret->status < 200 || ret->status > 299)
		snprintf(ret->text, sizeof(ret->text), "HTTP status %ld", ret->status);
	else if (ret->grpc_status > 0)
		snprintf(ret->text, sizeof(ret->text), "gRPC status %d: %.120s", ret->grpc_status,
			 ret->grpc_message);
}
