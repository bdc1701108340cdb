// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/cri: what a status tells beyond a list, and what events tell. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/cri/criparts.h"

#define ID64	    CRIPARTS_ID
#define UID	    CRIPARTS_UID
#define SHA	    CRIPARTS_SHA
#define POD	    CRIPARTS_POD
#define CTR	    CRIPARTS_CTR
#define BYTES(text) text, sizeof(text) - 1

static void an_exited_container_tells_how_it_ended(void **state)
{
	static const struct {
		int state;
		int64_t finished;
		int code;
		bool known;
		int64_t want_finished;
	} rows[] = {
		{2, 1700000000123456789, 137, true, 1700000000123456789},
		{2, 1700000000123456789, 0, true, 1700000000123456789},
		{2, 1700000000123456789, -1, true, 1700000000123456789},
		{2, -62135596800000000, 1, true, 0},
		{2, 0, 1, true, 0},
		{1, 1700000000123456789, 137, false, 0},
		{3, 1700000000123456789, 137, false, 0},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf buf = {};

		crienc_text(&buf, 1, "c1");
		crienc_int(&buf, 3, rows[i].state);
		crienc_int(&buf, 6, rows[i].finished);
		crienc_int(&buf, 7, rows[i].code);
		crienc_text(&buf, 10, "OOMKilled");
		criparts_read(&buf, CRIPARTS_STATUS, NULL, &item);
		assert_int_equal(item.container.known, rows[i].known ? META_CTR_EXIT : 0);
		assert_int_equal(item.container.exit_code, rows[i].known ? rows[i].code : 0);
		assert_true(item.container.finished_wall_ns == rows[i].want_finished);
		assert_string_equal(item.container.exit_reason, rows[i].known ? "OOMKilled" : "");
	}
}

static void the_stop_signal_of_a_status_is_a_number_on_linux(void **state)
{
	static const uint8_t want[] = {
		0,  6,	14, 7,	17, 17, 18, 8,	1,  4,	2,  29, 6,  9,	13, 29, 27,
		30, 3,	11, 16, 19, 31, 15, 5,	20, 21, 22, 23, 10, 12, 26, 28, 24,
		25, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
		50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 0,
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(want) + 3; i++) {
		_cleanup_(buf_free) struct buf buf = {};

		crienc_text(&buf, 1, "c1");
		crienc_int(&buf, 19,
			   i < LEN(want) ? (int64_t)i : (int64_t)(i - LEN(want)) * -1 - 1);
		criparts_read(&buf, CRIPARTS_STATUS, NULL, &item);
		assert_int_equal(item.container.stop_signal, i < LEN(want) ? want[i] : 0);
	}
}

static void an_answer_without_a_status_has_none(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int want;
	} rows[] = {
		{"", 0, -ENOENT},
		{"\x12\x02\x0a", 3, -EBADMSG},
		{"\x12\x00", 2, -ENOENT},
		{"\x0a\x00", 2, -EBADMSG},
		{"\x0a\x03\x0a\x01/", 5, -EBADMSG},
		{"\x0a\x03\x0a\x01x", 5, 0},
		{"\x08\x01", 2, -EBADMSG},
		{"\x0a\x03\x0a\x02x", 5, -EBADMSG},
	};
	struct cri_item item;

	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(cri_read_status(rows[i].bytes, rows[i].len, &item), rows[i].want);
	assert_int_equal(cri_read_status(NULL, 0, &item), -ENOENT);
}

static const struct criparts_container nginx = {
	.id = ID64,
	.sandbox_id = "sandbox-1",
	.name = "nginx",
	.attempt = 7,
	.state = 1,
	.image = "docker.io/library/nginx:1.25",
	.image_ref = "docker.io/library/nginx@" SHA,
	.labels = {{CTR "name", "nginx"},
		   {POD "name", "web-0"},
		   {POD "namespace", "shop"},
		   {POD "uid", UID}},
	.annotations = {{CTR "hash", "b0012cb9"}, {POD "terminationGracePeriod", "30"}},
};

static void an_event_tells_of_a_container_with_its_sandbox(void **state)
{
	static const struct criparts_sandbox s = {
		.id = "s1", .name = "web-5d78c9869d-x2x4z", .uid = UID};
	struct criparts_container other = nginx;
	_cleanup_(buf_free) struct buf answer = {}, inner = {};
	struct cri_event event;

	other.id = "other";
	crienc_text(&answer, 1, ID64);
	crienc_int(&answer, 2, CRI_EVENT_STOPPED);
	crienc_int(&answer, 3, 1700000000000000001);
	criparts_write_container(&inner, CRIPARTS_STATUS, &other);
	crienc_message(&answer, 5, &inner);
	criparts_write_container(&inner, CRIPARTS_STATUS, &nginx);
	crienc_message(&answer, 5, &inner);
	criparts_write_sandbox(&inner, CRIPARTS_EVENT_SANDBOX, &s);
	crienc_message(&answer, 4, &inner);
	assert_int_equal(cri_read_event(answer.data, answer.len, NULL, &event), 0);
	assert_string_equal(event.id, ID64);
	assert_int_equal(event.type, CRI_EVENT_STOPPED);
	assert_true(event.wall_ns == 1700000000000000001);
	assert_true(event.has_container);
	assert_string_equal(event.container.container.id, ID64);
	assert_string_equal(event.container.container.name, "nginx");
	assert_string_equal(event.container.sandbox_id, "s1");
	assert_true(event.has_sandbox);
	assert_string_equal(event.sandbox.pod.workload, "web");
}

static void an_event_may_tell_no_more_than_what_and_whom(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int r, type;
	} rows[] = {
		{BYTES("\x0a\x01x"), 0, CRI_EVENT_CREATED},
		{BYTES("\x0a\x01x\x10\x01"), 0, CRI_EVENT_STARTED},
		{BYTES("\x0a\x01x\x10\x02"), 0, CRI_EVENT_STOPPED},
		{BYTES("\x0a\x01x\x10\x03"), 0, CRI_EVENT_DELETED},
		{BYTES("\x0a\x01x\x10\x04"), -EBADMSG, 0},
		{BYTES("\x0a\x01x\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), -EBADMSG, 0},
		{BYTES("\x10\x02"), -EBADMSG, 0},
		{BYTES(""), -EBADMSG, 0},
		{BYTES("\x0a\x01/\x10\x02"), -EBADMSG, 0},
		{BYTES("\x0a\x01x\x2a\x03\x0a\x01y"), 0, CRI_EVENT_CREATED},
		{BYTES("\x0a\x01x\x2a\x03\x0a\x02y"), -EBADMSG, 0},
		{BYTES("\x0a\x01x\x22\x03\x0a\x02y"), -EBADMSG, 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct cri_event event;
		int r = cri_read_event(rows[i].bytes, rows[i].len, NULL, &event);

		print_message("# %zu\n", i);
		assert_int_equal(r, rows[i].r);
		if (r < 0)
			continue;
		assert_string_equal(event.id, "x");
		assert_int_equal(event.type, rows[i].type);
		assert_int_equal(event.wall_ns, 0);
		assert_false(event.has_container || event.has_sandbox);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an exited container tells how it ended",
		      an_exited_container_tells_how_it_ended),
		CLAIM("the stop signal of a status is a number on Linux",
		      the_stop_signal_of_a_status_is_a_number_on_linux),
		CLAIM("an answer without a status has none", an_answer_without_a_status_has_none),
		CLAIM("an event tells of a container with its sandbox",
		      an_event_tells_of_a_container_with_its_sandbox),
		CLAIM("an event may tell no more than what and whom",
		      an_event_may_tell_no_more_than_what_and_whom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
