// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/pods. */
#include "wire/kubernetes/pods.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

#define POD(meta, spec, status)                                                            \
	"{'metadata':{'namespace':'n','name':'p','uid':'u'" meta "},'spec':{'containers':" \
	"[{'name':'a','image':'i'}]" spec "},'status':{" status "}}"
#define RUNS	  POD("", "", "'phase':'Running'")
#define GOES	  POD(",'deletionTimestamp':'2026-11-26T06:00:00Z'", STAYS, "'phase':'Running'")
#define TOLERATES POD("", STAYS, "'phase':'Running'")
#define ENDED	  POD("", "", "'phase':'Succeeded'")
#define SOME_TIME POD("", ",'tolerations':[{'operator':'Exists','tolerationSeconds':9}]", "")
#define ANOTHER	  POD("", ",'tolerations':[{'key':'a','operator':'Exists'}]", "")
#define MIRROR                                                                                  \
	POD(",'deletionTimestamp':'2026-11-26T06:00:00Z','annotations':{'kubernetes.io/config." \
	    "source':'file','kubernetes.io/config.mirror':'h'}",                                \
	    "", "")
#define STAYS ",'tolerations':[{'operator':'Exists'}]"

static int read_page(const char *text, size_t *ret_waiting, char *ret_next)
{
	_cleanup_(buf_free) struct buf json = {};

	buf_adds(&json, text);
	for (size_t i = 0; i < json.len; i++)
		if (json.data[i] == '\'')
			json.data[i] = '"';
	return podpage_read(json.data, json.len, ret_waiting, ret_next);
}

static void test_count(void **state)
{
	static const struct {
		const char *items;
		size_t waiting;
	} rows[] = {
		{"null", 0},
		{"[]", 0},
		{"[" RUNS "," RUNS "]", 2},
		{"[" GOES "]", 1},
		{"[" TOLERATES "," ENDED "," MIRROR "]", 0},
		{"[" SOME_TIME "," ANOTHER "]", 2},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf text = {};
		char next[PODPAGE_CONTINUE_MAX];
		size_t waiting;

		buf_printf(&text, "{'metadata':{'continue':'aB_-9.'},'items':%s}", rows[i].items);
		assert_int_equal(read_page(buf_str(&text), &waiting, next), 0);
		if (waiting != rows[i].waiting)
			fail_msg("row %zu: %zu", i, waiting);
		assert_string_equal(next, "aB_-9.");
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text;
		int error;
	} rows[] = {
		{"", -EBADMSG},
		{"[]", -EBADMSG},
		{"{'kind':'Status','status':'Failure'}", -EBADMSG},
		{"{'items':{}}", -EBADMSG},
		{"{'items':[7]}", -EINVAL},
		{"{'items':[{'spec':{'tolerations':7}}]}", -EINVAL},
		{"{'metadata':{'continue':7},'items':[]}", -EBADMSG},
		{"{'metadata':{'continue':'a&b=c'},'items':[]}", -EBADMSG},
		{"{'metadata':{'continue':'a b'},'items':[]}", -EBADMSG},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char next[PODPAGE_CONTINUE_MAX];
		size_t waiting = 7;
		int r = read_page(rows[i].text, &waiting, next);

		if (r != rows[i].error || waiting != 7)
			fail_msg("row %zu: %d", i, r);
	}
}

static void test_path(void **state)
{
	_cleanup_(buf_free) struct buf path = {}, next = {};

	assert_int_equal(podpage_path(&path, "node-1", ""), 0);
	assert_string_equal(buf_str(&path),
			    "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&limit=50");
	assert_int_equal(podpage_path(&next, "node-1", "aB"), 0);
	assert_string_equal(buf_str(&next), "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-1&"
					    "limit=50&continue=aB");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("pods wait that the taint removes: not those that tolerate it, have ended or "
		      "are static",
		      test_count),
		CLAIM("what is no list, or not whole, is no answer", test_bad),
		CLAIM("the path names the node, and the page after the first", test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
