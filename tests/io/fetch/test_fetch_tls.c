// SPDX-License-Identifier: Apache-2.0
/* Claims about io/fetch with TLS: no peer is believed, or sent a token, that the CA does not vouch
 * for by the name that is wanted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/fetch/fetch.h"
#include "lib/claim.h"
#include "lib/daemon/kubepeer.h"
#include "lib/net/asker.h"
#include "lib/net/rawpeer.h"
#include "lib/net/tlsc.h"

#define OK    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define TOKEN "eyJhbGciOi.secret"

static char ca_path[] = "/tmp/graced-fetch-ca-XXXXXX";

static void write_ca(const char *name)
{
	_cleanup_(cleanup_free) char *text = tlsc_read(name);
	FILE *f = fopen(ca_path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static const struct row {
	const char *ca, *server_name;
	int error;
} rows[] = {
	{"server.crt", "localhost", 0},
	{"server.crt", NULL, -EKEYREJECTED}, /* 127.0.0.1 is not in it */
	{"server.crt", "other.example", -EKEYREJECTED},
	{"ca.crt", "localhost", -EKEYREJECTED},
	{"server.key", "localhost", -EKEYREJECTED}, /* no certificate */
	{NULL, "localhost", -EKEYREJECTED},	    /* the system's */
	{"server.crt", "localhost", 0},		    /* read again */
};

static void test_certificates(void **state)
{
	struct asker *asker = *state;
	_cleanup_(cleanup_free) char *cert = NULL, *key = NULL;
	struct kubepeer peer;

	if (!tlsc_can())
		return;
	cert = tlsc_read("server.crt");
	key = tlsc_read("server.key");
	kubepeer_open(&peer);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct fetch_request request = {.token = TOKEN, .max_bytes = 64};
		struct asker_reply reply;
		char url[64];

		print_message("# certificate %zu\n", i);
		snprintf(url, sizeof(url), "https://127.0.0.1:%u/pods", peer.port);
		request.url = url;
		request.timeout_ns = 30000 * ASKER_MS;
		request.server_name = rows[i].server_name;
		request.ca_file = rows[i].ca ? ca_path : NULL;
		if (rows[i].ca)
			write_ca(rows[i].ca);
		kubepeer_play(&peer,
			      &(struct kubepeer_part){cert, key, NULL, OK, strlen(OK), false});
		asker_ask(asker, &request, &reply);
		print_message("# %s\n", reply.result.text);
		assert_int_equal(reply.result.error, rows[i].error);
		assert_true((strstr(kubepeer_said(&peer), "Authorization: Bearer " TOKEN) !=
			     NULL) == (rows[i].error == 0));
		assert_null(strstr(reply.result.text, "secret"));
		buf_free(&reply.body);
		/* The next one does not find the connection of this one. */
		asker->fetch = fetch_free(asker->fetch);
		assert_int_equal(fetch_new(asker->event, &asker->fetch, &(struct fetch_why){}), 0);
	}
	kubepeer_close(&peer);
}

static void test_missing_ca(void **state)
{
	struct asker *asker = *state;
	struct fetch_request request = {.url = "https://127.0.0.1:9/", .ca_file = "/nowhere"};
	struct asker_reply reply;
	struct rawpeer peer;
	char url[64];

	rawpeer_open(&peer, asker->event, NULL, OK);
	peer.stays = true;
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/pods", peer.port);
	request.url = url;
	asker_ask(asker, &request, &reply);
	assert_int_equal(reply.result.error, -EKEYREJECTED);
	rawpeer_close(&peer);
}

static void test_plain(void **state)
{
	struct asker *asker = *state;
	struct fetch_request request = {.max_bytes = 64, .token = TOKEN};
	struct asker_reply reply;
	struct rawpeer peer;
	char url[64];

	rawpeer_open(&peer, asker->event, NULL, OK);
	peer.at_once = peer.stays = true;
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/pods", peer.port);
	request.url = url;
	asker_ask(asker, &request, &reply);
	print_message("# %s\n", reply.result.text);
	assert_int_equal(reply.result.error, -EPROTO);
	assert_null(memmem(buf_str(&peer.asked), peer.asked.len, "secret", 6));
	rawpeer_close(&peer);
}

static int set_up(void **state)
{
	int fd = mkstemp(ca_path);

	return fd < 0 || close(fd) < 0 ? -1 : tlsc_set_up(state);
}

static int tear_down(void **state)
{
	unlink(ca_path);
	return tlsc_tear_down(state);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("a token is sent to a peer that the CA vouches for by name, and to no other",
		     test_certificates),
		BOTH("a CA's file that is missing vouches for no peer", test_missing_ca),
		BOTH("who speaks no TLS gets nothing", test_plain),
	};

	return cmocka_run_group_tests_name("io/fetch with TLS", tests, set_up, tear_down);
}
