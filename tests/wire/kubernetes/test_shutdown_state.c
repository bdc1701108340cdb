// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/kubelet_files: the kubelet's own file, and whatever else lies in
 * its place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "lib/claim.h"
#include "wire/kubernetes/kubelet_files.h"

#define START	    INT64_C(1635760800)
#define ZERO_ENDED  "\"endTime\":\"0001-01-01T00:00:00Z\"}"
#define START_FIELD "{\"startTime\":\"2021-11-01T10:00:00"

static void test_written(void **state)
{
	static const struct {
		struct shutstate state;
		const char *text;
	} want[] = {
		{{}, "{\"startTime\":\"0001-01-01T00:00:00Z\"," ZERO_ENDED},
		{{.started = true, .start_wall_ns = START * NS_PER_S},
		 START_FIELD "Z\"," ZERO_ENDED},
		{{.started = true, .start_wall_ns = START * NS_PER_S + 120000000},
		 START_FIELD ".12Z\"," ZERO_ENDED},
		{{true, true, START * NS_PER_S + 1, START * NS_PER_S + NS_PER_S},
		 START_FIELD ".000000001Z\",\"endTime\":\"2021-11-01T10:00:01Z\"}"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct shutstate again;

		assert_int_equal(shutstate_write(&out, &want[i].state), 0);
		assert_string_equal(buf_str(&out), want[i].text);
		assert_int_equal(shutstate_read(out.data, out.len, &again), 0);
		assert_int_equal(again.started, want[i].state.started);
		assert_int_equal(again.ended, want[i].state.ended);
		assert_int_equal(again.start_wall_ns, want[i].state.start_wall_ns);
		assert_int_equal(again.end_wall_ns, want[i].state.end_wall_ns);
	}
}

static void test_read(void **state)
{
	static const struct {
		const char *text;
		bool started, ended;
		int64_t start_s;
	} want[] = {
		{"{}", false, false, 0},
		{"{\"startTime\":null,\"more\":[1,{\"endTime\":3}]}", false, false, 0},
		{"{\"startTime\":\"2021-11-01T12:00:00.999999999+02:00\"}\n", true, false, START},
		{"{\"startTime\":\"1969-12-31T23:59:59.5Z\",\"endTime\":\"2021-11-01T10:00:00Z\"}",
		 true, true, -1},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct shutstate got;

		assert_int_equal(shutstate_read(want[i].text, strlen(want[i].text), &got), 0);
		assert_int_equal(got.started, want[i].started);
		assert_int_equal(got.ended, want[i].ended);
		assert_int_equal(shutstate_seconds(got.started, got.start_wall_ns),
				 want[i].start_s);
	}
	assert_int_equal(shutstate_read(NULL, 0, &(struct shutstate){}), 0);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"null",
		"[]",
		"7",
		"{",
		"{\"startTime\":7}",
		"{\"startTime\":\"\"}",
		"{\"startTime\":\"2021-11-01\"}",
		"{\"startTime\":\"2021-11-01T10:00:00Z\",\"endTime\":{}}",
		"{\"startTime\":\"9999-01-01T00:00:00Z\"}",
		"{\"startTime\":\"0001-01-01T00:00:01Z\"}",
		"{\"startTime\":\"2021-11-01T10:00:00Z\\u0000\"}",
		"{\"startTime\":\"2021-11-01T10:00:00Z\"} {}",
		"{\"startTime\":\"\xff\"}",
	};

	for (size_t i = 0; i < LEN(texts); i++) {
		struct shutstate got = {.started = true, .start_wall_ns = 7};

		if (shutstate_read(texts[i], strlen(texts[i]), &got) != -EBADMSG)
			fail_msg("%s is taken", texts[i]);
		assert_int_equal(got.start_wall_ns, 7);
	}
}

static void test_bounded(void **state)
{
	size_t size = SHUTSTATE_MAX_SIZE + 1;
	_cleanup_(cleanup_free) char *text = malloc(size);
	struct shutstate got;

	assert_non_null(text);
	memset(text, '[', size);
	assert_int_equal(shutstate_read(text, size, &got), -EFBIG);
	assert_int_equal(shutstate_read(text, size - 1, &got), -EBADMSG);
	memset(text, ' ', size);
	memcpy(text, "{}", 2);
	assert_int_equal(shutstate_read(text, size - 1, &got), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the file has the kubelet's form, and is read back as it was", test_written),
		CLAIM("what the kubelet would read is read, a missing file too", test_read),
		CLAIM("anything else is refused and changes nothing", test_refused),
		CLAIM("a file has a limit, and so has its nesting", test_bounded),
	};

	return cmocka_run_group_tests_name("wire/kubernetes/kubelet_files", tests, NULL, NULL);
}
