// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: how it compares reported exits with the kernel's. */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

#define WALL(at) (WALL_ZERO + (int64_t)(at))

static void open_described(struct world *w)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();

	world_open_described(w, &pod, &c);
}

static struct meta_container ended(enum meta_source source, int32_t code, const char *reason,
				   int64_t wall_ns)
{
	struct meta_container c = world_main_a1();

	c.source = source;
	c.known |= META_CTR_EXIT;
	c.exit_code = code;
	strcpy(c.exit_reason, reason);
	c.finished_wall_ns = wall_ns;
	return c;
}

static uint32_t discrepancies(const struct world *w)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < world_count(w, RECORD_DISCREPANCY); i++)
		bits |= DISCREPANCY_BIT(world_record(w, RECORD_DISCREPANCY, i)->discrepancy.kind);
	return bits;
}

static void test_each(void **state)
{
	const struct {
		uint32_t status;
		struct meta_container reported;
		enum discrepancy want; /* COUNT: none */
	} cases[] = {
		{EXIT(0), ended(META_CRI, 0, "Completed", WALL(SEC(20))), DISCREPANCY_COUNT},
		{EXIT(3), ended(META_KUBELET, 3, "Error", WALL(SEC(20))), DISCREPANCY_COUNT},
		{9, ended(META_CRI, 137, "Error", WALL(SEC(20) + MSEC(300))), DISCREPANCY_COUNT},
		{9, ended(META_KUBELET, 255, "Error", WALL(SEC(20))), DISCREPANCY_EXIT_CODE},
		{EXIT(1), ended(META_CRI, 1, "Completed", WALL(SEC(20))), DISCREPANCY_EXIT_REASON},
		{9, ended(META_CRI, 137, "OOMKilled", WALL(SEC(20))), DISCREPANCY_EXIT_REASON},
		{EXIT(0), ended(META_CRI, 0, "Completed", WALL(SEC(22))), DISCREPANCY_EXIT_TIME},
		{EXIT(0), ended(META_KUBELET, 0, "Completed", WALL(SEC(18))),
		 DISCREPANCY_EXIT_TIME},
		{EXIT(1), ended(META_LOGS, 2, "Completed", 1), DISCREPANCY_COUNT},
	};
	struct world w;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t want =
			cases[i].want == DISCREPANCY_COUNT ? 0 : DISCREPANCY_BIT(cases[i].want);

		for (int early = 0; early < 2; early++) {
			open_described(&w);
			/* The source may be faster than the verdict. */
			if (cases[i].status == 9)
				world_managed(&w, SEC(20) - 1000, CG_A1, &P_A1, 9);
			world_exit(&w, SEC(20), CG_A1, &P_A1, cases[i].status);
			if (early)
				world_say_container(&w, SEC(20) + 500, &cases[i].reported);
			world_empty(&w, SEC(20) + 1000, CG_A1);
			world_timer(&w, SEC(20) + MSEC(250));
			assert_int_equal(discrepancies(&w), early ? want : 0);
			world_say_container(&w, SEC(21), &cases[i].reported);
			world_say_container(&w, SEC(51), &cases[i].reported);
			assert_int_equal(discrepancies(&w), want);
			assert_int_equal(world_count(&w, RECORD_DISCREPANCY), want != 0);
			assert_int_equal(world_view(&w, WORLD_UID_A).discrepancies, want);
			world_close(&w);
		}
	}
}

static void test_facts(void **state)
{
	const struct record_discrepancy *d;
	struct meta_container c;
	struct world w;

	open_described(&w);
	world_managed(&w, SEC(20) - 1000, CG_A1, &P_A1, 9);
	world_ends(&w, SEC(20), 9);
	c = ended(META_KUBELET, 1, "Error", WALL(SEC(20)));
	world_say_container(&w, SEC(30), &c);
	d = &world_record(&w, RECORD_DISCREPANCY, 0)->discrepancy;
	assert_string_equal(d->id, WORLD_BOOT "/" WORLD_ID_A1 "/2000004242/exit-code");
	assert_int_equal(d->since_ns, SEC(20));
	assert_string_equal(d->pod.name, "web-0");
	assert_string_equal(d->container.name, "main");
	assert_int_equal(d->reported.source, META_KUBELET);
	assert_int_equal(d->reported.exit_code, 1);
	assert_string_equal(d->reported.reason, "Error");
	assert_int_equal(d->reported.finished_wall_ns, WALL(SEC(20)));
	assert_int_equal(d->kernel.exit.status, 9);
	assert_int_equal(d->kernel.exit_wall_ns, WALL(SEC(20)));
	assert_int_equal(d->kernel.oom, TRI_FALSE);
	/* Another source that says the same, and one that adds to it. */
	c = ended(META_CRI, 1, "OOMKilled", WALL(SEC(20)));
	world_say_container(&w, SEC(31), &c);
	assert_int_equal(world_count(&w, RECORD_DISCREPANCY), 2);
	d = &world_record(&w, RECORD_DISCREPANCY, 1)->discrepancy;
	assert_int_equal(d->kind, DISCREPANCY_EXIT_REASON);
	world_close(&w);
}

static void test_unseen(void **state)
{
	struct meta_container c = ended(META_CRI, 0, "Completed", WALL(SEC(5)));
	struct world w;

	/* The exit's record was lost. */
	open_described(&w);
	world_gone(&w, SEC(20), CG_A1, NULL);
	world_say_container(&w, SEC(21), &c);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(discrepancies(&w), 0);
	world_close(&w);
	/* Who killed it went unseen: so may the OOM killer have. */
	open_described(&w);
	world_ends(&w, SEC(20), 9);
	c = ended(META_CRI, 137, "OOMKilled", WALL(SEC(20)));
	world_say_container(&w, SEC(21), &c);
	assert_int_equal(world_count(&w, RECORD_STOP), 1);
	assert_int_equal(discrepancies(&w), 0);
	world_close(&w);
	/* It runs. */
	open_described(&w);
	world_say_container(&w, SEC(21), &c);
	assert_int_equal(discrepancies(&w), 0);
	world_close(&w);
}

/* Under one id, a report may be about the one or the other. */
static void test_again(void **state)
{
	struct meta_container c = ended(META_KUBELET, 0, "Completed", WALL(SEC(20)));
	struct graced_proc proc = P_A1;
	struct world w;

	open_described(&w);
	world_ends(&w, SEC(20), EXIT(0));
	proc.pid++;
	proc.start_ns = SEC(25);
	world_init(&w, SEC(25), CG_A1, &proc);
	world_exit(&w, SEC(30), CG_A1, &proc, EXIT(1));
	world_empty(&w, SEC(30) + 1000, CG_A1);
	world_timer(&w, SEC(30) + MSEC(250));
	assert_int_equal(world_count(&w, RECORD_STOP), 2);
	world_say_container(&w, SEC(31), &c);
	assert_int_equal(discrepancies(&w), 0);
	world_close(&w);
}

/* On a slow node the runtime learns of it seconds later, and the kubelet has its time. */
static void test_late(void **state)
{
	const struct meta_container late = ended(META_CRI, 0, "Completed", WALL(SEC(24)));
	struct world w;

	open_described(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + 1000, CG_A1);
	world_timer(&w, SEC(20) + MSEC(250));
	world_say_container(&w, SEC(25), &late);
	assert_int_equal(discrepancies(&w), DISCREPANCY_BIT(DISCREPANCY_EXIT_LATE));
	world_close(&w);
	/* The answer that has it came before. */
	open_described(&w);
	world_exit(&w, SEC(20), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(20) + 1000, CG_A1);
	world_timer(&w, SEC(20) + MSEC(250));
	world_say_container(&w, SEC(23), &late);
	world_say_container(&w, SEC(25), &late);
	assert_int_equal(discrepancies(&w), DISCREPANCY_BIT(DISCREPANCY_EXIT_TIME));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an exit that is reported otherwise is a discrepancy once, and no other is",
		      test_each),
		CLAIM("a discrepancy has both accounts of an exit", test_facts),
		CLAIM("what was not seen contradicts nobody", test_unseen),
		CLAIM("of two exits of one id neither is compared", test_again),
		CLAIM("a time that the runtime took late has its own kind", test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
