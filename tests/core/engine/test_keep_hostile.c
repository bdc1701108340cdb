// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what comes out of a file that anybody may have written does no harm. */
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/obsends.h"
#include "lib/engine/relay.h"
#include "lib/engine/relay_plays.h"

#define SEED   0x6b656570
#define ROUNDS 400

static uint64_t scatter(uint64_t *seed)
{
	uint64_t x;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (*seed ^ *seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/* Whatever the checkpoint was, each record is well-formed. */
static void assert_sound(const struct world *w)
{
	for (size_t i = 0; i < w->n_records; i++) {
		const struct record *r = &w->records[i];

		if (r->type == RECORD_STOP) {
			assert_in_range(r->stop.outcome, 0, OUTCOME_COUNT - 1);
			assert_in_range(r->stop.cause, 0, CAUSE_COUNT - 1);
			assert_int_equal(r->stop.gaps >> GAP_COUNT, 0);
			assert_int_equal(!r->stop.exit.known, r->stop.gaps >> GAP_EXIT_UNSEEN & 1);
			assert_in_range(r->stop.stop_signal.sender.kind, 0, SENDER_KIND_COUNT - 1);
		}
		if (r->type == RECORD_POD) {
			assert_in_range(r->pod_state.state, POD_STAGE_SYNC, POD_STAGE_FINISHED);
			assert_non_null(pod_trigger_name(r->pod_state.trigger));
		}
	}
}

static void finish(struct world *w, uint64_t at)
{
	struct obs end = {.type = OBS_END, .at_ns = at + SEC(10)};
	struct obs_list kept = {};

	world_attach(w, at);
	world_timer(w, at + SEC(1));
	world_timer(w, UINT64_MAX - 1);
	world_tell(w, &end);
	assert_sound(w);
	engine_keep(w->engine, true, relay_keep, &kept);
	obs_list_free(&kept);
}

/* Bytes of a kept observation of the right length, numbers small now and then. */
static void fill_random(struct obs *obs, uint64_t *seed)
{
	enum obs_type type =
		(enum obs_type)(OBS_KEPT + scatter(seed) % (OBS_TYPE_COUNT - OBS_KEPT));
	unsigned char *bytes = (unsigned char *)obs;

	memset(obs, 0, sizeof(*obs));
	for (size_t i = 0; i + 8 <= 512; i += 8) {
		uint64_t r = scatter(seed);

		r = r % 4 == 0 ? 0 : r % 4 == 1 ? r / 4 % 8 : r % 4 == 2 ? r / 4 % 64 : r;
		memcpy(bytes + i, &r, 8);
	}
	obs->type = type;
	if (type == OBS_KEPT) {
		obs->kept.version = scatter(seed) % 8 ? KEPT_VERSION : 2;
		memcpy(obs->kept.boot_id, WORLD_BOOT, sizeof(obs->kept.boot_id));
	}
	obsends_end(obs);
}

static void test_random(void **state)
{
	uint64_t seed = SEED;
	struct obs obs;

	for (int i = 0; i < ROUNDS / 4; i++) {
		struct world w;

		world_open_bare(&w, NULL);
		fill_random(&obs, &seed);
		obs.type = OBS_KEPT;
		obsends_end(&obs);
		for (int n = 0; n < 100; n++) {
			world_tell(&w, &obs);
			fill_random(&obs, &seed);
		}
		finish(&w, SEC(60));
		world_close(&w);
	}
}

/* One member of what was really kept, or its place, is another. */
static void spoil(struct obs_list *kept, uint64_t *seed)
{
	size_t n = scatter(seed) % 4;

	while (n-- && kept->n > 1) {
		size_t i = 1 + scatter(seed) % (kept->n - 1), j = 1 + scatter(seed) % (kept->n - 1);
		struct obs obs = kept->list[i];
		unsigned char *bytes = (unsigned char *)&kept->list[i].kept;

		switch (scatter(seed) % 4) {
		case 0:
			kept->n = i;
			break;
		case 1:
			kept->list[i] = kept->list[j];
			kept->list[j] = obs;
			break;
		case 2:
			kept->list[i] = kept->list[j];
			break;
		default:
			bytes[scatter(seed) % 312] = (unsigned char)scatter(seed);
			obsends_end(&kept->list[i]);
			break;
		}
	}
}

/* No stop is reported twice, nor again what the first has reported, spoilt or not. */
static void assert_once(const struct world *w)
{
	for (size_t i = 0; i < w->n_records; i++)
		for (size_t j = 0; j < i; j++)
			if (w->records[i].type == RECORD_STOP &&
			    w->records[j].type == RECORD_STOP &&
			    strcmp(w->records[i].stop.id, w->records[j].stop.id) == 0)
				fail_msg("%s twice", w->records[i].stop.id);
}

static void feed_spoilt(const struct relay_play *play, const struct relay_run *run, uint64_t *seed)
{
	struct obs_list kept = {};
	struct world w;

	for (size_t i = 0; i < run->kept.n; i++)
		relay_keep(&kept, &run->kept.list[i]);
	spoil(&kept, seed);
	world_open_bare(&w, play->config);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	if (scatter(seed) % 2)
		world_found(&w, SEC(59), CG_A1,
			    "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1);
	if (scatter(seed) % 2)
		world_init(&w, SEC(59), CG_A1, &P_A1);
	if (scatter(seed) % 4 == 0)
		world_managed(&w, SEC(59), CG_A1, &P_A1, 15);
	finish(&w, SEC(60));
	assert_once(&w);
	world_close(&w);
	obs_list_free(&kept);
}

static void test_spoilt(void **state)
{
	uint64_t seed = SEED;

	for (size_t i = 0; i < relay_n_plays; i++) {
		const struct relay_play *play = &relay_plays[i];
		struct relay relay;

		relay_open(&relay, play->config, play->play);
		for (int n = 0; n < ROUNDS / 10; n++) {
			struct relay_leg leg = {.incremental = n % 2};
			struct relay_run run;

			leg.at = relay.attached + scatter(&seed) % (relay.fed.n - relay.attached);
			relay_run(&relay, &leg, &run);
			for (int m = 0; m < 10; m++)
				feed_spoilt(play, &run, &seed);
			relay_run_close(&run);
		}
		relay_close(&relay);
	}
}

static void test_late(void **state)
{
	struct obs_list kept = {};
	struct engine_stats stats;
	struct world w;

	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	engine_keep(w.engine, true, relay_keep, &kept);
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.unexpected, 0);
	for (size_t i = 0; i < kept.n; i++)
		world_tell(&w, &kept.list[i]);
	engine_get_stats(w.engine, &stats);
	assert_true(stats.unexpected > 5);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21) + 1000, CG_A1);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	world_close(&w);
	obs_list_free(&kept);
}

static void test_crowd(void **state)
{
	const struct engine_config config = {.scope = SCOPE_CONTAINERS, .max_containers = 24};
	struct obs head = {.type = OBS_KEPT, .kept.version = KEPT_VERSION};
	struct engine_stats stats;
	struct world w;

	strcpy(head.kept.boot_id, WORLD_BOOT);
	world_open_bare(&w, &config);
	world_tell(&w, &head);
	for (uint64_t id = 1; id < 1000; id++) {
		struct obs cg = {.type = OBS_KEPT_CGROUP, .kept_cgroup.id = id};
		struct obs stop = {.type = OBS_KEPT_STOP,
				   .kept_stop = {.id = id, .state = 1, .init.pid = 5}};

		snprintf(cg.kept_cgroup.path, sizeof(cg.kept_cgroup.path), "/docker/%064llx",
			 (unsigned long long)id);
		world_tell(&w, &cg);
		world_tell(&w, &stop);
	}
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.cgroups, 24);
	assert_int_equal(stats.kept_refused, 2 * (999 - 24));
	world_attach(&w, SEC(60));
	assert_int_equal(world_count(&w, RECORD_STOP), 24);
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.cgroups, 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("random bytes as what was kept do no harm", test_random),
		CLAIM("what is cut, edited or out of order does no harm, and tells nothing twice",
		      test_spoilt),
		CLAIM("in the middle of a trace nothing that was kept is taken", test_late),
		CLAIM("what was kept finds no more room than what is there", test_crowd),
	};

	return cmocka_run_group_tests_name("core/engine: hostile checkpoints", tests, NULL, NULL);
}
