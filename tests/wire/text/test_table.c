// SPDX-License-Identifier: Apache-2.0
/* Claims about the table of stops: what people see, and that it is printable whatever the names
 * are. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/term.h"
#include "wire/text/table.h"

#define WALL_NS 1795273445123456789
#define ID64	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct record stop(void)
{
	struct record record = {
		.type = RECORD_STOP,
		.wall_ns = WALL_NS,
		.stop =
			{
				.pod = {.known = true,
					.namespace_ = "default",
					.name = "web-0",
					.uid = "94dc9966-1111"},
				.container = {.known = true,
					      .name = "main",
					      .id = ID64,
					      .cgroup = "/kubepods/x"},
				.process = {.pid = 4242, .ns_pid = 1, .comm = "nginx"},
				.exit = {.known = true},
				.outcome = OUTCOME_GRACEFUL,
				.cause = CAUSE_STOP_SIGNAL,
				.latency_known = true,
				.latency_ns = 1230000000,
				.grace = {GRACE_SPEC, 30000000000},
			},
	};

	record.stop.stop_signal = (struct record_sigref){
		.known = true,
		.number = 15,
		.sender = {.kind = SENDER_RUNTIME, .process = {.pid = 812, .comm = "runc"}},
	};
	return record;
}

static struct record signal_record(void)
{
	return (struct record){
		.type = RECORD_SIGNAL,
		.wall_ns = WALL_NS,
		.signal =
			{
				.number = 15,
				.result = 1,
				.deaf = true,
				.target_init = true,
				.target = {.pid = 4242},
				.sender = {.kind = SENDER_HOST,
					   .process = {.pid = 4242, .comm = "bash"}},
				.container = {.known = true, .id = ID64},
			},
	};
}

/* What is printed of a record; NULL: of the titles alone. */
static int put(struct buf *out, const struct record *record, const struct grid_view *view)
{
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &table_trace, view);
	grid_expect(&grid, "pod");
	grid_add_titles(&grid);
	if (record)
		grid_add(&grid, record);
	return grid_flush(&grid, out);
}

static void assert_row(const struct record *record, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(put(&out, record, &(struct grid_view){.no_titles = true}), 0);
	assert_string_equal(buf_str(&out), want);
}

static void test_screen(void **state)
{
	struct record graceful = stop(), killed = stop(), heard = signal_record();
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(put(&out, NULL, &(struct grid_view){.live = true}), 0);
	assert_string_equal(buf_str(&out), "TIME           POD               CONTAINER   OUTCOME   "
					   "  CAUSE           EXIT     TOOK    GRACE     "
					   "SENDER               NOTE\n");

	assert_row(&graceful,
		   "15:04:05.123Z  default/web-0  main  graceful  stop-signal  0  1.23s  "
		   "4%/30s  runc[812] runtime\n");

	killed.stop.deaf = true;
	killed.stop.exit.status = 9;
	killed.stop.outcome = OUTCOME_KILLED;
	killed.stop.cause = CAUSE_GRACE_EXPIRED;
	killed.stop.latency_ns = 30010000000;
	killed.stop.kill_signal = killed.stop.stop_signal;
	killed.stop.kill_signal.sender.kind = SENDER_KUBELET;
	killed.stop.kill_signal.sender.process.comm = "kubelet";
	killed.stop.gaps = 1u << GAP_NOT_EMPTY;
	assert_row(&killed, "15:04:05.123Z  default/web-0  main  killed  grace-expired  SIGKILL  "
			    "30.0s  100%/30s  kubelet[812]  deaf not-empty\n");

	assert_row(&heard, "15:04:05.123Z  -  0123456789ab  SIGTERM  ignored  -  -  -  bash[4242]  "
			   "deaf\n");
}

static void test_uncut(void **state)
{
	struct record record = stop();

	record.stop.pod.name = "coredns-5d78c9869d-abcde";
	record.stop.pod.namespace_ = "kube-system";
	record.stop.container.name = "a-container-with-a-long-name";
	record.stop.outcome = OUTCOME_OOM_KILLED;
	record.stop.cause = CAUSE_SAME_CONTAINER;
	record.stop.exit.status = 49;
	record.stop.grace.ns = 999000000000;
	record.stop.latency_ns = UINT64_MAX / 2;
	record.stop.stop_signal.sender.process.comm = "containerd-shim";
	record.stop.collateral_kills = 123456;
	record.stop.gaps = 1u << GAP_NOT_EMPTY | 1u << GAP_NAME_LATE;
	assert_row(&record,
		   "15:04:05.123Z  kube-system/coredns-5d78c9869d-abcde  "
		   "a-container-with-a-long-name  oom-killed  same-container  SIGRTMIN+15  "
		   "106752d00h  >999%/999s  containerd-shim[812] runtime  "
		   "123456 collateral not-empty,name-late\n");
}

static void test_nothing_known(void **state)
{
	struct record none = {.type = RECORD_STOP};
	struct record signal = {.type = RECORD_SIGNAL};

	assert_row(&none, "00:00:00.000Z  -  -  unknown  unknown  -  -  -  -\n");
	assert_row(&signal, "00:00:00.000Z  -  -  SIG0  delivered  -  -  -  kernel  pid 0\n");
}

static void test_reaped(void **state)
{
	const struct record reaped = {
		.type = RECORD_REAPED,
		.at_ns = 73912345678901,
		.reaped = {.pod = {.known = true, .namespace_ = "default", .name = "web-0"},
			   .container = {.known = true, .name = "main"},
			   .exit = {.known = true, .status = 9, .at_ns = 73900345678901}},
	};

	assert_row(&reaped,
		   "00:00:00.000Z  default/web-0  main  reaped  -  SIGKILL  12.0s  -  -\n");
}

/* Half past five behind UTC in the beginning, and an hour less later. */
static int32_t zone(int64_t wall_s)
{
	return wall_s < WALL_NS / 1000000000 ? -(5 * 3600 + 1800) : -(4 * 3600 + 1800);
}

static int32_t east(int64_t wall_s)
{
	return 3600;
}

static void test_zones(void **state)
{
	static const char columns[] = "date,time";
	struct record record = stop();
	struct grid_view view = {.no_titles = true, .columns = columns, .zone = zone};
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(put(&out, &record, &view), 0);
	record.wall_ns = 0;
	assert_int_equal(put(&out, &record, &view), 0);
	record.wall_ns = INT64_MIN;
	assert_int_equal(put(&out, &record, &view), 0);
	record.wall_ns = WALL_NS;
	view.zone = east;
	assert_int_equal(put(&out, &record, &view), 0);
	assert_string_equal(buf_str(&out), "2026-11-21  10:34:05.123-0430\n"
					   "1969-12-31  18:30:00.000-0530\n"
					   "1677-09-21  00:12:43.145-0530\n"
					   "2026-11-21  16:04:05.123+01\n");
}

static void assert_cell(const struct record *record, const char *cell)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(put(&out, record, &(struct grid_view){}), 0);
	if (!strstr(buf_str(&out), cell))
		fail_msg("no \"%s\" in %s", cell, buf_str(&out));
}

static void test_names(void **state)
{
	struct record record = stop();

	record.stop.pod.namespace_ = NULL;
	assert_cell(&record, ".123Z  web-0  ");
	record.stop.pod.name = NULL;
	assert_cell(&record, ".123Z  94dc9966  ");
	record.stop.pod.uid = NULL;
	assert_cell(&record, ".123Z  -    ");

	record.stop.container.name = NULL;
	assert_cell(&record, "  0123456789ab  graceful");
	record.stop.container.id = NULL;
	record.stop.container.cgroup = "/system.slice/nginx.service";
	assert_cell(&record, "  nginx.service  graceful");
	record.stop.container.cgroup = "/";
	assert_cell(&record, "  /          graceful");
	record.stop.container.known = false;
	assert_cell(&record, "  -          graceful");
}

static void test_units(void **state)
{
	struct record record = stop();

	record.stop.container.kind = CONTAINER_KIND_SERVICE;
	record.stop.container.name = "nginx.service";
	assert_cell(&record, "  nginx      graceful");
	record.stop.container.name = NULL;
	record.stop.container.id = NULL;
	record.stop.container.cgroup = "/system.slice/postgresql@16-main.service";
	assert_cell(&record, "  postgresql@16-main  graceful");
	record.stop.container.cgroup = "/system.slice/.service";
	assert_cell(&record, "  .service   graceful");
	record.stop.container.cgroup = "/user.slice/session-3.scope";
	assert_cell(&record, "  session-3.scope  graceful");
	/* Docker takes such a name for a container. */
	record.stop.container.kind = CONTAINER_KIND_CONTAINER;
	record.stop.container.name = "nginx.service";
	assert_cell(&record, "  nginx.service  graceful");
}

static void test_exits_and_grace(void **state)
{
	static const struct {
		uint32_t status;
		uint64_t latency_ns, grace_ns;
		const char *cells;
	} want[] = {
		{137 << 8, 0, 30000000000, "  137   0ns   0%/30s  "},
		{0x8b, 812000, 10000000000, "  SIGSEGV  812µs  0%/10s  "},
		{15, 90000000000, 120000000000, "  SIGTERM  1m30s  75%/120s  "},
		{37, 1000000000, 1500000000, "  SIGRTMIN+3  1.00s  67%/1.50s  "},
		{26, 10000000, 0, "  SIGVTALRM  10.0ms  0s     "},
		{0, 10000000, 3600000000000, "  0     10.0ms  0%/1h00m  "},
		{0, 60000000000, 5000000000, "  0     1m00s  >999%/5s  "},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct record record = stop();

		record.stop.exit.status = want[i].status;
		record.stop.latency_ns = want[i].latency_ns;
		record.stop.grace.ns = want[i].grace_ns;
		assert_cell(&record, want[i].cells);
	}
}

static void test_senders(void **state)
{
	static const struct {
		enum sender_kind kind;
		uint32_t pid;
		const char *comm;
		const char *cell;
	} want[] = {
		{SENDER_RUNTIME, 812, "runc", "  runc[812] runtime\n"},
		{SENDER_RUNTIME, 812, "containerd-shim", "  containerd-shim[812] runtime\n"},
		{SENDER_KUBELET, 900, "kubelet", "  kubelet[900]\n"},
		{SENDER_SYSTEMD, 1, "systemd", "  systemd[1]\n"},
		{SENDER_HOST, UINT32_MAX, "NetworkManager", "  NetworkManager[4294967295]\n"},
		{SENDER_POD, 77, "sh", "  sh[77] pod\n"},
		{SENDER_CONTAINER, 77, "sleep", "  sleep[77] container\n"},
		{SENDER_KERNEL, 77, "hog", "  kernel\n"},
		{SENDER_HOST, 77, NULL, "  host\n"},
		{SENDER_UNPLACED, 77, "runc", "  runc[77]\n"},
		{SENDER_UNKNOWN, 0, "", "  unknown\n"},
		{SENDER_HOST, 77, "\x1b[2J", "  \\x1b[2J[77]\n"},
	};
	struct record named = stop();

	for (size_t i = 0; i < LEN(want); i++) {
		struct record record = stop();

		record.stop.stop_signal.sender = (struct record_sender){
			.kind = want[i].kind,
			.process = {.pid = want[i].pid, .comm = want[i].comm},
		};
		assert_cell(&record, want[i].cell);
	}
	named.stop.stop_signal.sender = (struct record_sender){
		.kind = SENDER_CONTAINER,
		.process = {.pid = 77, .comm = "bash"},
		.container = {.known = true, .name = "k"},
	};
	assert_cell(&named, "  bash[77] container k\n");
}

static void test_short_forms(void **state)
{
	static const struct {
		enum sender_kind kind;
		const char *comm, *cells;
	} want[] = {
		{SENDER_RUNTIME, "runc", "15:04:05Z runc runtime\n"},
		{SENDER_HOST, "bash", "15:04:05Z bash\n"},
		{SENDER_POD, "a[7] b", "15:04:05Z a[7] b pod\n"},
		{SENDER_KERNEL, "hog", "15:04:05Z kernel\n"},
	};
	const struct grid_view view = {.no_titles = true, .width = 10, .columns = "time,sender"};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct record record = stop();

		record.stop.stop_signal.sender.kind = want[i].kind;
		record.stop.stop_signal.sender.process.comm = want[i].comm;
		assert_int_equal(put(&out, &record, &view), 0);
		assert_string_equal(buf_str(&out), want[i].cells);
	}
}

static void test_whose_signal(void **state)
{
	static const struct record_member child = {
		.process = {.pid = 4244},
		.fatal = {.number = 15,
			  .sender = SENDER_HOST,
			  .process = {.pid = 77, .comm = "bash"}},
	};
	struct record record = stop();

	record.stop.kill_signal = record.stop.stop_signal;
	record.stop.kill_signal.sender.process.comm = "kill";
	assert_cell(&record, "  runc[812] runtime\n");
	record.stop.outcome = OUTCOME_KILLED;
	assert_cell(&record, "  kill[812] runtime\n");
	record.stop.outcome = OUTCOME_OOM_KILLED;
	assert_cell(&record, "  runc[812] runtime\n");
	record.stop.stop_signal.known = false;
	assert_cell(&record, "  kill[812] runtime\n");
	record.stop.kill_signal.known = false;
	record.stop.outcome = OUTCOME_TERMINATED;
	record.stop.cause = CAUSE_HOST;
	record.stop.via.process.pid = child.process.pid;
	record.stop.processes = &child;
	record.stop.n_processes = 1;
	assert_cell(&record, "  bash[77]  via ");
	record.stop.stop_signal.known = true;
	record.stop.cause = CAUSE_STOP_SIGNAL;
	assert_cell(&record, "  runc[812] runtime  via ");
}

static void test_who_asked(void **state)
{
	const struct grid_view view = {.no_titles = true, .columns = "signal,asked-by,sender"};
	_cleanup_(buf_free) struct buf out = {};
	struct record record = stop(), signal = signal_record();

	record.stop.kill_signal = record.stop.stop_signal;
	record.stop.kill_signal.sender.process.comm = "kill";
	record.stop.outcome = OUTCOME_KILLED;
	assert_int_equal(put(&out, &record, &view), 0);
	record.stop.stop_signal.known = false;
	assert_int_equal(put(&out, &record, &view), 0);
	assert_int_equal(put(&out, &signal, &view), 0);
	assert_string_equal(buf_str(&out), "SIGTERM  runc[812] runtime  kill[812] runtime\n"
					   "-  -  kill[812] runtime\n"
					   "SIGTERM  -  bash[4242]\n");
}

static void test_notes(void **state)
{
	static const struct {
		bool deaf;
		uint64_t collateral, ooms;
		enum outcome outcome;
		uint32_t gaps;
		const char *note;
		enum unheard reason;
	} want[] = {
		{true, 0, 0, OUTCOME_KILLED, 0, " deaf\n", UNHEARD_NO_HANDLER},
		{true, 0, 0, OUTCOME_KILLED, 0, " deaf shell\n", UNHEARD_SHELL},
		{false, 0, 0, OUTCOME_KILLED, 0, " ignored\n", UNHEARD_IGNORED},
		{false, 0, 0, OUTCOME_KILLED, 0, " child-ignored\n", UNHEARD_CHILD_IGNORED},
		{false, 2, 0, OUTCOME_KILLED, 0, " blocked 2 collateral\n", UNHEARD_BLOCKED},
		{true, 0, 0, OUTCOME_KILLED, 0, " deaf\n", UNHEARD_NONE},
		{false, 3, 0, OUTCOME_KILLED, 0, " 3 collateral\n", UNHEARD_NONE},
		{false, 0, 1, OUTCOME_FAILED, 0, " oom×1\n", UNHEARD_NONE},
		{false, 0, 1, OUTCOME_OOM_KILLED, 0, " runc[812] runtime\n", UNHEARD_NONE},
		{false, 0, 2, OUTCOME_OOM_KILLED, 0, " oom×2\n", UNHEARD_NONE},
		{true, 0, 12, OUTCOME_KILLED, 0, " deaf oom×12\n", UNHEARD_NONE},
		{true, 3, 0, OUTCOME_KILLED, 0, " deaf 3 collateral\n", UNHEARD_NONE},
		{false, 0, 0, OUTCOME_GRACEFUL, 1u << GAP_NAME_LATE, " name-late\n", UNHEARD_NONE},
		{false, 0, 0, OUTCOME_GRACEFUL, 1u << GAP_NAME_LATE | 1u << GAP_ATTACHED_LATE,
		 " runtime  name-late\n", UNHEARD_NONE},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct record record = stop();

		record.stop.deaf = want[i].deaf;
		record.stop.reason = want[i].reason;
		record.stop.collateral_kills = want[i].collateral;
		record.stop.oom_kills = want[i].ooms;
		record.stop.outcome = want[i].outcome;
		record.stop.gaps = want[i].gaps;
		assert_cell(&record, want[i].note);
	}
}

static void test_attached_late(void **state)
{
	struct record record = stop(), signal = signal_record();
	_cleanup_(buf_free) struct buf out = {};

	assert_false(table_is_late(&record));
	assert_false(table_is_late(&signal));
	record.stop.gaps = 1u << GAP_ATTACHED_LATE;
	assert_true(table_is_late(&record));
	assert_cell(&record, "  runc[812] runtime\n");
	assert_int_equal(put(&out, &record, &(struct grid_view){.wide = true}), 0);
	assert_non_null(strstr(buf_str(&out), "  attached-late\n"));
}

/* The titles of a table on a terminal, with a space between. */
static void add_shown(struct buf *out, const struct grid_table *table, unsigned int width,
		      const struct record *record)
{
	struct grid_view view = {.width = width, .also = table == &table_log ? "date" : NULL};
	_cleanup_(grid_done) struct grid grid = {};
	_cleanup_(buf_free) struct buf lines = {};

	view.live = view.flat = table == &table_trace;
	grid_init(&grid, table, &view);
	grid_add(&grid, record);
	assert_int_equal(grid_flush(&grid, &lines), 0);
	term_check(&lines, width);
	for (const char *at = buf_str(&lines); *at != '\n'; at++)
		if (*at != ' ' || at[1] != ' ')
			buf_addc(out, *at);
}

static void test_answers(void **state)
{
	static const struct {
		const struct grid_table *table;
		bool pod;
		unsigned int width;
		const char *titles;
	} want[] = {
		{&table_trace, false, 80, "CONTAINER OUTCOME CAUSE TOOK SENDER NOTE"},
		{&table_trace, true, 80, "POD CONTAINER OUTCOME CAUSE TOOK SENDER NOTE"},
		{&table_trace, false, 140,
		 "TIME CONTAINER OUTCOME CAUSE EXIT TOOK GRACE SENDER NOTE"},
		{&table_trace, false, 60, "CONTAINER OUTCOME CAUSE TOOK SENDER"},
		{&table_log, false, 80, "DATE TIME CONTAINER OUTCOME CAUSE TOOK SENDER"},
		{&table_log, true, 100, "DATE TIME POD CONTAINER OUTCOME CAUSE TOOK SENDER"},
		{&table_log, false, 160,
		 "DATE TIME CONTAINER OUTCOME CAUSE EXIT TOOK GRACE SENDER NOTE"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf titles = {};
		struct record record = stop();

		record.stop.container.name = "a-container-with-a-name";
		record.stop.pod.known = want[i].pod;
		record.stop.outcome = OUTCOME_OOM_KILLED;
		record.stop.cause = CAUSE_SAME_CONTAINER;
		record.stop.deaf = true;
		add_shown(&titles, want[i].table, want[i].width, &record);
		assert_string_equal(buf_str(&titles), want[i].titles);
	}
}

static void test_before_exec(void **state)
{
	struct record record = stop();

	record.stop.reason = UNHEARD_BEFORE_EXEC;
	record.stop.deaf = false;
	assert_cell(&record, " before-exec\n");
	record.stop.process.start_ns = 4000000000;
	record.stop.stop_signal.at_ns = 4000000000 + 700000000;
	record.stop.requests[0] = (struct record_request){
		.number = record.stop.stop_signal.number,
		.at_ns = record.stop.stop_signal.at_ns,
		.target_comm = "ba\nsh",
	};
	assert_cell(&record, " before-exec (ba\\x0ash, 700ms)\n");
}

static void test_sandboxes(void **state)
{
	struct record record = stop(), signal = signal_record();

	record.stop.container.kind = signal.signal.container.kind = CONTAINER_KIND_SANDBOX;
	record.stop.container.name = NULL;
	assert_false(table_has_row(&record));
	assert_false(table_has_row(&signal));
	record.stop.gaps = 1u << GAP_SANDBOX_GUESSED;
	assert_true(table_has_row(&record));
	assert_cell(&record, " sandbox? ");
	assert_cell(&record, " sandbox-guessed\n");
}

static void test_signal_notes(void **state)
{
	struct record record = signal_record();

	assert_cell(&record, " SIGTERM  ignored  ");
	assert_cell(&record, " deaf\n");
	record.signal.deaf = false;
	/* An init that waits for it may block it in a thread. */
	record.signal.blocked = true;
	record.signal.reason = UNHEARD_STOPPED;
	record.signal.result = 2;
	assert_cell(&record, " already_pending ");
	assert_cell(&record, " stopped\n");
	record.signal.target_init = false;
	assert_cell(&record, " stopped pid 4242\n");
	record.signal.reason = UNHEARD_NONE;
	assert_cell(&record, " pid 4242\n");
}

static void test_hostile_names(void **state)
{
	static const char *const names[] = {
		"a\nb",
		"\r\x1b[2K",
		"\x1b]0;owned\x07",
		"\xff\xfe\xfd",
		"\xc2\x9b"
		"31m",
		"\xe2\x80\xae"
		"txt.exe",
		"e\xcc\x81\xcc\x81\xcc\x81",
		"\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9",
		"%s%n%1000d",
		"\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
	};
	const struct grid_view lines = {.no_titles = true}, terminal = {.width = 80};

	for (size_t i = 0; i < LEN(names); i++) {
		struct record rows[] = {stop(), signal_record()};

		rows[0].stop.pod.namespace_ = rows[0].stop.pod.name = names[i];
		rows[0].stop.container.name = names[i];
		rows[0].stop.stop_signal.sender.process.comm = names[i];
		rows[1].signal.pod = (struct record_pod){.known = true, .uid = names[i]};
		rows[1].signal.container.id = names[i];
		rows[1].signal.sender.process.comm = names[i];
		for (size_t r = 0; r < LEN(rows); r++) {
			_cleanup_(buf_free) struct buf out = {};

			assert_int_equal(put(&out, &rows[r], &lines), 0);
			assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
			for (size_t at = 0; at + 1 < out.len; at++)
				assert_in_range(out.data[at], 0x20, 0x7e);
			buf_reset(&out);
			assert_int_equal(put(&out, &rows[r], &terminal), 0);
			term_check(&out, terminal.width);
		}
	}
}

static void test_colours(void **state)
{
	const struct grid_view view = {.colour = true};
	struct record record = signal_record();
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(put(&out, &record, &view), 0);
	assert_non_null(strstr(buf_str(&out), "\033[1;31mdeaf\033[0m\n"));
	assert_non_null(strstr(buf_str(&out), "\033[1mTIME\033[0m           \033[1mPOD\033[0m"));
	buf_reset(&out);
	record = stop();
	assert_int_equal(put(&out, &record, &view), 0);
	assert_non_null(strstr(buf_str(&out), "\033[32mgraceful\033[0m  stop-signal"));
}

static void test_other_records(void **state)
{
	for (int type = RECORD_NONE; type <= RECORD_REAPED; type++) {
		struct record other = {.type = (enum record_type)type};

		assert_int_equal(table_has_row(&other), type == RECORD_STOP ||
								type == RECORD_SIGNAL ||
								type == RECORD_REAPED);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("titles, a graceful stop, a deaf one and its signal stand in their columns",
		      test_screen),
		CLAIM("in a pipe a row of the longest cells is not cut", test_uncut),
		CLAIM("what is not known is a dash", test_nothing_known),
		CLAIM("an init that was let go has a row, with how long it was held", test_reaped),
		CLAIM("a time is that of the reader's clock then, and says its zone", test_zones),
		CLAIM(".service is implied of a service, and part of a container's name",
		      test_units),
		CLAIM("a pod and a container are named as well as they can be", test_names),
		CLAIM("codes, signals, times and grace periods are short", test_exits_and_grace),
		CLAIM("a sender has its pid, and its kind where that adds something", test_senders),
		CLAIM("where room is short a sender loses its pid, and a time its fraction",
		      test_short_forms),
		CLAIM("the sender shown is the one who ended it", test_whose_signal),
		CLAIM("who asked it to stop has a column beside who ended it", test_who_asked),
		CLAIM("what was sent before the last exec has its time and the name of then",
		      test_before_exec),
		CLAIM("notes tell deafness, collateral and OOM kills and gaps", test_notes),
		CLAIM("attached-late is no note, but in a wide table", test_attached_late),
		CLAIM("a terminal of 80 columns has what answers the question of trace and of log",
		      test_answers),
		CLAIM("a sandbox has no row, unless it is a guess", test_sandboxes),
		CLAIM("a signal's row tells at once that nobody listens", test_signal_notes),
		CLAIM("hostile names make one printable line, and fit a terminal",
		      test_hostile_names),
		CLAIM("colours surround the outcome, deafness and titles only when wanted",
		      test_colours),
		CLAIM("other records have no row", test_other_records),
	};

	return cmocka_run_group_tests_name("wire/text/table", tests, NULL, NULL);
}
