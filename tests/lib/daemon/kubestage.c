// SPDX-License-Identifier: Apache-2.0
// Lists pods to a daemon, and waits for what it makes of them.
#include "lib/daemon/kubestage.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/box/box.h"
#include "lib/box/page.h"
#include "lib/claim.h"
#include "lib/daemon/podstage.h"
#include "lib/jrec.h"
#include "lib/patience.h"

#define STEP_MS 50

static void add_pod(struct buf *list, const struct kubestage_pod *pod)
{
	buf_printf(list,
		   "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"%s\",\"uid\":\"%s\"%s},"
		   "\"spec\":{\"terminationGracePeriodSeconds\":30%s},\"status\":{\"phase\":\"%s\"",
		   pod->name, pod->uid, pod->metadata ?: "",
		   pod->main ? ",\"containers\":[{\"name\":\"main\"}]" : "",
		   pod->phase ?: "Running");
	if (pod->reason)
		buf_printf(list, ",\"reason\":\"%s\"", pod->reason);
	if (pod->main)
		buf_printf(list,
			   ",\"containerStatuses\":[{\"name\":\"main\","
			   "\"containerID\":\"containerd://%s\"}]",
			   pod->main);
	buf_printf(list, ",\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
		   pod->ready ? "True" : "False");
}

void kubestage_list(struct kubestage *s, const struct kubestage_pod *pods, size_t n)
{
	static const struct kubestage_pod other = {
		.uid = "00000000-0000-4000-8000-000000000000", .name = "other", .ready = true};
	_cleanup_(buf_free) struct buf list = {}, answer = {};

	buf_adds(&list, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[");
	add_pod(&list, &other);
	for (size_t i = 0; i < n; i++) {
		buf_addc(&list, ',');
		add_pod(&list, &pods[i]);
	}
	buf_adds(&list, "]}");
	buf_printf(&answer,
		   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
		   "Content-Length: %zu\r\n\r\n%s",
		   list.len, buf_str(&list));
	kubepeer_play(&s->peer, &(struct kubepeer_part){.cert = s->cert,
							.key = s->key,
							.answer = answer.data,
							.len = answer.len});
}

static void open_by(struct kubestage *s, const struct box_tree *tree, const char *url_flag,
		    const char *interval_flag, const struct kubestage_pod *pods, size_t n)
{
	struct service_spec spec = {.tree = tree};
	char url[64];
	int fd;

	*s = (struct kubestage){.records = "/tmp/graced-records-XXXXXX"};
	fd = mkstemp(s->records);
	assert_true(fd >= 0);
	close(fd);
	kubepeer_open(&s->peer);
	kubestage_list(s, pods, n);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", s->peer.port);
	spec.args = BOX_ARGV("--sinks.journal=false", "--sinks.file", s->records, "--node-name",
			     "node-1", url_flag, url, interval_flag, "1s");
	assert_int_equal(service_start(&spec, &s->service), 0);
	s->socket = service_socket(s->service);
}

void kubestage_open(struct kubestage *s, const struct box_tree *tree,
		    const struct kubestage_pod *pods, size_t n)
{
	open_by(s, tree, "--kubelet.url", "--kubelet.interval", pods, n);
}

void kubestage_open_api(struct kubestage *s, const struct box_tree *tree,
			const struct kubestage_pod *pods, size_t n)
{
	open_by(s, tree, "--api.url", "--api.interval", pods, n);
}

void kubestage_close(struct kubestage *s)
{
	assert_int_equal(service_stop(s->service), 0);
	service_free(s->service);
	kubepeer_close(&s->peer);
	unlink(s->records);
}

uint64_t kubestage_await_asked(const struct kubestage *s, unsigned int n)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;

	while (kubepeer_asked(&s->peer) < n) {
		assert_true(podstage_now_ms() < until);
		usleep(STEP_MS * 1000);
	}
	return page_clock_ns();
}

json_t *kubestage_await_line(const struct kubestage *s, const char *uid, const char *expected)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;
	char why[256] = "it is not there";

	while (podstage_now_ms() < until) {
		json_t *line = podstage_ask(s->socket, uid);

		if (line && jrec_match(line, expected, why, sizeof(why)) == 0)
			return line;
		json_decref(line);
		usleep(STEP_MS * 1000);
	}
	fail_msg("%s", why);
	return NULL;
}

json_t *kubestage_records(const struct kubestage *s, const char *expected)
{
	json_t *found = json_array();
	FILE *in = fopen(s->records, "re");
	char *line = NULL, why[256];
	size_t size = 0;

	assert_non_null(in);
	while (getline(&line, &size, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		/* The last line may be half written. */
		if (record && jrec_match(record, expected, why, sizeof(why)) == 0)
			json_array_append(found, record);
		json_decref(record);
	}
	free(line);
	fclose(in);
	return found;
}

json_t *kubestage_await_records(const struct kubestage *s, const char *expected)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;

	while (podstage_now_ms() < until) {
		json_t *found = kubestage_records(s, expected);

		if (json_array_size(found))
			return found;
		json_decref(found);
		usleep(STEP_MS * 1000);
	}
	fail_msg("no record has %s", expected);
	return NULL;
}
