// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/control: each side reads what the other writes, and nothing else. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/control.h"

static void a_request_is_read_as_it_was_written(void **state)
{
	_cleanup_(buf_free) struct buf line = {};
	enum control_command command = CONTROL_COMMAND_COUNT;
	struct control_why why;

	control_add_request(&line, CONTROL_PODS);
	assert_string_equal(buf_str(&line), "{\"version\":1,\"command\":\"pods\"}\n");
	assert_int_equal(control_read_request(line.data, line.len - 1, &command, &why), 0);
	assert_int_equal(command, CONTROL_PODS);
}

static const struct {
	const char *line;
	int error;
	const char *why;
} bad_requests[] = {
	{"", -EBADMSG, "this is not the control protocol of graced"},
	{"GET / HTTP/1.1", -EBADMSG, "this is not the control protocol of graced"},
	{"[1]", -EBADMSG, "this is not the control protocol of graced"},
	{"{}", -EBADMSG, "this is not the control protocol of graced"},
	{"{\"version\":1,\"command\":\"pods\"", -EBADMSG,
	 "this is not the control protocol of graced"},
	{"{\"version\":1,\"version\":1,\"command\":\"pods\"}", -EBADMSG,
	 "this is not the control protocol of graced"},
	{"{\"version\":\"1\",\"command\":\"pods\"}", -EBADMSG,
	 "this is not the control protocol of graced"},
	{"{\"version\":2,\"command\":\"pods\"}", -EPROTONOSUPPORT,
	 "version 2 of the control protocol is not known here, only 1"},
	{"{\"version\":1}", -EBADMSG, "the request names no command"},
	{"{\"version\":1,\"command\":7}", -EBADMSG, "the request names no command"},
	{"{\"version\":1,\"command\":\"shutdown\"}", -EOPNOTSUPP,
	 "there is no command 'shutdown' here"},
	{"{\"version\":1,\"command\":\"pod\"}", -EOPNOTSUPP, "there is no command 'pod' here"},
};

static void what_is_no_request_is_refused_with_a_sentence(void **state)
{
	for (size_t i = 0; i < LEN(bad_requests); i++) {
		enum control_command command = CONTROL_COMMAND_COUNT;
		const char *line = bad_requests[i].line;
		struct control_why why;

		assert_int_equal(control_read_request(line, strlen(line), &command, &why),
				 bad_requests[i].error);
		assert_string_equal(why.text, bad_requests[i].why);
		assert_int_equal(command, CONTROL_COMMAND_COUNT);
	}
}

static void a_head_tells_how_many_lines_follow(void **state)
{
	_cleanup_(buf_free) struct buf line = {};
	struct control_why why;
	uint64_t lines = 7;

	control_add_head(&line, 500);
	assert_string_equal(buf_str(&line), "{\"version\":1,\"lines\":500}\n");
	assert_int_equal(control_read_head(line.data, line.len - 1, &lines, &why), 0);
	assert_int_equal(lines, 500);
}

static void an_error_arrives_as_it_was_said(void **state)
{
	static const char said[] = "there is no command 'a\"\n\xe2\x80\xae' here";
	_cleanup_(buf_free) struct buf line = {};
	struct control_why why;
	uint64_t lines = 7;

	control_add_error(&line, said);
	assert_ptr_equal(strchr(buf_str(&line), '\n'), line.data + line.len - 1);
	assert_int_equal(control_read_head(line.data, line.len - 1, &lines, &why), -EREMOTEIO);
	assert_string_equal(why.text, said);
	assert_int_equal(lines, 7);
}

static void a_head_of_other_bytes_is_refused(void **state)
{
	static const struct {
		const char *line;
		int error;
	} heads[] = {
		{"", -EBADMSG},
		{"{\"version\":1}", -EBADMSG},
		{"{\"version\":1,\"lines\":-1}", -EBADMSG},
		{"{\"version\":1,\"lines\":\"2\"}", -EBADMSG},
		{"{\"version\":1,\"lines\":99999999999999999999}", -EBADMSG},
		{"{\"version\":2,\"lines\":1}", -EPROTONOSUPPORT},
	};

	for (size_t i = 0; i < LEN(heads); i++) {
		struct control_why why;
		uint64_t lines;

		assert_int_equal(control_read_head(heads[i].line, strlen(heads[i].line), &lines,
						   &why),
				 heads[i].error);
	}
}

static void a_setting_is_found_among_others(void **state)
{
	_cleanup_(buf_free) struct buf lines = {};
	char value[16] = "before";

	control_add_setting(&lines, "a", "x\n\"y");
	control_add_setting(&lines, "b", "far too long for who asks");
	assert_true(control_find_setting(buf_str(&lines), "a", value, sizeof(value)));
	assert_string_equal(value, "x\n\"y");
	assert_false(control_find_setting(buf_str(&lines), "b", value, sizeof(value)));
	assert_false(control_find_setting(buf_str(&lines), "c", value, sizeof(value)));
	assert_false(control_find_setting("", "a", value, sizeof(value)));
	assert_false(control_find_setting("{\n[]\n{\"key\":\"a\",\"value\":1}", "a", value,
					  sizeof(value)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a request is read as it was written", a_request_is_read_as_it_was_written),
		CLAIM("what is no request is refused with a sentence",
		      what_is_no_request_is_refused_with_a_sentence),
		CLAIM("a head tells how many lines follow", a_head_tells_how_many_lines_follow),
		CLAIM("an error arrives as it was said", an_error_arrives_as_it_was_said),
		CLAIM("a head of other bytes is refused", a_head_of_other_bytes_is_refused),
		CLAIM("a setting is found among others, and in no other bytes",
		      a_setting_is_found_among_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
