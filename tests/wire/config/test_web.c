// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/config/web: what a web configuration says, and what is wrong with one. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/config/web.h"

#define HASH "$2y$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234"

/* "tls cert=c key=k ca=a 13 user=name | line:problem", for comparison. */
static void show(struct buf *out, const struct webconfig *conf)
{
	if (conf->n_problems == 0) {
		buf_adds(out, conf->tls ? "tls" : "plain");
		if (conf->cert_file)
			buf_printf(out, " cert=%s", conf->cert_file);
		if (conf->key_file)
			buf_printf(out, " key=%s", conf->key_file);
		if (conf->client_ca_file)
			buf_printf(out, " ca=%s", conf->client_ca_file);
		if (conf->tls13)
			buf_adds(out, " 13");
		for (size_t i = 0; i < conf->n_users; i++)
			buf_printf(out, " %s=%u", conf->users[i].name,
				   webconfig_cost(conf->users[i].hash));
	}
	for (size_t i = 0; i < conf->n_problems; i++)
		buf_printf(out, "%s%u:%s", i ? " | " : "", conf->problems[i].line,
			   conf->problems[i].text);
}

static void parse(const char *data, size_t size, struct webconfig *ret)
{
	/* A buffer of exactly that size, so that a sanitizer sees what reads on. */
	char *own = test_malloc(size ? size : 1);

	memcpy(own, data, size);
	assert_int_equal(webconfig_parse(own, size, ret), 0);
	test_free(own);
}

struct reading {
	const char *yaml, *shows;
};

#define TLS "tls_server_config:\n  cert_file: c\n  key_file: k\n"

static const struct reading rights[] = {
	{"", "plain"},
	{"{}\n", "plain"},
	{"basic_auth_users: {}\n", "plain"},
	{TLS, "tls cert=c key=k"},
	{TLS "  min_version: TLS12\n", "tls cert=c key=k"},
	{TLS "  min_version: \"TLS13\"\n", "tls cert=c key=k 13"},
	{TLS "  client_auth_type: NoClientCert\n", "tls cert=c key=k"},
	{TLS "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: /a\n",
	 "tls cert=c key=k ca=/a"},
	{TLS "basic_auth_users:\n  prometheus: " HASH "\n", "tls cert=c key=k prometheus=10"},
	{"basic_auth_users:\n  j.doe: '" HASH "'\n  b: $2a$04$"
	 "abcdefghijklmnopqrstuu"
	 "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234\n",
	 "plain j.doe=10 b=4"},
};

static const struct reading wrongs[] = {
	{"5", "1:is a lone value; keys with values are wanted"},
	{"tls_server_config:\n", "1:tls_server_config: wants keys below it"},
	{"tls_server_config: {}\n", "1:tls_server_config: wants cert_file and key_file"},
	{"tls_server_config: {cert_file: c}\n",
	 "1:tls_server_config: wants cert_file and key_file"},
	{"tls_server_config: {cert_file: '', key_file: [k]}\n",
	 "1:tls_server_config.cert_file: wants the path of a file | "
	 "1:tls_server_config.key_file: wants one value"},
	{"tls_server_config.min_version: TLS13\n",
	 "1:tls_server_config: wants cert_file and key_file"},
	{TLS "  client_auth_type: RequireAndVerifyClientCert\n",
	 "4:tls_server_config.client_auth_type: wants client_ca_file, too: the CA that signs the "
	 "clients' certificates"},
	{TLS "  client_ca_file: a\n",
	 "4:tls_server_config.client_ca_file: is of no use without client_auth_type: "
	 "RequireAndVerifyClientCert"},
	{TLS "  client_ca_file: a\n  client_auth_type: NoClientCert\n",
	 "4:tls_server_config.client_ca_file: is of no use without client_auth_type: "
	 "RequireAndVerifyClientCert"},
	{TLS "  client_auth_type: VerifyClientCertIfGiven\n",
	 "4:tls_server_config.client_auth_type: wants NoClientCert or RequireAndVerifyClientCert: "
	 "a certificate that may be missing or false protects nothing"},
	{TLS "  min_version: TLS11\n",
	 "4:tls_server_config.min_version: wants TLS12 or TLS13: what is older is broken"},
	{TLS "  cipher_suites: [A]\n",
	 "4:tls_server_config.cipher_suites: cannot be chosen here, leave it out: only ciphers "
	 "without known faults are used"},
	{TLS "  client_allowed_sans: [a]\n",
	 "4:tls_server_config.client_allowed_sans: is not checked here: let client_ca_file be a "
	 "CA of the allowed clients alone"},
	{TLS "  cert: x\n", "4:tls_server_config.cert: is not read here: name a file by "
			    "cert_file, key_file or client_ca_file"},
	{"http_server_config:\n  http2: false\n",
	 "1:http_server_config: is not read here, leave it out: the server speaks HTTP/1.1 and "
	 "sets its own headers"},
	{"tls_server_conf:\n  cert_file: c\n",
	 "1:tls_server_conf: there is no such key (did you mean tls_server_config?)"},
	{"a: 1\n" TLS "  cert_fil: x\n",
	 "1:a: there is no such key | 5:tls_server_config.cert_fil: there is no such key (did you "
	 "mean tls_server_config.cert_file?)"},
	{TLS "  key_file: x\n",
	 "4:tls_server_config.key_file: is there twice, first in line 3; leave one"},
	{"basic_auth_users: [a]\n", "1:basic_auth_users: wants keys below it"},
	{"basic_auth_users:\n  'a:b': " HASH "\n",
	 "2:basic_auth_users.a:b: no client can send a name with a colon"},
	{"basic_auth_users:\n  a: $2y$15$"
	 "abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234\n",
	 "2:basic_auth_users.a: wants a hash of a cost from 4 to 14, not 15: 10 is usual"},
	{"basic_auth_users:\n  a: $2y$03$"
	 "abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234\n",
	 "2:basic_auth_users.a: wants a hash of a cost from 4 to 14, not 3: 10 is usual"},
};

static void compare(const struct reading *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_(webconfig_done) struct webconfig conf = {};
		_cleanup_(buf_free) struct buf shown = {};

		print_message("# reading %zu\n", i);
		parse(table[i].yaml, strlen(table[i].yaml), &conf);
		show(&shown, &conf);
		assert_string_equal(buf_str(&shown), table[i].shows);
	}
}

static void test_rights(void **state)
{
	compare(rights, LEN(rights));
}

static void test_wrongs(void **state)
{
	compare(wrongs, LEN(wrongs));
}

static void test_no_hashes(void **state)
{
	static const char *const values[] = {
		"secret",
		"''",
		"~",
		"[secret]",
		"{secret: secret}",
		"$1$secret$abcdefghijklmnopqrstu.",
		"$2x$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYsecret",
		"$2y$1x$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYsecret",
		"$2y$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXY-secret",
		"$2y$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYsecrett",
	};

	for (size_t i = 0; i < LEN(values); i++) {
		_cleanup_(webconfig_done) struct webconfig conf = {};
		_cleanup_(buf_free) struct buf yaml = {};

		print_message("# %s\n", values[i]);
		buf_printf(&yaml, "basic_auth_users:\n  joe: %s\n", values[i]);
		parse(buf_str(&yaml), yaml.len, &conf);
		assert_int_equal(conf.n_problems, 1);
		assert_int_equal(conf.problems[0].line, 2);
		assert_non_null(
			strstr(conf.problems[0].text, "basic_auth_users.joe: wants a bcrypt"));
		assert_null(strstr(conf.problems[0].text, "secret"));
	}
}

static void test_bounds(void **state)
{
	_cleanup_(webconfig_done) struct webconfig users = {}, wrong = {};
	_cleanup_(buf_free) struct buf yaml = {};

	buf_adds(&yaml, "basic_auth_users:\n");
	for (int i = 0; i < WEBCONFIG_USERS_MAX + 1; i++)
		buf_printf(&yaml, "  u%d: %s\n", i, HASH);
	parse(buf_str(&yaml), yaml.len, &users);
	assert_int_equal(users.n_users, WEBCONFIG_USERS_MAX);
	assert_int_equal(users.n_problems, 1);
	assert_int_equal(users.problems[0].line, WEBCONFIG_USERS_MAX + 2);
	buf_reset(&yaml);
	for (int i = 0; i < 500; i++)
		buf_printf(&yaml, "zz%d: 1\n", i);
	parse(buf_str(&yaml), yaml.len, &wrong);
	assert_int_equal(wrong.n_problems, WEBCONFIG_PROBLEMS_MAX);
	assert_int_equal(wrong.n_problems + wrong.n_unsaid, 500);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("files, versions, client certificates and users are read", test_rights),
		CLAIM("whatever graced does not do is an error with line and key", test_wrongs),
		CLAIM("what is no hash may be a password and is not repeated", test_no_hashes),
		CLAIM("users and problems have limits", test_bounds),
	};

	return cmocka_run_group_tests_name("webconfig", tests, NULL, NULL);
}
