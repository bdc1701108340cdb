// SPDX-License-Identifier: Apache-2.0
// The decision table, row by row, by real processes on the running kernel. Rows 1, 5, 18 and 19
// need a hole in the evidence (or an older kernel) and are shown by replays.
#include "lib/claim.h"
#include "lib/kernel/fixture.h"
#include "lib/kernel/scene.h"
#include "lib/kernel/truth.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MIB	    (1024u * 1024u)
#define EXTRA_TESTS 2

/* What the tests of the group share. */
static struct {
	struct fixture *fixture;
	struct box_tree node; /* a tree with a memory limit above its pods */
	struct box other;     /* a container of another pod */
} stage;

static int setup(void **state)
{
	bool able = !box_unavailable() && !tracer_unavailable();
	void *opened = NULL;
	int r;

	if (able && box_tree_open(&stage.node, "rows-node"))
		return -1;
	r = fixture_open(&opened, "rows",
			 BOX_ARGV("--assume-grace", "2s", "--container-roots",
				  able ? box_tree_relative(&stage.node, stage.node.root) : "/"));
	stage.fixture = opened;
	*state = NULL; /* each test has a state of its own: its scene */
	if (r || !opened)
		return r;
	if (stage.node.hier.memory &&
	    hier_limit_memory(&stage.node.hier, stage.node.root, 32 * MIB))
		return -1;
	return box_start(&stage.fixture->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")},
			 &stage.other);
}

static int teardown(void **state)
{
	void *opened = stage.fixture;
	int r;

	if (!opened)
		return 0;
	r = box_remove(&stage.other);
	if (box_tree_close(&stage.node))
		r = -1;
	return fixture_close(&opened) ? -1 : r;
}

static void play_scene(void **state)
{
	const struct scene *scene = *state;
	struct played *played;
	const json_t *rec;
	char why[1024];
	int r;

	if (!stage.fixture || scene_unavailable(&stage.fixture->tree, scene))
		skip();
	played = calloc(1, sizeof(*played));
	assert_non_null(played);
	r = scene_play(scene->whole_node ? &stage.node : &stage.fixture->tree, scene, &stage.other,
		       played);
	if (r)
		fail_msg("the scene cannot be played: %s", strerror(-r));
	rec = tracer_await_stop(stage.fixture->tracer, &played->box);
	if (scene_check(&stage.fixture->tree, played, rec, why, sizeof(why))) {
		if (rec)
			json_dumpf(rec, stderr, JSON_COMPACT);
		fail_msg("row %d: %s", scene->row, why);
	}
	free(played);
}

/* Row 7 takes two containers: one is the init of the pid namespace that the other lives in. */
static void a_shared_pid_namespace_goes_with_its_init(void **state)
{
	struct fixture *f = stage.fixture;
	struct proc_end sandbox_end, end;
	struct box sandbox, box;
	struct sent sent;
	char why[1024];

	if (!f)
		skip();
	assert_int_equal(
		box_start(&f->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &sandbox), 0);
	assert_int_equal(box_start(&f->tree,
				   &(struct box_spec){.argv = BOX_ARGV("deaf"),
						      .pod_of = &sandbox,
						      .pidns_of = &sandbox},
				   &box),
			 0);
	assert_int_equal(
		send_signal(&f->tree, SEND_RUNTIME, NULL, sandbox.init_pid, SIGTERM, &sent), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(proc_wait(&sandbox.proc, &sandbox_end), 0);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&sandbox), 0);

	if (truth_compare(
		    &(struct truth){
			    .tree = &f->tree,
			    .box = &box,
			    .end = &end,
			    .kernel_kill = true,
			    .outcome = "killed",
			    .cause = "pid-namespace",
			    .exit_after_ns = sent.before_ns,
		    },
		    tracer_await_stop(f->tracer, &box), why, sizeof(why)))
		fail_msg("the container: %s", why);
	if (truth_compare(
		    &(struct truth){
			    .tree = &f->tree,
			    .box = &sandbox,
			    .end = &sandbox_end,
			    .stop = &sent,
			    .outcome = "graceful",
			    .cause = "stop-signal",
			    .grace_s = SCENE_GRACE_S,
			    .collateral_kills = 1,
		    },
		    tracer_await_stop(f->tracer, &sandbox), why, sizeof(why)))
		fail_msg("the sandbox: %s", why);
}

/* A value of the same type that is not the true one. */
static json_t *falsify(const json_t *value)
{
	if (json_is_string(value))
		return json_string("x");
	if (json_is_boolean(value))
		return json_boolean(!json_is_true(value));
	if (json_is_real(value))
		return json_real(json_real_value(value) + 0.5);
	if (json_is_integer(value))
		return json_integer(json_integer_value(value) ^ (1LL << 50));
	return json_is_null(value) ? json_integer(1) : json_pack("[s]", "x");
}

/* Falsify each leaf below an object of the record in turn: the number that nobody minded. */
static unsigned int falsify_all(const struct played *played, json_t *rec, json_t *object)
{
	unsigned int accepted = 0;
	char why[1024];
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value) {
		if (json_is_object(value)) {
			accepted += falsify_all(played, rec, value);
			continue;
		}
		json_incref(value);
		json_object_set_new(object, key, falsify(value));
		if (!scene_check(&stage.fixture->tree, played, rec, why, sizeof(why))) {
			print_message("a wrong %s is accepted\n", key);
			accepted++;
		}
		json_object_set_new(object, key, value);
	}
	return accepted;
}

/* The comparison is what all of these tests stand on. */
static void a_record_with_any_member_wrong_is_refused(void **state)
{
	const struct scene scene = {
		.argv = {"deaf"},
		.acts = {{BY_RUNTIME, SIGTERM}, {BY_OTHER_POD, SIGKILL}},
		.outcome = "killed",
		.cause = "other-pod",
		.stop_result = "ignored",
		.deaf = true,
	};
	struct played *played;
	char why[1024];
	json_t *rec;

	if (!stage.fixture)
		skip();
	played = calloc(1, sizeof(*played));
	assert_non_null(played);
	assert_int_equal(scene_play(&stage.fixture->tree, &scene, &stage.other, played), 0);
	rec = json_deep_copy(tracer_await_stop(stage.fixture->tracer, &played->box));
	if (scene_check(&stage.fixture->tree, played, rec, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(falsify_all(played, rec, rec), 0);
	json_decref(rec);
	free(played);
}

int main(void)
{
	struct CMUnitTest *tests = calloc(scene_count + EXTRA_TESTS, sizeof(*tests));
	size_t n = 0;
	int failed;

	if (!tests)
		return 1;
	for (size_t i = 0; i < scene_count; i++)
		tests[n++] =
			(struct CMUnitTest){.name = scene_table[i].claim,
					    .test_func = play_scene,
					    .initial_state = (void *)(uintptr_t)&scene_table[i]};
	tests[n++] = (struct CMUnitTest)CLAIM("a shared pid namespace goes with its init",
					      a_shared_pid_namespace_goes_with_its_init);
	tests[n++] = (struct CMUnitTest)CLAIM("a record with any member wrong is refused",
					      a_record_with_any_member_wrong_is_refused);
	failed = _cmocka_run_group_tests("rows", tests, n, setup, teardown);
	free(tests);
	return failed;
}
