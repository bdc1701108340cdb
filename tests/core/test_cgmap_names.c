// SPDX-License-Identifier: Apache-2.0
/* Claims about core/cgmap: what a source may call a pod and a container. */
#include "core/cgmap.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/world.h"

#define NODE(map, n) cgmap_get(map, CG_##n)

static void map_open(struct cgmap *map)
{
	static const struct {
		uint64_t id;
		const char *path;
	} tree[] = {
		{CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A},
		{CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1},
		{CG_B1, "/kubepods/burstable/pod" WORLD_UID_B "/" WORLD_ID_B1},
		{CG_D1, "/docker/" WORLD_ID_D1},
	};

	*map = (struct cgmap){};
	for (size_t i = 0; i < LEN(tree); i++) {
		struct cgnode *node;

		assert_int_equal(cgmap_add_path(map, tree[i].id, 0, tree[i].path, &node), 0);
		node->names = NAMES_ASKED;
	}
}

static void name(struct cgmap *map, const char *uid, const char *id, const char *pod,
		 const char *container, bool is_found)
{
	assert_int_equal(cgmap_set_names(map, uid, id, "default", pod, container, is_found), 0);
}

static void test_named(void **state)
{
	struct cgmap map;

	(void)state;
	map_open(&map);
	name(&map, WORLD_UID_A, WORLD_ID_A1, "web-0", "main", true);
	assert_string_equal(NODE(&map, A1)->container_name, "main");
	assert_string_equal(NODE(&map, A1)->pod->name, "web-0");
	assert_string_equal(NODE(&map, A1)->pod->namespace_, "default");
	assert_string_equal(NODE(&map, POD_A)->pod->name, "web-0");
	assert_int_equal(NODE(&map, A1)->names, NAMES_KNOWN);
	assert_null(NODE(&map, B1)->pod->name);
	cgmap_done(&map);
}

static void test_in_pieces(void **state)
{
	struct cgmap map;

	(void)state;
	map_open(&map);
	name(&map, WORLD_UID_A, "", "web-0", "", true);
	assert_string_equal(NODE(&map, A1)->pod->name, "web-0");
	assert_int_equal(NODE(&map, A1)->names, NAMES_ASKED);
	name(&map, "", WORLD_ID_A1, "", "main", true);
	assert_string_equal(NODE(&map, A1)->container_name, "main");
	assert_int_equal(NODE(&map, A1)->names, NAMES_KNOWN);
	name(&map, "", WORLD_ID_D1, "", "redis", true);
	assert_string_equal(NODE(&map, D1)->container_name, "redis");
	name(&map, "", "", "nobody", "nothing", true);
	cgmap_done(&map);
}

static void test_absent(void **state)
{
	struct cgmap map;

	(void)state;
	map_open(&map);
	name(&map, WORLD_UID_A, WORLD_ID_A1, "web-0", "main", false);
	assert_null(NODE(&map, A1)->container_name);
	assert_null(NODE(&map, A1)->pod->name);
	assert_int_equal(NODE(&map, A1)->names, NAMES_ABSENT);
	/* What is known does not become unknown. */
	name(&map, WORLD_UID_A, WORLD_ID_A1, "web-0", "main", true);
	name(&map, WORLD_UID_A, WORLD_ID_A1, "", "", false);
	assert_string_equal(NODE(&map, A1)->container_name, "main");
	assert_int_equal(NODE(&map, A1)->names, NAMES_KNOWN);
	cgmap_done(&map);
}

static void test_once(void **state)
{
	struct cgmap map;

	(void)state;
	map_open(&map);
	name(&map, WORLD_UID_A, WORLD_ID_A1, "web-0", "main", true);
	name(&map, WORLD_UID_A, WORLD_ID_A1, "evil", "worse", true);
	assert_string_equal(NODE(&map, A1)->container_name, "main");
	assert_string_equal(NODE(&map, A1)->pod->name, "web-0");
	cgmap_done(&map);
}

static void test_of_another_pod(void **state)
{
	static const struct {
		const char *what, *uid, *id;
	} want[] = {
		{"another pod that is known", WORLD_UID_B, WORLD_ID_A1},
		{"a pod that is not known", "00000000-0000-0000-0000-000000000000", WORLD_ID_A1},
		{"a pod for a container in none", WORLD_UID_A, WORLD_ID_D1},
		{"an unknown pod for a container in none", "x", WORLD_ID_D1},
	};

	(void)state;
	for (size_t i = 0; i < LEN(want); i++) {
		struct cgmap map;

		map_open(&map);
		name(&map, want[i].uid, want[i].id, "evil", "worse", true);
		if (NODE(&map, A1)->container_name || NODE(&map, D1)->container_name ||
		    NODE(&map, A1)->pod->name || NODE(&map, B1)->pod->name)
			fail_msg("%s gave its name", want[i].what);
		cgmap_done(&map);
	}
}

static void test_any_bytes(void **state)
{
	struct cgmap map;

	(void)state;
	map_open(&map);
	name(&map, WORLD_UID_A, WORLD_ID_A1, "\x1b[31m\"\n\\%s%n", "\xff\xfe", true);
	assert_string_equal(NODE(&map, A1)->pod->name, "\x1b[31m\"\n\\%s%n");
	assert_string_equal(NODE(&map, A1)->container_name, "\xff\xfe");
	cgmap_done(&map);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a source names a container and its pod, and nobody else", test_named),
		CLAIM("pod and container may be named apart", test_in_pieces),
		CLAIM("a source that knows nothing takes nothing away", test_absent),
		CLAIM("a name once known stays", test_once),
		CLAIM("a container is not named by a pod it is not in", test_of_another_pod),
		CLAIM("a name is any bytes", test_any_bytes),
	};

	return cmocka_run_group_tests_name("core/cgmap: names", tests, NULL, NULL);
}
