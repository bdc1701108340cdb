// SPDX-License-Identifier: Apache-2.0
// Names that want to break out: of processes, programs and cgroups, with quotes, controls, escape
// sequences, bytes that are no UTF-8, and of every length. What comes out is JSON line by line,
// and nothing that a terminal would obey.
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define LOST "\xef\xbf\xbd" /* U+FFFD, for each byte that is no UTF-8 */

/* At most 15 bytes each, the most a process can be called; what a reader of the JSON gets. */
static const struct {
	const char *bytes, *text;
} names[] = {
	{"quote\"s'", "quote\"s'"},
	{"back\\slash\\", "back\\slash\\"},
	{"line\nline\r\n", "line\nline\r\n"},
	{"tab\tbell\a\b", "tab\tbell\a\b"},
	{"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
	{"\x1b]0;title\a", "\x1b]0;title\a"},
	{"\x1b[2J\x1b[H", "\x1b[2J\x1b[H"},
	{"raw \x9b"
	 "31m",
	 "raw " LOST "31m"},
	{"c1 \xc2\x9b"
	 "31m",
	 "c1 \xc2\x9b"
	 "31m"},
	{"del\x7f\x7f", "del\x7f\x7f"},
	{"\xff\xfe\xc0\x80", LOST LOST LOST LOST},
	{"cut \xe2\x82", "cut " LOST LOST},
	{"surr \xed\xa0\x80", "surr " LOST LOST LOST},
	{"rtl \xe2\x80\xae"
	 "gpj",
	 "rtl \xe2\x80\xae"
	 "gpj"},
	{"\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x90\xa7", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x90\xa7"},
	{"%s%n%d%99999s", "%s%n%d%99999s"},
	{"\",\"deaf\":true", "\",\"deaf\":true"},
	{"fifteen bytes .", "fifteen bytes ."},
};

/* Into the names of cgroups goes all but a newline and a slash. */
#define EVIL	  "a\"b\\c\x1b[31m\x07\x7f\xc2\x9b\xff\xe2\x80\xae\t%n"
#define EVIL_TEXT "a\"b\\c\x1b[31m\x07\x7f\xc2\x9b" LOST "\xe2\x80\xae\t%n"

/* The whole tree is below a cgroup with such a name; everything is recorded for the end. */
struct stage {
	struct fixture fixture; /* first: tests take the stage for it */
	char recording[128];
	char evil_dir[2 * HIER_PATH_MAX];  /* a long one, made for senders from outside */
	char evil_path[2 * HIER_PATH_MAX]; /* as JSON has it */
};

static int make_evil(struct stage *stage)
{
	const struct box_tree *tree = &stage->fixture.tree;
	char long_name[256];

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	memcpy(long_name, EVIL, strlen(EVIL));
	snprintf(stage->evil_dir, sizeof(stage->evil_dir), "%s/%s", tree->root, long_name);
	snprintf(stage->evil_path, sizeof(stage->evil_path), "/graced-%s-%d/%s%s", EVIL_TEXT,
		 (int)getpid(), EVIL_TEXT, long_name + strlen(EVIL));
	return mkdir(stage->evil_dir, 0755) < 0 ? -errno : 0;
}

static int setup(void **state)
{
	const char *why = box_unavailable();
	struct stage *stage;
	int r;

	if (!why)
		why = tracer_unavailable();
	if (why) {
		fprintf(stderr, "SKIP hostile names: %s\n", why);
		*state = NULL;
		return 0;
	}
	stage = calloc(1, sizeof(*stage));
	if (!stage)
		return -1;
	r = box_tree_open(&stage->fixture.tree, EVIL);
	snprintf(stage->recording, sizeof(stage->recording), "%s/names.rec",
		 stage->fixture.tree.tmp);
	if (!r)
		r = make_evil(stage);
	if (!r)
		r = tracer_start(&(struct tracer_spec){.record = stage->recording,
						       .args = BOX_ARGV("--signals")},
				 &stage->fixture.tracer);
	if (r)
		fprintf(stderr, "the stage cannot be set: %s\n", strerror(-r));
	*state = stage;
	return r ? -1 : 0;
}

/* Stop a box and take its record. */
static const json_t *record_of(struct fixture *f, struct box *box)
{
	struct proc_end end;
	const json_t *rec;
	struct sent sent;

	judge_send(f, SEND_HERE, box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	rec = tracer_await_stop(f->tracer, box);
	assert_int_equal(box_remove(box), 0);
	judge_match(rec, "{'outcome':'graceful','evidence':{'complete':true}}");
	return rec;
}

static void a_process_may_call_itself_anything(void **state)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(names); i++) {
		struct box_spec spec = {.argv = BOX_ARGV("comm", names[i].bytes, "graceful")};
		const json_t *rec;
		struct box box;

		judge_start(f, &spec, &box);
		rec = record_of(f, &box);
		assert_string_equal(jrec_text(rec, "process.comm"), names[i].text);
	}
}

static void copy(const char *from, const char *to)
{
	char *argv[] = {(char *)"cp", (char *)(uintptr_t)from, (char *)(uintptr_t)to, NULL};
	struct run_result result;

	assert_int_equal(
		run(&(struct run_spec){.exe = "/bin/cp", .args = (const char *const *)argv + 1},
		    &result),
		0);
	assert_int_equal(result.status, 0);
	run_done(&result);
}

/* A copy of a helper under another name, in the tree's own directory. */
static void copy_helper(struct fixture *f, const char *helper, const char *name, char *ret)
{
	char from[HIER_PATH_MAX + 32];

	snprintf(from, sizeof(from), "%s/%s", f->tree.helpers, helper);
	assert_true(snprintf(ret, HIER_PATH_MAX, "%s/%s", f->tree.tmp, name) < HIER_PATH_MAX);
	copy(from, ret);
}

static void a_program_may_be_called_anything(void **state)
{
	struct fixture *f = judge_need(state);
	char exe[HIER_PATH_MAX], helpers[HIER_PATH_MAX], long_name[256];
	struct box_spec spec = {.argv = BOX_ARGV("graceful")};
	const json_t *rec;
	struct box box;

	memset(long_name, 'y', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	memcpy(helpers, f->tree.helpers, sizeof(helpers));
	for (size_t i = 0; i <= LEN(names); i++) {
		spec.prog = i < LEN(names) ? names[i].bytes : long_name;
		copy_helper(f, "workload", spec.prog, exe);
		memcpy(f->tree.helpers, f->tree.tmp, sizeof(f->tree.tmp));
		judge_start(f, &spec, &box);
		memcpy(f->tree.helpers, helpers, sizeof(helpers));
		rec = record_of(f, &box);
		assert_string_equal(jrec_text(rec, "process.comm"),
				    i < LEN(names) ? names[i].text : "yyyyyyyyyyyyyyy");
		unlink(exe);
	}
}

static void a_container_may_be_below_any_name(void **state)
{
	struct fixture *f = judge_need(state);
	char want[HIER_PATH_MAX];
	const json_t *rec;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	rec = record_of(f, &box);
	snprintf(want, sizeof(want), "/graced-%s-%d/kubepods/burstable/pod%s/%s", EVIL_TEXT,
		 (int)getpid(), box.uid, box.id);
	assert_string_equal(jrec_text(rec, "container.cgroup"), want);
	assert_string_equal(jrec_text(rec, "container.id"), box.id);
	assert_string_equal(jrec_text(rec, "pod.uid"), box.uid);
}

/* Sender, its program, its ancestor and its cgroup all have hostile names. */
static void a_sender_may_be_anybody(void **state)
{
	struct stage *stage = (struct stage *)judge_need(state);
	struct fixture *f = &stage->fixture;
	char exe[HIER_PATH_MAX], pid[16], comm[16];
	struct proc_spec spec = {.exe = exe, .no_wait = true};
	const json_t *sender;
	struct proc_end end;
	struct proc proc;
	struct box box;

	prctl(PR_GET_NAME, comm);
	for (size_t i = 0; i < LEN(names); i++) {
		judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
		copy_helper(f, "sender", names[i].bytes, exe);
		snprintf(pid, sizeof(pid), "%d", (int)box.init_pid);
		spec.argv = BOX_ARGV("kill", pid, "15");
		spec.cgroups[0] = stage->evil_dir;
		prctl(PR_SET_NAME, names[i].bytes);
		assert_int_equal(proc_start(&spec, &proc), 0);
		assert_int_equal(proc_wait(&proc, &end), 0);
		prctl(PR_SET_NAME, comm);
		proc_free(&proc);
		unlink(exe);

		assert_int_equal(proc_wait(&box.proc, &end), 0);
		sender = jrec_get(tracer_await_stop(f->tracer, &box), "stop_signal.sender");
		assert_int_equal(box_remove(&box), 0);
		assert_string_equal(jrec_text(sender, "comm"), names[i].text);
		assert_string_equal(
			json_string_value(json_array_get(json_object_get(sender, "ancestors"), 0)),
			names[i].text);
		assert_string_equal(jrec_text(sender, "cgroup"), stage->evil_path);
		judge_match(sender, "{'kind':'host','pod':null,'container':null}");
	}
}

/* --- what comes out as bytes --- */

/* U+0080 to U+009F are controls, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 turn text. */
static bool is_obeyed(const unsigned char *at)
{
	if (*at < 0x20 || *at == 0x7f)
		return true;
	if (at[0] == 0xc2)
		return at[1] < 0xa0;
	if (at[0] != 0xe2 || (at[1] != 0x80 && at[1] != 0x81))
		return false;
	if (at[1] == 0x80)
		return at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae);
	return at[2] >= 0xa6 && at[2] <= 0xa9;
}

static void check_line(const char *line)
{
	json_t *as_text = json_string(line); /* refuses what is no UTF-8 */

	if (!as_text)
		fail_msg("no UTF-8: %s", line);
	json_decref(as_text);
	for (const unsigned char *at = (const unsigned char *)line; *at; at++) {
		if (is_obeyed(at))
			fail_msg("a terminal would obey byte %#x of: %s", *at, line);
	}
}

static void replay(const struct stage *stage, const char *output, struct run_result *ret)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("replay", "-o", output, "--signals", stage->recording)};

	assert_int_equal(run(&spec, ret), 0);
	assert_int_equal(ret->status, 0);
	assert_int_equal(strlen(ret->out), ret->out_len);
}

static void no_line_is_obeyed_by_a_terminal(void **state)
{
	struct stage *stage = (struct stage *)judge_need(state);
	struct run_result result;
	size_t lines;
	char *text, *line;

	assert_int_equal(tracer_stop(stage->fixture.tracer), 0);
	assert_int_equal(tracer_bad_lines(stage->fixture.tracer), 0);
	for (int json = 0; json < 2; json++) {
		replay(stage, json ? "json" : "table", &result);
		lines = 0;
		text = result.out;
		while ((line = strsep(&text, "\n")) && *line) {
			check_line(line);
			lines++;
			if (json) {
				json_t *rec = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

				assert_true(json_is_object(rec));
				json_decref(rec);
			}
		}
		/* Every container's signal and stop are there, each on a line of its own. */
		assert_true(lines >= 2 * (3 * LEN(names) + 2));
		run_done(&result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a process may call itself anything", a_process_may_call_itself_anything),
		CLAIM("a program may be called anything", a_program_may_be_called_anything),
		CLAIM("a container may be below a cgroup of any name",
		      a_container_may_be_below_any_name),
		CLAIM("a sender may be anybody, anywhere", a_sender_may_be_anybody),
		CLAIM("JSON is JSON line by line, and no line is obeyed by a terminal",
		      no_line_is_obeyed_by_a_terminal),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
