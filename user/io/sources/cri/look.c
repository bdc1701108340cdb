// SPDX-License-Identifier: Apache-2.0
/*
 * Looks one container up: a list of those with its ID, or of sandboxes with it; its status for its
 * own stop signal; else its image's. Its status alone would name it, too, but containerd logs an
 * error for everyone that is not a container.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/proc/clock.h"
#include "io/sources/cri/priv.h"

/* Each has a connection of its own; with the list and a probe they are fewer than 31. */
#define FLYING_MAX     4
#define TOGETHER       16		 /* more of them are listed */
#define COST_NS	       UINT64_C(5000000) /* 200 a second */
#define BURST_NS       (100 * COST_NS)
#define RESERVE_NS     (16 * COST_NS) /* not for those whom nobody awaits */
#define TRIES_MAX      5
#define FIRST_AGAIN_NS UINT64_C(100000000) /* then four times as long each time */

static void on_status(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer);
static void on_image(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer);

static void pace(struct podsrc_cri *cri, uint64_t at_ns, uint64_t now_ns)
{
	if (cri->pace_ns && cri->pace_ns <= at_ns)
		return;
	cri->pace_ns = at_ns;
	sd_event_source_set_time_relative(cri->pace, at_ns > now_ns ? (at_ns - now_ns) / 1000 : 0);
	sd_event_source_set_enabled(cri->pace, SD_EVENT_ONESHOT);
}

void podsrc_cri_look_done(struct podsrc_cri *cri, const char *id, enum meta_result result)
{
	cri->lookups[result]++;
	cri->sink.done(cri->sink.userdata, META_CRI, id, result);
}

/* Where all places are taken, whoever has been asked for more often makes way. */
static struct podsrc_cri_again *place_again(struct podsrc_cri *cri, unsigned int tries)
{
	struct podsrc_cri_again *most = cri->again;

	if (cri->n_again < PODSRC_CRI_AGAIN_MAX)
		return &cri->again[cri->n_again++];
	for (size_t i = 1; i < cri->n_again; i++)
		if (cri->again[i].tries > most->tries)
			most = &cri->again[i];
	return most->tries > tries + 1 ? most : NULL;
}

static void ask_again(struct podsrc_cri *cri, const struct podsrc_cri_lookup *lookup)
{
	struct podsrc_cri_again *again;
	uint64_t now_ns = clock_boot_ns();

	again = lookup->tries < TRIES_MAX ? place_again(cri, lookup->tries) : NULL;
	if (!again)
		return;
	*again = (struct podsrc_cri_again){.exit = lookup->exit, .tries = lookup->tries + 1};
	memcpy(again->id, lookup->id, sizeof(again->id));
	again->due_ns = now_ns + (FIRST_AGAIN_NS << 2 * lookup->tries);
	pace(cri, again->due_ns, now_ns);
}

void podsrc_cri_look_end(struct podsrc_cri *cri, struct podsrc_cri_lookup *lookup,
			 enum meta_result result)
{
	unsigned int asked = lookup->asked;
	char id[META_ID_MAX];

	memcpy(id, lookup->id, sizeof(id));
	if (result == META_ABSENT)
		ask_again(cri, lookup);
	podsrc_cri_queue_remove(&cri->queue, lookup);
	for (; asked > 0; asked--)
		podsrc_cri_look_done(cri, id, result);
}

bool podsrc_cri_look_tell(struct podsrc_cri *cri, struct cri_item *item)
{
	struct meta_container *container = &item->container;
	bool learnt = container->stop_signal || !item->image_key[0] ||
		      podsrc_cri_images_get(&cri->images, item->image_key, &container->stop_signal);

	if (item->pod.uid[0])
		cri->sink.pod(cri->sink.userdata, &item->pod);
	cri->sink.container(cri->sink.userdata, container);
	return learnt;
}

static void finish(struct podsrc_cri *cri, struct podsrc_cri_lookup *lookup,
		   enum meta_result result)
{
	podsrc_cri_look_end(cri, lookup, result);
	podsrc_cri_look_pump(cri);
}

static void ask(struct podsrc_cri *cri, struct podsrc_cri_lookup *lookup, enum cri_method method,
		const char *key, podsrc_cri_call_fn done)
{
	if (cri->phase == PHASE_OFF || cri->phase == PHASE_DOWN ||
	    podsrc_cri_call(cri, method, key, lookup, done) < 0)
		podsrc_cri_look_end(cri, lookup, META_FAILED);
}

static void found_exit(struct podsrc_cri *cri, struct podsrc_cri_lookup *lookup,
		       struct cri_item *item)
{
	if (item->state == CRI_STATE_EXITED)
		podsrc_cri_look_tell(cri, item);
	else
		ask_again(cri, lookup);
	finish(cri, lookup, META_FOUND);
}

/* Its names were told already, so that it is found whatever is said here. */
static void on_status(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer)
{
	struct podsrc_cri *cri = call->cri;
	struct podsrc_cri_lookup *lookup = call->lookup;
	struct cri_item item;

	if (answer->verdict != VERDICT_ANSWER ||
	    cri_read_status(answer->payload, answer->len, &item) < 0 ||
	    strcmp(item.container.id, lookup->id) != 0)
		finish(cri, lookup, META_FOUND);
	else if (lookup->exit)
		found_exit(cri, lookup, &item);
	else if (podsrc_cri_look_tell(cri, &item))
		finish(cri, lookup, META_FOUND);
	else
		ask(cri, lookup, CRI_IMAGE_STATUS, item.image_key, on_image);
}

/* 1 when it is there, 0 when it is not. A runtime that lists others as well does not have them
 * told, nor read for longer than a slice. */
static int pick(struct podsrc_cri *cri, enum cri_method method, const char *id,
		const struct podsrc_cri_answer *answer, struct cri_item *ret)
{
	uint64_t until_ns = clock_boot_ns() + PODSRC_CRI_SLICE_NS;
	struct cri_walk walk;
	int r;

	cri_walk_start(&walk, method, cri->node[0] ? cri->node : NULL, answer->payload,
		       answer->len);
	do {
		r = cri_walk_next(&walk, ret);
		if (r == CRI_WALK_ITEM && strcmp(ret->container.id, id) == 0)
			return 1;
		if (r < 0 || r == CRI_WALK_END)
			return r;
	} while (clock_boot_ns() < until_ns);
	return -ETIME;
}

static void on_list(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer)
{
	struct podsrc_cri *cri = call->cri;
	struct podsrc_cri_lookup *lookup = call->lookup;
	struct cri_item item;
	int r = answer->verdict == VERDICT_ANSWER
			? pick(cri, call->method, lookup->id, answer, &item)
			: -EIO;

	if (r > 0)
		podsrc_cri_look_tell(cri, &item);
	if (r < 0)
		finish(cri, lookup, META_FAILED);
	else if (call->method == CRI_CONTAINERS && r > 0)
		ask(cri, lookup, CRI_STATUS, lookup->id, on_status);
	else if (call->method == CRI_CONTAINERS)
		ask(cri, lookup, CRI_SANDBOXES, lookup->id, on_list);
	else
		finish(cri, lookup, r > 0 ? META_FOUND : META_ABSENT);
}

/* An image that names none is stopped by SIGTERM. */
static void on_image(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer)
{
	struct podsrc_cri *cri = call->cri;
	struct podsrc_cri_lookup *lookup = call->lookup;
	struct meta_container told = {.source = META_CRI, .kind = META_KIND_CONTAINER};
	int r = answer->verdict == VERDICT_ANSWER
			? cri_read_image(answer->payload, answer->len, &told.stop_signal)
			: 0;

	if (answer->verdict == VERDICT_ANSWER && r == 0 && !told.stop_signal)
		told.stop_signal = SIGTERM;
	if (answer->verdict != VERDICT_LOST)
		podsrc_cri_images_put(&cri->images, call->key, told.stop_signal);
	memcpy(told.id, lookup->id, sizeof(told.id));
	if (told.stop_signal)
		cri->sink.container(cri->sink.userdata, &told);
	finish(cri, lookup, META_FOUND);
}

/* True when it may be asked now; else *ret_at_ns says when. */
static bool take_credit(struct podsrc_cri *cri, uint64_t now_ns, uint64_t reserve_ns,
			uint64_t *ret_at_ns)
{
	uint64_t credit_ns = cri->credit_ns + (now_ns - cri->credited_ns);

	cri->credit_ns = credit_ns < BURST_NS ? credit_ns : BURST_NS;
	cri->credited_ns = now_ns;
	if (cri->credit_ns >= COST_NS + reserve_ns) {
		cri->credit_ns -= COST_NS;
		return true;
	}
	*ret_at_ns = now_ns + COST_NS + reserve_ns - cri->credit_ns;
	return false;
}

static bool start(struct podsrc_cri *cri, enum podsrc_cri_place from, uint64_t reserve_ns)
{
	struct podsrc_cri_lookup *lookup = cri->queue.places[from].first;
	uint64_t now_ns = clock_boot_ns(), at_ns;

	if (!take_credit(cri, now_ns, reserve_ns, &at_ns)) {
		pace(cri, at_ns, now_ns);
		return false;
	}
	podsrc_cri_queue_move(&cri->queue, lookup, PLACE_FLYING);
	if (lookup->exit)
		ask(cri, lookup, CRI_STATUS, lookup->id, on_status);
	else
		ask(cri, lookup, CRI_CONTAINERS, lookup->id, on_list);
	return true;
}

/* True when those who wait are left to a list. */
static bool is_for_list(struct podsrc_cri *cri)
{
	uint64_t now_ns = clock_boot_ns();

	if (cri->queue.places[PLACE_WAITING].n <= TOGETHER || cri->list.useless)
		return false;
	if (!cri->list.active && now_ns >= cri->list.due_ns)
		podsrc_cri_list_start(cri, false);
	else if (!cri->list.active)
		pace(cri, cri->list.due_ns, now_ns);
	return true;
}

static bool may_fly(const struct podsrc_cri *cri, enum podsrc_cri_place place)
{
	return cri->phase == PHASE_READY && cri->queue.places[place].n &&
	       cri->queue.places[PLACE_FLYING].n < FLYING_MAX;
}

void podsrc_cri_look_pump(struct podsrc_cri *cri)
{
	const struct podsrc_cri_queue *q = &cri->queue;

	while (may_fly(cri, PLACE_WAITING) && !is_for_list(cri))
		if (!start(cri, PLACE_WAITING, 0))
			return;
	while (may_fly(cri, PLACE_EXITS))
		if (!start(cri, PLACE_EXITS, 0))
			return;
	/* One after the other, and only while there is nothing better to do. */
	if (cri->phase == PHASE_READY && q->places[PLACE_IDLE].n && !q->places[PLACE_FLYING].n)
		start(cri, PLACE_IDLE, RESERVE_NS);
}

static void start_again(struct podsrc_cri *cri, uint64_t now_ns)
{
	for (size_t i = 0; i < cri->n_again;) {
		struct podsrc_cri_again again = cri->again[i];
		struct podsrc_cri_lookup *lookup;

		if (again.due_ns > now_ns) {
			pace(cri, again.due_ns, now_ns);
			i++;
			continue;
		}
		cri->again[i] = cri->again[--cri->n_again];
		if (cri->phase != PHASE_READY ||
		    podsrc_cri_queue_get(&cri->queue, again.id, again.exit))
			continue;
		lookup = podsrc_cri_queue_add(&cri->queue, again.id, again.exit, PLACE_WAITING);
		if (lookup)
			lookup->tries = again.tries;
	}
}

static int on_pace(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_cri *cri = userdata;

	(void)source;
	(void)usec;
	cri->pace_ns = 0;
	start_again(cri, clock_boot_ns());
	podsrc_cri_look_pump(cri);
	return 0;
}

int podsrc_cri_look_open(struct podsrc_cri *cri)
{
	int r = sd_event_add_time_relative(cri->event, &cri->pace, CLOCK_MONOTONIC, 0, 1000,
					   on_pace, cri);

	if (r < 0)
		return r;
	cri->credited_ns = clock_boot_ns();
	cri->credit_ns = BURST_NS;
	return sd_event_source_set_enabled(cri->pace, SD_EVENT_OFF);
}

void podsrc_cri_look_close(struct podsrc_cri *cri)
{
	cri->pace = sd_event_source_disable_unref(cri->pace);
}
