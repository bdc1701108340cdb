// SPDX-License-Identifier: Apache-2.0
/* Claims about engine_each_stopping(): which stops are under way. */
#include "lib/claim.h"
#include "lib/engine/world_meta.h"

#include <signal.h>
#include <string.h>

#include "core/engine/engine.h"

struct seen {
	size_t n;
	struct record_stop stop; /* the last one */
	struct record_member list[RECORD_MEMBERS];
};

static void take(void *userdata, const struct record_stop *stop)
{
	struct seen *seen = userdata;

	seen->n++;
	seen->stop = *stop;
	if (stop->n_processes)
		memcpy(seen->list, stop->processes, stop->n_processes * sizeof(*seen->list));
}

static struct seen look(const struct world *w)
{
	struct seen seen = {};

	engine_each_stopping(w->engine, take, &seen);
	return seen;
}

static void test_life(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct graced_proc app = P_A1;
	struct seen seen;
	struct world w;

	world_open_described(&w, &pod, &c);
	assert_int_equal(look(&w).n, 0);
	strcpy(app.comm, "app");
	world_managed(&w, SEC(20), CG_A1, &app, SIGTERM);
	seen = look(&w);
	assert_string_equal(seen.stop.process.comm, "app");
	assert_int_equal(seen.n, 1);
	assert_string_equal(seen.stop.container.name, "main");
	assert_string_equal(seen.stop.pod.name, "web-0");
	assert_int_equal(seen.stop.stop_signal.number, SIGTERM);
	assert_int_equal(seen.stop.stop_signal.at_ns, SEC(20));
	assert_int_equal(seen.stop.stop_signal.sender.kind, SENDER_RUNTIME);
	assert_int_equal(seen.stop.grace.ns, SEC(30));
	assert_false(seen.stop.kill_signal.known);
	world_managed(&w, SEC(50), CG_A1, &P_A1, SIGKILL);
	seen = look(&w);
	assert_int_equal(seen.n, 1);
	assert_true(seen.stop.kill_signal.known);
	world_exit(&w, SEC(50) + 1, CG_A1, &P_A1, SIGKILL);
	assert_int_equal(look(&w).n, 0);
	world_close(&w);
}

static void test_lapse(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGTERM);
	/* Twice the grace period and a minute. */
	world_timer(&w, SEC(20 + 2 * 30 + 60) - 1);
	assert_int_equal(look(&w).n, 1);
	world_timer(&w, SEC(20 + 2 * 30 + 60) + 1);
	assert_int_equal(look(&w).n, 0);
	world_close(&w);
}

static void test_scope(void **state)
{
	const struct engine_config pods = {.scope = SCOPE_PODS};
	struct world w;

	world_open(&w, &pods);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGTERM);
	assert_int_equal(look(&w).n, 1);
	world_close(&w);
}

/* It is the application behind its init that a person asks about. */
static void test_processes(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	const struct record_member *child;
	struct seen seen;
	struct world w;

	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, SIGTERM);
	assert_int_equal(look(&w).stop.n_processes, 0);
	world_tell(&w, &(struct obs){.type = OBS_SIGNAL,
				     .at_ns = SEC(21),
				     .signal = {.id = CG_A1,
						.sig = SIGTERM,
						.flags = GRACED_SIG_DFL,
						.target = P_A1_CHILD,
						.sender = P_A1}});
	world_tell(&w, &(struct obs){.type = OBS_EXIT,
				     .at_ns = SEC(22),
				     .exit = {.id = CG_A1, .proc = P_A1_CHILD, .status = SIGTERM}});
	seen = look(&w);
	assert_int_equal(seen.stop.n_processes, 2);
	child = seen.list + 1;
	assert_int_equal(child->process.pid, P_A1_CHILD.pid);
	assert_int_equal(child->asked.at_ns, SEC(21));
	assert_int_equal(child->exit.status, SIGTERM);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop is under way from its request to the exit, with its deadline, and what its init is by then",
		      test_life),
		CLAIM("what its other processes did is listed", test_processes),
		CLAIM("a request that has lapsed is no stop any more", test_lapse),
		CLAIM("so it is without any source of names", test_scope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
