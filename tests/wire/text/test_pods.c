// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/pods, pods_table and podview: what the daemon writes is read back,
 * what is not known is null or a dash, no name breaks out of its line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/json/pods.h"
#include "wire/text/pods.h"

#define UID    "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"
#define SECOND 1000000000ull
#define NOW    (1000 * SECOND)

static struct podview going(void)
{
	return (struct podview){
		.at_ns = NOW,
		.wall_ns = 1700000000000000001,
		.node = "n1",
		.desired_known = true,
		.uid = UID,
		.namespace_ = "default",
		.name = "web-0",
		.workload = "web",
		.workload_kind = "Deployment",
		.qos = CGPATH_QOS_BURSTABLE,
		.stage = POD_STAGE_TERMINATING,
		.first_ns = NOW - 500 * SECOND,
		.since_ns = NOW - 4 * SECOND,
		.grace_ns = 30 * SECOND,
		.deadline_ns = NOW + 26 * SECOND,
		.containers = 2,
		.running = 1,
		.sandbox_running = true,
		.desired = true,
		.deleting = true,
		.ready_known = true,
		.ready_stop_ns = NOW - 3 * SECOND,
		.discrepancies = DISCREPANCY_BIT(DISCREPANCY_OBJECT_GONE) |
				 DISCREPANCY_BIT(DISCREPANCY_EXIT_TIME),
	};
}

static struct podview unknown(void)
{
	return (struct podview){.at_ns = 5, .uid = UID};
}

static const char going_json[] =
	"{\"type\":\"pods\",\"schema\":1,\"time\":\"2023-11-14T22:13:20.000000001Z\","
	"\"boot_ns\":1000000000000,\"node\":\"n1\",\"pod\":{\"namespace\":\"default\","
	"\"name\":\"web-0\",\"uid\":\"" UID "\",\"qos\":\"burstable\",\"static\":false,"
	"\"workload\":\"web\",\"workload_kind\":\"Deployment\"},\"container\":null,\"state\":\"terminating\",\"first_boot_ns\":500000000000,"
	"\"since_boot_ns\":996000000000,\"containers\":{\"running\":1,\"all\":2},"
	"\"sandbox_running\":true,\"grace\":{\"seconds\":30,\"deadline_boot_ns\":1026000000000,"
	"\"left_ns\":26000000000},\"ready\":false,\"desired\":true,\"deleting\":true,\"waiting\":false,"
	"\"orphan\":false,\"ready_stop_boot_ns\":997000000000,"
	"\"discrepancies\":[\"object-gone-processes-live\",\"exit-time\"]}\n";

static const char unknown_json[] =
	"{\"type\":\"pods\",\"schema\":1,\"time\":\"1970-01-01T00:00:00.000000000Z\","
	"\"boot_ns\":5,\"node\":null,\"pod\":{\"namespace\":null,\"name\":null,\"uid\":\"" UID
	"\",\"qos\":null,\"static\":false,\"workload\":null,\"workload_kind\":null},\"container\":null,\"state\":null,"
	"\"first_boot_ns\":null,\"since_boot_ns\":null,\"containers\":{\"running\":0,\"all\":0},"
	"\"sandbox_running\":false,\"grace\":null,\"ready\":null,\"desired\":null,"
	"\"deleting\":false,\"waiting\":false,\"orphan\":null,\"ready_stop_boot_ns\":null,\"discrepancies\":[]}\n";

static void a_pod_is_one_line_with_null_for_what_is_unknown(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct podview r = going();

	assert_int_equal(pods_json(&out, &r), 0);
	assert_string_equal(buf_str(&out), going_json);
	buf_reset(&out);
	r = unknown();
	assert_int_equal(pods_json(&out, &r), 0);
	assert_string_equal(buf_str(&out), unknown_json);
}

static void read_back(const struct podview *record, struct arena *arena, struct podview *ret)
{
	_cleanup_(buf_free) struct buf line = {};

	assert_int_equal(pods_json(&line, record), 0);
	assert_int_equal(pods_json_read(line.data, line.len - 1, arena, ret), 0);
}

static void what_was_written_is_read_back(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podview r, got;

	for (unsigned int bits = 0; bits < 1u << 8; bits++) {
		r = bits & 1 ? going() : unknown();
		r.stage = (enum pod_stage)((bits >> 1) % POD_STAGE_COUNT);
		r.qos = (enum cgpath_qos)(bits & 3);
		r.desired_known = bits & 2;
		r.desired = r.desired_known && bits & 4;
		r.is_static = bits & 8;
		r.ready_known = bits & 16;
		r.ready = r.ready_known && bits & 32;
		r.sandbox_running = bits & 64;
		r.discrepancies = bits & (DISCREPANCY_BIT(DISCREPANCY_COUNT) - 1);
		read_back(&r, &arena, &got);
		assert_true(podview_same(&r, &got));
		assert_int_equal(got.at_ns, r.at_ns);
	}
	r = going();
	r.gone = true;
	read_back(&r, &arena, &got);
	assert_true(got.gone);
}

static const char *const bad_lines[] = {
	"",
	"{}",
	"null",
	"[]",
	"{\"type\":\"stop\"}",
	"{\"type\":\"pods\",\"state\":\"sync\"}",
	"{\"type\":\"pods\",\"state\":\"sync\",\"pod\":null}",
	"{\"type\":\"pods\",\"state\":\"sync\",\"pod\":{\"uid\":7}}",
	"{\"type\":\"pods\",\"pod\":{\"uid\":\"a\"}}",
	"{\"type\":\"pods\",\"state\":\"asleep\",\"pod\":{\"uid\":\"a\"}}",
	"{\"type\":\"pods\",\"state\":7,\"pod\":{\"uid\":\"a\"}}",
	"{\"type\":\"pods\",\"state\":\"sync\",\"pod\":{\"uid\":\"a\\u0000b\"}}",
	"{\"type\":\"pods\",\"state\":\"sync\",\"pod\":{\"uid\":\"\xff\"}}",
};

static void a_line_that_is_not_a_pods_is_refused(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podview r = {.at_ns = 7};

	for (size_t i = 0; i < LEN(bad_lines); i++)
		assert_int_equal(pods_json_read(bad_lines[i], strlen(bad_lines[i]), &arena, &r),
				 -EBADMSG);
	for (size_t len = 0; len < sizeof(going_json) - 3; len++)
		assert_int_equal(pods_json_read(going_json, len, &arena, &r), -EBADMSG);
	assert_int_equal(r.at_ns, 7);
}

static void members_that_make_no_sense_are_not_known(void **state)
{
	static const char line[] =
		"{\"type\":\"pods\",\"boot_ns\":-1,\"pod\":{\"uid\":\"a\",\"name\":[],"
		"\"qos\":\"gold\"},\"state\":\"sync\",\"since_boot_ns\":1e300,"
		"\"containers\":{\"running\":-1,\"all\":99999999999},\"grace\":{\"seconds\":1e300,"
		"\"deadline_boot_ns\":-5},\"ready\":\"yes\",\"desired\":0,"
		"\"ready_stop_boot_ns\":-1,\"discrepancies\":[null,7,\"lies\",[]]}";
	_cleanup_(arena_free) struct arena arena = {};
	struct podview r;
	struct podview expected = {.uid = "a", .stage = POD_STAGE_SYNC};

	assert_int_equal(pods_json_read(line, strlen(line), &arena, &r), 0);
	assert_true(podview_same(&r, &expected));
	assert_int_equal(r.at_ns, 0);
}

static void put(struct buf *out, const struct podview *r, unsigned int width)
{
	const struct grid_view view = {.width = width, .no_titles = true};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &pods_table, &view);
	grid_add(&grid, r);
	assert_int_equal(grid_flush(&grid, out), 0);
}

static void check_row(const struct podview *r, const char *expected)
{
	_cleanup_(buf_free) struct buf out = {};

	put(&out, r, 0);
	assert_string_equal(buf_str(&out), expected);
}

static void the_row_says_what_matters_and_dashes_for_the_rest(void **state)
{
	struct podview r = going();

	check_row(&r, "default/web-0  terminating  4.00s  1/2  30s  26.0s  no  differs deleting\n");
	r.at_ns += 27 * SECOND;
	r.desired = false;
	r.is_static = true;
	r.discrepancies = 0;
	check_row(&r, "default/web-0  terminating  31.0s  1/2  30s  -1.00s  no  "
		      "orphan deleting static\n");
	r.gone = true;
	r.since_ns = r.at_ns;
	r.running = 0;
	check_row(&r, "default/web-0  gone  -  0/2  30s  no  deleting static\n");
	r = unknown();
	check_row(&r, UID "  -  -  0/0\n");
	r.is_static = r.waiting = true;
	check_row(&r, UID "  -  -  0/0  static waiting\n");
}

static bool same(const char *columns, const struct podview *a, const struct podview *b)
{
	const struct grid_view view = {.live = true, .columns = columns};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &pods_table, &view);
	return grid_is_same(&grid, a, b);
}

static void a_row_whose_age_alone_runs_is_unchanged(void **state)
{
	struct podview a = going(), b = going();

	b.at_ns += SECOND;
	b.wall_ns += SECOND;
	assert_true(same(NULL, &a, &b));
	b.since_ns += SECOND;
	b.first_ns += SECOND;
	b.ready_stop_ns += SECOND;
	assert_true(same(NULL, &a, &b));
	b.running++;
	assert_false(same(NULL, &a, &b));
	assert_true(same("pod,state,since", &a, &b));
	b = going();
	b.deadline_ns = 0;
	assert_false(same(NULL, &a, &b));
	b = going();
	b.deleting = false;
	assert_false(same(NULL, &a, &b));
	b = going();
	b.stage = POD_STAGE_TERMINATED;
	assert_false(same("state", &a, &b));
	assert_true(same("pod", &a, &b));
}

static void no_line_is_wider_than_120_columns(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct podview r = going();
	char name[4096];

	memset(name, 0x1b, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	name[7] = '\n';
	r.namespace_ = r.name = name;
	r.running = r.containers = UINT32_MAX;
	r.grace_ns = r.deadline_ns = r.at_ns = UINT64_MAX / 2;
	r.since_ns = 1;
	r.desired = false;
	r.is_static = true;
	put(&out, &r, 120);
	term_check(&out, 120);
}

static int compare(const void *a, const void *b)
{
	return podview_order(a, b);
}

static void who_is_terminating_comes_first_then_by_name(void **state)
{
	struct podview list[] = {
		{.uid = "1", .namespace_ = "b", .name = "a", .stage = POD_STAGE_SYNC},
		{.uid = "2", .namespace_ = "a", .name = "b", .stage = POD_STAGE_SYNC},
		{.uid = "3", .namespace_ = "a", .name = "a", .stage = POD_STAGE_SYNC},
		{.uid = "4", .namespace_ = "z", .stage = POD_STAGE_TERMINATED},
		{.uid = "5", .namespace_ = "z", .stage = POD_STAGE_TERMINATING},
		{.uid = "6", .namespace_ = "a", .stage = POD_STAGE_FINISHED},
		{.uid = "7", .stage = POD_STAGE_SYNC},
	};
	char order[LEN(list) + 1] = "";

	qsort(list, LEN(list), sizeof(*list), compare);
	for (size_t i = 0; i < LEN(list); i++)
		order[i] = list[i].uid[0];
	assert_string_equal(order, "5432176");
}

static void only_who_runs_unlisted_by_a_kubelet_that_answers_is_an_orphan(void **state)
{
	struct podview r = going();

	assert_false(podview_is_orphan(&r));
	r.desired = false;
	assert_true(podview_is_orphan(&r));
	r.desired_known = false;
	assert_false(podview_is_orphan(&r));
	r.desired_known = true;
	r.running = 0;
	assert_true(podview_is_orphan(&r));
	r.sandbox_running = false;
	assert_false(podview_is_orphan(&r));
}

static struct podview container(void)
{
	return (struct podview){
		.at_ns = NOW,
		.container = {.known = true,
			      .name = "web",
			      .id = "0123456789abcdef0123",
			      .runtime = CGPATH_RT_DOCKER,
			      .cgroup = "/system.slice/docker-0123.scope",
			      .image = "nginx:1.27"},
		.stage = POD_STAGE_SYNC,
		.since_ns = NOW - 90 * SECOND,
	};
}

static struct podview stopping(void)
{
	struct podview r = container();

	r.stage = POD_STAGE_TERMINATING;
	r.since_ns = NOW - 4 * SECOND;
	r.grace_ns = 10 * SECOND;
	r.deadline_ns = NOW + 6 * SECOND;
	return r;
}

static void check_table(const struct podview *rows, size_t n, bool wide, const char *expected)
{
	const struct grid_view view = {.wide = wide};
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &pods_table, &view);
	for (size_t i = 0; i < n; i++)
		grid_add(&grid, &rows[i]);
	assert_int_equal(grid_flush(&grid, &out), 0);
	assert_string_equal(buf_str(&out), expected);
}

static void a_table_of_containers_has_no_column_of_pods(void **state)
{
	struct podview rows[] = {container(), stopping()};
	struct podview unit = {
		.at_ns = NOW,
		.container = {.known = true,
			      .name = "cron.service",
			      .kind = CONTAINER_KIND_SERVICE,
			      .cgroup = "/system.slice/cron.service"},
		.stage = POD_STAGE_SYNC,
		.since_ns = NOW - 90 * SECOND,
	};

	check_table(rows, 1, false,
		    "CONTAINER  IMAGE       STATE    SINCE\n"
		    "web        nginx:1.27  running  1m30s\n");
	check_table(rows, 2, false,
		    "CONTAINER  IMAGE       STATE     SINCE  GRACE  LEFT\n"
		    "web        nginx:1.27  running   1m30s  -\n"
		    "web        nginx:1.27  stopping  4.00s  10s    6.00s\n");
	check_table(rows, 1, true,
		    "CONTAINER  ID            IMAGE       STATE    SINCE\n"
		    "web        0123456789ab  nginx:1.27  running  1m30s\n");
	check_table(&unit, 1, false,
		    "CONTAINER  STATE    SINCE\n"
		    "cron       running  1m30s\n");
	/* Nothing is known of it, its path neither. */
	unit.container = (struct record_container){.known = true};
	check_table(&unit, 1, false,
		    "STATE    SINCE\n"
		    "running  1m30s\n");
}

static void pods_and_containers_share_a_table(void **state)
{
	struct podview rows[] = {going(), container()};

	check_table(
		rows, 2, false,
		"POD            CONTAINER  IMAGE       STATE        SINCE  RUNNING  GRACE  LEFT   READY  MARKS\n"
		"default/web-0  -          -           terminating  4.00s  1/2      30s    26.0s  no     "
		"differs deleting\n"
		"-              web        nginx:1.27  running      1m30s  -        -      -      -\n");
	assert_true(podview_order(&rows[0], &rows[1]) < 0);
	rows[0].stage = POD_STAGE_SYNC;
	assert_true(podview_order(&rows[0], &rows[1]) < 0);
	rows[1] = stopping();
	assert_true(podview_order(&rows[0], &rows[1]) > 0);
}

static void a_container_is_read_back(void **state)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podview list[] = {container(), stopping()}, got;

	for (size_t i = 0; i < LEN(list); i++) {
		read_back(&list[i], &arena, &got);
		assert_true(podview_same(&list[i], &got));
		assert_string_equal(podview_state(&got), podview_state(&list[i]));
		assert_string_equal(podview_key(&got), list[i].container.cgroup);
	}
	assert_false(podview_same(&list[0], &list[1]));
	list[1] = container();
	list[1].container.name = "other";
	assert_false(podview_same(&list[0], &list[1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod is one line, with null for what is unknown",
		      a_pod_is_one_line_with_null_for_what_is_unknown),
		CLAIM("what was written is read back", what_was_written_is_read_back),
		CLAIM("a line that is not a pod's is refused",
		      a_line_that_is_not_a_pods_is_refused),
		CLAIM("members that make no sense are not known",
		      members_that_make_no_sense_are_not_known),
		CLAIM("the row says what matters, and dashes for the rest",
		      the_row_says_what_matters_and_dashes_for_the_rest),
		CLAIM("a row is unchanged where nothing that it shows is, but for ages",
		      a_row_whose_age_alone_runs_is_unchanged),
		CLAIM("no line is wider than 120 columns whatever the names are",
		      no_line_is_wider_than_120_columns),
		CLAIM("who is terminating comes first, then by name",
		      who_is_terminating_comes_first_then_by_name),
		CLAIM("a table of containers has no column of pods",
		      a_table_of_containers_has_no_column_of_pods),
		CLAIM("pods and containers share a table, what is stopping first, then pods",
		      pods_and_containers_share_a_table),
		CLAIM("a container is read back as it was written", a_container_is_read_back),
		CLAIM("only who runs unlisted by a kubelet that answers is an orphan",
		      only_who_runs_unlisted_by_a_kubelet_that_answers_is_an_orphan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
