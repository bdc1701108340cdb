// SPDX-License-Identifier: Apache-2.0
/* Claims about the one map of pods, and that of containers. */
#include "core/model/container.h"
#include "core/model/pod.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

/* Stands for what a subject knows: never looked into. */
#define PART ((void *)"part")

static void test_parts(void **state)
{
	struct namemap map = {};
	struct pod *pod, *again;

	assert_int_equal(podmap_reach(&map, "a", &pod), 0);
	assert_int_equal(podmap_reach(&map, "a", &again), 0);
	assert_ptr_equal(again, pod);
	pod->cgroups = PART;
	pod->meta = PART;
	pod->life = PART;
	pod->turn = PART;
	for (void **part = (void **)&pod->cgroups; part <= (void **)&pod->turn; part++) {
		podmap_leave(&map, pod);
		assert_ptr_equal(podmap_find(&map, "a"), pod);
		*part = NULL;
	}
	podmap_leave(&map, pod);
	podmap_leave(&map, NULL);
	assert_null(podmap_find(&map, "a"));
	podmap_done(&map);
}

static void test_uids(void **state)
{
	char longest[POD_UID_MAX], too_long[POD_UID_MAX + 1];
	struct namemap map = {};
	struct pod *pod = PART;

	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memset(too_long, 'a', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	assert_int_equal(podmap_reach(&map, "", &pod), -EINVAL);
	assert_int_equal(podmap_reach(&map, too_long, &pod), -EINVAL);
	assert_ptr_equal(pod, PART);
	assert_int_equal(podmap_reach(&map, longest, &pod), 0);
	assert_string_equal(pod->uid, longest);
	assert_null(podmap_find(&map, too_long));
	podmap_done(&map);
}

/* As map_key() takes a word in. */
static uint64_t mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 32;
}

/* Sixteen bytes that have the key of the first: each n changes the first word, and the second makes
 * up for it. False: a byte would be NUL. */
static bool forge(unsigned int n, char ret[static 17])
{
	uint64_t first, second, other, begun = mix(0, 17);

	memcpy(&first, "first-00", 8);
	memcpy(&second, "second-0", 8);
	other = first ^ n;
	second ^= mix(begun, first) ^ mix(begun, other);
	memcpy(ret, &other, 8);
	memcpy(ret + 8, &second, 8);
	ret[16] = '\0';
	return strlen(ret) == 16;
}

static void test_forged(void **state)
{
	char uids[NAMEMAP_KEYS + 1][17];
	struct pod *pods[NAMEMAP_KEYS + 1];
	struct namemap map = {};
	size_t k = 0;

	for (unsigned int n = 0; k < LEN(uids); n++)
		k += forge(n, uids[k]);
	for (k = 0; k < NAMEMAP_KEYS; k++) {
		assert_int_equal(map_key(uids[k]), map_key(uids[0]));
		assert_int_equal(podmap_reach(&map, uids[k], pods + k), 0);
		pods[k]->life = PART;
	}
	assert_int_equal(podmap_reach(&map, uids[k], pods + k), -EEXIST);
	/* One that goes hides none of the others. */
	pods[1]->life = NULL;
	podmap_leave(&map, pods[1]);
	for (k = 0; k < NAMEMAP_KEYS; k++)
		assert_ptr_equal(podmap_find(&map, uids[k]), k == 1 ? NULL : pods[k]);
	assert_int_equal(podmap_reach(&map, uids[NAMEMAP_KEYS], pods + 1), 0);
	for (k = 0; k < NAMEMAP_KEYS; k++)
		pods[k]->life = NULL;
	podmap_done(&map);
}

#define N_PODS 1000

static void test_sweep(void **state)
{
	struct namemap map = {};
	struct pod *pod;
	char uid[16];
	size_t pos = 0, n = 0;

	for (int i = 0; i < N_PODS; i++) {
		snprintf(uid, sizeof(uid), "pod-%d", i);
		assert_int_equal(podmap_reach(&map, uid, &pod), 0);
		if (i % 3 == 0)
			pod->life = PART;
	}
	podmap_sweep(&map);
	while ((pod = podmap_next(&map, &pos))) {
		assert_ptr_equal(podmap_find(&map, pod->uid), pod);
		assert_ptr_equal(pod->life, PART);
		pod->life = NULL;
		n++;
	}
	assert_int_equal(n, (N_PODS + 2) / 3);
	podmap_done(&map);
}

/* --- containers ------------------------------------------------------------------------------ */

static struct container *reach(struct namemap *map, const char *id)
{
	struct container *c = NULL;

	assert_int_equal(
		containermap_reach(map, &(struct container_name){CONTAINER_BY_ID, 0, id, ""}, &c),
		0);
	return c;
}

static void test_container_parts(void **state)
{
	struct namemap map = {};
	struct container *c = reach(&map, "a");

	for (int part = 0; part < 3; part++) {
		c->n_nodes = part == 0;
		c->node = part == 1 ? PART : NULL;
		c->meta = part == 2 ? PART : NULL;
		containermap_leave(&map, c);
		assert_int_equal(map.by_key.count, 1);
	}
	c->meta = NULL;
	containermap_leave(&map, c);
	containermap_leave(&map, NULL);
	assert_int_equal(map.by_key.count, 0);
	containermap_done(&map);
}

static void test_names(void **state)
{
	char first[] = "a", second[] = "b";
	const struct container_name names[] = {
		{CONTAINER_BY_ID, 0, first, ""},       {CONTAINER_BY_ID, 1, first, ""},
		{CONTAINER_BY_ID, 2, first, ""},       {CONTAINER_BY_UNIT, 0, first, ""},
		{CONTAINER_BY_SPEC, 0, first, second}, {CONTAINER_BY_SPEC, 0, second, first},
		{CONTAINER_BY_ID, 0, second, ""},
	};
	struct container *found[LEN(names)];
	struct namemap map = {};

	for (size_t i = 0; i < LEN(names); i++) {
		assert_null(containermap_find(&map, names + i));
		assert_int_equal(containermap_reach(&map, names + i, found + i), 0);
	}
	for (size_t i = 0; i < LEN(names); i++)
		assert_ptr_equal(containermap_find(&map, names + i), found[i]);
	/* The texts are its own. */
	first[0] = 'x';
	assert_string_equal(found[4]->name.first, "a");
	assert_string_equal(found[4]->name.second, "b");
	containermap_done(&map);
}

static void test_container_forged(void **state)
{
	char ids[NAMEMAP_KEYS + 1][17];
	struct container *c[NAMEMAP_KEYS], *beyond = PART;
	struct container_name last = {CONTAINER_BY_ID, 0, ids[NAMEMAP_KEYS], ""};
	struct namemap map = {};
	size_t k = 0;

	for (unsigned int n = 0; k < LEN(ids); n++)
		k += forge(n, ids[k]);
	for (k = 0; k < LEN(c); k++) {
		c[k] = reach(&map, ids[k]);
		c[k]->meta = k == 1 ? NULL : PART;
	}
	assert_int_equal(containermap_reach(&map, &last, &beyond), -EEXIST);
	assert_ptr_equal(beyond, PART);
	containermap_sweep(&map);
	assert_int_equal(map.by_key.count, LEN(c) - 1);
	for (k = 0; k < LEN(c); k++) {
		assert_true(k == 1 || reach(&map, ids[k]) == c[k]);
		if (k != 1)
			c[k]->meta = NULL;
	}
	containermap_done(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a pod is there as long as any subject knows something of it", test_parts),
		CLAIM("a uid that is empty or too long is none", test_uids),
		CLAIM("uids that were made for one key are pods of their own", test_forged),
		CLAIM("after a walk those that nothing is known of are gone, and no others",
		      test_sweep),
		CLAIM("a container is there as long as any subject knows something of it",
		      test_container_parts),
		CLAIM("id, user, place in a spec and unit are not taken for each other",
		      test_names),
		CLAIM("names that were made for one key are containers of their own, and those "
		      "that nothing is known of leave the others",
		      test_container_forged),
	};

	return cmocka_run_group_tests_name("core/model", tests, NULL, NULL);
}
