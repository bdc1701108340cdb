// SPDX-License-Identifier: Apache-2.0
/* Claims about io/loop/loop: deferred work takes its turn, however often it asks for the next. */
#include "io/loop/loop.h"

#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

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

int main(void)
{
	const struct CMUnitTest claims[] = {
		{"it is called once for each time that it was enabled", test_once, set_up,
		 tear_down, NULL},
		{"a socket has its turn beside work that never ends", test_turns, set_up, tear_down,
		 NULL},
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
