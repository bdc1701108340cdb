// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kubernetes/yaml: which JSON stands for which YAML, and what is refused. */
#include "wire/kubernetes/yaml.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

static void check(const char *yaml, const char *expected)
{
	_cleanup_(buf_free) struct buf out = {};
	struct podread_error error = {};

	assert_int_equal(podyaml_to_json(yaml, strlen(yaml), &out, &error), 0);
	assert_string_equal(buf_str(&out), expected);
}

static void test_values(void **state)
{
	check("a:\n- b:\n", "{\"a\":[{\"b\":null}]}\n");
	check("a: 1\nb: -2.5e3\nc: 1e6\n", "{\"a\":1,\"b\":-2.5e3,\"c\":1e6}\n");
	check("[~, null, Null, NULL, x]", "[null,null,null,null,\"x\"]\n");
	check("[true, yes, On, FALSE, no, off]", "[true,true,true,false,false,false]\n");
	check("['yes', \"1\", 'null', a]", "[\"yes\",\"1\",\"null\",\"a\"]\n");
}

static void test_numbers(void **state)
{
	check("[0644, 0x1e, 010, 0]", "[420,30,8,0]\n");
	check("[08, 0x, 1., .5, 1.2.3, 1_000, 12h, -, 1e, 0xfffffffffffffffff]",
	      "[\"08\",\"0x\",\"1.\",\".5\",\"1.2.3\",\"1_000\",\"12h\",\"-\",\"1e\","
	      "\"0xfffffffffffffffff\"]\n");
	check("t: 2026-11-26T12:00:00Z\ncpu: 100m\n",
	      "{\"t\":\"2026-11-26T12:00:00Z\",\"cpu\":\"100m\"}\n");
}

static void test_texts(void **state)
{
	check("a: |\n  x\n  \"y\"\nb: >-\n  c\n  d\n",
	      "{\"a\":\"x\\n\\\"y\\\"\\n\",\"b\":\"c d\"}\n");
	check("1: a\ntrue: b\n'': c\n", "{\"1\":\"a\",\"true\":\"b\",\"\":\"c\"}\n");
	check("a: {}\nb: []\nc:\n- d: e\n  f:\n  - g\n- []\n",
	      "{\"a\":{},\"b\":[],\"c\":[{\"d\":\"e\",\"f\":[\"g\"]},[]]}\n");
}

static void test_documents(void **state)
{
	check("a: 1\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}\n");
	check("# nothing\n---\n---\na: 1\n---\n# nothing\n...\n", "{\"a\":1}\n");
	check("", "");
	check("# nothing\n", "");
}

static void test_refused(void **state)
{
	static const struct {
		const char *yaml, *problem;
		int line;
	} cases[] = {
		{"a: &x 1\nb: *x\n", "alias", 2},
		{"a:\n  <<: {b: c}\n", "merge", 2},
		{"a: !!str 1\n", "tag", 1},
		{"a: !x {b: 1}\n", "tag", 1},
		{"- !x []\n", "tag", 1},
		{"{a: 1}: b\n", "key", 1},
		{"? [a]\n: b\n", "key", 1},
		{"a: b: c\n", "not allowed", 1},
		{"a: 'b\n", "", 2},
		{"a: \xff\n", "UTF-8", 0},
		{"a: \x01\n", "control", 0},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		_cleanup_(buf_free) struct buf out = {};
		struct podread_error error = {};

		assert_int_equal(podyaml_to_json(cases[i].yaml, strlen(cases[i].yaml), &out,
						 &error),
				 -EBADMSG);
		assert_int_equal(error.line, cases[i].line);
		assert_non_null(strstr(error.problem, cases[i].problem));
	}
}

static int nest(struct buf *yaml, size_t depth, struct podread_error *ret_error)
{
	_cleanup_(buf_free) struct buf out = {};

	buf_reset(yaml);
	for (size_t i = 0; i < depth; i++)
		buf_addc(yaml, '[');
	for (size_t i = 0; i < depth; i++)
		buf_addc(yaml, ']');
	return podyaml_to_json(yaml->data, yaml->len, &out, ret_error);
}

static void test_bounds(void **state)
{
	static const char item[] = "- [a, {b: c}]\n";
	_cleanup_(buf_free) struct buf yaml = {}, out = {.limit = 4096};
	struct podread_error error = {};

	assert_int_equal(nest(&yaml, PODYAML_DEPTH_MAX, &error), 0);
	assert_int_equal(nest(&yaml, PODYAML_DEPTH_MAX + 1, &error), -EBADMSG);
	assert_non_null(strstr(error.problem, "deeply"));
	assert_int_equal(nest(&yaml, 1 << 20, &error), -EBADMSG);
	buf_reset(&yaml);
	for (size_t i = 0; i < 4096; i++)
		buf_adds(&yaml, item);
	assert_int_equal(podyaml_to_json(yaml.data, yaml.len, &out, &error), -ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("plain values are what kubectl makes of them, quoted ones are texts",
		      test_values),
		CLAIM("numbers are numbers, also octal and hexadecimal ones", test_numbers),
		CLAIM("keys are texts, and blocks keep their lines", test_texts),
		CLAIM("each document is a line, but for empty ones", test_documents),
		CLAIM("aliases, merge keys, tags and bad YAML are refused with their line",
		      test_refused),
		CLAIM("nesting and length are bounded", test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
