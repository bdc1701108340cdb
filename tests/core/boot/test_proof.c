// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/boot/proof: when the taint is set for a boot that ended uncleanly, and that the
 * start of the node is always let go.
 *
 *   test_proof [BOOTS [SEED]]
 */
#include "core/boot/proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"

#define S     1000000000ULL
#define BOOTS 20000
#define STEPS 80

static const char this_boot[] = "0b0e9b8e-1d2c-4f3a-8b4c-5d6e7f809102";
static const char that_boot[] = "1b0e9b8e-1d2c-4f3a-8b4c-5d6e7f809102";

static const struct proof_facts clean = {.complete = true};

static uint64_t boots = BOOTS, first_seed = 1;

/* --- by hand ---------------------------------------------------------------------------------- */

static void test_order(void **state)
{
	static const struct {
		const char *why;
		struct proof_order order;
		bool holds;
	} rows[] = {
		{"the kubelet waits", {true, 2, {{true, true, true}, {true, true, false}}}, true},
		{"it is not ordered", {true, 1, {{false, true, true}}}, false},
		{"this unit is up", {false, 1, {{true, true, true}}}, false},
		{"it runs", {true, 1, {{true, false, true}}}, false},
		{"nothing is to be started", {true, 1, {{true, true, false}}}, false},
		{"another one runs", {true, 2, {{true, true, true}, {true, false, false}}}, false},
		{"another is not ordered",
		 {true, 2, {{true, true, true}, {false, true, true}}},
		 false},
		{"there is none", {true, 0, {}}, false},
		{"there are too many", {true, PROOF_UNITS_MAX + 1, {{true, true, true}}}, false},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		if (proof_order_holds(&rows[i].order) != rows[i].holds)
			fail_msg("%s", rows[i].why);
}

static enum proof_command facts(struct proof *p, struct proof_facts f, uint64_t now_ns)
{
	return proof_step(p, &(struct proof_event){.type = PROOF_EV_FACTS, .facts = f}, now_ns);
}

static enum proof_command order(struct proof *p, bool holds, uint64_t now_ns)
{
	return proof_step(p, &(struct proof_event){.type = PROOF_EV_ORDER, .holds = holds}, now_ns);
}

static enum proof_command listed(struct proof *p, size_t waiting, uint64_t now_ns)
{
	return proof_step(p, &(struct proof_event){.type = PROOF_EV_LISTED, .waiting = waiting},
			  now_ns);
}

static enum proof_command plain(struct proof *p, enum proof_event_type type, uint64_t now_ns)
{
	return proof_step(p, &(struct proof_event){.type = type}, now_ns);
}

/* The taint stands. */
static void begin(struct proof *p)
{
	proof_begin(p, BOOT_END_UNCLEAN, that_boot, this_boot, 100 * S);
	assert_int_equal(facts(p, clean, 100 * S), PROOF_NOTHING);
	assert_int_equal(order(p, true, 100 * S), PROOF_LIST);
	assert_int_equal(listed(p, 2, 101 * S), PROOF_SET);
	assert_int_equal(plain(p, PROOF_EV_SET, 102 * S), PROOF_LIST);
}

static void test_gone(void **state)
{
	struct proof p;

	begin(&p);
	assert_int_equal(listed(&p, 1, 102 * S), PROOF_NOTHING);
	assert_int_equal(proof_wake(&p), 103 * S);
	assert_int_equal(plain(&p, PROOF_EV_TIMER, 103 * S), PROOF_LIST);
	assert_int_equal(listed(&p, 0, 104 * S), PROOF_CLEAR);
	assert_int_equal(p.stage, PROOF_CLEARING);
	assert_int_equal(plain(&p, PROOF_EV_CLEARED, 105 * S), PROOF_NOTHING);
	assert_int_equal(p.stage, PROOF_OVER);
	assert_int_equal(p.end, PROOF_GONE);
}

static void test_bounds(void **state)
{
	struct proof p;

	begin(&p);
	assert_int_equal(listed(&p, 1, 102 * S), PROOF_NOTHING);
	assert_int_equal(plain(&p, PROOF_EV_TIMER, 132 * S), PROOF_CLEAR);
	assert_int_equal(p.end, PROOF_STOOD);
	assert_int_equal(plain(&p, PROOF_EV_TIMER, 136 * S), PROOF_NOTHING);
	assert_int_equal(p.stage, PROOF_CLEARING);
	assert_int_equal(plain(&p, PROOF_EV_TIMER, 137 * S), PROOF_NOTHING);
	assert_int_equal(p.stage, PROOF_OVER);
}

static void test_nothing_to_do(void **state)
{
	const struct {
		enum boot_end end;
		const char *dead;
		struct proof_facts facts;
		bool holds, fails;
		size_t waiting;
		enum proof_end want;
	} rows[] = {
		{BOOT_END_CLEAN, that_boot, clean, true, false, 1, PROOF_CLEAN},
		{BOOT_END_UNKNOWN, that_boot, clean, true, false, 1, PROOF_CLEAN},
		{BOOT_END_UNCLEAN, this_boot, clean, true, false, 1, PROOF_UNPROVEN},
		{BOOT_END_UNCLEAN, "", clean, true, false, 1, PROOF_UNPROVEN},
		{BOOT_END_UNCLEAN,
		 that_boot,
		 {.complete = true, .lost = true},
		 true,
		 false,
		 1,
		 PROOF_UNPROVEN},
		{BOOT_END_UNCLEAN,
		 that_boot,
		 {.complete = true, .occupied = 1},
		 true,
		 false,
		 1,
		 PROOF_UNPROVEN},
		{BOOT_END_UNCLEAN, that_boot, {.complete = false}, true, false, 1, PROOF_UNPROVEN},
		{BOOT_END_UNCLEAN,
		 that_boot,
		 {.complete = true, .shutdown = true},
		 true,
		 false,
		 1,
		 PROOF_UNPROVEN},
		{BOOT_END_UNCLEAN, that_boot, clean, false, false, 1, PROOF_NOT_HELD},
		{BOOT_END_UNCLEAN, that_boot, clean, true, true, 1, PROOF_NO_ANSWER},
		{BOOT_END_UNCLEAN, that_boot, clean, true, false, 0, PROOF_NOT_NEEDED},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct proof p;
		bool set = false;

		proof_begin(&p, rows[i].end, rows[i].dead, this_boot, S);
		set |= facts(&p, rows[i].facts, S) == PROOF_SET;
		set |= order(&p, rows[i].holds, S) == PROOF_SET;
		set |= proof_step(&p,
				  &(struct proof_event){.type = PROOF_EV_LISTED,
							.failed = rows[i].fails,
							.waiting = rows[i].waiting},
				  S) == PROOF_SET;
		if (set || p.stage != PROOF_OVER || p.end != rows[i].want)
			fail_msg("row %zu: set %d, stage %d, end %d", i, set, p.stage, p.end);
	}
}

/* --- random boots ------------------------------------------------------------------------------ */

/* What the world is like, kept apart from what core/boot/proof makes of it. */
struct world {
	struct proof proof;
	uint64_t seed, now_ns, begun_ns;
	bool unclean, older, holds, ordered;
	struct proof_facts facts;
	bool known, listing, set_owed, cleared_owed;
	bool waits; /* pods were listed that the taint is to remove */
	bool set, cleared;
	const char *broken;
	uint64_t *n_set, *n_gone;
};

static uint64_t pick(struct world *w, uint64_t n)
{
	uint64_t x;

	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	x = (w->seed ^ w->seed >> 32) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) % n;
}

static void break_(struct world *w, const char *why)
{
	if (!w->broken)
		w->broken = why;
}

static bool is_bad(const struct world *w)
{
	return !w->facts.complete || w->facts.lost || w->facts.occupied || w->facts.shutdown;
}

static void check_set(struct world *w)
{
	if (w->set)
		break_(w, "it is set once");
	if (!w->known || w->facts.occupied)
		break_(w, "a cgroup of a pod is there");
	if (w->facts.lost)
		break_(w, "a record was lost");
	if (!w->facts.complete || w->facts.shutdown)
		break_(w, "this boot is not known whole, or goes down");
	if (!w->unclean || !w->older)
		break_(w, "no boot before has ended uncleanly");
	if (!w->ordered || !w->holds)
		break_(w, "the kubelet may be started");
	if (!w->waits)
		break_(w, "no pod has to leave the node");
}

static void take(struct world *w, enum proof_command command)
{
	if (command == PROOF_LIST) {
		if (w->listing)
			break_(w, "one list at a time");
		w->listing = true;
	}
	if (command == PROOF_SET) {
		check_set(w);
		w->set = w->set_owed = true;
		(*w->n_set)++;
	}
	if (command == PROOF_CLEAR) {
		if (!w->set || w->cleared)
			break_(w, "what is not set is not removed, and once");
		w->cleared = w->cleared_owed = true;
	}
}

static void check(struct world *w)
{
	bool over = w->proof.stage == PROOF_OVER;

	if (w->set && !w->cleared && is_bad(w))
		break_(w, "it stands while the proof does not hold");
	if (w->set && !w->cleared && over)
		break_(w, "the node may start while it stands");
	if (!over && w->now_ns >= w->begun_ns + PROOF_HOLD_NS && proof_wake(&w->proof) > w->now_ns)
		break_(w, "the node's start is held for too long");
}

static void send(struct world *w, struct proof_event event)
{
	take(w, proof_step(&w->proof, &event, w->now_ns));
	check(w);
}

static void look(struct world *w)
{
	/* Mostly good, for the others to have a chance. */
	w->facts = (struct proof_facts){
		.complete = pick(w, 40) > 0,
		.lost = w->facts.lost || pick(w, 60) == 0,
		.occupied = pick(w, 40) == 0,
		.shutdown = w->facts.shutdown || pick(w, 80) == 0,
	};
	w->known = true;
	send(w, (struct proof_event){.type = PROOF_EV_FACTS, .facts = w->facts});
}

static void answer(struct world *w)
{
	struct proof_event event = {.failed = pick(w, 8) == 0, .waiting = pick(w, 3)};

	if (w->listing) {
		event.type = PROOF_EV_LISTED;
		w->listing = false;
		w->waits = !event.failed && event.waiting;
		(*w->n_gone) += w->set && !w->cleared && !event.failed && !event.waiting;
	} else if (w->set_owed) {
		event.type = PROOF_EV_SET;
		w->set_owed = false;
	} else if (w->cleared_owed) {
		event.type = PROOF_EV_CLEARED;
		w->cleared_owed = false;
	} else {
		return;
	}
	send(w, event);
}

/* The edge's timer comes when it is due. */
static void pass_time(struct world *w)
{
	uint64_t then_ns = w->now_ns + pick(w, 3) * S, wake_ns = proof_wake(&w->proof);

	if (wake_ns > then_ns) {
		w->now_ns = then_ns;
		return;
	}
	if (wake_ns > w->now_ns)
		w->now_ns = wake_ns;
	send(w, (struct proof_event){.type = PROOF_EV_TIMER});
}

static void step(struct world *w)
{
	switch (pick(w, 8)) {
	case 0:
	case 1:
		look(w);
		break;
	case 2:
		w->ordered = true;
		send(w, (struct proof_event){.type = PROOF_EV_ORDER, .holds = w->holds});
		break;
	case 3:
	case 4:
	case 5:
		answer(w);
		break;
	case 6:
		/* An answer to nothing. */
		if (pick(w, 4) == 0 && !w->listing)
			send(w, (struct proof_event){.type = PROOF_EV_LISTED, .waiting = 1});
		break;
	default:
		pass_time(w);
	}
}

static const char *walk(uint64_t seed, uint64_t *n_set, uint64_t *n_gone)
{
	struct world w = {.seed = seed,
			  .now_ns = 1000 * S,
			  .begun_ns = 1000 * S,
			  .n_set = n_set,
			  .n_gone = n_gone};

	w.unclean = pick(&w, 8) > 0;
	w.older = pick(&w, 8) > 0;
	w.holds = pick(&w, 8) > 0;
	proof_begin(&w.proof, w.unclean ? BOOT_END_UNCLEAN : BOOT_END_CLEAN,
		    w.older ? that_boot : this_boot, this_boot, w.now_ns);
	for (int i = 0; i < STEPS && !w.broken; i++)
		step(&w);
	/* Nobody answers any more: four stages end by the timer alone. */
	for (int i = 0; i < 100 && w.proof.stage != PROOF_OVER && !w.broken; i++) {
		if (proof_wake(&w.proof) > w.begun_ns + PROOF_HOLD_NS && !w.broken)
			break_(&w, "the timer is beyond the bound");
		if (proof_wake(&w.proof) > w.now_ns)
			w.now_ns = proof_wake(&w.proof);
		send(&w, (struct proof_event){.type = PROOF_EV_TIMER});
	}
	if (w.proof.stage != PROOF_OVER)
		break_(&w, "the node never starts");
	return w.broken;
}

static void test_no_boot_sets_it_wrongly(void **state)
{
	uint64_t n_set = 0, n_gone = 0;

	print_message("# %llu boots from seed %llu\n", (unsigned long long)boots,
		      (unsigned long long)first_seed);
	for (uint64_t i = 0; i < boots; i++) {
		const char *broken = walk(first_seed + i, &n_set, &n_gone);

		if (broken)
			fail_msg("seed %llu: %s", (unsigned long long)(first_seed + i), broken);
	}
	print_message("# set %llu times, pods gone %llu times\n", (unsigned long long)n_set,
		      (unsigned long long)n_gone);
	if (boots >= BOOTS)
		assert_true(n_set > boots / 10 && n_gone > boots / 50);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the kubelet is held where its start waits for this unit, and no other runs",
		      test_order),
		CLAIM("the taint is removed when the pods are gone, and then the node starts",
		      test_gone),
		CLAIM("it is removed when its time is over, and a server that is silent is left",
		      test_bounds),
		CLAIM("it is not set without a boot that ended uncleanly, for pods of this boot, "
		      "without a hold, an answer or pods",
		      test_nothing_to_do),
		CLAIM("no boot sets it while a pod has a cgroup, a record was lost or the evidence "
		      "is of this boot, and every node starts",
		      test_no_boot_sets_it_wrongly),
	};

	if (argc > 1)
		boots = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
