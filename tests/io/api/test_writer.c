// SPDX-License-Identifier: Apache-2.0
/* Claims about io/api/writer: what becomes of a request, whatever the server answers. */
#include "io/api/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/net/asker.h"
#include "lib/net/rawpeer.h"

#define SECOND_NS     (1000 * ASKER_MS)
#define EMPTY(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"
#define PATH	      "/apis/events.k8s.io/v1/namespaces/shop/events?x=y"

/* A server, its writer, and what came of the requests: 'd'one, 'r'efused, 'e'xpired, 's'uperseded,
 * each behind the request's own letter. */
struct scene {
	struct asker *asker;
	struct rawpeer peer;
	struct apiwriter *writer;
	char ends[64];
	struct apiwriter_result last; /* without its strings */
	char body[64], text[256];
	unsigned int idle;
	const char *add_at_end; /* the key of one that is added from within done(), once */
	struct apiwriter_options options;
	struct source_kubelet_options server;
	char url[64];
};

static struct {
	struct scene *scene;
	char letter;
} letters[64];
static size_t n_letters;

static void add(struct scene *s, char letter, const char *key, uint64_t patience_ns);

static void on_done(void *userdata, const struct apiwriter_result *result)
{
	struct scene *s = letters[(size_t)(uintptr_t)userdata].scene;
	size_t n = strlen(s->ends);

	s->ends[n] = letters[(size_t)(uintptr_t)userdata].letter;
	s->ends[n + 1] = "dres"[result->end];
	s->last = *result;
	snprintf(s->body, sizeof(s->body), "%s", result->body);
	snprintf(s->text, sizeof(s->text), "%s", result->text);
	if (s->add_at_end) {
		const char *key = s->add_at_end;

		s->add_at_end = NULL;
		add(s, 'z', key, 0);
	}
}

static void on_idle(void *userdata)
{
	((struct scene *)userdata)->idle++;
}

static int try_add(struct scene *s, char letter, const char *key, uint64_t patience_ns)
{
	char body[8] = {'{', letter, '}'};
	struct apiwriter_request request = {
		.method = "POST",
		.path = PATH,
		.body = body,
		.body_len = 3,
		.key = key,
		.deadline_ns = patience_ns ? clock_boot_ns() + patience_ns : 0,
		.done = on_done,
		.userdata = (void *)(uintptr_t)n_letters,
	};

	assert_true(n_letters < LEN(letters));
	letters[n_letters].scene = s;
	letters[n_letters++].letter = letter;
	return apiwriter_add(s->writer, &request);
}

static void add(struct scene *s, char letter, const char *key, uint64_t patience_ns)
{
	assert_int_equal(try_add(s, letter, key, patience_ns), 0);
}

static void open_scene(struct scene *s, void **state, const char *answer)
{
	*s = (struct scene){.asker = *state};
	n_letters = 0;
	rawpeer_open(&s->peer, s->asker->event, NULL, answer);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/", s->peer.port);
	s->server = (struct source_kubelet_options){.url = s->url, .api_node = "node-1"};
	s->options = (struct apiwriter_options){
		.peer = &s->server,
		.timeout_ns = 30 * SECOND_NS,
		.retry_first_ns = ASKER_MS,
		.retry_last_ns = 4 * ASKER_MS,
		.idle = on_idle,
		.userdata = s,
	};
}

static void start(struct scene *s)
{
	struct source_kubelet_why why;

	assert_int_equal(
		apiwriter_new(s->asker->event, s->asker->fetch, &s->options, &s->writer, &why), 0);
}

static void close_scene(struct scene *s)
{
	apiwriter_free(s->writer);
	rawpeer_close(&s->peer);
}

static struct apiwriter_state state_of(const struct scene *s)
{
	struct apiwriter_state state;

	apiwriter_get_state(s->writer, &state);
	return state;
}

static void await_idle(struct scene *s)
{
	while (!apiwriter_is_idle(s->writer) || !s->idle)
		asker_turn(s->asker);
}

static const struct {
	const char *answer;
	enum apiwriter_end end;
	unsigned int attempts;
	const char *body;
} decisions[] = {
	{"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", APIWRITER_DONE, 1, "{}"},
	{EMPTY("200 OK"), APIWRITER_DONE, 1, ""},
	{"HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\n\r\nstale", APIWRITER_REFUSED, 1, "stale"},
	{EMPTY("404 Not Found"), APIWRITER_REFUSED, 1, ""},
	{EMPTY("410 Gone"), APIWRITER_REFUSED, 1, ""},
	{EMPTY("403 Forbidden"), APIWRITER_REFUSED, 1, ""},
	{EMPTY("422 Unprocessable Entity"), APIWRITER_REFUSED, 1, ""},
	{"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
	 APIWRITER_REFUSED, 1, ""},
	{EMPTY("401 Unauthorized"), APIWRITER_REFUSED, 2, ""},
};

static void test_decisions(void **state)
{
	for (size_t i = 0; i < LEN(decisions); i++) {
		struct scene s;

		open_scene(&s, state, decisions[i].answer);
		start(&s);
		add(&s, 'a', NULL, 0);
		await_idle(&s);
		print_message("# decision %zu: %s\n", i, s.text);
		assert_int_equal(s.last.end, decisions[i].end);
		assert_int_equal(s.last.attempts, decisions[i].attempts);
		assert_int_equal(s.peer.accepted, decisions[i].attempts);
		assert_int_equal(s.last.status, atoi(decisions[i].answer + 9));
		assert_string_equal(s.body, decisions[i].body);
		assert_int_equal(state_of(&s).failures, 0);
		assert_int_equal(s.idle, 1);
		close_scene(&s);
	}
}

static void test_request(void **state)
{
	struct scene s;

	open_scene(&s, state, EMPTY("201 Created"));
	start(&s);
	add(&s, 'a', NULL, 0);
	await_idle(&s);
	assert_memory_equal(buf_str(&s.peer.asked), "POST " PATH " HTTP/1.1\r\n",
			    sizeof("POST " PATH " HTTP/1.1\r\n") - 1);
	assert_non_null(strstr(buf_str(&s.peer.asked), "\r\nContent-Type: application/json\r\n"));
	assert_null(strstr(buf_str(&s.peer.asked), "Expect"));
	assert_null(strstr(buf_str(&s.peer.asked), "Authorization"));
	assert_string_equal(buf_str(&s.peer.asked) + s.peer.asked.len - 3, "{a}");
	close_scene(&s);
}

static char huge[(5 << 20) + 128];

/* What is no decision. */
static const char *const failures[] = {
	EMPTY("500 Internal Server Error"),
	EMPTY("503 Service Unavailable"),
	EMPTY("504 Gateway Timeout"),
	EMPTY("429 Too Many Requests"),
	"HTTP/1.1 429 Too Many Requests\r\nRetry-After: never\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n{",
	"HTTP/1.1 201 Crea",
	"\033]0;owned\007 no HTTP at all\n",
	"",
	huge,
};

static void test_failures(void **state)
{
	int n = snprintf(huge, sizeof(huge), "HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n",
			 5 << 20);

	memset(huge + n, ' ', 5 << 20);
	for (size_t i = 0; i < LEN(failures); i++) {
		struct scene s;

		open_scene(&s, state, failures[i]);
		start(&s);
		add(&s, 'a', NULL, 0);
		while (state_of(&s).failures < 3)
			asker_turn(s.asker);
		print_message("# failure %zu: %s\n", i, state_of(&s).text);
		assert_string_equal(s.ends, "");
		assert_true(state_of(&s).text[0]);
		s.peer.answer = EMPTY("201 Created");
		s.peer.len = strlen(s.peer.answer);
		await_idle(&s);
		assert_string_equal(s.ends, "ad");
		assert_in_range(s.last.attempts, 4, 100);
		assert_int_equal(s.peer.accepted, s.last.attempts);
		assert_int_equal(state_of(&s).failures, 0);
		close_scene(&s);
	}
}

/* Seconds that are asked for, and those that are waited. */
static const struct {
	const char *asked;
	uint64_t waited_s;
} retries[] = {{"7", 7}, {"60", 60}, {"61", 60}, {"4294967296", 60}, {"99999999999999999999", 60}};

static void test_retry_after(void **state)
{
	for (size_t i = 0; i < LEN(retries); i++) {
		uint64_t before_ns = clock_boot_ns(), retry_ns;
		char answer[128];
		struct scene s;

		snprintf(answer, sizeof(answer),
			 "HTTP/1.1 429 Too Many Requests\r\nRetry-After: %s\r\n"
			 "Content-Length: 0\r\n\r\n",
			 retries[i].asked);
		open_scene(&s, state, answer);
		start(&s);
		add(&s, 'a', NULL, 0);
		while (!state_of(&s).failures)
			asker_turn(s.asker);
		retry_ns = state_of(&s).retry_ns;
		assert_true(retry_ns + 1000 >= before_ns + retries[i].waited_s * SECOND_NS);
		assert_true(retry_ns <= clock_boot_ns() + retries[i].waited_s * SECOND_NS);
		/* Others wait as well. */
		add(&s, 'b', NULL, 20 * ASKER_MS);
		while (!s.ends[0])
			asker_turn(s.asker);
		assert_string_equal(s.ends, "be");
		assert_int_equal(s.last.attempts, 0);
		assert_int_equal(s.peer.accepted, 1);
		close_scene(&s);
	}
}

static void test_down(void **state)
{
	struct scene s;

	open_scene(&s, state, "");
	rawpeer_close(&s.peer);
	s.peer = (struct rawpeer){};
	start(&s);
	add(&s, 'a', NULL, 100 * ASKER_MS);
	await_idle(&s);
	assert_string_equal(s.ends, "ae");
	assert_int_equal(s.last.status, 0);
	assert_in_range(s.last.attempts, 1, 200);
	assert_non_null(strstr(s.text, "its deadline passed; the last failure: "));
	/* The deadline may pass while the last one is under way. */
	assert_in_range(state_of(&s).counts.failures, s.last.attempts - 1, s.last.attempts);
	close_scene(&s);
}

/* An answer that comes byte by byte, for more than an hour: the attempt ends by its own time, and
 * the request by its deadline, while it is under way. */
static void test_slow(void **state)
{
	struct scene s;

	open_scene(&s, state, "HTTP/1.1 201 Created\r\nContent-Length: 999999\r\n\r\n");
	s.peer.trickles = true;
	s.options.timeout_ns = 30 * ASKER_MS;
	start(&s);
	add(&s, 'a', NULL, 0);
	while (state_of(&s).counts.failures < 2)
		asker_turn(s.asker);
	assert_string_equal(s.ends, "");
	apiwriter_free(s.writer);
	s.options.timeout_ns = 30 * SECOND_NS;
	start(&s);
	add(&s, 'b', NULL, 50 * ASKER_MS);
	await_idle(&s);
	assert_string_equal(s.ends, "be");
	assert_int_equal(s.last.attempts, 1);
	assert_int_equal(state_of(&s).counts.failures, 0);
	close_scene(&s);
}

static void await_accepted(struct scene *s, unsigned int n)
{
	while (s->peer.accepted < n || !s->peer.asked.len)
		asker_turn(s->asker);
}

/* To those that ask from now on. */
static void play(struct scene *s, const char *answer)
{
	s->peer.answer = answer;
	s->peer.len = strlen(answer);
}

static void test_latest(void **state)
{
	struct scene s;

	open_scene(&s, state, "H");
	s.peer.stays = true;
	start(&s);
	add(&s, 'a', "pod", 0);
	await_accepted(&s, 1);
	add(&s, 'b', "pod", 0);
	add(&s, 'c', "pod", 0);
	assert_string_equal(s.ends, "bs");
	add(&s, 'd', "other", 0);
	await_accepted(&s, 2);
	add(&s, 'e', "pod", 0);
	assert_string_equal(s.ends, "bscs");
	/* The connection of a ends: e is waiting, so a is not repeated. */
	s.peer.stays = false;
	play(&s, EMPTY("201 Created"));
	for (size_t i = 0; i < RAWPEER_CONNECTIONS; i++)
		s.peer.connections[i].io = sd_event_source_disable_unref(s.peer.connections[i].io);
	await_idle(&s);
	assert_memory_equal(s.ends, "bscsas", 6);
	assert_non_null(strstr(s.ends + 6, "dd"));
	assert_non_null(strstr(s.ends + 6, "ed"));
	assert_int_equal(strlen(s.ends), 10);
	assert_int_equal(s.idle, 1);
	close_scene(&s);
}

static void test_bounds(void **state)
{
	struct scene s;

	open_scene(&s, state, EMPTY("201 Created"));
	s.options.requests_max = 3;
	start(&s);
	add(&s, 'a', "1", 0);
	add(&s, 'b', "2", 0);
	add(&s, 'c', NULL, 0);
	assert_int_equal(try_add(&s, 'd', NULL, 0), -ENOBUFS);
	assert_int_equal(try_add(&s, 'd', "", 0), -ENOBUFS);
	assert_int_equal(try_add(&s, 'd', "3", 0), -ENOBUFS);
	/* It takes the place of another one. */
	add(&s, 'e', "2", 0);
	assert_int_equal(state_of(&s).requests, 3);
	assert_int_equal(state_of(&s).counts.dropped, 3);
	await_idle(&s);
	assert_int_equal(strlen(s.ends), 8);
	assert_int_equal(state_of(&s).counts.added, 4);
	assert_int_equal(state_of(&s).counts.ended[APIWRITER_DONE], 3);
	assert_int_equal(state_of(&s).counts.ended[APIWRITER_SUPERSEDED], 1);
	close_scene(&s);
}

static void test_bytes(void **state)
{
	static char body[APIWRITER_BODY_MAX + 1];
	struct apiwriter_request request = {
		.method = "PATCH",
		.path = "/a",
		.body = body,
		.body_len = APIWRITER_BODY_MAX,
		.done = on_done,
	};
	struct scene s;
	int r;

	memset(body, ' ', sizeof(body));
	open_scene(&s, state, "");
	start(&s);
	for (size_t i = 0; i < APIWRITER_BYTES_MAX / APIWRITER_BODY_MAX; i++)
		assert_int_equal(apiwriter_add(s.writer, &request), 0);
	request.body_len = 1;
	r = apiwriter_add(s.writer, &request);
	assert_int_equal(r, -ENOBUFS);
	request.body_len = APIWRITER_BODY_MAX + 1;
	r = apiwriter_add(s.writer, &request);
	assert_int_equal(r, -EINVAL);
	close_scene(&s);
}

static void test_in_flight(void **state)
{
	struct scene s;

	open_scene(&s, state, "H");
	s.peer.stays = true;
	s.options.timeout_ns = 100 * ASKER_MS;
	start(&s);
	for (char c = 'a'; c < 'f'; c++)
		add(&s, c, NULL, 0);
	while (state_of(&s).counts.failures < 2)
		asker_turn(s.asker);
	assert_in_range(s.peer.accepted, 2, 3);
	while (state_of(&s).counts.failures < 5) {
		asker_turn(s.asker);
		assert_in_range(s.peer.accepted, 2, state_of(&s).counts.failures + 1);
	}
	close_scene(&s);
}

/* The server refuses one of them for good: the other one is served. */
static void test_poison(void **state)
{
	struct scene s;

	open_scene(&s, state, EMPTY("500 Internal Server Error"));
	s.options.in_flight = 1;
	start(&s);
	add(&s, 'a', NULL, 0);
	add(&s, 'b', NULL, 0);
	while (!s.peer.accepted || !state_of(&s).failures)
		asker_turn(s.asker);
	play(&s, EMPTY("201 Created"));
	await_idle(&s);
	assert_string_equal(s.ends, "bdad");
	close_scene(&s);
}

static void test_idle(void **state)
{
	struct scene s;

	open_scene(&s, state, EMPTY("201 Created"));
	start(&s);
	assert_true(apiwriter_is_idle(s.writer));
	s.add_at_end = "again";
	add(&s, 'a', NULL, 0);
	assert_false(apiwriter_is_idle(s.writer));
	await_idle(&s);
	assert_string_equal(s.ends, "adzd");
	assert_int_equal(s.idle, 1);
	close_scene(&s);
}

static void test_unsound(void **state)
{
	static const struct apiwriter_request rows[] = {
		{.method = "BREW", .path = "/a"},
		{.method = "", .path = "/a"},
		{.method = "POST", .path = "a"},
		{.method = "POST", .path = ""},
		{.method = "POST", .path = "/a b"},
		{.method = "POST", .path = "/a\r\nX: y"},
		{.method = "POST", .path = "/\xc3\xa4"},
		{.method = "POST", .path = "/a", .content_type = "a/b\r\nX: y"},
		{.method = "POST", .path = "/a", .content_type = ""},
	};
	static const struct source_kubelet_options servers[] = {
		{.url = "http://127.0.0.1:1", .api_node = "n", .token_file = "/t"},
		{.url = "http://192.0.2.1:1", .api_node = "n"},
		{.url = "https://127.0.0.1:1", .api_node = "n", .token_file = "/t"},
		{.url = "https://joe:secret@127.0.0.1", .api_node = "n", .ca_file = "/c"},
	};
	struct scene s;

	open_scene(&s, state, "");
	start(&s);
	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(apiwriter_add(s.writer, rows + i), -EINVAL);
	assert_true(apiwriter_is_idle(s.writer));
	for (size_t i = 0; i < LEN(servers); i++) {
		struct source_kubelet_why why = {};
		struct apiwriter *writer;

		s.options.peer = servers + i;
		assert_int_equal(apiwriter_new(s.asker->event, s.asker->fetch, &s.options, &writer,
					       &why),
				 -EINVAL);
		assert_true(why.text[0]);
		assert_null(strstr(why.text, "secret"));
	}
	close_scene(&s);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("a status is a decision, and is attempted once; 401 twice", test_decisions),
		BOTH("a request is sent as it was added", test_request),
		BOTH("what is no decision is attempted again until there is one", test_failures),
		BOTH("Retry-After is obeyed by all requests, up to a minute", test_retry_after),
		BOTH("a server that is down costs the request, by its deadline", test_down),
		BOTH("a slow server neither holds an attempt nor the deadline", test_slow),
		BOTH("the latest of one key is sent, and no two at once", test_latest),
		BOTH("what does not fit is refused and counted", test_bounds),
		BOTH("all bodies have a bound together", test_bytes),
		BOTH("two are under way at most, one while attempts fail", test_in_flight),
		BOTH("a request that always fails does not keep another waiting", test_poison),
		BOTH("idle is when nothing was added at the last end", test_idle),
		BOTH("unsound requests and servers are refused at once", test_unsound),
	};

	return cmocka_run_group_tests_name("io/api/writer", tests, NULL, NULL);
}
