// SPDX-License-Identifier: Apache-2.0
/* Sandboxes and containers of tests, as a runtime would tell them. */
#include "lib/cri/criparts.h"

#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

/* The same facts have other numbers in each message. */
static const struct {
	uint32_t metadata, state, labels, annotations, image, image_ref, image_id;
} FIELDS[] = {
	[CRIPARTS_LIST_SANDBOX] = {2, 3, 5, 6, 0, 0, 0},
	[CRIPARTS_EVENT_SANDBOX] = {2, 3, 7, 8, 0, 0, 0},
	[CRIPARTS_LIST_CONTAINER] = {3, 6, 8, 9, 4, 5, 10},
	[CRIPARTS_STATUS] = {2, 3, 12, 13, 8, 9, 17},
};

static void write_pairs(struct buf *buf, uint32_t field, const struct criparts_pair *pairs,
			size_t n)
{
	for (size_t i = 0; i < n && pairs[i].key; i++)
		crienc_pair(buf, field, pairs[i].key, pairs[i].value);
}

static void write_text(struct buf *buf, uint32_t field, const char *text)
{
	if (text)
		crienc_text(buf, field, text);
}

void criparts_write_sandbox(struct buf *buf, enum criparts_answer answer,
			    const struct criparts_sandbox *s)
{
	_cleanup_(buf_free) struct buf inner = {};

	write_text(buf, 1, s->id);
	write_text(&inner, 1, s->name);
	write_text(&inner, 2, s->uid);
	write_text(&inner, 3, s->namespace_);
	crienc_int(&inner, 4, s->attempt);
	crienc_message(buf, FIELDS[answer].metadata, &inner);
	crienc_int(buf, FIELDS[answer].state, s->state);
	write_pairs(buf, FIELDS[answer].labels, s->labels, LEN(s->labels));
	write_pairs(buf, FIELDS[answer].annotations, s->annotations, LEN(s->annotations));
}

void criparts_write_container(struct buf *buf, enum criparts_answer answer,
			      const struct criparts_container *c)
{
	_cleanup_(buf_free) struct buf inner = {};

	write_text(buf, 1, c->id);
	if (answer == CRIPARTS_LIST_CONTAINER)
		write_text(buf, 2, c->sandbox_id);
	write_text(&inner, 1, c->name);
	crienc_int(&inner, 2, c->attempt);
	crienc_message(buf, FIELDS[answer].metadata, &inner);
	write_text(&inner, 1, c->image);
	write_text(&inner, 18, c->user_image);
	crienc_message(buf, FIELDS[answer].image, &inner);
	write_text(buf, FIELDS[answer].image_ref, c->image_ref);
	write_text(buf, FIELDS[answer].image_id, c->image_id);
	crienc_int(buf, FIELDS[answer].state, c->state);
	write_pairs(buf, FIELDS[answer].labels, c->labels, LEN(c->labels));
	write_pairs(buf, FIELDS[answer].annotations, c->annotations, LEN(c->annotations));
}

void criparts_read(struct buf *buf, enum criparts_answer answer, const char *node,
		   struct cri_item *ret)
{
	_cleanup_(buf_free) struct buf bytes = {};
	struct cri_event event;
	struct cri_walk walk;

	memset(ret, 0xaa, sizeof(*ret));
	if (answer == CRIPARTS_EVENT_SANDBOX) {
		crienc_text(&bytes, 1, "s1");
		crienc_message(&bytes, 4, buf);
		assert_int_equal(cri_read_event(bytes.data, bytes.len, node, &event), 0);
		assert_true(event.has_sandbox);
		*ret = event.sandbox;
	} else if (answer == CRIPARTS_STATUS) {
		crienc_message(&bytes, 1, buf);
		assert_int_equal(cri_read_status(bytes.data, bytes.len, ret), 0);
	} else {
		crienc_message(&bytes, 1, buf);
		cri_walk_start(&walk,
			       answer == CRIPARTS_LIST_SANDBOX ? CRI_SANDBOXES : CRI_CONTAINERS,
			       node, bytes.data, bytes.len);
		assert_int_equal(cri_walk_next(&walk, ret), CRI_WALK_ITEM);
		assert_int_equal(walk.at, walk.len);
		assert_int_equal(walk.items, 1);
		assert_int_equal(walk.refused, ret->refused);
		assert_int_equal(cri_walk_next(&walk, ret), CRI_WALK_END);
	}
}

void criparts_sandbox(enum criparts_answer answer, const struct criparts_sandbox *s,
		      const char *node, struct cri_item *ret)
{
	_cleanup_(buf_free) struct buf buf = {};

	criparts_write_sandbox(&buf, answer, s);
	criparts_read(&buf, answer, node, ret);
}

void criparts_container(enum criparts_answer answer, const struct criparts_container *c,
			struct cri_item *ret)
{
	_cleanup_(buf_free) struct buf buf = {};

	criparts_write_container(&buf, answer, c);
	criparts_read(&buf, answer, NULL, ret);
}
