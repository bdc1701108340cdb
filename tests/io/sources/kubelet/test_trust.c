// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/kubelet: which peers it trusts, and what it does with the token. */
#include "io/sources/kubelet/kubelet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/kubescene.h"
#include "lib/net/tlsc.h"
#include "lib/pods/podgen.h"

static void test_options(void **state)
{
	static const struct {
		const char *url, *ca, *token, *where; /* NULL: refused */
	} table[] = {
		{"https://127.0.0.1:10250", "ca", "t", "https://127.0.0.1:10250/pods"},
		{"https://127.0.0.1:10250/", "ca", "t", "https://127.0.0.1:10250/pods"},
		{"https://127.0.0.1:10250/pods", "ca", "t", "https://127.0.0.1:10250/pods"},
		{"https://node-1:10250/x/pods", "ca", NULL, "https://node-1:10250/x/pods"},
		{"https://[::1]:10250", "ca", "t", "https://[::1]:10250/pods"},
		{"https://node-1", "ca", "t", "https://node-1/pods"},
		{"http://127.0.0.1:10255", NULL, NULL, "http://127.0.0.1:10255/pods"},
		{"http://127.8.9.1:10255", NULL, NULL, "http://127.8.9.1:10255/pods"},
		{"http://localhost:10255/pods", NULL, NULL, "http://localhost:10255/pods"},
		{"http://[::1]:10255", NULL, NULL, "http://[::1]:10255/pods"},
		/* Without verification, or in the clear. */
		{"https://127.0.0.1:10250", NULL, "t", NULL},
		{"https://127.0.0.1:10250", NULL, NULL, NULL},
		{"http://127.0.0.1:10255", NULL, "t", NULL},
		{"http://127.0.0.1:10255", "ca", "t", NULL},
		{"http://10.0.0.1:10255", NULL, NULL, NULL},
		{"http://node-1:10255", NULL, NULL, NULL},
		{"http://127.0.0.1.example.com:10255", NULL, NULL, NULL},
		{"http://localhost.example.com:10255", NULL, NULL, NULL},
		{"http://127.1:10255", NULL, NULL, NULL},
		{"http://[::2]:10255", NULL, NULL, NULL},
		{"http://[::ffff:127.0.0.1]:10255", NULL, NULL, NULL},
		/* What two might read in two ways. */
		{"", "ca", "t", NULL},
		{"127.0.0.1:10250", "ca", "t", NULL},
		{"HTTPS://127.0.0.1:10250", "ca", "t", NULL},
		{"file:///etc/passwd", "ca", "t", NULL},
		{"https://", "ca", "t", NULL},
		{"https:///pods", "ca", "t", NULL},
		{"https://:10250", "ca", "t", NULL},
		{"https://node-1:", "ca", "t", NULL},
		{"https://node-1:x", "ca", "t", NULL},
		{"https://node-1:1:2", "ca", "t", NULL},
		{"https://[::1", "ca", "t", NULL},
		{"https://[::1]x", "ca", "t", NULL},
		{"https://joe:secret@node-1:10250", "ca", "t", NULL},
		{"http://127.0.0.1:10255@node-1", NULL, NULL, NULL},
		{"http://127.0.0.1\\@node-1", NULL, NULL, NULL},
		{"http://127.0.0.1#@node-1", NULL, NULL, NULL},
		{"https://node-1:10250/pods?x=y", "ca", "t", NULL},
		{"https://node-1:10250/po ds", "ca", "t", NULL},
		{"https://node-1:10250/pods\r\nX: y", "ca", "t", NULL},
		{"https://node-1:10250/%70ods", "ca", "t", NULL},
		{"https://n\xc3\xb6"
		 "de:10250",
		 "ca", "t", NULL},
	};
	struct asker *asker = *state;
	struct source_sink sink = {};

	for (size_t i = 0; i < LEN(table); i++) {
		struct source_kubelet_options options = {
			.url = table[i].url, .ca_file = table[i].ca, .token_file = table[i].token};
		struct source_kubelet_why why = {""};
		struct source_kubelet *k = NULL;
		struct source_state got;
		int r = source_kubelet_new(asker->event, asker->fetch, &options, &sink, &k, &why);

		print_message("# %s: %s\n", table[i].url, why.text);
		assert_int_equal(r, table[i].where ? 0 : -EINVAL);
		assert_int_equal(why.text[0] == '\0', table[i].where != NULL);
		if (!table[i].where)
			continue;
		source_kubelet_get_state(k, &got);
		assert_string_equal(got.where, table[i].where);
		assert_int_equal(got.status, SOURCE_STARTING);
		source_kubelet_free(k);
	}
	{
		char url[300] = "https://node-1/";
		struct source_kubelet_options options = {.url = url, .ca_file = "ca"};
		struct source_kubelet_why why;
		struct source_kubelet *k;

		memset(url + strlen(url), 'x', 260);
		assert_int_equal(source_kubelet_new(asker->event, asker->fetch, &options, &sink, &k,
						    &why),
				 -EINVAL);
	}
}

static void test_trust(void **state)
{
	static const struct {
		const char *key, *ca, *server_name; /* key NULL: in the clear */
		bool trusted;
	} table[] = {
		{"server", "server.crt", "localhost", true},
		{"other", "server.crt", "localhost", false},
		{"server", "other.crt", "localhost", false},
		{"server", "server.crt", NULL, false}, /* 127.0.0.1 is not in it */
		{"server", "server.crt", "node-1.example", false},
		{"server", "server.key", "localhost", false}, /* no certificate */
		{NULL, "server.crt", "localhost", false},
	};

	if (!tlsc_can())
		return;
	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(cleanup_free) char *ca = tlsc_read(table[i].ca);
		struct source_state got;
		struct kubescene s;

		kubescene_open(&s, *state);
		s.options.server_name = table[i].server_name;
		kubescene_write(kubescene_ca, ca, strlen(ca));
		kubescene_play_pods(&s, 0, 2, KUBESCENE_SMALL);
		if (!table[i].key || strcmp(table[i].key, "server") != 0)
			kubescene_play(&s, table[i].key, s.answer.data, s.answer.len, false);
		got = kubescene_first(&s);
		print_message("# %s\n", got.text);
		assert_int_equal(got.status, table[i].trusted ? SOURCE_UP : SOURCE_DOWN);
		assert_int_equal(s.pods, table[i].trusted ? 2 : 0);
		assert_true((strstr(kubepeer_said(&s.peer), "Authorization: Bearer " KUBESCENE_TOKEN
							    "\r\n") != NULL) == table[i].trusted);
		assert_true((strstr(kubepeer_said(&s.peer), "GET /pods HTTP/1.1\r\n") != NULL) ==
			    table[i].trusted);
		if (!table[i].trusted && table[i].key)
			assert_non_null(strstr(got.text, kubescene_ca));
		assert_null(strstr(got.text, "se-cret"));
		kubescene_close(&s);
	}
}

static void test_answers(void **state)
{
#define STATUS(line) "HTTP/1.1 " line "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
	static const struct {
		const char *answer, *text;
		bool no_token;
	} table[] = {
		{STATUS("401 Unauthorized"), "refuses the token in /tmp/graced-kubelet-", false},
		{STATUS("401 Unauthorized"), "wants a token (401)", true},
		{STATUS("403 Forbidden"), "nodes/pods", false},
		{STATUS("404 Not Found"), "/pods", false},
		{STATUS("500 Internal Server Error"), "500", false},
		{STATUS("503 Service Unavailable"), "503", false},
		{STATUS("204 No Content"), "204", false},
		{STATUS("200 OK"), "no list of pods", false},
		{KUBESCENE_HEAD "Content-Length: 0\r\n\r\n", "no list of pods", false},
		{KUBESCENE_HEAD "Content-Length: 12\r\n\r\n\xff\xfe{]\"\\\n\r\t\x1b[m",
		 "no list of pods", false},
		{KUBESCENE_HEAD "Content-Length: 20\r\n\r\n{\"items\":[", "", false},
		{"HTTP/1.1 200 OK\r\nContent-Le", "", false},
		{"I am no kubelet\r\n", "", false},
		{"", "", false},
	};

	if (!tlsc_can())
		return;
	kubescene_trust();
	for (size_t i = 0; i < LEN(table); i++) {
		struct source_state got;
		struct kubescene s;

		kubescene_open(&s, *state);
		if (table[i].no_token)
			s.options.token_file = NULL;
		kubescene_play(&s, "server", table[i].answer, strlen(table[i].answer), false);
		got = kubescene_first(&s);
		print_message("# %s\n", got.text);
		assert_int_equal(got.status, SOURCE_DOWN);
		assert_int_equal(got.failures, 1);
		assert_true(got.retry_ns > clock_boot_ns() - 1000 * ASKER_MS);
		assert_true(*got.text && strstr(got.text, table[i].text));
		assert_null(strstr(got.text, "se-cret"));
		assert_int_equal(s.pods + s.gone, 0);
		/* Nobody is kept waiting. */
		source_kubelet_refresh(s.k, "a");
		assert_string_equal(buf_str(&s.done), "a failed\n");
		assert_int_equal(kubepeer_accepted(&s.peer), 1);
		kubescene_close(&s);
	}
}

static void test_redirect(void **state)
{
	char answer[256];
	struct source_state got;
	struct kubescene s, elsewhere;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_open(&elsewhere, *state);
	kubescene_play(&elsewhere, NULL, STATUS("200 OK"), strlen(STATUS("200 OK")), false);
	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%u/pods\r\nContent-Length: 0\r\n"
		 "\r\n",
		 elsewhere.peer.port);
	kubescene_play(&s, "server", answer, strlen(answer), false);
	got = kubescene_first(&s);
	print_message("# %s\n", got.text);
	assert_int_equal(got.status, SOURCE_DOWN);
	assert_non_null(strstr(got.text, "302"));
	assert_int_equal(kubepeer_accepted(&elsewhere.peer), 0);
	kubescene_close(&elsewhere);
	kubescene_close(&s);
}

static void test_tokens(void **state)
{
	static char longest[65536 + 1], too_long[65536 + 2];
	static const struct {
		const char *content;
		size_t len;
		const char *sent; /* NULL: nothing is even connected to */
	} table[] = {
		{"first", 5, "first"},
		{"second\n", 7, "second"},
		{" \t\r\nthird\r\n \t\n", 13, "third"},
		{"", 0, NULL},
		{" \n", 2, NULL},
		{"two words", 9, NULL},
		{"two\nlines", 9, NULL},
		{"head\r\nX-Evil: er", 16, NULL},
		{"nul\0behind", 10, NULL},
		{"t\xc3\xb6ken", 6, NULL},
		{"del\x7f", 4, NULL},
		{longest, 65536, longest},
		{too_long, 65537, NULL},
		{"last", 4, "last"},
	};

	if (!tlsc_can())
		return;
	kubescene_trust();
	memset(longest, 'x', sizeof(longest) - 1);
	memset(too_long, 'x', sizeof(too_long) - 1);
	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(buf_free) struct buf header = {};
		struct source_state got;
		struct kubescene s;

		kubescene_open(&s, *state);
		kubescene_write(kubescene_token, table[i].content, table[i].len);
		kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
		got = kubescene_first(&s);
		print_message("# %.20s: %s\n", table[i].content, got.text);
		assert_int_equal(got.status, table[i].sent ? SOURCE_UP : SOURCE_DOWN);
		assert_int_equal(kubepeer_accepted(&s.peer), table[i].sent != NULL);
		if (table[i].sent) {
			buf_printf(&header, "\r\nAuthorization: Bearer %s\r\n", table[i].sent);
			assert_non_null(strstr(kubepeer_said(&s.peer), buf_str(&header)));
		}
		if (!table[i].sent)
			assert_non_null(strstr(got.text, kubescene_token));
		kubescene_close(&s);
	}
}

static void test_token_files(void **state)
{
	char links[64];
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	for (int i = 0; i < 4; i++) {
		kubescene_open(&s, *state);
		unlink(kubescene_token);
		if (i == 1)
			assert_int_equal(mkfifo(kubescene_token, 0600), 0);
		if (i == 2)
			s.options.token_file = kubescene_dir;
		if (i == 3) {
			/* As the kubelet mounts them. */
			snprintf(links, sizeof(links), "%s/newest", kubescene_dir);
			kubescene_write(links, KUBESCENE_TOKEN, strlen(KUBESCENE_TOKEN));
			assert_int_equal(symlink("newest", kubescene_token), 0);
		}
		kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
		got = kubescene_first(&s);
		print_message("# %s\n", got.text);
		assert_int_equal(got.status, i == 3 ? SOURCE_UP : SOURCE_DOWN);
		assert_int_equal(kubepeer_accepted(&s.peer), i == 3);
		if (i < 3)
			assert_non_null(strstr(got.text, kubescene_dir));
		if (i == 1 || i == 2)
			assert_non_null(strstr(got.text, "no regular file"));
		unlink(kubescene_token);
		kubescene_close(&s);
	}
}

/* libcurl opens it, and would wait for somebody to write to a pipe. */
static void test_ca_files(void **state)
{
	char ca[64];
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	snprintf(ca, sizeof(ca), "%s/strange-ca", kubescene_dir);
	for (int i = 0; i < 3; i++) {
		kubescene_open(&s, *state);
		s.options.ca_file = i == 1 ? kubescene_dir : ca;
		if (i == 2)
			assert_int_equal(mkfifo(ca, 0600), 0);
		kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
		got = kubescene_first(&s);
		print_message("# %s\n", got.text);
		assert_int_equal(got.status, SOURCE_DOWN);
		assert_int_equal(kubepeer_accepted(&s.peer), 0);
		assert_non_null(strstr(got.text, s.options.ca_file));
		assert_non_null(strstr(got.text, i == 0 ? "No such file" : "no regular file"));
		kubescene_close(&s);
	}
	unlink(ca);
}

/* One source, whose token's file changes while it runs. */
static void test_rotation(void **state)
{
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
	kubescene_first(&s);
	assert_non_null(strstr(kubepeer_said(&s.peer), "Bearer " KUBESCENE_TOKEN "\r\n"));
	kubescene_write(kubescene_token, "rotated\n", 8);
	kubescene_play(&s, "server", s.answer.data, s.answer.len, false);
	kubescene_refresh(&s, "a");
	assert_non_null(strstr(kubepeer_said(&s.peer), "Bearer rotated\r\n"));
	assert_null(strstr(kubepeer_said(&s.peer), KUBESCENE_TOKEN));
	kubescene_close(&s);
}

/* In the clear there is no token, and loopback. */
static void test_read_only_port(void **state)
{
	struct kubescene s;

	kubescene_open(&s, *state);
	snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%u/pods", s.peer.port);
	s.options.ca_file = s.options.server_name = s.options.token_file = NULL;
	kubescene_play_pods(&s, 0, 3, KUBESCENE_SMALL);
	kubescene_play(&s, NULL, s.answer.data, s.answer.len, false);
	assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
	assert_int_equal(s.pods, 3);
	assert_null(strcasestr(kubepeer_said(&s.peer), "authorization"));
	kubescene_close(&s);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("a URL is asked only where its certificate is verified, or on loopback",
		     test_options),
		BOTH("no peer is believed, or sent the token, that the CA does not vouch for",
		     test_trust),
		BOTH("an invalid answer says what to do, and no look-up waits for the next",
		     test_answers),
		BOTH("a redirect is not followed", test_redirect),
		BOTH("a token is one word of at most 64 KiB; without it nothing is asked",
		     test_tokens),
		BOTH("a token's file is a regular one, or a link to it", test_token_files),
		BOTH("a CA's file is a regular one, and is not waited for", test_ca_files),
		BOTH("a token that rotates is read again", test_rotation),
		BOTH("the read-only port is asked without a token", test_read_only_port),
	};

	return cmocka_run_group_tests_name("io/sources/kubelet and trust", tests, kubescene_set_up,
					   kubescene_tear_down);
}
