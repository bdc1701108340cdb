// SPDX-License-Identifier: Apache-2.0
/* Reads the lines of an answer's head, and turns libcurl's errors into ours. */
#include "io/fetch/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/utf8.h"
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

/* Printable ASCII, cut. */
static void copy_line(const char *bytes, size_t len, char ret[static FETCH_TEXT_MAX])
{
	_cleanup_(buf_free) struct buf line = {};

	utf8_add_visible(&line, bytes, len < MESSAGE_MAX ? len : MESSAGE_MAX);
	snprintf(ret, FETCH_TEXT_MAX, "%s", buf_str(&line));
}

static void take_status(struct fetch_answer *answer, const char *at, size_t len)
{
	int status = cri_grpc_status(at, len);

	answer->grpc_status = status < 0 ? -1 : status;
}

static void take_message(struct fetch_answer *answer, const char *at, size_t len)
{
	char text[MESSAGE_MAX];

	cri_grpc_message(at, len, text, sizeof(text));
	copy_line(text, strlen(text), answer->grpc_message);
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

int fetch_answer_add_header(struct fetch_answer *answer, const char *line, size_t len)
{
	size_t end = len, at;

	answer->header_bytes += len;
	if (answer->header_bytes > HEADERS_MAX)
		return -EMSGSIZE;
	while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r' || line[end - 1] == ' '))
		end--;
	/* Trailers follow the body line by line, a status line begins another head. */
	if (end == 0 || (len > 5 && memcmp(line, "HTTP/", 5) == 0))
		answer->head_whole = end == 0;
	if (is_named(line, end, "grpc-status", &at))
		take_status(answer, line + at, end - at);
	else if (is_named(line, end, "grpc-message", &at))
		take_message(answer, line + at, end - at);
	return 0;
}

int fetch_answer_count(struct fetch_answer *answer, size_t len)
{
	if (len > answer->max_bytes - answer->bytes)
		return -EMSGSIZE;
	answer->bytes += len;
	return 0;
}

static int to_errno(const struct fetch_answer *answer, const struct curl *curl, CURL *easy)
{
	long os_error = 0, status = 0;

	if (answer->error)
		return answer->error;
	/* libcurl is content with half of the headers. */
	if (answer->code == CURLE_OK)
		return answer->head_whole ? 0 : -EBADMSG;
	curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (answer->code == CURLE_RECV_ERROR && status)
		return -EBADMSG;
	if (answer->code == CURLE_COULDNT_CONNECT)
		curl->easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
	if (os_error > 0 && os_error < 4096)
		return (int)-os_error;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == answer->code)
			return errors[i].error;
	return -EIO;
}

static void say_error(const struct fetch_answer *answer, const struct curl *curl,
		      struct fetch_result *ret)
{
	const char *text = answer->trouble;
	char own[FETCH_TEXT_MAX];

	if (answer->header_bytes > HEADERS_MAX) {
		text = "the answer has too many headers";
	} else if (answer->error == -EMSGSIZE) {
		snprintf(own, sizeof(own), "the answer is longer than %zu bytes",
			 answer->max_bytes);
		text = own;
	} else if (answer->error == -ETIMEDOUT) {
		text = "nothing came for too long";
	} else if (answer->error && answer->error != -EHOSTUNREACH) {
		text = "the answer makes no sense";
	} else if (!answer->error && answer->code == CURLE_OK) {
		text = "the answer is cut short";
	} else if (!*text) {
		text = curl->easy_strerror(answer->code);
	}
	copy_line(text, strlen(text), ret->text);
}

void fetch_answer_result(const struct fetch_answer *answer, const struct curl *curl, CURL *easy,
			 struct fetch_result *ret)
{
	*ret = (struct fetch_result){
		.error = to_errno(answer, curl, easy),
		.body = buf_str(&answer->body),
		.len = answer->body.len,
		.grpc_status = answer->grpc_status,
	};
	curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &ret->status);
	strcpy(ret->grpc_message, answer->grpc_message);
	if (ret->error)
		say_error(answer, curl, ret);
	else if (ret->status < 200 || ret->status > 299)
		snprintf(ret->text, sizeof(ret->text), "HTTP status %ld", ret->status);
	else if (ret->grpc_status > 0)
		snprintf(ret->text, sizeof(ret->text), "gRPC status %d: %.120s", ret->grpc_status,
			 ret->grpc_message);
}
