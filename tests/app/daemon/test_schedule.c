// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/schedule: which of the kubelet's groups the engine takes. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/daemon/schedule.h"
#include "lib/claim.h"

#define MINOR 30

/* A kubelet with that many groups of 10 s each. */
static void configure(const char *path, int groups)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n"
	      "shutdownGracePeriodByPodPriority:\n",
	      f);
	for (int i = 0; i < groups; i++)
		fprintf(f, "- {priority: %d, shutdownGracePeriodSeconds: 10}\n", i * 1000);
	assert_int_equal(fclose(f), 0);
}

static void on_effect(void *userdata, const struct effect *effect)
{
}

static void test_groups(void **state)
{
	static const struct {
		int groups;
		size_t taken;
	} rows[] = {{2, 2}, {OBS_RANGES_MAX, OBS_RANGES_MAX}, {OBS_RANGES_MAX + 1, 0}, {3, 3}};
	static const struct engine_config config = {.max_containers = 16};
	struct engine_shutdown_group groups[2 * OBS_RANGES_MAX];
	char dir[] = "/tmp/graced-plan-XXXXXX", path[64];
	struct config_shutdown options = {.kubelet_minor = MINOR, .kubelet_config = path};
	struct schedule_plan plan;
	struct engine *engine;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/config.yaml", dir);
	assert_int_equal(engine_new(&config, &engine), 0);
	for (size_t i = 0; i < LEN(rows); i++) {
		configure(path, rows[i].groups);
		schedule_read(&options, &plan);
		engine_step(engine, &plan.obs, on_effect, NULL);
		assert_int_equal(engine_get_shutdown_groups(engine, groups, LEN(groups)),
				 rows[i].taken);
		assert_int_equal(plan.kubelet_bad, rows[i].taken == 0);
		/* logind waits for all of them in any case. */
		assert_int_equal(plan.need_ns, (uint64_t)rows[i].groups * 10000000000);
	}
	engine_free(engine);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* The kubelet's file has three groups of 10 s each; graced's own are two of 19 s and 10 s. */
static void test_own_groups(void **state)
{
	static const struct {
		enum shutdown_mode mode;
		uint64_t total_ns;
		uint32_t n;
		int64_t first_s;
		bool kubelet_bad;
	} rows[] = {
		{SHUTDOWN_MANAGE, 30500000000, 2, 19, false},
		{SHUTDOWN_MANAGE, 0, 3, 10, false},
		{SHUTDOWN_ASSIST, 30500000000, 3, 10, false},
		/* The file is not read where it does not count. */
		{SHUTDOWN_MANAGE, 30500000000, 2, 19, true},
	};
	char dir[] = "/tmp/graced-plan-XXXXXX", path[64];
	struct config_shutdown options = {.kubelet_minor = 20, .kubelet_config = path};
	struct schedule_plan plan;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/config.yaml", dir);
	for (size_t i = 0; i < LEN(rows); i++) {
		const struct obs_shutdown_plan *got = &plan.obs.shutdown_plan;

		configure(path, rows[i].kubelet_bad ? 0 : 3);
		options.kubelet_minor = rows[i].n == 2 ? 20 : MINOR;
		options.mode = rows[i].mode;
		options.groups.total_ns = rows[i].total_ns;
		options.groups.critical_ns = rows[i].total_ns ? 10700000000 : 0;
		if (rows[i].kubelet_bad)
			assert_int_equal(unlink(path), 0);
		schedule_read(&options, &plan);
		assert_int_equal(got->n_ranges, rows[i].n);
		assert_int_equal(got->ranges[0].seconds, rows[i].first_s);
		assert_false(got->two_phases);
		assert_false(plan.kubelet_bad);
		if (rows[i].n == 2)
			assert_int_equal(plan.need_ns, 29000000000);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* By the kubelet's file, and 10 s more for what it leaves behind. */
static void test_needs(void **state)
{
	static const struct {
		enum shutdown_mode mode;
		int groups;
		uint64_t need_s;
		bool volumes;
	} rows[] = {
		{SHUTDOWN_MANAGE, 0, 40, true},	 {SHUTDOWN_MANAGE, 2, 30, true},
		{SHUTDOWN_ASSIST, 0, 0, true},	 {SHUTDOWN_ASSIST, 2, 30, true},
		{SHUTDOWN_OBSERVE, 0, 0, false}, {SHUTDOWN_OBSERVE, 2, 20, false},
	};
	char dir[] = "/tmp/graced-plan-XXXXXX", path[64];
	struct config_shutdown options = {.kubelet_minor = MINOR,
					  .kubelet_config = path,
					  .extra_ns = 10000000000,
					  .volumes = true};
	struct schedule_plan plan;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/config.yaml", dir);
	for (size_t i = 0; i < LEN(rows); i++) {
		configure(path, rows[i].groups);
		options.mode = rows[i].mode;
		schedule_read(&options, &plan);
		assert_int_equal(plan.need_ns, rows[i].need_s * 1000000000);
		assert_int_equal(plan.obs.shutdown_plan.volumes, rows[i].volumes);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the engine takes all of the kubelet's groups, or no group", test_groups),
		CLAIM("graced's own groups count in mode manage, and there alone", test_own_groups),
		CLAIM("logind is to wait for the groups and the rest, or for the API's period",
		      test_needs),
	};

	return cmocka_run_group_tests_name("app/daemon/schedule", tests, NULL, NULL);
}
