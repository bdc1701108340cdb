// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/cri: what is asked of a runtime, and gRPC's frames and trailers. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/grpc/message.h"
#include "wire/runtime/cri.h"

static void each_method_has_its_path_in_both_versions(void **state)
{
	static const struct {
		enum cri_version version;
		enum cri_method method;
		const char *want;
	} rows[] = {
		{CRI_V1, CRI_VERSION, "/runtime.v1.RuntimeService/Version"},
		{CRI_V1, CRI_SANDBOXES, "/runtime.v1.RuntimeService/ListPodSandbox"},
		{CRI_V1, CRI_CONTAINERS, "/runtime.v1.RuntimeService/ListContainers"},
		{CRI_V1, CRI_STATUS, "/runtime.v1.RuntimeService/ContainerStatus"},
		{CRI_V1, CRI_IMAGE_STATUS, "/runtime.v1.ImageService/ImageStatus"},
		{CRI_V1, CRI_EVENTS, "/runtime.v1.RuntimeService/GetContainerEvents"},
		{CRI_V1, CRI_STOP, "/runtime.v1.RuntimeService/StopContainer"},
		{CRI_V1, CRI_EXEC, "/runtime.v1.RuntimeService/ExecSync"},
		{CRI_V1, CRI_STOP_SANDBOX, "/runtime.v1.RuntimeService/StopPodSandbox"},
		{CRI_V1ALPHA2, CRI_VERSION, "/runtime.v1alpha2.RuntimeService/Version"},
		{CRI_V1ALPHA2, CRI_SANDBOXES, "/runtime.v1alpha2.RuntimeService/ListPodSandbox"},
		{CRI_V1ALPHA2, CRI_CONTAINERS, "/runtime.v1alpha2.RuntimeService/ListContainers"},
		{CRI_V1ALPHA2, CRI_STATUS, "/runtime.v1alpha2.RuntimeService/ContainerStatus"},
		{CRI_V1ALPHA2, CRI_IMAGE_STATUS, "/runtime.v1alpha2.ImageService/ImageStatus"},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		assert_string_equal(cri_method_path(rows[i].version, rows[i].method), rows[i].want);
	assert_null(cri_method_path(CRI_V1, CRI_METHOD_COUNT));
	assert_null(cri_method_path(CRI_VERSION_COUNT, CRI_VERSION));
	assert_null(cri_method_path(CRI_V1, (enum cri_method) - 1));
	assert_string_equal(cri_version_name(CRI_V1), "v1");
	assert_string_equal(cri_version_name(CRI_V1ALPHA2), "v1alpha2");
	assert_null(cri_version_name(CRI_VERSION_COUNT));
}

#define BYTES(text) text, sizeof(text) - 1

static void questions_are_these_bytes(void **state)
{
	static const struct {
		enum cri_method method;
		const char *key, *want;
		size_t len;
	} rows[] = {
		{CRI_VERSION, NULL, BYTES("\0\0\0\0\0")},
		{CRI_EVENTS, NULL, BYTES("\0\0\0\0\0")},
		{CRI_SANDBOXES, NULL, BYTES("\0\0\0\0\0")},
		{CRI_SANDBOXES, "s1", BYTES("\0\0\0\0\x06\x0a\x04\x0a\x02s1")},
		{CRI_CONTAINERS, NULL, BYTES("\0\0\0\0\0")},
		{CRI_CONTAINERS, "c1",
		 BYTES("\0\0\0\0\x06\x0a\x04\x0a\x02"
		       "c1")},
		{CRI_STATUS, "c1",
		 BYTES("\0\0\0\0\x04\x0a\x02"
		       "c1")},
		{CRI_IMAGE_STATUS, "i1", BYTES("\0\0\0\0\x08\x0a\x04\x0a\x02i1\x10\x01")},
	};
	_cleanup_(buf_free) struct buf buf = {};

	for (size_t i = 0; i < LEN(rows); i++) {
		buf_reset(&buf);
		buf_adds(&buf, "before");
		assert_int_equal(cri_request(&buf, rows[i].method, rows[i].key), 0);
		assert_int_equal(buf.len, 6 + rows[i].len);
		assert_memory_equal(buf.data, "before", 6);
		assert_memory_equal(buf.data + 6, rows[i].want, rows[i].len);
	}
}

static void a_stop_has_its_container_and_its_timeout(void **state)
{
	static const struct {
		uint64_t timeout_s;
		const char *want;
		size_t len;
	} rows[] = {
		{0, BYTES("\0\0\0\0\x04\x0a\x02"
			  "c1")},
		{30, BYTES("\0\0\0\0\x06\x0a\x02"
			   "c1\x10\x1e")},
		{300, BYTES("\0\0\0\0\x07\x0a\x02"
			    "c1\x10\xac\x02")},
		{INT64_MAX, BYTES("\0\0\0\0\x0e\x0a\x02"
				  "c1\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f")},
	};
	_cleanup_(buf_free) struct buf buf = {};
	char key[CRI_KEY_MAX + 1];

	for (size_t i = 0; i < LEN(rows); i++) {
		buf_reset(&buf);
		assert_int_equal(cri_request_stop(&buf, "c1", rows[i].timeout_s), 0);
		assert_int_equal(buf.len, rows[i].len);
		assert_memory_equal(buf.data, rows[i].want, rows[i].len);
	}
	buf_reset(&buf);
	memset(key, 'k', sizeof(key));
	key[CRI_KEY_MAX] = '\0';
	assert_int_equal(cri_request_stop(&buf, key, 1), -EINVAL);
	assert_int_equal(cri_request_stop(&buf, "", 1), -EINVAL);
	assert_int_equal(cri_request_stop(&buf, "c1", (uint64_t)INT64_MAX + 1), -EINVAL);
	assert_int_equal(buf.len, 0);
}

static void the_longest_question_announces_its_length(void **state)
{
	_cleanup_(buf_free) struct buf buf = {};
	char key[CRI_KEY_MAX + 1];

	memset(key, 'k', sizeof(key));
	key[CRI_KEY_MAX] = '\0';
	assert_int_equal(cri_request(&buf, CRI_STATUS, key), -EINVAL);
	key[CRI_KEY_MAX - 1] = '\0';
	assert_int_equal(cri_request(&buf, CRI_STATUS, key), 0);
	assert_int_equal(buf.len, 5 + 3 + 511);
	assert_memory_equal(buf.data, "\0\0\0\x02\x02\x0a\xff\x03k", 9);
}

static void a_question_without_its_key_or_with_a_wrong_one_is_refused(void **state)
{
	static const struct {
		enum cri_method method;
		const char *key;
	} rows[] = {
		{CRI_STATUS, NULL},	{CRI_STATUS, ""},	  {CRI_IMAGE_STATUS, NULL},
		{CRI_IMAGE_STATUS, ""}, {CRI_SANDBOXES, ""},	  {CRI_CONTAINERS, ""},
		{CRI_VERSION, "x"},	{CRI_EVENTS, "x"},	  {CRI_STOP, NULL},
		{CRI_STOP, "x"},	{CRI_METHOD_COUNT, NULL}, {(enum cri_method) - 1, NULL},
	};
	struct buf buf = {};

	for (size_t i = 0; i < LEN(rows); i++) {
		assert_int_equal(cri_request(&buf, rows[i].method, rows[i].key), -EINVAL);
		assert_int_equal(buf.len, 0);
	}
	buf.limit = 8;
	assert_int_equal(cri_request(&buf, CRI_STATUS, "0123456789"), -ENOBUFS);
	buf_free(&buf);
}

#define MAX 16

static void a_frame_is_whole_partial_or_refused(void **state)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
		int r;
		size_t consumed, payload_len;
	} rows[] = {
		{"nothing", BYTES(""), 0, 0, 0},
		{"a flag alone", BYTES("\0"), 0, 0, 0},
		{"most of a prefix", BYTES("\0\0\0\0"), 0, 0, 0},
		{"an empty message", BYTES("\0\0\0\0\0"), 0, 5, 0},
		{"a byte missing",
		 BYTES("\0\0\0\0\x03"
		       "ab"),
		 0, 0, 0},
		{"a message",
		 BYTES("\0\0\0\0\x03"
		       "abc"),
		 0, 8, 3},
		{"a message and more",
		 BYTES("\0\0\0\0\x03"
		       "abc\0\0"),
		 0, 8, 3},
		{"more that is wrong",
		 BYTES("\0\0\0\0\x03"
		       "abc\xff"),
		 0, 8, 3},
		{"the longest",
		 BYTES("\0\0\0\0\x10"
		       "0123456789abcdef"),
		 0, 21, 16},
		{"announced too long", BYTES("\0\0\0\0\x11"), -EMSGSIZE, 0, 0},
		{"too long and here",
		 BYTES("\0\0\0\0\x11"
		       "0123456789abcdefg"),
		 -EMSGSIZE, 0, 0},
		{"announced as 4 GiB", BYTES("\0\xff\xff\xff\xff"), -EMSGSIZE, 0, 0},
		{"announced as 16 MiB", BYTES("\0\1\0\0\0"), -EMSGSIZE, 0, 0},
		{"compressed", BYTES("\1"), -EBADMSG, 0, 0},
		{"compressed and whole", BYTES("\1\0\0\0\0"), -EBADMSG, 0, 0},
		{"flags of another kind", BYTES("\x80\0\0\0\0"), -EBADMSG, 0, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const void *payload = "?";
		size_t payload_len = 99, consumed = 99;
		int r = grpc_unframe(rows[i].bytes, rows[i].len, MAX, &payload, &payload_len,
				     &consumed);

		print_message("# %s\n", rows[i].what);
		assert_int_equal(r, rows[i].r);
		assert_int_equal(consumed, r ? 99 : rows[i].consumed);
		assert_int_equal(payload_len, r ? 99 : rows[i].payload_len);
		if (r == 0)
			assert_ptr_equal(payload, rows[i].consumed ? rows[i].bytes + 5 : NULL);
	}
}

static void a_stream_is_read_frame_by_frame_however_it_is_cut(void **state)
{
	static const char stream[] = "\0\0\0\0\1a\0\0\0\0\0\0\0\0\0\3bcd";
	static const char *const want[] = {"a", "", "bcd"};

	for (size_t cut = 0; cut < sizeof(stream); cut++) {
		size_t at = 0, n = 0, have = cut, payload_len, consumed;
		const void *payload;

		while (n < LEN(want)) {
			assert_int_equal(grpc_unframe(stream + at, have - at, MAX, &payload,
						      &payload_len, &consumed),
					 0);
			at += consumed;
			if (consumed == 0) {
				assert_true(have < sizeof(stream) - 1);
				have = sizeof(stream) - 1;
				continue;
			}
			assert_int_equal(payload_len, strlen(want[n]));
			assert_memory_equal(payload, want[n], payload_len);
			n++;
		}
		assert_int_equal(at, sizeof(stream) - 1);
	}
}

static void a_trailer_tells_the_status_or_nothing(void **state)
{
	static const struct {
		const char *text;
		int want;
	} rows[] = {
		{"0", GRPC_OK},
		{"5", GRPC_NOT_FOUND},
		{"12", GRPC_UNIMPLEMENTED},
		{" 14\r\n", GRPC_UNAVAILABLE},
		{"999", 999},
		{"", -EBADMSG},
		{"  ", -EBADMSG},
		{"1000", -EBADMSG},
		{"-1", -EBADMSG},
		{"+1", -EBADMSG},
		{"0x5", -EBADMSG},
		{"5 5", -EBADMSG},
		{"OK", -EBADMSG},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(grpc_read_status(rows[i].text, strlen(rows[i].text)),
				 rows[i].want);
	assert_int_equal(grpc_read_status("5\0", 2), -EBADMSG);
	assert_int_equal(grpc_read_status("55", 1), 5);
}

static void a_message_for_people_is_one_harmless_line(void **state)
{
	static const struct {
		const char *text;
		size_t len, size;
		const char *want;
	} rows[] = {
		{BYTES("no such container"), 64, "no such container"},
		{BYTES("caf%C3%A9 %e2%82%ac"), 64, "caf\xc3\xa9 \xe2\x82\xac"},
		{BYTES("100%25"), 64, "100%"},
		{BYTES("100%"), 64, "100%"},
		{BYTES("%4"), 64, "%4"},
		{BYTES("%zz%2"), 64, "%zz%2"},
		{BYTES("%g0%0g"), 64, "%g0%0g"},
		{BYTES("a%0Ab%1b[31m%00c"), 64, "a?b?[31m?c"},
		{BYTES("a\0b\xff%ff%C3"), 64, "a?b???"},
		{BYTES("%E2%80%AEexe"), 64, "?exe"},
		{BYTES("abcdef"), 4, "abc"},
		{BYTES("ab%C3%A9"), 4, "ab"},
		{BYTES("abc"), 1, ""},
		{BYTES(""), 1, ""},
	};
	char got[64];

	for (size_t i = 0; i < LEN(rows); i++) {
		memset(got, '!', sizeof(got));
		grpc_read_message(rows[i].text, rows[i].len, got, rows[i].size);
		assert_string_equal(got, rows[i].want);
	}
}

static void a_message_of_any_length_is_cut(void **state)
{
	char text[4096], got[1024];

	memset(text, 'x', sizeof(text));
	grpc_read_message(text, sizeof(text), got, sizeof(got));
	assert_int_equal(strlen(got), 512);
	grpc_read_message(text, sizeof(text), got, 160);
	assert_int_equal(strlen(got), 159);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each method has its path in both versions",
		      each_method_has_its_path_in_both_versions),
		CLAIM("questions are these bytes, behind what the buffer holds",
		      questions_are_these_bytes),
		CLAIM("a stop has its container and its timeout, whatever its length",
		      a_stop_has_its_container_and_its_timeout),
		CLAIM("the longest question announces its length",
		      the_longest_question_announces_its_length),
		CLAIM("a question without its key, or with a wrong one, is refused",
		      a_question_without_its_key_or_with_a_wrong_one_is_refused),
		CLAIM("a frame is whole, partial or refused", a_frame_is_whole_partial_or_refused),
		CLAIM("a stream is read frame by frame, however it is cut",
		      a_stream_is_read_frame_by_frame_however_it_is_cut),
		CLAIM("a trailer tells the status, or nothing",
		      a_trailer_tells_the_status_or_nothing),
		CLAIM("a message for people is one harmless line",
		      a_message_for_people_is_one_harmless_line),
		CLAIM("a message of any length is cut", a_message_of_any_length_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
