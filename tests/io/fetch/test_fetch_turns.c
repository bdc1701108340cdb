// SPDX-License-Identifier: Apache-2.0
/* Claims about io/fetch: an answer leaves others their turn, however small the pieces are in which
 * it comes. What came between two turns of another is counted; no clock is looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/fetch/fetch.h"
#include "lib/claim.h"
#include "lib/daemon/kubepeer.h"
#include "lib/net/asker.h"
#include "lib/net/tlsc.h"

#define HEAD  "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
#define BYTES (1 << 20)
#define A_LOT (BYTES / 8)

static char ca_path[] = "/tmp/graced-fetch-ca-XXXXXX";

struct scene {
	struct asker *asker;
	struct kubepeer peer;
	int pipe[2]; /* always readable */
	sd_event_source *other;
	unsigned int pieces, before, most; /* of the answer; at the other's turn; between two */
};

static int on_other(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct scene *s = userdata;

	if (s->pieces - s->before > s->most)
		s->most = s->pieces - s->before;
	s->before = s->pieces;
	return 0;
}

static int on_data(void *userdata, const void *data, size_t len)
{
	struct scene *s = userdata;

	s->pieces++;
	assert_int_equal(len, 1);
	return 0;
}

struct outcome {
	struct scene scene; /* the first member: what on_data has */
	bool done;
	struct fetch_result result;
};

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct outcome *o = userdata;

	o->done = true;
	o->result = *result;
}

static void write_ca(const char *text)
{
	FILE *f = fopen(ca_path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void play(struct scene *s, bool tls)
{
	_cleanup_(cleanup_free) char *cert = tlsc_read("server.crt"),
				     *key = tlsc_read("server.key");
	_cleanup_(buf_free) struct buf answer = {};

	buf_adds(&answer, HEAD);
	for (int i = 0; i < BYTES; i++)
		buf_adds(&answer, "1\r\na\r\n");
	buf_adds(&answer, "0\r\n\r\n");
	assert_int_equal(buf_error(&answer), 0);
	write_ca(cert);
	kubepeer_open(&s->peer);
	kubepeer_play(&s->peer, &(struct kubepeer_part){.cert = tls ? cert : NULL,
							.key = tls ? key : NULL,
							.answer = answer.data,
							.len = answer.len});
}

static void ask(struct outcome *o, bool tls)
{
	struct scene *s = &o->scene;
	struct fetch_request request = {
		.max_bytes = BYTES,
		.ca_file = tls ? ca_path : NULL,
		.server_name = tls ? "localhost" : NULL,
		.data = on_data,
		.done = on_done,
		.userdata = o,
	};
	struct fetch_call *call;
	char url[64];

	snprintf(url, sizeof(url), "%s://127.0.0.1:%u/", tls ? "https" : "http", s->peer.port);
	request.url = url;
	assert_int_equal(fetch_start(s->asker->fetch, &request, &call), 0);
	while (!o->done)
		asker_turn(s->asker);
}

static void check(struct asker *asker, bool tls)
{
	struct outcome o = {.scene.asker = asker};
	struct scene *s = &o.scene;

	play(s, tls);
	assert_int_equal(pipe(s->pipe), 0);
	assert_int_equal(write(s->pipe[1], "x", 1), 1);
	assert_true(sd_event_add_io(asker->event, &s->other, s->pipe[0], EPOLLIN, on_other, s) >=
		    0);
	ask(&o, tls);
	print_message("# %u of %u pieces between two turns of another\n", s->most, s->pieces);
	assert_int_equal(o.result.error, 0);
	assert_int_equal(s->pieces, BYTES);
	assert_in_range(s->most, 1, A_LOT);
	sd_event_source_disable_unref(s->other);
	close(s->pipe[0]);
	close(s->pipe[1]);
	kubepeer_close(&s->peer);
}

static void test_tls(void **state)
{
	if (tlsc_can())
		check(*state, true);
}

static void test_clear(void **state)
{
	if (tlsc_can())
		check(*state, false);
}

static int set_up(void **state)
{
	int fd = mkstemp(ca_path);

	close(fd);
	return fd < 0 ? -1 : tlsc_set_up(state);
}

static int tear_down(void **state)
{
	unlink(ca_path);
	return tlsc_tear_down(state);
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		{"an answer by TLS in chunks of a byte leaves others their turn", test_tls,
		 asker_set_up, asker_tear_down, NULL},
		{"so does one without TLS", test_clear, asker_set_up, asker_tear_down, NULL},
	};

	return cmocka_run_group_tests(claims, set_up, tear_down);
}
