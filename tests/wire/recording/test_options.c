// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/recording/recording: the engine's settings survive a recording's header. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/recording/recording.h"

static void test_round_trip(void **state)
{
	static const char *const nested[] = {"/docker/a\"b\\c", "/", NULL};
	static const char *const roots[] = {"/user.slice", NULL};
	static const char *const helpers[] = {"tail", "in\"otify", NULL};
	struct engine_config config = {
		.scope = SCOPE_ALL,
		.assumed_grace_ns = 30000000000ull,
		.nested_nodes = nested,
		.container_roots = roots,
		.helpers = helpers,
	};
	_cleanup_(buf_free) struct buf line = {};
	struct rec_options got;

	assert_int_equal(rec_write_header(&line, "0.1"), 0);
	assert_int_equal(rec_options_write(&line, &config), 0);
	assert_int_equal(rec_read_header(line.data, line.len), 0);
	assert_int_equal(strcspn(line.data, "\n"), line.len - 1);
	assert_int_equal(rec_options_read(line.data, line.len, &got), 0);
	assert_int_equal(got.engine.scope, SCOPE_ALL);
	assert_int_equal(got.engine.assumed_grace_ns, 30000000000ull);
	assert_int_equal(got.version, REC_VERSION);
	assert_int_equal(got.abi, GRACED_ABI);
	assert_string_equal(got.engine.nested_nodes[0], nested[0]);
	assert_string_equal(got.engine.nested_nodes[1], nested[1]);
	assert_null(got.engine.nested_nodes[2]);
	assert_string_equal(got.engine.container_roots[0], roots[0]);
	assert_null(got.engine.container_roots[1]);
	assert_string_equal(got.engine.helpers[1], helpers[1]);
	assert_null(got.engine.helpers[2]);
	rec_options_done(&got);
}

static const struct odd {
	const char *line;
	int r;
} odds[] = {
	{"", -EBADMSG},
	{"[]", -EBADMSG},
	{"{", -EBADMSG},
	{"{}", 0},
	{"{\"scope\":3,\"assumed_grace_ns\":\"x\",\"nested_nodes\":7,\"version\":[]}", 0},
	{"{\"scope\":\"everything\",\"assumed_grace_ns\":-5,\"nested_nodes\":[1,null,{}]}", 0},
};

static void test_odd(void **state)
{
	for (size_t i = 0; i < LEN(odds); i++) {
		struct rec_options got;

		print_message("# odd %zu\n", i);
		assert_int_equal(rec_options_read(odds[i].line, strlen(odds[i].line), &got),
				 odds[i].r);
		assert_int_equal(got.engine.scope, SCOPE_CONTAINERS);
		assert_int_equal(got.engine.assumed_grace_ns, 0);
		assert_null(got.engine.nested_nodes[0]);
		assert_null(got.engine.container_roots[0]);
		rec_options_done(&got);
	}
}

static void test_no_header(void **state)
{
	_cleanup_(buf_free) struct buf line = {};

	assert_int_equal(rec_options_write(&line, &(struct engine_config){}), -EINVAL);
	buf_adds(&line, "no header");
	assert_int_equal(rec_options_write(&line, &(struct engine_config){}), -EINVAL);
	assert_string_equal(buf_str(&line), "no header");
}

static void test_many(void **state)
{
	_cleanup_(buf_free) struct buf line = {};
	struct rec_options got;

	buf_adds(&line, "{\"nested_nodes\":[\"/0\"");
	for (int i = 1; i < 1000; i++)
		buf_printf(&line, ",\"/%d\"", i);
	buf_adds(&line, "]}");
	assert_int_equal(rec_options_read(line.data, line.len, &got), 0);
	assert_string_equal(got.nested[REC_OPTIONS_NESTED_MAX - 1], "/63");
	assert_null(got.nested[REC_OPTIONS_NESTED_MAX]);
	rec_options_done(&got);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the engine's settings are read as they were written", test_round_trip),
		CLAIM("what is missing or odd in a header stays at its default", test_odd),
		CLAIM("settings are only added to a header line", test_no_header),
		CLAIM("more nested nodes than there is room for are left out", test_many),
	};

	return cmocka_run_group_tests_name("wire/recording/recording", tests, NULL, NULL);
}
