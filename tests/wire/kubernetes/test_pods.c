// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/pods: which lists are walked, how far, and past what. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/pods/podgen.h"
#include "lib/pods/podseen.h"

#define UID_A "aaaaaaaa-1111-4222-8333-444444444444"
#define UID_B "bbbbbbbb-1111-4222-8333-444444444444"
#define A     "{\"metadata\":{\"uid\":\"" UID_A "\",\"name\":\"a\"}}"
#define B     "{\"metadata\":{\"uid\":\"" UID_B "\",\"name\":\"b\"}}"

/* The names of the pods that are reported, in order. */
static void names_of(const struct podseen *seen, struct buf *ret)
{
	for (size_t i = 0; i < seen->n_pods; i++)
		buf_adds(ret, seen->pods[i].meta.name);
}

static void expect(const char *text, size_t size, int error, const char *names,
		   unsigned int skipped)
{
	_cleanup_(podseen_done) struct podseen seen = {};
	_cleanup_(buf_free) struct buf got = {};
	struct podjson_list counts;

	print_message("# %.*s\n", size < 200 ? (int)size : 200, text);
	assert_int_equal(podseen_read(&seen, text, size, &counts), error);
	names_of(&seen, &got);
	assert_string_equal(buf_str(&got), names);
	assert_int_equal(counts.skipped, skipped);
}

static void test_lists(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *names;
		unsigned int skipped;
	} table[] = {
		/* As the kubelet, kubectl and Go write them. */
		{"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[" A "," B
		 "]}\n",
		 0, "ab", 0},
		{"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" A "\r\n,\t" B
		 "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"a\": [1, {}]}\n}\n",
		 0, "ab", 0},
		{"{\"kind\":\"PodList\",\"items\":[]}", 0, "", 0},
		{"{\"kind\":\"PodList\",\"items\":null}", 0, "", 0},
		{"{\"kind\":\"PodList\",\"items\": null , \"x\":-1.5e3 }", 0, "", 0},
		{"{\"items\":[" A "]}", 0, "a", 0},
		{"{\"items\":[" A "],\"items\":[" B "]}", 0, "ab", 0},
		/* A pod alone, its members in any order. */
		{"{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"" UID_A "\",\"name\":\"a\"}}", 0, "a",
		 0},
		{" {\"metadata\":{\"uid\":\"" UID_A "\",\"name\":\"a\"},\"kind\":\"Pod\"} ", 0, "a",
		 0},
		{A, 0, "a", 0},
		/* Items that are no pods. */
		{"{\"items\":[1,\"" UID_A "\",null,true,[" A "],{}," A "]}", 0, "a", 6},
		{"{\"items\":[{\"kind\":\"Node\",\"metadata\":{\"uid\":\"" UID_A "\"}}," B "]}", 0,
		 "b", 1},
		{"{\"items\":[{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"" UID_A
		 "\",\"name\":\"a\"}}]}",
		 0, "a", 0},
		{"{\"items\":[{\"metadata\":{\"uid\":\"" UID_A "\",\"name\":\"\xff\"}}," B "]}", 0,
		 "b", 1},
		{"{\"items\":[{\"metadata\":{\"uid\":\"" UID_A "\",\"name\":\"a\\u0000\"}}," B "]}",
		 0, "b", 1},
		{"{\"items\":[{\"metadata\":{\"uid\":\"" UID_A "\",\"name\":\"\\ud800\"}}," B "]}",
		 0, "b", 1},
		{"{\"items\":[{\"metadata\":{\"uid\":\"" UID_A "\",\"name\":tru}}," B "]}", 0, "b",
		 1},
		{"{\"items\":[{\"metadata\":{\"uid\" \"" UID_A "\",\"name\":\"\"}}," B "]}", 0, "b",
		 1},
		{"{\"items\":[{\"metadata\":{,}}," B "]}", 0, "b", 1},
		{"{\"items\":[{\"metadata\":1e999}," B "]}", 0, "b", 1},
		/* What breaks is reported up to there. */
		{"{\"items\":[" A "," B, -EBADMSG, "ab", 0},
		{"{\"items\":[" A "," B "]", -EBADMSG, "ab", 0},
		{"{\"items\":[" A ",{\"metadata\":{\"uid\":\"" UID_B "\"", -EBADMSG, "a", 0},
		{"{\"items\":[" A "" B "]}", -EBADMSG, "a", 0},
		{"{\"items\":[" A ",]}", -EBADMSG, "a", 0},
		{"{\"items\":[" A "}]", -EBADMSG, "a", 0},
		{"{\"items\":[" A ",{\"x\":[}]," B "]}", -EBADMSG, "a", 0},
		{"{\"items\":[" A "]}]", -EBADMSG, "a", 0},
		{"{\"items\":[" A "]}{\"items\":[" B "]}", -EBADMSG, "a", 0},
		{"{\"items\":[" A "],}", -EBADMSG, "a", 0},
		{"{\"items\":[" A "] \"kind\":\"PodList\"}", -EBADMSG, "a", 0},
		{"{\"items\":[" A "],\"kind\":\"NodeList\"}", -EBADMSG, "a", 0},
		/* What is no list of pods. */
		{"", -EBADMSG, "", 0},
		{" \n", -EBADMSG, "", 0},
		{"Unauthorized", -EBADMSG, "", 0},
		{"<html></html>", -EBADMSG, "", 0},
		{"null", -EBADMSG, "", 0},
		{"[]", -EBADMSG, "", 0},
		{"[" A "]", -EBADMSG, "", 0},
		{"{", -EBADMSG, "", 0},
		{"{}", -EBADMSG, "", 1},
		{"{\"kind\":\"PodList\"}", -EBADMSG, "", 0},
		{"{\"kind\":\"Status\",\"code\":403}", -EBADMSG, "", 1},
		{"{\"kind\":\"NodeList\",\"items\":[" A "]}", -EBADMSG, "", 0},
		{"{\"items\":{}}", -EBADMSG, "", 0},
		{"{\"items\":\"\"}", -EBADMSG, "", 0},
		{"{\"items\":nul}", -EBADMSG, "", 0},
		{"{\"items\":nullnull}", -EBADMSG, "", 0},
		{"{\"items\" []}", -EBADMSG, "", 0},
		{"{items:[]}", -EBADMSG, "", 0},
		{"{\"items\":[" A "],\"x\":}", -EBADMSG, "a", 0},
	};

	for (size_t i = 0; i < LEN(table); i++)
		expect(table[i].text, strlen(table[i].text), table[i].error, table[i].names,
		       table[i].skipped);
	expect("{\"items\":[" A ",<>]}", strlen("{\"items\":[" A ",<>]}"), -EBADMSG, "a", 0);
	expect("{\"items\":[" A ",\0]}", sizeof("{\"items\":[" A ",\0]}") - 1, -EBADMSG, "a", 0);
	expect("{\"items\":[" A "]}\0", sizeof("{\"items\":[" A "]}\0") - 1, -EBADMSG, "a", 0);
}

/* Every pod that ends before the cut is reported, none other, and the end is never taken for whole.
 */
static void test_cuts(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	size_t whole, reported = 0;

	podgen_list(&list, 0, 3, 1000);
	whole = list.len - 1; /* without its line feed */
	for (size_t size = 0; size < whole; size++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		struct podjson_list counts;

		assert_int_equal(podseen_read(&seen, list.data, size, &counts), -EBADMSG);
		assert_true(seen.n_pods == reported || seen.n_pods == reported + 1);
		assert_int_equal(counts.skipped, 0);
		reported = seen.n_pods;
	}
	assert_int_equal(reported, 3);
	expect(list.data, whole, 0,
	       "web-0-7d4b9c6f5d-abcdeweb-1-7d4b9c6f5d-abcdeweb-2-7d4b9c6f5d-abcde", 0);
}

static void test_large(void **state)
{
	_cleanup_(podseen_done) struct podseen seen = {};
	_cleanup_(buf_free) struct buf list = {};
	struct podjson_list counts;

	podgen_list(&list, 0, 500, 20000);
	assert_true(list.len > 10 * 1000 * 1000);
	assert_int_equal(podseen_read(&seen, list.data, list.len, &counts), 0);
	assert_int_equal(seen.n_pods, 500);
	assert_int_equal(seen.n_containers, 2000);
	for (unsigned int i = 0; i < 500; i++) {
		char uid[37], id[65];

		podgen_uid(i, uid);
		assert_string_equal(seen.pods[i].meta.uid, uid);
		for (unsigned int c = 0; c < 4; c++)
			assert_string_equal(seen.containers[i * 4 + c].pod_uid, uid);
		podgen_id(i, 1, id);
		assert_string_equal(seen.containers[i * 4 + 2].id, id);
	}
}

static void count_pod(void *userdata, const struct meta_pod *meta, const struct podobj_pod *pod)
{
	++*(unsigned int *)userdata;
}

static void ignore_container(void *userdata, const struct meta_container *container)
{
}

/* Indentation is passed over in one go, and has an end. */
static void test_spaces(void **state)
{
	static const struct {
		const char *before, *after;
		bool in_pod;
	} table[] = {
		{"", "{\"items\":[" A "," B "]}", false},
		{"{\"items\":[" A, "," B "]}", false},
		{"{\"items\":[" A ",", B "]}", false},
		{"{\"items\":[" A "," B "]}", "", false},
		{"{\"items\":[" A "," B "],\"x\":", "1}", false},
		{"{\"items\":[{\"metadata\":", "{\"uid\":\"" UID_A "\",\"name\":\"a\"}}," B "]}",
		 true},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		for (size_t n = 4096; n <= 65536; n *= 16) {
			_cleanup_(podseen_done) struct podseen seen = {};
			_cleanup_(buf_free) struct buf text = {};
			struct podjson_list counts;
			bool fine = n == 4096;
			int r;

			print_message("# %zu after %s\n", n, table[i].before);
			buf_printf(&text, "%s%*s%s", table[i].before, (int)n, "", table[i].after);
			r = podseen_read(&seen, text.data, text.len, &counts);
			assert_int_equal(r, fine || table[i].in_pod ? 0 : -EBADMSG);
			assert_true(fine ? seen.n_pods == 2 : seen.n_pods <= 2);
			if (table[i].in_pod)
				assert_int_equal(counts.skipped, !fine);
		}
	}
}

/* Whatever 12 MiB consist of, no call does more than a piece of them. */
static void test_pieces(void **state)
{
	static const struct {
		const char *before, *filling, *after;
		unsigned int pods, skipped;
	} table[] = {
		{"{\"items\":[" A ",{\"x\":\"", "xxxxxxxx", "\"}," B "]}", 2, 1},
		{"{\"items\":[" A ",{\"x\":[1", ",[],{},1", "]}," B "]}", 2, 1},
		{"{\"items\":[" A ",{\"metadata\":{\"uid\":\"" UID_B "\",\"x\":\"", "\\\"\\\\[[[[",
		 "\"}}," B "]}", 2, 1},
		{"{\"x\":\"", "\\\"{[{[{[", "\",\"items\":[" A "," B "]}", 2, 0},
		{"{\"items\":[" A "],\"x\":[0", ",\"],[\",0", "]}", 1, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(cleanup_podjson_free) struct podjson *walk = NULL;
		_cleanup_(buf_free) struct buf text = {};
		unsigned int pods = 0, calls = 0;
		struct podjson_list counts;
		int r;

		print_message("# %s\n", table[i].before);
		buf_adds(&text, table[i].before);
		while (text.len < 12 << 20)
			buf_add(&text, table[i].filling, 8);
		buf_adds(&text, table[i].after);
		assert_int_equal(podjson_new(text.data, text.len, &walk), 0);
		do {
			r = podjson_next(walk, &(struct podjson_sink){&pods, count_pod,
								      ignore_container, NULL});
			calls++;
		} while (r == 1);
		counts = *podjson_list(walk);
		assert_int_equal(r, 0);
		assert_int_equal(pods, table[i].pods);
		assert_int_equal(counts.skipped, table[i].skipped);
		assert_true(calls >= (12 << 20) / (64 << 10));
	}
}

/* What the API server puts before its pods. */
static void test_list(void **state)
{
	static const struct {
		const char *text;
		uint64_t version;
		bool partial;
	} table[] = {
		{"{\"metadata\":{\"resourceVersion\":\"123\"},\"items\":[" A "]}", 123, false},
		{"{\"items\":[" A "],\"metadata\":{\"resourceVersion\":\"7\"}}", 7, false},
		{"{\"metadata\":{\"resourceVersion\":\"9999999999999999999\"},\"items\":[]}",
		 9999999999999999999u, false},
		{"{\"metadata\":{\"resourceVersion\":\"10000000000000000000\"},\"items\":[]}", 0,
		 false},
		{"{\"metadata\":{\"resourceVersion\":\"-1\"},\"items\":[]}", 0, false},
		{"{\"metadata\":{\"resourceVersion\":\"1e3\"},\"items\":[]}", 0, false},
		{"{\"metadata\":{\"resourceVersion\":\"\"},\"items\":[]}", 0, false},
		{"{\"metadata\":{\"resourceVersion\":123},\"items\":[]}", 0, false},
		{"{\"metadata\":{\"continue\":\"\"},\"items\":[]}", 0, false},
		{"{\"metadata\":{},\"items\":[" A "]}", 0, false},
		{"{\"metadata\":null,\"items\":[]}", 0, false},
		{"{\"metadata\":\"continue\",\"items\":[]}", 0, false},
		{"{\"items\":[]}", 0, false},
		{"{\"metadata\":{\"continue\":\"x\",\"resourceVersion\":\"5\"},\"items\":[]}", 5,
		 true},
		/* It may say anything. */
		{"{\"metadata\":{\"continue\" \"x\"},\"items\":[]}", 0, true},
		/* A pod's own is none of a list's. */
		{"{\"metadata\":{\"resourceVersion\":\"5\",\"uid\":\"" UID_A "\"}}", 0, false},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(cleanup_podjson_free) struct podjson *walk = NULL;
		struct podjson_list list;
		unsigned int pods = 0;

		print_message("# %s\n", table[i].text);
		assert_int_equal(podjson_new(table[i].text, strlen(table[i].text), &walk), 0);
		while (podjson_next(walk, &(struct podjson_sink){&pods, count_pod, ignore_container,
								 NULL}) == 1)
			;
		list = *podjson_list(walk);
		assert_true(list.version == table[i].version);
		assert_int_equal(list.partial, table[i].partial);
	}
}

/* Limits of a pod's size, of the values that are read of it, of brackets. */
static void test_limits(void **state)
{
	static const struct {
		const char *before, *filling, *after;
		size_t times;
		unsigned int pods;
	} table[] = {
		/* A few bytes less than 2 MiB, and more. */
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"x\":\"", "xxxxxxxx", "\"}", 262135, 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"x\":\"", "xxxxxxxx", "\"}", 262136, 0},
		/* Not read: however many there are. */
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"x\":[0", ",{}", "]}", 600000, 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\",\"name\":[0", ",{}", "]}}", 600000, 1},
		/* Read: each {} of a list is one, and pod, metadata, uid, spec and the list. */
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"spec\":{\"containers\":[{}", ",{}", "]}}",
		 8186, 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"spec\":{\"containers\":[{}", ",{}", "]}}",
		 8187, 0},
		{"{\"metadata\":{\"uid\":\"" UID_A "\",\"ownerReferences\":[[]", ",[]", "]}}", 8192,
		 0},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"", ",\"name\":\"\"", "}}", 10000, 0},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"", ",\"labels\":[]", "}}", 10000, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		_cleanup_(buf_free) struct buf text = {};
		struct podjson_list counts;

		print_message("# %s, %zu times %s\n", table[i].before, table[i].times,
			      table[i].filling);
		buf_adds(&text, "{\"items\":[");
		buf_adds(&text, table[i].before);
		for (size_t n = 0; n < table[i].times; n++)
			buf_adds(&text, table[i].filling);
		buf_printf(&text, "%s," B "]}", table[i].after);
		assert_int_equal(podseen_read(&seen, text.data, text.len, &counts), 0);
		assert_int_equal(seen.n_pods, table[i].pods + 1);
		assert_int_equal(counts.skipped, 1 - table[i].pods);
	}
}

/* A million brackets are as good as one: nothing here recurses over what is not read. */
static void test_depth(void **state)
{
	static const struct {
		const char *before, *open, *close, *after;
		unsigned int pods;
	} table[] = {
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"x\":", "[", "]", "}", 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"x\":", "{\"a\":", "}", "}", 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"spec\":", "[", "]", "}", 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"spec\":{\"containers\":", "[", "]", "}}",
		 1},
		{"{\"metadata\":{\"uid\":\"" UID_A "\"},\"spec\":", "{\"spec\":", "}", "}", 1},
		{"", "[", "]", "", 0},
		{"", "{\"metadata\":", "}", "", 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		_cleanup_(podseen_done) struct podseen seen = {};
		_cleanup_(buf_free) struct buf text = {};
		struct podjson_list counts;
		const size_t times = 100000;

		print_message("# %s%s\n", table[i].before, table[i].open);
		buf_printf(&text, "{\"items\":[%s", table[i].before);
		for (size_t n = 0; n < times; n++)
			buf_adds(&text, table[i].open);
		buf_adds(&text, "0");
		for (size_t n = 0; n < times; n++)
			buf_adds(&text, table[i].close);
		buf_printf(&text, "%s," B "]}", table[i].after);
		assert_int_equal(podseen_read(&seen, text.data, text.len, &counts), 0);
		assert_int_equal(seen.n_pods, table[i].pods + 1);
	}
}

static void note_object(void *userdata, const char *text, size_t size)
{
	struct buf *out = userdata;

	buf_add(out, text, size);
	buf_addc(out, '|');
}

static void test_objects(void **state)
{
	static const struct {
		const char *text, *objects;
	} want[] = {
		{"{\"kind\":\"List\",\"items\":[ {\"a\":1} , 7,{\"kind\":\"X\"}]}",
		 "{\"a\":1}|7|{\"kind\":\"X\"}|"},
		{" {\"kind\":\"Pod\"} ", "{\"kind\":\"Pod\"}|"},
		{"{\"kind\":\"List\",\"items\":[]}", ""},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		_cleanup_(buf_free) struct buf out = {};
		const struct podjson_sink sink = {.userdata = &out, .object = note_object};
		_cleanup_(cleanup_podjson_free) struct podjson *walk = NULL;
		int r;

		assert_int_equal(podjson_new(want[i].text, strlen(want[i].text), &walk), 0);
		do
			r = podjson_next(walk, &sink);
		while (r == 1);
		assert_int_equal(r, 0);
		assert_string_equal(buf_str(&out), want[i].objects);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a list of pods in any form is walked; what is none, or breaks, is reported so",
		      test_lists),
		CLAIM("a list cut anywhere tells the pods before the cut, and that it was cut",
		      test_cuts),
		CLAIM("500 pods in 10 MB are reported, each with its containers", test_large),
		CLAIM("4 KiB of white space are as good as none, 64 KiB are no list", test_spaces),
		CLAIM("no call does more than a piece of the work, whatever the bytes are",
		      test_pieces),
		CLAIM("a list says how new it is, and whether it is whole", test_list),
		CLAIM("a pod over its limits is passed over, and costs no other", test_limits),
		CLAIM("brackets in brackets cost no stack", test_depth),
		CLAIM("a sink for objects gets them as they are written", test_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
