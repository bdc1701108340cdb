// SPDX-License-Identifier: Apache-2.0
/* Claims about io/control/streams: each follower has its own queue, and none holds up another. */
#include "io/control/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"

#define LINES 200000

#define STREAMS_CLAIM(sentence, function)                 \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

struct site {
	sd_event *event;
	struct streams *streams;
};

static void add_dropped(void *userdata, struct buf *out, const struct line_gap *gap)
{
	buf_printf(out, "dropped %llu\n", (unsigned long long)gap->lines);
}

/* Larger than a queue, with its end in it. */
static void add_stopping(void *userdata, struct buf *out)
{
	while (out->len <= STREAMS_QUEUE_MAX)
		buf_adds(out, "a stop that is under way\n");
	buf_adds(out, "end\n");
}

static int setup(void **state)
{
	static const struct streams_config config = {.add_dropped = add_dropped,
						     .add_stopping = add_stopping};
	static struct site site;

	if (sd_event_new(&site.event) < 0 || streams_new(site.event, &config, &site.streams) < 0)
		return -1;
	*state = &site;
	return 0;
}

static int teardown(void **state)
{
	struct site *s = *state;

	streams_free(s->streams);
	sd_event_unref(s->event);
	return 0;
}

static int join(struct site *s, bool signals, int expected)
{
	_cleanup_(buf_free) struct buf first = {};
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	buf_adds(&first, "hello\n");
	assert_int_equal(streams_add(s->streams, fds[0], signals, &first), expected);
	if (expected < 0)
		close(fds[0]);
	return fds[1];
}

static void turn(struct site *s)
{
	while (sd_event_run(s->event, 0) > 0)
		;
	streams_flush(s->streams);
}

/* What is there to read now, while the loop runs. */
static void hear(struct site *s, int fd, struct buf *ret)
{
	ssize_t n = 1;

	buf_reset(ret);
	while (n > 0) {
		char *at = buf_reserve(ret, 65536);

		n = recv(fd, at, 65536, MSG_DONTWAIT);
		if (n > 0)
			buf_commit(ret, (size_t)n);
		turn(s);
	}
}

/* Until the other side has closed. */
static void hear_rest(int fd, struct buf *ret)
{
	ssize_t n = 1;

	while (n > 0) {
		char *at = buf_reserve(ret, 65536);

		n = recv(fd, at, 65536, MSG_DONTWAIT);
		if (n > 0)
			buf_commit(ret, (size_t)n);
	}
	assert_int_equal(n, 0);
}

static void put(struct site *s, bool signal, const char *line)
{
	streams_put(s->streams, signal, line, strlen(line), 1);
}

static void test_all(void **state)
{
	_cleanup_(buf_free) struct buf got = {};
	struct site *s = *state;
	int plain = join(s, false, 0), signals = join(s, true, 0);

	put(s, false, "stop\n");
	put(s, true, "signal\n");
	turn(s);
	hear(s, plain, &got);
	assert_string_equal(buf_str(&got), "hello\nstop\n");
	hear(s, signals, &got);
	assert_string_equal(buf_str(&got), "hello\nstop\nsignal\n");
	close(signals);
	turn(s);
	assert_false(streams_want(s->streams, true));
	assert_true(streams_want(s->streams, false));
	close(plain);
	turn(s);
	assert_false(streams_want(s->streams, false));
}

/* Every line is there, or among those that a line says were dropped. */
static uint64_t account(const struct buf *got)
{
	uint64_t next = 0;
	bool gap = false;

	for (const char *at = buf_str(got); *at; at += strcspn(at, "\n") + 1) {
		unsigned long long n;

		if (sscanf(at, "dropped %llu", &n) == 1) {
			next += n;
			gap = true;
		} else if (sscanf(at, "line %llu", &n) == 1) {
			assert_int_equal(n, next);
			next++;
		}
	}
	assert_true(gap);
	return next;
}

static void test_slow(void **state)
{
	_cleanup_(buf_free) struct buf got = {};
	struct site *s = *state;
	int slow = join(s, false, 0), quick = join(s, false, 0);
	uint64_t heard = 0;

	for (unsigned int i = 0; i < LINES; i++) {
		char line[64];

		snprintf(line, sizeof(line), "line %u of those that a slow client does not read\n",
			 i);
		put(s, false, line);
		if (i % 1000)
			continue;
		turn(s);
		hear(s, quick, &got);
		assert_null(strstr(buf_str(&got), "dropped"));
		heard += got.len;
	}
	assert_true(heard > STREAMS_QUEUE_MAX);
	hear(s, slow, &got);
	assert_true(got.len < 2 * STREAMS_QUEUE_MAX);
	assert_int_equal(account(&got), LINES);
	put(s, false, "line 200000\n");
	turn(s);
	hear(s, slow, &got);
	assert_string_equal(buf_str(&got), "line 200000\n");
	close(slow);
	close(quick);
	turn(s);
}

static void test_bound(void **state)
{
	struct site *s = *state;
	int fds[STREAMS_MAX];

	for (size_t i = 0; i < STREAMS_MAX; i++)
		fds[i] = join(s, false, 0);
	close(join(s, false, -EUSERS));
	close(fds[3]);
	turn(s);
	fds[3] = join(s, false, 0);
	for (size_t i = 0; i < STREAMS_MAX; i++)
		close(fds[i]);
	turn(s);
}

static void test_talk(void **state)
{
	_cleanup_(buf_free) struct buf got = {};
	static const char noise[4096];
	struct site *s = *state;
	int fd = join(s, false, 0);

	for (int i = 0; i < 100; i++) {
		send(fd, noise, sizeof(noise), MSG_NOSIGNAL | MSG_DONTWAIT);
		turn(s);
	}
	put(s, false, "stop\n");
	turn(s);
	hear(s, fd, &got);
	assert_string_equal(buf_str(&got), "hello\nstop\n");
	close(fd);
}

static void test_end(void **state)
{
	_cleanup_(buf_free) struct buf got = {};
	struct site *s = *state;
	int fd = join(s, false, 0);

	put(s, false, "stop\n");
	s->streams = streams_free(s->streams);
	hear_rest(fd, &got);
	assert_string_equal(buf_str(&got), "hello\nstop\n");
	close(fd);
}

static size_t count_ends(const struct buf *got)
{
	size_t n = 0;

	for (const char *at = buf_str(got); (at = strstr(at, "end\n")); at++)
		n++;
	return n;
}

static void ask(struct site *s, int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	turn(s);
}

#define QUESTION "{\"version\":1,\"command\":\"stopping\"}\n"

static void test_answer(void **state)
{
	_cleanup_(buf_free) struct buf got = {};
	struct site *s = *state;
	int fd = join(s, false, 0), other = join(s, false, 0);

	put(s, false, "before\n");
	ask(s, fd, "{\"version\":1,\"comm");
	ask(s, fd, "and\":\"stopping\"}\n");
	/* Before it is out, nobody is waited for: once more, and once, however often. */
	ask(s, fd, QUESTION QUESTION);
	put(s, false, "after\n");
	hear(s, fd, &got);
	assert_int_equal(count_ends(&got), 2);
	assert_true(got.len > 2 * STREAMS_QUEUE_MAX);
	assert_int_equal(strncmp(buf_str(&got), "hello\nbefore\na stop", 19), 0);
	ask(s, fd, "{\"version\":1,\"command\":\"pods\"}\n" QUESTION);
	hear(s, fd, &got);
	assert_int_equal(count_ends(&got), 1);
	hear(s, other, &got);
	assert_string_equal(buf_str(&got), "hello\nbefore\nafter\n");
	close(fd);
	close(other);
	turn(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STREAMS_CLAIM("each follower receives what it asked for", test_all),
		STREAMS_CLAIM("a slow follower learns how much it missed, and holds up no other",
			      test_slow),
		STREAMS_CLAIM("so many may follow, and one that leaves makes room", test_bound),
		STREAMS_CLAIM("what a follower sends is ignored", test_talk),
		STREAMS_CLAIM("followers receive the last lines before they are closed", test_end),
		STREAMS_CLAIM("but a question for what is stopping, which it receives all of",
			      test_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
