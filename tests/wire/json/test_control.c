// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/control: each side reads what the other writes, and nothing else. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/control.h"

static void a_request_is_read_as_it_was_written(void **state)
{
	static const struct {
		struct control_request request;
		const char *line;
	} rows[] = {
		{{.command = CONTROL_PODS}, "{\"version\":1,\"command\":\"pods\"}\n"},
		{{.command = CONTROL_SETTINGS}, "{\"version\":1,\"command\":\"settings\"}\n"},
		{{.command = CONTROL_SHUTDOWN_STATUS},
		 "{\"version\":1,\"command\":\"shutdown-status\"}\n"},
		{{.command = CONTROL_SHUTDOWN_BEGIN, .action = SHUTDOWN_SOFT_REBOOT},
		 "{\"version\":1,\"command\":\"shutdown-begin\",\"action\":\"soft-reboot\"}\n"},
		{{.command = CONTROL_SHUTDOWN_BEGIN},
		 "{\"version\":1,\"command\":\"shutdown-begin\",\"action\":\"unknown\"}\n"},
		{{.command = CONTROL_SHUTDOWN_CANCEL},
		 "{\"version\":1,\"command\":\"shutdown-cancel\"}\n"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf line = {};
		struct control_request request = {.command = CONTROL_COMMAND_COUNT};
		struct control_why why;

		control_add_request(&line, &rows[i].request);
		assert_string_equal(buf_str(&line), rows[i].line);
		assert_int_equal(control_read_request(line.data, line.len - 1, &request, &why), 0);
		assert_int_equal(request.command, rows[i].request.command);
		assert_int_equal(request.action, rows[i].request.action);
	}
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
	{"{\"version\":1,\"command\":\"shutdown-begin\",\"action\":\"explode\"}", -EBADMSG,
	 "the request names no action of a shutdown"},
	{"{\"version\":1,\"command\":\"shutdown-begin\",\"action\":2}", -EBADMSG,
	 "the request names no action of a shutdown"},
};

static void what_is_no_request_is_refused_with_a_sentence(void **state)
{
	for (size_t i = 0; i < LEN(bad_requests); i++) {
		struct control_request request = {.command = CONTROL_COMMAND_COUNT};
		const char *line = bad_requests[i].line;
		struct control_why why;

		assert_int_equal(control_read_request(line, strlen(line), &request, &why),
				 bad_requests[i].error);
		assert_string_equal(why.text, bad_requests[i].why);
		assert_int_equal(request.command, CONTROL_COMMAND_COUNT);
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

static void a_shutdown_is_read_as_it_was_written(void **state)
{
	const struct control_shutdown written = {
		.at_ns = 7000000000,
		.node = "n\"1",
		.mode = SHUTDOWN_ASSIST,
		.status = {.state = SHUTDOWN_GOING,
			   .action = SHUTDOWN_KEXEC,
			   .locked = true,
			   .going = true,
			   .announced_ns = 6000000000,
			   .deadline_ns = 9000000000,
			   .containers = 5,
			   .living = 4,
			   .stopping = 3,
			   .pods = 12,
			   .pods_stopped = 11,
			   .pods_ended = 10},
	};
	_cleanup_(buf_free) struct buf line = {};
	struct control_shutdown read;

	control_add_shutdown(&line, &written);
	assert_ptr_equal(strchr(buf_str(&line), '\n'), line.data + line.len - 1);
	assert_int_equal(control_read_shutdown(line.data, line.len - 1, &read), 0);
	assert_false(read.off);
	assert_int_equal(read.mode, written.mode);
	assert_int_equal(read.at_ns, written.at_ns);
	assert_memory_equal(&read.status, &written.status, sizeof(read.status));
}

static void shutdowns_that_are_not_followed_have_no_state(void **state)
{
	const struct control_shutdown off = {.off = true, .node = "n"};
	_cleanup_(buf_free) struct buf line = {};
	struct control_shutdown read;

	control_add_shutdown(&line, &off);
	assert_non_null(strstr(buf_str(&line), "\"mode\":\"off\",\"state\":null,"));
	assert_int_equal(control_read_shutdown(line.data, line.len - 1, &read), 0);
	assert_true(read.off);
}

static void what_is_no_shutdown_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"[]",
		"{\"type\":\"stop\",\"mode\":\"assist\",\"state\":\"going\"}",
		"{\"type\":\"shutdown_status\"}",
		"{\"type\":\"shutdown_status\",\"mode\":\"assist\",\"state\":\"gone\"}",
		"{\"type\":\"shutdown_status\",\"mode\":7,\"state\":\"going\"}",
	};

	for (size_t i = 0; i < LEN(lines); i++) {
		struct control_shutdown read;

		assert_int_equal(control_read_shutdown(lines[i], strlen(lines[i]), &read),
				 -EBADMSG);
	}
}

static void terms_are_read_as_they_were_written(void **state)
{
	struct control_follow follow = {.terms = "scope all\nroots /a \"b\"", .pods = true}, read;
	_cleanup_(buf_free) struct buf line = {};
	struct control_why why;

	control_add_follow(&line, &follow);
	assert_int_equal(control_read_follow(line.data, line.len - 1, &read, &why), 0);
	assert_string_equal(read.terms, follow.terms);
	assert_true(read.pods);
	buf_reset(&line);
	control_add_error(&line, "too many");
	assert_int_equal(control_read_follow(line.data, line.len, &read, &why), -EREMOTEIO);
	assert_string_equal(why.text, "too many");
}

static void other_terms_are_refused(void **state)
{
	_cleanup_(buf_free) struct buf longest = {};
	struct control_follow read;
	struct control_why why;

	buf_adds(&longest, "{\"version\":1,\"terms\":\"");
	while (longest.len < 2 * CONTROL_TERMS_MAX)
		buf_addc(&longest, 'x');
	buf_adds(&longest, "\"}");
	assert_int_equal(control_read_follow(longest.data, longest.len, &read, &why), -EBADMSG);
	assert_int_equal(control_read_follow("{\"version\":1}", 13, &read, &why), -EBADMSG);
	assert_int_equal(control_read_follow("hello", 5, &read, &why), -EBADMSG);
	assert_int_equal(control_read_follow("{\"version\":2,\"terms\":\"\"}", 24, &read, &why),
			 -EPROTONOSUPPORT);
}

static void what_is_asked_for_is_read_as_it_was_written(void **state)
{
	_cleanup_(buf_free) struct buf line = {};

	control_add_querying(&line, 3);
	assert_int_equal(control_read_querying(line.data, line.len), 3);
	assert_int_equal(control_read_querying("[]", 2), 0);
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
		CLAIM("a shutdown is read as it was written", a_shutdown_is_read_as_it_was_written),
		CLAIM("shutdowns that are not followed have no state",
		      shutdowns_that_are_not_followed_have_no_state),
		CLAIM("what is no shutdown is refused", what_is_no_shutdown_is_refused),
		CLAIM("a setting is found among others, and in no other bytes",
		      a_setting_is_found_among_others),
		CLAIM("terms are read as they were written", terms_are_read_as_they_were_written),
		CLAIM("terms that are too long, or of other bytes, are refused",
		      other_terms_are_refused),
		CLAIM("how many are asked for is read as it was written",
		      what_is_asked_for_is_read_as_it_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
