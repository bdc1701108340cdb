// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/patch: what is sent to the API of a pod that has ended. */
#include "wire/kubernetes/patch.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "core/kubelet/ending.h"
#include "lib/claim.h"
#include "wire/kubernetes/pod.h"

/* With members and conditions that podobj does not know. */
static const char running[] =
	"{'metadata':{'name':'web-0','namespace':'shop','uid':'u1','resourceVersion':'77'},"
	"'spec':{'nodeName':'n','containers':[{'name':'a','image':'i'}]},"
	"'status':{'phase':'Running','podIP':'10.0.0.9','qosClass':'Burstable','conditions':["
	"{'type':'example.com/x','status':'True','lastTransitionTime':'2026-11-24T10:00:00Z'},"
	"{'type':'PodScheduled','status':'True','lastTransitionTime':'2026-11-24T10:00:00Z'},"
	"{'type':'Initialized','status':'True','lastTransitionTime':'2026-11-24T10:00:00Z'},"
	"{'type':'PodReadyToStartContainers','status':'True'},"
	"{'type':'Ready','status':'True','lastTransitionTime':'2026-11-24T10:00:01Z'},"
	"{'type':'ContainersReady','status':'True','lastTransitionTime':'2026-11-24T10:00:01Z'}],"
	"'containerStatuses':[{'name':'a','image':'i','imageID':'sha','ready':true,'started':true,"
	"'restartCount':2,'containerID':'containerd://aa','allocatedResources':{'cpu':'1'},"
	"'lastState':{},'state':{'running':{'startedAt':'2026-11-24T10:00:01Z'}}}]}}";

static const char failed[] =
	"{'metadata':{'uid':'u1','resourceVersion':'77'},'status':{'phase':'Failed','conditions':["
	"{'type':'DisruptionTarget','status':'True','lastTransitionTime':'2026-11-24T12:00:00Z',"
	"'reason':'TerminationByKubelet','message':'Pod was terminated in response to imminent "
	"node shutdown.'},"
	"{'type':'Ready','status':'False','lastTransitionTime':'2026-11-24T12:00:00Z',"
	"'reason':'PodFailed'},"
	"{'type':'ContainersReady','status':'False','lastTransitionTime':'2026-11-24T12:00:00Z',"
	"'reason':'PodFailed'}],"
	"'message':'Pod was terminated in response to imminent node shutdown.',"
	"'reason':'Terminated',"
	"'containerStatuses':[{'name':'a','image':'i','imageID':'sha','ready':false,"
	"'started':false,'restartCount':2,'containerID':'containerd://aa',"
	"'allocatedResources':{'cpu':'1'},'lastState':{},'state':{'terminated':{'exitCode':137,"
	"'reason':'Error','startedAt':'2026-11-24T10:00:01Z','finishedAt':'2026-11-24T11:59:59Z',"
	"'containerID':'containerd://aa'}}}]}}";

/* Single quotes are easier to read. */
static json_t *load(const char *text)
{
	_cleanup_(buf_free) struct buf json = {};
	json_t *loaded;

	for (; *text; text++)
		buf_addc(&json, *text == '\'' ? '"' : *text);
	loaded = json_loadb(json.data, json.len, 0, NULL);
	assert_non_null(loaded);
	return loaded;
}

static int patch(const json_t *pod, int32_t code, struct buf *out)
{
	_cleanup_(arena_free) struct arena arena = {};
	const struct kubelet_ending ending = {
		.exits = {{
			.id = "aa",
			.runtime = "containerd",
			.name = "a",
			.reason = "",
			.code = code,
			.finished_wall_ns = 1795521599000000000, /* 2026-11-24T11:59:59Z */
		}},
		.n_exits = 1,
		.now_wall_ns = 1795521600000000000,
	};
	struct podread_error error;
	struct podobj_pod read;
	struct podobj_pod_status status;

	assert_int_equal(podread_pod(pod, &arena, &read, &error), 0);
	assert_int_equal(podend_make(&ending, &read, "u1", &arena, &status), PODEND_WRITE);
	return apipatch_pod_status(pod, &status, out);
}

static void test_status(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	json_auto_t *pod = load(running), *want = load(failed), *got = NULL;

	assert_int_equal(patch(pod, 137, &out), 0);
	got = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_equal(got, want))
		fail_msg("got %s", buf_str(&out));
}

/* What the API had as a reason of the phase goes with that phase. */
static void test_cleared(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	json_auto_t *pod = load(running), *got = NULL;
	json_t *status = json_object_get(pod, "status");

	json_object_set_new(status, "reason", json_string("Odd"));
	assert_int_equal(patch(pod, 0, &out), 0);
	got = json_loadb(out.data, out.len, 0, NULL);
	status = json_object_get(got, "status");
	assert_string_equal(json_string_value(json_object_get(status, "phase")), "Succeeded");
	assert_true(json_is_null(json_object_get(status, "reason")));
	assert_null(json_object_get(status, "message"));
}

static void test_preconditions(void **state)
{
	static const char *const keys[] = {"uid", "resourceVersion"};
	const struct podobj_pod_status status = {.phase = "Failed", .reason = "", .message = ""};

	for (size_t i = 0; i < LEN(keys); i++) {
		_cleanup_(buf_free) struct buf out = {};
		json_auto_t *pod = load(running);

		json_object_del(json_object_get(pod, "metadata"), keys[i]);
		assert_int_equal(apipatch_pod_status(pod, &status, &out), -EINVAL);
		json_object_set_new(json_object_get(pod, "metadata"), keys[i], json_integer(7));
		assert_int_equal(apipatch_pod_status(pod, &status, &out), -EINVAL);
		assert_int_equal(out.len, 0);
	}
}

#define NODE(annotations, taints)                                                         \
	"{'metadata':{'uid':'n1','resourceVersion':'3','annotations':{" annotations "}}," \
	"'spec':{'taints':[" taints "]}}"
#define NOTE "'graced.io/out-of-service-boot':'b1'"
#define TAINT \
	"{'key':'node.kubernetes.io/out-of-service','value':'nodeshutdown','effect':'NoExecute'}"
#define OTHER "{'key':'example.com/a','effect':'NoSchedule'}"
#define HEAD  "{'metadata':{'uid':'n1','resourceVersion':'3','annotations':"
#define NAME  "{'graced.io/out-of-service-boot':"

#define CLOSED	    "{'key':'graced.io/node-shutdown','effect':'NoSchedule'}"
#define CLOSED_NAME "{'graced.io/node-shutdown-boot':"
#define CLOSED_NOTE "'graced.io/node-shutdown-boot':'b2'"

#define OUT   APIPATCH_OUT_OF_SERVICE
#define CLOSE APIPATCH_SHUTDOWN

static void test_taint(void **state)
{
	static const struct {
		enum apipatch_taint which;
		const char *node, *boot, *want; /* NULL: nothing is to be done */
	} rows[] = {
		{OUT, NODE("", OTHER), "b1",
		 HEAD NAME "'b1'}},'spec':{'taints':[" OTHER "," TAINT "]}}"},
		{OUT, NODE("", ""), "b1", HEAD NAME "'b1'}},'spec':{'taints':[" TAINT "]}}"},
		{OUT, NODE("", TAINT), "b1", NULL},
		{OUT, NODE(NOTE, TAINT), "b2", NULL},
		{OUT, NODE(NOTE, TAINT "," OTHER), NULL,
		 HEAD NAME "null}},'spec':{'taints':[" OTHER "]}}"},
		{OUT, NODE(NOTE, ""), NULL, HEAD NAME "null}},'spec':{'taints':[]}}"},
		{OUT, NODE("", TAINT), NULL, NULL},
		{OUT, NODE("", ""), NULL, NULL},
		/* Each leaves the other, and what an operator has set by its key. */
		{CLOSE, NODE(NOTE, TAINT), "b2",
		 HEAD CLOSED_NAME "'b2'}},'spec':{'taints':[" TAINT "," CLOSED "]}}"},
		{CLOSE, NODE(NOTE "," CLOSED_NOTE, TAINT "," CLOSED), NULL,
		 HEAD CLOSED_NAME "null}},'spec':{'taints':[" TAINT "]}}"},
		{CLOSE, NODE(NOTE, TAINT "," CLOSED), NULL, NULL},
		{CLOSE, NODE("", CLOSED), "b2", NULL},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};
		json_auto_t *node = load(rows[i].node), *got = NULL;
		json_auto_t *want = rows[i].want ? load(rows[i].want) : NULL;

		assert_int_equal(apipatch_node_taint(node, rows[i].which, rows[i].boot, &out),
				 want != NULL);
		if (!want) {
			assert_int_equal(out.len, 0);
			continue;
		}
		got = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
		if (!json_equal(got, want))
			fail_msg("row %zu: %s", i, buf_str(&out));
	}
}

static void test_node(void **state)
{
	static const struct {
		const char *node, *boot;
		bool ready;
	} rows[] = {
		{"{'status':{'nodeInfo':{'bootID':'b1'},'conditions':["
		 "{'type':'Other','status':'False'},{'type':'Ready','status':'True'}]}}",
		 "b1", true},
		{"{'status':{'nodeInfo':{'bootID':'b1'},'conditions':["
		 "{'type':'Ready','status':'Unknown'},{'type':'Other','status':'True'}]}}",
		 "b1", false},
		{"{'status':{'nodeInfo':{'bootID':7},'conditions':[7,{'type':7,'status':7}]}}",
		 NULL, false},
		{"{'status':{'nodeInfo':[],'conditions':{}}}", NULL, false},
		{"{}", NULL, false},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		json_auto_t *node = load(rows[i].node);
		struct death_node got;

		apipatch_read_node(node, &got);
		assert_int_equal(got.ready, rows[i].ready);
		assert_int_equal(got.boot != NULL, rows[i].boot != NULL);
		if (got.boot)
			assert_string_equal(got.boot, rows[i].boot);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a patch has what changes, and what it must replace whole stays complete",
		      test_status),
		CLAIM("an outdated reason is removed", test_cleared),
		CLAIM("without uid and resourceVersion there is no patch", test_preconditions),
		CLAIM("the taint comes beside others, and an operator's stays", test_taint),
		CLAIM("a node's boot and whether it is Ready are read, whatever else is in it",
		      test_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
