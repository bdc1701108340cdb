// SPDX-License-Identifier: Apache-2.0
// A live run and the replay of its recording tell the same, and a replay tells it the same way
// every time.
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MIB (1024u * 1024u)

static char recording[96];

/* One container already runs when the tracer attaches. */
static struct box early;

static int setup(void **state)
{
	const char *why = box_unavailable();
	struct fixture *f;
	int r;

	if (!why)
		why = tracer_unavailable();
	if (why) {
		fprintf(stderr, "SKIP replay of a live run: %s\n", why);
		*state = NULL;
		return 0;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return -1;
	r = box_tree_open(&f->tree, "replay");
	snprintf(recording, sizeof(recording), "%s/live.rec", f->tree.tmp);
	if (!r)
		r = box_start(&f->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &early);
	if (!r)
		r = tracer_start(
			&(struct tracer_spec){
				.record = recording,
				.args = BOX_ARGV("--signals", "--assume-grace", "2s"),
				.tree = &f->tree,
			},
			&f->tracer);
	if (r)
		fprintf(stderr, "the stage cannot be set: %s\n", strerror(-r));
	*state = f;
	return r ? -1 : 0;
}

/* --- the live run --- */

static const struct act {
	struct box_spec spec;
	int signals[3];
	bool go;
} acts[] = {
	{{.argv = (const char *const[]){"graceful", "3", "5", NULL}}, {SIGTERM}, false},
	{{.argv = (const char *const[]){"deaf", NULL}}, {SIGTERM, SIGKILL}, false},
	{{.argv = (const char *const[]){"deaf", NULL}}, {SIGKILL}, false},
	{{.argv = (const char *const[]){"deaf", NULL}, .host_pidns = true}, {SIGTERM}, false},
	{{.argv = (const char *const[]){"exit", "7", NULL}}, {0}, false},
	{{.prog = "faults", .argv = (const char *const[]){"segv", NULL}}, {0}, false},
	{{.argv = (const char *const[]){"shell", "3", NULL}}, {SIGTERM}, false},
	{{.argv = (const char *const[]){"oom", NULL}, .memory = 16 * MIB}, {0}, false},
	{{.argv = (const char *const[]){"oom", NULL}, .pod_memory = 16 * MIB}, {0}, false},
	{{.prog = "faults", .argv = (const char *const[]){"exitkill", NULL}}, {0}, false},
	{{.prog = "faults",
	  .argv = (const char *const[]){"selfkill", "5000", "15", "ignore", NULL}},
	 {0},
	 false},
	{{.argv = (const char *const[]){"leave-child", NULL}, .host_pidns = true}, {0}, true},
};

static void play(struct fixture *f, const struct act *act)
{
	struct proc_end end;
	struct sent sent;
	struct box box;

	judge_start(f, &act->spec, &box);
	for (size_t i = 0; act->signals[i]; i++)
		judge_send(f, SEND_RUNTIME, &box, act->signals[i], &sent);
	if (act->go)
		page_go(box.proc.page, 1);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_non_null(tracer_await_stop(f->tracer, &box));
	page_go(box.proc.page, 2);
	if (act->go)
		assert_non_null(tracer_await(f->tracer,
					     &(struct tracer_want){.type = "empty", .id = box.id}));
	assert_int_equal(box_remove(&box), 0);
}

static void play_all(struct fixture *f)
{
	struct proc_end end;
	struct sent sent;

	for (size_t i = 0; i < LEN(acts); i++)
		play(f, &acts[i]);
	judge_send(f, SEND_RUNTIME, &early, SIGTERM, &sent);
	assert_int_equal(proc_wait(&early.proc, &end), 0);
	judge_match(tracer_await_stop(f->tracer, &early),
		    "{'outcome':'graceful','evidence':{'gaps':['attached-late']}}");
	assert_int_equal(box_remove(&early), 0);
	assert_int_equal(tracer_stop(f->tracer), 0);
}

/* --- the replay --- */

static bool is_of_containers(const json_t *rec)
{
	static const char *const types[] = {"stop", "signal", "empty", "oom"};

	for (size_t i = 0; i < LEN(types); i++)
		if (!strcmp(jrec_text(rec, "type"), types[i]))
			return true;
	return false;
}

static void same_record(const json_t *live, const json_t *replayed)
{
	char *a = json_dumps(live, JSON_COMPACT), *b = json_dumps(replayed, JSON_COMPACT);

	assert_non_null(a);
	assert_non_null(b);
	assert_string_equal(a, b);
	free(a);
	free(b);
}

/* The next record about a container in the lines at *text. */
static json_t *next_replayed(char **text)
{
	char *line;

	while ((line = strsep(text, "\n")) && *line) {
		json_t *rec = json_loads(line, 0, NULL);

		assert_non_null(rec);
		if (is_of_containers(rec))
			return rec;
		json_decref(rec);
	}
	return NULL;
}

static size_t compare_all(struct fixture *f, char *text)
{
	size_t same = 0;
	json_t *replayed;

	for (size_t i = 0; i < tracer_records(f->tracer); i++) {
		const json_t *live = tracer_record(f->tracer, i);

		if (!is_of_containers(live))
			continue;
		replayed = next_replayed(&text);
		same_record(live, replayed);
		json_decref(replayed);
		same++;
	}
	assert_null(next_replayed(&text));
	return same;
}

static void replay(const char *output, struct run_result *ret)
{
	/* The grace period the live run assumed is in the recording. */
	const struct run_spec spec = {
		.args = BOX_ARGV("replay", "-o", output, "--signals", recording)};

	assert_int_equal(run(&spec, ret), 0);
	assert_int_equal(ret->status, 0);
	assert_string_equal(ret->err, "");
}

static void a_live_run_and_its_replay_tell_the_same(void **state)
{
	struct fixture *f = judge_need(state);
	struct run_result result;

	play_all(f);
	replay("json", &result);
	assert_true(compare_all(f, result.out) > 2 * LEN(acts));
	run_done(&result);
}

static void every_replay_gives_the_same_bytes(void **state)
{
	static const char *const outputs[] = {"json", "table"};

	judge_need(state);
	for (size_t i = 0; i < LEN(outputs); i++) {
		struct run_result one, two;

		replay(outputs[i], &one);
		replay(outputs[i], &two);
		assert_true(one.out_len > 0);
		assert_int_equal(one.out_len, two.out_len);
		assert_memory_equal(one.out, two.out, one.out_len);
		run_done(&one);
		run_done(&two);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a live run and the replay of its recording tell the same",
		      a_live_run_and_its_replay_tell_the_same),
		CLAIM("every replay gives the same bytes", every_replay_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, setup, fixture_close);
}
