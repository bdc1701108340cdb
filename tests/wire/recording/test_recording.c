// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/recording: an observation comes back from its line as it was. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/recording/recording.h"

/* Two blank observations are the same bytes, so that memcmp() compares those read into them. */
static struct obs *new_obs(void)
{
	struct obs *obs = calloc(1, sizeof(*obs));

	assert_non_null(obs);
	return obs;
}

/* xorshift64: the same rows in each run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

enum fill { FILL_ZERO, FILL_ONES, FILL_LOW, FILL_TOP, FILL_RANDOM, FILL_COUNT };

static void fill_string(char *member, size_t size, enum fill fill, uint64_t *random)
{
	size_t len = fill == FILL_RANDOM ? next_random(random) % size : size - 1;

	if (fill == FILL_ZERO)
		len = 0;
	memset(member, 0, size);
	for (size_t i = 0; i < len; i++) {
		char c = fill == FILL_ONES ? (char)0xff : fill == FILL_LOW ? 1 : '"';

		if (fill == FILL_RANDOM)
			c = (char)next_random(random);
		member[i] = c ? c : 'x';
	}
}

static void fill_field(const struct rec_field *field, char *member, enum fill fill,
		       uint64_t *random)
{
	static const uint64_t numbers[] = {
		[FILL_ONES] = UINT64_MAX,
		[FILL_LOW] = 1,
		[FILL_TOP] = 0x8000000000000000,
	};
	uint64_t number = fill == FILL_RANDOM ? next_random(random) >> next_random(random) % 64
					      : numbers[fill];

	if (field->kind == REC_STRING)
		fill_string(member, field->size, fill, random);
	else if (field->kind == REC_BOOL)
		*(bool *)member = number & 1;
	else if (field->size == 4)
		*(uint32_t *)(void *)member = (uint32_t)(fill == FILL_TOP ? number >> 32 : number);
	else
		*(uint64_t *)(void *)member = number;
}

static void fill_obs(struct obs *obs, enum obs_type type, enum fill fill, uint64_t *random)
{
	const struct rec_layout *layout = rec_layout(type);

	obs->type = type;
	obs->at_ns = fill == FILL_RANDOM ? next_random(random) : fill == FILL_ZERO ? 0 : UINT64_MAX;
	for (unsigned int i = 0; i < layout->count; i++)
		fill_field(&layout->fields[i], (char *)obs + layout->fields[i].offset, fill,
			   random);
}

static void test_round_trip(void **state)
{
	uint64_t random = 0x9e3779b97f4a7c15;

	for (int type = OBS_NONE + 1; type < OBS_TYPE_COUNT; type++) {
		for (int round = 0; round < 300; round++) {
			_cleanup_(cleanup_free) struct obs *in = new_obs();
			_cleanup_(cleanup_free) struct obs *out = new_obs();
			_cleanup_(buf_free) struct buf line = {};

			fill_obs(in, (enum obs_type)type,
				 round < FILL_COUNT ? (enum fill)round : FILL_RANDOM, &random);
			assert_int_equal(rec_write_obs(&line, in), 0);
			assert_true(line.len <= REC_LINE_MAX);
			assert_int_equal(rec_read_line(line.data, line.len, out), 0);
			if (memcmp(in, out, sizeof(*in)) != 0)
				fail_msg("%s", buf_str(&line));
		}
	}
}

/* What no field covers is padding, and this is how much of it there is. */
static void test_nothing_forgotten(void **state)
{
	static const struct {
		enum obs_type type;
		size_t size, padding;
	} want[] = {
#define PROC_PAD 4
		{OBS_ATTACHED, sizeof(struct obs_attached), 5 + 6},
		{OBS_CGROUP_NEW, sizeof(struct obs_cgroup), 4},
		{OBS_CGROUP_FOUND, sizeof(struct obs_cgroup), 4},
		{OBS_CGROUP_GONE, sizeof(struct obs_empty), 8},
		{OBS_CGROUP_EMPTY, sizeof(struct obs_empty), 8},
		{OBS_INIT, sizeof(struct obs_init), 3 + PROC_PAD + 4},
		{OBS_SIGNAL, sizeof(struct obs_signal), 6 * PROC_PAD},
		{OBS_EXIT, sizeof(struct obs_exit), PROC_PAD},
		{OBS_OOM, sizeof(struct obs_oom), 4 + PROC_PAD},
		{OBS_COUNTS, sizeof(struct obs_counts), 5},
		{OBS_PROBE, sizeof(struct obs_probe), 4 + 6 + 2 * PROC_PAD},
		{OBS_NAMES, sizeof(struct obs_names), 4},
		{OBS_POD, sizeof(struct meta_pod), 4},
		{OBS_CONTAINER, sizeof(struct meta_container), 7},
		{OBS_REAPED, sizeof(struct obs_reaped), 4},
		{OBS_TAKEN, sizeof(struct obs_taken), 0},
		{OBS_IDENTITY, sizeof(struct obs_identity), 3},
		{OBS_LISTED, sizeof(struct obs_listed), 4},
		{OBS_SHUTDOWN_PLAN, sizeof(struct obs_shutdown_plan), 4 + 6 + OBS_RANGES_MAX * 4},
		{OBS_SHUTDOWN, sizeof(struct obs_shutdown), 4 + 6 + 3},
		{OBS_NO_INIT, sizeof(struct obs_no_init), 0},
		{OBS_VOLUME, sizeof(struct obs_volume), 5},
		{OBS_SHUTDOWN_RULE, sizeof(struct managed_rule), 0},
		{OBS_KEPT, sizeof(struct kept_head), 2},
		{OBS_KEPT_CGROUP, sizeof(struct kept_cgroup), 5},
		{OBS_KEPT_STOP, sizeof(struct kept_stop), 38},
		{OBS_KEPT_SIGNAL, sizeof(struct kept_signal), 22},
		{OBS_KEPT_POD, sizeof(struct kept_pod), 34},
		{OBS_KEPT_RUN, sizeof(struct shutdown_run), 1},
		{OBS_KEPT_TURN, sizeof(struct shutdown_run_turn), 6},
		{OBS_KEPT_EXIT, sizeof(struct kept_exit), 11},
		{OBS_LOST, sizeof(struct obs_lost), 0},
		{OBS_CLOCK, sizeof(struct obs_clock), 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct rec_layout *layout = rec_layout(want[i].type);
		size_t covered = 0;

		for (unsigned int f = 0; f < layout->count; f++)
			covered += layout->fields[f].size;
		if (covered + want[i].padding != want[i].size)
			fail_msg("%s: %zu of %zu bytes", layout->name, covered, want[i].size);
	}
}

static void test_layouts_are_sound(void **state)
{
	assert_null(rec_layout(OBS_NONE));
	assert_null(rec_layout(OBS_TYPE_COUNT));
	for (int type = OBS_NONE + 1; type < OBS_TYPE_COUNT; type++) {
		const struct rec_layout *layout = rec_layout((enum obs_type)type);

		assert_non_null(layout);
		assert_int_equal(layout->name_len, strlen(layout->name));
		assert_true(layout->count <= REC_FIELDS_MAX);
		for (unsigned int i = 0; i < layout->count; i++) {
			const struct rec_field *field = &layout->fields[i];

			assert_int_equal(field->key_len, strlen(field->key));
			assert_true(field->offset + field->size <= sizeof(struct obs));
			for (unsigned int j = 0; j < i; j++)
				assert_string_not_equal(field->key, layout->fields[j].key);
		}
	}
}

/* Old recordings hold these very names: a change here is a new version. */
static void test_stable_lines(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"attached\",\"at_ns\":1,\"boot_id\":\"b\",\"node\":\"n\",\"hierarchy\":"
		"\"unified\",\"wall_offset_ns\":-5,\"self_pid\":7,\"programs\":8}\n",
		"{\"type\":\"cgroup_new\",\"at_ns\":1,\"id\":2,\"parent_id\":3,\"kind\":3,\"level\":4,"
		"\"path\":\"x\"}\n",
		"{\"type\":\"cgroup_found\",\"at_ns\":1,\"id\":2,\"level\":1,\"path\":\"/x/y\"}\n",
		"{\"type\":\"cgroup_gone\",\"at_ns\":1,\"id\":2}\n",
		"{\"type\":\"cgroup_empty\",\"at_ns\":1,\"id\":2,\"exits\":1,\"kills\":2,\"collateral\":3,"
		"\"oom_kills\":4,\"lost\":5,\"suppressed\":6,\"suppressed_sigs\":16384}\n",
		"{\"type\":\"init\",\"at_ns\":1,\"id\":2,\"rank\":3,\"late\":true,\"pid\":4,\"ns_pid\":1,"
		"\"uid\":5,\"start_ns\":6,\"cgroup_id\":2,\"watch_id\":2,\"comm\":\"c\",\"exe\":\"e\"}\n",
		"{\"type\":\"signal\",\"at_ns\":1,\"id\":2,\"lost\":3,\"suppressed\":4,\"sig\":15,"
		"\"result\":1,\"code\":-6,\"flags\":25,\"target_pidns\":10,\"sender_pidns\":11,"
		"\"target_pid\":1,\"target_comm\":\"t\",\"sender_pid\":2,\"sender_exe\":\"s\","
		"\"parent1_pid\":3,\"parent2_ns_pid\":4,\"parent3_uid\":5,\"parent4_start_ns\":6}\n",
		"{\"type\":\"exit\",\"at_ns\":1,\"id\":2,\"status\":139,\"flags\":1,\"exec_ns\":5,"
		"\"looked_at\":16390,\"caught\":16384,\"ignored\":2,\"blocked\":4,\"pid\":3,\"exits\":4}\n",
		"{\"type\":\"oom\",\"at_ns\":1,\"id\":2,\"level_id\":3,\"flags\":2,\"pid\":4}\n",
		"{\"type\":\"counts\",\"at_ns\":1,\"id\":2,\"populated\":true,\"looked\":true,"
		"\"exits\":3,\"told_at_ns\":4}\n",
		"{\"type\":\"probe\",\"at_ns\":1,\"id\":2,\"pid\":3,\"start_ns\":4,\"alive\":true,"
		"\"held\":true}\n",
		"{\"type\":\"names\",\"at_ns\":1,\"pod_uid\":\"u\",\"container_id\":\"i\",\"namespace\":"
		"\"ns\",\"pod\":\"p\",\"container\":\"c\",\"found\":true}\n",
		"{\"type\":\"lost\",\"at_ns\":1,\"cgroup_new_emitted\":1,\"cgroup_gone_lost\":2,"
		"\"cgroup_empty_suppressed\":3,\"init_emitted\":4,\"signal_lost\":5,\"exit_emitted\":6,"
		"\"oom_emitted\":7,\"watch_full_lost\":8,\"quota_lost\":9,\"too_deep_lost\":10,"
		"\"recursion_misses\":11}\n",
		"{\"type\":\"clock\",\"at_ns\":1,\"wall_offset_ns\":1795273445123456789}\n",
		"{\"type\":\"timer\",\"at_ns\":1}\n",
		"{\"type\":\"end\",\"at_ns\":1}\n",
		"{\"type\":\"shed\",\"at_ns\":1,\"id\":2,\"on\":true}\n",
		"{\"type\":\"pod\",\"at_ns\":1,\"source\":2,\"known\":3,\"uid\":\"u\",\"namespace\":"
		"\"ns\",\"name\":\"p\",\"workload\":\"w\",\"grace_ns\":4,\"deletion_grace_ns\":5,"
		"\"deleted_wall_ns\":-6,\"priority\":-7,\"deleting\":true,\"sidecars\":true,"
		"\"static\":true,\"ready\":true,\"qos\":1,\"phase\":2,\"restart_policy\":3,"
		"\"gone\":true,\"asked_ns\":4,\"end\":1,\"workload_kind\":\"k\"}\n",
		"{\"type\":\"container\",\"at_ns\":1,\"source\":1,\"known\":2,\"kind\":1,\"id\":\"i\","
		"\"unit\":\"x.service\",\"pod_uid\":\"u\",\"name\":\"c\",\"image\":\"m\","
		"\"attempt\":3,\"stop_signal\":15,\"main_pid\":4,\"grace_ns\":5,\"prestop\":true,"
		"\"probe_grace\":true,\"exit_code\":-1,\"exit_reason\":\"Error\","
		"\"finished_wall_ns\":6,\"namespace\":\"shop\",\"workload\":\"web\",\"probe\":true}\n",
		"{\"type\":\"reaped\",\"at_ns\":1,\"id\":2,\"pid\":3,\"start_ns\":4}\n",
		"{\"type\":\"taken\",\"at_ns\":1,\"id\":2,\"lost\":3,\"pid\":4,\"sig\":5,\"flags\":6}\n",
		"{\"type\":\"identity\",\"at_ns\":1,\"id\":2,\"runtime\":2,\"container_id\":\"web1\"}\n",
		"{\"type\":\"listed\",\"at_ns\":1,\"asked_ns\":2,\"source\":2}\n",
		"{\"type\":\"shutdown_plan\",\"at_ns\":1,\"mode\":1,\"overdue_slack_ns\":2,"
		"\"status_wait_ns\":3,\"deaf_grace_ns\":4,\"two_phases\":true,\"n_ranges\":16,"
		"\"range1_priority\":-5,\"range1_seconds\":6,\"range16_priority\":7,"
		"\"range16_seconds\":-8}\n",
		"{\"type\":\"shutdown\",\"at_ns\":1,\"event\":5,\"announced_ns\":2,\"limit_ns\":3,"
		"\"no_delay\":true,\"action\":4,\"failed\":true,\"reachable\":true,\"static\":true,\"n_holders\":17,\"holder1\":\"w\","
		"\"holder1_uid\":6,\"holder1_pid\":7,\"holder16\":\"x\",\"holder16_uid\":8,"
		"\"holder16_pid\":9}\n",
		"{\"type\":\"no_init\",\"at_ns\":1,\"id\":2}\n",
		"{\"type\":\"volume\",\"at_ns\":1,\"event\":2,\"failed\":true,\"lives\":true,"
		"\"id\":5,\"device\":6,\"pod_uid\":\"s7\",\"plugin\":\"s8\",\"driver\":\"s9\","
		"\"volume\":\"s10\"}\n",
		"{\"type\":\"shutdown_rule\",\"at_ns\":1,\"scope\":2,\"priority\":-3,\"unit\":\"u\","
		"\"label\":\"l\"}\n",
		"{\"type\":\"look\",\"at_ns\":1,\"id\":2,\"begin_ns\":20,\"pid\":3,\"ns_pid\":4,\"start_ns\":5,"
		"\"comm\":\"s6\",\"tid\":7,\"parent_pid\":8,\"state\":83,\"cpu_ns\":9,"
		"\"ignored\":10,\"caught\":11,\"blocked\":12,\"waits\":true,\"call\":3,"
		"\"wchan\":\"s13\",\"file\":\"s14\",\"reader_pid\":15,\"reader_comm\":\"s16\","
		"\"tracer_pid\":17,\"clients\":18,\"port\":19}\n",
		"{\"type\":\"looked\",\"at_ns\":1,\"id\":2,\"begin_ns\":3,\"failed\":true,"
		"\"more\":true,\"waits\":true,\"unread\":true,\"frozen\":true,\"throttled_ns\":4,"
		"\"forks_failed\":5,\"memory_stalled_ns\":6,\"io_stalled_ns\":7,"
		"\"pids_max\":8}\n",
		"{\"type\":\"kept\",\"at_ns\":1,\"version\":2,\"boot_id\":\"s3\","
		"\"all\":true}\n",
		"{\"type\":\"kept_cgroup\",\"at_ns\":1,\"id\":2,\"runtime\":3,"
		"\"populated\":true,\"entered\":true,\"container_id\":\"s6\",\"path\":\"s7\"}\n",
		"{\"type\":\"kept_stop\",\"at_ns\":1,\"id\":2,\"over\":true,\"state\":4,"
		"\"rank\":5,\"pid\":6,\"ns_pid\":7,\"uid\":8,\"start_ns\":9,\"cgroup_id\":10,"
		"\"watch_id\":11,\"comm\":\"s12\",\"exe\":\"s13\",\"guessed\":true,"
		"\"late\":true,\"init_unseen\":true,\"deaf\":true,\"request_sigs\":17,\"request_suppressed\":18,"
		"\"last_from\":\"s19\",\"oom_victim\":true,\"oom\":21,\"exit_seen\":true,"
		"\"status\":23,\"exit_ns\":24,\"empty_ns\":25,\"deliver_ns\":26,"
		"\"reap_ns\":27,\"base_exits\":28,\"base_kills\":29,\"base_collateral\":30,"
		"\"base_oom_kills\":31,\"base_lost\":32,\"base_suppressed\":33,"
		"\"base_suppressed_sigs\":34,\"exits\":35,\"kills\":36,\"collateral\":37,"
		"\"oom_kills\":38,\"lost\":39,\"suppressed\":40,\"suppressed_sigs\":41,"
		"\"forwards\":42,\"forward_number\":43,\"forward_result\":-44,"
		"\"forward_ns\":45,\"forward_pid\":46,\"forward_ns_pid\":47,"
		"\"forward_uid\":48,\"forward_start_ns\":49,\"forward_cgroup_id\":50,"
		"\"forward_watch_id\":51,\"forward_comm\":\"s52\",\"forward_exe\":\"s53\","
		"\"takes_others\":true,\"told_unnamed\":true,\"record_lost\":true,"
		"\"shed\":true,\"restarted\":true,\"blind\":true,\"hearing\":60,\"given_ns\":61,"
		"\"given_unknown\":true,\"since_ns\":63}\n",
		"{\"type\":\"kept_signal\",\"at_ns\":1,\"id\":2,\"kill\":true,\"number\":4,"
		"\"result\":-5,\"flags\":6,\"signal_ns\":7,\"kind\":8,\"relation\":9,"
		"\"pid\":10,\"ns_pid\":11,\"uid\":12,\"start_ns\":13,\"cgroup_id\":14,"
		"\"watch_id\":15,\"comm\":\"s16\",\"exe\":\"s17\",\"parent1_comm\":\"s18\","
		"\"parent2_comm\":\"s19\",\"parent3_comm\":\"s20\",\"parent4_comm\":\"s21\","
		"\"numbers\":22,\"suppressed\":23,\"hearing\":24,\"deaf\":true,\"taken_ns\":26,"
		"\"dropped_ns\":27,\"passed\":true,\"target_comm\":\"s29\",\"other\":true,"
		"\"mind_pid\":31,\"mind_start_ns\":32}\n",
		"{\"type\":\"kept_pod\",\"at_ns\":1,\"uid\":\"s2\",\"over\":true,\"qos\":4,"
		"\"static\":true,\"listed\":true,\"was_listed\":true,\"known\":8,\"phase\":9,"
		"\"end\":10,\"deleting\":true,\"grace_ns\":12,\"deletion_grace_ns\":13,"
		"\"deleted_wall_ns\":-14,\"stage\":15,\"told\":16,\"trigger\":17,"
		"\"empty_why\":18,\"trigger_ns\":19,\"first_ns\":20,\"since_ns\":21,"
		"\"terminating_ns\":22,\"concluded_ns\":23,\"held\":true,\"by_kernel\":true,"
		"\"orphan\":true,\"stop_ns\":27,\"exit_ns\":28,\"empty_ns\":29,"
		"\"removed_ns\":30,\"empty_seen\":true,\"cgroups_over\":true,"
		"\"unready_ns\":33,\"gone_ns\":34,\"told_stop_ns\":35,\"ready\":36,"
		"\"measured\":true,\"open\":38,\"doubt1_ns\":39,\"doubt2_ns\":40,"
		"\"doubt3_ns\":41,\"synced_ns\":42,\"started_ns\":43,"
		"\"worker_terminating_ns\":44,\"worker_terminated_ns\":45,\"grace_s\":-46,"
		"\"deleted\":true,\"restart_requested\":true,"
		"\"ready_ns\":50,\"heard_ns\":51,\"between\":true,"
		"\"terminating_between\":true,\"lost\":true,\"seen_in_shutdown\":true,"
		"\"given_until_ns\":56}\n",
		"{\"type\":\"kept_run\",\"at_ns\":1,\"announced_ns\":2,\"lost_ns\":3,"
		"\"units_stopped\":true,\"handed_over\":true,\"group\":6,\"group_ns\":7,"
		"\"kubelet_held\":true}\n",
		"{\"type\":\"kept_turn\",\"at_ns\":1,\"id\":2,\"begun_ns\":3,\"grace_s\":-4,"
		"\"end_ns\":5,\"given_ns\":6,\"stop_ns\":7,\"hook_ns\":8,\"asked_ns\":9,"
		"\"killed_ns\":10,\"hooked\":true,\"failed\":true}\n",
		"{\"type\":\"kept_exit\",\"at_ns\":1,\"container_id\":\"s2\",\"pod_uid\":\"s3\","
		"\"seen\":true,\"static\":true,\"status\":6,\"exit_ns\":7,\"start_ns\":8,"
		"\"wall_ns\":-9,\"oom_victim\":true,\"oom_beside\":true,\"oom_sure\":true,"
		"\"compared\":true,\"again\":true,\"runtime\":15,\"qos\":16,"
		"\"differs\":17}\n",
	};

	assert_int_equal(LEN(lines), OBS_TYPE_COUNT - 1);
	for (size_t i = 0; i < LEN(lines); i++) {
		_cleanup_(cleanup_free) struct obs *obs = new_obs();
		_cleanup_(buf_free) struct buf again = {};

		assert_int_equal(rec_read_line(lines[i], strlen(lines[i]), obs), 0);
		assert_int_equal(obs->type, OBS_NONE + 1 + i);
		assert_int_equal(rec_write_obs(&again, obs), 0);
		assert_string_equal(buf_str(&again), lines[i]);
	}
}

static void test_members_arrive(void **state)
{
	static const char line[] =
		"{\"type\":\"signal\",\"at_ns\":18446744073709551615,\"id\":2,\"result\":-2147483648,"
		"\"code\":2147483647,\"flags\":4294967295,\"target_comm\":\"a b\","
		"\"parent4_exe\":\"fifteen bytes..\"}";
	_cleanup_(cleanup_free) struct obs *obs = new_obs();

	memset(obs, 0xa5, sizeof(*obs));
	assert_int_equal(rec_read_line(line, sizeof(line) - 1, obs), 0);
	assert_int_equal(obs->at_ns, UINT64_MAX);
	assert_int_equal(obs->signal.id, 2);
	assert_int_equal(obs->signal.sig, 0);
	assert_int_equal(obs->signal.result, INT32_MIN);
	assert_int_equal(obs->signal.code, INT32_MAX);
	assert_int_equal(obs->signal.flags, UINT32_MAX);
	assert_string_equal(obs->signal.target.comm, "a b");
	assert_string_equal(obs->signal.sender.comm, "");
	assert_int_equal(obs->signal.ancestors[3].pid, 0);
	assert_string_equal(obs->signal.ancestors[3].exe, "fifteen bytes..");
}

static void test_not_looked(void **state)
{
	static const char line[] = "{\"type\":\"counts\",\"at_ns\":1,\"id\":2,\"exits\":3}";
	_cleanup_(cleanup_free) struct obs *obs = new_obs();

	memset(obs, 0xa5, sizeof(*obs));
	assert_int_equal(rec_read_line(line, sizeof(line) - 1, obs), 0);
	assert_int_equal(obs->counts.counts.exits, 3);
	assert_false(obs->counts.looked);
	assert_int_equal(obs->counts.told_at_ns, 0);
}

static void test_only_used_bytes_are_touched(void **state)
{
	static const char line[] = "{\"type\":\"cgroup_found\",\"at_ns\":1,\"path\":\"/kubepods\"}";
	_cleanup_(cleanup_free) struct obs *obs = new_obs();
	size_t used = sizeof("/kubepods");

	memset(obs, 0xa5, sizeof(*obs));
	assert_int_equal(rec_read_line(line, sizeof(line) - 1, obs), 0);
	assert_int_equal(obs->cgroup.id, 0);
	assert_string_equal(obs->cgroup.path, "/kubepods");
	/* Words are written as a whole; what follows the text in the last one is zero. */
	for (size_t i = used; i < (used + 7) / 8 * 8; i++)
		assert_int_equal(obs->cgroup.path[i], 0);
	for (size_t i = (used + 7) / 8 * 8; i < sizeof(obs->cgroup.path); i++)
		assert_int_equal((unsigned char)obs->cgroup.path[i], 0xa5);
}

/* Everything a writer produces that a strict parser can hold is JSON to it as well. */
static void test_a_parser_agrees(void **state)
{
	static const char *const names[] = {"plain", "\"\\\n\x1b[31m", "caf\xc3\xa9",
					    "\xe2\x80\xae"};

	for (size_t i = 0; i < LEN(names); i++) {
		json_auto_t *parsed = NULL;
		_cleanup_(cleanup_free) struct obs *obs = new_obs();
		_cleanup_(buf_free) struct buf line = {};

		obs->type = OBS_CGROUP_FOUND;
		obs->cgroup.id = INT64_MAX;
		strcpy(obs->cgroup.path, names[i]);
		assert_int_equal(rec_write_obs(&line, obs), 0);
		parsed = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(parsed);
		assert_string_equal(json_string_value(json_object_get(parsed, "path")), names[i]);
	}
}

static void test_own_header(void **state)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(rec_write_header(&out, "0.1.0"), 0);
	assert_string_equal(buf_str(&out), "{\"type\":\"graced-recording\",\"version\":1,\"abi\":1,"
					   "\"graced\":\"0.1.0\"}\n");
	assert_int_equal(rec_read_header(out.data, out.len), 0);
}

static void test_write_errors(void **state)
{
	_cleanup_(buf_free) struct buf out = {.limit = 40};
	struct obs obs = {.type = OBS_TIMER, .at_ns = 5};

	assert_int_equal(rec_write_obs(&out, &obs), 0);
	assert_int_equal(rec_write_obs(&out, &obs), -ENOBUFS);
	assert_string_equal(buf_str(&out), "{\"type\":\"timer\",\"at_ns\":5}\n");

	buf_reset(&out);
	obs.type = OBS_NONE;
	assert_int_equal(rec_write_obs(&out, &obs), -EINVAL);
	obs.type = OBS_TYPE_COUNT;
	assert_int_equal(rec_write_obs(&out, &obs), -EINVAL);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("every type with extreme and random members comes back bit by bit",
		      test_round_trip),
		CLAIM("all bytes of an observation are recorded, but for padding",
		      test_nothing_forgotten),
		CLAIM("the table is in itself consistent", test_layouts_are_sound),
		CLAIM("types and members keep their names and their order", test_stable_lines),
		CLAIM("each member arrives in its place, what is left out is zero",
		      test_members_arrive),
		CLAIM("an older recording does not say whether others received a stop signal",
		      test_not_looked),
		CLAIM("of a path only the words that hold its bytes are written",
		      test_only_used_bytes_are_touched),
		CLAIM("lines are JSON to a foreign parser", test_a_parser_agrees),
		CLAIM("the header is read back", test_own_header),
		CLAIM("a line that does not fit leaves nothing behind", test_write_errors),
	};

	return cmocka_run_group_tests_name("wire/recording", tests, NULL, NULL);
}
