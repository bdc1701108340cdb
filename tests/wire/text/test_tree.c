// SPDX-License-Identifier: Apache-2.0
// The trees below an audit's table, and as JSON.
#include "base/buf.h"
#include "base/cleanup.h"
#include "core/stop/audit_record.h"
#include "core/tree/tree.h"
#include "lib/claim.h"
#include "wire/json/audit.h"
#include "wire/text/audit.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>

static struct tree_process processes[] = {
	{.process = {.pid = 4242, .ns_pid = 1, .comm = "tini"},
	 .exe = "tini",
	 .parent = TREE_NONE,
	 .fate = TREE_RECEIVES,
	 .reason = TREE_HANDLER,
	 .asked = true,
	 .signal = SIGTERM,
	 .from = TREE_NONE,
	 .by = TREE_NONE,
	 .wraps = true,
	 .wrapper = {.name = "tini", .pass = WRAPPER_CHILD},
	 .waited = TRI_TRUE},
	{.process = {.pid = 4250, .ns_pid = 7, .comm = "sh"},
	 .exe = "dash",
	 .parent = 0,
	 .depth = 1,
	 .fate = TREE_RECEIVES,
	 .reason = TREE_DEFAULT,
	 .asked = true,
	 .signal = SIGTERM,
	 .from = 0,
	 .by = TREE_NONE,
	 .waited = TRI_TRUE},
	{.process = {.pid = 4251, .ns_pid = 8, .comm = "no\nde"},
	 .exe = "node",
	 .parent = 1,
	 .depth = 2,
	 .fate = TREE_CUT,
	 .reason = TREE_UNASKED,
	 .from = TREE_NONE,
	 .by = 1,
	 .waited = TRI_FALSE},
};

static const struct tree tree = {.list = processes,
				 .n = LEN(processes),
				 .others = 2,
				 .signal = SIGTERM,
				 .shielded = true};

static struct audit_record record(void)
{
	return (struct audit_record){
		.container = {.known = true, .name = "web", .cgroup = "/docker/x"},
		.seen = true,
		.facts = {.signal = SIGTERM},
		.audit = {AUDIT_HEARS, AUDIT_WAITER, 0},
		.tree = &tree,
	};
}

static void each_process_is_a_line_below_its_parent(void **state)
{
	_cleanup_(buf_free) struct buf out = {}, narrow = {};
	struct audit_record r[] = {record(), record()};

	r[0].tree = NULL;
	assert_int_equal(tree_blocks(&out, r, LEN(r), 0), 0);
	assert_string_equal(
		buf_str(&out),
		"\nweb: SIGTERM\n"
		"     4242 tini[1]            receives it and passes it on to its child\n"
		"     4250 \\_ sh[7]           dies of SIGTERM\n"
		"     4251    \\_ no\\x0ade[8]  gets only SIGKILL: sh[7] dies of it and passes nothing "
		"on to it\n"
		"      ... and 2 more\n");
	assert_int_equal(tree_blocks(&narrow, r, LEN(r), 60), 0);
	for (char *line = strtok((char *)buf_str(&narrow), "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 60);
}

static void each_process_is_an_object(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = record();
	json_t *json, *list, *last;

	assert_int_equal(audit_json(&out, &r), 0);
	json = json_loads(buf_str(&out), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	list = json_object_get(json, "processes");
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(json_integer_value(json_object_get(json, "processes_other")), 2);
	last = json_array_get(list, 2);
	assert_int_equal(json_integer_value(json_object_get(last, "parent_ns_pid")), 7);
	assert_string_equal(json_string_value(json_object_get(last, "fate")), "cut");
	assert_string_equal(json_string_value(json_object_get(last, "reason")), "not-passed-on");
	assert_true(json_is_null(json_object_get(last, "signal")));
	assert_true(json_is_null(json_object_get(last, "wrapper")));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(last, "by"), "ns_pid")),
			 7);
	assert_true(json_is_true(json_object_get(json_array_get(list, 1), "waited_for")));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each process is a line below its parent",
		      each_process_is_a_line_below_its_parent),
		CLAIM("each process is an object", each_process_is_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
