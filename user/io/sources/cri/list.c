// SPDX-License-Identifier: Apache-2.0
/* Lists everything the runtime has, and tells it a slice at a time. */
#include <errno.h>
#include <string.h>

#include "io/proc/clock.h"
#include "io/sources/cri/priv.h"

#define INTERVAL_NS UINT64_C(100000000)
/* A list takes at most one part of so many of the time. */
#define SHARE	    10

static const char *const names[] = {
	[CRI_SANDBOXES] = "ListPodSandbox",
	[CRI_CONTAINERS] = "ListContainers",
};

static void on_answer(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer);

static void wake(struct podsrc_cri *cri)
{
	sd_event_source_set_enabled(cri->slice, SD_EVENT_ONESHOT);
}

static void fail(struct podsrc_cri *cri, enum cri_method method, const char *text)
{
	podsrc_cri_session_fail(cri, names[method], text);
}

static void ask(struct podsrc_cri *cri, enum cri_method method)
{
	if (podsrc_cri_call(cri, method, NULL, NULL, on_answer) < 0)
		fail(cri, method, "out of memory");
}

static void end_walk(struct podsrc_cri *cri)
{
	struct podsrc_cri_list *list = &cri->list;

	buf_free(&list->body);
	if (list->walk.method == CRI_SANDBOXES) {
		ask(cri, CRI_CONTAINERS);
		return;
	}
	list->finishing = true;
	wake(cri);
}

/* A list that is too long for us, or for the runtime to send, is no reason to ask for nothing. */
static void on_answer(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer)
{
	struct podsrc_cri *cri = call->cri;
	struct podsrc_cri_list *list = &cri->list;
	bool too_long = answer->verdict == VERDICT_LOST ||
			answer->grpc_status == CRI_GRPC_RESOURCE_EXHAUSTED;

	list->walk.method = call->method;
	if (answer->verdict == VERDICT_ANSWER) {
		list->body = call->body;
		call->body = (struct buf){};
		cri_walk_start(&list->walk, call->method, cri->node[0] ? cri->node : NULL,
			       answer->payload, answer->len);
		wake(cri);
	} else if (too_long) {
		list->useless = true;
		end_walk(cri);
	} else {
		fail(cri, call->method, answer->text);
	}
}

static void tell(struct podsrc_cri *cri, struct cri_item *item)
{
	const struct meta_container *container = &item->container;
	struct podsrc_cri_lookup *lookup;
	bool lacks_signal =
		item->state == CRI_STATE_RUNNING && container->kind == META_KIND_CONTAINER;

	if (podsrc_cri_look_tell(cri, item))
		lacks_signal = false;
	/* Whoever was told may have asked for more, or all may have begun anew. */
	lookup = podsrc_cri_queue_get(&cri->queue, container->id, false);
	if (lookup && lookup->place == PLACE_LISTED) {
		lookup->seen = true;
		lookup->lacks_signal = lacks_signal;
	} else if (!lookup && lacks_signal) {
		podsrc_cri_queue_add(&cri->queue, container->id, false, PLACE_IDLE);
	}
}

/* 1 at the end of the list, 0 when the slice is over. */
static int walk_slice(struct podsrc_cri *cri, uint64_t until_ns)
{
	struct cri_item item;
	int r;

	do {
		r = cri_walk_next(&cri->list.walk, &item);
		if (r == CRI_WALK_ITEM)
			tell(cri, &item);
		if (r == CRI_WALK_END)
			return 1;
	} while (r >= 0 && cri->list.active && clock_boot_ns() < until_ns);
	return r < 0 ? r : 0;
}

static void finish_seen(struct podsrc_cri *cri, struct podsrc_cri_lookup *lookup)
{
	bool lacks_signal = lookup->lacks_signal;
	char id[META_ID_MAX];

	memcpy(id, lookup->id, sizeof(id));
	podsrc_cri_look_end(cri, lookup, META_FOUND);
	if (lacks_signal && !podsrc_cri_queue_get(&cri->queue, id, false))
		podsrc_cri_queue_add(&cri->queue, id, false, PLACE_IDLE);
}

static bool finish_slice(struct podsrc_cri *cri, uint64_t until_ns)
{
	struct podsrc_cri_lookup *lookup;

	while ((lookup = cri->queue.places[PLACE_LISTED].first)) {
		if (lookup->seen)
			finish_seen(cri, lookup);
		else if (cri->list.initial || cri->list.useless)
			podsrc_cri_queue_move(&cri->queue, lookup, PLACE_WAITING);
		else
			podsrc_cri_look_end(cri, lookup, META_ABSENT);
		if (clock_boot_ns() >= until_ns)
			return false;
	}
	return true;
}

static void finish(struct podsrc_cri *cri)
{
	struct podsrc_cri_list *list = &cri->list;
	bool initial = list->initial;
	uint64_t rest_ns = list->spent_ns * SHARE;

	list->active = list->finishing = false;
	list->due_ns = clock_boot_ns() + (rest_ns > INTERVAL_NS ? rest_ns : INTERVAL_NS);
	if (initial)
		podsrc_cri_session_ready(cri);
	podsrc_cri_look_pump(cri);
}

static void doom_slice(struct podsrc_cri *cri, uint64_t until_ns)
{
	struct podsrc_cri_lookup *lookup;

	while ((lookup = cri->queue.places[PLACE_DOOMED].first) && clock_boot_ns() < until_ns)
		podsrc_cri_look_end(cri, lookup, META_FAILED);
}

static void list_slice(struct podsrc_cri *cri, uint64_t until_ns)
{
	struct podsrc_cri_list *list = &cri->list;
	int r;

	if (list->finishing) {
		if (finish_slice(cri, until_ns) && list->active)
			finish(cri);
		return;
	}
	r = walk_slice(cri, until_ns);
	if (r < 0)
		fail(cri, list->walk.method, "the answer makes no sense");
	else if (r > 0)
		end_walk(cri);
}

static int on_slice(sd_event_source *source, void *userdata)
{
	struct podsrc_cri *cri = userdata;
	struct podsrc_cri_list *list = &cri->list;
	uint64_t now_ns = clock_boot_ns(), began_ns = clock_thread_ns();

	(void)source;
	doom_slice(cri, now_ns + PODSRC_CRI_SLICE_NS);
	if (list->active && (list->body.data || list->finishing)) {
		list_slice(cri, now_ns + PODSRC_CRI_SLICE_NS);
		list->spent_ns += clock_thread_ns() - began_ns;
	}
	if (cri->queue.places[PLACE_DOOMED].first ||
	    (list->active && (list->body.data || list->finishing)))
		wake(cri);
	return 0;
}

int podsrc_cri_list_open(struct podsrc_cri *cri)
{
	int r = sd_event_add_defer(cri->event, &cri->slice, on_slice, cri);

	if (r < 0)
		return r;
	/* Whatever else there is to do comes first. */
	sd_event_source_set_priority(cri->slice, SD_EVENT_PRIORITY_NORMAL + 10);
	return sd_event_source_set_enabled(cri->slice, SD_EVENT_OFF);
}

void podsrc_cri_list_close(struct podsrc_cri *cri)
{
	buf_free(&cri->list.body);
	cri->slice = sd_event_source_disable_unref(cri->slice);
}

static void move_all(struct podsrc_cri *cri, enum podsrc_cri_place from, enum podsrc_cri_place to)
{
	struct podsrc_cri_lookup *lookup;

	while ((lookup = cri->queue.places[from].first))
		podsrc_cri_queue_move(&cri->queue, lookup, to);
}

void podsrc_cri_list_start(struct podsrc_cri *cri, bool initial)
{
	struct podsrc_cri_lookup *lookup, *next;

	cri->list.active = true;
	cri->list.initial = initial;
	cri->list.spent_ns = 0;
	for (lookup = cri->queue.places[PLACE_WAITING].first; lookup; lookup = next) {
		next = lookup->next;
		lookup->seen = false;
		podsrc_cri_queue_move(&cri->queue, lookup, PLACE_LISTED);
	}
	ask(cri, CRI_SANDBOXES);
}

void podsrc_cri_list_abort(struct podsrc_cri *cri, enum podsrc_cri_place place)
{
	cri->list.active = cri->list.finishing = false;
	buf_free(&cri->list.body);
	move_all(cri, PLACE_LISTED, place);
}

void podsrc_cri_list_tell_doomed(struct podsrc_cri *cri)
{
	if (cri->queue.places[PLACE_DOOMED].first)
		wake(cri);
}
