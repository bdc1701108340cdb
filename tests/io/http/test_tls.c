// SPDX-License-Identifier: Apache-2.0
/* Claims about io/http/web with TLS, by clients of OpenSSL. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/net/tlsc.h"

/* "secret" */
static const struct web_user users[] = {
	{"joe", "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"}};

struct keys {
	char *cert, *key, *ca;
	struct web_tls tls;
};

static void keys_load(struct keys *ret, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.crt", name);
	ret->cert = tlsc_read(file);
	snprintf(file, sizeof(file), "%s.key", name);
	ret->key = tlsc_read(file);
	ret->ca = tlsc_read("ca.crt");
	ret->tls = (struct web_tls){.cert = ret->cert, .key = ret->key};
}

static void keys_done(struct keys *keys)
{
	free(keys->cert);
	free(keys->key);
	free(keys->ca);
}

static void open_site(struct site *site, const struct keys *keys)
{
	site_open(site, &(struct web_config){.tls = &keys->tls});
}

static void test_pages(void **state)
{
	_cleanup_(keys_done) struct keys keys = {};
	_cleanup_(buf_free) struct buf out = {};
	struct site site;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	open_site(&site, &keys);
	assert_int_equal(tlsc_curl(&site, "{}/", &out), 0);
	assert_string_equal(buf_str(&out), "200,1;");
	assert_int_equal(tlsc_curl(&site, "{}/metrics {}/nothing {}/moved {}/broken", &out), 0);
	/* Only curl's first output goes to /dev/null. */
	assert_non_null(strstr(buf_str(&out), "200,1;"));
	assert_non_null(strstr(buf_str(&out), "404,0;"));
	assert_non_null(strstr(buf_str(&out), "302,0;"));
	assert_non_null(strstr(buf_str(&out), "500,0;"));
	assert_int_equal(tlsc_curl(&site, "--compressed {}/metrics?[1-20]", &out), 0);
	for (int i = 0; i < 20; i++)
		assert_memory_equal(buf_str(&out) + i * 6, i ? "200,0;" : "200,1;", 6);
	assert_int_equal(tlsc_curl(&site, "--data x {}/", &out), 0);
	assert_string_equal(buf_str(&out), "405,1;");
	site_await_empty(&site);
	site_close(&site);
}

static void test_whole_page(void **state)
{
	_cleanup_(keys_done) struct keys keys = {};
	struct tlsc c;
	struct site site;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	open_site(&site, &keys);
	for (int i = 0; i < 3; i++) {
		tlsc_start(
			&site,
			i == 2 ? "curl -q -s --noproxy * --cacert server.crt --limit-rate 4M {}/each"
			       : "curl -q -s --noproxy * --cacert server.crt {}/each",
			&c);
		assert_int_equal(tlsc_await(&site, &c), 0);
		assert_true(site_is_page(&site, EXPO_TEXT, c.out.data, c.out.len));
		tlsc_done(&c);
	}
	site_close(&site);
}

static void test_versions(void **state)
{
	static const struct {
		const char *arguments;
		bool tls13;
		const char *speaks; /* NULL: nothing */
	} table[] = {
		{"-tls1_3", false, "New, TLSv1.3, Cipher is TLS_AES_"},
		{"-tls1_2", false, "New, TLSv1.2, Cipher is ECDHE-ECDSA-AES"},
		{"-tls1_1", false, NULL},
		{"-tls1", false, NULL},
		{"-tls1_3", true, "New, TLSv1.3, Cipher is TLS_AES_"},
		{"-tls1_2", true, NULL},
		{"-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA", false, NULL},
		{"-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA256", false, NULL},
		{"-tls1_3 -groups ffdhe2048", false, NULL},
		{"-tls1_3 -groups ffdhe8192:P-256", false, "New, TLSv1.3, Cipher is TLS_AES_"},
	};
	_cleanup_(keys_done) struct keys keys = {};

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(buf_free) struct buf command = {};
		const char *speaks = table[i].speaks ?: "New, (NONE), Cipher is (NONE)";
		struct site site;
		struct tlsc c;

		print_message("# %s\n", table[i].arguments);
		keys.tls.tls13 = table[i].tls13;
		open_site(&site, &keys);
		buf_printf(&command,
			   "openssl s_client -connect localhost:%u -cipher ALL:@SECLEVEL=0 %s",
			   site.port, table[i].arguments);
		tlsc_start(&site, buf_str(&command), &c);
		tlsc_await(&site, &c);
		/* A client that cannot say it itself would show nothing. */
		if (!strstr(buf_str(&c.out), speaks) || strstr(buf_str(&c.out), "written 0 bytes"))
			fail_msg("'%s' is not in: %s", speaks, buf_str(&c.out));
		tlsc_done(&c);
		site_close(&site);
	}
}

static void test_client_certificates(void **state)
{
	static const struct {
		const char *arguments;
		bool served;
	} table[] = {
		{"--cert client.crt --key client.key", true},
		{"--cert client.crt --key client.key --tls-max 1.2", true},
		{"", false},
		{"--tls-max 1.2", false},
		{"--cert stranger.crt --key stranger.key", false},
		{"--cert stranger.crt --key stranger.key --tls-max 1.2", false},
		{"--cert purpose.crt --key purpose.key", false},
		{"--cert server.crt --key server.key", false},
	};
	_cleanup_(keys_done) struct keys keys = {};
	struct site site;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	keys.tls.client_ca = keys.ca;
	open_site(&site, &keys);
	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(buf_free) struct buf arguments = {}, out = {};
		int status;

		print_message("# %s\n", table[i].arguments);
		buf_printf(&arguments, "%s {}/", table[i].arguments);
		site.rendered = 0;
		status = tlsc_curl(&site, buf_str(&arguments), &out);
		assert_string_equal(buf_str(&out), table[i].served ? "200,1;" : "000,1;");
		assert_int_equal(status == 0, table[i].served);
		assert_int_equal(site.rendered, table[i].served);
	}
	site_close(&site);
}

static void test_plain_http(void **state)
{
	static const char *const requests[] = {
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.0\r\n\r\n",
		"\r\n\r\n\r\n",
	};
	_cleanup_(keys_done) struct keys keys = {};
	struct site site;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	open_site(&site, &keys);
	for (size_t i = 0; i < LEN(requests); i++) {
		struct webc c;

		webc_open(&site, &c);
		webc_sends(&site, &c, requests[i]);
		webc_await_end(&site, &c);
		assert_null(memmem(buf_str(&c.got), c.got.len, "HTTP", 4));
		webc_close(&c);
	}
	assert_int_equal(site.rendered, 0);
	site_await_empty(&site);
	site_close(&site);
}

static void test_keys(void **state)
{
	_cleanup_(keys_done) struct keys keys = {}, other = {};
	struct web_why why;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	keys_load(&other, "client");
	{
		const struct {
			struct web_tls tls;
			const char *begins; /* NULL: right */
		} table[] = {
			{{keys.cert, keys.key, NULL, false}, NULL},
			{{keys.cert, keys.key, keys.ca, true}, NULL},
			{{keys.cert, other.key, NULL, false},
			 "cannot use cert_file with key_file: "},
			{{keys.key, keys.key, NULL, false}, "cannot use cert_file with key_file: "},
			{{keys.cert, keys.cert, NULL, false},
			 "cannot use cert_file with key_file: "},
			{{"", keys.key, NULL, false}, "cannot use cert_file with key_file: "},
			{{keys.cert, keys.key, "", false}, "cannot use client_ca_file: "},
			{{keys.cert, keys.key, keys.key, false}, "cannot use client_ca_file: "},
		};

		for (size_t i = 0; i < LEN(table); i++) {
			struct web_config config = {.tls = &table[i].tls};
			int r = web_check(&config, &why);

			print_message("# %zu: %s\n", i, r ? why.text : "right");
			assert_int_equal(r, table[i].begins ? -EINVAL : 0);
			if (r)
				assert_memory_equal(why.text, table[i].begins,
						    strlen(table[i].begins));
		}
	}
}

static void test_reload(void **state)
{
	_cleanup_(keys_done) struct keys keys = {}, other = {};
	_cleanup_(buf_free) struct buf out = {};
	struct web_config next = {};
	struct web_why why;
	struct site site;
	struct tlsc c;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	keys_load(&other, "other");
	open_site(&site, &keys);
	/* One that is there loses its connection, and comes again. */
	tlsc_start(&site, "curl -q -s --noproxy * -k --limit-rate 100 {}/", &c);
	while (site_stats(&site).requests[2] == 0)
		site_turn(&site);
	next.tls = &other.tls;
	assert_int_equal(web_reload(site.web, &next, &why), 0);
	assert_int_equal(site_stats(&site).connections, 0);
	tlsc_await(&site, &c);
	tlsc_done(&c);
	assert_int_equal(tlsc_curl(&site, "{}/", &out), 60); /* not the certificate it knows */
	assert_int_equal(tlsc_curl(&site, "--cacert other.crt {}/", &out), 0);
	other.tls.cert = keys.cert;
	assert_int_equal(web_reload(site.web, &next, &why), -EINVAL);
	assert_int_equal(tlsc_curl(&site, "--cacert other.crt {}/", &out), 0);
	next.users = users;
	next.n_users = 1;
	next.tls = &keys.tls;
	assert_int_equal(web_reload(site.web, &next, &why), 0);
	assert_int_equal(tlsc_curl(&site, "{}/ -u joe:secret", &out), 0);
	assert_string_equal(buf_str(&out), "200,1;");
	assert_int_equal(tlsc_curl(&site, "{}/ -u joe:wrong", &out), 0);
	assert_string_equal(buf_str(&out), "401,1;");
	next = (struct web_config){};
	assert_int_equal(web_reload(site.web, &next, &why), 0);
	assert_int_equal(webc_get(&site, "/", "", NULL), 200);
	site_close(&site);
}

/* What a client sends instead of a handshake, the second kind nothing. */
static const char *garbage(int i, size_t *ret_len)
{
	static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on";
	static const char noise[] = "\x00\xff\x17\x03\x03\xff\xff garbage";

	*ret_len = i % 3 == 0 ? sizeof(hello) - 1 : i % 3 == 1 ? 0 : sizeof(noise) - 1;
	return i % 3 == 0 ? hello : noise;
}

static void test_garbage(void **state)
{
	enum { CLIENTS = 1000, AT_ONCE = 50 };
	_cleanup_(keys_done) struct keys keys = {};
	_cleanup_(buf_free) struct buf out = {};
	struct web_config config = {.max_connections = 64, .tls_share = 1};
	struct webc clients[AT_ONCE] = {};
	unsigned int fds;
	struct site site;
	struct tlsc c;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	config.tls = &keys.tls;
	site_open(&site, &config);
	fds = site_count_fds();
	tlsc_start(&site,
		   "curl -q -s -m 50 --noproxy * --cacert server.crt --rate 10/s "
		   "-w %{http_code}; -o /dev/null {}/?[1-20]",
		   &c);
	for (int i = 0; i < CLIENTS; i++) {
		struct webc *client = &clients[i % AT_ONCE];
		const char *data;
		size_t len;

		if (i >= AT_ONCE)
			webc_close(client);
		webc_open(&site, client);
		data = garbage(i, &len);
		webc_send(&site, client, data, len);
		sd_event_run(site.event, 0);
	}
	assert_int_equal(tlsc_await(&site, &c), 0);
	for (int i = 0; i < 20; i++)
		assert_memory_equal(buf_str(&c.out) + i * 4, "200;", 4);
	tlsc_done(&c);
	for (int i = 0; i < AT_ONCE; i++)
		webc_close(&clients[i]);
	assert_int_equal(tlsc_curl(&site, "{}/", &out), 0);
	site_await_empty(&site);
	assert_int_equal(site_count_fds(), fds);
	assert_true(site_stats(&site).accepted > AT_ONCE);
	site_close(&site);
}

static void test_slow_handshake(void **state)
{
	_cleanup_(keys_done) struct keys keys = {};
	struct web_config config = {.receive_ns = 20000000};
	struct webc c;
	struct site site;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	config.tls = &keys.tls;
	site_open(&site, &config);
	webc_open(&site, &c);
	webc_send(&site, &c, "\x16\x03\x01\x02\x00\x01", 6);
	webc_await_end(&site, &c);
	assert_int_equal(site_stats(&site).expired, 1);
	webc_close(&c);
	site_await_empty(&site);
	site_close(&site);
}

static void test_credit(void **state)
{
	_cleanup_(keys_done) struct keys keys = {};
	struct web_config config = {.tls_share = 1u << 30};
	struct webc waiting[5];
	struct site site;
	struct tlsc c;

	if (!tlsc_can())
		return;
	keys_load(&keys, "server");
	config.tls = &keys.tls;
	site_open(&site, &config);
	tlsc_start(&site,
		   "curl -q -s -m 50 --noproxy * --cacert server.crt -w %{http_code}; "
		   "-o /dev/null {}/?[1-50]",
		   &c);
	while (site_stats(&site).accepted == 0)
		site_turn(&site);
	for (size_t i = 0; i < LEN(waiting); i++)
		webc_open(&site, &waiting[i]);
	assert_int_equal(tlsc_await(&site, &c), 0);
	assert_int_equal(c.out.len, 50 * strlen("200;"));
	assert_int_equal(site_stats(&site).requests[2], 50);
	tlsc_done(&c);
	site_settle(&site);
	assert_int_equal(site_stats(&site).accepted, 1);
	for (size_t i = 0; i < LEN(waiting); i++)
		webc_close(&waiting[i]);
	site_close(&site);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("pages are served, many over one connection", test_pages),
		CLAIM("a long page arrives whole, also slowly", test_whole_page),
		CLAIM("old versions and weak ciphers are refused", test_versions),
		CLAIM("a client certificate of the CA is required when one is named",
		      test_client_certificates),
		CLAIM("plain HTTP is refused", test_plain_http),
		CLAIM("keys that do not fit are reported before the start", test_keys),
		CLAIM("keys and users are changed while it runs", test_reload),
		CLAIM("a thousand garbage handshakes keep no other client from being served",
		      test_garbage),
		CLAIM("a slow handshake is ended", test_slow_handshake),
		CLAIM("without credit newcomers wait and who is there is served", test_credit),
	};

	return cmocka_run_group_tests_name("web_tls", tests, tlsc_set_up, tlsc_tear_down);
}
