// SPDX-License-Identifier: Apache-2.0
/* Claims about app/live/losses: which cgroups records were lost of. The kernel half's maps and ring
 * are played here (see --wrap in the Makefile). */
#include "app/live/losses.h"

#include <errno.h>
#include <string.h>

#include "lib/claim.h"

#define LOSING 7 /* cgroups */
#define GONE   8

static struct {
	int each_error; /* of the next walk over the map */
	bool written;	/* a record is being written, so that the ring is not read to its end */
	bool looked;	/* whether a process is left in the cgroup */
	unsigned int counts, gone, deleted;
	struct kern_misses misses;
	uint64_t reported;
} half;

bool __wrap_ring_drain(struct ring *ring);
int __wrap_kern_read_stats(struct kern *kern, struct graced_stat *ret);
void __wrap_kern_misses(struct kern *kern, struct kern_misses *ret);
int __wrap_kern_watch_each(const struct kern *kern, kern_watch_fn fn, void *userdata);
int __wrap_kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret);
int __wrap_kern_watch_delete(struct kern *kern, uint64_t id);
bool __wrap_scan_populated(struct scan *scan, uint64_t id);
void __wrap_feed_obs(struct feed *f, const struct obs *obs);

bool __wrap_ring_drain(struct ring *ring)
{
	return !half.written;
}

int __wrap_kern_read_stats(struct kern *kern, struct graced_stat *ret)
{
	memset(ret, 0, GRACED_STAT_COUNT * sizeof(*ret));
	ret[0].lost = 2;
	return 0;
}

void __wrap_kern_misses(struct kern *kern, struct kern_misses *ret)
{
	*ret = half.misses;
}

int __wrap_kern_watch_each(const struct kern *kern, kern_watch_fn fn, void *userdata)
{
	const struct graced_watch losing = {.counts.lost = 1},
				  gone = {.gone = 1, .kind = GRACED_WATCH_CONTAINER, .owner_id = 6};
	int r = half.each_error;

	half.each_error = 0;
	if (r < 0)
		return r;
	assert_int_equal(fn(userdata, LOSING, &losing), 0);
	return half.deleted ? 0 : fn(userdata, GONE, &gone);
}

bool __wrap_scan_populated(struct scan *scan, uint64_t id)
{
	assert_int_equal(id, LOSING);
	half.looked = true;
	return false;
}

/* A process ended in there since the walk over the map. */
int __wrap_kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret)
{
	assert_int_equal(id, LOSING);
	assert_true(half.looked);
	*ret = (struct graced_watch){.counts = {.exits = 1, .lost = 1}};
	return 0;
}

int __wrap_kern_watch_delete(struct kern *kern, uint64_t id)
{
	assert_int_equal(id, GONE);
	half.deleted++;
	return 0;
}

void __wrap_feed_obs(struct feed *f, const struct obs *obs)
{
	half.counts += obs->type == OBS_COUNTS && obs->counts.id == LOSING &&
		       obs->counts.counts.exits == 1;
	half.gone += obs->type == OBS_CGROUP_GONE && obs->empty.id == GONE &&
		     obs->empty.kind == GRACED_WATCH_CONTAINER && obs->empty.owner_id == 6;
	if (obs->type == OBS_LOST)
		half.reported = obs->lost.recursion_misses;
}

static int begin(void **state)
{
	memset(&half, 0, sizeof(half));
	return losses_new(NULL, NULL, NULL, NULL, (struct losses **)state);
}

static int end(void **state)
{
	losses_free(*state);
	return 0;
}

static void test_once(void **state)
{
	losses_feed(*state, false);
	losses_feed(*state, false);
	assert_int_equal(half.counts, 1);
	assert_int_equal(half.gone, 1);
	assert_int_equal(half.deleted, 1);
}

static void test_error(void **state)
{
	half.each_error = -ENOMEM;
	losses_feed(*state, false);
	assert_int_equal(half.counts, 0);
	losses_feed(*state, false);
	assert_int_equal(half.counts, 1);
	assert_int_equal(half.gone, 1);
}

static void test_written(void **state)
{
	half.written = true;
	losses_feed(*state, false);
	assert_int_equal(half.counts + half.gone, 0);
	half.written = false;
	losses_feed(*state, false);
	assert_int_equal(half.counts, 1);
	assert_int_equal(half.gone, 1);
}

static void test_end(void **state)
{
	half.written = true;
	losses_feed(*state, true);
	assert_int_equal(half.counts, 1);
	assert_int_equal(half.gone, 1);
	assert_int_equal(half.deleted, 1);
}

static void test_again(void **state)
{
	static const struct {
		struct kern_misses misses;
		uint64_t reported;
	} rows[] = {
		{{0, 0}, 0}, {{0, 1}, 0}, {{0, 0}, 0}, {{0, 2}, 0},  {{0, 2}, 2},
		{{0, 1}, 2}, {{4, 1}, 6}, {{4, 2}, 6}, {{4, 2}, 7},  {{4, -1}, 7},
		{{4, 0}, 7}, {{4, 0}, 8}, {{4, 5}, 8}, {{4, 3}, 11}, {{4, 4}, 11},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		half.misses = rows[i].misses;
		losses_feed(*state, false);
		assert_int_equal(half.reported, rows[i].reported);
	}
	losses_feed(*state, true);
	assert_int_equal(half.reported, 12);
}

#define TEST(sentence, function)                     \
	{                                            \
		sentence, function, begin, end, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("the losses of a cgroup, as of the look at it, and its removal are reported once",
		     test_once),
		TEST("losses that could not be read are read again with the next chores",
		     test_error),
		TEST("losses wait for a record that is being written", test_written),
		TEST("at the end they no longer wait for it", test_end),
		TEST("what a second program has yet to do is not reported as missed, and what one "
		     "counted too often hides no miss",
		     test_again),
	};

	return cmocka_run_group_tests_name("app/live/losses", tests, NULL, NULL);
}
