// SPDX-License-Identifier: Apache-2.0
// A user of the host forges a real pod in a cgroup that is delegated to them: on either hierarchy,
// traced from the start or attached late, the real one is all there is.
#include "lib/box/forger.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/lognames.h"
#include "lib/jrec.h"
#include "lib/kernel/fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define OTHER_ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

struct stage {
	struct box_tree tree;
	struct lognames names;
	struct box real;
	struct forger forger;
	struct tracer *tracer;
};

struct play {
	const char *hierarchy; /* NULL: the one that holds containers */
	bool late;	       /* the tracer starts when all of it is there */
	bool same_id;	       /* the container's id is the real one's, too */
	bool rootless;	       /* what users make may be containers */
};

static void start_tracer(struct stage *s, const struct play *play)
{
	const char *const *args = play->rootless ? BOX_ARGV("--names.log-directory", s->names.dir,
							    "--container-roots", "/")
						 : BOX_ARGV("--names.log-directory", s->names.dir);

	assert_int_equal(tracer_start(&(struct tracer_spec){.args = args}, &s->tracer), 0);
}

static void stop(struct stage *s, pid_t pid)
{
	struct sent sent;

	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, pid, SIGTERM, &sent), 0);
	assert_int_equal(sent.result, 0);
}

/* Records about what is in the forged cgroup, of any type. */
static unsigned int count_forged(const struct stage *s)
{
	unsigned int n = 0;

	for (size_t i = 0; i < tracer_records(s->tracer); i++) {
		const json_t *rec = tracer_record(s->tracer, i);

		n += strcmp(jrec_text(rec, "container.cgroup"), s->forger.path) == 0 ||
		     strcmp(jrec_text(rec, "target.container.cgroup"), s->forger.path) == 0;
	}
	return n;
}

static void assert_real(struct stage *s)
{
	const struct tracer_want want = {.type = "stop", .cgroup = s->real.path};
	const json_t *rec = tracer_await(s->tracer, &want);

	assert_non_null(rec);
	assert_string_equal(jrec_text(rec, "pod.name"), "cart-7");
	assert_string_equal(jrec_text(rec, "container.name"), "cart");
	assert_string_equal(jrec_text(rec, "outcome"), "graceful");
	assert_int_equal(tracer_count(s->tracer, &want), 1);
}

/* Where it may be a container, it is nobody's. */
static void assert_rootless(struct stage *s)
{
	const struct tracer_want want = {.type = "stop", .cgroup = s->forger.path};
	const json_t *rec = tracer_await(s->tracer, &want);

	assert_non_null(rec);
	assert_true(jrec_is_null(rec, "pod"));
	assert_true(jrec_is_null(rec, "container.name"));
	assert_string_equal(jrec_text(rec, "outcome"), "terminated");
}

static void play(struct stage *s, const struct play *play)
{
	struct lognames_of names = {&s->names, "shop", "cart-7", "cart"};
	const struct box_spec spec = {
		.argv = BOX_ARGV("graceful"), .named = lognames_of, .userdata = &names};

	if (!play->late)
		start_tracer(s, play);
	assert_int_equal(box_start(&s->tree, &spec, &s->real), 0);
	assert_int_equal(forger_start(&s->tree, s->real.uid, play->same_id ? s->real.id : OTHER_ID,
				      &s->forger),
			 0);
	if (play->late)
		start_tracer(s, play);
	stop(s, s->forger.pid);
	assert_int_equal(forger_end(&s->forger), 0);
	stop(s, s->real.init_pid);
	assert_real(s);
	if (play->rootless)
		assert_rootless(s);
	assert_int_equal(box_remove(&s->real), 0);
	assert_int_equal(tracer_stop(s->tracer), 0);
	if (!play->rootless)
		assert_int_equal(count_forged(s), 0);
}

static void play_on(void **state, const struct play *of)
{
	struct stage *s = *state;
	const char *why;
	struct hier hier;

	if (of->hierarchy)
		setenv("GRACED_TEST_HIERARCHY", of->hierarchy, 1);
	why = tracer_unavailable();
	if (!why)
		why = box_unavailable();
	if (!why && hier_detect(&hier))
		why = "the hierarchy is not mounted here";
	if (why) {
		print_message("%s\n", why);
		skip();
	}
	assert_int_equal(box_tree_open(&s->tree, "forged"), 0);
	assert_int_equal(lognames_open(&s->names), 0);
	play(s, of);
}

static int setup(void **state)
{
	static struct stage stage;

	stage = (struct stage){};
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	unsetenv("GRACED_TEST_HIERARCHY");
	tracer_free(s->tracer);
	if (s->names.dir[0])
		lognames_close(&s->names);
	return s->tree.root[0] ? box_tree_close(&s->tree) : 0;
}

static void nobody_by_a_delegated_cgroup(void **state)
{
	play_on(state, &(struct play){});
}

static void nor_with_its_id(void **state)
{
	play_on(state, &(struct play){.same_id = true});
}

static void nor_attached_late(void **state)
{
	play_on(state, &(struct play){.late = true});
}

static void nor_late_with_its_id(void **state)
{
	play_on(state, &(struct play){.late = true, .same_id = true});
}

static void the_same_when_unified(void **state)
{
	play_on(state, &(struct play){.hierarchy = "unified", .same_id = true});
}

static void the_same_when_unified_late(void **state)
{
	play_on(state, &(struct play){.hierarchy = "unified", .late = true});
}

static void rootless_has_no_pod(void **state)
{
	play_on(state, &(struct play){.rootless = true});
}

static void rootless_has_no_pod_late(void **state)
{
	play_on(state, &(struct play){.rootless = true, .late = true, .same_id = true});
}

#define PLAY(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY("a user with a delegated cgroup passes for no pod and no container",
		     nobody_by_a_delegated_cgroup),
		PLAY("... nor by the real container's id", nor_with_its_id),
		PLAY("... nor when attached late", nor_attached_late),
		PLAY("... nor by its id, attached late", nor_late_with_its_id),
		PLAY("... nor on the unified hierarchy", the_same_when_unified),
		PLAY("... nor there when attached late", the_same_when_unified_late),
		PLAY("where rootless runtimes are believed, theirs is in no pod and has no name",
		     rootless_has_no_pod),
		PLAY("... nor has it when attached late", rootless_has_no_pod_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
