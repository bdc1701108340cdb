// SPDX-License-Identifier: Apache-2.0
/* Walks a list of pods by its brackets, and leaves of each pod what is read of it. */
#include "wire/kubernetes/pods.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/kubelet/node_failure.h"
#include "kubelet_pods.pb-c.h"
#include "wire/grpc/message.h"
#include "wire/json/walk.h"
#include "wire/kubernetes/pod.h"
#include "wire/kubernetes/rows.h"

struct sieve {
	struct jsonwalk in;
	struct buf *out;
	unsigned int values;
};

static int sieve_object(struct sieve *s, const struct apirow *rows);

/* A value that nothing is picked from: a string, a number or a word as it is. What is in an object
 * or an array does not matter, only that it is one. */
static int sieve_plain(struct sieve *s)
{
	struct jsonwalk_value value;

	if (!jsonwalk_next(&s->in, &value))
		return -EBADMSG;
	if (*value.at == '{')
		buf_adds(s->out, "{}");
	else if (*value.at == '[' || value.len > PODJSON_SCALAR_MAX)
		buf_adds(s->out, "[]");
	else
		buf_add(s->out, value.at, value.len);
	return 0;
}

static int sieve_value(struct sieve *s, const struct apirow *rows)
{
	if (++s->values > PODJSON_VALUES_MAX)
		return -E2BIG;
	if (rows && jsonwalk_peek(&s->in) == '{')
		return sieve_object(s, rows);
	return sieve_plain(s);
}

/* Picks from each of its elements; an array in it stays empty, so that the depth has an end. */
static int sieve_array(struct sieve *s, const struct apirow *rows)
{
	if (++s->values > PODJSON_VALUES_MAX)
		return -E2BIG;
	s->in.at++;
	buf_addc(s->out, '[');
	for (bool first = true; !jsonwalk_take(&s->in, ']'); first = false) {
		int r;

		if (!first && !jsonwalk_take(&s->in, ','))
			return -EBADMSG;
		if (!first)
			buf_addc(s->out, ',');
		r = sieve_value(s, rows);
		if (r < 0)
			return r;
	}
	buf_addc(s->out, ']');
	return 0;
}

/* One member; *any says whether one was written before, or is now. */
static int sieve_member(struct sieve *s, const struct apirow *rows, bool *any)
{
	struct jsonwalk_value name, value;
	const struct apirow *row;

	if (jsonwalk_peek(&s->in) != '"' || !jsonwalk_next(&s->in, &name) ||
	    !jsonwalk_take(&s->in, ':'))
		return -EBADMSG;
	row = apirows_find(rows, name.at + 1, name.len - 2);
	if (!row)
		return jsonwalk_next(&s->in, &value) ? 0 : -EBADMSG;
	if (*any)
		buf_addc(s->out, ',');
	*any = true;
	buf_add(s->out, name.at, name.len);
	buf_addc(s->out, ':');
	if (row->rows && jsonwalk_peek(&s->in) == '[')
		return sieve_array(s, row->rows);
	return sieve_value(s, row->rows);
}

static int sieve_object(struct sieve *s, const struct apirow *rows)
{
	bool any = false;

	s->in.at++;
	buf_addc(s->out, '{');
	for (bool first = true; !jsonwalk_take(&s->in, '}'); first = false) {
		int r;

		if (!first && !jsonwalk_take(&s->in, ','))
			return -EBADMSG;
		r = sieve_member(s, rows, &any);
		if (r < 0)
			return r;
	}
	buf_addc(s->out, '}');
	return 0;
}

static int sieve_pod(const char *text, size_t size, struct buf *out)
{
	struct sieve s = {.in = {.text = text, .size = size}, .out = out};
	int r = sieve_value(&s, podrows);

	if (r == 0 && buf_error(out) < 0)
		return buf_error(out);
	return r;
}

/* What a list of pods says of itself. */

/* It is a version, a count and, where more is to come, some hundred bytes to request that. */
#define METADATA_MAX 16384

/* Servers compare them as numbers, of which ever larger ones are newer (KEP-5504). */
static uint64_t read_version(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	/* As many digits as a uint64_t holds in any case. */
	if (!text || len == 0 || len > 19 || strspn(text, "0123456789") != len)
		return 0;
	return strtoull(text, NULL, 10);
}

static void read_list(const char *text, size_t size, struct podjson_list *ret)
{
	const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY;
	json_t *metadata = NULL;

	if (size <= METADATA_MAX)
		metadata = json_loadb(text, size, flags, NULL);
	ret->version = read_version(apijson_get(metadata, "resourceVersion"));
	ret->partial = !metadata || json_string_length(apijson_get(metadata, "continue")) > 0;
	json_decref(metadata);
}

/* Walks a list of pods by its punctuation and hands each pod's bytes on. */

#define PIECE_BYTES ((size_t)64 << 10)

enum place {
	AT_START,
	AT_MEMBER, /* of the outer object, or its end */
	AT_ITEM,   /* or the end of the items */
	IN_VALUE,  /* of a member that is not items */
	IN_ITEM,
	AT_END,
	AT_BREAK,
};

struct podjson {
	struct jsonwalk in;
	enum place place;
	struct jsonwalk_scan scan; /* of the value the walk is in */
	size_t from;		   /* where that value begins */
	size_t outer;		   /* where the outer object begins */
	bool any_member, any_item; /* was there one before, so that a comma must follow */
	bool listed;		   /* it has items */
	bool is_kind, is_items;	   /* what the value is of the outer object */
	bool is_metadata;
	bool kind_list, kind_other;
	int error; /* at a break */
	struct buf sieved;
	struct podjson_list list;
};

int podjson_new(const char *text, size_t size, struct podjson **ret)
{
	struct podjson *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return -ENOMEM;
	walk->in = (struct jsonwalk){.text = text, .size = size};
	walk->sieved.limit = PODJSON_POD_MAX + 1;
	*ret = walk;
	return 0;
}

struct podjson *podjson_free(struct podjson *walk)
{
	if (walk)
		buf_free(&walk->sieved);
	free(walk);
	return NULL;
}

const struct podjson_list *podjson_list(const struct podjson *walk)
{
	return &walk->list;
}

static bool names(const struct podjson *walk, size_t from, size_t to, const char *quoted)
{
	return to - from == strlen(quoted) && memcmp(walk->in.text + from, quoted, to - from) == 0;
}

/* 0: reported; 1: it is none; -ENOMEM. */
static int report_pod(const json_t *json, const struct podjson_sink *sink)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podread reader = {.arena = &arena};
	struct podobj_pod pod = {};
	int r;

	if (!podrows_is_pod(json))
		return 1;
	apirows_init(podrows, &pod);
	r = apirows_read(&reader, json, podrows, &pod);
	if (r < 0)
		return r;
	podrows_conclude(&pod);
	return podmeta_report(&pod, &arena, sink);
}

/* Sieves, parses and reports the pod that these bytes are. 0: reported; 1: passed over; -ENOMEM. */
static int report(struct podjson *walk, size_t from, size_t to, const struct podjson_sink *sink)
{
	/* A number too large for an integer would cost the whole pod; a real holds it, and holds
	 * all numbers in use exactly. */
	const size_t flags = JSON_DECODE_INT_AS_REAL;
	json_error_t error = {};
	json_t *pod;
	int r;

	if (sink->object) {
		sink->object(sink->userdata, walk->in.text + from, to - from);
		return 0;
	}
	if (to - from > PODJSON_POD_MAX)
		return 1;
	buf_reset(&walk->sieved);
	r = sieve_pod(walk->in.text + from, to - from, &walk->sieved);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	pod = json_loadb(buf_str(&walk->sieved), walk->sieved.len, flags, &error);
	if (!pod)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : 1;
	r = report_pod(pod, sink);
	json_decref(pod);
	return r;
}

static int report_and_count(struct podjson *walk, size_t from, const struct podjson_sink *sink)
{
	int r = report(walk, from, walk->in.at, sink);

	walk->list.pods += r == 0;
	walk->list.skipped += r == 1;
	return r < 0 ? r : 0;
}

/* The outer object is over: nothing may follow, and what has no items is a pod itself. */
static int finish(struct podjson *walk, const struct podjson_sink *sink)
{
	size_t end = walk->in.at;
	int r = 0;

	if (jsonwalk_peek(&walk->in) || walk->in.at < walk->in.size)
		return -EBADMSG;
	walk->in.at = end;
	if (walk->listed ? walk->kind_other : walk->kind_list)
		return -EBADMSG;
	if (!walk->listed) {
		walk->list = (struct podjson_list){};
		r = report_and_count(walk, walk->outer, sink);
	}
	if (r == 0 && !walk->listed && walk->list.pods == 0)
		return -EBADMSG;
	walk->place = AT_END;
	return r;
}

static void begin(struct podjson *walk, enum place place)
{
	jsonwalk_peek(&walk->in);
	walk->scan = (struct jsonwalk_scan){};
	walk->from = walk->in.at;
	walk->place = place;
}

/* "name": of the outer object, and the bracket of the items. */
static int member(struct podjson *walk)
{
	struct jsonwalk_scan scan = {};
	size_t from, limit, to;

	if (walk->any_member && !jsonwalk_take(&walk->in, ','))
		return -EBADMSG;
	walk->any_member = true;
	if (jsonwalk_peek(&walk->in) != '"')
		return -EBADMSG;
	from = walk->in.at;
	limit = walk->in.size - from > PIECE_BYTES ? from + PIECE_BYTES : walk->in.size;
	if (jsonwalk_scan(&scan, &walk->in, limit) <= 0)
		return -EBADMSG;
	to = walk->in.at;
	if (!jsonwalk_take(&walk->in, ':'))
		return -EBADMSG;
	walk->is_kind = names(walk, from, to, "\"kind\"");
	walk->is_items = names(walk, from, to, "\"items\"");
	walk->is_metadata = names(walk, from, to, "\"metadata\"");
	walk->listed |= walk->is_items;
	if (walk->listed && walk->kind_other)
		return -EBADMSG;
	walk->any_item = false;
	if (walk->is_items && jsonwalk_take(&walk->in, '['))
		walk->place = AT_ITEM;
	else
		begin(walk, IN_VALUE);
	return 0;
}

static int at_member(struct podjson *walk, const struct podjson_sink *sink)
{
	return jsonwalk_take(&walk->in, '}') ? finish(walk, sink) : member(walk);
}

static int at_item(struct podjson *walk)
{
	if (jsonwalk_take(&walk->in, ']')) {
		walk->place = AT_MEMBER;
		return 0;
	}
	if (walk->any_item && !jsonwalk_take(&walk->in, ','))
		return -EBADMSG;
	walk->any_item = true;
	begin(walk, IN_ITEM);
	return 0;
}

/* A member of the outer object that is no array of items is over. */
static int value(struct podjson *walk)
{
	size_t from = walk->from, to = walk->in.at;

	walk->place = AT_MEMBER;
	/* Which Go writes for a list without elements. */
	if (walk->is_items && !names(walk, from, to, "null"))
		return -EBADMSG;
	if (walk->is_metadata)
		read_list(walk->in.text + from, to - from, &walk->list);
	if (!walk->is_kind)
		return 0;
	walk->kind_list = names(walk, from, to, "\"PodList\"") || names(walk, from, to, "\"List\"");
	walk->kind_other = !walk->kind_list;
	return walk->listed && walk->kind_other ? -EBADMSG : 0;
}

static int item(struct podjson *walk, const struct podjson_sink *sink)
{
	walk->place = AT_ITEM;
	return report_and_count(walk, walk->from, sink);
}

/* Goes on over the value that the walk is in; 1: it is not over yet. */
static int piece(struct podjson *walk)
{
	size_t left = walk->in.size - walk->in.at;
	size_t limit = left > PIECE_BYTES ? walk->in.at + PIECE_BYTES : walk->in.size;
	int r = jsonwalk_scan(&walk->scan, &walk->in, limit);

	if (r == 0)
		return walk->in.at == walk->in.size ? -EBADMSG : 1;
	return r < 0 ? r : 0;
}

static int start(struct podjson *walk)
{
	if (jsonwalk_peek(&walk->in) != '{')
		return -EBADMSG;
	walk->outer = walk->in.at++;
	walk->place = AT_MEMBER;
	return 0;
}

static int step(struct podjson *walk, const struct podjson_sink *sink)
{
	int r;

	switch (walk->place) {
	case AT_START:
		return start(walk);
	case AT_MEMBER:
		return at_member(walk, sink);
	case AT_ITEM:
		return at_item(walk);
	case IN_VALUE:
		r = piece(walk);
		return r == 0 ? value(walk) : r;
	case IN_ITEM:
		r = piece(walk);
		return r == 0 ? item(walk, sink) : r;
	case AT_END:
		return 0;
	case AT_BREAK:
		return walk->error;
	}
	return -EBADMSG;
}

int podjson_next(struct podjson *walk, const struct podjson_sink *sink)
{
	uint64_t before = walk->list.pods + walk->list.skipped;
	size_t from = walk->in.at;
	int r = 0;

	while (r == 0 && walk->place != AT_END && walk->in.at - from < PIECE_BYTES &&
	       walk->list.pods + walk->list.skipped == before)
		r = step(walk, sink);
	if (r < 0) {
		walk->place = AT_BREAK;
		walk->error = r;
		return r;
	}
	return walk->place != AT_END;
}

/* --- a page of a node's pods ------------------------------------------------------------------ */

/* What needs no escape in a query. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

int podpage_path(struct buf *out, const char *node, const char *next)
{
	buf_printf(out, "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s&limit=%d", node,
		   PODPAGE_LIMIT);
	if (*next)
		buf_printf(out, "&continue=%s", next);
	return buf_error(out);
}

static int read_next(const json_t *list, char ret[static PODPAGE_CONTINUE_MAX])
{
	const json_t *value = apijson_get(apijson_get(list, "metadata"), "continue");
	const char *next = value ? json_string_value(value) : "";
	size_t n = next ? strlen(next) : 0;

	if (!next || n >= PODPAGE_CONTINUE_MAX || strspn(next, PLAIN) != n)
		return -EBADMSG;
	memcpy(ret, next, n + 1);
	return 0;
}

static int count(const json_t *items, size_t *waiting)
{
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podread_error error;
		struct podobj_pod pod;
		int r = podread_pod(item, &arena, &pod, &error);

		if (r < 0)
			return r;
		*waiting += nodefail_taint_removes(&pod);
	}
	return 0;
}

int podpage_read(const char *text, size_t size, size_t *ret_waiting,
		 char ret_next[static PODPAGE_CONTINUE_MAX])
{
	json_auto_t *list = NULL;
	struct podread_error error;
	const json_t *items;
	size_t waiting = 0;
	int r = podread_parse(text, size, &list, &error);

	if (r < 0)
		return r;
	items = json_object_get(list, "items");
	/* An empty list of Go's may be null. */
	if (!items || (!json_is_array(items) && !json_is_null(items)))
		return -EBADMSG;
	r = count(items, &waiting);
	if (r == 0)
		r = read_next(list, ret_next);
	if (r == 0)
		*ret_waiting = waiting;
	return r;
}

/* --- from protobuf ---------------------------------------------------------------------------- */

const char podproto_watch_path[] = "/v1alpha1.Pods/WatchPods";

/* What a pod of PODJSON_POD_MAX may grow to; unknown fields are held, too. */
#define MEMORY_MAX ((size_t)12 << 20)
struct podproto {
	struct grpc_arena event, pod;
};

int podproto_new(struct podproto **ret)
{
	struct podproto *reader = malloc(sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	grpc_arena_start(&reader->event, PODPROTO_EVENT_MAX, MEMORY_MAX);
	grpc_arena_start(&reader->pod, PODJSON_POD_MAX, MEMORY_MAX);
	*ret = reader;
	return 0;
}

struct podproto *podproto_free(struct podproto *reader)
{
	if (reader) {
		grpc_arena_done(&reader->event);
		grpc_arena_done(&reader->pod);
	}
	free(reader);
	return NULL;
}

int podproto_read_event(struct podproto *reader, const void *message, size_t len,
			struct podproto_event *ret)
{
	const Kube__WatchPodsEvent *event;
	ProtobufCMessage *read;
	int r;

	/* What the event before needed. */
	grpc_arena_done(&reader->event);
	r = grpc_unpack(&reader->event, &kube__watch_pods_event__descriptor, message, len, &read);
	if (r < 0)
		return r;
	event = (const Kube__WatchPodsEvent *)read;
	*ret = (struct podproto_event){event->has_type ? event->type : 0, event->pod.data,
				       event->has_pod ? event->pod.len : 0};
	return 0;
}

/* 0: reported; 1: passed over; -ENOMEM. */
static int report_proto(const ProtobufCMessage *message, const struct podjson_sink *sink)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podread reader = {.arena = &arena};
	struct podobj_pod pod = {};
	int r;

	apirows_init(podrows, &pod);
	r = apirows_read_proto(&reader, message, podrows, &pod);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	podrows_conclude(&pod);
	return podmeta_report(&pod, &arena, sink);
}

int podproto_read_pod(struct podproto *reader, const void *bytes, size_t len,
		      const struct podjson_sink *sink)
{
	ProtobufCMessage *message;
	int r = grpc_unpack(&reader->pod, &kube__pod__descriptor, bytes, len, &message);

	if (r == 0)
		r = report_proto(message, sink);
	else if (r != -ENOMEM)
		r = 1;
	/* A large pod's memory is not held until the next large one. */
	grpc_arena_done(&reader->pod);
	return r;
}
