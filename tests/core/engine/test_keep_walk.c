// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: wherever a random walk of containers is cut, each stop is reported
 * once. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"

#define SEED  20261122
#define WALKS 40
#define STEPS 50
#define CUTS  40

static uint64_t seed;

static uint64_t draw(uint64_t n)
{
	uint64_t x;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (seed ^ seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) % n;
}

struct walker {
	uint64_t id;
	struct graced_proc proc;
	bool alive, populated;
};

static void begin(struct world *w, struct walker *c, uint64_t at)
{
	static uint32_t pid;

	pid = pid < 10000 ? 10000 : pid + 1;
	c->proc.pid = pid;
	c->proc.start_ns = at - MSEC(3);
	c->alive = c->populated = true;
	world_init(w, at, c->id, &c->proc);
}

static void leave(struct world *w, struct walker *c, uint64_t at)
{
	static const uint32_t statuses[] = {EXIT(0), EXIT(1), 9, 11, 15, EXIT(143)};

	world_exit(w, at, c->id, &c->proc, statuses[draw(LEN(statuses))]);
	c->alive = false;
	if (draw(4) == 0)
		return;
	world_empty(w, at + 20000, c->id);
	c->populated = false;
}

static void act(struct world *w, struct walker *c, uint64_t at)
{
	if (!c->alive && c->populated) {
		world_empty(w, at, c->id);
		c->populated = false;
		return;
	}
	if (!c->alive) {
		begin(w, c, at);
		return;
	}
	switch (draw(6)) {
	case 0:
		world_managed(w, at, c->id, &c->proc, 15);
		break;
	case 1:
		world_managed(w, at, c->id, &c->proc, 9);
		leave(w, c, at + 50000);
		break;
	case 2:
		world_from(w, at, c->id, &c->proc, 15, &P_SHELL);
		break;
	case 3:
		world_timer(w, at);
		break;
	default:
		leave(w, c, at);
		break;
	}
}

static void walk(struct world *w)
{
	struct walker all[] = {{.id = CG_A1, .proc = P_A1},
			       {.id = CG_A2, .proc = P_A2},
			       {.id = CG_B1, .proc = P_B1},
			       {.id = CG_D1, .proc = P_D1}};
	uint64_t at = SEC(10);

	world_open(w, NULL);
	for (int i = 0; i < STEPS; i++) {
		at += SEC(1) + draw(SEC(3));
		act(w, &all[draw(LEN(all))], at);
	}
}

static size_t begin_of(const struct relay *relay, const struct record_stop *stop)
{
	for (size_t i = 0; i < relay->fed.n; i++)
		if (relay->fed.list[i].type == OBS_INIT &&
		    relay->fed.list[i].init.proc.pid == stop->process.pid)
			return i;
	fail_msg("%s never began", stop->id);
	return 0;
}

static void check(const struct relay *relay, const struct relay_leg *leg)
{
	struct relay_run run;

	relay_run(relay, leg, &run);
	for (size_t i = 0; i < world_count(&relay->whole, RECORD_STOP); i++) {
		const struct record_stop *want = &world_record(&relay->whole, RECORD_STOP, i)->stop;
		const struct record_stop *got = NULL;
		size_t n = relay_count_stops(&run, want->id, &got), at = begin_of(relay, want);

		if (n > 1 || (!n && (at < leg->at || at >= leg->at + leg->lost)))
			fail_msg("seed %d: %s reported %zu times, cut at %zu, %zu lost", SEED,
				 want->id, n, leg->at, leg->lost);
		if (n && !leg->lost && got->outcome != want->outcome)
			fail_msg("seed %d: %s is %s, cut at %zu", SEED, want->id,
				 outcome_name(got->outcome), leg->at);
	}
	relay_run_close(&run);
}

static void test_walk(void **state)
{
	print_message("# seed %d\n", SEED);
	seed = SEED;
	for (int i = 0; i < WALKS; i++) {
		struct relay relay;

		relay_open(&relay, NULL, walk);
		for (int n = 0; n < CUTS; n++) {
			struct relay_leg leg = {.incremental = n % 2};

			leg.at = relay.attached + draw(relay.fed.n - relay.attached);
			leg.lost = n % 3 ? draw(relay.fed.n - leg.at) : 0;
			check(&relay, &leg);
		}
		relay_close(&relay);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each stop of a random walk is reported once, wherever it is cut", test_walk),
	};

	return cmocka_run_group_tests_name("core/engine: relays of random walks", tests, NULL,
					   NULL);
}
