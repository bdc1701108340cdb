// SPDX-License-Identifier: Apache-2.0
// The four containers of the demonstration get exactly their verdicts.
#include "lib/claim.h"
#include "lib/kernel/fixture.h"
#include "lib/kernel/scene.h"
#include "lib/jrec.h"
#include "lib/run.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MIB (1024u * 1024u)

static int setup(void **state)
{
	return fixture_open(state, "demotest", BOX_ARGV("--assume-grace", "2s", "--signals"));
}

static const struct scene graceful = {
	.argv = {"graceful", "0", "40"},
	.acts = {{BY_RUNTIME, SIGTERM, true}},
	.outcome = "graceful",
	.cause = "stop-signal",
};

static const struct scene deaf = {
	.argv = {"deaf"},
	.acts = {{BY_RUNTIME, SIGTERM, true}},
	.outcome = "killed",
	.cause = "grace-expired",
	.stop_result = "ignored",
	.deaf = true,
};

static const struct scene hungry = {
	.argv = {"wait", "oom"},
	.memory = 32 * MIB,
	.outcome = "oom-killed",
	.cause = "oom-container",
	.kernel_kill = true,
	.oom_kills = 1,
};

static const struct scene shell = {
	.argv = {"shell", "1"},
	.acts = {{BY_RUNTIME, SIGTERM, true}},
	.outcome = "graceful",
	.cause = "stop-signal",
	.collateral_kills = 1,
};

/* Play it and compare the whole stop record; then the record of its SIGTERM, if it got one. */
static void play(void **state, const struct scene *scene)
{
	struct fixture *f = *state;
	struct tracer_want signal = {.type = "signal"};
	struct played *played;
	const json_t *rec;
	char why[1024];

	if (!f)
		skip();
	played = calloc(1, sizeof(*played));
	assert_non_null(played);
	assert_int_equal(scene_play(&f->tree, scene, NULL, played), 0);
	rec = tracer_await_stop(f->tracer, &played->box);
	if (scene_check(&f->tree, played, rec, why, sizeof(why))) {
		if (rec)
			json_dumpf(rec, stderr, JSON_COMPACT);
		fail_msg("%s", why);
	}
	if (scene->acts[0].who != BY_NOBODY) {
		signal.id = played->box.id;
		rec = tracer_await(f->tracer, &signal);
		if (jrec_match(rec,
			       scene->deaf ? "{'signal':{'name':'SIGTERM','result':'ignored'},"
					     "'deaf':true,'target':{'ns_pid':1,'init':true}}"
					   : "{'signal':{'name':'SIGTERM','result':'delivered'},"
					     "'deaf':false,'target':{'ns_pid':1,'init':true}}",
			       why, sizeof(why)))
			fail_msg("the signal record: %s", why);
		/* It came at the signal, not with hindsight. */
		assert_true(jrec_int(rec, "boot_ns", 0) >= (int64_t)played->sent[0].before_ns);
		assert_true(jrec_int(rec, "boot_ns", 0) <= (int64_t)played->sent[0].after_ns);
	}
	free(played);
}

static void an_init_that_hears_is_graceful(void **state)
{
	play(state, &graceful);
}

static void a_deaf_init_is_known_at_the_signal_and_killed(void **state)
{
	play(state, &deaf);
}

static void an_init_over_its_memory_limit_is_oom_killed(void **state)
{
	play(state, &hungry);
}

static void a_shell_that_tells_its_child_nothing_has_it_killed(void **state)
{
	play(state, &shell);
}

/* What a demonstration of this pid might have left in the file system. */
static bool leaves_something(const struct hier *hier, pid_t pid)
{
	const char *const below[] = {hier->mount, hier->v2_mount, "/tmp", "/sys/fs/bpf", "/run"};
	char pattern[HIER_PATH_MAX + 64];
	bool found = false;
	glob_t list;

	for (size_t i = 0; i < LEN(below); i++) {
		if (!below[i][0])
			continue;
		snprintf(pattern, sizeof(pattern), "%s/graced-demo-%d*", below[i], (int)pid);
		if (!glob(pattern, 0, NULL, &list))
			found = true;
		globfree(&list);
	}
	return found;
}

static void the_demonstration_ends_well_and_leaves_nothing_behind(void **state)
{
	static const char *const words[] = {"graceful", "grace-expired", "oom-container"};
	struct fixture *f = *state;
	char exe[HIER_PATH_MAX + 64];
	struct run_result result;

	if (!f)
		skip();
	snprintf(exe, sizeof(exe), "%s/../../tools/demo", f->tree.helpers);
	if (access(exe, X_OK) < 0)
		skip();
	assert_int_equal(run(&(struct run_spec){.exe = exe}, &result), 0);
	if (result.status)
		fail_msg("status %d: %s", result.status, result.err);
	for (size_t i = 0; i < LEN(words); i++)
		if (!strstr(result.out, words[i]))
			fail_msg("no %s in: %s", words[i], result.out);
	assert_false(leaves_something(&f->tree.hier, result.pid));
	run_done(&result);
}

/* In place of graced: its daemon is the real one, its trace loses all there is, after so many lines
 * of warnings. */
static void write_losing(const char *path, unsigned int warnings)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fprintf(out,
		"#!/bin/sh\n"
		"[ \"$1\" = trace ] || exec %s \"$@\"\n"
		"yes 'graced: a warning' | head -n %u >&2\n"
		"trap 'echo \"graced: 7 events were lost; rows say so\" >&2; exit 0' INT\n"
		"echo TIME\n"
		"while :; do sleep 0.1; done\n",
		getenv("GRACED"), warnings);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static void lose(void **state, unsigned int warnings)
{
	struct fixture *f = *state;
	char exe[HIER_PATH_MAX + 64], losing[HIER_PATH_MAX + 64];
	struct run_result result;
	char *graced;
	int r;

	if (!f)
		skip();
	snprintf(exe, sizeof(exe), "%s/../../tools/demo", f->tree.helpers);
	if (access(exe, X_OK) < 0)
		skip();
	snprintf(losing, sizeof(losing), "%s/losing", f->tree.tmp);
	write_losing(losing, warnings);
	graced = strdup(getenv("GRACED"));
	setenv("GRACED", losing, 1);
	r = run(&(struct run_spec){.exe = exe}, &result);
	setenv("GRACED", graced, 1);
	free(graced);
	assert_int_equal(r, 0);
	assert_int_equal(result.status, 1);
	assert_non_null(strstr(result.err, "demo: records were lost"));
	/* What the daemon saw of them is shown all the same. */
	assert_non_null(strstr(result.out, "graced_container_stops_total{"));
	assert_false(leaves_something(&f->tree.hier, result.pid));
	run_done(&result);
}

static void a_demonstration_whose_records_are_lost_says_so(void **state)
{
	lose(state, 0);
}

/* More than a pipe holds. */
static void however_much_is_logged_before(void **state)
{
	lose(state, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an init that hears is graceful", an_init_that_hears_is_graceful),
		CLAIM("a deaf init is known at the signal and killed when its grace is over",
		      a_deaf_init_is_known_at_the_signal_and_killed),
		CLAIM("an init over its memory limit is OOM-killed",
		      an_init_over_its_memory_limit_is_oom_killed),
		CLAIM("a shell that tells its child nothing has it killed",
		      a_shell_that_tells_its_child_nothing_has_it_killed),
		CLAIM("the demonstration ends well and leaves nothing behind",
		      the_demonstration_ends_well_and_leaves_nothing_behind),
		CLAIM("a demonstration whose records are lost says so",
		      a_demonstration_whose_records_are_lost_says_so),
		CLAIM("however much is logged before", however_much_is_logged_before),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
