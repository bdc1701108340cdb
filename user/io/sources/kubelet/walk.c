// SPDX-License-Identifier: Apache-2.0
/* Tells what an answer says, a slice at a time, and which pods it says nothing of any more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/proc/clock.h"
#include "io/sources/kubelet/priv.h"

#define SLICE_NS   500000
#define SLICE_GONE 64

/* Answers in a row. */
#define BEHIND_MAX 3

static void add_uid(struct podsrc_kubelet_uids *uids, const char *uid)
{
	size_t room = uids->room ? uids->room * 2 : 128;

	if (uids->n == PODSRC_KUBELET_PODS_MAX) {
		uids->full = true;
		return;
	}
	if (uids->n == uids->room) {
		void *list = reallocarray(uids->list, room, sizeof(uids->list[0]));

		if (!list) {
			uids->full = true;
			return;
		}
		uids->list = list;
		uids->room = room;
	}
	strcpy(uids->list[uids->n++].text, uid);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Older than what was told: from a server that is behind. After three of them that is how it is, as
 * where the database was restored. */
static bool is_behind(const struct podsrc_kubelet *k)
{
	struct podjson_list list;

	podjson_get_list(k->walk, &list);
	return list.version && list.version < k->version && k->behind < BEHIND_MAX;
}

static void on_pod(void *userdata, const struct podjson_pod *pod)
{
	struct podsrc_kubelet *k = userdata;
	struct meta_pod meta = pod->meta;

	/* The kubelet lists static pods as such, never by their mirrors (pkg/kubelet/pod, GetPods):
	 * one that says it is a mirror is somebody's who wants to be taken for a static pod. The
	 * API's are images, which come and go without the pods. */
	k->leaving_out = pod->mirror || is_behind(k);
	if (k->leaving_out)
		return;
	/* Anybody can write the annotation that a kubelet puts on its static pods. */
	if (k->source == META_API)
		meta.is_static = false;
	add_uid(&k->now, meta.uid);
	k->now.by_api |= !meta.is_static;
	podsrc_kubelet_found(k, meta.uid);
	meta.source = k->source;
	meta.asked_ns = k->asked_ns;
	k->sink.pod(k->sink.userdata, &meta);
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct podsrc_kubelet *k = userdata;
	struct meta_container meta = *container;

	meta.source = k->source;
	if (!k->leaving_out)
		k->sink.container(k->sink.userdata, &meta);
}

void podsrc_kubelet_take(struct podsrc_kubelet *k)
{
	k->now.n = 0;
	k->now.full = k->now.by_api = false;
	if (podjson_new(k->reply ?: "", k->reply_len, &k->walk) < 0) {
		podsrc_kubelet_down(k, "there is no memory for its answer");
		return;
	}
	sd_event_source_set_enabled(k->work, SD_EVENT_ON);
}

/* A kubelet that was started while the API is away, or has not yet heard of it, lists static pods
 * alone: that says nothing of the others, which run on. */
static bool is_ignorant(const struct podsrc_kubelet *k)
{
	return k->source == META_KUBELET && k->before.by_api && !k->now.by_api;
}

static void end_walk(struct podsrc_kubelet *k)
{
	k->walk = podjson_free(k->walk);
	sd_event_source_set_enabled(k->work, SD_EVENT_OFF);
}

/* The walk went to the end of a whole answer. */
static void begin_comparing(struct podsrc_kubelet *k)
{
	bool behind = is_behind(k);
	struct podjson_list list;

	podjson_get_list(k->walk, &list);
	k->behind = behind ? k->behind + 1 : 0;
	if (behind || list.partial) {
		end_walk(k);
		podsrc_kubelet_down(k, "%s",
				    behind ? "its list is older than the one before"
					   : "its list goes on elsewhere (continue)");
		return;
	}
	k->version = list.version;
	if (k->now.n)
		qsort(k->now.list, k->now.n, sizeof(k->now.list[0]), by_text);
	k->comparing = true;
	k->gone_at = 0;
}

static void finish(struct podsrc_kubelet *k)
{
	struct podsrc_kubelet_uids before = k->before;
	bool whole = !k->now.full && !is_ignorant(k);
	struct podjson_counts counts;

	podjson_get_counts(k->walk, &counts);
	end_walk(k);
	k->comparing = false;
	if (!is_ignorant(k)) {
		k->before = k->now;
		k->now = before;
	}
	if (whole && k->sink.listed)
		k->sink.listed(k->sink.userdata, k->source, k->asked_ns);
	podsrc_kubelet_up(k, &counts);
}

/* Tells the pods that were listed before and are not now. With more pods than are kept, one that is
 * not among those kept may still be there. */
static void compare(struct podsrc_kubelet *k)
{
	size_t limit = k->gone_at + SLICE_GONE;

	if (k->now.full || is_ignorant(k))
		k->gone_at = k->before.n;
	for (; k->gone_at < k->before.n && k->gone_at < limit; k->gone_at++) {
		const char *uid = k->before.list[k->gone_at].text;
		struct meta_pod gone = {.source = k->source, .gone = true, .asked_ns = k->asked_ns};

		if (k->now.n &&
		    bsearch(uid, k->now.list, k->now.n, sizeof(k->now.list[0]), by_text))
			continue;
		strcpy(gone.uid, uid);
		k->sink.pod(k->sink.userdata, &gone);
	}
	if (k->gone_at == k->before.n)
		finish(k);
}

static void give_up(struct podsrc_kubelet *k, int error)
{
	struct podjson_counts counts;
	size_t len = k->reply_len;

	podjson_get_counts(k->walk, &counts);
	end_walk(k);
	if (error == -ENOMEM)
		podsrc_kubelet_down(k, "there is no memory for its answer");
	else if (counts.pods == 0)
		podsrc_kubelet_down(k, "its answer of %zu bytes is no list of pods", len);
	else
		podsrc_kubelet_down(k, "its list of pods breaks off after %llu of them",
				    (unsigned long long)counts.pods);
}

int podsrc_kubelet_on_work(sd_event_source *source, void *userdata)
{
	struct podsrc_kubelet *k = userdata;
	const struct podjson_sink sink = {k, on_pod, on_container, NULL};
	uint64_t end_ns = clock_monotonic_ns() + SLICE_NS;
	int r;

	(void)source;
	if (k->comparing) {
		compare(k);
		return 0;
	}
	do
		r = podjson_next(k->walk, &sink);
	while (r > 0 && clock_monotonic_ns() < end_ns);
	if (r < 0)
		give_up(k, r);
	else if (r == 0)
		begin_comparing(k);
	return 0;
}
