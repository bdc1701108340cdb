// SPDX-License-Identifier: Apache-2.0
// gRPC by libcurl: HTTP/2 from the first byte on, one message each way, the status in the trailers.
#include "lib/runtime/grpc.h"

#include "io/files/library.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FRAME_SIZE 5
#define TIMEOUT_S  50L

/* The functions by name: the headers make macros of some of them. */
struct curl_table {
	CURL *(*init)(void);
	CURLcode (*setopt)(CURL *, CURLoption, ...);
	CURLcode (*perform)(CURL *);
	void (*cleanup)(CURL *);
	struct curl_slist *(*append)(struct curl_slist *, const char *);
	void (*free_all)(struct curl_slist *);
	const char *(*strerror)(CURLcode);
};

static const struct dynlib_function functions[] = {
	{"curl_easy_init", offsetof(struct curl_table, init)},
	{"curl_easy_setopt", offsetof(struct curl_table, setopt)},
	{"curl_easy_perform", offsetof(struct curl_table, perform)},
	{"curl_easy_cleanup", offsetof(struct curl_table, cleanup)},
	{"curl_slist_append", offsetof(struct curl_table, append)},
	{"curl_slist_free_all", offsetof(struct curl_table, free_all)},
	{"curl_easy_strerror", offsetof(struct curl_table, strerror)},
};

struct runtime_grpc {
	struct curl_table curl;
	CURL *easy;
	struct curl_slist *headers;
	struct buf answer;
	char status[16], message[512];
	bool quiet;
};

static size_t on_body(char *data, size_t size, size_t n, void *userdata)
{
	struct runtime_grpc *grpc = userdata;

	buf_add(&grpc->answer, data, size * n);
	return size * n;
}

static void take(char *ret, size_t size, const char *line, size_t len, const char *name)
{
	size_t prefix = strlen(name);

	if (len <= prefix || strncasecmp(line, name, prefix))
		return;
	snprintf(ret, size, "%.*s", (int)(len - prefix), line + prefix);
	ret[strcspn(ret, "\r\n")] = '\0';
}

/* Trailers come as headers do. */
static size_t on_header(char *data, size_t size, size_t n, void *userdata)
{
	struct runtime_grpc *grpc = userdata;

	take(grpc->status, sizeof(grpc->status), data, size * n, "grpc-status: ");
	take(grpc->message, sizeof(grpc->message), data, size * n, "grpc-message: ");
	return size * n;
}

int runtime_grpc_open(const char *socket, struct runtime_grpc **ret)
{
	struct runtime_grpc *grpc = calloc(1, sizeof(*grpc));
	const char *why = "";
	int r;

	if (!grpc)
		return -ENOMEM;
	r = dynlib_load(DYNLIB_CURL, functions, sizeof(functions) / sizeof(functions[0]),
			&grpc->curl, &why);
	if (r) {
		fprintf(stderr, "no libcurl: %s\n", why);
		free(grpc);
		return r;
	}
	grpc->headers = grpc->curl.append(NULL, "content-type: application/grpc");
	grpc->headers = grpc->curl.append(grpc->headers, "te: trailers");
	grpc->easy = grpc->curl.init();
	if (!grpc->easy || !grpc->headers) {
		runtime_grpc_free(grpc);
		return -ENOMEM;
	}
	grpc->curl.setopt(grpc->easy, CURLOPT_UNIX_SOCKET_PATH, socket);
	grpc->curl.setopt(grpc->easy, CURLOPT_HTTP_VERSION,
			  (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	grpc->curl.setopt(grpc->easy, CURLOPT_HTTPHEADER, grpc->headers);
	/* libcurl 7.88 cannot send a second request on a connection like this. */
	grpc->curl.setopt(grpc->easy, CURLOPT_FORBID_REUSE, 1L);
	grpc->curl.setopt(grpc->easy, CURLOPT_NOSIGNAL, 1L);
	grpc->curl.setopt(grpc->easy, CURLOPT_TIMEOUT, TIMEOUT_S);
	grpc->curl.setopt(grpc->easy, CURLOPT_WRITEFUNCTION, on_body);
	grpc->curl.setopt(grpc->easy, CURLOPT_WRITEDATA, grpc);
	grpc->curl.setopt(grpc->easy, CURLOPT_HEADERFUNCTION, on_header);
	grpc->curl.setopt(grpc->easy, CURLOPT_HEADERDATA, grpc);
	*ret = grpc;
	return 0;
}

struct runtime_grpc *runtime_grpc_free(struct runtime_grpc *grpc)
{
	if (!grpc)
		return NULL;
	if (grpc->easy)
		grpc->curl.cleanup(grpc->easy);
	grpc->curl.free_all(grpc->headers);
	buf_free(&grpc->answer);
	free(grpc);
	return NULL;
}

void runtime_grpc_quiet(struct runtime_grpc *grpc, bool quiet)
{
	grpc->quiet = quiet;
}

static int judge(struct runtime_grpc *grpc, const char *path, CURLcode code, struct buf *reply)
{
	bool ok = code == CURLE_OK && !strcmp(grpc->status, "0");

	if (!ok && !grpc->quiet)
		fprintf(stderr, "%s: %s, status %s %s\n", path, grpc->curl.strerror(code),
			grpc->status, grpc->message);
	if (code != CURLE_OK)
		return -ENOTCONN;
	if (!ok)
		return -EREMOTEIO;
	if (grpc->answer.len < FRAME_SIZE)
		return -EBADMSG;
	buf_add(reply, grpc->answer.data + FRAME_SIZE, grpc->answer.len - FRAME_SIZE);
	return buf_error(reply);
}

int runtime_grpc_call(struct runtime_grpc *grpc, const char *path, const struct buf *request,
		      struct buf *reply)
{
	char url[128];
	struct buf body = {0};
	CURLcode code;
	int r;

	snprintf(url, sizeof(url), "http://localhost%s", path);
	buf_addc(&body, 0);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_addc(&body, (char)(request->len >> shift));
	buf_add(&body, buf_str(request), request->len);
	buf_reset(&grpc->answer);
	grpc->status[0] = grpc->message[0] = '\0';
	grpc->curl.setopt(grpc->easy, CURLOPT_URL, url);
	grpc->curl.setopt(grpc->easy, CURLOPT_POSTFIELDSIZE, (long)body.len);
	grpc->curl.setopt(grpc->easy, CURLOPT_POSTFIELDS, body.data);
	code = grpc->curl.perform(grpc->easy);
	r = judge(grpc, path, code, reply);
	buf_free(&body);
	return r;
}
