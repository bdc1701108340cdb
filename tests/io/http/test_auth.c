// SPDX-License-Identifier: Apache-2.0
/* Claims about io/http/auth: whose password lets them see the pages, and what guessing costs. */
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/net/webc.h"

/* "secret" and "other", at the lowest cost and at the usual one. */
#define SECRET	 "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define OTHER	 "$2y$04$abcdefghijklmnopqrstuu0HtfOlPbTiymk5tcV.3TsFPDd3SYZqu"
#define SECRET2A "$2a$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define DEAR	 "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"

static const struct web_user users[] = {{"joe", SECRET}, {"j.doe", OTHER}, {"old", SECRET2A}};
static const struct web_config three = {.users = users, .n_users = LEN(users)};

static const struct web_user dear[] = {{"joe", DEAR}};
static const struct web_config one_dear = {.users = dear, .n_users = 1};

static unsigned int get(struct site *site, const char *path, const char *both)
{
	return webc_get(site, path, both ? webc_credentials(both) : "", NULL);
}

static void test_users(void **state)
{
	static const struct {
		const char *both; /* NULL: no header */
		unsigned int status;
	} table[] = {
		{"joe:secret", 200},  {"j.doe:other", 200}, {"old:secret", 200},
		{NULL, 401},	      {"joe:other", 401},   {"joe:", 401},
		{"joe:secret ", 401}, {"Joe:secret", 401},  {"nobody:secret", 401},
		{":secret", 401},     {"joe", 401},	    {"j.doe:secret", 401},
		{"old:Secret", 401},  {"joe:*", 401},	    {"joe:" SECRET, 401},
		{"joe:secret", 200},
	};
	struct site site;

	site_open(&site, &three);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < LEN(table); i++) {
			print_message("# %s\n", table[i].both ? table[i].both : "nobody");
			assert_int_equal(get(&site, "/", table[i].both), table[i].status);
		}
	}
	site_close(&site);
}

static void test_every_page(void **state)
{
	static const char *const paths[] = {"/",      "/metrics", "/each",
					    "/moved", "/nothing", "/broken"};
	struct webc_reply reply;
	struct site site;

	site_open(&site, &three);
	assert_int_equal(get(&site, "/metrics", "joe:secret"), 200);
	site.rendered = 0;
	for (size_t i = 0; i < LEN(paths); i++) {
		assert_int_equal(webc_get(&site, paths[i], "", &reply), 401);
		assert_string_equal(webc_header(&reply, "WWW-Authenticate"),
				    "Basic realm=\"graced\"");
		webc_reply_free(&reply);
	}
	assert_int_equal(site.rendered, 0);
	assert_int_equal(site_stats(&site).requests[4], LEN(paths));
	site_close(&site);
}

static void test_odd_headers(void **state)
{
	static const char *const lines[] = {
		"Authorization: Bearer am9lOnNlY3JldA==\r\n",
		"Authorization: Basic\r\n",
		"Authorization: Basic am9lOnNlY3JldA===\r\n",
		"Authorization: Basic am9lOnNlY3JldAB4\r\n", /* joe:secret, a NUL and x */
		"Authorization: \r\n",
		"X-Authorization: Basic am9lOnNlY3JldA==\r\n",
	};
	struct site site;

	site_open(&site, &three);
	for (size_t i = 0; i < LEN(lines); i++)
		assert_int_equal(webc_get(&site, "/", lines[i], NULL), 401);
	assert_int_equal(webc_get(&site, "/", "Authorization: Basic am9lOnNlY3JldA==\r\n", NULL),
			 200);
	site_close(&site);
}

static void test_waiting(void **state)
{
	enum { CLIENTS = 40 };
	struct webc clients[CLIENTS];
	struct webc_reply reply;
	struct site site;

	site_open(&site, &one_dear);
	for (size_t i = 0; i < CLIENTS; i++) {
		webc_open(&site, &clients[i]);
		assert_true(webc_sends(&site, &clients[i], "GET / HTTP/1.1\r\nHost: x\r\n"));
		assert_true(webc_sends(&site, &clients[i],
				       webc_credentials(i % 2 ? "joe:secret" : "joe:wrong")));
		assert_true(webc_sends(&site, &clients[i], "\r\n"));
	}
	/* Some leave before the verdict. */
	for (size_t i = 0; i < CLIENTS; i += 4)
		webc_reset(&clients[i]);
	for (size_t i = 0; i < CLIENTS; i++) {
		if (i % 4 == 0)
			continue;
		assert_true(webc_reply(&site, &clients[i], false, &reply));
		assert_int_equal(reply.status, i % 2 ? 200 : 401);
		webc_reply_free(&reply);
		webc_close(&clients[i]);
	}
	site_await_empty(&site);
	site_close(&site);
}

static void test_closed_while_waiting(void **state)
{
	struct web_config small = one_dear;
	struct webc clients[9];
	struct site site;

	small.max_connections = 4;
	site_open(&site, &small);
	for (size_t i = 0; i < LEN(clients); i++) {
		char both[32];

		snprintf(both, sizeof(both), "joe:wrong%zu", i);
		webc_open(&site, &clients[i]);
		assert_true(webc_sends(&site, &clients[i], "GET / HTTP/1.1\r\nHost: x\r\n"));
		assert_true(webc_sends(&site, &clients[i], webc_credentials(both)));
		assert_true(webc_sends(&site, &clients[i], "\r\n"));
		site_settle(&site);
	}
	while (site_stats(&site).evicted < LEN(clients) - 4)
		site_turn(&site);
	for (size_t i = 0; i < LEN(clients); i++)
		webc_close(&clients[i]);
	site_await_empty(&site);
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	/* And ends with some of them waiting. */
	for (size_t i = 0; i < 3; i++) {
		webc_open(&site, &clients[i]);
		assert_true(webc_sends(&site, &clients[i], "GET / HTTP/1.1\r\nHost: x\r\n"));
		assert_true(webc_sends(&site, &clients[i], webc_credentials("joe:last")));
		assert_true(webc_sends(&site, &clients[i], "\r\n"));
		site_settle(&site);
	}
	site_close(&site);
	for (size_t i = 0; i < 3; i++)
		webc_close(&clients[i]);
}

static void begin_guess(struct site *site, int i, struct webc *ret)
{
	char both[32];

	snprintf(both, sizeof(both), "%s:guess%d", i % 2 ? "joe" : "nobody", i);
	webc_open(site, ret);
	assert_true(webc_sends(site, ret, "GET / HTTP/1.1\r\nHost: x\r\n"));
	assert_true(webc_sends(site, ret, webc_credentials(both)));
	assert_true(webc_sends(site, ret, "\r\n"));
}

static void test_flood(void **state)
{
	enum { GUESSES = 200 };
	struct webc clients[GUESSES];
	unsigned int wrong = 0, busy = 0;
	struct webc_reply reply;
	struct site site;

	site_open(&site, &one_dear);
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	for (int i = 0; i < GUESSES; i++)
		begin_guess(&site, i, &clients[i]);
	for (int i = 0; i < GUESSES; i++) {
		site_be_patient(&site);
		assert_int_equal(get(&site, "/", "joe:secret"), 200);
		assert_true(webc_reply(&site, &clients[i], false, &reply));
		if (reply.status == 429)
			assert_string_equal(webc_header(&reply, "Retry-After"), "1");
		wrong += reply.status == 401;
		busy += reply.status == 429;
		webc_reply_free(&reply);
		webc_close(&clients[i]);
	}
	print_message("# %u checked, %u turned away\n", wrong, busy);
	assert_int_equal(wrong + busy, GUESSES);
	assert_true(wrong > 0);
	assert_true(busy >= GUESSES / 2);
	site_close(&site);
}

static void test_reload(void **state)
{
	static const struct web_user changed[] = {{"joe", OTHER}, {"new", SECRET}};
	static const struct web_config next = {.users = changed, .n_users = LEN(changed)};
	static const struct web_config none;
	struct web_why why;
	struct site site;

	site_open(&site, &three);
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	assert_int_equal(get(&site, "/", "joe:other"), 401);
	assert_int_equal(web_reload(site.web, &next, &why), 0);
	assert_int_equal(get(&site, "/", "joe:secret"), 401);
	assert_int_equal(get(&site, "/", "joe:other"), 200);
	assert_int_equal(get(&site, "/", "new:secret"), 200);
	assert_int_equal(get(&site, "/", "old:secret"), 401);
	assert_int_equal(web_reload(site.web, &none, &why), 0);
	assert_int_equal(get(&site, "/", NULL), 200);
	assert_int_equal(web_reload(site.web, &three, &why), 0);
	assert_int_equal(get(&site, "/", NULL), 401);
	assert_int_equal(get(&site, "/", "old:secret"), 200);
	site_close(&site);
	site_open(&site, &none);
	assert_int_equal(get(&site, "/", NULL), 200);
	assert_int_equal(web_reload(site.web, &three, &why), 0);
	/* The child may not be there yet. */
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	assert_int_equal(get(&site, "/", NULL), 401);
	site_close(&site);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a user is who has the password, no matter who asks before", test_users),
		CLAIM("no page is shown or made without one", test_every_page),
		CLAIM("what is no header of the Basic scheme is no user", test_odd_headers),
		CLAIM("requests wait for the verdict, and may leave before", test_waiting),
		CLAIM("what waits can be evicted, and the server end", test_closed_while_waiting),
		CLAIM("a flood of guesses is turned away while a known password is good",
		      test_flood),
		CLAIM("users change at once, and others' passwords with them", test_reload),
	};

	return cmocka_run_group_tests_name("webauth", tests, NULL, NULL);
}
