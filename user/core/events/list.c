// SPDX-License-Identifier: Apache-2.0
/* Finds the Event that something belongs to, and keeps the limit. */
#include "core/events/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "core/load/credit.h"

enum stage {
	STAGE_FREE,
	STAGE_CREATING, /* the server has not answered yet */
	STAGE_CREATED,
	STAGE_WRITING, /* its series */
};

struct slot {
	struct eventlist_item item;
	enum stage stage;
	uint64_t key; /* of what makes it this Event */
	const char *reason, *cause;
	char uid[EVENT_SUBDOMAIN_MAX], container[EVENT_LABEL_MAX];
	uint64_t run;	      /* that was counted last */
	uint64_t written;     /* the count that the server has */
	uint64_t written_ns;  /* when that was sent */
	uint64_t happened_ns; /* last */
};

struct eventlist {
	struct slot slots[EVENTLIST_MAX];
	uint64_t ids; /* given so far */
	struct credit credit;
};

int eventlist_new(struct eventlist **ret)
{
	struct eventlist *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->credit = (struct credit){
		.share = 1,
		.burst_ns = (EVENTLIST_BURST - 1) * EVENTLIST_EACH_NS,
	};
	*ret = l;
	return 0;
}

struct eventlist *eventlist_free(struct eventlist *l)
{
	free(l);
	return NULL;
}

/* --- the limit ---------------------------------------------------------------------------------- */

/* When one more may be written; 0: now. The node's own Event takes what others have to leave. */
static uint64_t allowed_at(const struct eventlist *l, bool of_node, uint64_t now_ns)
{
	uint64_t margin_ns = of_node ? 0 : EVENTLIST_EACH_NS;
	uint64_t back_ns = credit_back_at(&l->credit, now_ns > margin_ns ? now_ns - margin_ns : 0);

	return back_ns ? back_ns + margin_ns : 0;
}

static void charge(struct eventlist *l, uint64_t now_ns)
{
	credit_charge(&l->credit, now_ns, EVENTLIST_EACH_NS);
}

/* --- slots -------------------------------------------------------------------------------------- */

static uint64_t key_of(const struct event *e)
{
	return map_key_join(map_key_join(map_key(e->uid), map_key(e->container)),
			    map_key_join(map_key(e->reason), map_key(e->cause)));
}

static bool is_of(const struct slot *slot, uint64_t key, const struct event *e)
{
	return slot->stage != STAGE_FREE && slot->key == key && strcmp(slot->uid, e->uid) == 0 &&
	       strcmp(slot->container, e->container) == 0 && strcmp(slot->reason, e->reason) == 0 &&
	       strcmp(slot->cause, e->cause) == 0;
}

static bool is_forgotten(const struct slot *slot, uint64_t now_ns)
{
	return now_ns - slot->happened_ns > EVENTLIST_FORGET_NS && slot->stage == STAGE_CREATED;
}

static struct slot *find_slot(struct eventlist *l, uint64_t key, const struct event *e,
			      uint64_t now_ns)
{
	for (struct slot *slot = l->slots; slot < l->slots + EVENTLIST_MAX; slot++)
		if (is_of(slot, key, e) && !is_forgotten(slot, now_ns))
			return slot;
	return NULL;
}

static struct slot *find_id(struct eventlist *l, uint64_t id)
{
	for (struct slot *slot = l->slots; slot < l->slots + EVENTLIST_MAX; slot++)
		if (slot->stage != STAGE_FREE && slot->item.id == id)
			return slot;
	return NULL;
}

/* A free one, else the one of which nothing has been seen for longest: its series ends where it
 * is. */
static struct slot *make_room(struct eventlist *l)
{
	struct slot *oldest = l->slots;

	for (struct slot *slot = l->slots; slot < l->slots + EVENTLIST_MAX; slot++) {
		if (slot->stage == STAGE_FREE)
			return slot;
		if (slot->happened_ns < oldest->happened_ns)
			oldest = slot;
	}
	return oldest;
}

/* <pod's or node's name>.<16 hexadecimal digits>, a DNS-1123 subdomain as the object's name has to
 * be. Another Event of the container, or of this process's successor, has another time. */
static void name_object(struct slot *slot, const struct event *e)
{
	size_t len = strlen(e->name), room = sizeof(slot->item.name) - 1 - 17;

	if (len > room)
		len = room;
	while (len > 0 && strchr("-.", e->name[len - 1]))
		len--;
	snprintf(slot->item.name, sizeof(slot->item.name), "%.*s.%016llx", (int)len, e->name,
		 (unsigned long long)map_key_join(slot->key, (uint64_t)e->wall_ns | 1));
}

static void fill_slot(struct slot *slot, uint64_t id, uint64_t key, const struct event *e)
{
	*slot = (struct slot){
		.item = {.id = id, .count = 1, .last_wall_ns = e->wall_ns},
		.stage = STAGE_CREATING,
		.key = key,
		.reason = e->reason,
		.cause = e->cause,
		.run = e->run,
		.written = 1,
	};
	/* The node is in no namespace: its Events are in this one, as those of the kubelet. */
	strcpy(slot->item.namespace_, e->of_node ? "default" : e->namespace_);
	strcpy(slot->uid, e->uid);
	strcpy(slot->container, e->container);
	name_object(slot, e);
}

/* --- Events ------------------------------------------------------------------------------------- */

static enum eventlist_taken count_again(struct slot *slot, const struct event *e, uint64_t now_ns)
{
	slot->happened_ns = now_ns;
	if (slot->run == e->run)
		return EVENTLIST_SAME;
	slot->run = e->run;
	slot->item.count++;
	if (e->wall_ns > slot->item.last_wall_ns)
		slot->item.last_wall_ns = e->wall_ns;
	return EVENTLIST_AGAIN;
}

enum eventlist_taken eventlist_take(struct eventlist *l, const struct event *e, uint64_t now_ns,
				    const struct eventlist_item **ret_item)
{
	uint64_t key = key_of(e);
	struct slot *slot = find_slot(l, key, e, now_ns);

	if (slot)
		return count_again(slot, e, now_ns);
	if (allowed_at(l, e->of_node, now_ns))
		return EVENTLIST_DROPPED;
	charge(l, now_ns);
	slot = make_room(l);
	fill_slot(slot, ++l->ids, key, e);
	slot->written_ns = slot->happened_ns = now_ns;
	*ret_item = &slot->item;
	return EVENTLIST_NEW;
}

void eventlist_created(struct eventlist *l, uint64_t id, bool created)
{
	struct slot *slot = find_id(l, id);

	if (slot)
		slot->stage = created ? STAGE_CREATED : STAGE_FREE;
}

void eventlist_written(struct eventlist *l, uint64_t id, bool done, bool gone)
{
	struct slot *slot = find_id(l, id);

	if (!slot)
		return;
	slot->stage = gone ? STAGE_FREE : STAGE_CREATED;
	/* What was sent is not known to have arrived. */
	if (!done)
		slot->written = 0;
}

/* Created, and it happened again since. */
static bool is_behind(const struct slot *slot)
{
	return slot->stage == STAGE_CREATED && slot->item.count > 1 &&
	       slot->item.count != slot->written;
}

/* The one that has waited for longest; NULL: none waits. */
static const struct slot *first_behind(const struct eventlist *l)
{
	const struct slot *first = NULL;

	for (const struct slot *slot = l->slots; slot < l->slots + EVENTLIST_MAX; slot++)
		if (is_behind(slot) && (!first || slot->written_ns < first->written_ns))
			first = slot;
	return first;
}

uint64_t eventlist_due_ns(const struct eventlist *l, uint64_t now_ns)
{
	const struct slot *slot = first_behind(l);
	uint64_t due_ns = slot ? slot->written_ns + EVENTLIST_SERIES_NS : 0;
	uint64_t allowed_ns = allowed_at(l, false, now_ns);

	return slot && allowed_ns > due_ns ? allowed_ns : due_ns;
}

const struct eventlist_item *eventlist_next(struct eventlist *l, uint64_t now_ns)
{
	uint64_t due_ns = eventlist_due_ns(l, now_ns);
	struct slot *slot;

	if (!due_ns || due_ns > now_ns)
		return NULL;
	slot = find_id(l, first_behind(l)->item.id);
	charge(l, now_ns);
	slot->stage = STAGE_WRITING;
	slot->written = slot->item.count;
	slot->written_ns = now_ns;
	return &slot->item;
}
