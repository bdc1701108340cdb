// SPDX-License-Identifier: Apache-2.0
/* Passes the baton from one engine to the next. */
#include "lib/engine/relay.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "lib/claim.h"
#include "lib/engine/relay_node.h"

void relay_keep(void *userdata, const struct obs *obs)
{
	struct obs_list *list = userdata;

	assert_true(ROOM_FOR_ONE(list->list, list->n, list->room, 64));
	list->list[list->n++] = *obs;
}

void obs_list_free(struct obs_list *list)
{
	free(list->list);
	*list = (struct obs_list){};
}

/* What waits for anything but an event has had its time. */
static void finish(struct world *w, uint64_t at)
{
	struct obs end = {.type = OBS_END, .at_ns = at + SEC(20)};

	for (uint64_t n = 1; n < 20; n++)
		world_timer(w, at + SEC(n));
	assert_int_equal(world_tell(w, &end), 0);
}

void relay_open(struct relay *r, const struct engine_config *config, void (*play)(struct world *w))
{
	*r = (struct relay){.config = config};
	world_listen(relay_keep, &r->fed);
	play(&r->whole);
	world_listen(NULL, NULL);
	while (r->fed.list[r->attached++].type != OBS_ATTACHED)
		;
	/* Opening a world drops observations: they are fed anew. */
	world_close(&r->whole);
	world_open_bare(&r->whole, config);
	for (size_t i = 0; i < r->fed.n; i++)
		world_tell(&r->whole, &r->fed.list[i]);
	finish(&r->whole, r->fed.list[r->fed.n - 1].at_ns);
}

void relay_close(struct relay *r)
{
	world_close(&r->whole);
	obs_list_free(&r->fed);
}

static void run_first(const struct relay *r, const struct relay_leg *leg, struct relay_run *ret)
{
	world_open_bare(&ret->first, r->config);
	if (leg->incremental)
		engine_keep(ret->first.engine, false, relay_keep, &ret->kept);
	for (size_t i = 0; i < leg->at; i++) {
		assert_int_equal(world_tell(&ret->first, &r->fed.list[i]), 0);
		if (leg->incremental && engine_has_changed(ret->first.engine))
			engine_keep(ret->first.engine, false, relay_keep, &ret->kept);
		assert_true(!leg->incremental || !engine_has_changed(ret->first.engine));
	}
	if (!leg->incremental)
		engine_keep(ret->first.engine, true, relay_keep, &ret->kept);
}

/* One that was not attached yet begins anew. */
static void run_second(const struct relay *r, const struct relay_leg *leg, struct relay_run *ret)
{
	size_t from = leg->at < r->attached ? 0 : leg->at + leg->lost;
	uint64_t last = r->fed.list[r->fed.n - 1].at_ns;
	struct relay_node node = {};

	world_open_bare(&ret->second, r->config);
	for (size_t i = 0; i < ret->kept.n; i++)
		assert_int_equal(world_tell(&ret->second, &ret->kept.list[i]), 0);
	engine_keep(ret->second.engine, true, relay_keep, &ret->again);
	for (size_t i = 0; i < from; i++)
		relay_node_take(&node, &r->fed.list[i]);
	if (from) {
		uint64_t at = r->fed.list[from - 1].at_ns + 1;

		relay_node_scan(&node, &ret->second, at);
		world_attach(&ret->second, at);
	}
	for (size_t i = from; i < r->fed.n; i++) {
		struct obs obs = r->fed.list[i];

		relay_node_recount(&node, &obs);
		assert_int_equal(world_tell(&ret->second, &obs), 0);
	}
	finish(&ret->second, last);
}

void relay_run(const struct relay *r, const struct relay_leg *leg, struct relay_run *ret)
{
	struct engine_stats stats;

	*ret = (struct relay_run){};
	run_first(r, leg, ret);
	run_second(r, leg, ret);
	engine_get_stats(ret->second.engine, &stats);
	assert_int_equal(stats.kept_refused, 0);
}

void relay_run_close(struct relay_run *run)
{
	world_close(&run->first);
	world_close(&run->second);
	obs_list_free(&run->kept);
	obs_list_free(&run->again);
}

static size_t count(const struct world *w, const char *id, const struct record_stop **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_records; i++)
		if (w->records[i].type == RECORD_STOP && strcmp(w->records[i].stop.id, id) == 0) {
			*ret = &w->records[i].stop;
			n++;
		}
	return n;
}

size_t relay_count_stops(const struct relay_run *run, const char *id,
			 const struct record_stop **ret)
{
	return count(&run->first, id, ret) + count(&run->second, id, ret);
}
