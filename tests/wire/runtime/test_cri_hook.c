// SPDX-License-Identifier: Apache-2.0
/* Claims about preStop hooks as wire/runtime/cri reads them from a container's annotations, and
 * about the requests that run them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/cri/crienc.h"
#include "wire/runtime/cri.h"

#define KEY	    "io.kubernetes.container.preStopHandler"
#define BYTES(text) text, sizeof(text) - 1

static int read_bytes(const void *text, size_t len, struct cri_hook *ret)
{
	_cleanup_(buf_free) struct buf pair = {}, status = {}, answer = {};

	crienc_text(&status, 1, "c1");
	if (text) {
		crienc_text(&pair, 1, KEY);
		crienc_bytes(&pair, 2, text, len);
		crienc_message(&status, 13, &pair);
	}
	crienc_message(&answer, 1, &status);
	return cri_read_hook(answer.data, answer.len, ret);
}

static int read_text(const char *text, struct cri_hook *ret)
{
	return read_bytes(text, text ? strlen(text) : 0, ret);
}

static void a_hook_is_read_as_the_kubelet_notes_it(void **state)
{
	static const struct {
		const char *text;
		enum cri_hook_type type;
		size_t n;
		const char *args;
		size_t len;
		uint64_t sleep_s;
	} rows[] = {
		{NULL, CRI_HOOK_NONE, 0, "", 0, 0},
		{"{\"exec\":{\"command\":[\"/bin/sh\",\"-c\",\"sleep 5\"]}}", CRI_HOOK_EXEC, 3,
		 BYTES("/bin/sh\0-c\0sleep 5\0"), 0},
		{"{\"exec\":{\"command\":[\"a\",\"\",\"\\u00e4\\n\"]}}", CRI_HOOK_EXEC, 3,
		 BYTES("a\0\0\xc3\xa4\n\0"), 0},
		{"{\"sleep\":{\"seconds\":5}}", CRI_HOOK_SLEEP, 0, "", 0, 5},
		{"{\"sleep\":{\"seconds\":0}}", CRI_HOOK_SLEEP, 0, "", 0, 0},
		{"{\"httpGet\":{\"path\":\"/x\",\"port\":80,\"scheme\":\"HTTP\"}}", CRI_HOOK_HTTP,
		 0, "", 0, 0},
		{"{\"tcpSocket\":{\"port\":\"http\"}}", CRI_HOOK_TCP, 0, "", 0, 0},
		/* In the order in which the kubelet looks. */
		{"{\"sleep\":{\"seconds\":5},\"httpGet\":{},\"exec\":{\"command\":[\"a\"]}}",
		 CRI_HOOK_EXEC, 1, BYTES("a\0"), 0},
		{"{\"tcpSocket\":{},\"sleep\":{\"seconds\":5}}", CRI_HOOK_SLEEP, 0, "", 0, 5},
		{"{\"exec\":null,\"httpGet\":{}}", CRI_HOOK_HTTP, 0, "", 0, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(cri_hook_done) struct cri_hook hook = {};

		print_message("# %s\n", rows[i].text ? rows[i].text : "none");
		assert_int_equal(read_text(rows[i].text, &hook), 0);
		assert_int_equal(hook.type, rows[i].type);
		assert_int_equal(hook.n_args, rows[i].n);
		assert_int_equal(hook.args.len, rows[i].len);
		assert_memory_equal(buf_str(&hook.args), rows[i].args, rows[i].len);
		assert_int_equal(hook.sleep_s, rows[i].sleep_s);
	}
}

static void what_is_no_hook_is_refused(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} rows[] = {
		{BYTES("")},
		{BYTES("{}")},
		{BYTES("[]")},
		{BYTES("null")},
		{BYTES("\"exec\"")},
		{BYTES("{\"exec\":{}}")},
		{BYTES("{\"exec\":{\"command\":[]}}")},
		{BYTES("{\"exec\":{\"command\":\"/bin/true\"}}")},
		{BYTES("{\"exec\":{\"command\":[\"a\",1]}}")},
		{BYTES("{\"exec\":{\"command\":[\"a\",null]}}")},
		{BYTES("{\"exec\":{\"command\":[\"a\\u0000b\"]}}")},
		{BYTES("{\"exec\":{\"command\":[\"a\0b\"]}}")},
		{BYTES("{\"exec\":{\"command\":[\"\xff\"]}}")},
		{BYTES("{\"exec\":{\"command\":[\"a\"]}")},
		{BYTES("{\"exec\":{\"command\":[\"a\"]}} {}")},
		{BYTES("{\"sleep\":{\"seconds\":-1}}")},
		{BYTES("{\"sleep\":{\"seconds\":\"5\"}}")},
		{BYTES("{\"sleep\":{\"seconds\":1e300}}")},
		{BYTES("{\"sleep\":{\"seconds\":99999999999999999999}}")},
		{BYTES("{\"sleep\":{}}")},
	};
	struct cri_hook hook = {};

	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("# %s\n", rows[i].text);
		assert_int_equal(read_bytes(rows[i].text, rows[i].len, &hook), -EBADMSG);
		assert_int_equal(hook.type, CRI_HOOK_NONE);
		assert_null(hook.args.data);
	}
	assert_int_equal(cri_read_hook("\xff\xff", 2, &hook), -EBADMSG);
	assert_int_equal(cri_read_hook("", 0, &hook), -ENOENT);
}

static int read_many(size_t n_args, size_t len, struct cri_hook *ret)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_adds(&text, "{\"exec\":{\"command\":[");
	for (size_t i = 0; i < n_args; i++) {
		buf_adds(&text, i ? ",\"" : "\"");
		for (size_t j = 0; j < len; j++)
			buf_addc(&text, 'a');
		buf_addc(&text, '"');
	}
	buf_adds(&text, "]}}");
	return read_text(buf_str(&text), ret);
}

static void a_hook_is_bounded(void **state)
{
	_cleanup_(cri_hook_done) struct cri_hook many = {}, one = {};
	struct cri_hook none = {};
	_cleanup_(buf_free) struct buf deep = {};

	assert_int_equal(read_many(CRI_HOOK_ARGS_MAX, 1, &many), 0);
	assert_int_equal(many.n_args, CRI_HOOK_ARGS_MAX);
	assert_int_equal(read_many(CRI_HOOK_ARGS_MAX + 1, 1, &none), -E2BIG);
	assert_int_equal(
		read_many(1, CRI_HOOK_TEXT_MAX - strlen("{'exec':{'command':['']}}"), &one), 0);
	assert_int_equal(read_many(1, CRI_HOOK_TEXT_MAX - strlen("{'exec':{'command':['']}}") + 1,
				   &none),
			 -E2BIG);
	for (size_t i = 0; i < CRI_HOOK_TEXT_MAX; i++)
		buf_addc(&deep, '[');
	assert_int_equal(read_text(buf_str(&deep), &none), -EBADMSG);
	assert_int_equal(none.type, CRI_HOOK_NONE);
}

static void of_two_annotations_the_last_counts(void **state)
{
	_cleanup_(buf_free) struct buf status = {}, answer = {};
	_cleanup_(cri_hook_done) struct cri_hook hook = {};

	crienc_pair(&status, 13, KEY, "{\"httpGet\":{}}");
	crienc_pair(&status, 13, KEY "s", "{\"tcpSocket\":{}}");
	crienc_pair(&status, 13, KEY, "{\"sleep\":{\"seconds\":1}}");
	/* Labels are not the kubelet's word alone. */
	crienc_pair(&status, 12, KEY, "{\"tcpSocket\":{}}");
	crienc_message(&answer, 1, &status);
	assert_int_equal(cri_read_hook(answer.data, answer.len, &hook), 0);
	assert_int_equal(hook.type, CRI_HOOK_SLEEP);
}

static void a_command_is_requested_with_these_bytes(void **state)
{
	static const char want[] = "\0\0\0\0\x0c\x0a\x02"
				   "c1\x12\x01"
				   "a\x12\0\x12\x01"
				   "b";
	_cleanup_(buf_free) struct buf buf = {}, sandbox = {};
	char key[CRI_KEY_MAX + 1];

	assert_int_equal(cri_request_exec(&buf, "c1", "a\0\0b", 3), 0);
	assert_int_equal(buf.len, sizeof(want) - 1);
	assert_memory_equal(buf.data, want, buf.len);
	buf_reset(&buf);
	memset(key, 'k', sizeof(key));
	key[CRI_KEY_MAX] = '\0';
	assert_int_equal(cri_request_exec(&buf, key, "a", 1), -EINVAL);
	assert_int_equal(cri_request_exec(&buf, "", "a", 1), -EINVAL);
	assert_int_equal(cri_request_exec(&buf, "c1", "", 0), -EINVAL);
	assert_int_equal(buf.len, 0);
	assert_int_equal(cri_request(&sandbox, CRI_STOP_SANDBOX, "s1"), 0);
	assert_int_equal(sandbox.len, 9);
	assert_memory_equal(sandbox.data, "\0\0\0\0\x04\x0a\x02s1", 9);
	assert_int_equal(cri_request(&sandbox, CRI_STOP_SANDBOX, NULL), -EINVAL);
	assert_int_equal(cri_request(&sandbox, CRI_EXEC, "c1"), -EINVAL);
}

static void the_exit_code_is_read_and_not_the_output(void **state)
{
	static const int32_t codes[] = {0, 1, 137, -1};

	for (size_t i = 0; i < LEN(codes); i++) {
		_cleanup_(buf_free) struct buf answer = {};
		int32_t code = 99;

		crienc_bytes(&answer, 1, BYTES("out\0put"));
		crienc_text(&answer, 2, "errors");
		crienc_int(&answer, 3, codes[i]);
		assert_int_equal(cri_read_exec(answer.data, answer.len, &code), 0);
		assert_int_equal(code, codes[i]);
	}
	{
		int32_t code = 99;

		assert_int_equal(cri_read_exec("", 0, &code), 0);
		assert_int_equal(code, 0);
		assert_int_equal(cri_read_exec("\xff", 1, &code), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a hook is read as the kubelet notes it",
		      a_hook_is_read_as_the_kubelet_notes_it),
		CLAIM("what is no hook is refused", what_is_no_hook_is_refused),
		CLAIM("a hook is bounded in arguments and bytes", a_hook_is_bounded),
		CLAIM("of two annotations the last counts", of_two_annotations_the_last_counts),
		CLAIM("a command is requested with these bytes, a sandbox's stop, too",
		      a_command_is_requested_with_these_bytes),
		CLAIM("the exit code of a command is read, and not its output",
		      the_exit_code_is_read_and_not_the_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
