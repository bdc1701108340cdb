// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/kubelet where it asks the API server for a node's pods. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/fetch/curl.h"
#include "lib/claim.h"
#include "lib/daemon/kubescene.h"
#include "lib/net/tlsc.h"
#include "lib/pods/podgen.h"

#define QUERY "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&resourceVersion=0"

static void open_api(struct kubescene *s, struct asker *asker)
{
	kubescene_trust();
	kubescene_open(s, asker);
	s->options.api_node = "node-1";
}

/* So many pods in a list with this metadata. */
static void play(struct kubescene *s, const char *metadata, unsigned int first, unsigned int n)
{
	_cleanup_(buf_free) struct buf list = {};

	buf_printf(&list, "{\"kind\":\"PodList\",\"metadata\":%s,\"items\":[", metadata);
	for (unsigned int i = 0; i < n; i++) {
		buf_adds(&list, i ? "," : "");
		podgen_pod(&list, first + i, KUBESCENE_SMALL);
	}
	buf_adds(&list, "]}");
	kubescene_play_body(s, list.data, list.len, 0);
}

static void test_asks(void **state)
{
	struct source_state got;
	struct kubescene s;
	char where[96];

	if (!tlsc_can())
		return;
	open_api(&s, *state);
	play(&s, "{\"resourceVersion\":\"5\"}", 0, 3);
	got = kubescene_first(&s);
	assert_int_equal(got.status, SOURCE_UP);
	assert_string_equal(got.text, "3 pods");
	snprintf(where, sizeof(where), "%s/api/v1/pods", s.url);
	assert_string_equal(got.where, where);
	assert_int_equal(s.pods, 3);
	assert_int_equal(s.lists, 1);
	assert_non_null(strstr(kubepeer_said(&s.peer), "GET " QUERY " HTTP/1.1\r\n"));
	assert_non_null(
		strstr(kubepeer_said(&s.peer), "Authorization: Bearer " KUBESCENE_TOKEN "\r\n"));
	kubescene_close(&s);
}

/* The file as the kubelet keeps it: the certificate, then its key. */
static void write_client(const char *path, const char *name)
{
	_cleanup_(cleanup_free) char *cert = NULL, *key = NULL;
	_cleanup_(buf_free) struct buf both = {};
	char file[64];

	snprintf(file, sizeof(file), "%s.crt", name);
	cert = tlsc_read(file);
	snprintf(file, sizeof(file), "%s.key", name);
	key = tlsc_read(file);
	buf_printf(&both, "%s%s", cert, key);
	kubescene_write(path, both.data, both.len);
}

/* client: the name of a certificate, or NULL for an invalid file. */
static struct source_state ask_as(struct asker *asker, const char *client)
{
	_cleanup_(cleanup_free) char *cert = tlsc_read("server.crt"),
				     *key = tlsc_read("server.key");
	_cleanup_(cleanup_free) char *ca = tlsc_read("ca.crt");
	static const char list[] =
		KUBESCENE_HEAD "Content-Length: 26\r\n\r\n{\"kind\":\"List\",\"items\":[]}";
	struct kubepeer_part part = {
		.cert = cert, .key = key, .client_ca = ca, .answer = list, .len = sizeof(list) - 1};
	struct source_state got;
	struct kubescene s;
	char path[96];

	open_api(&s, asker);
	snprintf(path, sizeof(path), "%s/client.pem", kubescene_dir);
	if (client)
		write_client(path, client);
	else
		kubescene_write(path, "none\n", 5);
	s.options.token_file = NULL;
	s.options.client_file = path;
	kubepeer_play(&s.peer, &part);
	got = kubescene_first(&s);
	print_message("# %s: %s\n", client ?: "none", got.text);
	if (!client)
		assert_non_null(strstr(got.text, path));
	assert_int_equal(kubepeer_asked(&s.peer), got.status == SOURCE_UP);
	kubescene_close(&s);
	unlink(path);
	return got;
}

/* The server stays connected: a question by the certificate that was in the file before would be
 * refused once that has expired. */
static void test_client_certificate_rotates(void **state)
{
	static const char list[] = "HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n"
				   "{\"kind\":\"List\",\"items\":[]}";
	static const char *const names[] = {"client", "client", "purpose", "purpose"};
	static const unsigned int connections[] = {1, 1, 2, 2};
	struct kubepeer_part part = {.answer = list, .len = sizeof(list) - 1, .stays = true};
	_cleanup_(cleanup_free) char *cert = NULL, *key = NULL, *ca = NULL;
	struct kubescene s;
	char path[96];

	if (!tlsc_can())
		return;
	part.cert = cert = tlsc_read("server.crt");
	part.key = key = tlsc_read("server.key");
	part.client_ca = ca = tlsc_read("ca.crt");
	open_api(&s, *state);
	snprintf(path, sizeof(path), "%s/client.pem", kubescene_dir);
	s.options.token_file = NULL;
	s.options.client_file = path;
	kubepeer_play(&s.peer, &part);
	for (unsigned int i = 0; i < LEN(names); i++) {
		write_client(path, names[i]);
		if (i == 0)
			assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
		else
			kubescene_refresh(&s, "a");
		assert_int_equal(kubescene_state(&s).status, SOURCE_UP);
		assert_int_equal(kubepeer_asked(&s.peer), i + 1);
		assert_int_equal(kubepeer_accepted(&s.peer), connections[i]);
	}
	kubescene_close(&s);
	unlink(path);
}

static void test_client_certificate(void **state)
{
	static const struct source_kubelet_options in_the_clear = {
		.url = "http://127.0.0.1:8001", .api_node = "n", .client_file = "/c"};
	struct source_kubelet_why why;

	if (!tlsc_can())
		return;
	assert_int_equal(ask_as(*state, "client").status, SOURCE_UP);
	assert_int_equal(ask_as(*state, "stranger").status, SOURCE_DOWN);
	assert_int_equal(ask_as(*state, NULL).status, SOURCE_DOWN);
	/* It is read again. */
	assert_int_equal(ask_as(*state, "client").status, SOURCE_UP);
	assert_int_equal(source_kubelet_judge(&in_the_clear, &why), -EINVAL);
	assert_non_null(strstr(why.text, "needs https"));
}

static __typeof__(curl_easy_setopt) *setopt;
static CURLoption refused;

/* As libcurl does when it has no memory for a copy. */
static CURLcode setopt_unless_refused(CURL *easy, CURLoption option, ...)
{
	CURLcode code;
	va_list ap;

	if (option == refused)
		return CURLE_OUT_OF_MEMORY;
	va_start(ap, option);
	if (option < CURLOPTTYPE_OBJECTPOINT)
		code = setopt(easy, option, va_arg(ap, long));
	else if (option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB)
		code = setopt(easy, option, va_arg(ap, curl_off_t));
	else
		code = setopt(easy, option, va_arg(ap, void *));
	va_end(ap);
	return code;
}

/* The server would answer without a certificate, too. */
static struct source_state ask_refused(struct asker *asker, CURLoption option)
{
	_cleanup_(cleanup_free) char *cert = tlsc_read("server.crt"),
				     *key = tlsc_read("server.key");
	static const char list[] =
		KUBESCENE_HEAD "Content-Length: 26\r\n\r\n{\"kind\":\"List\",\"items\":[]}";
	const struct kubepeer_part part = {
		.cert = cert, .key = key, .answer = list, .len = sizeof(list) - 1};
	struct source_state got;
	struct kubescene s;
	char path[96];

	open_api(&s, asker);
	snprintf(path, sizeof(path), "%s/client.pem", kubescene_dir);
	write_client(path, "client");
	s.options.token_file = NULL;
	s.options.client_file = path;
	kubepeer_play(&s.peer, &part);
	refused = option;
	got = kubescene_first(&s);
	print_message("# option %d: %s\n", option, got.text);
	assert_int_equal(kubepeer_asked(&s.peer), got.status == SOURCE_UP);
	assert_int_equal(kubepeer_accepted(&s.peer), got.status == SOURCE_UP);
	kubescene_close(&s);
	unlink(path);
	return got;
}

static void test_client_certificate_refused(void **state)
{
	static const CURLoption options[] = {CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB};
	struct asker *asker = *state;
	struct curl *curl;

	if (!tlsc_can())
		return;
	/* The client begins with the functions that it calls. */
	curl = (struct curl *)asker->fetch;
	setopt = curl->easy_setopt;
	curl->easy_setopt = setopt_unless_refused;
	for (size_t i = 0; i < LEN(options); i++) {
		struct source_state got = ask_refused(asker, options[i]);

		assert_int_equal(got.status, SOURCE_DOWN);
		assert_non_null(strstr(got.text, "cannot ask it: "));
	}
	assert_int_equal(ask_refused(asker, CURLOPT_LASTENTRY).status, SOURCE_UP);
}

/* An empty list is one: nothing is wanted on the node. */
static void test_gone(void **state)
{
	struct kubescene s;

	if (!tlsc_can())
		return;
	open_api(&s, *state);
	play(&s, "{\"resourceVersion\":\"5\"}", 0, 3);
	kubescene_first(&s);
	play(&s, "{\"resourceVersion\":\"5\"}", 1, 2);
	kubescene_refresh(&s, "a");
	assert_int_equal(s.gone, 1);
	play(&s, "{\"resourceVersion\":\"6\"}", 0, 0);
	kubescene_refresh(&s, "a");
	assert_int_equal(s.gone, 3);
	assert_int_equal(s.lists, 3);
	kubescene_close(&s);
}

static void test_older(void **state)
{
	struct source_state got;
	struct kubescene s;

	if (!tlsc_can())
		return;
	open_api(&s, *state);
	/* 20 digits are none that can be compared. */
	play(&s, "{\"resourceVersion\":\"18000000000000000001\"}", 0, 3);
	assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
	play(&s, "{\"resourceVersion\":\"1000\"}", 0, 3);
	kubescene_refresh(&s, "a");
	assert_int_equal(s.lists, 2);

	/* It does not know the third pod yet, and still has one that is over. */
	play(&s, "{\"resourceVersion\":\"999\"}", 1, 2);
	kubescene_refresh(&s, "a");
	got = kubescene_state(&s);
	assert_int_equal(got.status, SOURCE_DOWN);
	assert_string_equal(got.text, "its list is older than the one before");
	assert_int_equal(s.pods, 6);
	assert_int_equal(s.containers, 24);
	assert_int_equal(s.gone, 0);
	assert_int_equal(s.lists, 2);
	assert_non_null(strstr(buf_str(&s.done), "a failed\n"));

	/* Three times in a row, and it is how it is. */
	while (kubescene_state(&s).status == SOURCE_DOWN)
		kubescene_turn(&s);
	assert_int_equal(kubepeer_asked(&s.peer), 4);
	assert_int_equal(s.pods, 8);
	assert_int_equal(s.gone, 1);
	assert_int_equal(s.lists, 3);
	kubescene_close(&s);
}

/* What was not asked for: a part of a list. */
static void test_partial(void **state)
{
	static const char *const metadata[] = {
		"{\"resourceVersion\":\"5\",\"continue\":\"eyJ2IjoibWV0YSJ9\"}",
		"{\"continue\":\"x\",\"remainingItemCount\":1}",
		"{,}",
	};
	struct source_state got;

	if (!tlsc_can())
		return;
	for (size_t i = 0; i < LEN(metadata); i++) {
		struct kubescene s;

		open_api(&s, *state);
		play(&s, "{\"resourceVersion\":\"5\",\"continue\":\"\"}", 0, 3);
		assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
		play(&s, metadata[i], 0, 2);
		kubescene_refresh(&s, "a");
		got = kubescene_state(&s);
		assert_int_equal(got.status, SOURCE_DOWN);
		assert_string_equal(got.text, "its list goes on elsewhere (continue)");
		assert_int_equal(s.gone, 0);
		assert_int_equal(s.lists, 1);
		kubescene_close(&s);
	}
}

/* Neither what calls itself an image of a static pod, nor what calls itself one. */
static void test_static(void **state)
{
	static const char list[] =
		"{\"items\":[{\"metadata\":{\"uid\":\"94dc9966-1111-4222-8333-444444444444\","
		"\"annotations\":{\"kubernetes.io/config.mirror\":"
		"\"0123456789abcdef0123456789abcdef\",\"kubernetes.io/config.hash\":"
		"\"0123456789abcdef0123456789abcdef\"}}},"
		"{\"metadata\":{\"uid\":\"94dc9966-1111-4222-8333-444444444445\","
		"\"annotations\":{\"kubernetes.io/config.source\":\"file\"}}}]}";
	struct kubescene s;

	if (!tlsc_can())
		return;
	open_api(&s, *state);
	kubescene_play_body(&s, list, strlen(list), 0);
	assert_int_equal(kubescene_first(&s).status, SOURCE_UP);
	assert_int_equal(s.pods, 1);
	assert_int_equal(s.statics, 0);
	kubescene_close(&s);
}

static void test_refused(void **state)
{
	static const char answer[] =
		"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	struct source_state got;
	struct kubescene s;
	char text[160];

	if (!tlsc_can())
		return;
	open_api(&s, *state);
	kubescene_play(&s, "server", answer, strlen(answer), false);
	got = kubescene_first(&s);
	snprintf(text, sizeof(text),
		 "not allowed to see pods (403): needs list pods for the user that %s names",
		 kubescene_token);
	assert_string_equal(got.text, text);
	kubescene_close(&s);
}

/* Who is not vouched for hears neither the token nor of the node. */
static void test_trust(void **state)
{
	_cleanup_(cleanup_free) char *other = NULL;
	struct kubescene s;

	if (!tlsc_can())
		return;
	other = tlsc_read("other.crt");
	open_api(&s, *state);
	kubescene_write(kubescene_ca, other, strlen(other));
	play(&s, "{}", 0, 3);
	assert_int_equal(kubescene_first(&s).status, SOURCE_DOWN);
	assert_string_equal(kubepeer_said(&s.peer), "");
	assert_int_equal(s.pods, 0);
	kubescene_close(&s);
}

static void test_options(void **state)
{
	static char long_name[META_NAME_MAX + 1];
	static const struct {
		const char *url, *node, *ca, *token, *where; /* NULL: refused */
	} table[] = {
		{"https://10.96.0.1:443", "node-1", "ca", "t", "https://10.96.0.1:443/api/v1/pods"},
		{"https://10.96.0.1:443/", "n.example", "ca", "t",
		 "https://10.96.0.1:443/api/v1/pods"},
		{"https://[::1]:6443", "n", "ca", "t", "https://[::1]:6443/api/v1/pods"},
		{"https://rancher/k8s/clusters/c-1", "n", "ca", "t",
		 "https://rancher/k8s/clusters/c-1/api/v1/pods"},
		{"http://127.0.0.1:8001", "n", NULL, NULL, "http://127.0.0.1:8001/api/v1/pods"},
		/* Without verification, or in the clear. */
		{"https://10.96.0.1", "n", NULL, "t", NULL},
		{"http://10.96.0.1", "n", NULL, NULL, NULL},
		{"http://127.0.0.1:8001", "n", NULL, "t", NULL},
		{"https://10.96.0.1/?x=y", "n", "ca", "t", NULL},
		/* Names by which more would be asked than was meant. */
		{"https://10.96.0.1", "", "ca", "t", NULL},
		{"https://10.96.0.1", "n&limit=1", "ca", "t", NULL},
		{"https://10.96.0.1", "n%2Cspec", "ca", "t", NULL},
		{"https://10.96.0.1", "n\r\nX: y", "ca", "t", NULL},
		{"https://10.96.0.1", "Node", "ca", "t", NULL},
		{"https://10.96.0.1", long_name, "ca", "t", NULL},
	};
	struct asker *asker = *state;
	struct source_sink sink = {};

	memset(long_name, 'n', META_NAME_MAX);
	for (size_t i = 0; i < LEN(table); i++) {
		struct source_kubelet_options options = {.url = table[i].url,
							 .api_node = table[i].node,
							 .ca_file = table[i].ca,
							 .token_file = table[i].token};
		struct source_kubelet_why why = {""};
		struct source_kubelet *k = NULL;
		struct source_state got;
		int r = source_kubelet_new(asker->event, asker->fetch, &options, &sink, &k, &why);

		print_message("# %s %s: %s\n", table[i].url, table[i].node, why.text);
		assert_int_equal(r, table[i].where ? 0 : -EINVAL);
		if (!table[i].where)
			continue;
		source_kubelet_get_state(k, &got);
		assert_string_equal(got.where, table[i].where);
		source_kubelet_free(k);
	}
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("it is asked for the node's pods alone, out of its cache", test_asks),
		BOTH("a client certificate is shown in place of a token, as its file is now",
		     test_client_certificate),
		BOTH("without a client certificate that libcurl does not take nothing is asked",
		     test_client_certificate_refused),
		BOTH("a client certificate that is renewed is shown from the next question on",
		     test_client_certificate_rotates),
		BOTH("what it does not list is gone, were it the last", test_gone),
		BOTH("a list that is older is not taken, until it is the third", test_older),
		BOTH("a part of a list is refused aloud", test_partial),
		BOTH("a pod is not static for saying so", test_static),
		BOTH("who may not list pods reads what is needed", test_refused),
		BOTH("who is not vouched for hears nothing", test_trust),
		BOTH("what could be asked without trust, or of another node, is refused",
		     test_options),
	};

	return cmocka_run_group_tests_name("io/sources/kubelet", tests, kubescene_set_up,
					   kubescene_tear_down);
}
