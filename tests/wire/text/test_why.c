// SPDX-License-Identifier: Apache-2.0
/* Claims about the story of a stop on a terminal: its parts, how they are wrapped, and the list. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/text/why.h"

#define S	 UINT64_C(1000000000)
#define WALL_NS	 INT64_C(1795334400000000000) /* 2026-11-22T08:00:00Z */
#define ASKED_NS (100 * S)
#define PROC(p, n, name)                                  \
	{                                                 \
		.pid = (p), .ns_pid = (n), .comm = (name) \
	}

static const struct record_member members[] = {
	{.process = PROC(4200, 1, "npm"), .exit = {.known = true, .status = 143 << 8}},
	{.process = PROC(4209, 9, "node"),
	 .cut = true,
	 .by = ENDED_PID_NAMESPACE,
	 .exit = {.known = true, .status = 9, .at_ns = ASKED_NS + S}},
};

static struct record a_record(void)
{
	return (struct record){
		.type = RECORD_STOP,
		.wall_ns = WALL_NS,
		.stop = {.pod = {.known = true, .namespace_ = "shop", .name = "cart-0"},
			 .container = {.known = true, .name = "web"},
			 .process = PROC(4200, 1, "npm"),
			 .outcome = OUTCOME_GRACEFUL,
			 .cause = CAUSE_STOP_SIGNAL,
			 .stop_signal = {.known = true,
					 .number = 15,
					 .at_ns = ASKED_NS,
					 .sender = {.kind = SENDER_RUNTIME,
						    .process = PROC(700, 700, "runc")}},
			 .exit = {.known = true, .status = 143 << 8, .at_ns = ASKED_NS + S},
			 .latency_known = true,
			 .latency_ns = S,
			 .cut = 1,
			 .processes = members,
			 .n_processes = LEN(members),
			 .gaps = 1u << GAP_EVENTS_LOST | 1u << GAP_SHED},
	};
}

static int add_story(struct buf *out, const struct record *record, const struct grid_view *view)
{
	struct story story;
	int r;

	story_of_stop(&story, record);
	r = why_story(out, &story, view);
	story_done(&story);
	return r;
}

static void assert_story(const struct record *record, const struct grid_view *view,
			 const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(add_story(&out, record, view), 0);
	assert_string_equal(buf_str(&out), want);
}

static int32_t an_hour_east(int64_t wall_s)
{
	return 3600;
}

static void a_story_has_its_parts(void **state)
{
	const struct record record = a_record();

	assert_story(
		&record, &(struct grid_view){.zone = an_hour_east},
		"2026-11-22 09:00:00  shop/cart-0 web  graceful (stop-signal)\n"
		"npm[1] exited with code 143, 1.00s after SIGTERM from runc[700] (the runtime); "
		"node[9] never received it and was killed when npm[1] ended. Gaps in the "
		"evidence: events-lost, shed.\n"
		"\n"
		"  +0s runc[700] (the runtime) sent SIGTERM to npm[1]\n"
		"  +1.00s node[9] was killed with the pid namespace; it had received no stop "
		"signal\n"
		"  +1.00s npm[1] exited with code 143\n"
		"\n"
		"What to do: Have each process asked, and waited for: exec the application in "
		"place of what starts it (a shell, npm); a parent that stays has to pass the signal "
		"on, and to end last. See docs/fix.md#exec-in-a-script.\n");
}

static void what_is_not_over_has_its_state(void **state)
{
	const struct audit_record look = {
		.wall_ns = WALL_NS,
		.container = {.known = true, .name = "web"},
		.seen = true,
		.process = PROC(4200, 1, "app"),
		.facts = {.signal = 15},
		.audit = {.verdict = AUDIT_DIES, .reason = AUDIT_DEFAULT},
	};
	struct record record = a_record();
	_cleanup_(buf_free) struct buf out = {};
	struct story story;

	story_of_running(&story, &look, 0, true);
	assert_int_equal(why_story(&out, &story, &(struct grid_view){}), 0);
	story_done(&story);
	assert_memory_equal(buf_str(&out),
			    "2026-11-22 08:00:00  web  running (default)\nSIGTERM ends", 55);
	buf_reset(&out);
	record.at_ns = ASKED_NS + S;
	story_of_stopping(&story, &record, &look);
	assert_int_equal(why_story(&out, &story, &(struct grid_view){}), 0);
	story_done(&story);
	assert_memory_equal(buf_str(&out),
			    "2026-11-22 08:00:00  shop/cart-0 web  stopping\nrunc[700]", 55);
	assert_non_null(strstr(buf_str(&out), "\n  which of its processes are still there could"));
}

static void no_line_is_wider_than_its_terminal(void **state)
{
	const struct record record = a_record();
	_cleanup_(buf_free) struct buf out = {};
	size_t lines = 0;

	assert_int_equal(add_story(&out, &record, &(struct grid_view){.width = 60}), 0);
	for (const char *at = buf_str(&out); *at; at++, lines++) {
		size_t len = strcspn(at, "\n");

		assert_in_range(len, 0, 60);
		at += len;
	}
	assert_in_range(lines, 14, 20);
	assert_non_null(strstr(buf_str(&out), "\n    received no stop signal\n"));
}

static void what_went_well_is_short(void **state)
{
	struct record record = a_record();

	record.stop.cut = 0;
	record.stop.gaps = 0;
	record.stop.n_processes = 0;
	record.stop.exit = (struct record_exit){};
	record.stop.stop_signal.known = false;
	record.stop.outcome = OUTCOME_UNKNOWN;
	record.stop.cause = CAUSE_UNKNOWN;
	assert_story(&record, &(struct grid_view){},
		     "2026-11-22 08:00:00  shop/cart-0 web  unknown (unknown)\n"
		     "What ended npm[1] was not seen.\n");
}

static void what_left_no_room_is_counted(void **state)
{
	struct record_member list[RECORD_MEMBERS];
	struct record record = a_record();
	_cleanup_(buf_free) struct buf out = {};

	for (size_t i = 0; i < LEN(list); i++)
		list[i] = members[1];
	record.stop.processes = list;
	record.stop.n_processes = LEN(list);
	assert_int_equal(add_story(&out, &record, &(struct grid_view){}), 0);
	assert_non_null(strstr(buf_str(&out), "\n  ... and 5 more events\n"));
	buf_reset(&out);
	record.stop.n_processes = LEN(list) - 4;
	assert_int_equal(add_story(&out, &record, &(struct grid_view){}), 0);
	assert_non_null(strstr(buf_str(&out), "\n  ... and 1 more event\n"));
}

static void a_line_is_cut_at_the_width(void **state)
{
	struct record record = a_record();
	_cleanup_(buf_free) struct buf wide = {}, narrow = {};

	assert_int_equal(why_line(&wide, &record, 0, &(struct grid_view){}), 0);
	assert_string_equal(
		buf_str(&wide),
		"2026-11-22 08:00:00  shop/cart-0 web  graceful: npm[1] exited with code "
		"143, 1.00s after SIGTERM from runc[700] (the runtime); node[9] never "
		"received it and was killed when npm[1] ended.\n");
	assert_int_equal(why_line(&narrow, &record, 7, &(struct grid_view){.width = 50}), 0);
	assert_string_equal(buf_str(&narrow),
			    " 7  2026-11-22 08:00:00  shop/cart-0 web  gracefu…\n");
}

static void each_container_is_called_something(void **state)
{
	static const struct {
		struct record_container container;
		const char *want;
	} rows[] = {
		{{.name = "we\x1b[b"}, "  we\\x1b[b  "},
		{{.name = "web", .namespace_ = "shop", .known = true}, "  shop/web  "},
		{{.id = "0123456789abcdef"}, "  0123456789ab  "},
		{{.cgroup = "/system.slice/cron.service"}, "  /system.slice/cron.service  "},
		{{.cgroup = NULL}, "  -  "},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct record record = a_record();

		record.stop.pod = (struct record_pod){};
		record.stop.container = rows[i].container;
		assert_int_equal(why_line(&out, &record, 0, &(struct grid_view){}), 0);
		assert_non_null(strstr(buf_str(&out), rows[i].want));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a story has who, the sentence with its gaps, what happened, and what to do",
		      a_story_has_its_parts),
		CLAIM("what is not over has its state in place of an outcome",
		      what_is_not_over_has_its_state),
		CLAIM("no line is wider than its terminal", no_line_is_wider_than_its_terminal),
		CLAIM("where nothing is known there is the sentence alone",
		      what_went_well_is_short),
		CLAIM("events that left no room are counted", what_left_no_room_is_counted),
		CLAIM("a line of the list has its number, and is cut at the width, with a mark",
		      a_line_is_cut_at_the_width),
		CLAIM("a container without a name is called by its id or cgroup",
		      each_container_is_called_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
