// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/pods: what is reported of pods and contradicts the kernel. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/json/record.h"

#define HEAD(type)                                                       \
	"{\"type\":\"" type "\",\"schema\":1,\"id\":\"boot/c0ffee/42\"," \
	"\"time\":\"1970-01-01T00:00:01.000000000Z\",\"boot_ns\":42,"    \
	"\"node\":\"node-1\","
#define POD                                                                   \
	"{\"namespace\":\"default\",\"name\":\"web-0\",\"uid\":\"94dc9966\"," \
	"\"qos\":\"burstable\",\"static\":false,\"workload\":null,\"workload_kind\":null}"

static const struct record_pod web = {
	.known = true,
	.namespace_ = "default",
	.name = "web-0",
	.uid = "94dc9966",
	.qos = CGPATH_QOS_BURSTABLE,
};

static struct record head(enum record_type type)
{
	return (struct record){.type = type, .at_ns = 42, .wall_ns = 1000000000, .node = "node-1"};
}

static void assert_record(const struct record *record, const char *want)
{
	_cleanup_(buf_free) struct buf out = {};

	assert_int_equal(record_json(&out, record), 0);
	assert_string_equal(buf_str(&out), want);
}

static void test_restart(void **state)
{
	struct record record = head(RECORD_RESTART);

	record.restart = (struct record_restart){
		.id = "boot/c0ffee/42",
		.pod = web,
		.next_id = "decaf",
		.next_attempt = 3,
		.probe = TRI_TRUE,
		.exit = {.known = true, .status = 9, .at_ns = 20},
	};
	assert_record(&record, HEAD("restart") "\"pod\":" POD ",\"container\":null,"
					       "\"next\":{\"id\":\"decaf\",\"attempt\":3},"
					       "\"probe\":true,\"exit\":{\"code\":null,"
					       "\"signal\":9,\"core_dumped\":false,"
					       "\"at_boot_ns\":20}}\n");
}

static void test_pod_ready(void **state)
{
	struct record record = head(RECORD_POD_READY);

	record.pod_ready = (struct record_pod_ready){
		.id = "boot/c0ffee/42",
		.pod = web,
		.stop_ns = 20,
		.last_ns = 42,
		.until_ns = 50,
		.heard_ns = 53,
		.gone = true,
	};
	assert_record(&record, HEAD("pod_ready") "\"pod\":" POD ",\"container\":null,"
						 "\"stop_boot_ns\":20,\"until_boot_ns\":50,"
						 "\"ready_ns\":30,\"bounds\":{\"min_ns\":22,"
						 "\"max_ns\":33},\"gone\":true,\"evidence\":"
						 "{\"complete\":true,\"gaps\":[]}}\n");
	record.pod_ready.last_ns = 19;
	record.pod_ready.gone = false;
	record.pod_ready.gaps = 1u << GAP_TIME_UNCERTAIN;
	assert_record(&record,
		      HEAD("pod_ready") "\"pod\":" POD ",\"container\":null,"
					"\"stop_boot_ns\":20,\"until_boot_ns\":50,"
					"\"ready_ns\":null,\"bounds\":{\"min_ns\":0,"
					"\"max_ns\":33},\"gone\":false,\"evidence\":"
					"{\"complete\":false,\"gaps\":[\"time-uncertain\"]}}"
					"\n");
}

static void test_discrepancy(void **state)
{
	struct record record = head(RECORD_DISCREPANCY);

	record.discrepancy = (struct record_discrepancy){
		.id = "boot/c0ffee/42",
		.pod = web,
		.kind = DISCREPANCY_READY_WHILE_TERMINAL,
		.since_ns = 40,
		.reported = {.source = META_KUBELET,
			     .listed = true,
			     .phase = META_PHASE_FAILED,
			     .ready = TRI_TRUE},
		.kernel = {.populated = true, .running = 2},
	};
	assert_record(&record,
		      HEAD("discrepancy") "\"pod\":" POD ",\"container\":null,"
					  "\"kind\":\"ready-while-terminal\","
					  "\"since_boot_ns\":40,\"reported\":{\"source\":"
					  "\"kubelet\",\"listed\":true,\"phase\":\"Failed\","
					  "\"ready\":true},\"kernel\":{\"populated\":true,"
					  "\"running\":2}}\n");
	record.discrepancy.kind = DISCREPANCY_OBJECT_GONE;
	record.discrepancy.reported.listed = false;
	record.discrepancy.reported.phase = (enum meta_phase)0;
	record.discrepancy.reported.ready = TRI_UNKNOWN;
	assert_record(&record, HEAD("discrepancy") "\"pod\":" POD ",\"container\":null,"
						   "\"kind\":\"object-gone-processes-live\","
						   "\"since_boot_ns\":40,\"reported\":{\"source\":"
						   "\"kubelet\",\"listed\":false,\"phase\":null,"
						   "\"ready\":null},\"kernel\":{\"populated\":true,"
						   "\"running\":2}}\n");
}

static void test_discrepancy_exit(void **state)
{
	struct record record = head(RECORD_DISCREPANCY);

	record.discrepancy = (struct record_discrepancy){
		.id = "boot/c0ffee/42",
		.pod = web,
		.kind = DISCREPANCY_EXIT_REASON,
		.since_ns = 40,
		.reported = {.source = META_CRI,
			     .exit_code = 137,
			     .reason = "Error",
			     .finished_wall_ns = 1000000002},
		.kernel = {.exit = {.known = true, .status = 9, .at_ns = 40},
			   .exit_wall_ns = 1000000000,
			   .oom = TRI_TRUE},
	};
	assert_record(&record,
		      HEAD("discrepancy") "\"pod\":" POD
					  ",\"container\":null,\"kind\":\"exit-reason\","
					  "\"since_boot_ns\":40,\"reported\":{\"source\":\"cri\","
					  "\"exit\":{\"code\":137,\"reason\":\"Error\","
					  "\"finished_at\":\"1970-01-01T00:00:01.000000002Z\"}},"
					  "\"kernel\":{\"exit\":{\"code\":null,\"signal\":9,"
					  "\"core_dumped\":false,\"at_boot_ns\":40},"
					  "\"finished_at\":\"1970-01-01T00:00:01.000000000Z\","
					  "\"reported_behind_ns\":2,\"oom_killed\":true}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container that was made again has its members in order", test_restart),
		CLAIM("how long a pod was Ready has its members in order", test_pod_ready),
		CLAIM("a discrepancy of a pod has both sides", test_discrepancy),
		CLAIM("a discrepancy of an exit has both accounts", test_discrepancy_exit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
