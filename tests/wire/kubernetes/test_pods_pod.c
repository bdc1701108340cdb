// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/pods: what is read of one pod, member by member. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podseen.h"

#define UID  "94dc9966-1111-4222-8333-444444444444"
#define HASH "0123456789abcdef0123456789abcdef"
#define NS   1000000000ull

/* One pod whose metadata, spec and status hold these members besides a uid. NULL: there is none. */
static bool read_pod(const char *metadata, const char *spec, const char *status,
		     struct podseen_pod *ret)
{
	_cleanup_(podseen_done) struct podseen seen = {};
	_cleanup_(buf_free) struct buf text = {};
	struct podjson_list counts;

	buf_printf(&text, "{\"items\":[{\"metadata\":{%s%s}", metadata,
		   strstr(metadata, "\"uid\"") ? "" : ",\"uid\":\"" UID "\"");
	if (spec)
		buf_printf(&text, ",\"spec\":%s", spec);
	if (status)
		buf_printf(&text, ",\"status\":%s", status);
	buf_adds(&text, "}]}");
	assert_int_equal(podseen_read(&seen, text.data, text.len, &counts), 0);
	assert_int_equal(counts.pods + counts.skipped, 1);
	if (seen.n_pods == 1)
		*ret = seen.pods[0];
	return seen.n_pods == 1;
}

static struct podseen_pod must_read(const char *metadata, const char *spec, const char *status)
{
	struct podseen_pod pod;

	print_message("# {%s} %s %s\n", metadata, spec ?: "", status ?: "");
	assert_true(read_pod(metadata, spec, status, &pod));
	assert_int_equal(pod.meta.source, META_KUBELET);
	assert_false(pod.meta.gone);
	return pod;
}

static void test_uids(void **state)
{
#define NOTES "\"annotations\":{\"kubernetes.io/config."
	static const struct {
		const char *metadata, *uid; /* NULL: passed over */
		bool mirror, static_known, is_static;
	} table[] = {
		{"\"uid\":\"" UID "\"", UID, false, true, false},
		{"\"uid\":\"94DC9966-1111-4222-8333-44444444444A\"",
		 "94dc9966-1111-4222-8333-44444444444a", false, true, false},
		{"\"uid\":\"" HASH "\"", HASH, false, true, false},
		{"\"uid\":\"" HASH "\"," NOTES "source\":\"file\"}", HASH, false, true, true},
		{"\"uid\":\"" UID "\"," NOTES "source\":\"http\"}", UID, false, true, true},
		{"\"uid\":\"" UID "\"," NOTES "source\":\"api\"}", UID, false, true, false},
		{"\"uid\":\"" UID "\"," NOTES "source\":null}", UID, false, true, false},
		{"\"uid\":\"" UID "\"," NOTES "source\":1}", UID, false, false, false},
		{"\"uid\":\"" UID "\",\"annotations\":[]", UID, false, false, false},
		{"\"uid\":\"" UID "\",\"annotations\":\"\"", UID, false, false, false},
		/* A mirror has a uid of its own, which no cgroup has. */
		{"\"uid\":\"" UID "\"," NOTES "mirror\":\"" HASH
		 "\",\"kubernetes.io/config.hash\":\"" HASH "\"}",
		 HASH, true, true, true},
		{"\"uid\":\"" UID "\"," NOTES "mirror\":\"\",\"kubernetes.io/config.hash\":\"" UID
		 "\"}",
		 NULL, false, false, false},
		{"\"uid\":\"" UID "\"," NOTES "mirror\":\"" HASH "\"}", NULL, false, false, false},
		/* A hash alone makes no mirror. */
		{"\"uid\":\"" UID "\"," NOTES "hash\":\"" HASH "\"}", UID, false, true, false},
		{"\"uid\":\"\"", NULL, false, false, false},
		{"\"uid\":null", NULL, false, false, false},
		{"\"uid\":7", NULL, false, false, false},
		{"\"uid\":{}", NULL, false, false, false},
		{"\"uid\":[\"" UID "\"]", NULL, false, false, false},
		{"\"\\u0075id\":\"" UID "\",\"uid\":1", NULL, false, false, false},
		{"\"uid\":\"" UID "0\"", NULL, false, false, false},
		{"\"uid\":\"" HASH "0\"", NULL, false, false, false},
		{"\"uid\":\"94dc9966-1111-4222-8333_444444444444\"", NULL, false, false, false},
		{"\"uid\":\"94dc9966-1111-4222-8333-44444444444g\"", NULL, false, false, false},
		{"\"uid\":\"94dc996611114222-8333-4444444444444-\"", NULL, false, false, false},
		{"\"uid\":\"../../../../../../../../../../../../\"", NULL, false, false, false},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct podseen_pod pod = {};

		print_message("# %s\n", table[i].metadata);
		assert_int_equal(read_pod(table[i].metadata, NULL, NULL, &pod),
				 table[i].uid != NULL);
		assert_string_equal(pod.meta.uid, table[i].uid ?: "");
		assert_int_equal(pod.mirror, table[i].mirror);
		assert_int_equal((pod.meta.known & META_POD_STATIC) != 0, table[i].static_known);
		assert_int_equal(pod.meta.is_static, table[i].is_static);
	}
}

static void test_seen(void **state)
{
	static const struct {
		const char *value;
		int64_t wall_ns;
	} table[] = {
		{"\"2026-11-22T07:48:08.617225000Z\"", 1795333688617225000},
		{"\"2026-11-22T08:48:08.617225+01:00\"", 1795333688617225000},
		{"\"today\"", 0},
		{"null", 0},
		{"17", 0},
		{"{}", 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		char metadata[256];
		struct podseen_pod pod;

		snprintf(metadata, sizeof(metadata), "\"uid\":\"" UID "\"," NOTES "seen\":%s}",
			 table[i].value);
		pod = must_read(metadata, NULL, NULL);
		assert_int_equal(pod.seen_wall_ns, table[i].wall_ns);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *metadata, *namespace_, *name;
	} table[] = {
		{"\"namespace\":\"shop\",\"name\":\"web-0\"", "shop", "web-0"},
		{"\"namespace\":\"a\\\"\\\\\\n\\u001b[31m\",\"name\":\"\xe2\x82\xac\\u20ac\"",
		 "a\"\\\n\x1b[31m", "\xe2\x82\xac\xe2\x82\xac"},
		{"\"namespace\":\"\",\"name\":null", "", ""},
		{"\"namespace\":1,\"name\":[\"a\"]", "", ""},
		{"\"namespace\":{},\"name\":true", "", ""},
		{"\"namespace\":\"b\",\"name\":\"a\",\"name\":\"last\"", "b", "last"},
		{"\"Name\":\"a\",\"name \":\"b\"", "", ""},
		{"\"x\":{\"name\":\"a\"},\"y\":[{\"namespace\":\"b\"}]", "", ""},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct podseen_pod pod = must_read(table[i].metadata, NULL, NULL);

		assert_string_equal(pod.meta.namespace_, table[i].namespace_);
		assert_string_equal(pod.meta.name, table[i].name);
	}
	for (size_t len = 252; len <= 255; len++) {
		char metadata[600];
		struct podseen_pod pod;

		snprintf(metadata, sizeof(metadata), "\"namespace\":\"%0*d\",\"name\":\"%0*d\"",
			 (int)len, 0, (int)len, 0);
		pod = must_read(metadata, NULL, NULL);
		assert_int_equal(strlen(pod.meta.namespace_), len <= 253 ? len : 0);
		assert_int_equal(strlen(pod.meta.name), len <= 253 ? len : 0);
	}
}

static void test_grace(void **state)
{
	static const struct {
		const char *value;
		bool known;
		uint64_t seconds;
	} table[] = {
		{"30", true, 30},
		{"0", true, 0},
		{"-0", true, 0},
		{"1e2", true, 100},
		{"30.0", true, 30},
		{"1000000000", true, 1000000000},
		{"1000000001", true, 1000000000},
		{"9223372036854775807", true, 1000000000},
		{"18446744073709551616", true, 1000000000},
		{"99999999999999999999999999999999", true, 1000000000},
		{"1e308", true, 1000000000},
		{"-1", false, 0},
		{"-9223372036854775808", false, 0},
		{"-1e308", false, 0},
		{"30.5", false, 0},
		{"1e-300", false, 0},
		{"\"30\"", false, 0},
		{"null", false, 0},
		{"true", false, 0},
		{"[30]", false, 0},
		{"{\"seconds\":30}", false, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		char metadata[128], spec[128];
		struct podseen_pod pod;
		uint32_t known = META_POD_GRACE | META_POD_DELETION_GRACE;

		snprintf(metadata, sizeof(metadata), "\"deletionGracePeriodSeconds\":%s",
			 table[i].value);
		snprintf(spec, sizeof(spec), "{\"terminationGracePeriodSeconds\":%s}",
			 table[i].value);
		pod = must_read(metadata, spec, NULL);
		assert_int_equal(pod.meta.known & known, table[i].known ? known : 0);
		assert_int_equal(pod.meta.grace_ns, table[i].seconds * NS);
		assert_int_equal(pod.meta.deletion_grace_ns, table[i].seconds * NS);
	}
}

static void test_deletion(void **state)
{
	static const struct {
		const char *value;
		bool known, deleting;
		int64_t wall_ns;
	} table[] = {
		{"null", true, false, 0},
		{"\"1970-01-01T00:00:00Z\"", true, true, 0},
		{"\"2026-11-21T15:04:05Z\"", true, true, 1795273445 * (int64_t)NS},
		{"\"2026-11-21t15:04:05.000000001z\"", true, true, 1795273445 * (int64_t)NS + 1},
		{"\"2026-11-21T15:04:05.1234567891234Z\"", true, true,
		 1795273445 * (int64_t)NS + 123456789},
		{"\"2026-11-21T17:34:05+02:30\"", true, true, 1795273445 * (int64_t)NS},
		{"\"2026-11-21T00:04:05-15:00\"", true, true, 1795273445 * (int64_t)NS},
		{"\"2024-02-29T00:00:00Z\"", true, true, 1709164800 * (int64_t)NS},
		{"\"2000-02-29T00:00:00Z\"", true, true, 951782400 * (int64_t)NS},
		{"\"1969-12-31T23:59:59.5Z\"", true, true, -(int64_t)NS / 2},
		{"\"2016-12-31T23:59:60Z\"", true, true, 1483228800 * (int64_t)NS},
		{"\"1678-01-01T00:00:00Z\"", true, true, -9214560000 * (int64_t)NS},
		{"\"2262-04-11T23:47:16.854775807Z\"", true, true, INT64_MAX},
		{"\"2262-04-11T23:47:16.854775808Z\"", false, false, 0},
		{"\"0001-01-01T00:00:00Z\"", false, false, 0},
		{"\"9999-12-31T23:59:59Z\"", false, false, 0},
		{"\"0000-01-01T00:00:00Z\"", false, false, 0},
		{"\"2023-02-29T00:00:00Z\"", false, false, 0},
		{"\"1900-02-29T00:00:00Z\"", false, false, 0},
		{"\"2026-00-01T00:00:00Z\"", false, false, 0},
		{"\"2026-13-01T00:00:00Z\"", false, false, 0},
		{"\"2026-04-31T00:00:00Z\"", false, false, 0},
		{"\"2026-04-00T00:00:00Z\"", false, false, 0},
		{"\"2026-04-01T24:00:00Z\"", false, false, 0},
		{"\"2026-04-01T00:60:00Z\"", false, false, 0},
		{"\"2026-04-01T00:00:61Z\"", false, false, 0},
		{"\"2026-04-01T00:00:00\"", false, false, 0},
		{"\"2026-04-01T00:00:00.Z\"", false, false, 0},
		{"\"2026-04-01T00:00:00Zx\"", false, false, 0},
		{"\"2026-04-01T00:00:00+0000\"", false, false, 0},
		{"\"2026-04-01T00:00:00+24:00\"", false, false, 0},
		{"\"2026-04-01T00:00:00+00:60\"", false, false, 0},
		{"\"2026-04-01 00:00:00Z\"", false, false, 0},
		{"\"2026-4-1T00:00:00Z\"", false, false, 0},
		{"\"2026-04-01T00:00\"", false, false, 0},
		{"\"2026-\"", false, false, 0},
		{"\"\"", false, false, 0},
		{"\"now\"", false, false, 0},
		{"1795273445", false, false, 0},
		{"{}", false, false, 0},
		{"[]", false, false, 0},
		{"[\"2026-11-21T15:04:05Z\"]", false, false, 0},
		{"false", false, false, 0},
	};
	struct podseen_pod pod;

	for (size_t i = 0; i < LEN(table); i++) {
		char metadata[128];

		snprintf(metadata, sizeof(metadata), "\"deletionTimestamp\":%s", table[i].value);
		pod = must_read(metadata, NULL, NULL);
		assert_int_equal((pod.meta.known & META_POD_DELETING) != 0, table[i].known);
		assert_int_equal(pod.meta.deleting, table[i].deleting);
		assert_int_equal(pod.meta.deleted_wall_ns, table[i].wall_ns);
	}
	pod = must_read("\"name\":\"a\"", NULL, NULL);
	assert_true(pod.meta.known & META_POD_DELETING);
	assert_false(pod.meta.deleting);
}

static void test_words(void **state)
{
	static const struct {
		const char *spec, *status;
		uint32_t restart, qos, phase;
	} table[] = {
		{"{\"restartPolicy\":\"Always\"}",
		 "{\"qosClass\":\"Guaranteed\",\"phase\":\"Pending\"}", META_RESTART_ALWAYS,
		 CGPATH_QOS_GUARANTEED, META_PHASE_PENDING},
		{"{\"restartPolicy\":\"OnFailure\"}",
		 "{\"qosClass\":\"Burstable\",\"phase\":\"Running\"}", META_RESTART_ON_FAILURE,
		 CGPATH_QOS_BURSTABLE, META_PHASE_RUNNING},
		{"{\"restartPolicy\":\"Never\"}",
		 "{\"qosClass\":\"BestEffort\",\"phase\":\"Succeeded\"}", META_RESTART_NEVER,
		 CGPATH_QOS_BESTEFFORT, META_PHASE_SUCCEEDED},
		{"{}", "{\"phase\":\"Failed\"}", 0, 0, META_PHASE_FAILED},
		{NULL, "{\"phase\":\"Unknown\"}", 0, 0, META_PHASE_UNKNOWN},
		{"{\"restartPolicy\":\"always\"}",
		 "{\"qosClass\":\"Besteffort\",\"phase\":\"running\"}", 0, 0, 0},
		{"{\"restartPolicy\":\"Always\xc2\xa0\"}", "{\"qosClass\":\"\",\"phase\":\"\"}", 0,
		 0, 0},
		{"{\"restartPolicy\":1}", "{\"qosClass\":[\"Burstable\"],\"phase\":{}}", 0, 0, 0},
		{"[]", "[]", 0, 0, 0},
		{"[{\"restartPolicy\":\"Always\"}]", "[{\"phase\":\"Failed\"}]", 0, 0, 0},
		{"1", "\"Running\"", 0, 0, 0},
		{"null", "null", 0, 0, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct podseen_pod pod =
			must_read("\"name\":\"a\"", table[i].spec, table[i].status);

		assert_int_equal(pod.meta.restart_policy, table[i].restart);
		assert_int_equal(pod.meta.qos, table[i].qos);
		assert_int_equal(pod.meta.phase, table[i].phase);
	}
}

static void test_ends(void **state)
{
	static const struct {
		const char *status;
		uint32_t end;
	} table[] = {
		{"{\"phase\":\"Failed\",\"reason\":\"Evicted\"}", META_END_EVICTED},
		{"{\"reason\":\"Preempting\",\"phase\":\"Failed\"}", META_END_PREEMPTED},
		{"{\"phase\":\"Failed\",\"reason\":\"Terminated\"}", META_END_SHUTDOWN},
		{"{\"phase\":\"Failed\",\"reason\":\"Shutdown\"}", META_END_SHUTDOWN},
		{"{\"phase\":\"Failed\",\"reason\":\"NodeShutdown\"}", META_END_SHUTDOWN},
		{"{\"phase\":\"Failed\",\"reason\":\"DeadlineExceeded\"}", META_END_DEADLINE},
		{"{\"phase\":\"Failed\",\"reason\":\"evicted\"}", 0},
		{"{\"phase\":\"Failed\",\"reason\":\"Evicted \"}", 0},
		{"{\"phase\":\"Failed\",\"reason\":[\"Evicted\"]}", 0},
		{"{\"phase\":\"Failed\",\"reason\":1}", 0},
		{"{\"phase\":\"Failed\"}", 0},
		/* A reason of one that has not failed is about something else. */
		{"{\"phase\":\"Running\",\"reason\":\"Evicted\"}", 0},
		{"{\"phase\":\"Succeeded\",\"reason\":\"Terminated\"}", 0},
		{"{\"reason\":\"Evicted\"}", 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct podseen_pod pod = must_read("\"name\":\"a\"", NULL, table[i].status);

		assert_int_equal(pod.meta.end, table[i].end);
	}
}

static void test_flags(void **state)
{
	enum { READY = META_POD_READY, SIDECARS = META_POD_SIDECARS, PRIORITY = META_POD_PRIORITY };
	static const struct {
		const char *spec, *status;
		uint32_t known;
		bool ready, sidecars;
		int64_t priority;
	} table[] = {
		{NULL, NULL, 0, false, false, 0},
		{"{}", "{}", SIDECARS, false, false, 0},
		{"[]", "[]", 0, false, false, 0},
		{"{\"priority\":2000001000}", NULL, SIDECARS | PRIORITY, false, false, 2000001000},
		{"{\"priority\":-5}", NULL, SIDECARS | PRIORITY, false, false, -5},
		{"{\"priority\":1e300}", NULL, SIDECARS | PRIORITY, false, false, 9007199254740992},
		{"{\"priority\":\"5\"}", NULL, SIDECARS, false, false, 0},
		{"{\"priority\":0.5}", NULL, SIDECARS, false, false, 0},
		{"{\"initContainers\":[{\"name\":\"a\"},{\"restartPolicy\":\"Always\"}]}", NULL,
		 SIDECARS, false, true, 0},
		{"{\"initContainers\":[{\"restartPolicy\":\"OnFailure\"},7,null,[]]}", NULL,
		 SIDECARS, false, false, 0},
		{"{\"containers\":[{\"restartPolicy\":\"Always\"}]}", NULL, SIDECARS, false, false,
		 0},
		{"{\"initContainers\":{\"restartPolicy\":\"Always\"}}", NULL, 0, false, false, 0},
		{"{\"initContainers\":null}", NULL, SIDECARS, false, false, 0},
		{"{\"initContainers\":true}", NULL, 0, false, false, 0},
		{NULL, "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}", READY, true,
		 false, 0},
		{NULL,
		 "{\"conditions\":[7,{\"type\":\"ContainersReady\",\"status\":\"True\"},"
		 "{\"type\":\"Ready\",\"status\":\"False\"}]}",
		 READY, false, false, 0},
		{NULL, "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}", READY,
		 false, false, 0},
		{NULL, "{\"conditions\":[{\"type\":\"Ready\",\"status\":true}]}", 0, false, false,
		 0},
		{NULL, "{\"conditions\":[{\"type\":\"Ready\"}]}", 0, false, false, 0},
		{NULL, "{\"conditions\":{\"type\":\"Ready\",\"status\":\"True\"}}", 0, false, false,
		 0},
		{NULL, "{\"conditions\":[[{\"type\":\"Ready\",\"status\":\"True\"}]]}", 0, false,
		 false, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct podseen_pod pod =
			must_read("\"name\":\"a\"", table[i].spec, table[i].status);

		assert_int_equal(pod.meta.known & (READY | SIDECARS | PRIORITY), table[i].known);
		assert_int_equal(pod.meta.ready, table[i].ready);
		assert_int_equal(pod.meta.sidecars, table[i].sidecars);
		assert_int_equal(pod.meta.priority, table[i].priority);
	}
}

/* The rules are core/names/workload's; here, that it is asked with what the pod says. */
static void test_workloads(void **state)
{
#define OWNED(kind, name, controller)                                                 \
	"\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"n\"},7,{\"kind\":\"" kind \
	"\",\"name\":" name ",\"controller\":" controller "}]"
	static const struct {
		const char *metadata, *workload;
	} table[] = {
		{"\"name\":\"web-7d4b9c6f5d-abcde\",\"labels\":{\"pod-template-hash\":"
		 "\"7d4b9c6f5d\"}," OWNED("ReplicaSet", "\"web-7d4b9c6f5d\"", "true"),
		 "web"},
		{"\"name\":\"proxy-abcde\"," OWNED("DaemonSet", "\"proxy\"", "true"), "proxy"},
		{"\"name\":\"web-abcde\",\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\","
		 "\"kind\":\"ReplicaSet\",\"name\":\"web-7d4b9c6f5d\",\"controller\":true}]",
		 "web-7d4b9c6f5d"},
		{"\"name\":\"bare\"", "bare"},
		{"\"name\":\"bare\"," OWNED("DaemonSet", "\"proxy\"", "false"), "bare"},
		{"\"name\":\"bare\"," OWNED("DaemonSet", "\"proxy\"", "\"true\""), "bare"},
		{"\"name\":\"bare\"," OWNED("DaemonSet", "7", "true"), "bare"},
		{"\"name\":\"bare\",\"ownerReferences\":{\"kind\":\"DaemonSet\",\"name\":\"p\","
		 "\"controller\":true}",
		 "bare"},
		{"\"name\":\"bare\",\"ownerReferences\":null,\"labels\":[]", "bare"},
		{"\"name\":\"etcd-node-1\",\"annotations\":{\"kubernetes.io/config.source\":"
		 "\"file\"}",
		 "etcd"},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		struct podseen_pod pod =
			must_read(table[i].metadata, "{\"nodeName\":\"node-1\"}", NULL);

		assert_string_equal(pod.meta.workload, table[i].workload);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod is reported under the uid that its cgroup has, or not at all",
		      test_uids),
		CLAIM("when its kubelet first saw a pod is known from the annotation alone",
		      test_seen),
		CLAIM("names are any text up to their limit; longer ones are dropped", test_names),
		CLAIM("a grace period is a whole number of seconds, of any size, never text",
		      test_grace),
		CLAIM("a pod is deleted since its stamp, or known not to be when there is none",
		      test_deletion),
		CLAIM("only the API's own words are taken", test_words),
		CLAIM("a pod that failed has its reason, by whole words", test_ends),
		CLAIM("readiness, sidecars and priority are known where they are given",
		      test_flags),
		CLAIM("the workload is by the controlling owner, the labels and the name",
		      test_workloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
