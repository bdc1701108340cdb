// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/cri: the stop signal of an image's configuration, and the runtime's own
 * name. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/cri/crienc.h"
#include "wire/runtime/cri.h"

static int read_image(const char *json, size_t len, uint32_t *ret_signal)
{
	_cleanup_(buf_free) struct buf answer = {}, pair = {};

	crienc_text(&answer, 1, "\x0a\x01i");
	crienc_pair(&answer, 2, "other", "{\"imageSpec\":{\"config\":{\"StopSignal\":\"9\"}}}");
	crienc_text(&pair, 1, "info");
	crienc_bytes(&pair, 2, json, len);
	crienc_message(&answer, 2, &pair);
	return cri_read_image(answer.data, answer.len, ret_signal);
}

#define CONFIG(config) "{\"chainID\":\"x\",\"imageSpec\":{\"os\":\"linux\",\"config\":" config "}}"
#define STOP(signal)   CONFIG("{\"Cmd\":[\"x\"],\"StopSignal\":" signal ",\"User\":\"\"}")

static void an_image_tells_its_stop_signal(void **state)
{
	static const struct {
		const char *json;
		int r;
		uint32_t signal;
	} rows[] = {
		{STOP("\"SIGQUIT\""), 0, 3},
		{STOP("\"QUIT\""), 0, 3},
		{STOP("\"3\""), 0, 3},
		{STOP("\"SIGRTMIN+3\""), 0, 37},
		{STOP("\"RTMIN+3\""), 0, 37},
		{STOP("\"sigint\""), 0, 2},
		{STOP("\"\""), 0, 0},
		{CONFIG("{}"), 0, 0},
		{"{\"labels\":{\"a\":\"b\"},\"imageSpec\":{\"config\":{\"StopSignal\":\"1\"}}}", 0,
		 1},
		{"{\"imageSpec\":{\"history\":[{\"comment\":\"\\u0000\"}],\"config\":{}}}", 0, 0},
		{STOP("\"SIGNOPE\""), -EBADMSG, 0},
		{STOP("\"0\""), -EBADMSG, 0},
		{STOP("\"65\""), -EBADMSG, 0},
		{STOP("\"SIGQUIT\\u0000\""), -EBADMSG, 0},
		{STOP("\"\\u0000\""), -EBADMSG, 0},
		{STOP("3"), -EBADMSG, 0},
		{STOP("null"), -EBADMSG, 0},
		{STOP("[]"), -EBADMSG, 0},
		{CONFIG("[]"), -ENOENT, 0},
		{CONFIG("null"), -ENOENT, 0},
		{"{\"imageSpec\":[]}", -ENOENT, 0},
		{"{}", -ENOENT, 0},
		{"[]", -ENOENT, 0},
		{"{\"config\":{\"StopSignal\":\"1\"}}", -ENOENT, 0},
		{"", -EBADMSG, 0},
		{"{", -EBADMSG, 0},
		{STOP("\"SIGQUIT\"") "}", -EBADMSG, 0},
		{STOP("\"\xff\""), -EBADMSG, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		uint32_t signal = 99;

		print_message("# %s\n", rows[i].json);
		assert_int_equal(read_image(rows[i].json, strlen(rows[i].json), &signal),
				 rows[i].r);
		assert_int_equal(signal, rows[i].r ? 99 : rows[i].signal);
	}
}

static void an_image_that_is_not_there_or_says_nothing_is_no_entry(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int want;
	} rows[] = {
		{"", 0, -ENOENT},
		/* The image without information, and with it under other keys. */
		{"\x0a\x03\x0a\x01i", 5, -ENOENT},
		{"\x0a\x03\x0a\x01i\x12\x0a\x0a\x04infO\x12\x02{}", 17, -ENOENT},
		{"\x0a\x03\x0a\x01i\x12\x0b\x0a\x05info\0\x12\x02{}", 18, -ENOENT},
		{"\x0a\x03\x0a\x01i\x12\x0a\x0a\x04info\x12\x03{}", 17, -EBADMSG},
		{"\x0a\x05\x0a\x01i", 5, -EBADMSG},
	};
	_cleanup_(buf_free) struct buf without = {};
	uint32_t signal = 99;

	crienc_pair(&without, 2, "info", CONFIG("{}"));
	assert_int_equal(cri_read_image(without.data, without.len, &signal), -ENOENT);
	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(cri_read_image(rows[i].bytes, rows[i].len, &signal), rows[i].want);
	assert_int_equal(signal, 99);
}

/* A list of n times unit, as one member of the image's configuration. */
static int read_list(const char *unit, size_t n, uint32_t *ret_signal)
{
	_cleanup_(buf_free) struct buf json = {};

	buf_adds(&json, "{\"imageSpec\":{\"config\":{\"StopSignal\":\"1\"},\"history\":[{}");
	for (size_t i = 1; i < n; i++) {
		buf_addc(&json, ',');
		buf_adds(&json, unit);
	}
	buf_adds(&json, "]}}");
	return read_image(json.data, json.len, ret_signal);
}

static void a_configuration_of_very_many_values_is_not_read(void **state)
{
	_cleanup_(buf_free) struct buf deep = {};
	uint32_t signal = 99;

	assert_int_equal(read_list("{\"created\":\"x\",\"created_by\":\"y\"}", 3000, &signal), 0);
	assert_int_equal(signal, 1);
	assert_int_equal(read_list("{}", 8000, &signal), 0);
	assert_int_equal(read_list("{}", 100000, &signal), -EMSGSIZE);
	assert_int_equal(read_list("0", 100000, &signal), -EMSGSIZE);
	assert_int_equal(read_list("{\"a\":[]}", 80000, &signal), -EMSGSIZE);
	for (size_t i = 0; i < 16000; i++)
		buf_addc(&deep, '[');
	assert_int_equal(read_image(deep.data, deep.len, &signal), -EBADMSG);
}

static void a_runtime_tells_its_name_and_what_is_too_long_is_cut(void **state)
{
	_cleanup_(buf_free) struct buf answer = {};
	struct cri_runtime runtime;
	char text[100];

	crienc_text(&answer, 1, "0.1.0");
	crienc_text(&answer, 2, "containerd");
	crienc_text(&answer, 3, "1.6.20~ds1");
	crienc_text(&answer, 4, "v1");
	assert_int_equal(cri_read_version(answer.data, answer.len, &runtime), 0);
	assert_string_equal(runtime.name, "containerd");
	assert_string_equal(runtime.version, "1.6.20~ds1");
	assert_string_equal(runtime.api, "v1");

	buf_reset(&answer);
	memset(text, 'x', sizeof(text));
	memcpy(text + 62, "\xc3\xa9", 2);
	crienc_bytes(&answer, 2, text, sizeof(text));
	crienc_bytes(&answer, 3,
		     "1\0"
		     "2",
		     3);
	assert_int_equal(cri_read_version(answer.data, answer.len, &runtime), 0);
	assert_int_equal(strlen(runtime.name), 62);
	assert_string_equal(runtime.version, "");
	assert_string_equal(runtime.api, "");

	assert_int_equal(cri_read_version("", 0, &runtime), 0);
	assert_int_equal(cri_read_version("\x12\x05x", 3, &runtime), -EBADMSG);
	assert_int_equal(cri_read_version("<html>", 6, &runtime), -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an image tells its stop signal", an_image_tells_its_stop_signal),
		CLAIM("an image that is not there, or says nothing, is no entry",
		      an_image_that_is_not_there_or_says_nothing_is_no_entry),
		CLAIM("a configuration of very many values is not read",
		      a_configuration_of_very_many_values_is_not_read),
		CLAIM("a runtime tells its name, and what is too long is cut",
		      a_runtime_tells_its_name_and_what_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
