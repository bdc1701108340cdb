// SPDX-License-Identifier: Apache-2.0
/* Claims about io/http/web: the limits hold, and they are the right clients' loss. */
#include <malloc.h>
#include <sys/resource.h>

#include "lib/claim.h"
#include "lib/net/webc.h"

#define MS UINT64_C(1000000)

static const struct web_config defaults;

static void test_idle(void **state)
{
	enum { IDLE = 1000 };
	static struct webc idle[IDLE];
	unsigned int before;
	struct site site;

	site_open(&site, &defaults);
	before = site_count_fds();
	for (int i = 0; i < IDLE; i++) {
		webc_open(&site, &idle[i]);
		if (i % 3 == 0)
			webc_sends(&site, &idle[i], "GET /metrics HTTP/1.1\r\nHos");
		if (i % 50 == 0)
			site_expect_served(&site);
		assert_true(site_stats(&site).connections <= 256 + 64);
	}
	site_settle(&site);
	site_expect_served(&site);
	assert_true(site_stats(&site).connections <= 256);
	assert_true(site_stats(&site).evicted >= IDLE - 256);
	assert_int_equal(site_stats(&site).refused, 0);
	for (int i = 0; i < IDLE; i++)
		webc_close(&idle[i]);
	site_await_empty(&site);
	assert_int_equal(site_count_fds(), before);
	site_close(&site);
}

static void test_new_first(void **state)
{
	struct web_config config = {.max_connections = 8};
	struct webc crowd[100], c;
	struct site site;

	site_open(&site, &config);
	/* Who is in the middle of a crowd of others that come at the same moment is served. */
	for (int round = 0; round < 20; round++) {
		struct webc_reply reply;

		for (int i = 0; i < 50; i++)
			webc_open(&site, &crowd[i]);
		webc_open(&site, &c);
		assert_true(webc_sends(&site, &c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
		for (int i = 50; i < 100; i++)
			webc_open(&site, &crowd[i]);
		assert_true(webc_reply(&site, &c, false, &reply));
		webc_reply_free(&reply);
		webc_close(&c);
		for (int i = 0; i < 100; i++)
			webc_close(&crowd[i]);
	}
	site_await_empty(&site);
	site_close(&site);
}

static void test_bounded_turn(void **state)
{
	enum { CROWD = 300 };
	static struct webc crowd[CROWD];
	struct site site;

	site_open(&site, &defaults);
	for (int i = 0; i < CROWD; i++)
		webc_open(&site, &crowd[i]);
	for (uint64_t seen = 0; seen < CROWD;) {
		uint64_t accepted;

		site_turn(&site);
		accepted = site_stats(&site).accepted;
		assert_true(accepted <= seen + 64);
		seen = accepted;
	}
	for (int i = 0; i < CROWD; i++)
		webc_close(&crowd[i]);
	site_close(&site);
}

static void test_byte_by_byte(void **state)
{
	struct webc_reply reply;
	struct site site;
	struct webc c;

	site_open(&site, &defaults);
	webc_open(&site, &c);
	assert_true(webc_sends(&site, &c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
	for (int i = 0; i < 2000; i++) {
		site_settle(&site);
		webc_read(&c, 1);
		if (i % 100 == 0)
			site_expect_served(&site);
	}
	assert_int_equal(c.got.len, 2000);
	assert_true(webc_reply(&site, &c, false, &reply));
	assert_true(site_is_page(&site, EXPO_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
	webc_close(&c);
	assert_int_equal(site.rendered, 1);
	site_close(&site);
}

/* They ask for a page that is made anew each time, and do not read it. */
static void test_slow_readers(void **state)
{
	enum { READERS = 40 };
	struct webc readers[READERS];
	struct webc_reply reply;
	struct site site;

	site_open(&site, &defaults);
	for (int i = 0; i < READERS; i++) {
		webc_open(&site, &readers[i]);
		assert_true(
			webc_sends(&site, &readers[i], "GET /each HTTP/1.1\r\nHost: x\r\n\r\n"));
		while (site.rendered <= (unsigned int)i)
			site_turn(&site);
		assert_true(site_stats(&site).bodies <= 4);
	}
	site_settle(&site);
	assert_true(site_stats(&site).connections <= 4);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < 8 * site.bytes);
	site_expect_served(&site);
	assert_int_equal(webc_get(&site, "/each", "", &reply), 200);
	assert_true(site_is_page(&site, EXPO_TEXT, reply.body.data, reply.body.len));
	webc_reply_free(&reply);
	for (int i = 0; i < READERS; i++)
		webc_close(&readers[i]);
	site_await_empty(&site);
	assert_int_equal(site_stats(&site).bodies, 1);
	site_close(&site);
}

static void test_too_slow(void **state)
{
	struct web_config config = {
		.receive_ns = 20 * MS,
		.idle_ns = 20 * MS,
		.send_ns = 20 * MS,
	};
	static const char *const starts[] = {
		"",
		"\r\n",
		"G",
		"GET / HTTP/1.1\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX-Y: ",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /each HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	struct site site;
	struct webc c;

	site_open(&site, &config);
	for (size_t i = 0; i < LEN(starts); i++) {
		webc_open(&site, &c);
		assert_true(webc_sends(&site, &c, starts[i]));
		while (site_stats(&site).expired <= i)
			site_turn(&site);
		webc_await_end(&site, &c);
		webc_close(&c);
	}
	/* Some bytes now and then are no excuse. */
	webc_open(&site, &c);
	assert_true(webc_sends(&site, &c, "GET / HTTP/1.1\r\nX: "));
	while (!c.ended) {
		webc_sends(&site, &c, "y");
		site_turn(&site);
		webc_read(&c, 65536);
	}
	webc_close(&c);
	site_await_empty(&site);
	assert_int_equal(site_stats(&site).bodies, 0);
	site_close(&site);
}

/* The connection longest in its state is evicted, whatever states the others are in. */
static void test_oldest_first(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct web_config config = {.max_connections = 2};

	for (int asks = 0; asks < 2; asks++) {
		struct webc_reply reply;
		struct webc c[3];
		struct site site;

		site_open(&site, &config);
		for (int i = 0; i < 2; i++) {
			webc_open(&site, &c[i]);
			while (site_stats(&site).accepted <= (uint64_t)i)
				site_turn(&site);
			if (i != asks)
				continue;
			assert_true(webc_sends(&site, &c[i], request));
			assert_true(webc_reply(&site, &c[i], false, &reply));
			webc_reply_free(&reply);
		}
		webc_open(&site, &c[2]);
		webc_await_end(&site, &c[0]);
		assert_true(webc_sends(&site, &c[1], request));
		assert_true(webc_reply(&site, &c[1], false, &reply));
		webc_reply_free(&reply);
		assert_int_equal(site_stats(&site).evicted, 1);
		for (int i = 0; i < 3; i++)
			webc_close(&c[i]);
		site_close(&site);
	}
}

static void test_next_request(void **state)
{
	struct web_config config = {.receive_ns = 20 * MS};
	struct site site;
	struct webc c;

	site_open(&site, &config);
	webc_open(&site, &c);
	assert_true(webc_sends(&site, &c,
			       "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
			       "GET / HTTP/1.1\r\nHost: "));
	webc_await_end(&site, &c);
	assert_int_equal(site_stats(&site).requests[2], 1);
	assert_int_equal(site_stats(&site).expired, 1);
	webc_close(&c);
	site_close(&site);
}

static void test_kept(void **state)
{
	struct site site;

	site_open(&site, &defaults);
	site.keep_ms = 20;
	site_expect_served(&site);
	while (site_stats(&site).bodies)
		site_turn(&site);
	site_expect_served(&site);
	assert_int_equal(site.rendered, 2);
	site_close(&site);
}

static void test_no_descriptors(void **state)
{
	struct rlimit limit, few;
	struct webc c[3];
	struct site site;

	site_open(&site, &defaults);
	site_expect_served(&site);
	site_await_empty(&site);
	for (size_t i = 0; i < LEN(c); i++)
		webc_open(&site, &c[i]);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = (rlim_t)c[2].fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (site_stats(&site).refused < 2)
		site_turn(&site);
	/* Waiting for descriptors, it does not spin. */
	assert_int_equal(sd_event_run(site.event, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (site_stats(&site).accepted < 1 + LEN(c))
		site_turn(&site);
	site_expect_served(&site);
	for (size_t i = 0; i < LEN(c); i++)
		webc_close(&c[i]);
	site_await_empty(&site);
	site_close(&site);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void test_cpu(void **state)
{
	uint64_t began_ns, before_ns;
	struct site site;

	site_open(&site, &defaults);
	began_ns = thread_cpu_ns();
	for (int i = 0; i < 5; i++) {
		before_ns = site_stats(&site).cpu_ns;
		assert_int_equal(webc_get(&site, "/each", "", NULL), 200);
		assert_true(site_stats(&site).cpu_ns > before_ns);
	}
	site_settle(&site);
	/* What the clients of this thread do is not serving. */
	assert_true(site_stats(&site).cpu_ns < thread_cpu_ns() - began_ns);
	before_ns = site_stats(&site).cpu_ns;
	site_settle(&site);
	assert_int_equal(site_stats(&site).cpu_ns, before_ns);
	site_close(&site);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("1,000 idle connections keep no client out", test_idle),
		CLAIM("who comes in a crowd is served before it is pushed out", test_new_first),
		CLAIM("the one that has been at its thing longest makes room", test_oldest_first),
		CLAIM("one turn of the loop takes in 64 clients at most", test_bounded_turn),
		CLAIM("a client that reads byte by byte delays no other", test_byte_by_byte),
		CLAIM("readers that do not read hold four bodies at most", test_slow_readers),
		CLAIM("who takes too long is closed, whatever it is at", test_too_slow),
		CLAIM("the limit holds for the next request on a connection, too",
		      test_next_request),
		CLAIM("a page is released when its time is up", test_kept),
		CLAIM("the CPU time of serving is counted, and no other", test_cpu),
		CLAIM("without descriptors it waits for some, and goes on", test_no_descriptors),
	};
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return cmocka_run_group_tests_name("io/http/web, limits", tests, NULL, NULL);
}
