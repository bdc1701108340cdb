// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/patch: the object and the patch that the API server takes. */
#include "wire/kubernetes/patch.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

#define _buf_ _cleanup_(buf_free) struct buf
#define WALL  1795273445123456789

static const struct eventlist_item item = {
	.id = 1,
	.namespace_ = "shop",
	.name = "web-0.00c0ffee00c0ffee",
	.count = 7,
	.last_wall_ns = WALL + 1000000000,
};

static struct event event(void)
{
	return (struct event){
		.reason = "KilledBy",
		.action = "Killing",
		.cause = "host",
		.warning = true,
		.namespace_ = "shop",
		.name = "web-0",
		.uid = "94dc9966",
		.container = "main",
		.wall_ns = WALL,
		.note = "SIGKILL from process \"kill\".",
	};
}

static void test_object(void **state)
{
	struct event e = event();
	_buf_ out = {};

	eventjson_add(&out, &e, &item, "node-1");
	assert_string_equal(
		buf_str(&out),
		"{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"namespace\":"
		"\"shop\",\"name\":\"web-0.00c0ffee00c0ffee\"},\"eventTime\":"
		"\"2026-11-21T15:04:05.123456Z\",\"reportingController\":\"graced\","
		"\"reportingInstance\":\"node-1\",\"action\":\"Killing\",\"reason\":\"KilledBy\","
		"\"type\":\"Warning\",\"note\":\"SIGKILL from process \\\"kill\\\".\",\"regarding\":{"
		"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"shop\",\"name\":\"web-0\","
		"\"uid\":\"94dc9966\",\"fieldPath\":\"spec.containers{main}\"}}");
}

static void test_node(void **state)
{
	struct event e = event();
	struct eventlist_item of_node = item;
	json_t *object, *regarding;
	char node[254];
	_buf_ out = {};

	memset(node, 'n', sizeof(node) - 1);
	node[sizeof(node) - 1] = '\0';
	strcpy(of_node.namespace_, "default");
	e.of_node = true;
	e.warning = false;
	e.namespace_[0] = e.container[0] = '\0';
	eventjson_add(&out, &e, &of_node, node);
	object = json_loads(buf_str(&out), 0, NULL);
	regarding = json_object_get(object, "regarding");
	assert_int_equal(json_string_length(json_object_get(object, "reportingInstance")), 128);
	assert_string_equal(json_string_value(json_object_get(object, "type")), "Normal");
	assert_string_equal(json_string_value(json_object_get(regarding, "kind")), "Node");
	assert_null(json_object_get(regarding, "namespace"));
	assert_null(json_object_get(regarding, "fieldPath"));
	json_decref(object);
}

static void test_series(void **state)
{
	_buf_ out = {}, create = {}, object = {};

	eventjson_add_series(&out, &item);
	assert_string_equal(buf_str(&out), "{\"series\":{\"count\":7,\"lastObservedTime\":"
					   "\"2026-11-21T15:04:06.123456Z\"}}");
	eventjson_add_paths(&item, &create, &object);
	assert_string_equal(buf_str(&create), "/apis/events.k8s.io/v1/namespaces/shop/events");
	assert_string_equal(buf_str(&object), "/apis/events.k8s.io/v1/namespaces/shop/events/"
					      "web-0.00c0ffee00c0ffee");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an Event of a pod has what events.k8s.io/v1 requires", test_object),
		CLAIM("that of a node has no field path, and a bounded instance", test_node),
		CLAIM("a series is patched with its count and its last time", test_series),
	};

	return cmocka_run_group_tests_name("wire/kubernetes/patch", tests, NULL, NULL);
}
