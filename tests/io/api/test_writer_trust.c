// SPDX-License-Identifier: Apache-2.0
/* Claims about io/api/writer: which server receives the token, and which token. */
#include "io/api/writer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/kubescene.h"
#include "lib/net/tlsc.h"

#define REVOKED "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
#define CREATED "HTTP/1.1 201 Created\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

static struct apiwriter_result last;
static char text[256];

static void on_done(void *userdata, const struct apiwriter_result *result)
{
	unsigned int *done = userdata;

	++*done;
	last = *result;
	snprintf(text, sizeof(text), "%s", result->text);
}

static struct apiwriter *add(struct kubescene *s, uint64_t patience_ns, unsigned int *ret_done)
{
	struct apiwriter_options options = {
		.peer = &s->options,
		.retry_first_ns = ASKER_MS,
		.retry_last_ns = ASKER_MS,
	};
	struct apiwriter_request request = {
		.method = "PATCH",
		.path = "/api/v1/x",
		.content_type = "application/merge-patch+json",
		.body = "{}",
		.body_len = 2,
		.deadline_ns = patience_ns ? clock_boot_ns() + patience_ns : 0,
		.done = on_done,
		.userdata = ret_done,
	};
	struct source_kubelet_why why;
	struct apiwriter *writer;

	*ret_done = 0;
	s->options.api_node = "node-1";
	assert_int_equal(apiwriter_new(s->asker->event, s->asker->fetch, &options, &writer, &why),
			 0);
	assert_int_equal(apiwriter_add(writer, &request), 0);
	return writer;
}

static unsigned int count(const char *in, const char *what)
{
	unsigned int n = 0;

	for (const char *at = in; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void test_verified(void **state)
{
	static const struct {
		const char *what;
		bool done;
	} rows[] = {{"verified", true}, {"of another name", false}};

	if (!tlsc_can())
		return;
	for (size_t i = 0; i < LEN(rows); i++) {
		unsigned int done;
		struct apiwriter *writer;
		struct kubescene s;

		kubescene_trust();
		kubescene_open(&s, *state);
		if (!rows[i].done)
			s.options.server_name = "other.example";
		kubescene_play(&s, "server", CREATED, strlen(CREATED), false);
		writer = add(&s, rows[i].done ? 0 : 300 * ASKER_MS, &done);
		while (!done)
			asker_turn(s.asker);
		print_message("# %s: %s\n", rows[i].what, text);
		assert_int_equal(last.end, rows[i].done ? APIWRITER_DONE : APIWRITER_EXPIRED);
		assert_int_equal(count(kubepeer_said(&s.peer), "Bearer " KUBESCENE_TOKEN),
				 rows[i].done);
		assert_int_equal(count(kubepeer_said(&s.peer),
				       "\r\nContent-Type: application/merge-patch+json\r\n"),
				 rows[i].done);
		assert_null(strstr(text, "se-cret"));
		apiwriter_free(writer);
		kubescene_close(&s);
	}
}

/* The token is renewed while the request is under way, and the old one is refused. */
static void test_revoked(void **state)
{
	struct apiwriter *writer;
	unsigned int done;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play(&s, "server", REVOKED, strlen(REVOKED), false);
	writer = add(&s, 0, &done);
	while (kubepeer_asked(&s.peer) == 0)
		asker_turn(s.asker);
	kubescene_write(kubescene_token, "renewed", 7);
	while (!done)
		asker_turn(s.asker);
	assert_int_equal(last.end, APIWRITER_REFUSED);
	assert_int_equal(last.status, 401);
	assert_int_equal(last.attempts, 2);
	assert_int_equal(count(kubepeer_said(&s.peer), "Bearer " KUBESCENE_TOKEN "\r\n"), 1);
	assert_int_equal(count(kubepeer_said(&s.peer), "Bearer renewed\r\n"), 1);
	apiwriter_free(writer);
	kubescene_close(&s);
}

/* A token that is gone for a while is a failure like that of a connection. */
static void test_unreadable(void **state)
{
	struct apiwriter_state got = {};
	struct apiwriter *writer;
	unsigned int done;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play(&s, "server", CREATED, strlen(CREATED), false);
	unlink(kubescene_token);
	writer = add(&s, 0, &done);
	while (got.failures < 2) {
		asker_turn(s.asker);
		apiwriter_get_state(writer, &got);
	}
	print_message("# %s\n", got.text);
	assert_non_null(strstr(got.text, "cannot read the token in "));
	assert_int_equal(kubepeer_accepted(&s.peer), 0);
	kubescene_write(kubescene_token, KUBESCENE_TOKEN, sizeof(KUBESCENE_TOKEN) - 1);
	while (!done)
		asker_turn(s.asker);
	assert_int_equal(last.end, APIWRITER_DONE);
	assert_int_equal(last.attempts, 1);
	apiwriter_free(writer);
	kubescene_close(&s);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("only a server that the CA verifies by its name receives the token",
		     test_verified),
		BOTH("after a 401 the token is read anew, once", test_revoked),
		BOTH("a token that cannot be read is waited for", test_unreadable),
	};

	return cmocka_run_group_tests_name("io/api/writer: trust", tests, kubescene_set_up,
					   kubescene_tear_down);
}
