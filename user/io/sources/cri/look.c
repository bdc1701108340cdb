// SPDX-License-Identifier: Apache-2.0
/*
 * Looks one container up: a list of those with its ID, or of sandboxes with it; its status for its
 * own stop signal; else its image's. Its status alone would name it, too, but containerd logs an
 * error for everyone that is not a container.
 */
#include "io/loop/loop.h"
#include "io/sources/cri/call.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/proc/clock.h"

/* Each has a connection of its own; with the list and a probe they are fewer than 31. */
#define FLYING_MAX     4
#define TOGETHER       16		 /* more of them are listed */
#define COST_NS	       UINT64_C(5000000) /* 200 a second */
#define BURST_NS       (100 * COST_NS)
#define RESERVE_NS     (16 * COST_NS) /* not for those that no caller waits for */
#define TRIES_MAX      5
#define FIRST_AGAIN_NS UINT64_C(100000000) /* then four times as long each time */

#define INTERVAL_NS UINT64_C(100000000)
/* A list takes at most one part of so many of the time. */
#define SHARE	    10

/* Waiting look-ups beyond which an event makes no further one. */
#define CROWD	   2048
#define IMAGES_MAX 256
#define AGAIN_MAX  256

static const char *const names[] = {
	[CRI_SANDBOXES] = "ListPodSandbox",
	[CRI_CONTAINERS] = "ListContainers",
};

/* The stop signals of images, which do not change. */
struct images {
	struct {
		char *key;
		uint32_t signal;
	} list[IMAGES_MAX];
	size_t n, oldest;
};

/* To be asked once more, at a time. */
struct again {
	char id[META_ID_MAX];
	bool exit;
	unsigned int tries;
	uint64_t due_ns;
};

struct list {
	bool active;
	bool initial;
	bool finishing; /* all is reported; who waits for it is not answered yet */
	bool useless;	/* too long to be read */
	struct buf body;
	struct cri_walk walk;
	uint64_t spent_ns; /* CPU time that it takes, or the last one took */
	uint64_t due_ns;   /* of the next one */
};

struct source_cri_look {
	struct source_cri_calls *calls;
	struct source_cri_queue *queue;
	const char *node;
	struct source_report report;
	struct source_cri_look_session session;
	bool connected, ready;
	sd_event_source *slice; /* of the list, and of answering the doomed */
	struct list list;
	struct images images;
	struct again again[AGAIN_MAX];
	size_t n_again;
	sd_event_source *pace;
	uint64_t pace_ns; /* when it is due; 0: it is not */
	uint64_t credit_ns, credited_ns;
};

/* --- the stop signals of images ----------------------------------------------------------------- */

/* False when it is not known; *ret_signal is 0 where the runtime does not have it. */
static bool get_signal(const struct images *images, const char *key, uint32_t *ret_signal)
{
	for (size_t i = 0; i < images->n; i++) {
		if (strcmp(images->list[i].key, key) != 0)
			continue;
		*ret_signal = images->list[i].signal;
		return true;
	}
	return false;
}

/* Forgets the oldest where there is no room. */
static void put_signal(struct images *images, const char *key, uint32_t signal)
{
	uint32_t known;
	char *copy;
	size_t i;

	if (get_signal(images, key, &known))
		return;
	copy = strdup(key);
	if (!copy)
		return;
	if (images->n < IMAGES_MAX) {
		i = images->n++;
	} else {
		i = images->oldest++ % IMAGES_MAX;
		free(images->list[i].key);
	}
	images->list[i].key = copy;
	images->list[i].signal = signal;
}

static void free_images(struct images *images)
{
	for (size_t i = 0; i < images->n; i++)
		free(images->list[i].key);
	images->n = images->oldest = 0;
}

/* --- the end of a look-up ----------------------------------------------------------------------- */

static void pace(struct source_cri_look *l, uint64_t at_ns, uint64_t now_ns)
{
	if (l->pace_ns && l->pace_ns <= at_ns)
		return;
	l->pace_ns = at_ns;
	timer_after(l->pace, at_ns > now_ns ? (at_ns - now_ns) / 1000 : 0);
}

void source_cri_look_answer(struct source_cri_look *l, const char *id, enum meta_result result)
{
	source_end_lookup(&l->report, id, result);
}

/* Where all places are taken, the one that was looked up most often makes way. */
static struct again *place_again(struct source_cri_look *l, unsigned int tries)
{
	struct again *most = l->again;

	if (l->n_again < AGAIN_MAX)
		return &l->again[l->n_again++];
	for (size_t i = 1; i < l->n_again; i++)
		if (l->again[i].tries > most->tries)
			most = &l->again[i];
	return most->tries > tries + 1 ? most : NULL;
}

static void query_again(struct source_cri_look *l, const struct source_cri_lookup *lookup)
{
	struct again *again;
	uint64_t now_ns = clock_boot_ns();

	again = lookup->tries < TRIES_MAX ? place_again(l, lookup->tries) : NULL;
	if (!again)
		return;
	*again = (struct again){.exit = lookup->exit, .tries = lookup->tries + 1};
	memcpy(again->id, lookup->id, sizeof(again->id));
	again->due_ns = now_ns + (FIRST_AGAIN_NS << 2 * lookup->tries);
	pace(l, again->due_ns, now_ns);
}

static void end_lookup(struct source_cri_look *l, struct source_cri_lookup *lookup,
		       enum meta_result result)
{
	unsigned int asked = lookup->asked;
	char id[META_ID_MAX];

	memcpy(id, lookup->id, sizeof(id));
	if (result == META_ABSENT)
		query_again(l, lookup);
	source_cri_queue_remove(l->queue, lookup);
	for (; asked > 0; asked--)
		source_cri_look_answer(l, id, result);
}

/* Reports an item, with its image's stop signal where that is known. False when its stop signal is
 * still to be learnt. */
static bool report(struct source_cri_look *l, struct cri_item *item)
{
	struct meta_container *container = &item->container;
	bool learnt = container->stop_signal || !item->image_key[0] ||
		      get_signal(&l->images, item->image_key, &container->stop_signal);

	if (item->pod.uid[0])
		l->report.sink.pod(l->report.sink.userdata, &item->pod);
	l->report.sink.container(l->report.sink.userdata, container);
	return learnt;
}

/* --- a list of everything ----------------------------------------------------------------------- */

static void pump(struct source_cri_look *l);
static void on_listed(struct source_cri_call *call, const struct source_cri_answer *answer);

static void wake(struct source_cri_look *l)
{
	sd_event_source_set_enabled(l->slice, SD_EVENT_ONESHOT);
}

static void fail_list(struct source_cri_look *l, enum cri_method method, const char *text)
{
	l->session.failed(l->session.userdata, names[method], text);
}

static void query_list(struct source_cri_look *l, enum cri_method method)
{
	if (source_cri_call(l->calls, method, NULL, NULL, on_listed, l) < 0)
		fail_list(l, method, "out of memory");
}

static void end_walk(struct source_cri_look *l)
{
	struct list *list = &l->list;

	buf_free(&list->body);
	if (list->walk.method == CRI_SANDBOXES) {
		query_list(l, CRI_CONTAINERS);
		return;
	}
	list->finishing = true;
	wake(l);
}

/* A list that is too long for us, or for the runtime to send, is no reason to query nothing. */
static void on_listed(struct source_cri_call *call, const struct source_cri_answer *answer)
{
	struct source_cri_look *l = call->userdata;
	struct list *list = &l->list;
	bool too_long =
		answer->verdict == VERDICT_LOST || answer->grpc_status == GRPC_RESOURCE_EXHAUSTED;

	list->walk.method = call->method;
	if (answer->verdict == VERDICT_ANSWER) {
		list->body = call->body;
		call->body = (struct buf){};
		cri_walk_start(&list->walk, call->method, l->node, answer->payload, answer->len);
		wake(l);
	} else if (too_long) {
		list->useless = true;
		end_walk(l);
	} else {
		fail_list(l, call->method, answer->text);
	}
}

static void report_listed(struct source_cri_look *l, struct cri_item *item)
{
	const struct meta_container *container = &item->container;
	struct source_cri_lookup *lookup;
	bool lacks_signal =
		item->state == CRI_STATE_RUNNING && container->kind == META_KIND_CONTAINER;

	if (report(l, item))
		lacks_signal = false;
	/* The sink may have requested more, or the session may have begun anew. */
	lookup = source_cri_queue_get(l->queue, container->id, false);
	if (lookup && lookup->place == PLACE_LISTED) {
		lookup->seen = true;
		lookup->lacks_signal = lacks_signal;
	} else if (!lookup && lacks_signal) {
		source_cri_queue_add(l->queue, container->id, false, PLACE_IDLE);
	}
}

/* 1 at the end of the list, 0 when the slice is over. */
static int walk_slice(struct source_cri_look *l, uint64_t until_ns)
{
	struct cri_item item;
	int r;

	do {
		r = cri_walk_next(&l->list.walk, &item);
		if (r == CRI_WALK_ITEM)
			report_listed(l, &item);
		if (r == CRI_WALK_END)
			return 1;
	} while (r >= 0 && l->list.active && clock_boot_ns() < until_ns);
	return r < 0 ? r : 0;
}

static void finish_seen(struct source_cri_look *l, struct source_cri_lookup *lookup)
{
	bool lacks_signal = lookup->lacks_signal;
	char id[META_ID_MAX];

	memcpy(id, lookup->id, sizeof(id));
	end_lookup(l, lookup, META_FOUND);
	if (lacks_signal && !source_cri_queue_get(l->queue, id, false))
		source_cri_queue_add(l->queue, id, false, PLACE_IDLE);
}

static bool finish_slice(struct source_cri_look *l, uint64_t until_ns)
{
	struct source_cri_lookup *lookup;

	while ((lookup = l->queue->places[PLACE_LISTED].first)) {
		if (lookup->seen)
			finish_seen(l, lookup);
		else if (l->list.initial || l->list.useless)
			source_cri_queue_move(l->queue, lookup, PLACE_WAITING);
		else
			end_lookup(l, lookup, META_ABSENT);
		if (clock_boot_ns() >= until_ns)
			return false;
	}
	return true;
}

static void finish_list(struct source_cri_look *l)
{
	struct list *list = &l->list;
	bool initial = list->initial;
	uint64_t rest_ns = list->spent_ns * SHARE;

	list->active = list->finishing = false;
	list->due_ns = clock_boot_ns() + (rest_ns > INTERVAL_NS ? rest_ns : INTERVAL_NS);
	if (initial)
		l->session.listed(l->session.userdata);
	pump(l);
}

static void doom_slice(struct source_cri_look *l, uint64_t until_ns)
{
	struct source_cri_lookup *lookup;

	while ((lookup = l->queue->places[PLACE_DOOMED].first) && clock_boot_ns() < until_ns)
		end_lookup(l, lookup, META_FAILED);
}

static void list_slice(struct source_cri_look *l, uint64_t until_ns)
{
	struct list *list = &l->list;
	int r;

	if (list->finishing) {
		if (finish_slice(l, until_ns) && list->active)
			finish_list(l);
		return;
	}
	r = walk_slice(l, until_ns);
	if (r < 0)
		fail_list(l, list->walk.method, "the answer makes no sense");
	else if (r > 0)
		end_walk(l);
}

static int on_slice(sd_event_source *source, void *userdata)
{
	struct source_cri_look *l = userdata;
	struct list *list = &l->list;
	uint64_t now_ns = clock_boot_ns(), began_ns = clock_thread_ns();

	doom_slice(l, now_ns + SOURCE_CRI_SLICE_NS);
	if (list->active && (list->body.data || list->finishing)) {
		list_slice(l, now_ns + SOURCE_CRI_SLICE_NS);
		list->spent_ns += clock_thread_ns() - began_ns;
	}
	if (l->queue->places[PLACE_DOOMED].first ||
	    (list->active && (list->body.data || list->finishing)))
		wake(l);
	return 0;
}

static void start_list(struct source_cri_look *l, bool initial)
{
	struct source_cri_lookup *lookup, *next;

	l->list.active = true;
	l->list.initial = initial;
	l->list.spent_ns = 0;
	for (lookup = l->queue->places[PLACE_WAITING].first; lookup; lookup = next) {
		next = lookup->next;
		lookup->seen = false;
		source_cri_queue_move(l->queue, lookup, PLACE_LISTED);
	}
	query_list(l, CRI_SANDBOXES);
}

void source_cri_look_list(struct source_cri_look *l)
{
	start_list(l, true);
}

void source_cri_look_abort(struct source_cri_look *l, enum source_cri_place place)
{
	struct source_cri_lookup *lookup;

	l->list.active = l->list.finishing = false;
	buf_free(&l->list.body);
	while ((lookup = l->queue->places[PLACE_LISTED].first))
		source_cri_queue_move(l->queue, lookup, place);
}

void source_cri_look_doom(struct source_cri_look *l)
{
	struct source_cri_lookup *lookup;

	while ((lookup = l->queue->places[PLACE_WAITING].first))
		source_cri_queue_move(l->queue, lookup, PLACE_DOOMED);
	while ((lookup = l->queue->places[PLACE_EXITS].first))
		source_cri_queue_remove(l->queue, lookup);
	while ((lookup = l->queue->places[PLACE_IDLE].first))
		source_cri_queue_remove(l->queue, lookup);
	if (l->queue->places[PLACE_DOOMED].first)
		wake(l);
}

/* --- one after another -------------------------------------------------------------------------- */

static void on_status(struct source_cri_call *call, const struct source_cri_answer *answer);
static void on_image(struct source_cri_call *call, const struct source_cri_answer *answer);

static void finish(struct source_cri_look *l, struct source_cri_lookup *lookup,
		   enum meta_result result)
{
	end_lookup(l, lookup, result);
	pump(l);
}

static void query(struct source_cri_look *l, struct source_cri_lookup *lookup,
		  enum cri_method method, const char *key, source_cri_call_fn done)
{
	if (!l->connected || source_cri_call(l->calls, method, key, lookup, done, l) < 0)
		end_lookup(l, lookup, META_FAILED);
}

static void found_exit(struct source_cri_look *l, struct source_cri_lookup *lookup,
		       struct cri_item *item)
{
	if (item->state == CRI_STATE_EXITED)
		report(l, item);
	else
		query_again(l, lookup);
	finish(l, lookup, META_FOUND);
}

/* Its names were reported already: it is found, whatever the answer here. */
static void on_status(struct source_cri_call *call, const struct source_cri_answer *answer)
{
	struct source_cri_look *l = call->userdata;
	struct source_cri_lookup *lookup = call->lookup;
	struct cri_item item;

	if (answer->verdict != VERDICT_ANSWER ||
	    cri_read_status(answer->payload, answer->len, &item) < 0 ||
	    strcmp(item.container.id, lookup->id) != 0)
		finish(l, lookup, META_FOUND);
	else if (lookup->exit)
		found_exit(l, lookup, &item);
	else if (report(l, &item))
		finish(l, lookup, META_FOUND);
	else
		query(l, lookup, CRI_IMAGE_STATUS, item.image_key, on_image);
}

/* 1 when it is there, 0 when it is not. A runtime that lists others as well does not have them
 * reported, nor read for longer than a slice. */
static int pick(struct source_cri_look *l, enum cri_method method, const char *id,
		const struct source_cri_answer *answer, struct cri_item *ret)
{
	uint64_t until_ns = clock_boot_ns() + SOURCE_CRI_SLICE_NS;
	struct cri_walk walk;
	int r;

	cri_walk_start(&walk, method, l->node, answer->payload, answer->len);
	do {
		r = cri_walk_next(&walk, ret);
		if (r == CRI_WALK_ITEM && strcmp(ret->container.id, id) == 0)
			return 1;
		if (r < 0 || r == CRI_WALK_END)
			return r;
	} while (clock_boot_ns() < until_ns);
	return -ETIME;
}

static void on_list(struct source_cri_call *call, const struct source_cri_answer *answer)
{
	struct source_cri_look *l = call->userdata;
	struct source_cri_lookup *lookup = call->lookup;
	struct cri_item item;
	int r = answer->verdict == VERDICT_ANSWER ? pick(l, call->method, lookup->id, answer, &item)
						  : -EIO;

	if (r > 0)
		report(l, &item);
	if (r < 0)
		finish(l, lookup, META_FAILED);
	else if (call->method == CRI_CONTAINERS && r > 0)
		query(l, lookup, CRI_STATUS, lookup->id, on_status);
	else if (call->method == CRI_CONTAINERS)
		query(l, lookup, CRI_SANDBOXES, lookup->id, on_list);
	else
		finish(l, lookup, r > 0 ? META_FOUND : META_ABSENT);
}

/* An image that names none is stopped by SIGTERM. */
static void on_image(struct source_cri_call *call, const struct source_cri_answer *answer)
{
	struct source_cri_look *l = call->userdata;
	struct source_cri_lookup *lookup = call->lookup;
	struct meta_container learnt = {.source = META_CRI, .kind = META_KIND_CONTAINER};
	int r = answer->verdict == VERDICT_ANSWER
			? cri_read_image(answer->payload, answer->len, &learnt.stop_signal)
			: 0;

	if (answer->verdict == VERDICT_ANSWER && r == 0 && !learnt.stop_signal)
		learnt.stop_signal = SIGTERM;
	if (answer->verdict != VERDICT_LOST)
		put_signal(&l->images, call->key, learnt.stop_signal);
	memcpy(learnt.id, lookup->id, sizeof(learnt.id));
	if (learnt.stop_signal)
		l->report.sink.container(l->report.sink.userdata, &learnt);
	finish(l, lookup, META_FOUND);
}

/* True when it may be asked now; else *ret_at_ns says when. */
static bool take_credit(struct source_cri_look *l, uint64_t now_ns, uint64_t reserve_ns,
			uint64_t *ret_at_ns)
{
	uint64_t credit_ns = l->credit_ns + (now_ns - l->credited_ns);

	l->credit_ns = credit_ns < BURST_NS ? credit_ns : BURST_NS;
	l->credited_ns = now_ns;
	if (l->credit_ns >= COST_NS + reserve_ns) {
		l->credit_ns -= COST_NS;
		return true;
	}
	*ret_at_ns = now_ns + COST_NS + reserve_ns - l->credit_ns;
	return false;
}

static bool start(struct source_cri_look *l, enum source_cri_place from, uint64_t reserve_ns)
{
	struct source_cri_lookup *lookup = l->queue->places[from].first;
	uint64_t now_ns = clock_boot_ns(), at_ns;

	if (!take_credit(l, now_ns, reserve_ns, &at_ns)) {
		pace(l, at_ns, now_ns);
		return false;
	}
	source_cri_queue_move(l->queue, lookup, PLACE_FLYING);
	if (lookup->exit)
		query(l, lookup, CRI_STATUS, lookup->id, on_status);
	else
		query(l, lookup, CRI_CONTAINERS, lookup->id, on_list);
	return true;
}

/* True when those who wait are left to a list. */
static bool is_for_list(struct source_cri_look *l)
{
	uint64_t now_ns = clock_boot_ns();

	if (l->queue->places[PLACE_WAITING].n <= TOGETHER || l->list.useless)
		return false;
	if (!l->list.active && now_ns >= l->list.due_ns)
		start_list(l, false);
	else if (!l->list.active)
		pace(l, l->list.due_ns, now_ns);
	return true;
}

static bool may_fly(const struct source_cri_look *l, enum source_cri_place place)
{
	return l->ready && l->queue->places[place].n &&
	       l->queue->places[PLACE_FLYING].n < FLYING_MAX;
}

/* Starts what may be started now. */
static void pump(struct source_cri_look *l)
{
	const struct source_cri_queue *q = l->queue;

	while (may_fly(l, PLACE_WAITING) && !is_for_list(l))
		if (!start(l, PLACE_WAITING, 0))
			return;
	while (may_fly(l, PLACE_EXITS))
		if (!start(l, PLACE_EXITS, 0))
			return;
	/* One after the other, and only while there is nothing better to do. */
	if (l->ready && q->places[PLACE_IDLE].n && !q->places[PLACE_FLYING].n)
		start(l, PLACE_IDLE, RESERVE_NS);
}

static void start_again(struct source_cri_look *l, uint64_t now_ns)
{
	for (size_t i = 0; i < l->n_again;) {
		struct again again = l->again[i];
		struct source_cri_lookup *lookup;

		if (again.due_ns > now_ns) {
			pace(l, again.due_ns, now_ns);
			i++;
			continue;
		}
		l->again[i] = l->again[--l->n_again];
		if (!l->ready || source_cri_queue_get(l->queue, again.id, again.exit))
			continue;
		lookup = source_cri_queue_add(l->queue, again.id, again.exit, PLACE_WAITING);
		if (lookup)
			lookup->tries = again.tries;
	}
}

static int on_pace(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_cri_look *l = userdata;

	l->pace_ns = 0;
	start_again(l, clock_boot_ns());
	pump(l);
	return 0;
}

/* --- what is asked for -------------------------------------------------------------------------- */

void source_cri_look_up(struct source_cri_look *l, const char *id, bool exit)
{
	struct source_cri_lookup *lookup = source_cri_queue_get(l->queue, id, exit);

	if (!lookup)
		lookup = source_cri_queue_add(l->queue, id, exit, PLACE_WAITING);
	else if (lookup->place == PLACE_IDLE)
		source_cri_queue_move(l->queue, lookup, PLACE_WAITING);
	if (!lookup && !exit)
		source_cri_look_answer(l, id, META_SHED);
	if (!lookup)
		return;
	lookup->asked += !exit;
	pump(l);
}

static void look_up_named(struct source_cri_look *l, const char *id, enum source_cri_place place)
{
	if (source_cri_queue_get(l->queue, id, false) || l->queue->places[PLACE_WAITING].n > CROWD)
		return;
	source_cri_queue_add(l->queue, id, false, place);
	pump(l);
}

void source_cri_look_event(struct source_cri_look *l, struct cri_event *event)
{
	bool began = event->type == CRI_EVENT_CREATED || event->type == CRI_EVENT_STARTED;
	bool of_sandbox = event->has_sandbox && strcmp(event->sandbox.container.id, event->id) == 0;
	bool learnt = false;

	if (event->has_sandbox)
		report(l, &event->sandbox);
	if (event->has_container)
		learnt = report(l, &event->container);
	if (began && !learnt && !of_sandbox)
		look_up_named(l, event->id, event->has_container ? PLACE_IDLE : PLACE_WAITING);
}

void source_cri_look_set(struct source_cri_look *l, bool connected, bool ready)
{
	l->connected = connected;
	l->ready = ready;
}

void source_cri_look_renew(struct source_cri_look *l)
{
	l->list.useless = false;
}

void source_cri_look_count(const struct source_cri_look *l, uint64_t ret[META_RESULT_COUNT])
{
	memcpy(ret, l->report.lookups, sizeof(l->report.lookups));
}

static int add_sources(struct source_cri_look *l, sd_event *event)
{
	int r = sd_event_add_defer(event, &l->slice, on_slice, l);

	if (r < 0)
		return r;
	/* Whatever else there is to do comes first. */
	sd_event_source_set_priority(l->slice, SD_EVENT_PRIORITY_NORMAL + 10);
	sd_event_source_set_enabled(l->slice, SD_EVENT_OFF);
	return timer_new(event, CLOCK_MONOTONIC, 1000, on_pace, l, &l->pace);
}

int source_cri_look_new(sd_event *event, struct source_cri_calls *calls, const char *node,
			const struct source_sink *sink,
			const struct source_cri_look_session *session, struct source_cri_look **ret)
{
	struct source_cri_look *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->calls = calls;
	l->queue = calls->queue;
	l->node = node;
	l->report = (struct source_report){.sink = *sink, .source = META_CRI};
	l->session = *session;
	l->credited_ns = clock_boot_ns();
	l->credit_ns = BURST_NS;
	r = add_sources(l, event);
	if (r < 0) {
		source_cri_look_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct source_cri_look *source_cri_look_free(struct source_cri_look *l)
{
	if (!l)
		return NULL;
	sd_event_source_disable_unref(l->pace);
	sd_event_source_disable_unref(l->slice);
	buf_free(&l->list.body);
	free_images(&l->images);
	free(l);
	return NULL;
}
