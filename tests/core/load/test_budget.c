// SPDX-License-Identifier: Apache-2.0
/* Claims about core/load/budget: when something is shed, and when it comes back. */
#include "core/load/budget.h"

#include "lib/claim.h"

#define SECOND 1000000000ULL
#define LIMIT  20000 /* 2 % */

/* Drives a budget second by second. */
struct drive {
	struct budget budget;
	uint64_t at_ns, cost_ns;
};

static void start(struct drive *d)
{
	*d = (struct drive){.budget.limit_ppm = LIMIT, .at_ns = 1000 * SECOND};
	budget_sample(&d->budget, &(struct budget_sample){d->at_ns, 0, 0});
}

/* So many seconds at that share of one CPU: how often the level changed or was not enough. */
static int run(struct drive *d, int seconds, uint64_t ppm)
{
	int told = 0;

	for (int i = 0; i < seconds; i++) {
		d->at_ns += SECOND;
		d->cost_ns += SECOND / 1000000 * ppm;
		told += budget_sample(&d->budget, &(struct budget_sample){d->at_ns, d->cost_ns, 0});
	}
	return told;
}

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
	assert_int_equal(run(&d, 4, 3 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_SIGNALS);
	assert_int_equal(run(&d, 4, 3 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_NAMES);
}

static void last_level(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 20, 10 * LIMIT);
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

static void not_while_busy(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 4, 3 * LIMIT);
	/* Within the budget, but more than half of it: what came back would be shed again. */
	assert_int_equal(run(&d, 600, LIMIT * 3 / 4), 0);
	assert_int_equal(d.budget.level, SHED_NOISY);
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
	assert_false(budget_sample(&d.budget, &(struct budget_sample){0, UINT64_MAX, 0}));
	assert_false(budget_sample(&d.budget, &(struct budget_sample){d.at_ns, UINT64_MAX, 0}));
	assert_false(budget_sample(&d.budget, &(struct budget_sample){d.at_ns + SECOND, 0, 0}));
	assert_in_range(d.budget.ratio_ppm, 900, 1100);
}

static void budget_taken_away(void **state)
{
	struct drive d;

	start(&d);
	run(&d, 20, 10 * LIMIT);
	assert_int_equal(d.budget.level, SHED_NAMES);
	d.budget.limit_ppm = 0;
	assert_int_equal(run(&d, 1, 10 * LIMIT), 1);
	assert_int_equal(d.budget.level, SHED_NOTHING);
	assert_int_equal(run(&d, 10, 10 * LIMIT), 0);
}

static void held_up(void **state)
{
	struct drive d;

	start(&d);
	/* A minute without a sample, at a quarter of the budget. */
	d.at_ns += 60 * SECOND;
	d.cost_ns += 60 * SECOND / 1000000 * LIMIT / 4;
	assert_false(budget_sample(&d.budget, &(struct budget_sample){d.at_ns, d.cost_ns, 0}));
	assert_int_equal(d.budget.level, SHED_NOTHING);
}

static void apart(void **state)
{
	struct drive d;

	start(&d);
	for (uint64_t i = 0; i < 60; i++) {
		d.at_ns += SECOND;
		assert_false(budget_sample(&d.budget,
					   &(struct budget_sample){d.at_ns, 0, i * SECOND / 2}));
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
		CLAIM("what was shed comes back after a calm half minute", comes_back),
		CLAIM("nothing comes back while more than half of the budget is spent",
		      not_while_busy),
		CLAIM("each attempt that was too early doubles the wait", waits_longer),
		CLAIM("without a budget nothing is ever shed, and the share is still known",
		      no_budget),
		CLAIM("samples that go back in time are ignored", hostile_samples),
		CLAIM("with the budget goes all shedding", budget_taken_away),
		CLAIM("samples that were held up are judged by the time they stand for", held_up),
		CLAIM("what shedding cannot lower is told and sheds nothing", apart),
		CLAIM("names are not shed while a shutdown is announced", in_a_shutdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
