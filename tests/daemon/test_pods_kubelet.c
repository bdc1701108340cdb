// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced pods` where a kubelet is asked: what it wants of a pod is shown beside what
 * runs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/daemon/kubestage.h"
#include "lib/daemon/podstage.h"
#include "lib/jrec.h"
#include "lib/run.h"

#define DELETED                                            \
	",\"deletionTimestamp\":\"2026-11-22T00:00:00Z\"," \
	"\"deletionGracePeriodSeconds\":30"

static void check_row(const char *socket, const char *begins, const char *ends)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("pods", "-n", "shop", "--control.socket", socket)};
	struct run_result result;
	const char *row;

	assert_int_equal(run(&spec, &result), 0);
	assert_int_equal(result.status, 0);
	row = strstr(result.out, begins);
	assert_non_null(row);
	assert_non_null(strstr(row, ends));
	run_done(&result);
}

static void what_the_kubelet_wants_is_shown_beside_what_runs(void **state)
{
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pod = {.name = "cart-0", .ready = true};
	struct kubestage k;
	struct box box;
	json_t *line;

	podstage_box(s, NULL, &box);
	pod.uid = box.uid;
	kubestage_open(&k, &s->tree, &pod, 1);
	json_decref(kubestage_await_line(
		&k, box.uid,
		"{'state':'sync','ready':true,'desired':true,'deleting':false,"
		"'orphan':false,'grace':null,'pod':{'namespace':'shop','name':'cart-0'}}"));
	pod.metadata = DELETED;
	kubestage_list(&k, &pod, 1);
	line = kubestage_await_line(&k, box.uid,
				    "{'state':'terminating','deleting':true,'orphan':false,"
				    "'containers':{'running':1,'all':1},'grace':{'seconds':30}}");
	assert_true(jrec_int(line, "since_boot_ns", 0) >= jrec_int(line, "first_boot_ns", 0));
	json_decref(line);
	check_row(k.socket, "\nshop/cart-0  terminating  ", "  yes    deleting\n");
	kubestage_list(&k, NULL, 0);
	json_decref(kubestage_await_line(&k, box.uid, "{'desired':false,'orphan':true}"));
	kubestage_close(&k);
	assert_int_equal(box_remove(&box), 0);
}

/* The kubelet says so with its last container; nothing is left of its cgroups by then. */
static void an_eviction_is_reported_as_one(void **state)
{
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pod = {.name = "cart-0", .ready = true};
	struct kubestage k;
	char expected[128];
	json_t *records;
	struct box box;

	podstage_box(s, NULL, &box);
	pod.uid = box.uid;
	kubestage_open(&k, &s->tree, &pod, 1);
	json_decref(kubestage_await_line(&k, box.uid, "{'state':'sync','ready':true}"));
	assert_int_equal(box_remove(&box), 0);
	pod.phase = "Failed";
	pod.reason = "Evicted";
	pod.ready = false;
	kubestage_list(&k, &pod, 1);
	snprintf(expected, sizeof(expected), "{'type':'pod','previous':'sync','pod':{'uid':'%s'}}",
		 box.uid);
	records = kubestage_await_records(&k, expected);
	assert_string_equal(jrec_text(json_array_get(records, 0), "state"), "terminating");
	assert_string_equal(jrec_text(json_array_get(records, 0), "trigger"), "evicted");
	json_decref(records);
	kubestage_close(&k);
}

/* It alone is asked, and what it has no more is gone while it runs. */
static void the_api_server_says_which_pods_are_wanted(void **state)
{
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pod = {.name = "cart-0", .ready = true};
	struct kubestage k;
	struct box box;
	json_t *records;

	podstage_box(s, NULL, &box);
	pod.uid = box.uid;
	kubestage_open_api(&k, &s->tree, &pod, 1);
	json_decref(kubestage_await_line(&k, box.uid,
					 "{'state':'sync','ready':true,'desired':true,"
					 "'pod':{'namespace':'shop','name':'cart-0'}}"));
	assert_non_null(strstr(kubepeer_said(&k.peer), "GET /api/v1/pods?fieldSelector=spec."
						       "nodeName%3Dnode-1&resourceVersion=0 "));
	assert_true(service_metric(k.service, "graced_metadata_source_up", "source=\"api\"") == 1);
	kubestage_list(&k, NULL, 0);
	json_decref(kubestage_await_line(&k, box.uid, "{'state':'terminating','desired':false}"));
	records = kubestage_await_records(
		&k, "{'type':'discrepancy','kind':'object-gone-processes-live',"
		    "'reported':{'source':'api','listed':false},'pod':{'name':'cart-0'}}");
	assert_int_equal(json_array_size(records), 1);
	json_decref(records);
	kubestage_close(&k);
	assert_int_equal(box_remove(&box), 0);
}

/* The API server lists the mirror of a static pod, which has another uid. */
static void the_api_server_does_not_provide_whether_a_static_pod_is_wanted(void **state)
{
	const struct box manifest = {.uid = "f96a61443d9ed997b9aaf46f36bd9063"};
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pod = {.name = "cart-0", .ready = true};
	struct box box, fixed;
	struct kubestage k;

	podstage_box(s, NULL, &box);
	podstage_box(s, &manifest, &fixed);
	fixed.owns_pod = true;
	pod.uid = box.uid;
	kubestage_open_api(&k, &s->tree, &pod, 1);
	json_decref(kubestage_await_line(&k, box.uid, "{'desired':true,'orphan':false}"));
	json_decref(kubestage_await_line(
		&k, fixed.uid,
		"{'state':'sync','pod':{'static':true},'desired':null,'orphan':null}"));
	kubestage_close(&k);
	assert_int_equal(box_remove(&fixed), 0);
	assert_int_equal(box_remove(&box), 0);
}

/* The kubelet is the only source: of the sandbox it says nothing. */
static void what_the_list_lacks_is_the_sandbox(void **state)
{
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pod = {.name = "cart-0", .ready = true};
	struct box sandbox, first, late;
	char expected[256];
	struct kubestage k;
	json_t *records;

	podstage_box(s, NULL, &sandbox);
	/* /proc tells starts by its tick. */
	usleep(50000);
	podstage_box(s, &sandbox, &first);
	pod.uid = sandbox.uid;
	pod.main = first.id;
	kubestage_open(&k, &s->tree, &pod, 1);
	json_decref(kubestage_await_line(
		&k, sandbox.uid, "{'sandbox_running':true,'containers':{'running':1,'all':1}}"));
	podstage_box(s, &sandbox, &late);
	json_decref(kubestage_await_line(
		&k, sandbox.uid, "{'sandbox_running':true,'containers':{'running':2,'all':2}}"));
	assert_int_equal(box_remove(&late), 0);
	assert_int_equal(box_remove(&first), 0);
	assert_int_equal(box_remove(&sandbox), 0);
	snprintf(expected, sizeof(expected),
		 "{'type':'stop','container':{'id':'%s','kind':'sandbox'},'grace':null,"
		 "'evidence':{'gaps':['attached-late']}}",
		 sandbox.id);
	json_decref(kubestage_await_records(&k, expected));
	snprintf(expected, sizeof(expected), "{'type':'stop','container':{'id':'%s'}}", late.id);
	records = kubestage_await_records(&k, expected);
	assert_true(json_is_null(
		json_object_get(json_object_get(json_array_get(records, 0), "container"), "kind")));
	json_decref(records);
	kubestage_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what the kubelet wants is shown beside what runs",
		      what_the_kubelet_wants_is_shown_beside_what_runs),
		CLAIM("what a list lacks that was there before the rest is the sandbox",
		      what_the_list_lacks_is_the_sandbox),
		CLAIM("an eviction is reported as one, once the kubelet says so",
		      an_eviction_is_reported_as_one),
		CLAIM("the API server says which pods are wanted",
		      the_api_server_says_which_pods_are_wanted),
		CLAIM("the API server does not provide whether a static pod is wanted",
		      the_api_server_does_not_provide_whether_a_static_pod_is_wanted),
	};

	return cmocka_run_group_tests(tests, podstage_open, podstage_close);
}
