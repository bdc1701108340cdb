// SPDX-License-Identifier: Apache-2.0
/* Claims about app/live/feed: which of the engine's effects get through when they are too many. */
#include "app/live/feed.h"

#include "app/live/dispatch.h"
#include "app/live/manager.h"
#include "lib/claim.h"

#define TOO_MANY 100000

struct stage {
	struct manager manager;
	struct manager_hooks hooks;
	size_t done[EFFECT_KILL + 1]; /* by type */
	enum effect_type last;
};

static void on_shutdown(void *userdata, const struct effect *effect)
{
	struct stage *s = userdata;

	s->done[effect->type]++;
	s->last = effect->type;
}

static void begin(struct stage *s)
{
	*s = (struct stage){.hooks = {.userdata = s, .shutdown = on_shutdown}};
	s->manager.hooks = &s->hooks;
	s->manager.carry_out = dispatch_carry_out;
}

static void wish(struct stage *s, enum effect_type type)
{
	feed_effect(&s->manager, &(struct effect){.type = type});
}

static void test_order(void **state)
{
	struct stage s;

	begin(&s);
	wish(&s, EFFECT_DROP_LOCK);
	wish(&s, EFFECT_TAKE_LOCK);
	feed_run(&s.manager);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	assert_int_equal(s.done[EFFECT_TAKE_LOCK], 1);
	assert_int_equal(s.last, EFFECT_TAKE_LOCK);
	feed_queue_done(&s.manager.queue);
}

static void test_full(void **state)
{
	struct stage s;

	begin(&s);
	for (size_t i = 0; i < TOO_MANY; i++)
		wish(&s, EFFECT_LIST_HOLDERS);
	assert_true(s.manager.queue.dropped > 0);
	wish(&s, EFFECT_DROP_LOCK);
	feed_run(&s.manager);
	assert_int_equal(s.done[EFFECT_LIST_HOLDERS] + s.manager.queue.dropped, TOO_MANY + 1);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	assert_int_equal(s.last, EFFECT_DROP_LOCK);
	feed_run(&s.manager);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	feed_queue_done(&s.manager.queue);
}

static void test_full_aside(void **state)
{
	struct feed_queue aside;
	struct stage s;

	begin(&s);
	feed_hold(&s.manager);
	for (size_t i = 0; i < TOO_MANY; i++)
		wish(&s, EFFECT_LIST_HOLDERS);
	wish(&s, EFFECT_DROP_LOCK);
	feed_set_aside(&s.manager, &aside);
	feed_ask(&s.manager, &aside);
	assert_int_equal(s.done[EFFECT_DROP_LOCK], 1);
	feed_queue_done(&s.manager.queue);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("effects are carried out in their order", test_order),
		CLAIM("a full queue counts what it drops, and the lock is let go all the same",
		      test_full),
		CLAIM("also when the queue was set aside meanwhile", test_full_aside),
	};

	return cmocka_run_group_tests_name("app/live/feed", tests, NULL, NULL);
}
