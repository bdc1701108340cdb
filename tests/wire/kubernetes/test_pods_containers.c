// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/pods: what is read of a pod's containers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podseen.h"

#define UID  "94dc9966-1111-4222-8333-444444444444"
#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define AT   "\"finishedAt\":\"1970-01-01T00:00:07Z\""
#define NS   1000000000ll

enum {
	EXIT = META_CTR_EXIT,
	ATTEMPT = META_CTR_ATTEMPT,
	PRESTOP = META_CTR_PRESTOP,
	PROBE = META_CTR_PROBE_GRACE | META_CTR_PROBE,
};

/* The containers of a pod with this spec and status. */
static void read_containers(const char *spec, const char *status, struct podseen *ret)
{
	_cleanup_(buf_free) struct buf text = {};
	struct podjson_list counts;

	print_message("# %s %s\n", spec, status);
	buf_printf(&text, "{\"metadata\":{\"uid\":\"" UID "\"},\"spec\":%s,\"status\":%s}", spec,
		   status);
	assert_int_equal(podseen_read(ret, text.data, text.len, &counts), 0);
	assert_int_equal(ret->n_pods, 1);
	for (size_t i = 0; i < ret->n_containers; i++) {
		assert_int_equal(ret->containers[i].source, META_KUBELET);
		assert_int_equal(ret->containers[i].kind, META_KIND_CONTAINER);
		assert_string_equal(ret->containers[i].pod_uid, UID);
		assert_string_equal(ret->containers[i].unit, "");
	}
}

static void test_joined(void **state)
{
	static const struct {
		const char *spec, *status, *reported; /* name=id and a space, for each */
	} table[] = {
		{"{}", "{}", ""},
		{"null", "null", ""},
		{"{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "{}", "a= b= "},
		{"{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
		 "{\"containerStatuses\":[{\"name\":\"b\",\"containerID\":\"containerd://" ID_B
		 "\"},{\"name\":\"a\",\"containerID\":\"cri-o://" ID_A "\"}]}",
		 "a=" ID_A " b=" ID_B " "},
		/* Kinds are apart, whatever their names. */
		{"{\"initContainers\":[{\"name\":\"a\"}],\"containers\":[{\"name\":\"a\"}],"
		 "\"ephemeralContainers\":[{\"name\":\"a\"}]}",
		 "{\"initContainerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://1\"}],"
		 "\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://2\"}],"
		 "\"ephemeralContainerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://3\"}]}",
		 "a=1 a=2 a=3 "},
		/* A status that the spec knows nothing of. */
		{"{}", "{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://1\"}]}",
		 "a=1 "},
		{"{\"containers\":{\"name\":\"a\"}}",
		 "{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://1\"}]}", "a=1 "},
		{"{\"containers\":[{\"name\":\"a\"}]}",
		 "{\"containerStatuses\":{\"name\":\"a\",\"containerID\":\"x://1\"}}", "a= "},
		{"{\"containers\":[7,null,[],\"a\",{},{\"name\":7},{\"name\":\"\"}]}",
		 "{\"containerStatuses\":[7,null,[],\"a\",{},{\"name\":7,\"containerID\":\"x://1\"}]}",
		 ""},
		/* Invalid ids. */
		{"{}",
		 "{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"\"},{\"name\":\"b\","
		 "\"containerID\":\"x://\"},{\"name\":\"c\",\"containerID\":\"" ID_A
		 "\"},{\"name\":\"d\",\"containerID\":\"x://" ID_A "a\"},{\"name\":\"e\","
		 "\"containerID\":\"x://../1\"},{\"name\":\"f\",\"containerID\":7},{\"name\":\"g\","
		 "\"containerID\":\"x://1 \"},{\"name\":\"h\",\"containerID\":\"x://\\n\"}]}",
		 "a= b= c= d= e= f= g= h= "},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		_cleanup_(buf_free) struct buf got = {};

		read_containers(table[i].spec, table[i].status, &seen);
		for (size_t c = 0; c < seen.n_containers; c++)
			buf_printf(&got, "%s=%s ", seen.containers[c].name, seen.containers[c].id);
		assert_string_equal(buf_str(&got), table[i].reported);
	}
}

static void test_specs(void **state)
{
	static const struct {
		const char *members;
		uint32_t known;
		bool prestop, probe_grace;
		uint32_t signal;
	} table[] = {
		{"", PRESTOP | PROBE, false, false, 0},
		{",\"lifecycle\":{}", PRESTOP | PROBE, false, false, 0},
		{",\"lifecycle\":null", PRESTOP | PROBE, false, false, 0},
		{",\"lifecycle\":{\"preStop\":{\"exec\":{\"command\":[\"sleep\"]}}}",
		 PRESTOP | PROBE, true, false, 0},
		{",\"lifecycle\":{\"preStop\":{}}", PRESTOP | PROBE, true, false, 0},
		{",\"lifecycle\":{\"preStop\":null,\"postStart\":{}}", PRESTOP | PROBE, false,
		 false, 0},
		{",\"lifecycle\":{\"preStop\":\"sleep 5\"}", PROBE, false, false, 0},
		{",\"lifecycle\":{\"preStop\":[]}", PROBE, false, false, 0},
		{",\"lifecycle\":[{\"preStop\":{}}]", PROBE, false, false, 0},
		{",\"lifecycle\":7", PROBE, false, false, 0},
		{",\"lifecycle\":{\"stopSignal\":\"SIGUSR1\"}", PRESTOP | PROBE, false, false, 10},
		{",\"lifecycle\":{\"stopSignal\":\"SIGRTMIN+3\"}", PRESTOP | PROBE, false, false,
		 37},
		{",\"lifecycle\":{\"stopSignal\":\"SIGNONE\"}", PRESTOP | PROBE, false, false, 0},
		{",\"lifecycle\":{\"stopSignal\":10}", PRESTOP | PROBE, false, false, 0},
		{",\"livenessProbe\":{\"periodSeconds\":1}", PRESTOP | PROBE, false, false, 0},
		{",\"livenessProbe\":{\"terminationGracePeriodSeconds\":5}", PRESTOP | PROBE, false,
		 true, 0},
		{",\"startupProbe\":{\"terminationGracePeriodSeconds\":0}", PRESTOP | PROBE, false,
		 true, 0},
		{",\"readinessProbe\":{\"terminationGracePeriodSeconds\":5}", PRESTOP | PROBE,
		 false, false, 0},
		{",\"livenessProbe\":{\"terminationGracePeriodSeconds\":null}", PRESTOP | PROBE,
		 false, false, 0},
		{",\"livenessProbe\":{\"terminationGracePeriodSeconds\":\"5\"}", PRESTOP, false,
		 false, 0},
		{",\"livenessProbe\":[],\"startupProbe\":{\"terminationGracePeriodSeconds\":5}",
		 PRESTOP, false, false, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		const struct meta_container *c;
		char spec[256];

		snprintf(spec, sizeof(spec), "{\"containers\":[{\"name\":\"a\"%s}]}",
			 table[i].members);
		read_containers(spec, "{}", &seen);
		assert_int_equal(seen.n_containers, 1);
		c = seen.containers;
		assert_int_equal(c->known, table[i].known | META_CTR_SIDECAR);
		assert_int_equal(c->prestop, table[i].prestop);
		assert_int_equal(c->probe_grace, table[i].probe_grace);
		/* A readiness probe stops nothing. */
		assert_int_equal(c->probe, c->known & META_CTR_PROBE &&
						   (strstr(table[i].members, "livenessProbe\":{") ||
						    strstr(table[i].members, "startupProbe")));
		assert_int_equal(c->stop_signal, table[i].signal);
	}
}

/* Its name and its place among the sidecars, 0 for none. */
static void test_sidecars(void **state)
{
	static const struct {
		const char *spec, *reported;
	} table[] = {
		{"{\"initContainers\":[{\"name\":\"a\"},{\"name\":\"b\",\"restartPolicy\":\"Always\"},"
		 "{\"name\":\"c\"},{\"name\":\"d\",\"restartPolicy\":\"Always\"}],"
		 "\"containers\":[{\"name\":\"e\"}]}",
		 "a0 b1 c0 d2 e0 "},
		/* The rules of a container that is no init container are about its own restart. */
		{"{\"containers\":[{\"name\":\"a\",\"restartPolicy\":\"Always\"}]}", "a0 "},
		{"{\"initContainers\":[{\"name\":\"a\",\"restartPolicy\":\"OnFailure\"},"
		 "{\"name\":\"b\",\"restartPolicy\":7}]}",
		 "a0 b0 "},
		/* What kubectl debug adds has no place among them. */
		{"{\"containers\":[{\"name\":\"a\"}],\"ephemeralContainers\":[{\"name\":\"b\"}]}",
		 "a0 b4294967295 "},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		_cleanup_(buf_free) struct buf got = {};

		read_containers(table[i].spec, "{}", &seen);
		for (size_t c = 0; c < seen.n_containers; c++) {
			assert_true(seen.containers[c].known & META_CTR_SIDECAR);
			buf_printf(&got, "%s%u ", seen.containers[c].name,
				   seen.containers[c].sidecar);
		}
		assert_string_equal(buf_str(&got), table[i].reported);
	}
}

/* The status tells the signal that is sent, where the kubelet tells it at all. */
static void test_signals(void **state)
{
	static const struct {
		const char *spec, *status;
		uint32_t signal;
	} table[] = {
		{"\"SIGINT\"", "\"SIGQUIT\"", 3},
		{"\"SIGINT\"", "null", 2},
		{"\"SIGINT\"", "\"SIGNONE\"", 2},
		{"null", "\"SIGQUIT\"", 3},
		{"null", "null", 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		char spec[128], status[128];

		snprintf(spec, sizeof(spec),
			 "{\"containers\":[{\"name\":\"a\",\"lifecycle\":{\"stopSignal\":%s}}]}",
			 table[i].spec);
		snprintf(status, sizeof(status),
			 "{\"containerStatuses\":[{\"name\":\"a\",\"stopSignal\":%s}]}",
			 table[i].status);
		read_containers(spec, status, &seen);
		assert_int_equal(seen.n_containers, 1);
		assert_int_equal(seen.containers[0].stop_signal, table[i].signal);
	}
}

static void test_statuses(void **state)
{
#define ENDED(id, rest) "{\"terminated\":{\"containerID\":\"containerd://" id "\"," rest "}}"
	static const struct {
		const char *members;
		uint32_t known;
		uint32_t attempt;
		int32_t code;
		const char *reason;
		uint32_t signal;
	} table[] = {
		{"", 0, 0, 0, "", 0},
		{",\"restartCount\":0", ATTEMPT, 0, 0, "", 0},
		{",\"restartCount\":4294967295", ATTEMPT, 4294967295, 0, "", 0},
		{",\"restartCount\":4294967296", 0, 0, 0, "", 0},
		{",\"restartCount\":-1", 0, 0, 0, "", 0},
		{",\"restartCount\":\"1\"", 0, 0, 0, "", 0},
		{",\"stopSignal\":\"SIGINT\"", 0, 0, 0, "", 2},
		{",\"stopSignal\":{}", 0, 0, 0, "", 0},
		{",\"state\":{\"running\":{\"startedAt\":\"1970-01-01T00:00:00Z\"}}", 0, 0, 0, "",
		 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":137,\"reason\":\"OOMKilled\"," AT), EXIT,
		 0, 137, "OOMKilled", 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":-1," AT), EXIT, 0, -1, "", 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":0,\"reason\":7," AT), EXIT, 0, 0, "", 0},
		/* While it waits to be restarted. */
		{",\"restartCount\":4,\"state\":{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}},"
		 "\"lastState\":" ENDED(ID_A, "\"exitCode\":1,\"reason\":\"Error\"," AT),
		 EXIT | ATTEMPT, 4, 1, "Error", 0},
		/* What the kubelet makes up. */
		{",\"state\":" ENDED(ID_A,
				     "\"exitCode\":137,\"reason\":\"ContainerStatusUnknown\"," AT),
		 0, 0, 0, "", 0},
		{",\"state\":" ENDED(ID_A,
				     "\"exitCode\":0,\"reason\":\"Completed\",\"finishedAt\":null"),
		 0, 0, 0, "", 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":0"), 0, 0, 0, "", 0},
		{",\"state\":" ENDED(ID_A, AT), 0, 0, 0, "", 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":\"1\"," AT), 0, 0, 0, "", 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":2147483648," AT), 0, 0, 0, "", 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":1.5," AT), 0, 0, 0, "", 0},
		{",\"state\":[" ENDED(ID_A, "\"exitCode\":1," AT) "]", 0, 0, 0, "", 0},
		{",\"state\":{\"terminated\":[]}", 0, 0, 0, "", 0},
		{",\"state\":{\"terminated\":{\"exitCode\":1," AT "}}", 0, 0, 0, "", 0},
		/* Another container's. */
		{",\"state\":" ENDED(ID_B, "\"exitCode\":1," AT), 0, 0, 0, "", 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		const struct meta_container *c;
		char status[512];

		snprintf(
			status, sizeof(status),
			"{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"containerd://" ID_A
			"\"%s}]}",
			table[i].members);
		read_containers("{}", status, &seen);
		assert_int_equal(seen.n_containers, 1);
		c = seen.containers;
		assert_string_equal(c->id, ID_A);
		assert_int_equal(c->known, table[i].known);
		assert_int_equal(c->attempt, table[i].attempt);
		assert_int_equal(c->exit_code, table[i].code);
		assert_string_equal(c->exit_reason, table[i].reason);
		assert_int_equal(c->finished_wall_ns, table[i].known & EXIT ? 7 * NS : 0);
		assert_int_equal(c->stop_signal, table[i].signal);
	}
}

static void test_former(void **state)
{
	static const struct {
		const char *members;
		bool reported;
		uint32_t known, attempt;
	} table[] = {
		{",\"restartCount\":3,\"lastState\":" ENDED(ID_B, "\"exitCode\":1," AT), true,
		 EXIT | ATTEMPT, 2},
		{",\"restartCount\":0,\"lastState\":" ENDED(ID_B, "\"exitCode\":1," AT), true, EXIT,
		 0},
		{",\"restartCount\":1,\"lastState\":" ENDED(ID_B, "\"exitCode\":1"), true, ATTEMPT,
		 0},
		{",\"state\":" ENDED(ID_A, "\"exitCode\":2," AT) ",\"lastState\":" ENDED(
			 ID_B, "\"exitCode\":1," AT),
		 true, EXIT, 0},
		{",\"lastState\":" ENDED("", "\"exitCode\":1," AT), false, 0, 0},
		{",\"lastState\":{}", false, 0, 0},
		{",\"lastState\":7", false, 0, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		const struct meta_container *c;
		char status[1024];

		snprintf(status, sizeof(status),
			 "{\"containerStatuses\":[{\"name\":\"a\",\"image\":\"i\",\"containerID\":"
			 "\"containerd://" ID_A "\"%s}]}",
			 table[i].members);
		read_containers("{}", status, &seen);
		assert_int_equal(seen.n_containers, 1 + table[i].reported);
		if (!table[i].reported)
			continue;
		c = &seen.containers[1];
		assert_string_equal(c->id, ID_B);
		assert_string_equal(c->name, "a");
		assert_string_equal(c->image, "i");
		assert_int_equal(c->known, table[i].known);
		assert_int_equal(c->attempt, table[i].attempt);
		assert_int_equal(c->exit_code, table[i].known & EXIT ? 1 : 0);
	}
}

static void test_texts(void **state)
{
	static const struct {
		const char *character;
		size_t times, kept; /* bytes of the image, of which at most 255 fit */
	} table[] = {
		{"a", 255, 255},
		{"a", 256, 255},
		{"a", 4000, 255},
		{"a", 5000, 0}, /* nobody's image */
		{"\xc3\xa4", 127, 254},
		{"\xc3\xa4", 128, 254},
		{"\xe2\x82\xac", 85, 255},
		{"\xe2\x82\xac", 86, 255},
		{"\xf0\x9f\x92\xa9", 64, 252},
		{"\\n", 300, 255},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		_cleanup_(buf_free) struct buf spec = {};

		buf_adds(&spec, "{\"containers\":[{\"name\":\"a\",\"image\":\"");
		for (size_t n = 0; n < table[i].times; n++)
			buf_adds(&spec, table[i].character);
		buf_adds(&spec, "\"}]}");
		read_containers(buf_str(&spec), "{}", &seen);
		assert_int_equal(seen.n_containers, 1);
		assert_int_equal(strlen(seen.containers[0].image), table[i].kept);
	}
	for (size_t len = 62; len <= 65; len++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		char status[512];

		snprintf(
			status, sizeof(status),
			"{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://1\",\"state\":"
			"{\"terminated\":{\"containerID\":\"x://1\",\"exitCode\":1,\"reason\":\"%0*d\"," AT
			"}}}]}",
			(int)len, 0);
		read_containers("{}", status, &seen);
		assert_int_equal(seen.containers[0].known, EXIT);
		assert_int_equal(strlen(seen.containers[0].exit_reason), len < 64 ? len : 0);
	}
}

#define SPEC_A	     "{\"containers\":[{\"name\":\"a\"}]}"
#define ONE(members) "{\"containerStatuses\":[{\"name\":\"a\"" members "}]}"

static void test_complete(void **state)
{
	static const struct {
		const char *what, *spec, *status;
		bool complete;
	} table[] = {
		{"nothing", "{}", "{}", false},
		{"no status yet", SPEC_A, "{}", false},
		{"an id", SPEC_A, ONE(",\"containerID\":\"x://1\""), true},
		{"never made", SPEC_A,
		 ONE(",\"restartCount\":0,\"containerID\":\"\",\"state\":{\"waiting\":{}}"), true},
		{"made before, and lost", SPEC_A,
		 ONE(",\"restartCount\":1,\"state\":{\"waiting\":{}}"), false},
		{"lost, which is made up as its end", SPEC_A,
		 ONE(",\"state\":{\"terminated\":{\"reason\":\"ContainerStatusUnknown\"}}"), false},
		{"lost, and to be made anew", SPEC_A,
		 ONE(",\"state\":{\"waiting\":{}},\"lastState\":{\"terminated\":{\"exitCode\":137}}"),
		 false},
		{"an invalid id", SPEC_A, ONE(",\"containerID\":\"x://../1\""), false},
		{"an id of another type", SPEC_A, ONE(",\"containerID\":7"), false},
		{"a container without a name", "{\"containers\":[{\"name\":\"a\"},{}]}",
		 ONE(",\"containerID\":\"x://1\""), false},
		{"an init container without a status",
		 "{\"initContainers\":[{\"name\":\"i\"}],\"containers\":[{\"name\":\"a\"}]}",
		 ONE(",\"containerID\":\"x://1\""), false},
		{"an ephemeral one without a status",
		 "{\"ephemeralContainers\":[{\"name\":\"e\"}],\"containers\":[{\"name\":\"a\"}]}",
		 ONE(",\"containerID\":\"x://1\""), false},
		{"an ephemeral one with its status",
		 "{\"ephemeralContainers\":[{\"name\":\"e\"}],\"containers\":[{\"name\":\"a\"}]}",
		 "{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"x://1\"}],"
		 "\"ephemeralContainerStatuses\":[{\"name\":\"e\",\"containerID\":\"x://2\"}]}",
		 true},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};

		print_message("# %s\n", table[i].what);
		read_containers(table[i].spec, table[i].status, &seen);
		assert_int_equal(!!(seen.pods[0].meta.known & META_POD_CONTAINERS),
				 table[i].complete);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("spec and status are joined by name, and each is reported without the other",
		      test_joined),
		CLAIM("hooks, probes and stop signals are known where the spec makes sense",
		      test_specs),
		CLAIM("sidecars are counted in the order of the spec", test_sidecars),
		CLAIM("the signal in force stands, else the one in the spec", test_signals),
		CLAIM("an exit is reported as the runtime did, never as the kubelet made it up",
		      test_statuses),
		CLAIM("the container before a restart is reported by its own id", test_former),
		CLAIM("a pod is complete when each of its containers has an id or was never made",
		      test_complete),
		CLAIM("an image is cut at a character, a reason is dropped", test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
