// SPDX-License-Identifier: Apache-2.0
/* Plays a kubelet, and counts what io/sources/kubelet tells of it. */
#include "lib/daemon/kubescene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/net/tlsc.h"
#include "lib/pods/podgen.h"

char kubescene_dir[] = "/tmp/graced-kubelet-XXXXXX";
char kubescene_ca[64], kubescene_token[64];

static enum meta_source source_of(const struct kubescene *s)
{
	return s->options.api_node ? META_API : META_KUBELET;
}

static void on_pod(void *userdata, const struct meta_pod *pod)
{
	struct kubescene *s = userdata;

	assert_int_equal(pod->source, source_of(s));
	if (pod->gone)
		strcpy(s->last_gone, pod->uid);
	s->statics += pod->is_static;
	*(pod->gone ? &s->gone : &s->pods) += 1;
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct kubescene *s = userdata;

	assert_int_equal(container->source, source_of(s));
	s->containers++;
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	static const char *const words[] = {"found", "missing", "failed", "shed"};
	struct kubescene *s = userdata;
	const char *again = s->ask_again;

	assert_int_equal(source, source_of(s));
	assert_true(result < LEN(words));
	buf_printf(&s->done, "%s %s\n", key, words[result]);
	s->n_done++;
	s->ask_again = NULL;
	if (again)
		source_kubelet_refresh(s->k, again);
}

void kubescene_write(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

void kubescene_open(struct kubescene *s, struct asker *asker)
{
	*s = (struct kubescene){.asker = asker};
	kubepeer_open(&s->peer);
	snprintf(s->url, sizeof(s->url), "https://127.0.0.1:%u", s->peer.port);
	kubescene_write(kubescene_token, KUBESCENE_TOKEN "\n", strlen(KUBESCENE_TOKEN "\n"));
	s->options = (struct source_kubelet_options){
		.url = s->url,
		.ca_file = kubescene_ca,
		.server_name = "localhost",
		.token_file = kubescene_token,
		.gap_ns = 1,
	};
}

void kubescene_close(struct kubescene *s)
{
	source_kubelet_free(s->k);
	kubepeer_close(&s->peer);
	buf_free(&s->answer);
	buf_free(&s->done);
}

void kubescene_play(struct kubescene *s, const char *name, const char *answer, size_t len,
		    bool stays)
{
	_cleanup_(cleanup_free) char *cert = NULL, *key = NULL;
	struct kubepeer_part part = {.answer = answer, .len = len, .stays = stays};
	char file[64];

	if (name) {
		snprintf(file, sizeof(file), "%s.crt", name);
		part.cert = cert = tlsc_read(file);
		snprintf(file, sizeof(file), "%s.key", name);
		part.key = key = tlsc_read(file);
	}
	kubepeer_play(&s->peer, &part);
}

void kubescene_play_body(struct kubescene *s, const char *body, size_t len, size_t missing)
{
	buf_reset(&s->answer);
	buf_printf(&s->answer, KUBESCENE_HEAD "Content-Length: %zu\r\n\r\n", len + missing);
	buf_add(&s->answer, body, len);
	kubescene_play(s, "server", s->answer.data, s->answer.len, false);
}

void kubescene_play_pods(struct kubescene *s, unsigned int first, unsigned int count,
			 size_t bytes_each)
{
	_cleanup_(buf_free) struct buf list = {};

	podgen_list(&list, first, count, bytes_each);
	kubescene_play_body(s, list.data, list.len, 0);
}

struct source_state kubescene_state(const struct kubescene *s)
{
	struct source_state state;

	source_kubelet_get_state(s->k, &state);
	return state;
}

void kubescene_turn(struct kubescene *s)
{
	unsigned int before = s->pods;

	asker_turn(s->asker);
	s->turns_with_pods += s->pods != before;
}

static void on_listed(void *userdata, enum meta_source source, uint64_t asked_ns)
{
	struct kubescene *s = userdata;

	assert_int_equal(source, source_of(s));
	assert_true(asked_ns > 0);
	s->lists++;
	s->gone_before_list = s->gone;
}

void kubescene_start(struct kubescene *s)
{
	struct source_sink sink = {s, on_pod, on_container, on_done, on_listed};
	struct source_kubelet_why why = {""};
	int r = source_kubelet_new(s->asker->event, s->asker->fetch, &s->options, &sink, &s->k,
				   &why);

	if (r < 0)
		fail_msg("%s", why.text);
}

struct source_state kubescene_first(struct kubescene *s)
{
	kubescene_start(s);
	while (kubescene_state(s).status == SOURCE_STARTING)
		kubescene_turn(s);
	return kubescene_state(s);
}

void kubescene_refresh(struct kubescene *s, const char *uid)
{
	unsigned int before = s->n_done;

	source_kubelet_refresh(s->k, uid);
	while (s->n_done == before)
		kubescene_turn(s);
}

void kubescene_trust(void)
{
	_cleanup_(cleanup_free) char *ca = tlsc_read("server.crt");

	kubescene_write(kubescene_ca, ca, strlen(ca));
}

int kubescene_set_up(void **state)
{
	if (!mkdtemp(kubescene_dir))
		return -1;
	snprintf(kubescene_ca, sizeof(kubescene_ca), "%s/ca.crt", kubescene_dir);
	snprintf(kubescene_token, sizeof(kubescene_token), "%s/token", kubescene_dir);
	return tlsc_set_up(state);
}

int kubescene_tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", kubescene_dir);
	return system(command) | tlsc_tear_down(state);
}
