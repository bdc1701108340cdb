// SPDX-License-Identifier: Apache-2.0
/* Sends a request, decides whether its answer makes sense, and holds look-ups in the order they
 * came. */
#include "io/sources/cri/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "io/proc/clock.h"

/* --- look-ups by where they stand ------------------------------------------------------------- */

#define ROOM	  4096
#define ROOM_IDLE 2048

/* IDs that collide on purpose make it a list, of bounded length. */
static size_t bucket_of(const char *id)
{
	uint64_t key = map_key(id);

	return (key ^ key >> 32) % SOURCE_CRI_BUCKETS;
}

struct source_cri_lookup *source_cri_queue_get(const struct source_cri_queue *q, const char *id,
					       bool exit)
{
	struct source_cri_lookup *lookup = q->buckets[bucket_of(id)];

	while (lookup && (lookup->exit != exit || strcmp(lookup->id, id) != 0))
		lookup = lookup->chain;
	return lookup;
}

static void link_last(struct source_cri_queue *q, struct source_cri_lookup *lookup,
		      enum source_cri_place place)
{
	struct source_cri_lookup **last = &q->places[place].last;

	lookup->place = place;
	lookup->next = NULL;
	lookup->prev = *last;
	*(*last ? &(*last)->next : &q->places[place].first) = lookup;
	*last = lookup;
	q->places[place].n++;
}

static void unlink_lookup(struct source_cri_queue *q, struct source_cri_lookup *lookup)
{
	*(lookup->prev ? &lookup->prev->next : &q->places[lookup->place].first) = lookup->next;
	*(lookup->next ? &lookup->next->prev : &q->places[lookup->place].last) = lookup->prev;
	q->places[lookup->place].n--;
}

static enum source_cri_place place_of(const struct source_cri_lookup *lookup,
				      enum source_cri_place place)
{
	return lookup->exit && place == PLACE_WAITING ? PLACE_EXITS : place;
}

struct source_cri_lookup *source_cri_queue_add(struct source_cri_queue *q, const char *id,
					       bool exit, enum source_cri_place place)
{
	size_t idle = q->places[PLACE_IDLE].n, bucket = bucket_of(id);
	struct source_cri_lookup *lookup;

	if (place == PLACE_IDLE ? idle >= ROOM_IDLE : q->n - idle >= ROOM)
		return NULL;
	lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return NULL;
	memcpy(lookup->id, id, strnlen(id, sizeof(lookup->id) - 1));
	lookup->exit = exit;
	lookup->chain = q->buckets[bucket];
	q->buckets[bucket] = lookup;
	link_last(q, lookup, place_of(lookup, place));
	q->n++;
	return lookup;
}

void source_cri_queue_move(struct source_cri_queue *q, struct source_cri_lookup *lookup,
			   enum source_cri_place place)
{
	unlink_lookup(q, lookup);
	link_last(q, lookup, place_of(lookup, place));
}

void source_cri_queue_remove(struct source_cri_queue *q, struct source_cri_lookup *lookup)
{
	struct source_cri_lookup **at = &q->buckets[bucket_of(lookup->id)];

	while (*at != lookup)
		at = &(*at)->chain;
	*at = lookup->chain;
	unlink_lookup(q, lookup);
	q->n--;
	free(lookup);
}

void source_cri_queue_done(struct source_cri_queue *q)
{
	for (size_t i = 0; i < PLACE_COUNT; i++)
		while (q->places[i].first)
			source_cri_queue_remove(q, q->places[i].first);
}

/* --- calls ------------------------------------------------------------------------------------ */

#define LIST_MAX   ((size_t)16 << 20) /* the kubelet takes no longer ones either */
/* Limit of an answer about one container or image. */
#define ANSWER_MAX ((size_t)1 << 20)

static bool is_list(const struct source_cri_call *call)
{
	return (call->method == CRI_SANDBOXES || call->method == CRI_CONTAINERS) && !call->key[0];
}

static const char *name_of(enum cri_method method)
{
	const char *path = cri_method_path(CRI_V1, method);
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : "?";
}

/* As gRPC takes it: eight digits at most, and a unit. */
static void write_timeout(uint64_t ns, char *ret, size_t size)
{
	const uint64_t most = 99999999;
	uint64_t ms = ns / 1000000, s = ms / 1000;

	if (ms <= most)
		snprintf(ret, size, "grpc-timeout: %llum", (unsigned long long)ms);
	else
		snprintf(ret, size, "grpc-timeout: %lluS",
			 (unsigned long long)(s < most ? s : most));
}

int source_cri_call_open(const struct source_cri_calls *calls, enum cri_method method,
			 const struct buf *question, unsigned int line,
			 struct fetch_request *request, struct fetch_call **ret)
{
	char url[160], timeout[64];
	const char *const headers[] = {"Content-Type: application/grpc", "TE: trailers",
				       "Host: localhost", timeout, NULL};

	snprintf(url, sizeof(url), "http://cri-%llu-%u%s", (unsigned long long)calls->connection,
		 line, cri_method_path(calls->version, method));
	write_timeout(request->timeout_ns, timeout, sizeof(timeout));
	request->url = url;
	request->unix_path = calls->path;
	request->http2 = true;
	request->body = buf_str(question);
	request->body_len = question->len;
	/* A stream has no end to wait for. */
	request->headers = request->timeout_ns ? headers
					       : (const char *const[]){headers[0], headers[1],
								       headers[2], NULL};
	request->connect_timeout_ns = calls->timeout_ns;
	return fetch_start(calls->fetch, request, ret);
}

static void free_call(struct source_cri_call *call)
{
	buf_free(&call->body);
	free(call);
}

static int on_data(void *userdata, const void *data, size_t len)
{
	struct source_cri_call *call = userdata;

	buf_add(&call->body, data, len);
	return buf_error(&call->body);
}

/* What speaks against the runtime rather than against one answer; NULL for nothing. */
static const char *judge(struct source_cri_call *call, const struct fetch_result *result,
			 struct source_cri_answer *ret)
{
	struct source_cri_calls *calls = call->calls;
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
	if (ret->grpc_status == GRPC_UNAVAILABLE || ret->grpc_status == GRPC_PERMISSION_DENIED)
		return ret->text;
	ret->verdict = VERDICT_REFUSED;
	if (ret->grpc_status)
		return NULL;
	ret->verdict = VERDICT_ANSWER;
	if (grpc_unframe(call->body.data, call->body.len, LIST_MAX, &ret->payload, &ret->len,
			 &consumed) < 0 ||
	    consumed == 0 || consumed != call->body.len)
		return "the answer is no message of gRPC";
	return NULL;
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct source_cri_call *call = userdata;
	struct source_cri_calls *calls = call->calls;
	struct source_cri_answer answer = {};
	const char *trouble = judge(call, result, &answer);

	LIST_REMOVE(call, link);
	if (trouble) {
		if (call->lookup)
			source_cri_queue_move(calls->queue, call->lookup, PLACE_DOOMED);
		calls->failed(calls->userdata, name_of(call->method), trouble);
	} else {
		if (answer.verdict != VERDICT_LOST)
			calls->answered_ns = clock_boot_ns();
		call->done(call, &answer);
	}
	free_call(call);
}

/* The first connection without a call. */
static unsigned int free_line(const struct source_cri_calls *calls)
{
	const struct source_cri_call *call;
	unsigned int taken = 0;

	LIST_FOREACH(call, &calls->list, link)
		taken |= 1u << call->line;
	return (unsigned int)__builtin_ctz(~taken);
}

int source_cri_call(struct source_cri_calls *calls, enum cri_method method, const char *key,
		    struct source_cri_lookup *lookup, source_cri_call_fn done, void *userdata)
{
	struct source_cri_call *call = calloc(1, sizeof(*call));
	_cleanup_(buf_free) struct buf question = {};
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
	r = cri_request(&question, method, key);
	if (r == 0)
		r = source_cri_call_open(calls, method, &question, call->line, &request,
					 &call->fetch);
	if (r < 0) {
		free_call(call);
		return r;
	}
	LIST_INSERT_HEAD(&calls->list, call, link);
	return 0;
}

void source_cri_call_cancel_all(struct source_cri_calls *calls, enum source_cri_place place)
{
	struct source_cri_call *call;

	while ((call = LIST_FIRST(&calls->list))) {
		fetch_cancel(call->fetch);
		LIST_REMOVE(call, link);
		if (call->lookup)
			source_cri_queue_move(calls->queue, call->lookup, place);
		free_call(call);
	}
}
