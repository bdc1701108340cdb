// SPDX-License-Identifier: Apache-2.0
/* Walks a list of pods by its punctuation and hands each pod's bytes on. */
#include "wire/kubernetes/pods.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "wire/kubernetes/pods_priv.h"

#define PIECE_BYTES ((size_t)256 << 10)

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
	struct podjson_bytes in;
	enum place place;
	struct podjson_scan scan;  /* of the value the walk is in */
	size_t from;		   /* where that value begins */
	size_t outer;		   /* where the outer object begins */
	bool any_member, any_item; /* was there one before, so that a comma must follow */
	bool listed;		   /* it has items */
	bool is_kind, is_items;	   /* what the value is of the outer object */
	bool is_metadata;
	bool kind_list, kind_other;
	int error; /* at a break */
	struct buf sieved;
	struct podjson_counts counts;
	struct podjson_list list;
};

int podjson_new(const char *text, size_t size, struct podjson **ret)
{
	struct podjson *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return -ENOMEM;
	walk->in = (struct podjson_bytes){.text = text, .size = size};
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

void podjson_get_counts(const struct podjson *walk, struct podjson_counts *ret)
{
	*ret = walk->counts;
}

void podjson_get_list(const struct podjson *walk, struct podjson_list *ret)
{
	*ret = walk->listed ? walk->list : (struct podjson_list){};
}

static bool names(const struct podjson *walk, size_t from, size_t to, const char *quoted)
{
	return to - from == strlen(quoted) && memcmp(walk->in.text + from, quoted, to - from) == 0;
}

/* Sieves, parses and tells the pod that these bytes are. 0: told; 1: passed over; -ENOMEM. */
static int tell(struct podjson *walk, size_t from, size_t to, const struct podjson_sink *sink)
{
	/* A number too large for an integer would cost the whole pod; a real holds it, and exactly
	 * those that anybody means. */
	const size_t flags = JSON_DECODE_INT_AS_REAL;
	json_error_t error = {};
	json_t *pod;
	bool told;
	int r;

	if (sink->object) {
		sink->object(sink->userdata, walk->in.text + from, to - from);
		return 0;
	}
	if (to - from > PODJSON_POD_MAX)
		return 1;
	buf_reset(&walk->sieved);
	r = podjson_sieve(walk->in.text + from, to - from, &walk->sieved);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	pod = json_loadb(buf_str(&walk->sieved), walk->sieved.len, flags, &error);
	if (!pod)
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : 1;
	told = podjson_pod_tell(pod, sink);
	json_decref(pod);
	return told ? 0 : 1;
}

static int tell_and_count(struct podjson *walk, size_t from, const struct podjson_sink *sink)
{
	int r = tell(walk, from, walk->in.at, sink);

	walk->counts.pods += r == 0;
	walk->counts.skipped += r == 1;
	return r < 0 ? r : 0;
}

/* The outer object is over: nothing may follow, and what has no items is a pod itself. */
static int finish(struct podjson *walk, const struct podjson_sink *sink)
{
	size_t end = walk->in.at;
	int r = 0;

	if (podjson_peek(&walk->in) || walk->in.at < walk->in.size)
		return -EBADMSG;
	walk->in.at = end;
	if (walk->listed ? walk->kind_other : walk->kind_list)
		return -EBADMSG;
	if (!walk->listed)
		r = tell_and_count(walk, walk->outer, sink);
	if (r == 0 && !walk->listed && walk->counts.pods == 0)
		return -EBADMSG;
	walk->place = AT_END;
	return r;
}

static void begin(struct podjson *walk, enum place place)
{
	podjson_peek(&walk->in);
	walk->scan = (struct podjson_scan){};
	walk->from = walk->in.at;
	walk->place = place;
}

/* "name": of the outer object, and the bracket of the items. */
static int member(struct podjson *walk)
{
	struct podjson_scan scan = {};
	size_t from, limit, to;

	if (walk->any_member && !podjson_take(&walk->in, ','))
		return -EBADMSG;
	walk->any_member = true;
	if (podjson_peek(&walk->in) != '"')
		return -EBADMSG;
	from = walk->in.at;
	limit = walk->in.size - from > PIECE_BYTES ? from + PIECE_BYTES : walk->in.size;
	if (podjson_scan(&scan, &walk->in, limit) <= 0)
		return -EBADMSG;
	to = walk->in.at;
	if (!podjson_take(&walk->in, ':'))
		return -EBADMSG;
	walk->is_kind = names(walk, from, to, "\"kind\"");
	walk->is_items = names(walk, from, to, "\"items\"");
	walk->is_metadata = names(walk, from, to, "\"metadata\"");
	walk->listed |= walk->is_items;
	if (walk->listed && walk->kind_other)
		return -EBADMSG;
	walk->any_item = false;
	if (walk->is_items && podjson_take(&walk->in, '['))
		walk->place = AT_ITEM;
	else
		begin(walk, IN_VALUE);
	return 0;
}

static int at_member(struct podjson *walk, const struct podjson_sink *sink)
{
	return podjson_take(&walk->in, '}') ? finish(walk, sink) : member(walk);
}

static int at_item(struct podjson *walk)
{
	if (podjson_take(&walk->in, ']')) {
		walk->place = AT_MEMBER;
		return 0;
	}
	if (walk->any_item && !podjson_take(&walk->in, ','))
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
		podjson_list_read(walk->in.text + from, to - from, &walk->list);
	if (!walk->is_kind)
		return 0;
	walk->kind_list = names(walk, from, to, "\"PodList\"") || names(walk, from, to, "\"List\"");
	walk->kind_other = !walk->kind_list;
	return walk->listed && walk->kind_other ? -EBADMSG : 0;
}

static int item(struct podjson *walk, const struct podjson_sink *sink)
{
	walk->place = AT_ITEM;
	return tell_and_count(walk, walk->from, sink);
}

/* Goes on over the value that the walk is in; 1: it is not over yet. */
static int piece(struct podjson *walk)
{
	size_t left = walk->in.size - walk->in.at;
	size_t limit = left > PIECE_BYTES ? walk->in.at + PIECE_BYTES : walk->in.size;
	int r = podjson_scan(&walk->scan, &walk->in, limit);

	if (r == 0)
		return walk->in.at == walk->in.size ? -EBADMSG : 1;
	return r < 0 ? r : 0;
}

static int start(struct podjson *walk)
{
	if (podjson_peek(&walk->in) != '{')
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
	uint64_t before = walk->counts.pods + walk->counts.skipped;
	size_t from = walk->in.at;
	int r = 0;

	while (r == 0 && walk->place != AT_END && walk->in.at - from < PIECE_BYTES &&
	       walk->counts.pods + walk->counts.skipped == before)
		r = step(walk, sink);
	if (r < 0) {
		walk->place = AT_BREAK;
		walk->error = r;
		return r;
	}
	return walk->place != AT_END;
}
