// SPDX-License-Identifier: Apache-2.0
/* Claims about io/loop/loop: deferred work takes its turn, however often it asks for the next; each
 * handler is a step, with what is done behind it. */
#include <stdbool.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "lib/claim.h"

struct scene {
	sd_event *event;
	sd_event_source *io;
	struct defer defer, other;
	int pipe[2];
	unsigned int deferred, others, read; /* calls */
	bool again;
};

static int on_defer(sd_event_source *source, void *userdata)
{
	struct scene *s = userdata;

	s->deferred++;
	if (s->again)
		defer_enable(&s->defer);
	return 0;
}

static int on_other(sd_event_source *source, void *userdata)
{
	struct scene *s = userdata;

	s->others++;
	defer_enable(&s->other);
	return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct scene *s = userdata;

	s->read++;
	return 0;
}

static int set_up(void **state)
{
	struct scene *s = test_calloc(1, sizeof(*s));

	assert_true(sd_event_new(&s->event) >= 0);
	assert_int_equal(pipe(s->pipe), 0);
	assert_true(sd_event_add_io(s->event, &s->io, s->pipe[0], EPOLLIN, on_readable, s) >= 0);
	assert_true(defer_open(&s->defer, s->event, on_defer, s) >= 0);
	assert_true(defer_open(&s->other, s->event, on_other, s) >= 0);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	defer_close(&s->defer);
	defer_close(&s->other);
	sd_event_source_disable_unref(s->io);
	sd_event_unref(s->event);
	close(s->pipe[0]);
	close(s->pipe[1]);
	test_free(s);
	return 0;
}

static void turn(struct scene *s, unsigned int times)
{
	while (times--)
		assert_true(sd_event_run(s->event, 0) >= 0);
}

static void test_once(void **state)
{
	struct scene *s = *state;

	turn(s, 3);
	assert_int_equal(s->deferred, 0);
	defer_enable(&s->defer);
	defer_enable(&s->defer);
	turn(s, 3);
	assert_int_equal(s->deferred, 1);
	defer_enable(&s->defer);
	defer_disable(&s->defer);
	turn(s, 3);
	assert_int_equal(s->deferred, 1);
}

/* The socket stays readable. It comes behind both whenever it is looked at, so it has less than
 * every third turn, but not much less. */
static void test_turns(void **state)
{
	struct scene *s = *state;

	s->again = true;
	defer_enable(&s->defer);
	defer_enable(&s->other);
	turn(s, 10);
	assert_int_equal(write(s->pipe[1], "x", 1), 1);
	turn(s, 90);
	assert_in_range(s->read, 20, 30);
	assert_in_range(s->deferred, 30, 40);
	assert_in_range(s->others, 30, 40);
}

#define MS_NS 1000000

/* Steps that took longer than 10 ms. */
static uint64_t long_ones(const struct histogram *h)
{
	return h->buckets[3] + h->buckets[4] + h->buckets[5] + h->buckets[6];
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * MS_NS}, NULL);
}

static void work_ms(uint64_t ms)
{
	uint64_t until_ns = clock_thread_ns() + ms * MS_NS;

	while (clock_thread_ns() < until_ns)
		;
}

static int on_work(sd_event_source *source, void *userdata)
{
	unsigned int *left = userdata;

	work_ms(20);
	if (--*left == 0)
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	return 0;
}

static void add_timer(sd_event *event, uint64_t in_us)
{
	assert_true(sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC, in_us, 1, on_time,
					       NULL) >= 0);
}

static void test_steps(void **state)
{
	struct steps steps = {};
	unsigned int left = 2;
	sd_event_source *source;
	sd_event *event;

	assert_true(sd_event_new(&event) >= 0);
	assert_true(sd_event_add_defer(event, &source, on_work, &left) >= 0);
	assert_true(sd_event_source_set_enabled(source, SD_EVENT_ON) >= 0);
	for (int i = 0; i < 2; i++)
		assert_true(steps_run(&steps, event) >= 0);
	assert_int_equal(left, 0);
	assert_int_equal(steps.cpu.count, 1); /* the second one goes on */
	add_timer(event, 200000);
	assert_true(steps_run(&steps, event) >= 0);
	assert_int_equal(steps.cpu.count, 2);
	assert_int_equal(long_ones(&steps.cpu), 2);
	assert_int_equal(long_ones(&steps.wall), 2);
	add_timer(event, 0);
	assert_true(steps_run(&steps, event) >= 0);
	/* It waited for 200 ms and then did nothing. */
	assert_int_equal(steps.cpu.count, 3);
	assert_int_equal(long_ones(&steps.cpu), 2);
	sd_event_source_unref(source);
	sd_event_unref(event);
}

static void test_between(void **state)
{
	struct steps steps = {};
	sd_event *event;

	assert_true(sd_event_new(&event) >= 0);
	add_timer(event, 0);
	assert_true(steps_run(&steps, event) >= 0);
	sleep_ms(20);
	add_timer(event, 0);
	assert_true(steps_run(&steps, event) >= 0);
	assert_int_equal(steps.wall.count, 1);
	assert_int_equal(long_ones(&steps.wall), 1);
	/* It slept. */
	assert_true(steps.cpu.sum_billionths < steps.wall.sum_billionths);
	sd_event_unref(event);
}

static void test_delay(void **state)
{
	struct steps steps = {};

	steps_note_delay(&steps, clock_monotonic_ns() / 1000 - 400000);
	assert_int_equal(steps.delay.buckets[0], 0);
	assert_int_equal(long_ones(&steps.delay), 1);
	steps_note_delay(&steps, clock_monotonic_ns() / 1000 + 1000000000);
	assert_int_equal(steps.delay.buckets[0], 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"it is called once for each time that it was enabled", test_once, set_up,
		 tear_down, NULL},
		{"a socket has its turn beside work that never ends", test_turns, set_up, tear_down,
		 NULL},
		CLAIM("each handler is a step, and waiting is none", test_steps),
		CLAIM("what is done between two calls belongs to the first", test_between),
		CLAIM("a timer is as late as the time since it was due", test_delay),
	};

	return cmocka_run_group_tests_name("io/loop/loop", tests, NULL, NULL);
}
