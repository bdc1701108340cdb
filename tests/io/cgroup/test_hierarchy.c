// SPDX-License-Identifier: Apache-2.0
/* Claims about io/cgroup/hierarchy: which hierarchy is chosen, by any text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/cgroup/hierarchy.h"
#include "lib/claim.h"

#define V2(point)	"30 23 0:26 / " point " rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1(point, what) "33 31 0:30 / " point " rw,relatime - cgroup cgroup rw," what "\n"
#define OTHERS                                             \
	"23 1 254:0 / / rw,relatime - ext4 /dev/root rw\n" \
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"

#define ALL_V2 "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t9\t1\npids\t0\t9\t1\n"
#define HYBRID "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t9\t1\npids\t8\t9\t1\n"

/* Mount points under /sub show only a subtree. */
static bool shows_root(void *userdata, const char *point)
{
	return strncmp(point, "/sub", 4) != 0;
}

static const struct choice {
	const char *mountinfo, *cgroups, *name;
	int r;
	const char *want, *mount;
	uint32_t id;
	bool memory_ids;
} choices[] = {
	{V2("/sys/fs/cgroup"), ALL_V2, NULL, 0, "unified", "/sys/fs/cgroup", 0, true},
	{V2("/host/sys/fs/cgroup"), ALL_V2, NULL, 0, "unified", "/host/sys/fs/cgroup", 0, true},
	{V2("/sys/fs/cgroup") V1("/net", "net_cls"), ALL_V2, NULL, 0, "unified", "/sys/fs/cgroup",
	 0, true},
	{V2("/sys/fs/cgroup/unified") V1("/c/memory", "memory"), HYBRID, NULL, 0, "memory",
	 "/c/memory", 4, true},
	{V1("/c/cpu", "cpu,cpuacct") V1("/c/pids", "pids"), HYBRID, NULL, 0, "pids", "/c/pids", 8,
	 false},
	{V1("/c/cpu", "cpuacct,cpu"), HYBRID, NULL, 0, "cpu", "/c/cpu", 0, false},
	{V2("/u") V1("/c/memory", "memory"), HYBRID, "unified", 0, "unified", "/u", 0, false},
	{V2("/u") V1("/c/pids", "pids"), HYBRID, "pids", 0, "pids", "/c/pids", 8, false},
	{V2("/u"), ALL_V2, "memory", -ENOENT, NULL, NULL, 0, false},
	{V1("/c/memory", "memory"), HYBRID, "unified", -ENOENT, NULL, NULL, 0, false},
	{V2("/sub/cgroup"), ALL_V2, NULL, -EXDEV, NULL, NULL, 0, false},
	{V2("/sub/cgroup") V2("/host"), ALL_V2, NULL, 0, "unified", "/host", 0, true},
	{V2("/u") V1("/sub/memory", "memory"), HYBRID, NULL, -EXDEV, NULL, NULL, 0, false},
	{V2("/a\\040b\\134c"), ALL_V2, NULL, 0, "unified", "/a b\\c", 0, true},
	{OTHERS, ALL_V2, NULL, -ENOENT, NULL, NULL, 0, false},
	{"", "", NULL, -ENOENT, NULL, NULL, 0, false},
};

static void test_choices(void **state)
{
	for (size_t i = 0; i < LEN(choices); i++) {
		const struct choice *c = choices + i;
		struct hierarchy got = {};
		int r = hierarchy_choose(c->mountinfo, c->cgroups, c->name, shows_root, NULL, &got);

		print_message("# choice %zu\n", i);
		assert_int_equal(r, c->r);
		if (r < 0)
			continue;
		assert_string_equal(got.name, c->want);
		assert_string_equal(got.mount, c->mount);
		assert_int_equal(got.id, c->id);
		assert_int_equal(got.memory_ids, c->memory_ids);
		assert_int_equal(got.unified, strcmp(c->want, "unified") == 0);
	}
}

static void test_odd_lines(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"30",
		"30 23 0:26 / /sys/fs/cgroup rw",
		"30 23 0:26 / /sys/fs/cgroup rw - ",
		"30 23 0:26 / /sys/fs/cgroup rw -",
		"30 23 0:26 / /sys/fs/cgroup rw - cgroup2",
		"30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2",
		"30 23 0:26 / /sys/fs/cgroup rw cgroup2 cgroup2 rw",
		"30 23 0:26 / relative rw - cgroup2 cgroup2 rw",
		"30 23 0:26 / /sys/fs/cgroup rw - cgroupfs x rw",
		"23 1 254:0 / / rw - ext4 /dev/root rw",
		"- - - - - - - - - -",
	};
	struct hierarchy_mount mount;

	for (size_t i = 0; i < LEN(lines); i++)
		assert_false(hierarchy_parse_mount(lines[i], strlen(lines[i]), &mount));
}

static void test_long_point(void **state)
{
	char line[2 * PATH_MAX];
	struct hierarchy_mount mount;
	int n;

	n = snprintf(line, sizeof(line), "1 1 0:1 / /%0*d rw - cgroup2 c rw", PATH_MAX - 2, 0);
	assert_true(hierarchy_parse_mount(line, (size_t)n, &mount));
	assert_int_equal(strlen(mount.point), PATH_MAX - 1);
	n = snprintf(line, sizeof(line), "1 1 0:1 / /%0*d rw - cgroup2 c rw", PATH_MAX - 1, 0);
	assert_false(hierarchy_parse_mount(line, (size_t)n, &mount));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the hierarchy with the containers is chosen by what is mounted",
		      test_choices),
		CLAIM("a line that mounts no cgroup hierarchy is none", test_odd_lines),
		CLAIM("a mount point of the greatest length is taken and a longer one is not",
		      test_long_point),
	};

	return cmocka_run_group_tests_name("io/cgroup/hierarchy", tests, NULL, NULL);
}
