// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/kubelet: it knows when what it shows expires, whatever its files hold. */
#include "io/sources/kubelet/kubelet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/daemon/kubescene.h"
#include "lib/net/jwtgen.h"
#include "lib/net/tlsc.h"

#define ISSUED 1800000000
#define END    (ISSUED + 3600)
#define DAY    86400

/* Self-signed, CN=old, from 2020-01-01 to 2021-01-01. */
static const char old[] = "-----BEGIN CERTIFICATE-----\n"
			  "MIIBAjCBqgIBATAKBggqhkjOPQQDAjAOMQwwCgYDVQQDDANvbGQwHhcNMjAwMTAx\n"
			  "MDAwMDAwWhcNMjEwMTAxMDAwMDAwWjAOMQwwCgYDVQQDDANvbGQwWTATBgcqhkjO\n"
			  "PQIBBggqhkjOPQMBBwNCAARVJ5VsF+bDQm/xIhxfEhx8pepL8+sUDi2YcZTm0mkb\n"
			  "oHyEQpXjdcGVd41AXea9kYeL0Eqh/nxk39Prwg+5oVoJMAoGCCqGSM49BAMCA0cA\n"
			  "MEQCIADF6zl7vnTfre7pk36J7HcdESb+W46eRzDsaOAJMCz+AiAKRsVb8Bfr7YQr\n"
			  "LujbiIpyaROHPOdpj4AhVkaJV5xgRQ==\n"
			  "-----END CERTIFICATE-----\n";
#define OLD_END 1609459200

/* From 2020-01-01 to 9999-12-31T23:59:59Z, which stands for no end (RFC 5280, 4.1.2.5). */
static const char never[] = "-----BEGIN CERTIFICATE-----\n"
			    "MIIBCDCBsAIBATAKBggqhkjOPQQDAjAQMQ4wDAYDVQQDDAVuZXZlcjAgFw0yMDAx\n"
			    "MDEwMDAwMDBaGA85OTk5MTIzMTIzNTk1OVowEDEOMAwGA1UEAwwFbmV2ZXIwWTAT\n"
			    "BgcqhkjOPQIBBggqhkjOPQMBBwNCAARVJ5VsF+bDQm/xIhxfEhx8pepL8+sUDi2Y\n"
			    "cZTm0mkboHyEQpXjdcGVd41AXea9kYeL0Eqh/nxk39Prwg+5oVoJMAoGCCqGSM49\n"
			    "BAMCA0cAMEQCIAYcU82BNf0LqVEe7QRR6W3eH41VC6+eEBbnOUcWQweYAiBrzBBw\n"
			    "vVRJYPcvyVM80fqnLLLVKojptKMZyVuhxlT3Ag==\n"
			    "-----END CERTIFICATE-----\n";

/* From 2020-01-01 to 2300-01-01. */
static const char beyond[] = "-----BEGIN CERTIFICATE-----\n"
			     "MIIBDDCBsgIBATAKBggqhkjOPQQDAjARMQ8wDQYDVQQDDAZiZXlvbmQwIBcNMjAw\n"
			     "MTAxMDAwMDAwWhgPMjMwMDAxMDEwMDAwMDBaMBExDzANBgNVBAMMBmJleW9uZDBZ\n"
			     "MBMGByqGSM49AgEGCCqGSM49AwEHA0IABFUnlWwX5sNCb/EiHF8SHHyl6kvz6xQO\n"
			     "LZhxlObSaRugfIRCleN1wZV3jUBd5r2Rh4vQSqH+fGTf0+vCD7mhWgkwCgYIKoZI\n"
			     "zj0EAwIDSQAwRgIhAL6wwzJ4WWxsjDn/9b5K8HVYO3zOlPmbMpUkaxOiuE9SAiEA\n"
			     "1CmQ0Ock4nd0UeFmGGlNTkuVC5+9HFaVIL3TBhSN1nI=\n"
			     "-----END CERTIFICATE-----\n";

/* NULL: no such file is configured; "": the file is missing. */
static struct credential read_files(const char *token, size_t token_len, const char *client,
				    size_t client_len)
{
	struct source_kubelet_options options = {};
	struct credential ret = {CREDENTIAL_TOKEN, 1, 1};
	struct source_kubelet_why why = {""};
	char path[96];
	int r;

	snprintf(path, sizeof(path), "%s/client.pem", kubescene_dir);
	unlink(kubescene_token);
	unlink(path);
	options.token_file = token ? kubescene_token : NULL;
	options.client_file = client ? path : NULL;
	if (token_len)
		kubescene_write(kubescene_token, token, token_len);
	if (client_len)
		kubescene_write(path, client, client_len);
	r = source_kubelet_credential(&options, &ret, &why);
	assert_int_equal(r == 0, !why.text[0]);
	if ((token && !token_len) || (client && !client_len))
		assert_true(r == -ENOENT && strstr(why.text, kubescene_dir));
	unlink(path);
	return ret;
}

static void check_token(const char *text, size_t len, int64_t expires)
{
	struct credential got = read_files(text, len, NULL, 0);

	assert_int_equal(got.kind, expires ? CREDENTIAL_TOKEN : CREDENTIAL_NONE);
	assert_int_equal(got.expires_s, expires);
}

static void test_tokens(void **state)
{
	static char longest[65537];
	char token[JWTGEN_SIZE], text[JWTGEN_SIZE + 8];

	jwtgen_life(ISSUED, END, token);
	check_token(token, strlen(token), END);
	snprintf(text, sizeof(text), " \n%s\r\n", token);
	check_token(text, strlen(text), END);
	/* As much as is read, and more. */
	snprintf(longest, sizeof(longest), "%s", token);
	memset(longest + strlen(token), 'x', sizeof(longest) - strlen(token));
	check_token(longest, 65536, END);
	check_token(longest, 65537, 0);
	jwtgen("{\"exp\":99999999999999999999}", token);
	check_token(token, strlen(token), 0);
	jwtgen_life(ISSUED, -END, token);
	check_token(token, strlen(token), 0);
	check_token("opaque", 6, 0);
	check_token("", 0, 0);
	check_token("\0\xff\x7f"
		    "ELF",
		    6, 0);
	check_token(old, sizeof(old) - 1, 0);
}

static void check_client(const char *text, size_t len, int64_t expires)
{
	struct credential got = read_files(NULL, 0, text, len);

	assert_int_equal(got.kind, expires ? CREDENTIAL_CERTIFICATE : CREDENTIAL_NONE);
	assert_int_equal(got.expires_s, expires);
}

static void test_certificates(void **state)
{
	static char large[65536 + 1];
	char both[2048], token[JWTGEN_SIZE];
	struct credential got;

	check_client(old, sizeof(old) - 1, OLD_END);
	/* The kubelet writes the key behind it; others, before. */
	snprintf(both, sizeof(both),
		 "-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\n%s", old);
	check_client(both, strlen(both), OLD_END);
	/* The first one is shown, those behind it are of who issued it. */
	snprintf(both, sizeof(both), "%s%s", old, never);
	check_client(both, strlen(both), OLD_END);
	memset(large, '\n', sizeof(large));
	memcpy(large, old, sizeof(old) - 1);
	check_client(large, 65536, OLD_END);
	check_client(large, 65537, 0);
	check_client(never, sizeof(never) - 1, 0);
	check_client(beyond, sizeof(beyond) - 1, 0);
	check_client(old, sizeof(old) / 2, 0);
	check_client("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", 54, 0);
	check_client("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 59, 0);
	check_client("\0\xff\x7f"
		     "ELF",
		     6, 0);
	check_client("", 0, 0);
	jwtgen_life(ISSUED, END, token);
	got = read_files(token, strlen(token), old, sizeof(old) - 1);
	assert_int_equal(got.kind, CREDENTIAL_CERTIFICATE);
	assert_int_equal(got.expires_s, OLD_END);
	got = read_files(token, strlen(token), never, sizeof(never) - 1);
	assert_int_equal(got.kind, CREDENTIAL_TOKEN);
	/* One that is missing does not hide the other. */
	got = read_files(token, strlen(token), "", 0);
	assert_int_equal(got.expires_s, END);
	got = read_files("", 0, old, sizeof(old) - 1);
	assert_int_equal(got.expires_s, OLD_END);
}

static void test_fifo(void **state)
{
	struct source_kubelet_options options = {.token_file = kubescene_token,
						 .client_file = kubescene_token};
	struct source_kubelet_why why;
	struct credential got;

	unlink(kubescene_token);
	assert_int_equal(mkfifo(kubescene_token, 0600), 0);
	assert_int_equal(source_kubelet_credential(&options, &got, &why), -EINVAL);
	assert_int_equal(got.kind, CREDENTIAL_NONE);
	unlink(kubescene_token);
}

/* Each question reads it, whether it is answered or not. */
static void test_follows(void **state)
{
	char token[JWTGEN_SIZE];
	struct kubescene s;

	if (!tlsc_can())
		return;
	kubescene_trust();
	kubescene_open(&s, *state);
	jwtgen_life(ISSUED, END, token);
	kubescene_write(kubescene_token, token, strlen(token));
	kubescene_play_pods(&s, 0, 1, KUBESCENE_SMALL);
	assert_int_equal(kubescene_first(&s).credential.expires_s, END);
	jwtgen_life(ISSUED, END + DAY, token);
	kubescene_write(kubescene_token, token, strlen(token));
	kubescene_refresh(&s, "a");
	assert_int_equal(kubescene_state(&s).credential.expires_s, END + DAY);
	kubescene_write(kubescene_token, "opaque", 6);
	kubescene_refresh(&s, "a");
	assert_int_equal(kubescene_state(&s).status, SOURCE_UP);
	assert_int_equal(kubescene_state(&s).credential.kind, CREDENTIAL_NONE);
	kubescene_write(kubescene_token, token, strlen(token));
	kubescene_play(&s, "server", "", 0, false);
	kubescene_refresh(&s, "a");
	assert_int_equal(kubescene_state(&s).status, SOURCE_DOWN);
	assert_int_equal(kubescene_state(&s).credential.expires_s, END + DAY);
	kubescene_close(&s);
}

/* A certificate that is shown in a request, made by openssl for two days. */
static void test_shown(void **state)
{
	_cleanup_(cleanup_free) char *cert = NULL;
	struct credential got;
	time_t now = time(NULL);

	if (!tlsc_can())
		return;
	cert = tlsc_read("client.crt");
	got = read_files(NULL, 0, cert, strlen(cert));
	assert_true(got.expires_s > now + DAY && got.expires_s <= now + 2 * DAY);
	assert_int_equal(got.expires_s - got.warn_s, 2 * DAY / 10);
}

#define BOTH(sentence, function)                                        \
	{                                                               \
		sentence, function, asker_set_up, asker_tear_down, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH("a token's end is known by its claims, and by nothing else", test_tokens),
		BOTH("a certificate's end is known, and the earlier of two counts",
		     test_certificates),
		BOTH("a file that would block is not waited for", test_fifo),
		BOTH("each question reads the file, answered or not", test_follows),
		BOTH("a certificate of openssl's has the life that it was made for", test_shown),
	};

	return cmocka_run_group_tests_name("io/sources/kubelet and expiry", tests, kubescene_set_up,
					   kubescene_tear_down);
}
