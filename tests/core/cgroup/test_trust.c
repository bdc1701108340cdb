// SPDX-License-Identifier: Apache-2.0
/* Claims about core/cgroup/trust: whose names are believed, and what is left of those that are not.
 */
#include "core/cgroup/trust.h"

#include <errno.h>
#include <string.h>

#include "base/map.h"
#include "lib/claim.h"
#include "lib/engine/world.h"

#define NOTHING	   CGTRUST_NONE
#define CONTAINERS CGTRUST_CONTAINERS
#define PODS	   CGTRUST_PODS

#define USER "/user.slice/user-1000.slice/user@1000.service"

static void test_users(void **state)
{
	static const struct {
		const char *path;
		uint32_t delegated_level, user;
	} want[] = {
		{USER "/user.slice/libpod-1.scope", 4, 1000},
		{USER "/c1", 4, 1000},
		{USER "/a/b/c1", 0, 1000},
		{"/user.slice/user-4294967294.slice/user@4294967294.service/c1", 4, 4294967294},
		{USER, 0, 0},
		{USER "/", 0, 0},
		{USER "x/c1", 4, 0},
		/* The user made the part that says whose it is. */
		{USER "/c1", 3, 0},
		{USER "/c1", 2, 0},
		{"/user.slice/user-1000.slice/user@1001.service/c1", 4, 0},
		{"/user.slice/user-1000.slice/c1", 0, 0},
		{"/user.slice/user-1000.slice/session-1.scope/user@1000.service/c1", 4, 0},
		{"/a" USER "/c1", 4, 0},
		{USER USER "/c1", 4, 1000},
		{"/user.slice/user-1001.slice/user@1001.service" USER "/c1", 4, 1001},
		{"/user.slice/user-0.slice/user@0.service/c1", 4, 0},
		{"/user.slice/user-4294967295.slice/user@4294967295.service/c1", 4, 0},
		{"/user.slice/user-4294968296.slice/user@4294968296.service/c1", 4, 0},
		{"/user.slice/user-01000.slice/user@01000.service/c1", 4, 0},
		{"/user.slice/user-+1000.slice/user@+1000.service/c1", 4, 0},
		{"/user.slice/user- 1000.slice/user@ 1000.service/c1", 4, 0},
		{"/user.slice/user-.slice/user@.service/c1", 4, 0},
		{"//user.slice/user-1000.slice/user@1000.service/c1", 4, 0},
		{"/kubepods/pod1/c1", 0, 0},
		{"/", 0, 0},
		{"", 0, 0},
	};

	for (size_t i = 0; i < LEN(want); i++)
		if (cgtrust_user(want[i].path, want[i].delegated_level) != want[i].user)
			fail_msg("%s, delegated at %u", want[i].path, want[i].delegated_level);
}

static void test_roots_own(void **state)
{
	static const struct {
		const char *path;
		uint32_t delegated_level;
		enum cgtrust trust;
	} want[] = {
		{"/", 0, PODS},
		{"/kubepods/pod1/c1", 0, PODS},
		/* Who was given the container made what is below it, and nothing else. */
		{"/kubepods/pod1/c1", 4, PODS},
		{"/kubepods/pod1/c1/x", 4, NOTHING},
		{"/kubepods/pod1/c1", 3, NOTHING},
		{"/kubepods/pod1", 3, PODS},
		{"//kubepods//pod1//c1/", 4, PODS},
		{"//kubepods//pod1//c1/", 3, NOTHING},
		{"/a", 1, NOTHING},
		{"/", 1, PODS},
		{"/user.slice", 0, NOTHING},
		{"/user.slice/user-1.slice/session-1.scope/c1", 0, NOTHING},
		{USER "", 0, NOTHING},
		{USER "/user.slice/c1", 4, CONTAINERS},
		{"/user.slices/c1", 0, PODS},
		{"/docker/c1/user.slice/c2", 0, PODS},
	};

	for (size_t i = 0; i < LEN(want); i++)
		if (cgtrust_of(NULL, want[i].path, want[i].delegated_level) != want[i].trust)
			fail_msg("%s, delegated at %u", want[i].path, want[i].delegated_level);
}

static void test_limited(void **state)
{
	static const struct {
		const char *roots[3];
		const char *path;
		uint32_t delegated_level;
		enum cgtrust trust;
	} want[] = {
		{{"/a", "/b/c"}, "/a", 0, PODS},
		{{"/a", "/b/c"}, "/a/x", 0, PODS},
		{{"/a", "/b/c"}, "/ax", 0, NOTHING},
		{{"/a", "/b/c"}, "/b", 0, NOTHING},
		{{"/a", "/b/c"}, "/b/c/d", 0, PODS},
		{{"/a/", "/b/c"}, "/a/x", 0, PODS},
		{{"/a/", "/b/c"}, "/a/x", 2, CONTAINERS},
		{{"/a/", "/b/c"}, "/z/x", 2, NOTHING},
		{{"/"}, "/x", 0, PODS},
		{{"/"}, "/x/y", 2, CONTAINERS},
		{{"/"}, "/user.slice/c1", 0, CONTAINERS},
		{{"/user.slice/user-1.slice"}, "/user.slice/user-1.slice/c1", 0, CONTAINERS},
		{{"/user.slice/user-1.slice"}, "/user.slice/user-2.slice/c1", 0, NOTHING},
		{{NULL}, "/x", 0, PODS},
		{{NULL}, "/x", 1, NOTHING},
	};

	for (size_t i = 0; i < LEN(want); i++)
		if (cgtrust_of(want[i].roots, want[i].path, want[i].delegated_level) !=
		    want[i].trust)
			fail_msg("case %zu: %s", i, want[i].path);
}

struct walk {
	struct graced_step step; /* that is looked for */
	uint32_t part;		 /* that it leads to */
};

static int compare(void *userdata, const struct graced_step *from, uint32_t part)
{
	struct walk *w = userdata;

	if (memcmp(from, &w->step, sizeof(*from)) != 0)
		return 0;
	w->part = part;
	return -ECANCELED;
}

/* As the kernel half goes: from "/" on, by one name after the other. */
static uint32_t part_by_steps(const char *const *roots, const char *path)
{
	uint32_t part = cgtrust_part(roots, "/");
	struct walk w;
	size_t n;

	for (path += strspn(path, "/"); *path && part >= GRACED_PART_FIRST;
	     path += n + strspn(path + n, "/")) {
		n = strcspn(path, "/");
		w = (struct walk){.step.part = part, .part = cgtrust_part_else(roots)};
		memcpy(w.step.name, path, n);
		cgtrust_each_step(roots, compare, &w);
		part = w.part;
	}
	return part;
}

static void test_parts(void **state)
{
	static const struct {
		const char *roots[4];
		const char *path;
		uint32_t part; /* GRACED_PART_FIRST for any from there on */
	} want[] = {
		{{NULL}, "/", GRACED_PART_FIRST},
		{{NULL}, "/kubepods/pod1/c1", GRACED_PART_INSIDE},
		{{NULL}, "/user.slice/user-1.slice/session-1.scope", GRACED_PART_USERS},
		{{NULL}, "/user.slice", GRACED_PART_USERS},
		{{NULL}, "/user.slices/a", GRACED_PART_INSIDE},
		{{NULL}, "/a/user.slice", GRACED_PART_INSIDE},
		{{"/"}, "/", GRACED_PART_INSIDE},
		{{"/"}, "/user.slice/c1", GRACED_PART_INSIDE},
		{{"/a/b", "/a/c/d"}, "/", GRACED_PART_FIRST},
		{{"/a/b", "/a/c/d"}, "/a", GRACED_PART_FIRST},
		{{"/a/b", "/a/c/d"}, "/a/b", GRACED_PART_INSIDE},
		{{"/a/b", "/a/c/d"}, "/a/bb", GRACED_PART_OUTSIDE},
		{{"/a/b", "/a/c/d"}, "/a/c", GRACED_PART_FIRST},
		{{"/a/b", "/a/c/d"}, "/a/c/b", GRACED_PART_OUTSIDE},
		{{"/a/b", "/a/c/d"}, "/a/c/d/e/f", GRACED_PART_INSIDE},
		{{"/a/b", "/a/c/d"}, "/b", GRACED_PART_OUTSIDE},
		/* The longer one is inside the shorter, whichever comes first. */
		{{"/a/b/c", "/a"}, "/a/x", GRACED_PART_INSIDE},
		{{"/a", "/a/b/c"}, "/a/b", GRACED_PART_INSIDE},
		{{"/a//b/"}, "/a", GRACED_PART_FIRST},
		{{"/kubepods.slice", "/b", "/b"}, "/b/c", GRACED_PART_INSIDE},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		uint32_t whole = cgtrust_part(want[i].roots, want[i].path);

		if ((whole < GRACED_PART_FIRST ? whole : GRACED_PART_FIRST) != want[i].part)
			fail_msg("case %zu: %s is in part %u", i, want[i].path, whole);
		if (part_by_steps(want[i].roots, want[i].path) != whole)
			fail_msg("case %zu: the steps to %s lead elsewhere", i, want[i].path);
		if (whole >= GRACED_PART_OUTSIDE && whole < GRACED_PART_FIRST &&
		    cgtrust_of(want[i].roots, want[i].path, 0) != NOTHING)
			fail_msg("case %zu: %s is believed and outside", i, want[i].path);
	}
}

/* "/d/d/…", with a name of one letter at each level. */
static void write_deep(char *path, size_t level)
{
	for (size_t i = 0; i < level; i++)
		memcpy(path + 2 * i, "/d", 3);
}

static void test_deep(void **state)
{
	char deep[2 * 200 + 1], above[2 * 200 + 1];
	const char *const roots[] = {deep, "/a/b", NULL};

	write_deep(deep, 200);
	write_deep(above, 127);
	assert_true(cgtrust_part(roots, above) >= GRACED_PART_FIRST);
	assert_int_equal(part_by_steps(roots, above), cgtrust_part(roots, above));
	for (size_t level = 128; level < 200; level++) {
		write_deep(above, level);
		assert_int_equal(cgtrust_part(roots, above), GRACED_PART_OUTSIDE);
		assert_int_equal(part_by_steps(roots, above), GRACED_PART_OUTSIDE);
	}
	assert_int_equal(cgtrust_part(roots, deep), GRACED_PART_INSIDE);
}

static struct cgpath cut(enum cgtrust trust, const char *path)
{
	struct cgpath parsed;

	cgpath_parse(path, strlen(path), &parsed);
	cgtrust_cut(trust, &parsed);
	return parsed;
}

static void test_cut(void **state)
{
	static const char pod[] = "/x/kubepods/burstable/pod" WORLD_UID_A;
	static const char container[] = "/x/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1;
	struct cgpath p;

	p = cut(CGTRUST_PODS, container);
	assert_int_equal(p.kind, CGPATH_CONTAINER);
	assert_string_equal(p.pod_uid, WORLD_UID_A);
	assert_int_equal(p.root_len, strlen("/x"));
	p = cut(CGTRUST_CONTAINERS, container);
	assert_int_equal(p.kind, CGPATH_CONTAINER_OUTSIDE);
	assert_string_equal(p.container_id, WORLD_ID_A1);
	assert_int_equal(p.runtime, CGPATH_RT_UNKNOWN);
	assert_string_equal(p.pod_uid, "");
	assert_int_equal(p.qos, CGPATH_QOS_UNKNOWN);
	assert_int_equal(p.driver, CGPATH_DRIVER_NONE);
	assert_int_equal(cut(CGTRUST_CONTAINERS, pod).kind, CGPATH_NONE);
	assert_string_equal(cut(CGTRUST_CONTAINERS, pod).pod_uid, "");
	p = cut(CGTRUST_NONE, container);
	assert_int_equal(p.kind, CGPATH_NONE);
	assert_string_equal(p.container_id, "");
	assert_string_equal(p.pod_uid, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what root alone could name is what its path says, and of all else only "
		      "what a user's own systemd has may be a container",
		      test_roots_own),
		CLAIM("a cgroup is a user's where root's systemd has written the uid above it",
		      test_users),
		CLAIM("with roots, what others made in them may be containers, and nothing "
		      "outside is",
		      test_limited),
		CLAIM("name by name one comes to the part that the whole path is in", test_parts),
		CLAIM("what is too deep above a path of the list is in no part of another path",
		      test_deep),
		CLAIM("a container of others than root is in no pod", test_cut),
	};

	return cmocka_run_group_tests_name("core/cgroup/trust", tests, NULL, NULL);
}
