// SPDX-License-Identifier: Apache-2.0
/* Claims about core/load/budget: when something is shed, and when it comes back. */
#include "core/load/budget.h"

#include "lib/claim.h"

#define SECOND 1000000000ULL
#define LIMIT  20000 /* 2 % */

/* Drives a budget second by second. */
struct drive {
	struct budget budget;
	uint64_t at_ns, cost_ns, load;
};

static void start(struct drive *d)
{
	*d = (struct drive){.budget.limit_ppm = LIMIT, .at_ns = 1000 * SECOND};
	budget_sample(&d->budget, &(struct budget_sample){d->at_ns, 0, 0, 0});
}

/* So many seconds at that share of one CPU, and that load a second: how often the level changed or
 * was not enough. */
static int run_load(struct drive *d, int seconds, uint64_t ppm, uint64_t load)
{
	int changes = 0;

	for (int i = 0; i < seconds; i++) {
		d->at_ns += SECOND;
		d->cost_ns += SECOND / 1000000 * ppm;
		d->load += load;
		changes += budget_sample(&d->budget,
					 &(struct budget_sample){d->at_ns, d->cost_ns, 0, d->load});
	}
	return changes;
}

/* Nothing is known of the load. */
static int run(struct drive *d, int seconds, uint64_t ppm)
{
	return run_load(d, seconds, ppm, 0);
}

/* What each event costs at each level, in ns. */
struct plant {
	uint64_t event_ns[SHED_COUNT];
	uint64_t base_ppm;
};

/* A step makes events cheaper. So many seconds of that load: how long the level was above
 * SHED_NOTHING at the end of it. */
static int run_plant(struct drive *d, const struct plant *plant, int seconds, uint64_t load)
{
	int shed = 0;

	for (int i = 0; i < seconds; i++) {
		uint64_t ppm = plant->base_ppm + load * plant->event_ns[d->budget.level] / 1000;

		run_load(d, 1, ppm, load);
		shed = d->budget.level == SHED_NOTHING ? 0 : shed + 1;
	}
	return shed;
}

#define IDLE 100 /* events a second */

static void within(void **state)
{
	struct drive d;

	start(&d);
	assert_int_equal(run(&d, 600, LIMIT - 1000), 0);
	assert_int_equal(d.budget.level, SHED_NOTHING);
	assert_in_range(d.budget.ratio_ppm, LIMIT - 1100, LIMIT - 900);
}

static void short_burst(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 20, 0);
	/* 150 of the 200 ms that ten seconds allow. */
	assert_int_equal(run(&d, 1, 150000), 0);
	assert_int_equal(run(&d, 60, 1000), 0);
	assert_int_equal(d.budget.level, SHED_NOTHING);
}

static void above(void **state)
{
	struct drive d;

	start(&d);
	/* At three times the budget it is spent after the fourth second. */
	assert_int_equal(run(&d, 3, 3 * LIMIT), 0);
	assert_int_equal(run(&d, 1, 3 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_NOISY);
	/* What that brings is seen over a whole window. */
	assert_int_equal(run(&d, 9, 3 * LIMIT), 0);
	assert_int_equal(run(&d, 1, 3 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_SIGNALS);
	assert_int_equal(run(&d, 9, 3 * LIMIT), 0);
	assert_int_equal(run(&d, 1, 3 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_NAMES);
}

/* Much is shed by the first step: nothing more is, however much the load costs until it works. */
static void enough(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 4, 3 * LIMIT);
	assert_int_equal(run(&d, 1, 5 * LIMIT), 0);
	assert_int_equal(run(&d, 25, LIMIT / 2), 0);
	assert_int_equal(d.budget.level, SHED_NOISY);
}

static void last_level(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 30, 10 * LIMIT);
	assert_int_equal(d.budget.level, SHED_NAMES);
	assert_true(run(&d, 20, 10 * LIMIT) > 0);
	assert_int_equal(d.budget.level, SHED_NAMES);
}

static void comes_back(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 4, 3 * LIMIT);
	assert_int_equal(d.budget.level, SHED_NOISY);
	assert_int_equal(run(&d, 29, LIMIT / 4), 0);
	assert_int_equal(run(&d, 2, LIMIT / 4), 1);
	assert_int_equal(d.budget.level, SHED_NOTHING);
	assert_int_equal(run(&d, 300, LIMIT / 4), 0);
}

/* Steady at more than half of the budget. A load that did not rise does not show its end. */
static void comes_back_busy(void **state)
{
	for (uint64_t load = 0; load <= 1000; load += 1000) {
		struct drive d;

		start(&d);
		run_load(&d, 60, LIMIT * 3 / 4, load);
		while (d.budget.level == SHED_NOTHING)
			run_load(&d, 1, 3 * LIMIT, load);
		assert_int_equal(run_load(&d, 29, LIMIT * 3 / 4, load), 0);
		assert_int_equal(run_load(&d, 10, LIMIT * 3 / 4, load), 1);
		assert_int_equal(d.budget.level, SHED_NOTHING);
		assert_int_equal(run_load(&d, 300, LIMIT * 3 / 4, load), 0);
	}
}

static void waits_longer(void **state)
{
	struct drive d;
	int seconds[4] = {};

	start(&d);
	for (int i = 0; i < 4; i++) {
		while (d.budget.level == SHED_NOTHING)
			run(&d, 1, 3 * LIMIT);
		for (; d.budget.level != SHED_NOTHING; seconds[i]++)
			run(&d, 1, 0);
	}
	assert_in_range(seconds[0], 30, 31);
	assert_in_range(seconds[1], 60, 61);
	assert_in_range(seconds[2], 120, 121);
	assert_in_range(seconds[3], 240, 241);
}

static void no_budget(void **state)
{
	struct drive d;

	start(&d);
	d.budget.limit_ppm = 0;
	assert_int_equal(run(&d, 100, 900000), 0);
	assert_int_equal(d.budget.level, SHED_NOTHING);
	assert_in_range(d.budget.ratio_ppm, 899000, 901000);
}

static void hostile_samples(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 5, 1000);
	assert_false(budget_sample(&d.budget, &(struct budget_sample){0, UINT64_MAX, 0, 0}));
	assert_false(budget_sample(&d.budget, &(struct budget_sample){d.at_ns, UINT64_MAX, 0, 0}));
	assert_false(budget_sample(&d.budget, &(struct budget_sample){d.at_ns + SECOND, 0, 0, 0}));
	assert_in_range(d.budget.ratio_ppm, 900, 1100);
}

static void budget_taken_away(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 30, 10 * LIMIT);
	assert_int_equal(d.budget.level, SHED_NAMES);
	d.budget.limit_ppm = 0;
	assert_int_equal(run(&d, 1, 10 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_NOTHING);
	assert_int_equal(run(&d, 10, 10 * LIMIT), 0);
}

/* One that is raised is yet to be exceeded, one that is lowered as well. */
static void another_budget(void **state)
{
	static const uint32_t limits[] = {1, 1000000};

	for (size_t i = 0; i < LEN(limits); i++) {
		struct drive d;

		start(&d);
		run(&d, 30, 10 * LIMIT);
		assert_int_equal(d.budget.level, SHED_NAMES);
		d.budget.limit_ppm = limits[i];
		assert_int_equal(run(&d, 1, 10 * LIMIT), 1);
		assert_int_equal(d.budget.level, SHED_NOTHING);
		run(&d, 3, 10 * LIMIT);
		assert_int_equal(d.budget.level, i == 0 ? SHED_NOISY : SHED_NOTHING);
	}
}

/* All that is shed of it comes back within 10 s, each time. */
static void comes_and_goes(void **state)
{
	static const struct {
		struct plant plant;
		enum shed level; /* that it takes */
	} rows[] = {
		{{{5000, 200, 200, 200}, 500}, SHED_NOISY},
		{{{5000, 4000, 200, 200}, 500}, SHED_SIGNALS},
		{{{5000, 4000, 3000, 2000}, 500}, SHED_NAMES},
		{{{5000, 5000, 5000, 5000}, 500}, SHED_NAMES},
		{{{5000, 200, 200, 200}, 12000}, SHED_NOISY},
		{{{5000, 4000, 200, 200}, 12000}, SHED_SIGNALS},
		{{{5000, 4000, 3000, 2000}, LIMIT - 1000}, SHED_NAMES},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct drive d;

		start(&d);
		for (int times = 0; times < 20; times++) {
			assert_int_equal(run_plant(&d, &rows[i].plant, 20 + 7 * times, IDLE), 0);
			assert_true(run_plant(&d, &rows[i].plant, 25 + times % 5, 20000) > 0);
			assert_int_equal(d.budget.level, rows[i].level);
			run_plant(&d, &rows[i].plant, 10, IDLE);
			assert_int_equal(d.budget.level, SHED_NOTHING);
		}
	}
}

/* It is not less of it that makes it cheap. */
static void goes_on(void **state)
{
	static const struct plant plant = {{5000, 200, 200, 200}, 500};
	struct drive d;
	uint64_t changes;

	start(&d);
	run_plant(&d, &plant, 20, 20000);
	changes = d.budget.changes;
	assert_int_equal(changes, 1);
	/* Tried after 30 s, 60 s, 120 s and so on. */
	run_plant(&d, &plant, 1000, 20000);
	assert_in_range(d.budget.changes - changes, 2, 2 * 5);
	/* Half of it would be too much still, by what it cost. */
	start(&d);
	run_plant(&d, &plant, 20, 20000);
	run_plant(&d, &plant, 20, 9000);
	assert_int_equal(d.budget.level, SHED_NOISY);
	/* A tenth is not, nor what is as rare as a burst in the middle of it. */
	run_plant(&d, &plant, 10, 1500);
	assert_int_equal(d.budget.level, SHED_NOTHING);
}

/* Bursts that are a few seconds apart are one load. */
static void bursts(void **state)
{
	static const struct plant plant = {{5000, 200, 200, 200}, 500};
	struct drive d;

	start(&d);
	for (int i = 0; i < 30; i++) {
		run_plant(&d, &plant, 1, 60000);
		run_plant(&d, &plant, 4, IDLE);
	}
	assert_in_range(d.budget.changes, 1, 5);
}

/* What was counted is lost, or was never known: nothing is concluded from that. */
static void load_unknown(void **state)
{
	struct drive d;

	start(&d);
	run_load(&d, 4, 3 * LIMIT, 1000);
	assert_int_equal(d.budget.level, SHED_NOISY);
	run_load(&d, 3, LIMIT / 4, 1000);
	d.load = 0;
	run_load(&d, 9, LIMIT / 4, 1000);
	assert_int_equal(d.budget.level, SHED_NOISY);
	assert_in_range(d.budget.ratio_ppm, LIMIT / 4 - 10, LIMIT / 4 + 10);
	/* Lost just when the budget is exceeded. */
	start(&d);
	run_load(&d, 20, LIMIT / 2, 1000);
	d.load = 0;
	while (d.budget.level == SHED_NOTHING)
		run_load(&d, 1, 3 * LIMIT, 1000);
	run_load(&d, 9, LIMIT / 4, 1000);
	assert_int_equal(d.budget.level, SHED_NOISY);
}

static void held_up(void **state)
{
	struct drive d;

	start(&d);
	/* A minute without a sample, at a quarter of the budget. */
	d.at_ns += 60 * SECOND;
	d.cost_ns += 60 * SECOND / 1000000 * LIMIT / 4;
	assert_false(budget_sample(&d.budget, &(struct budget_sample){d.at_ns, d.cost_ns, 0, 0}));
	assert_int_equal(d.budget.level, SHED_NOTHING);
}

static void apart(void **state)
{
	struct drive d;

	start(&d);
	for (uint64_t i = 0; i < 60; i++) {
		d.at_ns += SECOND;
		assert_false(budget_sample(&d.budget,
					   &(struct budget_sample){d.at_ns, 0, i * SECOND / 2, 0}));
	}
	assert_in_range(d.budget.ratio_ppm, 499000, 501000);
}

static void in_a_shutdown(void **state)
{
	for (enum shed level = SHED_NOTHING; level < SHED_COUNT; level++) {
		assert_int_equal(shed_of(level, false), level);
		assert_int_equal(shed_of(level, true), level == SHED_NAMES ? SHED_SIGNALS : level);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("nothing is shed within the budget", within),
		CLAIM("a short burst that the window covers sheds nothing", short_burst),
		CLAIM("above the budget one thing after the other is shed", above),
		CLAIM("at the last level it goes on telling that it is not enough", last_level),
		CLAIM("what is shed at first may be enough", enough),
		CLAIM("what was shed comes back within 10 s of the load's end, each time that a load "
		      "comes and goes",
		      comes_and_goes),
		CLAIM("while the load goes on, attempts to do without shedding become rare",
		      goes_on),
		CLAIM("a load of bursts is not taken for one that comes and goes", bursts),
		CLAIM("a load that is not known is not gone", load_unknown),
		CLAIM("with another budget nothing is shed until that is exceeded", another_budget),
		CLAIM("of a load that is not known what was shed comes back after a calm half minute",
		      comes_back),
		CLAIM("so it does where the calm takes most of the budget", comes_back_busy),
		CLAIM("each attempt that was too early doubles the wait", waits_longer),
		CLAIM("without a budget nothing is ever shed, and the share is still known",
		      no_budget),
		CLAIM("samples that go back in time are ignored", hostile_samples),
		CLAIM("with the budget goes all shedding", budget_taken_away),
		CLAIM("samples that were held up are judged by the time they stand for", held_up),
		CLAIM("what shedding cannot lower is reported and sheds nothing", apart),
		CLAIM("names are not shed while a shutdown is announced", in_a_shutdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
