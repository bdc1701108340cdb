// SPDX-License-Identifier: Apache-2.0
/* What the peer has, and what it answers of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "lib/claim.h"
#include "lib/cri/crienc.h"
#include "lib/cri/cripeer.h"

#define PAD ((size_t)100 << 10)

const char *cripeer_id(unsigned int number, char ret[static META_ID_MAX])
{
	snprintf(ret, META_ID_MAX, "%064u", number);
	return ret;
}

struct cripeer_container *cripeer_add(struct cripeer *peer, unsigned int number, const char *name,
				      unsigned int pod)
{
	struct cripeer_container *c;

	assert_true(ROOM_FOR_ONE(peer->containers, peer->n, peer->room, 16));
	c = peer->containers + peer->n++;
	*c = (struct cripeer_container){.sandbox = !*name, .state = *name ? 1 : 0};
	cripeer_id(number, c->id);
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->pod, sizeof(c->pod), "pod-%u", pod);
	snprintf(c->uid, sizeof(c->uid), "00000000-0000-4000-8000-%012u", pod);
	snprintf(c->image, sizeof(c->image), "example.com/%s:1", name);
	return c;
}

void cripeer_remove_all(struct cripeer *peer)
{
	free(peer->containers);
	peer->containers = NULL;
	peer->n = peer->room = 0;
}

static void write_labels(struct buf *buf, uint32_t field, const struct cripeer_container *c)
{
	crienc_pair(buf, field, "io.kubernetes.pod.name", c->pod);
	crienc_pair(buf, field, "io.kubernetes.pod.namespace", "default");
	crienc_pair(buf, field, "io.kubernetes.pod.uid", c->uid);
	if (!c->sandbox)
		crienc_pair(buf, field, "io.kubernetes.container.name", c->name);
}

/* As long as what the kubelet writes there: the last configuration applied, a hash, log paths. */
static void write_annotations(struct buf *buf, uint32_t field, size_t len)
{
	static const char value[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"annotations\":{}}}";
	char key[64];

	for (size_t n = 0; n < len; n += sizeof(value) + sizeof("example.com/annotation-0000")) {
		snprintf(key, sizeof(key), "example.com/annotation-%04zu", n);
		crienc_pair(buf, field, key, value);
	}
}

static void write_sandbox(struct buf *buf, const struct cripeer_container *c, size_t annotations)
{
	_cleanup_(buf_free) struct buf metadata = {};

	crienc_text(buf, 1, c->id);
	crienc_text(&metadata, 1, c->pod);
	crienc_text(&metadata, 2, c->uid);
	crienc_text(&metadata, 3, "default");
	crienc_message(buf, 2, &metadata);
	crienc_int(buf, 3, c->state);
	write_labels(buf, 5, c);
	write_annotations(buf, 6, annotations);
}

static void write_named(struct buf *buf, uint32_t field, const char *name)
{
	_cleanup_(buf_free) struct buf inner = {};

	crienc_text(&inner, 1, name);
	crienc_message(buf, field, &inner);
}

static void write_container(struct buf *buf, const struct cripeer_container *c, size_t annotations)
{
	crienc_text(buf, 1, c->id);
	write_named(buf, 3, c->name);
	write_named(buf, 4, c->image);
	crienc_text(buf, 5, c->image);
	crienc_int(buf, 6, c->state);
	write_labels(buf, 8, c);
	write_annotations(buf, 9, annotations);
	if (c->hook)
		crienc_pair(buf, 9, "io.kubernetes.container.preStopHandler", c->hook);
}

static void write_status(struct buf *buf, const struct cripeer_container *c, size_t annotations)
{
	crienc_text(buf, 1, c->id);
	write_named(buf, 2, c->name);
	crienc_int(buf, 3, c->state);
	if (c->state == CRI_STATE_EXITED) {
		crienc_int(buf, 6, 1700000000000000000);
		crienc_int(buf, 7, c->exit_code);
		crienc_text(buf, 10, c->exit_code ? "Error" : "Completed");
	}
	write_named(buf, 8, c->image);
	crienc_text(buf, 9, c->image);
	write_labels(buf, 12, c);
	write_annotations(buf, 13, annotations);
	if (c->hook)
		crienc_pair(buf, 13, "io.kubernetes.container.preStopHandler", c->hook);
	if (c->stop_signal)
		crienc_int(buf, 19, c->stop_signal);
}

/* The key of any question: its only text, however deep it is. "" where there is none. */
static void read_key(const struct buf *question, char ret[static CRI_KEY_MAX])
{
	const uint8_t *at = (const uint8_t *)question->data + 5, *end = at + question->len - 5;

	ret[0] = 0;
	while (at + 2 <= end && at[0] == 0x0a) {
		size_t len = at[1] & 0x7f;
		size_t skip = 2;

		if (at[1] & 0x80) {
			len |= (size_t)at[2] << 7;
			skip = 3;
		}
		at += skip;
		if (at + len > end)
			return;
		memcpy(ret, at, len);
		ret[len] = 0;
	}
}

static const struct cripeer_container *find(const struct cripeer *peer, const char *id)
{
	for (size_t i = 0; i < peer->n; i++)
		if (strcmp(peer->containers[i].id, id) == 0)
			return peer->containers + i;
	return NULL;
}

static void pad(const struct cripeer *peer, struct buf *ret)
{
	_cleanup_(cleanup_free) char *zeros = calloc(1, PAD);

	assert_non_null(zeros);
	ret->limit = (size_t)64 << 20;
	for (size_t n = 0; n < peer->padding; n += PAD)
		crienc_bytes(ret, 1000, zeros, PAD);
}

static void write_list(const struct cripeer *peer, bool sandboxes, const char *key, struct buf *ret)
{
	_cleanup_(buf_free) struct buf item = {};

	for (size_t i = 0; i < peer->n; i++) {
		const struct cripeer_container *c = peer->containers + i;

		if (c->sandbox != sandboxes || (*key && strcmp(c->id, key) != 0))
			continue;
		if (sandboxes)
			write_sandbox(&item, c, peer->annotations);
		else
			write_container(&item, c, peer->annotations);
		crienc_message(ret, 1, &item);
	}
}

static int answer_status(const struct cripeer *peer, const char *id, struct buf *ret)
{
	const struct cripeer_container *c = find(peer, id);
	_cleanup_(buf_free) struct buf status = {};

	if (!c || c->sandbox)
		return -GRPC_NOT_FOUND;
	write_status(&status, c, peer->annotations);
	crienc_message(ret, 1, &status);
	return 0;
}

static void answer_image(const struct cripeer *peer, struct buf *ret)
{
	_cleanup_(buf_free) struct buf json = {};

	buf_adds(&json, "{\"imageSpec\":{\"config\":{");
	if (peer->image_signal)
		buf_printf(&json, "\"StopSignal\":\"%s\"", peer->image_signal);
	buf_adds(&json, "}}}");
	write_named(ret, 1, "sha256:0");
	crienc_pair(ret, 2, "info", buf_str(&json));
}

/* What follows the ID: a timeout, or arguments. */
static void note_request(struct cripeer *peer, enum cri_method method, const struct buf *question,
			 size_t id_len)
{
	const uint8_t *at = (const uint8_t *)question->data + 5 + 2 + id_len;
	const uint8_t *end = (const uint8_t *)question->data + question->len;
	size_t used = 0;

	peer->timeout_s = method == CRI_STOP ? 0 : peer->timeout_s;
	for (unsigned int shift = 0; method == CRI_STOP && at + 1 < end; shift += 7)
		peer->timeout_s |= (uint64_t)(*++at & 0x7f) << shift;
	for (; method == CRI_EXEC && at + 2 <= end; at += 2 + at[1])
		used += (size_t)snprintf(peer->command + used, sizeof(peer->command) - used,
					 "%s%.*s", used ? "|" : "", at[1], at + 2);
}

static void answer_exec(const struct cripeer *peer, struct buf *ret)
{
	_cleanup_(cleanup_free) char *text = calloc(1, peer->printed + 1);

	assert_non_null(text);
	ret->limit = (size_t)64 << 20;
	crienc_bytes(ret, 1, text, peer->printed);
	crienc_int(ret, 3, peer->code);
}

int cripeer_answer(struct cripeer *peer, enum cri_method method, const struct buf *question,
		   struct buf *ret)
{
	bool is_list = method == CRI_SANDBOXES || method == CRI_CONTAINERS;
	char key[CRI_KEY_MAX];

	read_key(question, key);
	peer->asked[method]++;
	peer->singly[method] += key[0] != 0;
	if (peer->act[method] == CRIPEER_LONG && (!key[0] || !is_list))
		pad(peer, ret);
	switch (method) {
	case CRI_VERSION:
		crienc_text(ret, 1, "0.1.0");
		crienc_text(ret, 2, "peer");
		crienc_text(ret, 3, "1.0");
		crienc_text(ret, 4, "v1");
		return 0;
	case CRI_SANDBOXES:
	case CRI_CONTAINERS:
		write_list(peer, method == CRI_SANDBOXES, key, ret);
		return 0;
	case CRI_STATUS:
		return answer_status(peer, key, ret);
	case CRI_IMAGE_STATUS:
		answer_image(peer, ret);
		return 0;
	case CRI_STOP:
	case CRI_STOP_SANDBOX:
		note_request(peer, method, question, strlen(key));
		return find(peer, key) ? 0 : -GRPC_NOT_FOUND;
	case CRI_EXEC:
		note_request(peer, method, question, strlen(key));
		answer_exec(peer, ret);
		return find(peer, key) ? 0 : -GRPC_NOT_FOUND;
	default:
		return -GRPC_UNIMPLEMENTED;
	}
}

bool cripeer_is_mute(const struct cripeer *peer, enum cri_method method, const struct buf *question)
{
	char key[CRI_KEY_MAX];

	read_key(question, key);
	return peer->mute && method == CRI_STATUS && strcmp(key, peer->mute) == 0;
}

void cripeer_event_message(const char *id, enum cri_event_type type, struct buf *ret)
{
	crienc_text(ret, 1, id);
	crienc_int(ret, 2, type);
	crienc_int(ret, 3, 1700000000000000000);
}
