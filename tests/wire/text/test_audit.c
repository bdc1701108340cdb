// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/audit and wire/text/audit: what is not known is null, and no name breaks
 * out of its line. */
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/json/audit.h"
#include "wire/text/audit.h"

#define UID "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct audit_record plain(void)
{
	return (struct audit_record){
		.at_ns = 5,
		.wall_ns = 1700000000000000001,
		.node = "n1",
		.pod = {.known = true, .namespace_ = "default", .name = "web-0", .uid = UID},
		.container = {.known = true, .name = "main", .id = ID, .cgroup = "/kubepods/x"},
		.seen = true,
		.process = {.pid = 4242, .ns_pid = 1, .comm = "nginx"},
		.facts = {.signal = SIGTERM, .shielded = true, .threads = {[AUDIT_OPEN] = 1}},
		.audit = {AUDIT_DEAF, AUDIT_SHIELD, 0},
	};
}

static void check_json(const struct audit_record *r, const char *expected)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(audit_json(&out, r), 0);
	assert_string_equal(buf_str(&out), expected);
}

#define HEAD                                                                            \
	"{\"type\":\"audit\",\"schema\":1,\"time\":\"2023-11-14T22:13:20.000000001Z\"," \
	"\"boot_ns\":5,\"node\":\"n1\","
#define POD                                                                                                            \
	"\"pod\":{\"namespace\":\"default\",\"name\":\"web-0\",\"uid\":\"" UID                                         \
	"\",\"qos\":null,\"static\":false,\"workload\":null,\"workload_kind\":null},\"container\":{\"name\":\"main\"," \
	"\"id\":\"" ID "\",\"runtime\":null,\"kind\":null,\"cgroup\":\"/kubepods"                                      \
	"/x\",\"image\":null,\"attempt\":null,\"namespace\":null,\"workload\":null,\"workload_kind\":null},"
#define SIGNAL "\"signal\":{\"number\":15,\"name\":\"SIGTERM\"},"

static void what_was_found_is_one_line(void **state)
{
	struct audit_record r = plain();

	check_json(
		&r, HEAD POD
		"\"process\":{\"pid\":4242,\"ns_pid\":1,\"comm\":\"nginx\"}," SIGNAL
		"\"verdict\":\"deaf\",\"reason\":\"no-handler\",\"warnings\":[],\"shielded\":true,"
		"\"disposition\":\"default\",\"blocked\":false,\"waiters\":0,\"shell\":null,\"worker\":null,\"processes\":null,\"processes_other\":null,"
		"\"advice\":[{\"about\":\"no-handler\",\"why\":\"nginx (pid 4242) has no handler for "
		"SIGTERM, and the kernel spares PID 1 of a pid namespace the default action\","
		"\"remedy\":\"Have the program handle the signal. Where neither it nor a child of it has anything to "
		"finish, an init in front is enough: tini in the image, or outside Kubernetes docker run --init, "
		"init: true in compose.\"}]}\n");
	r.shell = "dash";
	r.has_app = true;
	r.app = (struct record_process){.pid = 4243, .ns_pid = 7, .comm = "java"};
	r.facts.shell.waits = true;
	r.audit = (struct audit){AUDIT_DEAF, AUDIT_BLOCKED, 1u << AUDIT_FROZEN};
	check_json(
		&r, HEAD POD
		"\"process\":{\"pid\":4242,\"ns_pid\":1,\"comm\":\"nginx\"}," SIGNAL
		"\"verdict\":\"deaf\",\"reason\":\"blocked\",\"warnings\":[\"frozen\"],"
		"\"shielded\":true,\"disposition\":\"default\",\"blocked\":false,\"waiters\":0,"
		"\"shell\":{\"name\":\"dash\",\"waits\":true,\"app\":{\"pid\":4243,\"ns_pid\":7,"
		"\"comm\":\"java\"}},\"worker\":null,\"processes\":null,\"processes_other\":null,"
		"\"advice\":[{\"about\":\"blocked\",\"why\":\"every thread of nginx (pid 4242) blocks "
		"SIGTERM and none waits for it, so that it stays pending\",\"remedy\":\"Unblock the "
		"signal where it is handled, or have a thread wait for it (sigwait). A mask of blocked "
		"signals is inherited by what a process starts.\"},"
		"{\"about\":\"frozen\",\"why\":\"the cgroup of nginx (pid 4242) is frozen, and it acts "
		"on SIGTERM only when it is thawed\",\"remedy\":\"Thaw it (docker unpause, podman "
		"unpause, or 0 into the cgroup's cgroup.freeze).\"}]}\n");
}

static void what_is_not_known_is_null(void **state)
{
	struct audit_record r = plain();

	r.facts.threads[AUDIT_OPEN] = 0;
	r.facts.threads[AUDIT_UNSURE] = 1;
	r.pod.known = false;
	r.node = NULL;
	r.audit = (struct audit){AUDIT_UNKNOWN, AUDIT_ACCESS, 0};
	r.container = (struct record_container){.known = true, .cgroup = "/c"};
#define BARE                                                                                 \
	"{\"type\":\"audit\",\"schema\":1,\"time\":\"2023-11-14T22:13:20.000000001Z\","      \
	"\"boot_ns\":5,\"node\":null,\"pod\":null,\"container\":{\"name\":null,\"id\":null," \
	"\"runtime\":null,\"kind\":null,\"cgroup\":\"/c\",\"image\":null,\"attempt\":null,\"namespace\":null,\"workload\":null,\"workload_kind\":null},"
#define REMEDY                                                                                      \
	"\"remedy\":\"Run graced as root with all capabilities, in the pid namespace of the host, " \
	"and where no security module (AppArmor, SELinux) denies it.\""
#define UNKNOWN "\"verdict\":\"unknown\",\"reason\":\"no-access\",\"warnings\":[],"
	check_json(
		&r, BARE
		"\"process\":{\"pid\":4242,\"ns_pid\":1,\"comm\":\"nginx\"}," SIGNAL UNKNOWN
		"\"shielded\":true,\"disposition\":\"default\","
		"\"blocked\":null,\"waiters\":null,\"shell\":null,\"worker\":null,\"processes\":null,\"processes_other\":null,"
		"\"advice\":[{\"about\":\"no-access\",\"why\":\"this user may not look into "
		"nginx (pid 4242)\"," REMEDY "}]}\n");
	r.seen = false;
	check_json(
		&r, BARE
		"\"process\":null," SIGNAL UNKNOWN
		"\"shielded\":null,\"disposition\":null,\"blocked\":null,"
		"\"waiters\":null,\"shell\":null,\"worker\":null,\"processes\":null,\"processes_other\":null,"
		"\"advice\":[{\"about\":\"no-access\",\"why\":\"none of its processes "
		"can be seen from here\"," REMEDY "}]}\n");
}

/* Every verdict, reason and warning at its longest, with names that want out. */
static void no_line_is_wider_than_120_columns(void **state)
{
	static const char evil[] =
		"x\n\x1b[31m\xff\xe2\x80\xae%s\"\\ and much longer than a column";

	for (unsigned int i = 0; i < AUDIT_REASON_COUNT * AUDIT_WARNING_COUNT; i++) {
		_cleanup_(grid_done) struct grid grid = {};
		_cleanup_(buf_free) struct buf out = {};
		struct audit_record r = plain();

		r.pod.namespace_ = r.pod.name = r.container.name = r.process.comm = evil;
		r.process.pid = r.app.pid = 4194304;
		r.audit = (struct audit){AUDIT_IGNORES, i % AUDIT_REASON_COUNT,
					 1u << i / AUDIT_REASON_COUNT};
		grid_init(&grid, &audit_table, &(struct grid_view){.width = 120});
		grid_add(&grid, &r);
		assert_int_equal(grid_flush(&grid, &out), 0);
		assert_null(strstr(buf_str(&out), "\x1b"));
		term_check(&out, 120);
	}
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	_cleanup_(grid_done) struct grid grid = {};
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();
	const char *line;

	grid_init(&grid, &audit_table, &(struct grid_view){});
	grid_add(&grid, &r);
	r.pod.name = "a-pod-with-a-name-x2x7k";
	grid_add(&grid, &r);
	assert_int_equal(grid_flush(&grid, &out), 0);
	line = strchr(buf_str(&out), '\n') + 1;
	assert_ptr_equal(strstr(buf_str(&out), "CONTAINER"), buf_str(&out) + 33);
	assert_ptr_equal(strstr(line, "main"), line + 33);
	assert_non_null(strstr(line, "\ndefault/a-pod-with-a-name-x2x7k  main"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what was found is one line", what_was_found_is_one_line),
		CLAIM("what is not known is null", what_is_not_known_is_null),
		CLAIM("no line is wider than 120 columns", no_line_is_wider_than_120_columns),
		CLAIM("columns are as wide as their widest cell",
		      columns_are_as_wide_as_their_widest_cell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
