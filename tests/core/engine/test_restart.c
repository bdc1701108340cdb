// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: when a container of a pod was stopped on request and made again. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_meta.h"

#define NEXT_ID HEX_64("e")

/* The container in the place of A1. */
static struct meta_container the_next(void)
{
	struct meta_container c = world_main_a1();

	strcpy(c.id, NEXT_ID);
	c.attempt = 3;
	return c;
}

/* What the kubelet's list has of the spec of A1. */
static void say_spec(struct world *w, uint64_t at, uint32_t known, bool probe)
{
	struct meta_container c = {
		.source = META_KUBELET, .pod_uid = WORLD_UID_A, .name = "main", .known = known};

	c.probe = probe;
	world_say_container(w, at, &c);
}

static void open_asked(struct world *w)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();

	world_open_described(w, &pod, &c);
	say_spec(w, SEC(13), META_CTR_PROBE | META_CTR_PRESTOP, true);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
}

static void assert_restart(const struct world *w, enum record_tri probe)
{
	const struct record_restart *r;

	assert_int_equal(world_count(w, RECORD_RESTART), 1);
	r = &world_record(w, RECORD_RESTART, 0)->restart;
	assert_string_equal(r->id, world_stop(w)->id);
	assert_string_equal(r->pod.name, "web-0");
	assert_string_equal(r->container.id, WORLD_ID_A1);
	assert_string_equal(r->next_id, NEXT_ID);
	assert_int_equal(r->next_attempt, 3);
	assert_int_equal(r->probe, probe);
	assert_true(r->exit.known);
	assert_int_equal(r->exit.status, EXIT(0));
}

static void test_made_again(void **state)
{
	struct meta_container next = the_next(), former = world_main_a1();
	struct world w;

	open_asked(&w);
	world_ends(&w, SEC(21), EXIT(0));
	assert_int_equal(world_count(&w, RECORD_RESTART), 0);
	world_say_container(&w, SEC(23), &next);
	world_say_container(&w, SEC(24), &next);
	/* The kubelet's list has the former one, too, each time. */
	world_say_container(&w, SEC(25), &former);
	assert_restart(&w, TRI_TRUE);
	assert_int_equal(world_record(&w, RECORD_RESTART, 0)->at_ns, SEC(23));
	world_close(&w);
}

/* The exit is noted with the verdict, which may wait. */
static void test_described_first(void **state)
{
	struct meta_container next = the_next();
	struct world w;

	open_asked(&w);
	world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
	world_say_container(&w, SEC(21) + MSEC(100), &next);
	assert_int_equal(world_count(&w, RECORD_RESTART), 0);
	world_empty(&w, SEC(21) + MSEC(110), CG_A1);
	world_timer(&w, SEC(21) + MSEC(250));
	assert_restart(&w, TRI_TRUE);
	world_say_container(&w, SEC(22), &next);
	assert_int_equal(world_count(&w, RECORD_RESTART), 1);
	world_close(&w);
}

static void test_probe(void **state)
{
	static const struct {
		uint32_t known;
		bool probe;
		enum record_tri want;
	} table[] = {
		{META_CTR_PROBE | META_CTR_PRESTOP, false, TRI_FALSE},
		{META_CTR_PRESTOP, true, TRI_UNKNOWN}, /* of a checkpoint before probes were read */
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct meta_container c = world_main_a1(), next = the_next();
		struct meta_pod pod = world_pod_a();
		struct world w;

		world_open_described(&w, &pod, &c);
		say_spec(&w, SEC(13), table[i].known, table[i].probe);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		world_ends(&w, SEC(21), EXIT(0));
		world_say_container(&w, SEC(23), &next);
		assert_restart(&w, table[i].want);
		world_close(&w);
	}
}

/* A crash, and a signal that no manager sent. */
static void test_not_asked(void **state)
{
	for (int from_host = 0; from_host < 2; from_host++) {
		struct meta_container c = world_main_a1(), next = the_next();
		struct meta_pod pod = world_pod_a();
		struct world w;

		world_open_described(&w, &pod, &c);
		if (from_host)
			world_from(&w, SEC(20), CG_A1, &P_A1, 15, &P_SHELL);
		world_ends(&w, SEC(21), EXIT(0));
		world_say_container(&w, SEC(23), &next);
		assert_int_equal(world_count(&w, RECORD_STOP), 1);
		assert_int_equal(world_count(&w, RECORD_RESTART), 0);
		world_close(&w);
	}
}

static void test_another(void **state)
{
	struct meta_container others[5];

	for (size_t i = 0; i < LEN(others); i++)
		others[i] = the_next();
	strcpy(others[0].name, "side");
	strcpy(others[1].pod_uid, WORLD_UID_B);
	others[2].attempt = 4; /* the one between them was not seen */
	others[3].attempt = 2;
	others[4].known = 0;
	for (size_t i = 0; i < LEN(others); i++) {
		struct world w;

		open_asked(&w);
		world_ends(&w, SEC(21), EXIT(0));
		world_say_container(&w, SEC(23), &others[i]);
		assert_int_equal(world_count(&w, RECORD_STOP), 1);
		assert_int_equal(world_count(&w, RECORD_RESTART), 0);
		world_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container that a manager stopped and that was made again is a restart",
		      test_made_again),
		CLAIM("it is one, too, when the new container is described before the verdict",
		      test_described_first),
		CLAIM("whether there is a probe is what the spec says, or not known", test_probe),
		CLAIM("what no manager stopped is no restart", test_not_asked),
		CLAIM("a container of another name, pod or attempt is not in its place",
		      test_another),
	};

	return cmocka_run_group_tests_name("core/engine: restarts", tests, NULL, NULL);
}
