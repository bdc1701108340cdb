// SPDX-License-Identifier: Apache-2.0
/* Claims about io/fetch where the URL has a host name: the loop turns whatever name servers do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/fetch/fetch.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/net/asker.h"
#include "lib/net/nameserver.h"
#include "lib/net/rawpeer.h"
#include "lib/patience.h"

/* The peer is at none of its addresses; how many are tried in time is libcurl's to say. */
#define ANY_ERROR 1

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct nameserver *names;

static int open_names(void **state)
{
	const char *why;

	names = nameserver_open(&why);
	if (!names)
		print_message("not shown: %s\n", why);
	return 0;
}

static int close_names(void **state)
{
	nameserver_close(names);
	return 0;
}

static struct fetch_request to_host(const char *host, uint16_t port, char url[static 128])
{
	snprintf(url, 128, "http://%s:%u/", host, port);
	return (struct fetch_request){.url = url, .max_bytes = 64, .timeout_ns = 3000 * ASKER_MS};
}

static struct asker_reply ask(struct asker *asker, const char *host, uint16_t port)
{
	struct fetch_request request;
	struct asker_reply reply;
	char url[128];

	request = to_host(host, port, url);
	asker_ask(asker, &request, &reply);
	buf_free(&reply.body);
	print_message("# %s: %d %s\n", host, reply.result.error, reply.result.text);
	return reply;
}

static void what_comes_of_a_request_is_what_the_name_servers_say(void **state)
{
	static const struct {
		enum nameserver_mood mood;
		const char *host;
		int error;
	} rows[] = {
		{NAMESERVER_LOOPBACK, "a.example", 0},
		{NAMESERVER_LOOPBACK, "B.Example", 0},
		{NAMESERVER_LOOPBACK, "c.example.", 0},
		{NAMESERVER_SILENT, "listed.example", 0},
		{NAMESERVER_SILENT, "localhost", 0},
		{NAMESERVER_SILENT, "some.localhost", 0},
		{NAMESERVER_SILENT, "127.0.0.1", 0},
		{NAMESERVER_ELSEWHERE, "d.example", -ECONNREFUSED},
		{NAMESERVER_MANY, "e.example", ANY_ERROR},
		{NAMESERVER_NXDOMAIN, "f.example", -EHOSTUNREACH},
		{NAMESERVER_GARBAGE, "g.example", -EHOSTUNREACH},
		{NAMESERVER_SILENT, "h.example", -EHOSTUNREACH},
	};
	struct asker *asker = *state;
	struct rawpeer peer;

	if (!names)
		skip();
	rawpeer_open(&peer, asker->event, NULL, OK);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct asker_reply reply;

		nameserver_play(names, rows[i].mood);
		reply = ask(asker, rows[i].host, peer.port);
		assert_int_equal(reply.done, 1);
		if (rows[i].error == ANY_ERROR)
			assert_int_not_equal(reply.result.error, 0);
		else
			assert_int_equal(reply.result.error, rows[i].error);
		assert_int_equal(reply.result.status, rows[i].error ? 0 : 200);
		if (rows[i].error == -EHOSTUNREACH)
			assert_non_null(strstr(reply.result.text, rows[i].host));
	}
	rawpeer_close(&peer);
}

static void no_name_server_is_asked_for_localhost(void **state)
{
	struct asker *asker = *state;
	struct rawpeer peer;

	if (!names)
		skip();
	nameserver_play(names, NAMESERVER_LOOPBACK);
	rawpeer_open(&peer, asker->event, NULL, OK);
	ask(asker, "localhost", peer.port);
	ask(asker, "127.0.0.1", peer.port);
	assert_int_equal(nameserver_heard(names), 0);
	rawpeer_close(&peer);
}

static void the_loop_turns_while_name_servers_are_silent(void **state)
{
	struct asker *asker = *state;
	unsigned int ticks = asker->ticks;
	struct asker_reply reply;
	struct rawpeer peer;

	if (!names)
		skip();
	nameserver_play(names, NAMESERVER_SILENT);
	rawpeer_open(&peer, asker->event, NULL, OK);
	reply = ask(asker, "a.example", peer.port);
	assert_int_equal(reply.result.error, -EHOSTUNREACH);
	/* A loop that was held ticks once afterwards. */
	assert_true(asker->ticks > ticks + 1);
	/* The query goes on, and is the next request's. */
	nameserver_play(names, NAMESERVER_LOOPBACK);
	do
		reply = ask(asker, "a.example", peer.port);
	while (reply.result.error == -EHOSTUNREACH);
	assert_int_equal(reply.result.error, 0);
	assert_int_equal(nameserver_heard(names), 1);
	rawpeer_close(&peer);
}

static void a_request_that_waits_for_an_address_can_be_cancelled(void **state)
{
	struct asker *asker = *state;
	struct asker_reply cancelled = {};
	struct fetch_request request;
	struct fetch_call *calls[3];
	struct rawpeer peer;
	char url[128];

	if (!names)
		skip();
	nameserver_play(names, NAMESERVER_SILENT);
	rawpeer_open(&peer, asker->event, NULL, OK);
	request = to_host("a.example", peer.port, url);
	request.done = asker_done;
	request.userdata = &cancelled;
	for (size_t i = 0; i < LEN(calls); i++)
		assert_int_equal(fetch_start(asker->fetch, &request, &calls[i]), 0);
	fetch_cancel(calls[0]);
	while (nameserver_heard(names) == 0)
		asker_turn(asker);
	fetch_cancel(calls[1]);
	/* The third goes with the client. */
	asker_turn(asker);
	asker->fetch = fetch_free(asker->fetch);
	assert_int_equal(fetch_new(asker->event, &asker->fetch, &(struct fetch_why){}), 0);
	assert_int_equal(cancelled.done, 0);
	assert_int_equal(peer.accepted, 0);
	rawpeer_close(&peer);
}

static void the_wait_for_an_address_counts(void **state)
{
	struct asker *asker = *state;
	struct fetch_request request;
	struct asker_reply reply;
	char url[128];

	if (!names)
		skip();
	nameserver_play(names, NAMESERVER_SILENT);
	request = to_host("a.example", 9, url);
	request.timeout_ns = 100 * ASKER_MS;
	asker_ask(asker, &request, &reply);
	assert_int_equal(reply.result.error, -EHOSTUNREACH);
	/* The thread that looks it up may be slower than that. */
	for (int i = 0; i < PATIENCE_MS / 10 && !nameserver_heard(names); i++)
		usleep(10000);
	assert_int_equal(nameserver_heard(names), 1);
}

#define ASKED(sentence, function)                                       \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASKED("what comes of a request is what the name servers say",
		      what_comes_of_a_request_is_what_the_name_servers_say),
		ASKED("no name server is asked for localhost or an address",
		      no_name_server_is_asked_for_localhost),
		ASKED("the loop turns while name servers are silent, and their late answer counts",
		      the_loop_turns_while_name_servers_are_silent),
		ASKED("a request that waits for an address can be cancelled",
		      a_request_that_waits_for_an_address_can_be_cancelled),
		ASKED("a request does not wait longer for an address than its own time",
		      the_wait_for_an_address_counts),
	};

	return cmocka_run_group_tests_name("io/fetch by name", tests, open_names, close_names);
}
