// SPDX-License-Identifier: Apache-2.0
// Set up a host for runtimes with a tracer for a group of tests.
#include "lib/runtime/stage.h"

#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/run.h"

#include <stdio.h>
#include <string.h>

int runtime_stage_open(struct runtime_stage *stage, const char *what)
{
	*stage = (struct runtime_stage){0};
	if (runtime_host_open(what, &stage->host))
		return -1;
	if (!stage->host)
		return 0;
	if (runtime_host_image(stage->host, RUNTIME_IMAGE, "", BOX_ARGV("graceful"),
			       stage->image) ||
	    runtime_host_image(stage->host, RUNTIME_IMAGE_QUIT, "SIGQUIT", BOX_ARGV("graceful"),
			       stage->image_quit)) {
		runtime_stage_close(stage);
		return -1;
	}
	return 0;
}

int runtime_stage_trace(struct runtime_stage *stage, const char *const *args)
{
	const struct tracer_spec spec = {.args = args, .root = stage->host->cgroup};
	int r = tracer_start(&spec, &stage->tracer);

	if (r)
		fprintf(stderr, "the tracer does not attach: %s\n", strerror(-r));
	return r ? -1 : 0;
}

int runtime_stage_close(struct runtime_stage *stage)
{
	int status = stage->tracer ? tracer_stop(stage->tracer) : 0;

	if (status)
		fprintf(stderr, "the tracer ended with status %d\n", status);
	stage->tracer = tracer_free(stage->tracer);
	if (runtime_host_close(stage->host))
		status = -1;
	stage->host = NULL;
	return status ? -1 : 0;
}

void runtime_stage_need(const struct runtime_stage *stage)
{
	if (!stage->host)
		skip();
	assert_non_null(stage->tracer);
}

char *runtime_stage_run(const char *const *argv)
{
	char *out = NULL;

	if (runtime_host_run(argv, &out))
		fail_msg("%s fails", argv[0]);
	assert_non_null(out);
	return out;
}

pid_t runtime_stage_await(const struct runtime_stage *stage, const char *id, bool handles)
{
	pid_t pid = runtime_host_await(stage->host, id, handles);

	if (pid < 0) {
		runtime_host_logs(stage->host);
		fail_msg("container %s does not come up", id);
	}
	return pid;
}

/* Fails the test, with the record, unless it has the members. */
static void match(const json_t *rec, const char *expected)
{
	char why[1024], *text;

	if (!jrec_match(rec, expected, why, sizeof(why)))
		return;
	text = rec ? json_dumps(rec, JSON_COMPACT) : NULL;
	/* print_error() cuts long lines. */
	fprintf(stderr, "%s\n", text ? text : "no record");
	free(text);
	fail_msg("%s", why);
}

const json_t *runtime_stage_stopped(const struct runtime_stage *stage, const char *id,
				    const char *expected)
{
	const json_t *rec =
		tracer_await(stage->tracer, &(struct tracer_want){.type = "stop", .id = id});

	if (!rec)
		fail_msg("no stop record of %s comes", id);
	match(rec, expected);
	return rec;
}

static bool is_own_stop(const struct runtime_stage *stage, const json_t *rec)
{
	const char *cgroup = jrec_text(rec, "container.cgroup");
	size_t len = strlen(stage->host->cgroup);

	return !strcmp(jrec_text(rec, "type"), "stop") &&
	       !strncmp(cgroup, stage->host->cgroup, len) && cgroup[len] == '/';
}

static bool has_lost(const json_t *stop)
{
	const json_t *gaps = jrec_get(stop, "evidence.gaps");

	for (size_t i = 0; i < json_array_size(gaps); i++)
		if (!strcmp(json_string_value(json_array_get(gaps, i)), "events-lost"))
			return true;
	return false;
}

void runtime_stage_expect_stops(const struct runtime_stage *stage, size_t n)
{
	const json_t *rec;
	size_t found = 0;

	for (size_t i = 0; (rec = tracer_record(stage->tracer, i)); i++) {
		if (!is_own_stop(stage, rec))
			continue;
		found++;
		if (has_lost(rec))
			fail_msg("events of %s were lost", jrec_text(rec, "container.id"));
	}
	assert_int_equal(found, n);
}

void runtime_stage_audited(const char *id, const char *expected)
{
	struct run_result result;
	json_t *rec;
	int r;

	r = run(&(struct run_spec){.args = BOX_ARGV("audit", "-o", "json", "-c", id)}, &result);
	if (r)
		fail_msg("the audit does not run: %d", r);
	rec = json_loads(result.out ? result.out : "", JSON_DISABLE_EOF_CHECK, NULL);
	if (!rec)
		print_error("%s\n", result.err ? result.err : "");
	run_done(&result);
	match(rec, expected);
	json_decref(rec);
}
