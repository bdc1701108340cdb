// SPDX-License-Identifier: Apache-2.0
/* Sends a question, and decides whether its answer makes sense. */
#include "io/sources/cri/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"

#define LIST_MAX   ((size_t)16 << 20) /* the kubelet takes no longer ones either */
/* Of what is about one container or image. */
#define ANSWER_MAX ((size_t)1 << 20)

static bool is_list(const struct podsrc_cri_call *call)
{
	return (call->method == CRI_SANDBOXES || call->method == CRI_CONTAINERS) && !call->key[0];
}

static const char *name_of(enum cri_method method)
{
	const char *path = cri_method_path(CRI_V1, method);
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : "?";
}

int podsrc_cri_call_open(const struct podsrc_cri_calls *calls, enum cri_method method,
			 const char *key, unsigned int line, struct fetch_request *request,
			 struct fetch_call **ret)
{
	_cleanup_(buf_free) struct buf question = {};
	char url[160], timeout[64];
	const char *const headers[] = {"Content-Type: application/grpc", "TE: trailers",
				       "Host: localhost", timeout, NULL};
	int r;

	r = cri_ask(&question, method, key);
	if (r < 0)
		return r;
	snprintf(url, sizeof(url), "http://cri-%llu-%u%s", (unsigned long long)calls->connection,
		 line, cri_method_path(calls->version, method));
	snprintf(timeout, sizeof(timeout), "grpc-timeout: %llum",
		 (unsigned long long)(request->timeout_ns / 1000000 % 100000000));
	request->url = url;
	request->unix_path = calls->path;
	request->http2 = true;
	request->body = buf_str(&question);
	request->body_len = question.len;
	/* A stream has no end to tell. */
	request->headers = request->timeout_ns ? headers
					       : (const char *const[]){headers[0], headers[1],
								       headers[2], NULL};
	request->connect_timeout_ns = calls->timeout_ns;
	return fetch_start(calls->fetch, request, ret);
}

static void free_call(struct podsrc_cri_call *call)
{
	buf_free(&call->body);
	free(call);
}

static void unlink_call(struct podsrc_cri_calls *calls, struct podsrc_cri_call *call)
{
	*(call->prev ? &call->prev->next : &calls->first) = call->next;
	if (call->next)
		call->next->prev = call->prev;
}

static int on_data(void *userdata, const void *data, size_t len)
{
	struct podsrc_cri_call *call = userdata;

	buf_add(&call->body, data, len);
	return buf_error(&call->body);
}

/* What speaks against the runtime rather than against one answer; NULL for nothing. */
static const char *judge(struct podsrc_cri_call *call, const struct fetch_result *result,
			 struct podsrc_cri_answer *ret)
{
	struct podsrc_cri_calls *calls = call->calls;
	size_t consumed;

	strcpy(ret->text, result->text);
	ret->verdict = VERDICT_LOST;
	if (result->error == -EMSGSIZE || result->error == -ENOMEM ||
	    (result->error == -ETIMEDOUT && calls->answered_ns > call->begun_ns))
		return NULL;
	if (result->error || result->status != 200)
		return *ret->text ? ret->text : "the answer is not one of gRPC";
	if (result->grpc_status < 0)
		return "the answer has no gRPC status";
	ret->grpc_status = result->grpc_status;
	if (ret->grpc_status == CRI_GRPC_UNAVAILABLE ||
	    ret->grpc_status == CRI_GRPC_PERMISSION_DENIED)
		return ret->text;
	ret->verdict = VERDICT_REFUSED;
	if (ret->grpc_status)
		return NULL;
	ret->verdict = VERDICT_ANSWER;
	if (cri_unframe(call->body.data, call->body.len, LIST_MAX, &ret->payload, &ret->len,
			&consumed) < 0 ||
	    consumed == 0 || consumed != call->body.len)
		return "the answer is no message of gRPC";
	return NULL;
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct podsrc_cri_call *call = userdata;
	struct podsrc_cri_calls *calls = call->calls;
	struct podsrc_cri_answer answer = {};
	const char *trouble = judge(call, result, &answer);

	unlink_call(calls, call);
	if (trouble) {
		if (call->lookup)
			podsrc_cri_queue_move(calls->queue, call->lookup, PLACE_DOOMED);
		calls->failed(calls->userdata, name_of(call->method), trouble);
	} else {
		if (answer.verdict != VERDICT_LOST)
			calls->answered_ns = clock_boot_ns();
		call->done(call, &answer);
	}
	free_call(call);
}

/* The first connection without a call. */
static unsigned int free_line(const struct podsrc_cri_calls *calls)
{
	unsigned int taken = 0;

	for (const struct podsrc_cri_call *call = calls->first; call; call = call->next)
		taken |= 1u << call->line;
	return (unsigned int)__builtin_ctz(~taken);
}

int podsrc_cri_call(struct podsrc_cri_calls *calls, enum cri_method method, const char *key,
		    struct podsrc_cri_lookup *lookup, podsrc_cri_call_fn done, void *userdata)
{
	struct podsrc_cri_call *call = calloc(1, sizeof(*call));
	struct fetch_request request = {
		.timeout_ns = calls->timeout_ns,
		.data = on_data,
		.done = on_done,
		.userdata = call,
	};
	int r;

	if (!call)
		return -ENOMEM;
	call->calls = calls;
	call->method = method;
	call->lookup = lookup;
	call->line = free_line(calls);
	call->begun_ns = clock_boot_ns();
	call->done = done;
	call->userdata = userdata;
	snprintf(call->key, sizeof(call->key), "%s", key ? key : "");
	request.max_bytes = is_list(call) ? LIST_MAX : ANSWER_MAX;
	r = podsrc_cri_call_open(calls, method, key, call->line, &request, &call->fetch);
	if (r < 0) {
		free_call(call);
		return r;
	}
	call->next = calls->first;
	if (call->next)
		call->next->prev = call;
	calls->first = call;
	return 0;
}

void podsrc_cri_call_cancel_all(struct podsrc_cri_calls *calls, enum podsrc_cri_place place)
{
	while (calls->first) {
		struct podsrc_cri_call *call = calls->first;

		fetch_cancel(call->fetch);
		unlink_call(calls, call);
		if (call->lookup)
			podsrc_cri_queue_move(calls->queue, call->lookup, place);
		free_call(call);
	}
}
