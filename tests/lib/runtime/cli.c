// SPDX-License-Identifier: Apache-2.0
// Play scenes with Docker or Podman and hold the records against what was played.
#include "lib/runtime/cli.h"

#include "lib/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 40

struct args {
	const char *at[ARGS_MAX + 1];
	size_t n;
};

static void add(struct args *args, const char *const *more)
{
	for (; more && *more && args->n < ARGS_MAX; more++)
		args->at[args->n++] = *more;
}

char *runtime_cli_do(const struct runtime_cli *cli, const char *const *words)
{
	struct args args = {0};

	add(&args, cli->command);
	add(&args, words);
	return runtime_stage_run(args.at);
}

/* The id, which is the last line: above may be warnings. */
static char *start(const struct runtime_cli *cli, const struct runtime_cli_scene *scene)
{
	const char *const *handler = BOX_ARGV("--runtime", scene->handler);
	struct args args = {0};
	char *out, *newline, *id;

	if (cli->handler_first)
		add(&args, handler);
	add(&args, BOX_ARGV("run", "-d", "--name", scene->name));
	if (!cli->handler_first)
		add(&args, handler);
	add(&args, cli->run_options);
	add(&args, scene->run);
	add(&args, BOX_ARGV(scene->image, scene->behaviour));
	out = runtime_cli_do(cli, args.at);
	newline = strrchr(out, '\n');
	id = strdup(newline ? newline + 1 : out);
	free(out);
	assert_non_null(id);
	return id;
}

/* It runs the runtime's command by its name, without the options that it needs here. */
static void stop_by_try(const struct runtime_cli *cli, const struct runtime_cli_scene *scene)
{
	static const char script[] =
		"name=$1 status=$2; shift 2; real=$(command -v \"$1\"); shift; d=$(mktemp -d);"
		"printf '#!/bin/sh\\nexec %s %s \"$@\"\\n' \"$real\" \"$*\" >\"$d/${real##*/}\";"
		"chmod +x \"$d\"/*; PATH=$d:$PATH \"$GRACED\" try \"$name\"; got=$?;"
		"rm -r \"$d\"; test $got = \"$status\"";
	struct args args = {0};

	add(&args, BOX_ARGV("sh", "-c", script, "-", scene->name, scene->tried));
	add(&args, cli->command);
	free(runtime_stage_run(args.at));
}

static void stop(const struct runtime_cli *cli, const struct runtime_cli_scene *scene)
{
	struct args args = {0};

	if (scene->tried) {
		stop_by_try(cli, scene);
		return;
	}
	add(&args, BOX_ARGV("stop"));
	add(&args, scene->stop);
	add(&args, BOX_ARGV(scene->name));
	free(runtime_cli_do(cli, args.at));
}

static void play(const struct runtime_cli *cli, const struct runtime_cli_scene *scene)
{
	struct tracer_want want = {.type = "stop"};
	char names[512], *id;
	const json_t *rec;

	runtime_stage_need(&cli->stage);
	id = start(cli, scene);
	runtime_stage_await(&cli->stage, id, !strcmp(scene->behaviour, "graceful"));
	if (scene->audited)
		runtime_stage_audited(id, scene->audited);
	stop(cli, scene);
	rec = runtime_stage_stopped(&cli->stage, id, scene->expected);
	if (scene->judge)
		scene->judge(rec);
	snprintf(names, sizeof(names),
		 "{'pod':null,'container':{'id':'%s','name':'%s','runtime':'%s',"
		 "'kind':'container'},'stop_signal':{'sender':{'kind':'runtime','comm':'%s'}}}",
		 id, scene->name, cli->runtime, scene->handler);
	runtime_stage_stopped(&cli->stage, id, scene->names ?: names);
	want.id = id;
	assert_int_equal(tracer_count(cli->stage.tracer, &want), 1);
	free(runtime_cli_do(cli, BOX_ARGV("rm", "-f", scene->name)));
	free(id);
}

/* What a test of cmocka's is given. */
struct part {
	const struct runtime_cli *cli;
	const struct runtime_cli_scene *scene;
};

static void play_part(void **state)
{
	const struct part *part = *state;

	play(part->cli, part->scene);
}

int runtime_cli_main(struct runtime_cli *cli, const struct runtime_cli_scene *scenes, size_t n,
		     int (*setup)(void **state), int (*teardown)(void **state))
{
	struct CMUnitTest *tests = calloc(n, sizeof(*tests));
	struct part *parts = calloc(n, sizeof(*parts));
	int r = 1;

	for (size_t i = 0; tests && parts && i < n; i++) {
		parts[i] = (struct part){cli, &scenes[i]};
		tests[i] = (struct CMUnitTest){.name = scenes[i].claim,
					       .test_func = play_part,
					       .initial_state = &parts[i]};
	}
	if (tests && parts)
		r = _cmocka_run_group_tests(cli->runtime, tests, n, setup, teardown);
	free(tests);
	free(parts);
	return r;
}
