// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/config/yaml: what a document of settings says, and what is wrong with one. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/config/yaml.h"

/* "key@line=value key@line=[a,b] key@line={} key@line=~ | line:key:error |", for comparison. */
static void show(struct buf *out, const struct yamlconf *conf)
{
	static const char *const marks[] = {"~", "", "[", "{}"};

	for (size_t i = 0; i < conf->n_entries; i++) {
		const struct yamlconf_entry *e = &conf->entries[i];

		buf_printf(out, "%s%s@%u=%s", i ? " " : "", e->key, e->line, marks[e->kind]);
		for (size_t j = 0; j < e->n_values; j++)
			buf_printf(out, "%s%s%s%s%s", j ? "," : "", e->values[j].quoted ? "'" : "",
				   e->values[j].section ? "{}" : "",
				   e->values[j].nothing ? "~" : e->values[j].text,
				   e->values[j].quoted ? "'" : "");
		if (e->kind == YAMLCONF_LIST)
			buf_addc(out, ']');
	}
	for (size_t i = 0; i < conf->n_errors; i++)
		buf_printf(out, " | %u:%s:%s", conf->errors[i].line,
			   conf->errors[i].key ? conf->errors[i].key : "", conf->errors[i].text);
}

static void parse(const char *data, size_t size, struct yamlconf *ret)
{
	/* A buffer of exactly that size, so that a sanitizer sees what reads on. */
	char *own = test_malloc(size ? size : 1);

	memcpy(own, data, size);
	assert_int_equal(yamlconf_parse(own, size, ret), 0);
	test_free(own);
}

static const struct reading {
	const char *yaml, *shows;
} readings[] = {
	{"", ""},
	{"\n# only this\n", ""},
	{"---\n...\n", ""},
	{"~", ""},
	{"{}", ""},
	{"\xef\xbb\xbf"
	 "a: 1\n",
	 "a@1=1"},
	{"a: 1", "a@1=1"},
	{"a: 1\r\nb: 2\r\n", "a@1=1 b@2=2"},
	{"---\na: x y\n", "a@2=x y"},
	{"web:\n  a: 127.0.0.1:9753\n  b:\n  c: ~\n", "web@1={} web.a@2=127.0.0.1:9753 web.b@3=~ "
						      "web.c@4=~"},
	{"web.a: 1\nweb: {b: 2}\n", "web.a@1=1 web@2={} web.b@2=2"},
	{"a: [1, 'two', \"three\"]\n", "a@1=[1,'two','three']"},
	{"a:\n- 1\n-\n- ''\n", "a@1=[1,~,'']"},
	{"a:\n- {b: 1, c: 'x = y, z'}\n- b: \"\"\n- 3\n", "a@1=[{}b=1\nc=x = y, z,{}b=,3]"},
	{"a: [b: 1]\nc: [{}]\n", "a@1=[{}b=1] c@2=[{}]"},
	{"a: []\nb: ''\nc: null\nd: 'null'\n", "a@1=[] b@2='' c@3=~ d@4='null'"},
	{"a: true # yes\n", "a@1=true"},
	{"a: |\n  b: 1\n", "a@1='b: 1\n'"},
	{"? a\n: 1\n", "a@1=1"},
	{"\"a\": 1\n", "a@1=1"},
	{"ä: ö\n", "ä@1=ö"},
	{"\xe2\x80\xaa: 1\n", "\xe2\x80\xaa@1=1"},
};

static void test_readings(void **state)
{
	for (size_t i = 0; i < LEN(readings); i++) {
		_cleanup_(yamlconf_done) struct yamlconf conf = {};
		_cleanup_(buf_free) struct buf shown = {};

		print_message("# reading %zu\n", i);
		parse(readings[i].yaml, strlen(readings[i].yaml), &conf);
		show(&shown, &conf);
		assert_string_equal(buf_str(&shown), readings[i].shows);
	}
}

#define TEXT(literal) literal, sizeof(literal) - 1

static const struct wrong {
	const char *yaml;
	size_t size;
	const char *shows; /* a part of it */
} wrongs[] = {
	{TEXT("a: 1\na: 2\n"), "| 2:a:is there twice, first in line 1"},
	{TEXT("w:\n  a: 1\n  a: 2\n  b: 3\n"), "w.b@4=3 | 3:w.a:is there twice, first in line 2"},
	{TEXT("w: {a: 1}\nw: {b: 1}\nc: 1\n"), "c@3=1 | 2:w:is there twice"},
	{TEXT("w.a: 1\nw:\n  a: 2\n"), "| 3:w.a:is there twice, first in line 1"},
	{TEXT("a: &x 1\n"), "| 1:a:has an anchor (&)"},
	{TEXT("a: &x [1]\nb: 2\n"), "b@2=2 | 1:a:has an anchor (&)"},
	{TEXT("a: &x {b: 1}\nb: 2\n"), "b@2=2 | 1:a:has an anchor (&)"},
	{TEXT("a: 1\nb: *x\n"), "| 2:b:has an alias (*)"},
	{TEXT("*x : 1\nb: 2\n"), "b@2=2 | 1::has an alias (*)"},
	{TEXT("a: [1, *x, 2]\n"), "a@1=[1,2] | 1:a:has an alias (*)"},
	{TEXT("&x a: 1\n"), "| 1::has an anchor (&)"},
	{TEXT("&x\na: 1\n"), "| 1::has an anchor (&)"},
	{TEXT("a: !!str 1\n"), "| 1:a:has a tag (!)"},
	{TEXT("a: !x {b: 1}\n"), "| 1:a:has a tag (!)"},
	{TEXT("a: [!x [1]]\n"), "| 1:a:has a tag (!)"},
	{TEXT("b: 1\n<<: {a: 1}\n"), "b@1=1 | 2::a merge key (<<)"},
	{TEXT("w:\n  <<: *x\n"), "| 2:w:a merge key (<<)"},
	{TEXT("a: 1\n---\nb: 1\n"), "a@1=1 | 2::a second document begins here"},
	{TEXT("a: 1\n...\n---\n"), "| 3::a second document begins here"},
	{TEXT("- a\n- b\n"), "| 1::is a list"},
	{TEXT("hello\n"), "| 1::is a lone value"},
	{TEXT("'~'\n"), "| 1::is a lone value"},
	{TEXT("a: [{b: [1, {c: 1}]}, 2]\n"), "a@1=[2] | 1:a:wants plain values in the keys of its"},
	{TEXT("a: [{b: {c: 1}, d: 1}]\ne: 1\n"), "a@1=[] e@2=1 | 1:a:wants plain values in"},
	{TEXT("a:\n- {b: 1,\n   b: 2}\n- 3\n"), "a@1=[3] | 3:a:a key is there twice in one entry"},
	{TEXT("a: [{b: }, {c: null}, 2]\n"),
	 "a@1=[2] | 1:a:a key of its list has no value | 1:a:a key of its list has no value"},
	{TEXT("a: [{b: &x 1}, {&x c: 1}, {d: *x}, {*x : [1]}, 2]\ne: 1\n"),
	 "a@1=[2] e@2=1 | 1:a:has an anchor (&), which is not read here; write the value out | "
	 "1:a:has an anchor (&), which is not read here; write the value out | 1:a:has an alias"},
	{TEXT("a: [{[b]: [1]}, {{b: 1}: 2}, 3]\nc: 1\n"), "a@1=[3] c@2=1 | 1:a:a key is a word"},
	{TEXT("a: [{<<: {b: 1}}]\nc: 1\n"), "a@1=[] c@2=1 | 1:a:a merge key (<<)"},
	{TEXT("a: [{'b=c': 1}, {\"b\\nc\": 1}, {b: \"1\\n2\"}, {b: \"1\\0\"}]\nc: 1\n"),
	 "a@1=[] c@2=1 | 1:a:a key of its list has an equals sign"},
	{TEXT("a: [{b: 1\nc: 1\n"), "::is not YAML: "},
	{TEXT("a:\n- [1, [2, 3]]\n- 4\n"), "a@1=[4] | 2:a:wants values in its list, not a list"},
	{TEXT("? [a, b]\n: 1\nc: 2\n"), "c@3=2 | 1::a key is a word"},
	{TEXT("? {a: b}\n: {c: {d: 1}}\nc: 2\n"), "c@3=2 | 1::a key is a word"},
	{TEXT(": 1\n"), "| 1::is not YAML: "},
	{TEXT("? \n: 1\n"), "| 1::a key is missing"},
	{TEXT("~: 1\n"), "| 1::a key is missing"},
	{TEXT("'': 1\n"), "| 1::a key is missing"},
	{TEXT("\"a\\0b\": 1\n"), "| 1::a key has a NUL"},
	{TEXT("a: \"x\\0y\"\n"), "| 1:a:has a NUL"},
	{TEXT("a:\n\tb: 1\n"), "| 2::is not YAML: a tab, where spaces are wanted"},
	{TEXT("a: 1\n\tb: 2\n"), "| 2::is not YAML: a tab"},
	{TEXT("a: 1\n b: 2\n"), "| 2::is not YAML: mapping values are not allowed"},
	{TEXT("a: [1, 2\nb: 3\n"), "::is not YAML: "},
	{TEXT("a: 1\nb: 'x\n\n"),
	 "a@1=1 | 4::is not YAML: while scanning a quoted scalar from line "
	 "2 on, "},
	{TEXT("a: b: c\n"), "| 1::is not YAML: "},
	{TEXT("a: @x\n"), "| 1::is not YAML: "},
	{TEXT("%YAML 3.1\n---\na: 1\n"), "| 1::is not YAML: "},
	{TEXT("x: 1\na: \xff\n"), "| 2::byte 0xff is not UTF-8"},
	{TEXT("a: \xc3"), "| 1::byte 0xc3 is not UTF-8"},
	{TEXT("a: \xed\xa0\x80\n"), "| 1::byte 0xed is not UTF-8"},
	{TEXT("\xff\xfe"
	      "a\0:\0 \0\x31\0"),
	 "| 1::byte 0xff is not UTF-8"},
	{TEXT("a: 1\0\n"), "| 1::control character 0x00"},
	{TEXT("a: 1\nb: \x1b[31m\n"), "| 2::control character 0x1b"},
	{TEXT("a: \x7f\n"), "| 1::control character 0x7f"},
	{TEXT("a: \xc2\x9b\n"), "| 1::control character 0x9b"},
	{TEXT("a: 1\nb: \xef\xbf\xbf\n"), "| 2::is not YAML: "},
	{TEXT("a: {b: {c: {d: {e: {f: {g: {h: 1}}}}}}}\n"), "a.b.c.d.e.f.g.h@1=1"},
	{TEXT("a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}\n"), "| 1:a.b.c.d.e.f.g.h:is nested "
								 "too deeply"},
};

static void test_wrongs(void **state)
{
	for (size_t i = 0; i < LEN(wrongs); i++) {
		_cleanup_(yamlconf_done) struct yamlconf conf = {};
		_cleanup_(buf_free) struct buf shown = {};

		parse(wrongs[i].yaml, wrongs[i].size, &conf);
		show(&shown, &conf);
		print_message("# wrong %zu: %s\n", i,
			      strchr(buf_str(&shown), '\n') ? "" : buf_str(&shown));
		assert_non_null(strstr(buf_str(&shown), wrongs[i].shows));
	}
}

static void test_places(void **state)
{
	static const char yaml[] = "# ä\nw:\n  list:\n  - one\n  -   two\n  ä: x\n";
	_cleanup_(yamlconf_done) struct yamlconf conf = {};

	parse(TEXT(yaml), &conf);
	assert_int_equal(conf.n_entries, 3);
	assert_int_equal(conf.entries[0].column, 1);
	assert_int_equal(conf.entries[1].line, 3);
	assert_int_equal(conf.entries[1].column, 3);
	assert_int_equal(conf.entries[1].values[1].line, 5);
	assert_int_equal(conf.entries[1].values[1].column, 7);
	assert_int_equal(conf.entries[2].values[0].column, 6);
}

/* n times what the pattern makes of a number. */
static void fill(struct buf *out, const char *before, unsigned int n, const char *separator,
		 const char *after)
{
	buf_adds(out, before);
	for (unsigned int i = 0; i < n; i++)
		buf_printf(out, "%sk%u", i ? separator : "", i);
	buf_adds(out, after);
}

static void check_one_error(struct buf *yaml, const char *wanted, size_t entries_at_most)
{
	_cleanup_(yamlconf_done) struct yamlconf conf = {};

	parse(buf_str(yaml), yaml->len, &conf);
	assert_int_equal(conf.n_errors, 1);
	assert_non_null(strstr(conf.errors[0].text, wanted));
	assert_true(conf.n_entries <= entries_at_most);
	buf_reset(yaml);
}

static void test_limits(void **state)
{
	_cleanup_(buf_free) struct buf yaml = {};

	fill(&yaml, "", YAMLCONF_KEYS_MAX + 1, ": 1\n", ": 1\n");
	check_one_error(&yaml, "one key too many", YAMLCONF_KEYS_MAX);
	fill(&yaml, "a: [", YAMLCONF_KEYS_MAX + 1, ",\n ", "]\n");
	check_one_error(&yaml, "one value too many", 1);
	for (size_t i = 0; i < 500000; i++)
		buf_adds(&yaml, i % 100 ? "[" : "[\n");
	check_one_error(&yaml, "", 1);
	buf_adds(&yaml, "a: ");
	for (size_t i = 0; i < 200000; i++)
		buf_adds(&yaml, "{b: ");
	check_one_error(&yaml, "nested too deeply", YAMLCONF_DEPTH_MAX);
	for (size_t i = 0; i <= YAMLCONF_NAME_MAX; i++)
		buf_addc(&yaml, 'a');
	buf_adds(&yaml, ": 1\n");
	check_one_error(&yaml, "far too long", 0);
	while (yaml.len <= YAMLCONF_SIZE_MAX)
		buf_adds(&yaml, "# this adds up\n");
	check_one_error(&yaml, "bigger than 1 MiB", 0);
}

static void test_many_errors(void **state)
{
	_cleanup_(yamlconf_done) struct yamlconf conf = {};
	_cleanup_(buf_free) struct buf yaml = {};

	for (int i = 0; i < 25; i++)
		buf_printf(&yaml, "k%d: *x\n", i);
	buf_adds(&yaml, "last: 1\n");
	parse(buf_str(&yaml), yaml.len, &conf);
	assert_int_equal(conf.n_errors, YAMLCONF_ERRORS_MAX);
	assert_int_equal(conf.n_unsaid, 25 - YAMLCONF_ERRORS_MAX);
	assert_int_equal(conf.errors[19].line, 20);
	assert_int_equal(conf.n_entries, 1);
}

/* A laugh would be 10^9 values. */
static void test_laughs(void **state)
{
	static const char yaml[] = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
				   "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
				   "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n";
	_cleanup_(yamlconf_done) struct yamlconf conf = {};

	parse(TEXT(yaml), &conf);
	assert_int_equal(conf.n_entries, 0);
	assert_int_equal(conf.n_errors, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a document is a list of dotted keys", test_readings),
		CLAIM("what is wrong is reported by its line and key, and the rest is read",
		      test_wrongs),
		CLAIM("keys and values know their place", test_places),
		CLAIM("depth, keys, values, names and size have limits", test_limits),
		CLAIM("twenty errors are reported, more are counted", test_many_errors),
		CLAIM("a billion laughs are three errors", test_laughs),
	};

	return cmocka_run_group_tests_name("yamlconf", tests, NULL, NULL);
}
