// SPDX-License-Identifier: Apache-2.0
/* Claims about the list of a container's processes: which it keeps, and which it counts. */
#include "core/stop/processes.h"

#include "lib/engine/processes_bench.h"

static void test_full(void **state)
{
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	for (uint32_t i = 0; i < 100; i++)
		bench_ends(&b, AT(0) + i, INIT + 1 + i, INIT, 9);
	assert_int_equal(b.stop->processes->n, PROCESSES_UNASKED);
	bench_shoot(&b, AT(1), 15, RELATION_MANAGER, 0, 0);
	for (uint32_t i = 0; i < 200; i++)
		bench_ends(&b, AT(2) + i, INIT + 200 + i, INIT, i == 7 ? 9 : CODE(0));
	assert_int_equal(b.stop->processes->n, PROCESSES_MAX);
	/* Those that ended before the request are none of the stop's. */
	assert_int_equal(b.stop->processes->dropped, 200 - PROCESSES_MAX);
	for (size_t i = 0, cut = 0; i <= PROCESSES_MAX; i++) {
		assert_true(i < PROCESSES_MAX || cut == 1);
		cut += i < PROCESSES_MAX && process_is_cut(b.stop, b.stop->processes->list + i);
	}
	bench_close(&b);
}

/* The end of a pid namespace takes more than there is room for. */
static void test_full_after_init(void **state)
{
	for (int asked = 0; asked < 2; asked++) {
		const struct process *via;
		struct bench b;
		bool sure;

		bench_open_init(&b, STOP_RUNNING);
		if (asked)
			bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
		bench_ends(&b, AT(1), INIT + 1, INIT, 11);
		bench_init_ends(&b, AT(1) + 1, CODE(139));
		for (uint32_t i = 0; i < 100; i++)
			bench_ends(&b, AT(1) + 2 + i, INIT + 2 + i, INIT, 9);
		via = processes_via(b.stop, &sure);
		assert_non_null(via);
		assert_int_equal(via->proc.pid, INIT + 1);
		assert_true(sure);
		bench_close(&b);
	}
}

/* What one was sent long ago, and survived, makes way for what others were sent since. */
static void test_full_of_survivors(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	for (uint32_t i = 0; i < PROCESSES_UNASKED; i++)
		bench_signal(&b, AT(0) + i, INIT + 2 + i, 15, RELATION_HOST);
	bench_signal(&b, AT(100), INIT + 1, 9, RELATION_HOST);
	bench_ends(&b, AT(100), INIT + 50, INIT + 1, 9);
	bench_ends(&b, AT(101), INIT + 1, INIT, 9);
	bench_init_ends(&b, AT(102), CODE(137));
	assert_non_null(process_fatal(processes_via(b.stop, &sure)));
	assert_true(sure);
	bench_close(&b);
}

/* Which of them ended so that init passed that on is not known any more. */
static void test_full_before_init(void **state)
{
	struct bench b;
	bool sure;

	bench_open_init(&b, STOP_RUNNING);
	bench_ends(&b, AT(0), INIT + 1, INIT, 9);
	for (uint32_t i = 0; i < PROCESSES_UNASKED; i++)
		bench_ends(&b, AT(1) + i, INIT + 2 + i, INIT + 1, 15);
	bench_init_ends(&b, AT(2), CODE(137));
	assert_null(processes_via(b.stop, &sure));
	assert_false(sure);
	bench_close(&b);
}

/* No more are kept, and all of them count. */
static void test_full_cut(void **state)
{
	uint32_t cut;
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
	for (uint32_t i = 0; i < 100; i++)
		bench_ends(&b, AT(1) + i, INIT + 1 + i, INIT, 9);
	cut = b.stop->processes->dropped_cut;
	for (size_t i = 0; i < b.stop->processes->n; i++)
		cut += process_is_cut(b.stop, b.stop->processes->list + i);
	assert_int_equal(cut, 100);
	bench_close(&b);
}

/* How many ended or live in this stop, as far as is known. */
static size_t known(const struct bench *b)
{
	const struct processes *all = b->stop->processes;

	return all->n + all->dropped + all->n_left_out;
}

/* A SIGKILL to each, and their ends: behind all of them, one by one, or last come first. */
static void test_counted_once(void **state)
{
	enum { N = PROCESSES_MAX + PROCESSES_LEFT_OUT, ORDERS = 4 };

	for (int order = 0; order < ORDERS; order++) {
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
		for (uint32_t i = 0; i < N; i++) {
			bench_signal(&b, AT(1) + i, INIT + 1 + i, 9, RELATION_HOST);
			if (order == 1)
				bench_ends(&b, AT(1) + i, INIT + 1 + i, INIT, 9);
			if (order == 2 && i % 2)
				bench_ends(&b, AT(1) + i, INIT + 1 + i / 2, INIT, 9);
		}
		assert_int_equal(known(&b), N);
		for (uint32_t i = 0; i < N; i++)
			if (order == 0 || order == 3 || (order == 2 && i >= N / 2))
				bench_ends(&b, AT(2) + i, INIT + (order == 3 ? N - i : 1 + i), INIT,
					   9);
		assert_int_equal(known(&b), N);
		assert_false(processes_left_out(b.stop));
		bench_close(&b);
	}
}

/* What lives is listed where there is room, and takes none from what was recorded. */
static void test_looked_at(void **state)
{
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
	for (uint32_t i = 0; i < PROCESSES_MAX - 1; i++)
		bench_ends(&b, AT(1) + i, INIT + 1 + i, INIT, i ? 0 : 9);
	for (uint32_t i = 0; i < 3; i++)
		processes_looked_at(b.stop, &(struct obs_look){.proc = bench_proc(INIT + 500 + i)});
	assert_int_equal(b.stop->processes->n, PROCESSES_MAX);
	assert_int_equal(b.stop->processes->n_left_out, 0);
	assert_true(b.stop->processes->more);
	for (uint32_t i = 0; i < PROCESSES_MAX; i++)
		assert_int_equal(b.stop->processes->list[i].proc.pid,
				 INIT + (i < PROCESSES_MAX - 1 ? 1 + i : 500));
	bench_close(&b);
}

/* Nobody asked: there is room for 8, and a child of init's that made way may be what it passed on. */
static void test_unasked(void **state)
{
	static const struct {
		int before, later; /* how many end before init; and how many tenths of a second */
		uint32_t after;
		int code; /* of init: one like a signal's is passed on for longer */
		bool left_out;
	} want[] = {{8, 1, 5, 1, false},
		    {9, 1, 0, 1, true},
		    {9, 30, 5, 1, false},
		    {9, 30, 5, 143, true},
		    {9, 700, 5, 143, false}};

	for (size_t i = 0; i < LEN(want); i++) {
		uint32_t pid = INIT;
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		for (int j = 0; j < want[i].before; j++)
			bench_ends(&b, AT(0) + (uint64_t)j, ++pid, INIT, CODE(1));
		bench_init_ends(&b, AT(want[i].later), CODE(want[i].code));
		for (uint32_t j = 0; j < want[i].after; j++)
			bench_ends(&b, AT(want[i].later) + 1 + j, ++pid, INIT, 9);
		assert_int_equal(processes_left_out(b.stop), want[i].left_out);
		/* What came long before init's end gives way to it, and is none of it. */
		assert_int_equal(b.stop->processes->dropped,
				 want[i].later <= (want[i].code > 128 ? 600 : 10) ? want[i].after
										  : 0);
		assert_int_equal(b.stop->processes->n, PROCESSES_UNASKED);
		bench_close(&b);
	}
}

static void test_concerns(void **state)
{
	static const struct {
		bool asked;
		int at; /* 0: it lives */
		bool concerns;
	} want[] = {{true, 9, false},  {true, 11, true},  {true, 0, false},
		    {false, 9, false}, {false, 10, true}, {false, 0, false}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		if (want[i].asked)
			bench_shoot(&b, AT(10), 15, RELATION_MANAGER, 0, 0);
		bench_signal(&b, AT(8), INIT + 1, 9, RELATION_HOST);
		if (want[i].at)
			bench_ends(&b, AT(want[i].at), INIT + 1, INIT, 9);
		bench_init_ends(&b, AT(20), CODE(1));
		assert_int_equal(process_concerns(b.stop, b.stop->processes->list),
				 want[i].concerns);
		bench_close(&b);
	}
}

/* It starts, with the signal ignored, and is sent it again. */
static void test_asked_again(void **state)
{
	static const int32_t results[] = {RESULT_IGNORED, RESULT_IGNORED, RESULT_DELIVERED,
					  RESULT_IGNORED, RESULT_DELIVERED};
	static const int heard[LEN(results)] = {0, 0, 2, 2, 2};
	struct bench b;

	bench_open_init(&b, STOP_RUNNING);
	bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
	for (int i = 0; i < (int)LEN(results); i++) {
		const struct obs_signal sig = {
			.sig = 15, .result = results[i], .target = bench_proc(INIT + 1)};
		struct sender sender = {.relation = RELATION_SAME_CONTAINER};

		processes_signalled(&b.map, b.stop, &sig, AT(i), true, &sender);
		assert_int_equal(b.stop->processes->list->asked.at_ns, AT(heard[i]));
	}
	bench_close(&b);
}

/* Init passes a signal on in vain to two of them, and is killed at the 20th tenth. */
static void test_outlived(void **state)
{
	static const struct {
		int ends[2];
		uint32_t status;
		enum unheard reason;
	} rows[] = {
		{{21, 21}, 9, UNHEARD_CHILD_IGNORED},
		{{5, 5}, CODE(0), UNHEARD_NONE},
		{{5, 21}, CODE(0), UNHEARD_CHILD_IGNORED},
		/* Each process of the cgroup was killed at once, init last. */
		{{19, 19}, 9, UNHEARD_CHILD_IGNORED},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct bench b;

		bench_open_init(&b, STOP_RUNNING);
		bench_shoot(&b, AT(0), 15, RELATION_MANAGER, 0, 0);
		for (uint32_t n = 0; n < 2; n++) {
			const struct obs_signal sig = {.sig = 15,
						       .result = RESULT_IGNORED,
						       .target = bench_proc(INIT + 1 + n),
						       .sender = bench_proc(INIT)};
			struct sender init = {.relation = RELATION_SAME_CONTAINER,
					      .proc = sig.sender};

			stop_forwards(b.stop, &sig, AT(1));
			processes_signalled(&b.map, b.stop, &sig, AT(1), true, &init);
			bench_ends(&b, AT(rows[i].ends[n]), INIT + 1 + n, INIT, rows[i].status);
		}
		bench_shoot(&b, AT(20), 9, RELATION_MANAGER, 0, 0);
		bench_init_ends(&b, AT(20) + 1, 9);
		assert_int_equal(stop_unheard(b.stop), rows[i].reason);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the list is bounded, and keeps what was killed", test_full),
		CLAIM("... and whose end init passed on, before what ended with it",
		      test_full_after_init),
		CLAIM("... and what was sent last, before what is survived",
		      test_full_of_survivors),
		CLAIM("... and that is a gap if it left no room", test_full_before_init),
		CLAIM("what left no room and was cut counts", test_full_cut),
		CLAIM("each that was killed counts once, in whatever order their ends come",
		      test_counted_once),
		CLAIM("a look lists what there is room for, and no more", test_looked_at),
		CLAIM("unasked, what ends after init counts, and what made way before is a gap",
		      test_unasked),
		CLAIM("what ended before the request, or long before init, is none of the stop's",
		      test_concerns),
		CLAIM("what counts is the first stop signal that it did not ignore",
		      test_asked_again),
		CLAIM("of a child that ignored the signal and ended all the same init was not "
		      "waiting",
		      test_outlived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
