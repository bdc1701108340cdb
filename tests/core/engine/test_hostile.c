// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/engine: any observations in any order do no harm. Built with sanitizers these
 * tests are about memory; everywhere they are about what stays true of records and effects.
 */
#include "core/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/obsends.h"
#include "lib/engine/world.h"

#define ROUNDS 100000

struct judge {
	uint64_t stops, pods, records, effects;
	size_t bytes; /* of strings read */
};

static uint64_t scatter(uint64_t *seed)
{
	uint64_t x;

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	/* The lower bits alone take turns: what one draw is would tell the next one's parity. */
	x = (*seed ^ *seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

/* Reads every byte, so that a sanitizer sees one that is not there. */
static void read_text(struct judge *j, const char *s)
{
	if (s)
		j->bytes += strlen(s);
}

static void read_subject(struct judge *j, const struct record_pod *p,
			 const struct record_container *c)
{
	read_text(j, p->namespace_);
	read_text(j, p->name);
	read_text(j, p->uid);
	read_text(j, c->name);
	read_text(j, c->id);
	read_text(j, c->cgroup);
	assert_true(p->known || (!p->uid && !p->name));
}

static void read_sender(struct judge *j, const struct record_sender *s)
{
	assert_in_range(s->kind, 0, SENDER_KIND_COUNT - 1);
	read_text(j, s->process.comm);
	read_text(j, s->cgroup);
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		read_text(j, s->ancestors[i]);
	read_subject(j, &s->pod, &s->container);
}

static void read_stop(struct judge *j, const struct record_stop *s)
{
	assert_in_range(s->outcome, 0, OUTCOME_COUNT - 1);
	assert_in_range(s->cause, 0, CAUSE_COUNT - 1);
	assert_int_equal(s->gaps >> GAP_COUNT, 0);
	assert_true(memchr(s->id, 0, sizeof(s->id)));
	/* What was not seen has a gap, and is not judged. */
	assert_int_equal(!s->exit.known, (s->gaps >> GAP_EXIT_UNSEEN) & 1);
	assert_int_equal(!s->exit.known, s->outcome == OUTCOME_UNKNOWN);
	assert_true(!s->latency_known || (s->stop_signal.known && s->exit.known));
	read_subject(j, &s->pod, &s->container);
	read_text(j, s->process.comm);
	if (s->stop_signal.known)
		read_sender(j, &s->stop_signal.sender);
	if (s->kill_signal.known)
		read_sender(j, &s->kill_signal.sender);
	j->stops++;
}

static void read_pod_state(struct judge *j, const struct record_pod_state *p)
{
	const struct record_container none = {};

	read_subject(j, &p->pod, &none);
	assert_true(p->pod.known && p->pod.uid);
	assert_in_range(p->state, POD_STAGE_SYNC, POD_STAGE_FINISHED);
	assert_in_range(p->previous, POD_STAGE_NONE, POD_STAGE_FINISHED);
	/* A state is never reported twice, and nothing goes back but into a new life. */
	assert_true(p->previous < p->state || p->state == POD_STAGE_SYNC ||
		    p->previous == POD_STAGE_FINISHED);
	assert_non_null(pod_trigger_name(p->trigger));
	j->pods++;
}

static void read_record(struct judge *j, const struct record *r)
{
	read_text(j, r->node);
	j->records++;
	if (r->type == RECORD_STOP)
		read_stop(j, &r->stop);
	if (r->type == RECORD_SIGNAL) {
		read_subject(j, &r->signal.pod, &r->signal.container);
		read_sender(j, &r->signal.sender);
	}
	if (r->type == RECORD_EMPTY)
		read_subject(j, &r->empty.pod, &r->empty.container);
	if (r->type == RECORD_OOM)
		read_subject(j, &r->oom.pod, &r->oom.container);
	if (r->type == RECORD_POD)
		read_pod_state(j, &r->pod_state);
}

static void answered(void *userdata, const struct effect *effect)
{
	struct judge *j = userdata;

	j->effects++;
	if (effect->type == EFFECT_REPORT)
		read_record(j, effect->record);
	else
		assert_null(effect->record);
}

static void fill_random(struct obs *obs, uint64_t *seed)
{
	unsigned char *bytes = (unsigned char *)obs;
	/* A path is mostly short: random bytes end soon. */
	size_t n = sizeof(*obs) < 1200 ? sizeof(*obs) : 1200;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t r = scatter(seed);

		memcpy(bytes + i, &r, 8);
	}
	obs->cgroup.path[CGPATH_MAX - 1] = '\0';
	obs->type = (enum obs_type)(scatter(seed) % (OBS_TYPE_COUNT + 2));
	obsends_end(obs);
}

static void test_random_bytes(void **state)
{
	for (int scope = SCOPE_PODS; scope <= SCOPE_ALL; scope++) {
		const struct engine_config config = {.scope = (enum engine_scope)scope};
		struct engine_stats stats;
		uint64_t seed = (uint64_t)scope + 1;
		struct engine *engine;
		struct judge j = {};
		struct obs obs = {};

		assert_int_equal(engine_new(&config, &engine), 0);
		for (int i = 0; i < ROUNDS / 10; i++) {
			fill_random(&obs, &seed);
			assert_int_equal(engine_step(engine, &obs, answered, &j), 0);
		}
		engine_get_stats(engine, &stats);
		assert_int_equal(stats.observations, ROUNDS / 10);
		assert_true(stats.unexpected > 0 && j.effects > 0);
		engine_free(engine);
	}
}

/* Small numbers, so that records meet: the same cgroups, processes and times again and again. */
static struct graced_proc some_proc(uint64_t *seed)
{
	uint64_t r = scatter(seed);
	struct graced_proc p = {
		.pid = (uint32_t)(r % 9),
		.start_ns = SEC(r / 9 % 3),
		.cgroup_id = r / 32 % 40,
		.watch_id = r / 32 % 40,
		.uid = (uint32_t)(r / 2048 % 2),
		.comm = "proc",
		.exe = "runc",
	};

	return p;
}

static void some_path(char *ret, uint64_t r)
{
	static const char *const paths[] = {
		"/",
		"/kubepods",
		"/kubepods/pod" WORLD_UID_A,
		"/kubepods/pod" WORLD_UID_A "/" WORLD_ID_A1,
		"/kubepods/pod" WORLD_UID_A "/" WORLD_ID_A2,
		"/kubepods/pod" WORLD_UID_B "/" WORLD_ID_B1,
		"/docker/" WORLD_ID_D1,
		"/docker/" WORLD_ID_A1,
		"/system.slice/docker.service",
		"/system.slice/x.service",
		"",
		"no/slash",
		WORLD_ID_A2,
		"pod" WORLD_UID_B,
		"kubepods",
		"x.service",
	};

	strcpy(ret, paths[r % LEN(paths)]);
}

static const char *some_id(uint64_t r)
{
	static const char *const ids[] = {WORLD_ID_A1, WORLD_ID_A2, WORLD_ID_B1, WORLD_ID_D1, ""};

	return ids[r % LEN(ids)];
}

static void some_counts(struct graced_counts *ret, uint64_t r)
{
	*ret = (struct graced_counts){
		.exits = r % 3,
		.collateral = r / 3 % 3,
		.oom_kills = r / 9 % 3,
		.lost = r / 27 % 3,
		.suppressed = r / 81 % 3,
	};
}

static void fill_signal(struct obs_signal *s, uint64_t id, uint64_t *seed)
{
	uint64_t r = scatter(seed);
	static const uint32_t numbers[] = {0, 2, 9, 9, 11, 15, 15, 37, 64, 65};

	*s = (struct obs_signal){
		.id = id,
		.sig = numbers[r % LEN(numbers)],
		.result = (int32_t)(r / 16 % 6) - (int32_t)(r / 96 % 7 == 0),
		.code = (int32_t)(r / 1024 % 5) - 2,
		.flags = (uint32_t)(r / 8192 % 2048),
		.target = some_proc(seed),
		.sender = some_proc(seed),
		.ancestors = {some_proc(seed), some_proc(seed)},
	};
}

static void fill_names(struct obs_names *names, uint64_t r)
{
	memset(names, 0, sizeof(*names));
	strcpy(names->pod_uid, r & 1 ? WORLD_UID_A : "");
	strcpy(names->container_id, some_id(r / 2));
	strcpy(names->pod, "p");
	strcpy(names->container, "c");
	names->found = r & 32;
}

static void fill_pod(struct meta_pod *pod, uint64_t r)
{
	*pod = (struct meta_pod){
		.source = r % (META_SOURCE_COUNT + 1),
		.known = (uint32_t)(r / 16 % 128),
		.grace_ns = r & 4096 ? UINT64_MAX : SEC(2),
		.deletion_grace_ns = r & 8192 ? INT64_MAX : 0,
		.deleting = r & 16384,
		.gone = r & 32768,
		.sidecars = r & 65536,
		.phase = r & 262144 ? (uint32_t)(r / 524288 % 7) : 0,
	};
	strcpy(pod->uid, r & 131072 ? WORLD_UID_A : WORLD_UID_B);
	strcpy(pod->namespace_, "n");
	strcpy(pod->name, "p");
}

static void fill_container(struct meta_container *c, uint64_t r)
{
	*c = (struct meta_container){
		.source = r % (META_SOURCE_COUNT + 1),
		.known = (uint32_t)(r / 16 % 64),
		.kind = r / 1024 % 4,
		.stop_signal = r / 4096 % 66,
		.main_pid = (uint32_t)(r / (4096 * 66) % 9),
		.grace_ns = r & 1 ? UINT64_MAX : 0,
		.exit_code = (int32_t)r,
		.labels = (uint32_t)(r / 64),
	};
	strcpy(c->id, some_id(r / 64));
	strcpy(c->unit, r & 2 ? "x.service" : "");
	strcpy(c->pod_uid, r & 4 ? WORLD_UID_A : "");
	strcpy(c->name, r & 8 ? "c" : "");
}

static void fill_look(struct obs *obs, uint64_t id, uint64_t more, uint64_t *seed)
{
	static const char states[] = "RSDTtZ";

	if (obs->type == OBS_LOOK)
		obs->look = (struct obs_look){.id = id,
					      .proc = some_proc(seed),
					      .tid = (uint32_t)(more % 3),
					      .parent_pid = (uint32_t)(more % 9),
					      .state = (unsigned char)states[more / 9 % 6],
					      .call = (uint32_t)(more / 54 % 99),
					      .clients = (uint32_t)(more / 7 % 3),
					      .waits = more & 1};
	else
		obs->looked = (struct obs_looked){.id = id,
						  .failed = more & 2,
						  .more = more & 4,
						  .waits = more & 1,
						  .frozen = more % 9 == 0,
						  .figures.throttled_ns = more};
}

static void fill_later(struct obs *obs, uint64_t id, uint64_t more, uint64_t *seed)
{
	if (obs->type == OBS_POD) {
		fill_pod(&obs->pod, more);
	} else if (obs->type == OBS_CONTAINER) {
		fill_container(&obs->container, more);
	} else if (obs->type == OBS_REAPED) {
		obs->reaped = (struct obs_reaped){id, (uint32_t)(more % 9), SEC(more / 9 % 3)};
	} else if (obs->type == OBS_LOOK || obs->type == OBS_LOOKED) {
		fill_look(obs, id, more, seed);
	} else if (obs->type == OBS_LISTED) {
		obs->listed = (struct obs_listed){.asked_ns = more % 3 ? obs->at_ns : 0,
						  .source = (uint32_t)(more / 3 % 4)};
	} else if (obs->type == OBS_SHUTDOWN_PLAN) {
		obs->shutdown_plan = (struct obs_shutdown_plan){
			.mode = (uint32_t)(more % 3),
			.two_phases = more / 3 % 2,
			.volumes = more / 7 % 2,
			.n_ranges = (uint32_t)(more / 6 % (OBS_RANGES_MAX + 2)),
			.ranges = {{.seconds = (int64_t)more}, {.priority = INT32_MIN}},
		};
	} else if (obs->type == OBS_SHUTDOWN) {
		obs->shutdown = (struct obs_shutdown){
			.event = (uint32_t)(more % (SHUTDOWN_EVENT_COUNT + 1)),
			.limit_ns = SEC(more / 100 % 9),
			.announced_ns = more / 1000 % 3 * SEC(1),
			.n_holders = (uint32_t)(more / 3000 % 18),
		};
	} else if (obs->type == OBS_SHUTDOWN_RULE) {
		obs->shutdown_rule = (struct managed_rule){
			.scope = (uint32_t)(more % (MANAGED_SCOPE_COUNT + 1)),
			.priority = (int32_t)more,
		};
		strcpy(obs->shutdown_rule.unit, more & 1 ? "*.s[le" : "");
		strcpy(obs->shutdown_rule.label, more & 2 ? "a" : "");
	} else if (obs->type == OBS_VOLUME) {
		obs->volume = (struct obs_volume){
			.event = (uint32_t)(more % (SHUTDOWN_EVENT_COUNT + 1)),
			.id = more / 100 % 4,
			.pod_uid = "a",
			.plugin = "kubernetes.io~csi",
		};
	} else {
		obs->identity.id = id;
		obs->identity.runtime = more % 7;
		strcpy(obs->identity.container_id, some_id(more / 7));
	}
}

static void fill_plausible(struct obs *obs, uint64_t now, uint64_t *seed)
{
	uint64_t r = scatter(seed), id = r % 40, more = r / 40;

	/* What is kept is not expected here; test_engine_keep_hostile has it. */
	obs->type = (enum obs_type)(scatter(seed) % OBS_KEPT);
	obs->at_ns = now - more % 7 * MSEC(40);
	if (obs->type >= OBS_POD) {
		fill_later(obs, id, more, seed);
		return;
	}
	switch (obs->type) {
	case OBS_CGROUP_NEW:
	case OBS_CGROUP_FOUND:
		obs->cgroup = (struct obs_cgroup){
			.id = id, .parent_id = more % 40, .kind = (uint32_t)(more / 40 % 5)};
		some_path(obs->cgroup.path, more / 200);
		break;
	case OBS_CGROUP_GONE:
	case OBS_CGROUP_EMPTY:
		obs->empty = (struct obs_empty){.id = id, .left_pid = (uint32_t)(more % 9)};
		some_counts(&obs->empty.counts, more);
		break;
	case OBS_INIT:
		obs->init = (struct obs_init){
			.id = id, .rank = (uint32_t)(more % 5), .proc = some_proc(seed)};
		break;
	case OBS_SIGNAL:
		fill_signal(&obs->signal, id, seed);
		break;
	case OBS_EXIT:
		obs->exit = (struct obs_exit){.id = id,
					      .status = (uint32_t)(more % 512),
					      .flags = (uint32_t)(more / 512 % 8),
					      .proc = some_proc(seed)};
		some_counts(&obs->exit.counts, more / 4096);
		break;
	case OBS_OOM:
		obs->oom = (struct obs_oom){.id = id,
					    .level_id = more % 40,
					    .flags = (uint32_t)(more / 40 % 8),
					    .victim = some_proc(seed)};
		break;
	case OBS_COUNTS:
		obs->counts = (struct obs_counts){.id = id, .populated = more & 1};
		some_counts(&obs->counts.counts, more / 2);
		break;
	case OBS_PROBE:
		obs->probe = (struct obs_probe){id,	   (uint32_t)(more % 9), SEC(more / 9 % 3),
						more & 64, more & 128,		 P_A2,
						P_A1};
		break;
	case OBS_NAMES:
		fill_names(&obs->names, more);
		break;
	default:
		memset(&obs->lost, 0, sizeof(obs->lost));
		break;
	}
}

static void count_pod(void *userdata, const struct podview *pod)
{
	++*(size_t *)userdata;
}

/* Whatever happened: without cgroups, and with nobody who lists them, no pod is left. */
static void end_pods(struct engine *engine, uint64_t now, struct judge *j)
{
	static const char *const uids[] = {WORLD_UID_A, WORLD_UID_B};
	static const enum meta_source listers[] = {META_KUBELET, META_API};
	struct obs obs = {.at_ns = now};
	size_t left = 0;

	for (uint64_t id = 0; id < 40; id++) {
		obs.type = OBS_CGROUP_GONE;
		obs.empty.id = id;
		assert_int_equal(engine_step(engine, &obs, answered, j), 0);
	}
	for (size_t i = 0; i < LEN(uids) * LEN(listers); i++) {
		obs = (struct obs){.type = OBS_POD, .at_ns = now};
		obs.pod = (struct meta_pod){.source = listers[i / LEN(uids)], .gone = true};
		strcpy(obs.pod.uid, uids[i % LEN(uids)]);
		assert_int_equal(engine_step(engine, &obs, answered, j), 0);
	}
	engine_pods_each(engine, count_pod, &left);
	assert_int_equal(left, 0);
}

static void test_plausible(void **state)
{
	for (int scope = SCOPE_PODS; scope <= SCOPE_ALL; scope++) {
		const struct engine_config config = {
			.scope = (enum engine_scope)scope,
			.assumed_grace_ns = scope % 2 ? SEC(2) : 0,
			.max_containers = 24,
			.sources = (uint32_t)(0xff << scope),
		};
		struct engine_stats stats;
		uint64_t seed = 77 + (uint64_t)scope, now = SEC(10);
		struct engine *engine;
		struct judge j = {};
		struct obs obs = {};

		assert_int_equal(engine_new(&config, &engine), 0);
		for (int i = 0; i < 5 * ROUNDS / 2; i++) {
			now += MSEC(scatter(&seed) % 60);
			fill_plausible(&obs, now, &seed);
			obsends_end(&obs);
			assert_int_equal(engine_step(engine, &obs, answered, &j), 0);
			engine_get_stats(engine, &stats);
			assert_true(stats.cgroups <= 24 && stats.pods <= 24);
			assert_true(stats.pods_described <= 2);
			if (i % 1000 == 0)
				end_pods(engine, now, &j);
		}
		if (j.pods <= 1000)
			fail_msg("scope %d: %d pods", scope, (int)j.pods);
		/* They do meet: thousands of stops were judged. */
		if (j.stops <= 1000)
			fail_msg("scope %d: %d stops", scope, (int)j.stops);
		engine_free(engine);
	}
}

/* Times at both ends of their range, where sums overflow. */
static void test_times(void **state)
{
	static const uint64_t times[] = {0,
					 1,
					 MSEC(250),
					 INT64_MAX,
					 (uint64_t)INT64_MAX + 1,
					 UINT64_MAX - MSEC(250),
					 UINT64_MAX - 1,
					 UINT64_MAX};
	static const uint64_t graces[] = {0, 1, SEC(30), UINT64_MAX / 2, UINT64_MAX};
	const struct graced_counts none = {};

	for (size_t i = 0; i < LEN(times) * LEN(times) * LEN(graces); i++) {
		uint64_t a = times[i % LEN(times)], b = times[i / LEN(times) % LEN(times)];
		const struct engine_config config = {
			.scope = SCOPE_ALL,
			.assumed_grace_ns = graces[i / LEN(times) / LEN(times)],
		};
		struct world w;

		world_open(&w, &config);
		world_init(&w, a, CG_A1, &P_A1);
		world_managed(&w, a, CG_A1, &P_A1, 15);
		world_timer(&w, b);
		world_managed(&w, b, CG_A1, &P_A1, 9);
		world_exit(&w, b, CG_A1, &P_A1, 9);
		world_timer(&w, a);
		world_counts(&w, b, CG_A1, false, &none);
		world_empty(&w, b, CG_A1);
		world_timer(&w, UINT64_MAX);
		world_timer(&w, UINT64_MAX);
		world_gone(&w, a, CG_A1, NULL);
		assert_int_equal(world_count(&w, RECORD_STOP), 1);
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("random bytes as observations do no harm", test_random_bytes),
		CLAIM("plausible lies in any order do no harm, and memory stays bounded",
		      test_plausible),
		CLAIM("times at the ends of their range overflow nothing", test_times),
	};

	return cmocka_run_group_tests_name("core/engine: hostile", tests, NULL, NULL);
}
