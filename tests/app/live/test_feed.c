// SPDX-License-Identifier: Apache-2.0
/* Claims about app/live/feed: which of the engine's effects get through when they are too many. */
#include "app/live/feed.h"

#include "lib/claim.h"

#define TOO_MANY 100000

struct stage {
	struct feed *feed;
	size_t done[EFFECT_STOP_SANDBOX + 1]; /* by type */
	enum effect_type last;
};

static void carry_out(void *userdata, const struct effect *effect)
{
	struct stage *s = userdata;

	s->done[effect->type]++;
	s->last = effect->type;
}

static void begin(struct stage *s)
{
	static const struct engine_config config = {.max_containers = 16};
	const struct feed_sink sink = {.userdata = s, .carry_out = carry_out};

	*s = (struct stage){};
	assert_int_equal(feed_new(&config, &sink, &s->feed), 0);
}

static void wish(struct stage *s, enum effect_type type)
{
	feed_effect(s->feed, &(struct effect){.type = type});
}

static void test_order(void **state)
{
	struct stage s;

	begin(&s);
	wish(&s, EFFECT_DROP_LOCK);
	wish(&s, EFFECT_TAKE_LOCK);
	feed_run(s.feed);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	assert_int_equal(s.done[EFFECT_TAKE_LOCK], 1);
	assert_int_equal(s.last, EFFECT_TAKE_LOCK);
	feed_free(s.feed);
}

static void test_full(void **state)
{
	struct stage s;

	begin(&s);
	for (size_t i = 0; i < TOO_MANY; i++)
		wish(&s, EFFECT_LIST_HOLDERS);
	assert_true(feed_dropped(s.feed) > 0);
	wish(&s, EFFECT_DROP_LOCK);
	wish(&s, EFFECT_START_UNITS);
	feed_run(s.feed);
	assert_int_equal(s.done[EFFECT_LIST_HOLDERS] + feed_dropped(s.feed), TOO_MANY + 2);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	assert_int_equal(s.done[EFFECT_START_UNITS], 1);
	assert_int_equal(s.last, EFFECT_DROP_LOCK);
	feed_run(s.feed);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	assert_int_equal(s.done[EFFECT_START_UNITS], 1);
	feed_free(s.feed);
}

static void test_full_aside(void **state)
{
	struct stage s;

	begin(&s);
	feed_hold(s.feed);
	for (size_t i = 0; i < TOO_MANY; i++)
		wish(&s, EFFECT_LIST_HOLDERS);
	wish(&s, EFFECT_DROP_LOCK);
	feed_set_aside(s.feed);
	feed_run_aside(s.feed);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	feed_free(s.feed);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("effects are carried out in their order", test_order),
		CLAIM("a full queue counts what it drops; units are started and the lock is released all the "
		      "same",
		      test_full),
		CLAIM("also when the queue was set aside meanwhile", test_full_aside),
	};

	return cmocka_run_group_tests_name("app/live/feed", tests, NULL, NULL);
}
