// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/recording/checkpoint: what holds together is read, in order; anything else
 * costs itself. */
#include "wire/recording/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/engine/engine.h"
#include "lib/claim.h"

#define BOOT  "955c3660-4947-4219-8e21-46199c513870"
#define OTHER "855c3660-4947-4219-8e21-46199c513870"
#define HEAD  "graced-checkpoint 1 " BOOT " 0.1.0\n"

/* An observation's line that stands for its number. */
#define OBS(n) "o {\"type\":\"timer\",\"at_ns\":" #n "}\n"
#define ENDS   ".\n"

struct got {
	struct buf obs, records;
	struct keep_counts counts;
	int r;
};

static void take(void *userdata, const struct obs *obs)
{
	struct got *got = userdata;

	assert_int_equal(obs->type, OBS_TIMER);
	buf_printf(&got->obs, "%llu ", (unsigned long long)obs->at_ns);
}

/* A copy that ends where it ends, for the sanitizers. */
static void read_bytes(const char *data, size_t size, struct got *ret)
{
	char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, data, size);
	*ret = (struct got){};
	ret->r = keep_read(copy, size, BOOT, take, ret, &ret->records, &ret->counts);
	free(copy);
}

static void got_done(struct got *got)
{
	buf_free(&got->obs);
	buf_free(&got->records);
}

static void check(const char *data, int r, const char *obs, const char *records, uint64_t damaged)
{
	struct got got;

	read_bytes(data, strlen(data), &got);
	assert_int_equal(got.r, r);
	assert_string_equal(buf_str(&got.obs), obs);
	assert_string_equal(buf_str(&got.records), records);
	assert_int_equal(got.counts.damaged, damaged);
	got_done(&got);
}

static void what_was_written_is_read(void **state)
{
	_cleanup_(buf_free) struct buf file = {};
	struct obs obs = {.type = OBS_TIMER, .at_ns = 7};

	keep_add_header(&file, BOOT, "0.1.0");
	keep_add_record(&file, "{\"a\":1}\n", 8);
	keep_add_obs(&file, &obs);
	keep_add_end(&file);
	assert_string_equal(buf_str(&file), HEAD "t {\"a\":1}\n" OBS(7) ENDS);
	check(buf_str(&file), 0, "7 ", "{\"a\":1}\n", 0);
	keep_add_out(&file);
	obs.at_ns = 8;
	keep_add_obs(&file, &obs);
	obs.type = OBS_NONE;
	keep_add_obs(&file, &obs);
	keep_add_record(&file, "{\"a\":2}\n", 8);
	keep_add_end(&file);
	check(buf_str(&file), 0, "7 8 ", "{\"a\":2}\n", 0);
}

static void only_what_may_not_be_written_is_repeated(void **state)
{
	static const struct {
		const char *data, *records;
	} cases[] = {
		{HEAD "t {\"a\":1}\nt {\"a\":2}\n.\n", "{\"a\":1}\n{\"a\":2}\n"},
		{HEAD "t {\"a\":1}\n.\nt {\"a\":2}\n.\n", "{\"a\":1}\n{\"a\":2}\n"},
		{HEAD "t {\"a\":1}\n.\nf\nt {\"a\":2}\n.\n", "{\"a\":2}\n"},
		{HEAD "t {\"a\":1}\n.\nf\n.\n", ""},
		{HEAD "t {\"a\":1}\n.\nf\n.\nf\n.\n", ""},
		{HEAD "t {\"a\":1}\n.\nf\n", "{\"a\":1}\n"},
	};

	for (size_t i = 0; i < LEN(cases); i++)
		check(cases[i].data, 0, "", cases[i].records, 0);
}

static void a_file_of_another_kind_gives_nothing(void **state)
{
	static const struct {
		const char *data;
		int r;
	} cases[] = {
		{"", -ENODATA},
		{"\n", -ENOMSG},
		{"graced", -ENOMSG},
		{"graced-checkpoint", -ENOMSG},
		{"{\"type\":\"graced-recording\",\"version\":1}\n" OBS(1) ENDS, -ENOMSG},
		{"graced-checkpoint 2 " BOOT " 9\n" OBS(1) ENDS, -EPROTONOSUPPORT},
		{"graced-checkpoint 11 " BOOT " 9\n" OBS(1) ENDS, -EPROTONOSUPPORT},
		{"graced-checkpoint 1 " OTHER " 0.1.0\n" OBS(1) ENDS, -ESTALE},
		{"graced-checkpoint 1 \n" OBS(1) ENDS, -ESTALE},
		{"graced-checkpoint 1 " BOOT, 0},
		{HEAD, 0},
	};

	for (size_t i = 0; i < LEN(cases); i++)
		check(cases[i].data, cases[i].r, "", "", 0);
}

static void a_host_without_a_boot_id_trusts_no_file(void **state)
{
	_cleanup_(buf_free) struct buf records = {};
	struct keep_counts counts;

	assert_int_equal(keep_read(HEAD, strlen(HEAD), "", take, NULL, &records, &counts), -ESTALE);
}

static void damage_costs_the_line_it_is_in(void **state)
{
	static const char *const lines[] = {
		"",
		"x",
		"o",
		"o ",
		"o {}",
		"o {\"type\":\"timer\",\"at_ns\":-1}",
		"o {\"type\":\"of a later version\",\"at_ns\":1}",
		"t",
		"t ",
		"t {",
		"t text",
		"t {\"a\":\x01}",
		"ff",
		"..",
		HEAD,
	};

	for (size_t i = 0; i < LEN(lines); i++) {
		_cleanup_(buf_free) struct buf file = {};
		size_t bare = strlen(lines[i]) - (lines[i] == lines[LEN(lines) - 1]);

		buf_printf(&file, HEAD OBS(1) "%.*s\n" OBS(2) "t {}\n.\n" OBS(3) ENDS, (int)bare,
			   lines[i]);
		print_message("# '%.*s'\n", (int)bare, lines[i]);
		check(buf_str(&file), 0, "1 2 3 ", "{}\n", 1);
	}
}

/* Each addition is read completely, or not at all. */
static void cut_anywhere_it_ends_with_the_last_whole_addition(void **state)
{
	static const char *const additions[] = {
		OBS(1) OBS(2) ENDS,
		"t {\"a\":\".\"}\n" OBS(3) ENDS,
		"f\n.\n",
		OBS(4) ENDS,
		"f\nt {\"b\":2}\n" OBS(5) "t {\"c\":3}\n" ENDS,
	};
	static const char *const obs[] = {"", "1 2 ", "1 2 3 ", "1 2 3 ", "1 2 3 4 ", "1 2 3 4 5 "};
	static const char *const records[] = {"", "", "{\"a\":\".\"}\n",
					      "", "", "{\"b\":2}\n{\"c\":3}\n"};
	_cleanup_(buf_free) struct buf file = {};
	size_t ends[LEN(additions) + 1], whole = 0;

	buf_adds(&file, HEAD);
	ends[0] = 0;
	for (size_t i = 0; i < LEN(additions); i++) {
		buf_adds(&file, additions[i]);
		ends[i + 1] = file.len;
	}
	for (size_t cut = strlen(HEAD); cut <= file.len; cut++) {
		struct got got;

		while (whole < LEN(additions) && ends[whole + 1] <= cut)
			whole++;
		read_bytes(file.data, cut, &got);
		assert_int_equal(got.r, 0);
		assert_string_equal(buf_str(&got.obs), obs[whole]);
		assert_string_equal(buf_str(&got.records), records[whole]);
		assert_int_equal(got.counts.damaged, 0);
		assert_int_equal(got.counts.torn, cut - ends[whole]);
		got_done(&got);
	}
	assert_int_equal(whole, LEN(additions));
}

static void what_the_caller_had_stays(void **state)
{
	_cleanup_(buf_free) struct buf records = {};
	struct got got = {};
	const char *data = HEAD "t {}\n.\nf\nt {\"a\":1}\n.\n";

	buf_adds(&records, "mine\n");
	assert_int_equal(keep_read(data, strlen(data), BOOT, take, &got, &records, &got.counts), 0);
	assert_string_equal(buf_str(&records), "mine\n{\"a\":1}\n");
	assert_int_equal(got.counts.repeated, 1);
}

static void on_effect(void *userdata, const struct effect *effect)
{
}

static void feed(void *userdata, const struct obs *obs)
{
	engine_step(userdata, obs, on_effect, NULL);
}

static void add_obs(void *userdata, const struct obs *obs)
{
	keep_add_obs(userdata, obs);
}

static struct engine *new_engine(void)
{
	static const struct engine_config config = {.scope = SCOPE_CONTAINERS};
	struct engine *engine;

	assert_int_equal(engine_new(&config, &engine), 0);
	return engine;
}

static void attach(struct engine *engine, uint64_t at_ns)
{
	struct obs obs = {.type = OBS_ATTACHED, .at_ns = at_ns};

	strcpy(obs.attached.boot_id, BOOT);
	feed(engine, &obs);
}

/* A container that runs, in a pod of its own, and one with a stop signal. */
static void add_container(struct engine *engine, uint64_t id, bool stopping)
{
	struct obs found = {.type = OBS_CGROUP_FOUND, .at_ns = id};
	struct obs init = {.type = OBS_INIT, .at_ns = id};
	struct obs signal = {.type = OBS_SIGNAL, .at_ns = id + 1};
	struct graced_proc proc = {
		.pid = (uint32_t)id, .ns_pid = 1, .start_ns = id, .cgroup_id = id, .watch_id = id};

	found.cgroup.id = id;
	found.cgroup.level = 4;
	snprintf(found.cgroup.path, sizeof(found.cgroup.path),
		 "/kubepods/burstable/pod%08x-0000-4000-8000-000000000000/%064x", (unsigned int)id,
		 (unsigned int)id);
	feed(engine, &found);
	init.init = (struct obs_init){.id = id, .rank = GRACED_INIT_PID1, .proc = proc};
	feed(engine, &init);
	signal.signal =
		(struct obs_signal){.id = id, .sig = 15, .target = proc, .sender = {.pid = 7}};
	if (stopping)
		feed(engine, &signal);
}

/* As a daemon writes it: all that is there, then what changed. */
static void write_life(struct buf *file)
{
	struct engine *engine = new_engine();

	attach(engine, 1);
	keep_add_header(file, BOOT, "0.1.0");
	add_container(engine, 1001, false);
	engine_keep(engine, true, add_obs, file);
	keep_add_end(file);
	add_container(engine, 1002, true);
	keep_add_record(file, "{}\n", 3);
	engine_keep(engine, false, add_obs, file);
	keep_add_end(file);
	engine_free(engine);
}

/* Goes on from those bytes, and comes to an end. How many observations it took. */
static uint64_t live_on(const char *data, size_t size)
{
	struct engine *engine = new_engine();
	_cleanup_(buf_free) struct buf records = {}, again = {};
	struct obs end = {.type = OBS_END, .at_ns = 3000};
	struct keep_counts counts = {};

	keep_read(data, size, BOOT, feed, engine, &records, &counts);
	attach(engine, 2000);
	engine_keep(engine, true, add_obs, &again);
	feed(engine, &end);
	engine_free(engine);
	return counts.observations;
}

static void an_engine_goes_on_from_any_part_of_it(void **state)
{
	_cleanup_(buf_free) struct buf file = {};
	uint64_t all, before = 0;

	write_life(&file);
	all = live_on(buf_str(&file), file.len);
	assert_true(all >= 6);
	for (size_t cut = 0; cut <= file.len; cut++) {
		char *part = malloc(cut ? cut : 1);
		uint64_t now;

		assert_non_null(part);
		memcpy(part, buf_str(&file), cut);
		now = live_on(part, cut);
		assert_true(now >= before && now <= all);
		before = now;
		free(part);
	}
	assert_int_equal(before, all);
}

static void an_engine_goes_on_whatever_byte_is_spoilt(void **state)
{
	static const char bytes[] = {0, '\n', '"', '9', '{', (char)0xff};
	_cleanup_(buf_free) struct buf file = {};

	write_life(&file);
	for (size_t at = 0; at < file.len; at++) {
		char was = file.data[at];

		file.data[at] = bytes[at % sizeof(bytes)];
		live_on(buf_str(&file), file.len);
		file.data[at] = was;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what was written is read, in order", what_was_written_is_read),
		CLAIM("only records that may not be written are repeated",
		      only_what_may_not_be_written_is_repeated),
		CLAIM("a file of another kind, version or boot gives nothing",
		      a_file_of_another_kind_gives_nothing),
		CLAIM("a host without a boot id trusts no file",
		      a_host_without_a_boot_id_trusts_no_file),
		CLAIM("damage costs the line it is in", damage_costs_the_line_it_is_in),
		CLAIM("cut anywhere, it ends with the last whole addition",
		      cut_anywhere_it_ends_with_the_last_whole_addition),
		CLAIM("what the caller had stays", what_the_caller_had_stays),
		CLAIM("cut anywhere, an engine goes on from what is left",
		      an_engine_goes_on_from_any_part_of_it),
		CLAIM("whatever byte is spoilt, an engine goes on",
		      an_engine_goes_on_whatever_byte_is_spoilt),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
