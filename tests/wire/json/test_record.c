// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/record: the members of graced-records(5) in its order, each record one
 * line, nothing left out. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/record.h"

#define WALL_NS 1795273445123456789
#define BOOT_NS 73912345678901
#define HEAD(type)                                                                         \
	"{\"type\":\"" type "\",\"schema\":1,\"time\":\"2026-11-21T15:04:05.123456789Z\"," \
	"\"boot_ns\":73912345678901,\"node\":\"node-1\","
#define HEAD_ID(type)                                                             \
	"{\"type\":\"" type "\",\"schema\":1,\"id\":\"boot/c0ffee/42\","          \
	"\"time\":\"2026-11-21T15:04:05.123456789Z\",\"boot_ns\":73912345678901," \
	"\"node\":\"node-1\","
#define POD                                                                   \
	"{\"namespace\":\"default\",\"name\":\"web-0\",\"uid\":\"94dc9966\"," \
	"\"qos\":\"burstable\",\"static\":false,\"workload\":null,\"workload_kind\":null}"
#define CONTAINER                                                                        \
	"{\"name\":\"main\",\"id\":\"c0ffee\",\"runtime\":\"containerd\",\"kind\":null," \
	"\"cgroup\":\"/kubepods/pod/c0ffee\",\"image\":null,\"attempt\":null,\"namespace\":null,\"workload\":null,\"workload_kind\":null}"
#define RUNC                                                                                              \
	"{\"pid\":812,\"ns_pid\":null,\"comm\":\"runc\",\"ancestors\":[\"containerd-shim\",\"systemd\"]," \
	"\"pod\":null,\"container\":null,\"cgroup\":\"/system.slice/containerd.service\","                \
	"\"kind\":\"runtime\"}"
#define KERNEL                                                                                       \
	"{\"pid\":0,\"ns_pid\":null,\"comm\":null,\"ancestors\":[],\"pod\":null,\"container\":null," \
	"\"cgroup\":null,\"kind\":\"kernel\"}"

static struct record_pod pod(void)
{
	return (struct record_pod){
		.known = true,
		.namespace_ = "default",
		.name = "web-0",
		.uid = "94dc9966",
		.qos = CGPATH_QOS_BURSTABLE,
	};
}

static struct record_container container(void)
{
	return (struct record_container){
		.known = true,
		.name = "main",
		.id = "c0ffee",
		.runtime = CGPATH_RT_CONTAINERD,
		.cgroup = "/kubepods/pod/c0ffee",
	};
}

static struct record_sender runc(void)
{
	return (struct record_sender){
		.kind = SENDER_RUNTIME,
		.process = {.pid = 812, .comm = "runc", .start_ns = 5},
		.ancestors = {"containerd-shim", "systemd"},
		.cgroup = "/system.slice/containerd.service",
	};
}

static struct record head(enum record_type type)
{
	return (struct record){
		.type = type,
		.at_ns = BOOT_NS,
		.wall_ns = WALL_NS,
		.node = "node-1",
	};
}

static void assert_record(const struct record *record, const char *line)
{
	_cleanup_(buf_free) struct buf out = {};
	json_auto_t *parsed = NULL;

	assert_int_equal(record_json(&out, record), 0);
	assert_string_equal(buf_str(&out), line);
	parsed = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(parsed);
}

static void test_attached(void **state)
{
	struct record record = head(RECORD_ATTACHED);

	record.attached = (struct record_attached){"unified", 7, 12, false};
	assert_record(&record, HEAD("attached") "\"hierarchy\":\"unified\",\"programs\":7,"
						"\"containers\":12}\n");
}

static void test_signal(void **state)
{
	struct record record = head(RECORD_SIGNAL);

	record.signal = (struct record_signal){
		.number = 37,
		.result = 1,
		.group = true,
		.code = -6,
		.blocked = true,
		.deaf = true,
		.reason = UNHEARD_NO_HANDLER,
		.sender = runc(),
		.target = {.pid = 4242, .ns_pid = 1, .comm = "nginx"},
		.target_init = true,
		.pod = pod(),
		.container = container(),
	};
	assert_record(&record,
		      HEAD("signal") "\"signal\":{\"number\":37,\"name\":\"SIGRTMIN+3\",\"result\":"
				     "\"ignored\",\"group\":true,\"si_code\":-6,\"blocked\":true},"
				     "\"deaf\":true,\"reason\":\"no-handler\",\"sender\":" RUNC
				     ",\"target\":{\"pid\":4242,"
				     "\"ns_pid\":1,\"comm\":\"nginx\",\"init\":true,\"pod\":" POD
				     ",\"container\":" CONTAINER "}}\n");
}

static void test_unknown_senders(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct record record = head(RECORD_SIGNAL);

	record.signal.sender.kind = SENDER_UNKNOWN;
	assert_int_equal(record_json(&out, &record), 0);
	assert_non_null(strstr(buf_str(&out), "\"sender\":null,"));
	record.signal.sender.kind = SENDER_UNPLACED;
	assert_int_equal(record_json(&out, &record), 0);
	assert_non_null(strstr(buf_str(&out), "\"cgroup\":null,\"kind\":null},\"target\""));
}

static const struct record_request two_requests[] = {
	{.number = 3,
	 .at_ns = 900,
	 .dropped_ns = 950,
	 .reason = UNHEARD_NO_HANDLER,
	 .target_comm = "sh",
	 .sender = SENDER_HOST,
	 .process = {.pid = 77, .comm = "kill"},
	 .inside = true},
	{.number = 15,
	 .at_ns = 1000,
	 .taken_ns = 1200,
	 .target_comm = "nginx",
	 .sender = SENDER_RUNTIME,
	 .process = {.pid = 812, .comm = "runc"}},
};

#define TWO_REQUESTS                                                                  \
	",\"requests\":[{\"number\":3,\"name\":\"SIGQUIT\","                          \
	"\"result\":\"delivered\",\"at_boot_ns\":900,"                                \
	"\"taken_boot_ns\":null,\"dropped_boot_ns\":950,"                             \
	"\"reason\":\"no-handler\",\"target_comm\":\"sh\","                           \
	"\"sender\":{\"pid\":77,\"ns_pid\":null,\"comm\":\"kill\",\"kind\":\"host\"," \
	"\"inside\":true}},"                                                          \
	"{\"number\":15,\"name\":\"SIGTERM\",\"result\":\"delivered\","               \
	"\"at_boot_ns\":1000,\"taken_boot_ns\":1200,"                                 \
	"\"dropped_boot_ns\":null,\"reason\":null,"                                   \
	"\"target_comm\":\"nginx\",\"sender\":{\"pid\":812,\"ns_pid\":null,"          \
	"\"comm\":\"runc\",\"kind\":\"runtime\",\"inside\":false}}],"                 \
	"\"requests_total\":7"

static void test_stop(void **state)
{
	struct record record = head(RECORD_STOP);

	record.stop = (struct record_stop){
		.id = "boot/c0ffee/42",
		.pod = pod(),
		.container = container(),
		.process = {.pid = 4242, .ns_pid = 1, .comm = "nginx", .start_ns = 42},
		.stop_signal = {true, 15, 0, 1000, runc()},
		.kill_signal = {true, 9, 2, 2000, {.kind = SENDER_KERNEL}},
		.n_requests = 7,
		.inferred = true,
		.deaf = true,
		.reason = UNHEARD_SHELL,
		.exit = {.known = true, .status = 137 << 8, .at_ns = 3000},
		.abort_ns = 45000,
		.latency_ns = 1230000000,
		.latency_known = true,
		.grace = {.from = GRACE_SPEC, .ns = 30000000000},
		.outcome = OUTCOME_GRACEFUL,
		.cause = CAUSE_STOP_SIGNAL,
		.collateral_kills = 3,
		.oom_kills = 1,
		.empty_ns = 4000,
		.deliver_ns = 1200,
		.reap_ns = 3500,
		.forward = {2, 3, 0, {.pid = 77, .ns_pid = 7, .comm = "worker"}, 900},
		.pod_terminating = TRI_TRUE,
		.gaps = 1u << GAP_NAME_LATE | 1u << GAP_EVENTS_LOST,
	};
	memcpy(record.stop.requests, two_requests, sizeof(two_requests));
	assert_record(
		&record,
		HEAD_ID("stop") "\"pod\":" POD ",\"container\":" CONTAINER
				",\"process\":{\"pid\":4242,\"ns_pid\":1,\"comm\":\"nginx\","
				"\"start_boot_ns\":42},\"stop_signal\":{\"number\":15,\"name\":"
				"\"SIGTERM\",\"result\":\"delivered\",\"at_boot_ns\":1000,"
				"\"inferred\":true,\"sender\":" RUNC
				"},\"kill_signal\":{\"number\":9,\"name\":"
				"\"SIGKILL\",\"result\":\"already_pending\",\"at_boot_ns\":2000,"
				"\"sender\":" KERNEL "},\"keeper_signal\":null" TWO_REQUESTS
				",\"deaf\":true,\"reason\":\"shell\",\"exit\":{\"code\":137,"
				"\"signal\":0,\"core_dumped\":false,\"at_boot_ns\":3000},"
				"\"abort_ns\":45000,\"latency_ns\":1230000000,\"grace\":{\"seconds\":30,\"from\":\"spec\","
				"\"used_ratio\":0.041,\"margin_ns\":28770000000},"
				"\"outcome\":\"graceful\",\"cause\":\"stop-signal\","
				"\"via\":null,\"cut\":0,\"collateral_kills\":3,\"oom_kills\":1,\"pod_terminating\":true,"
				"\"empty_boot_ns\":4000,\"forwarded\":{\"number\":3,\"name\":\"SIGQUIT\","
				"\"result\":\"delivered\",\"after_ns\":900,\"target\":{\"pid\":77,"
				"\"ns_pid\":7,\"comm\":\"worker\"},\"count\":2},\"held_by\":null,"
				"\"processes\":[],\"processes_other\":0,\"processes_gaps\":[],\"looks\":0,\"waited_for\":[],\"stages\":{\"deliver_ns\":200,"
				"\"exit_ns\":1800,\"reap_ns\":500,\"empty_ns\":1000},\"evidence\":{\"complete\":false,"
				"\"gaps\":[\"events-lost\",\"name-late\"]}}\n");
}

/* Zero is a value and is written; what is not known is null; no member is left out. */
static void test_stop_unknown(void **state)
{
	struct record record = {.type = RECORD_STOP};

	assert_record(
		&record,
		"{\"type\":\"stop\",\"schema\":1,\"id\":\"\",\"time\":"
		"\"1970-01-01T00:00:00.000000000Z\",\"boot_ns\":0,\"node\":null,\"pod\":null,"
		"\"container\":null,\"process\":{\"pid\":null,\"ns_pid\":null,\"comm\":null,"
		"\"start_boot_ns\":null},\"stop_signal\":null,\"kill_signal\":null,"
		"\"keeper_signal\":null,"
		"\"requests\":[],\"requests_total\":0,\"deaf\":false,\"reason\":null,\"exit\":{\"code\":null,\"signal\":null,\"core_dumped\":null,"
		"\"at_boot_ns\":null},\"abort_ns\":null,\"latency_ns\":null,\"grace\":null,"
		"\"outcome\":\"unknown\",\"cause\":\"unknown\",\"via\":null,\"cut\":0,"
		"\"collateral_kills\":0,"
		"\"oom_kills\":0,\"pod_terminating\":null,\"empty_boot_ns\":null,"
		"\"forwarded\":null,\"held_by\":null,"
		"\"processes\":[],\"processes_other\":0,\"processes_gaps\":[],\"looks\":0,\"waited_for\":[],\"stages\":{\"deliver_ns\":null,\"exit_ns\":null,"
		"\"reap_ns\":null,\"empty_ns\":null},\"evidence\":{\"complete\":true,\"gaps\":[]}}\n");
}

static void test_empty(void **state)
{
	struct record record = head(RECORD_EMPTY);

	record.empty = (struct record_empty){
		.id = "boot/c0ffee/42",
		.container = container(),
		.empty_ns = 5000,
	};
	assert_record(&record, HEAD_ID("empty") "\"pod\":null,\"container\":" CONTAINER
						",\"empty_boot_ns\":5000}\n");
}

static void test_held_by(void **state)
{
	struct record record = head(RECORD_STOP);
	_cleanup_(buf_free) struct buf line = {};

	record.stop.held_by.process = (struct record_process){.pid = 77, .comm = "sh"};
	record.stop.held_by.parent = (struct record_process){.pid = 78, .comm = "agent"};
	assert_int_equal(record_json(&line, &record), 0);
	assert_non_null(strstr(buf_str(&line),
			       "\"held_by\":{\"pid\":77,\"comm\":\"sh\",\"parent\":{\"pid\":78,"
			       "\"comm\":\"agent\"}},\"processes\":"));
}

static void test_reaped(void **state)
{
	for (uint64_t reap_ns = 0; reap_ns <= 5000; reap_ns += 5000) {
		struct record record = head(RECORD_REAPED);
		_cleanup_(buf_free) struct buf line = {};

		record.reaped = (struct record_reaped){
			.id = "boot/c0ffee/42",
			.container = container(),
			.exit = {.known = true, .status = 9, .at_ns = BOOT_NS - 1000},
			.reap_ns = reap_ns,
		};
		buf_printf(&line,
			   HEAD_ID("reaped") "\"pod\":null,\"container\":" CONTAINER
					     ",\"exit\":{\"code\":null,\"signal\":9,"
					     "\"core_dumped\":false,\"at_boot_ns\":%llu},"
					     "\"reaped_boot_ns\":%s,\"held_ns\":1000}\n",
			   (unsigned long long)BOOT_NS - 1000, reap_ns ? "5000" : "null");
		assert_record(&record, buf_str(&line));
	}
}

static void test_oom(void **state)
{
	static const char *const levels[] = {"unknown", "container", "pod", "node", "unknown"};

	for (unsigned int level = 0; level < LEN(levels); level++) {
		struct record record = head(RECORD_OOM);
		_cleanup_(buf_free) struct buf line = {};

		record.oom = (struct record_oom){
			.pod = pod(),
			.victim = {.pid = 77, .ns_pid = 7, .comm = "hog"},
			.init = level == 1,
			.level = (enum oom_level)level,
			.limit = level == 2 ? 33554432 : 0,
			.level_limit = level == 2 ? 33554433 : 0,
		};
		buf_printf(&line,
			   HEAD("oom") "\"pod\":" POD ",\"container\":null,\"victim\":{\"pid\":77,"
				       "\"ns_pid\":7,\"comm\":\"hog\"},\"init\":%s,"
				       "\"level\":\"%s\",\"limit_bytes\":%s,"
				       "\"level_limit_bytes\":%s}\n",
			   level == 1 ? "true" : "false", levels[level],
			   level == 2 ? "33554432" : "null", level == 2 ? "33554433" : "null");
		assert_record(&record, buf_str(&line));
	}
}

static void test_pod(void **state)
{
	struct record record = head(RECORD_POD);

	record.pod_state = (struct record_pod_state){
		.id = "boot/c0ffee/42",
		.pod = pod(),
		.state = POD_STAGE_FINISHED,
		.previous = POD_STAGE_TERMINATED,
		.trigger = POD_CGROUP_REMOVED,
		.at_ns = 90,
		.grace = {.from = GRACE_DELETION, .ns = 30000000000},
		.deadline_ns = 30000000010,
		.terminating_ns = 10,
		.exit_ns = 40,
		.empty_ns = 60,
		.removed_ns = 90,
	};
	assert_record(
		&record,
		HEAD_ID("pod") "\"pod\":" POD ",\"container\":null,\"state\":\"finished\","
			       "\"previous\":\"terminated\",\"trigger\":\"cgroup-removed\","
			       "\"at_boot_ns\":90,\"grace\":{\"seconds\":30,\"from\":\"deletion\"},"
			       "\"deadline_boot_ns\":30000000010,\"pod_empty_boot_ns\":60,"
			       "\"durations\":{\"terminating_ns\":50,\"empty_ns\":20,\"removed_ns\":30},"
			       "\"evidence\":{\"complete\":true,\"gaps\":[]}}\n");
	record.pod_state = (struct record_pod_state){
		.id = "boot/c0ffee/42", .pod = pod(), .gaps = 1u << GAP_TIME_UNCERTAIN};
	assert_record(
		&record,
		HEAD_ID("pod") "\"pod\":" POD ",\"container\":null,\"state\":null,"
			       "\"previous\":null,\"trigger\":null,\"at_boot_ns\":null,\"grace\":null,"
			       "\"deadline_boot_ns\":null,\"pod_empty_boot_ns\":null,\"durations\":"
			       "{\"terminating_ns\":null,\"empty_ns\":null,\"removed_ns\":null},"
			       "\"evidence\":{\"complete\":false,\"gaps\":[\"time-uncertain\"]}}\n");
}

static void test_lost(void **state)
{
	struct record record = head(RECORD_LOST);

	for (unsigned int i = 0; i < GRACED_STAT_COUNT; i++)
		record.lost.totals[i] = (struct graced_stat){100 + i, 200 + i, 300 + i};
	record.lost.totals[GRACED_EV_OOM] = (struct graced_stat){};
	record.lost.recursion_misses = 9;
	assert_record(
		&record,
		HEAD("lost") "\"emitted\":{\"cgroup_new\":101,\"cgroup_gone\":102,"
			     "\"cgroup_empty\":103,\"init\":104,\"signal\":105,\"exit\":106,"
			     "\"oom\":0,\"reaped\":108,\"taken\":109},\"lost\":{\"cgroup_new\":201,\"cgroup_gone\":202,"
			     "\"cgroup_empty\":203,\"init\":204,\"signal\":205,\"exit\":206,"
			     "\"oom\":0,\"reaped\":208,\"taken\":209},\"suppressed\":{\"cgroup_new\":301,\"cgroup_gone\":302,"
			     "\"cgroup_empty\":303,\"init\":304,\"signal\":305,\"exit\":306,"
			     "\"oom\":0,\"reaped\":308,\"taken\":309},\"recursion_misses\":9,\"watch_full\":210,"
			     "\"quota\":211,\"too_deep\":212}\n");
}

static void test_dropped(void **state)
{
	struct record record = head(RECORD_DROPPED);

	record.dropped = (struct record_dropped){12, 5, 6};
	assert_record(&record, HEAD("dropped") "\"records\":12,\"since_boot_ns\":5,"
					       "\"until_boot_ns\":6}\n");
	record.dropped = (struct record_dropped){1, 0, 0};
	assert_record(&record, HEAD("dropped") "\"records\":1,\"since_boot_ns\":null,"
					       "\"until_boot_ns\":null}\n");
}

static void test_exits(void **state)
{
	static const struct {
		uint32_t status;
		const char *exit;
	} want[] = {
		{0, "\"code\":0,\"signal\":0,\"core_dumped\":false"},
		{7 << 8, "\"code\":7,\"signal\":0,\"core_dumped\":false"},
		{0x12300, "\"code\":35,\"signal\":0,\"core_dumped\":false"},
		{255 << 8, "\"code\":255,\"signal\":0,\"core_dumped\":false"},
		{9, "\"code\":null,\"signal\":9,\"core_dumped\":false"},
		{0x8b, "\"code\":null,\"signal\":11,\"core_dumped\":true"},
		{64, "\"code\":null,\"signal\":64,\"core_dumped\":false"},
		{0x80, "\"code\":0,\"signal\":0,\"core_dumped\":false"},
		{UINT32_MAX, "\"code\":null,\"signal\":127,\"core_dumped\":true"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct record record = head(RECORD_STOP);
		_cleanup_(buf_free) struct buf out = {};

		record.stop.exit =
			(struct record_exit){.known = true, .status = want[i].status, .at_ns = 1};
		assert_int_equal(record_json(&out, &record), 0);
		if (!strstr(buf_str(&out), want[i].exit))
			fail_msg("%x: %s", want[i].status, buf_str(&out));
	}
}

static void test_grace(void **state)
{
	static const struct {
		bool latency_known;
		uint64_t latency_ns, grace_ns;
		const char *grace;
	} want[] = {
		{true, 0, 30000000000,
		 "{\"seconds\":30,\"from\":\"spec\",\"used_ratio\":0,\"margin_ns\":30000000000}"},
		{true, 33000000000, 30000000000,
		 "{\"seconds\":30,\"from\":\"spec\",\"used_ratio\":1.1,\"margin_ns\":-3000000000}"},
		{true, 10000000, 30000000000,
		 "{\"seconds\":30,\"from\":\"spec\",\"used_ratio\":0.000333,\"margin_ns\":29990000000}"},
		{true, 250000000, 1500000000,
		 "{\"seconds\":1.5,\"from\":\"spec\",\"used_ratio\":0.166667,\"margin_ns\":1250000000}"},
		{true, 5, 0,
		 "{\"seconds\":0,\"from\":\"spec\",\"used_ratio\":null,\"margin_ns\":-5}"},
		{false, 5, 1000000000,
		 "{\"seconds\":1,\"from\":\"spec\",\"used_ratio\":null,\"margin_ns\":null}"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct record record = head(RECORD_STOP);
		_cleanup_(buf_free) struct buf out = {};
		_cleanup_(buf_free) struct buf member = {};

		record.stop.latency_known = want[i].latency_known;
		record.stop.latency_ns = want[i].latency_ns;
		record.stop.grace = (struct grace){.from = GRACE_SPEC, .ns = want[i].grace_ns};
		assert_int_equal(record_json(&out, &record), 0);
		buf_printf(&member, ",\"grace\":%s,", want[i].grace);
		if (!strstr(buf_str(&out), buf_str(&member)))
			fail_msg("%s: %s", buf_str(&member), buf_str(&out));
	}
}

static void test_hostile_numbers(void **state)
{
	struct record record = head(RECORD_STOP);
	_cleanup_(buf_free) struct buf out = {};
	json_auto_t *parsed = NULL;

	record.stop.latency_known = true;
	record.stop.latency_ns = INT64_MAX; /* as far as jansson reads */
	record.stop.grace = (struct grace){.from = GRACE_DELETION, .ns = 1};
	record.stop.gaps = UINT32_MAX;
	record.stop.outcome = (enum outcome)99;
	record.stop.cause = (enum cause) - 1;
	record.stop.container.known = true;
	record.stop.container.kind = (enum record_container_kind)99;
	record.stop.container.runtime = (enum cgpath_runtime)99;
	record.stop.stop_signal =
		(struct record_sigref){true, 999, -7, 1, {.kind = (enum sender_kind)99}};
	assert_int_equal(record_json(&out, &record), 0);
	parsed = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(parsed);
}

static void test_runtime(void **state)
{
	static const struct {
		enum cgpath_runtime runtime;
		const char *word;
	} want[] = {
		{CGPATH_RT_NONE, "null"},
		{CGPATH_RT_UNKNOWN, "null"},
		{CGPATH_RT_DOCKER, "\"docker\""},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct record record = head(RECORD_EMPTY);
		_cleanup_(buf_free) struct buf out = {};
		_cleanup_(buf_free) struct buf member = {};

		record.empty.container = container();
		record.empty.container.runtime = want[i].runtime;
		assert_int_equal(record_json(&out, &record), 0);
		buf_printf(&member, "\"runtime\":%s,", want[i].word);
		assert_non_null(strstr(buf_str(&out), buf_str(&member)));
	}
}

static void test_hostile_names(void **state)
{
	static const char *const names[] = {
		"\"},{\"", "a\nb\r", "\x1b]0;title\x07", "\xff\xfe", "\xe2\x80\xae", "%s%n", "\\",
	};

	for (size_t i = 0; i < LEN(names); i++) {
		struct record record = head(RECORD_SIGNAL);
		_cleanup_(buf_free) struct buf out = {};
		json_auto_t *parsed = NULL;

		record.node = names[i];
		record.signal.sender.process.comm = names[i];
		record.signal.sender.ancestors[0] = names[i];
		record.signal.target.comm = names[i];
		record.signal.pod = (struct record_pod){true,	  names[i], names[i], names[i],
							names[i], 0,	    true,     names[i]};
		record.signal.container = container();
		record.signal.container.cgroup = names[i];
		assert_int_equal(record_json(&out, &record), 0);

		parsed = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(parsed);
		assert_int_equal(json_object_size(parsed), 10);
		assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
		for (size_t at = 0; at + 1 < out.len; at++)
			assert_in_range(out.data[at], 0x20, 0x7e);
	}
}

static void test_errors(void **state)
{
	_cleanup_(buf_free) struct buf out = {.limit = 300};
	struct record record = head(RECORD_ATTACHED);
	size_t len;

	assert_int_equal(record_json(&out, &record), 0);
	len = out.len;
	record.type = RECORD_STOP;
	assert_int_equal(record_json(&out, &record), -ENOBUFS);
	assert_int_equal(out.len, len);
	record.type = RECORD_NONE;
	assert_int_equal(record_json(&out, &record), -EINVAL);
	record.type = (enum record_type)99;
	assert_int_equal(record_json(&out, &record), -EINVAL);
	assert_int_equal(out.len, len);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("attached has its members in order", test_attached),
		CLAIM("signal has the members of graced-records(5) in order", test_signal),
		CLAIM("a sender that cannot be known is null, and so is the kind of one that cannot "
		      "be placed",
		      test_unknown_senders),
		CLAIM("stop has the members of graced-records(5) in order", test_stop),
		CLAIM("of a stop of which nothing is known no member is left out",
		      test_stop_unknown),
		CLAIM("empty has its members in order", test_empty),
		CLAIM("what holds an init has its members in order", test_held_by),
		CLAIM("reaped has its members in order, its time only if that was seen",
		      test_reaped),
		CLAIM("oom has its members in order and names each level", test_oom),
		CLAIM("a pod has its members in order, none left out", test_pod),
		CLAIM("lost has every event type, in each of its counts", test_lost),
		CLAIM("dropped has how many, and from when to when", test_dropped),
		CLAIM("a code is no signal and the core bit no part of one", test_exits),
		CLAIM("grace says what was used and what was left, below zero too", test_grace),
		CLAIM("a runtime that no name tells is null", test_runtime),
		CLAIM("numbers out of every range still make a line", test_hostile_numbers),
		CLAIM("hostile names stay inside their strings and their line", test_hostile_names),
		CLAIM("a record that cannot be written leaves nothing behind", test_errors),
	};

	return cmocka_run_group_tests_name("wire/json/record", tests, NULL, NULL);
}
