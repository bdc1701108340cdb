// SPDX-License-Identifier: Apache-2.0
/* The pod A of a world in a shutdown of its node. */
#include "lib/shutdown/shutworld.h"

#include <string.h>

#include "core/shutdown/plan.h"

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

void shutworld_set_plan(struct world *w, uint64_t at, const struct obs_shutdown_plan *plan)
{
	struct obs obs = {.type = OBS_SHUTDOWN_PLAN, .at_ns = at, .shutdown_plan = *plan};

	assert_int_equal(world_tell(w, &obs), 0);
}

void shutworld_plan(struct world *w, uint64_t at, enum shutdown_mode mode, uint64_t deaf_grace_ns)
{
	shutworld_set_plan(w, at,
			   &(struct obs_shutdown_plan){
				   .mode = mode,
				   .overdue_slack_ns = SEC(2),
				   .deaf_grace_ns = deaf_grace_ns,
				   .n_ranges = 2,
				   .ranges = {{0, 20}, {SHUTPLAN_CRITICAL, 10}},
			   });
}

void shutworld_answer(struct world *w, uint64_t at, enum shutdown_event_type event, uint64_t id)
{
	struct obs obs = {
		.type = OBS_SHUTDOWN, .at_ns = at, .shutdown = {.event = event, .id = id}};

	assert_int_equal(world_tell(w, &obs), 0);
}

struct shutdown_status shutworld_status(const struct world *w)
{
	struct shutdown_status status;
	struct shutdown_stats stats;

	assert_true(engine_get_shutdown(w->engine, &status, &stats));
	return status;
}

void shutworld_tell(struct world *w, uint64_t at, enum shutdown_event_type event)
{
	struct obs obs = {.type = OBS_SHUTDOWN, .at_ns = at, .shutdown = {.event = event}};

	if (event == SHUTDOWN_EV_ANNOUNCED) {
		obs.shutdown.limit_ns = LIMIT;
		obs.shutdown.action = SHUTDOWN_REBOOT;
	}
	if (event == SHUTDOWN_EV_HOLDERS) {
		obs.shutdown.n_holders = 1;
		strcpy(obs.shutdown.holders[0].who, "kubelet");
	}
	obs.shutdown.reachable = event == SHUTDOWN_EV_API;
	assert_int_equal(world_tell(w, &obs), 0);
}

void shutworld_open(struct world *w, enum shutdown_mode mode, uint64_t deaf_grace_ns)
{
	struct meta_container main = world_main_a1();
	struct meta_pod pod = world_pod_a();

	world_open_pod(w, true);
	world_say_sandbox(w, SEC(12));
	world_say_container(w, SEC(12), &main);
	world_lists(w, SEC(12), &pod);
	shutworld_plan(w, SEC(20), mode, deaf_grace_ns);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOGIND_UP);
	assert_int_equal(world_effects(w, EFFECT_TAKE_LOCK), 1);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_LOCK_TAKEN);
	shutworld_tell(w, SEC(20), SHUTDOWN_EV_API);
	world_clear(w);
}

void shutworld_announce(struct world *w)
{
	shutworld_tell(w, ANNOUNCED, SHUTDOWN_EV_ANNOUNCED);
	assert_true(world_effects(w, EFFECT_LIST_HOLDERS) > 0);
	shutworld_tell(w, ANNOUNCED, SHUTDOWN_EV_HOLDERS);
	/* A clock that jumps would be a machine that stood still. */
	shutworld_pass(w, ASKED - 1);
}

void shutworld_pass(struct world *w, uint64_t until)
{
	const struct effect *wake;

	while ((wake = world_effect(w, EFFECT_WAKE_AT)) && wake->at_ns && wake->at_ns <= until) {
		uint64_t at = wake->at_ns;

		world_timer(w, at);
		shutworld_tell(w, at, SHUTDOWN_EV_HOLDERS);
		wake = world_effect(w, EFFECT_WAKE_AT);
		assert_true(!wake->at_ns || wake->at_ns > at);
	}
}

const struct record_shutdown *shutworld_step(const struct world *w, enum shutdown_report what)
{
	for (size_t i = 0; i < w->n_records; i++)
		if (w->records[i].type == RECORD_SHUTDOWN &&
		    w->records[i].shutdown.step.what == what)
			return &w->records[i].shutdown;
	return NULL;
}
