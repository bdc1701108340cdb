// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: containers whose init was not seen, because its records were lost or
 * because none of the container's processes could be found to be it. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

#define CG_NEW 70
#define ID_NEW HEX_64("e")
#define UNSEEN (GAP(EXIT_UNSEEN) | GAP(INIT_UNSEEN))
#define WAIT   MSEC(250)

static void no_init(struct world *w, uint64_t at, uint64_t id)
{
	const struct obs obs = {.type = OBS_NO_INIT, .at_ns = at, .no_init.id = id};

	assert_int_equal(world_tell(w, &obs), 0);
}

static uint64_t not_found(const struct world *w)
{
	struct engine_stats stats;

	engine_get_stats(w->engine, &stats);
	return stats.inits_not_found;
}

struct listed {
	uint64_t id;
	bool is;
};

static void look_for(void *userdata, uint64_t id)
{
	struct listed *listed = userdata;

	listed->is |= id == listed->id;
}

static bool is_without_init(const struct world *w, uint64_t at, uint64_t id)
{
	struct listed listed = {.id = id};

	engine_each_without_init(w->engine, at, look_for, &listed);
	return listed.is;
}

/* Made at 5 s; in a world whose engine was attached at 1 s. */
static void open_with_new(struct world *w)
{
	world_open(w, NULL);
	world_made(w, SEC(5), CG_NEW, CG_POD_B, ID_NEW);
	world_names(w, SEC(5), WORLD_UID_B, ID_NEW, "shop", "cart-0", "cart", true);
}

static void test_life_lost(void **state)
{
	static const struct {
		struct graced_counts counts;
		bool reported;
	} rows[] = {
		{{.exits = 1, .lost = 3}, true},
		{{.exits = 7, .lost = 1}, true},
		/* What a runtime leaves that fails before it has started the container. */
		{{.exits = 1}, false},
		/* Its processes were moved elsewhere. */
		{{.lost = 3}, false},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		for (int removed = 0; removed < 2; removed++) {
			struct world w;

			open_with_new(&w);
			if (!removed)
				world_empty_counted(&w, SEC(20), CG_NEW, &rows[i].counts);
			world_gone(&w, SEC(21), CG_NEW, &rows[i].counts);
			world_timer(&w, SEC(22));
			assert_int_equal(world_count(&w, RECORD_STOP), rows[i].reported);
			if (rows[i].reported) {
				assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
					       GAP(EVENTS_LOST) | UNSEEN);
				assert_null(world_stop(&w)->process.comm);
				assert_false(world_stop(&w)->exit.known);
			}
			world_close(&w);
		}
}

/* The record of its emptiness was lost, too, and the cgroup stays. The counts are read twice. */
static void test_life_lost_stays(void **state)
{
	static const struct graced_counts lost = {.exits = 1, .lost = 3}, none = {.lost = 1};
	const struct {
		struct graced_counts first, second;
		bool populated[2], reported;
	} rows[] = {
		{lost, lost, {false, false}, true},  {lost, lost, {true, false}, false},
		{lost, lost, {false, true}, false},  {none, none, {false, false}, false},
		{none, lost, {false, false}, false},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		size_t asked;
		struct world w;

		open_with_new(&w);
		asked = world_effects(&w, EFFECT_READ_COUNTS);
		world_counts(&w, SEC(20), CG_NEW, rows[i].populated[0], &rows[i].first);
		world_timer(&w, SEC(20) + WAIT);
		assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS) - asked,
				 !rows[i].populated[0] && rows[i].first.exits);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		world_look(&w, SEC(20) + WAIT, CG_NEW, rows[i].populated[1], &rows[i].second);
		for (int n = 2; n < 4; n++)
			world_timer(&w, SEC(20) + (uint64_t)n * WAIT);
		assert_int_equal(world_count(&w, RECORD_STOP), rows[i].reported);
		if (rows[i].reported)
			assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
				       GAP(EVENTS_LOST) | GAP(NOT_EMPTY) | UNSEEN);
		world_close(&w);
	}
}

/* What the records say that were in the ring when its counts were read is believed. */
static void test_life_in_the_ring(void **state)
{
	static const struct graced_counts lost = {.exits = 1, .lost = 1};
	struct world w;

	open_with_new(&w);
	world_counts(&w, SEC(20), CG_NEW, false, &lost);
	world_init(&w, SEC(18), CG_NEW, &P_A1);
	world_exit_counted(&w, SEC(19), CG_NEW, &P_A1, EXIT(0), &lost);
	world_empty_counted(&w, SEC(19), CG_NEW, &lost);
	world_timer(&w, SEC(20) + WAIT);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	world_clear(&w);
	world_look(&w, SEC(20) + WAIT, CG_NEW, false, &lost);
	world_timer(&w, SEC(30));
	world_gone(&w, SEC(31), CG_NEW, &lost);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_close(&w);
}

/* Counts that are read for another reason are read when no interval is over, nor the ring read. */
static void test_life_lost_look(void **state)
{
	static const struct graced_counts lost = {.exits = 1, .lost = 3},
					  more = {.exits = 1, .lost = 4};
	struct world w;

	open_with_new(&w);
	world_counts(&w, SEC(20), CG_NEW, false, &lost);
	world_counts(&w, SEC(20) + WAIT, CG_NEW, false, &more);
	world_timer(&w, SEC(20) + 2 * WAIT);
	assert_int_equal(world_effect(&w, EFFECT_READ_COUNTS)->id, CG_NEW);
	/* That was not answered. */
	world_counts(&w, SEC(30), CG_NEW, false, &more);
	world_timer(&w, SEC(30) + WAIT - 1);
	world_look(&w, SEC(30) + WAIT - 1, CG_NEW, false, &more);
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 1);
	world_timer(&w, SEC(30) + WAIT);
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 2);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_look(&w, SEC(30) + WAIT, CG_NEW, false, &more);
	for (int n = 2; n < 4; n++)
		world_timer(&w, SEC(30) + (uint64_t)n * WAIT);
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
		       GAP(EVENTS_LOST) | GAP(NOT_EMPTY) | UNSEEN);
	world_close(&w);
}

/* A life that was reported, and whose emptiness only a look has shown, is not in the way. */
static void test_second_life_lost(void **state)
{
	static const struct graced_counts first = {.exits = 1, .lost = 1},
					  second = {.exits = 2, .lost = 5};
	struct world w;

	for (int removed = 0; removed < 2; removed++) {
		open_with_new(&w);
		world_init(&w, SEC(10), CG_NEW, &P_A1);
		world_exit(&w, SEC(20), CG_NEW, &P_A1, EXIT(0));
		world_timer(&w, SEC(20) + WAIT);
		world_look(&w, SEC(20) + WAIT, CG_NEW, false, &first);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
		world_clear(&w);
		if (!removed) {
			world_counts(&w, SEC(30), CG_NEW, false, &second);
			world_timer(&w, SEC(30) + WAIT);
			world_look(&w, SEC(30) + WAIT, CG_NEW, false, &second);
			world_timer(&w, SEC(30) + 2 * WAIT);
			world_look(&w, SEC(30) + 2 * WAIT, CG_NEW, false, &second);
			assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
				       GAP(EVENTS_LOST) | UNSEEN);
		}
		world_gone(&w, SEC(40), CG_NEW, &second);
		world_timer(&w, SEC(41));
		assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | UNSEEN);
		assert_int_equal(world_count(&w, RECORD_EMPTY), 0);
		world_close(&w);
	}
}

/* What comes of the record of an emptiness that a look has shown before. */
static void test_second_life_in_the_ring(void **state)
{
	static const struct graced_counts first = {.exits = 1}, second = {.exits = 2},
					  lost = {.exits = 2, .lost = 3};
	static const struct {
		uint64_t at; /* of the record */
		const struct graced_counts *counts;
		size_t empties;
		bool lost;
	} rows[] = {
		/* It was in the ring. */
		{SEC(20) + WAIT, &first, 1, false},
		/* It was lost, and this is of another life. */
		{SEC(30), &first, 0, false},
		{SEC(20) + WAIT + 1, &second, 0, false},
		{SEC(20) + WAIT + 1, &lost, 0, true},
	};
	struct obs next = {.type = OBS_INIT,
			   .at_ns = SEC(41),
			   .init = {.id = CG_NEW, .rank = GRACED_INIT_PID1, .proc = P_A1}};
	const struct graced_proc *again = &next.init.proc;

	next.init.proc.pid++;
	next.init.proc.start_ns = SEC(40);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct engine_stats stats;
		struct world w;

		open_with_new(&w);
		world_init(&w, SEC(10), CG_NEW, &P_A1);
		world_exit(&w, SEC(20), CG_NEW, &P_A1, EXIT(0));
		world_timer(&w, SEC(20) + WAIT);
		world_look(&w, SEC(20) + WAIT, CG_NEW, false, &first);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
		world_clear(&w);
		for (int n = 0; n < 2; n++)
			world_empty_counted(&w, rows[i].at, CG_NEW, rows[i].counts);
		world_timer(&w, SEC(35));
		assert_int_equal(world_count(&w, RECORD_EMPTY), rows[i].empties);
		assert_int_equal(world_count(&w, RECORD_STOP), rows[i].lost);
		/* The next life is as any other. */
		world_clear(&w);
		next.init.lost = rows[i].counts->lost;
		world_tell(&w, &next);
		world_exit_counted(&w, SEC(42), CG_NEW, again, EXIT(0), rows[i].counts);
		world_empty_counted(&w, SEC(42), CG_NEW, rows[i].counts);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
		engine_get_stats(w.engine, &stats);
		assert_int_equal(stats.unexpected, 0);
		world_close(&w);
	}
}

/* Processes outlived the init that was reported, and the record of their end was lost. */
static void test_left_lost(void **state)
{
	static const struct graced_counts first = {.exits = 1}, left = {.exits = 2, .lost = 1},
					  second = {.exits = 3, .lost = 5};
	struct world w;

	for (int in_ring = 0; in_ring < 2; in_ring++) {
		open_with_new(&w);
		world_init(&w, SEC(10), CG_NEW, &P_A1);
		world_exit(&w, SEC(20), CG_NEW, &P_A1, EXIT(0));
		world_timer(&w, SEC(20) + WAIT);
		world_look(&w, SEC(20) + WAIT, CG_NEW, true, &first);
		assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY));
		world_clear(&w);
		world_counts(&w, SEC(30), CG_NEW, false, &left);
		if (in_ring)
			world_empty_counted(&w, SEC(30), CG_NEW, &left);
		world_timer(&w, SEC(30) + WAIT);
		if (!in_ring)
			world_look(&w, SEC(30) + WAIT, CG_NEW, false, &left);
		assert_int_equal(world_record(&w, RECORD_EMPTY, 0)->empty.empty_ns,
				 SEC(30) + (in_ring ? 0 : WAIT));
		world_gone(&w, SEC(40), CG_NEW, &second);
		world_timer(&w, SEC(41));
		assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | UNSEEN);
		assert_int_equal(world_count(&w, RECORD_EMPTY), 1);
		world_close(&w);
	}
}

/* The trace ends between the two. */
static void test_life_lost_end(void **state)
{
	static const struct graced_counts lost = {.exits = 1, .lost = 3};
	struct world w;

	open_with_new(&w);
	world_counts(&w, SEC(20), CG_NEW, false, &lost);
	world_tell(&w, &(struct obs){.type = OBS_END, .at_ns = SEC(20) + 1});
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | UNSEEN);
	world_close(&w);
}

/* Its cgroup's own record was lost as well: when it is found, its counts are read. */
static void test_found_lost(void **state)
{
	static const struct graced_counts lost = {.exits = 1, .lost = 4};
	struct world w;

	world_open(&w, NULL);
	world_counts(&w, SEC(20), CG_NEW, false, &lost);
	assert_int_equal(world_effects(&w, EFFECT_READ_COUNTS), 0);
	world_found(&w, SEC(20), CG_NEW, "/docker/" ID_NEW);
	assert_int_equal(world_effect(&w, EFFECT_READ_COUNTS)->id, CG_NEW);
	world_look(&w, SEC(20) + 1, CG_NEW, false, &lost);
	world_timer(&w, SEC(20) + 1 + WAIT);
	world_look(&w, SEC(20) + 1 + WAIT, CG_NEW, false, &lost);
	world_timer(&w, SEC(21));
	world_timer(&w, SEC(22));
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(world_stop(&w)->outcome, OUTCOME_UNKNOWN);
	assert_string_equal(world_stop(&w)->container.id, ID_NEW);
	world_close(&w);
}

/* It was there when the engine was attached, and its init may have been, too. */
static void test_life_lost_late(void **state)
{
	static const struct graced_counts first = {.exits = 1, .lost = 3},
					  second = {.exits = 2, .lost = 4};
	struct world w;

	world_open(&w, NULL);
	world_empty_counted(&w, SEC(20), CG_A1, &first);
	world_timer(&w, SEC(21));
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN,
		       GAP(EVENTS_LOST) | GAP(ATTACHED_LATE) | UNSEEN);
	world_clear(&w);
	world_empty_counted(&w, SEC(30), CG_A1, &second);
	world_timer(&w, SEC(31));
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | UNSEEN);
	world_close(&w);
}

/* What was lost in the life before is that one's. */
static void test_next_life(void **state)
{
	static const struct graced_counts first = {.exits = 3, .lost = 2},
					  visited = {.exits = 4, .lost = 2},
					  lost = {.exits = 5, .lost = 3};
	struct graced_proc again = P_A1;
	struct world w;

	again.pid++;
	again.start_ns = SEC(40);
	open_with_new(&w);
	world_init(&w, SEC(10), CG_NEW, &P_A1);
	world_exit_counted(&w, SEC(20), CG_NEW, &P_A1, EXIT(0), &first);
	world_empty_counted(&w, SEC(20), CG_NEW, &first);
	world_timer(&w, SEC(21));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(EVENTS_LOST));
	world_clear(&w);
	world_empty_counted(&w, SEC(30), CG_NEW, &first);
	world_empty_counted(&w, SEC(31), CG_NEW, &visited);
	world_timer(&w, SEC(32));
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_empty_counted(&w, SEC(33), CG_NEW, &lost);
	world_timer(&w, SEC(34));
	assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | UNSEEN);
	/* And its gap is its own. */
	world_clear(&w);
	world_init(&w, SEC(41), CG_NEW, &again);
	world_exit_counted(&w, SEC(42), CG_NEW, &again, EXIT(0), &lost);
	world_empty_counted(&w, SEC(42), CG_NEW, &lost);
	world_timer(&w, SEC(43));
	assert_int_equal(world_stop(&w)->gaps & GAP(INIT_UNSEEN), 0);
	world_close(&w);
}

static void test_each_once(void **state)
{
	struct world w;

	open_with_new(&w);
	/* It is being made. */
	assert_false(is_without_init(&w, SEC(15) - 1, CG_NEW));
	assert_true(is_without_init(&w, SEC(15), CG_NEW));
	no_init(&w, SEC(15), CG_NEW);
	assert_int_equal(not_found(&w), 1);
	assert_false(is_without_init(&w, SEC(25), CG_NEW));
	no_init(&w, SEC(25), CG_NEW);
	assert_int_equal(not_found(&w), 1);
	/* One that has an init, and an id of no cgroup. */
	world_init(&w, SEC(10), CG_A1, &P_A1);
	assert_false(is_without_init(&w, SEC(25), CG_A1));
	no_init(&w, SEC(25), CG_A1);
	no_init(&w, SEC(25), 12345);
	assert_int_equal(not_found(&w), 1);
	/* It has exited, and others of the container go on. */
	world_exit(&w, SEC(30), CG_A1, &P_A1, EXIT(0));
	no_init(&w, SEC(30), CG_A1);
	assert_false(is_without_init(&w, SEC(60), CG_A1));
	assert_int_equal(not_found(&w), 1);
	/* A pod and a unit have none. */
	assert_false(is_without_init(&w, SEC(60), CG_POD_B));
	assert_false(is_without_init(&w, SEC(60), CG_CONTAINERD));
	world_close(&w);
}

static void test_gap(void **state)
{
	static const struct graced_counts one = {.exits = 1};
	struct world w;

	for (int seen = 0; seen < 2; seen++) {
		open_with_new(&w);
		no_init(&w, SEC(15), CG_NEW);
		if (seen) {
			world_ranked(&w, SEC(20), CG_NEW, &P_A1, GRACED_INIT_GUESSED);
			world_managed(&w, SEC(20), CG_NEW, &P_A1, 15);
			world_exit(&w, SEC(21), CG_NEW, &P_A1, EXIT(0));
		}
		world_empty_counted(&w, SEC(21), CG_NEW, &one);
		world_timer(&w, SEC(22));
		if (seen)
			assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL,
				       GAP(INIT_GUESSED) | GAP(INIT_UNSEEN));
		else
			assert_verdict(&w, OUTCOME_UNKNOWN, CAUSE_UNKNOWN, UNSEEN);
		/* The cgroup's next life is another matter. */
		world_clear(&w);
		assert_false(is_without_init(&w, SEC(31) - 1, CG_NEW));
		assert_true(is_without_init(&w, SEC(32), CG_NEW));
		world_close(&w);
	}
}

/* How a kernel that could say more dies is not known where signals may have been missed. */
static void test_window(void **state)
{
	struct world w;

	open_with_new(&w);
	no_init(&w, SEC(15), CG_NEW);
	world_ranked(&w, SEC(20), CG_NEW, &P_A1, GRACED_INIT_PID1);
	world_exit(&w, SEC(20), CG_NEW, &P_A1, 31);
	world_empty(&w, SEC(21), CG_NEW);
	world_timer(&w, SEC(22));
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_UNKNOWN, GAP(INIT_UNSEEN));
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("where all records of an init were lost its end is reported, with gaps",
		      test_life_lost),
		CLAIM("... and also while its cgroup stays, when counts that are read say so twice",
		      test_life_lost_stays),
		CLAIM("... but not if its records were in the ring", test_life_in_the_ring),
		CLAIM("... nor if the counts were read again for another reason",
		      test_life_lost_look),
		CLAIM("so is a second life in a cgroup that a look has shown to be empty",
		      test_second_life_lost),
		CLAIM("... but not if the record of that emptiness was in the ring",
		      test_second_life_in_the_ring),
		CLAIM("... and one after processes that outlived their init unseen",
		      test_left_lost),
		CLAIM("a trace that ends meanwhile reports it, too", test_life_lost_end),
		CLAIM("a container that is found by its losses is known by its counts",
		      test_found_lost),
		CLAIM("one that may have run before we attached has that gap, too",
		      test_life_lost_late),
		CLAIM("records that an earlier life lost make no later one", test_next_life),
		CLAIM("a container without an init counts once, and not while it is made",
		      test_each_once),
		CLAIM("what is reported of it has the gap, until its cgroup runs empty", test_gap),
		CLAIM("its window is incomplete", test_window),
	};

	return cmocka_run_group_tests_name("engine_no_init", tests, NULL, NULL);
}
