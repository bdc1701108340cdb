// SPDX-License-Identifier: Apache-2.0
/* Claims about kubelet/model/cgroup_name: names of pods' cgroups, made and read back. */
#include "kubelet/model/cgroup_name.h"

#include <errno.h>
#include <string.h>

#include "lib/claim.h"

#define UID    "6c1a4e95-6bb6-11e6-bc26-28d2444e470d"
#define UID_   "6c1a4e95_6bb6_11e6_bc26_28d2444e470d"
#define STATIC "09a70ae9ccc491e651e5c773579b3490"

static struct cgname name_of(const char *a, const char *b)
{
	struct cgname name = {};

	if (a)
		assert_int_equal(cgname_append(&name, a), 0);
	if (b)
		assert_int_equal(cgname_append(&name, b), 0);
	return name;
}

static const struct row {
	const char *root, *inner;
	enum cgpath_qos qos;
	const char *uid, *cgroupfs, *systemd;
} rows[] = {
	{"kubepods", NULL, CGPATH_QOS_GUARANTEED, UID, "/kubepods/pod" UID,
	 "/kubepods.slice/kubepods-pod" UID_ ".slice"},
	{"kubepods", NULL, CGPATH_QOS_BURSTABLE, UID, "/kubepods/burstable/pod" UID,
	 "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"},
	{"kubelet", "kubepods", CGPATH_QOS_BESTEFFORT, STATIC,
	 "/kubelet/kubepods/besteffort/pod" STATIC,
	 "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
	 "kubelet-kubepods-besteffort-pod" STATIC ".slice"},
	{NULL, NULL, CGPATH_QOS_GUARANTEED, UID, "/pod" UID, "/pod" UID_ ".slice"},
};

static void a_pods_name_is_written_read_back_and_known_for_a_pods(void **state)
{
	for (size_t i = 0; i < LEN(rows); i++) {
		struct cgname root = name_of(rows[i].root, rows[i].inner), name, back;
		struct cgname roots[] = {root, root};
		const char *const paths[] = {rows[i].cgroupfs, rows[i].systemd};
		const char *uid;

		if (rows[i].qos != CGPATH_QOS_GUARANTEED)
			assert_int_equal(cgname_append(&roots[1], cgpath_qos_name(rows[i].qos)), 0);
		assert_int_equal(cgname_of_pod(&root, rows[i].qos, rows[i].uid, &name), 0);
		for (int d = 0; d < 2; d++) {
			enum cgpath_driver driver =
				d ? CGPATH_DRIVER_SYSTEMD : CGPATH_DRIVER_CGROUPFS;
			char path[CGNAME_PATH_MAX];

			assert_int_equal(cgname_write(&name, driver, path), 0);
			assert_string_equal(path, paths[d]);
			assert_int_equal(cgname_parse(path, driver, &back), 0);
			assert_true(cgname_is_pod(&back, roots, 2, &uid));
			assert_string_equal(uid, rows[i].uid);
		}
	}
}

static void a_pods_path_is_one_that_cgpath_reads(void **state)
{
	for (size_t i = 0; i + 1 < LEN(rows); i++) {
		const char *const paths[] = {rows[i].cgroupfs, rows[i].systemd};

		for (int d = 0; d < 2; d++) {
			struct cgpath id;

			cgpath_parse(paths[d], strlen(paths[d]), &id);
			assert_int_equal(id.kind, CGPATH_POD);
			assert_int_equal(id.qos, rows[i].qos);
			assert_string_equal(id.pod_uid, rows[i].uid);
		}
	}
}

static void a_component_has_no_slash_no_underscore_and_something_in_it(void **state)
{
	char too_long[CGNAME_PART_MAX + 1];
	struct cgname name = {};

	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	assert_int_equal(cgname_append(&name, "a/b"), -EINVAL);
	assert_int_equal(cgname_append(&name, "a_b"), -EINVAL);
	assert_int_equal(cgname_append(&name, ""), -EINVAL);
	assert_int_equal(cgname_append(&name, too_long), -ENAMETOOLONG);
	assert_int_equal(cgname_append(&name, too_long + 1), 0);
	for (size_t i = 1; i < CGNAME_MAX_PARTS; i++)
		assert_int_equal(cgname_append(&name, "x"), 0);
	assert_int_equal(cgname_append(&name, "x"), -ENOSPC);
	assert_int_equal(name.n, CGNAME_MAX_PARTS);
}

static void what_cannot_be_written_or_read_is_refused(void **state)
{
	static const struct {
		const char *path;
		enum cgpath_driver driver;
		int r;
	} paths[] = {
		{"", CGPATH_DRIVER_CGROUPFS, -EINVAL},
		{"", CGPATH_DRIVER_SYSTEMD, -EINVAL},
		{"/a", CGPATH_DRIVER_NONE, -EINVAL},
		{"/a//b", CGPATH_DRIVER_CGROUPFS, -EINVAL},
		{"/a--b.slice", CGPATH_DRIVER_SYSTEMD, -EINVAL},
		{"/.slice", CGPATH_DRIVER_SYSTEMD, -EINVAL},
		{"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", CGPATH_DRIVER_CGROUPFS, -ENOSPC},
		{"/", CGPATH_DRIVER_CGROUPFS, 0},
		{"//", CGPATH_DRIVER_SYSTEMD, 0},
		{"/a/b/", CGPATH_DRIVER_CGROUPFS, 0},
		{"a.slice", CGPATH_DRIVER_SYSTEMD, 0},
	};
	struct cgname name = {}, root = {};
	char path[CGNAME_PATH_MAX] = "as it was";

	for (size_t i = 0; i < LEN(paths); i++)
		assert_int_equal(cgname_parse(paths[i].path, paths[i].driver, &name), paths[i].r);
	assert_int_equal(cgname_write(&name, CGPATH_DRIVER_NONE, path), -EINVAL);
	assert_int_equal(cgname_of_pod(&root, CGPATH_QOS_UNKNOWN, UID, &name), -EINVAL);
	assert_int_equal(cgname_of_pod(&root, CGPATH_QOS_BURSTABLE, "", &name), -EINVAL);
	assert_int_equal(cgname_of_pod(&root, CGPATH_QOS_BURSTABLE, "../x", &name), -EINVAL);
	/* A slice's path has every prefix in it: the longest name does not fit. */
	for (size_t i = 0; i < CGNAME_MAX_PARTS; i++) {
		char part[CGNAME_PART_MAX] = "";

		memset(part, 'x', sizeof(part) - 1);
		assert_int_equal(cgname_append(&root, part), 0);
	}
	assert_int_equal(cgname_write(&root, CGPATH_DRIVER_SYSTEMD, path), -ENAMETOOLONG);
	assert_string_equal(path, "as it was");
}

static void a_pod_is_a_direct_child_of_a_root_with_one_pod_in_its_name(void **state)
{
	static const struct {
		const char *path, *uid;
	} cases[] = {
		{"/kubepods/pod1", "1"},
		{"/kubepods/burstable/pod1", "1"},
		{"/kubepods/other/pod1", NULL},
		{"/other/pod1", NULL},
		{"/kubepods/burstable/pod1/c", NULL},
		{"/kubepods/burstable", NULL},
		{"/kubepods/pod", NULL},
		{"/kubepods/podpod", NULL},
		{"/kubepods/poda-pod-b", NULL},
		{"/kubepods/xpod1", NULL},
		{"/kubepods", NULL},
		{"/", NULL},
	};
	const struct cgname roots[] = {name_of("kubepods", NULL), name_of("kubepods", "burstable")};

	for (size_t i = 0; i < LEN(cases); i++) {
		const char *uid = NULL;
		struct cgname name;

		assert_int_equal(cgname_parse(cases[i].path, CGPATH_DRIVER_CGROUPFS, &name), 0);
		assert_int_equal(cgname_is_pod(&name, roots, 2, &uid), cases[i].uid != NULL);
		if (cases[i].uid)
			assert_string_equal(uid, cases[i].uid);
	}
}

static void containerd_turns_a_slice_into_three_parts(void **state)
{
	static const struct {
		const char *parent, *path;
	} cases[] = {
		{"/a/b", "/a/b/ID"},
		{"/a//./b/", "/a/b/ID"},
		{"a/b", "a/b/ID"},
		{"/", "/ID"},
		{"", "ID"},
		{"/a.slice/b.slice", "b.slice:cri-containerd:ID"},
		{"/a.slice/b.slice//", "b.slice:cri-containerd:ID"},
		{"/a.slice/b", "/a.slice/b/ID"},
		{"/a/../b", NULL},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		char path[CGNAME_PATH_MAX] = "";
		int r = cgname_of_containerd(cases[i].parent, "ID", path);

		assert_int_equal(r, cases[i].path ? 0 : -EINVAL);
		assert_string_equal(path, cases[i].path ? cases[i].path : "");
	}
}

static void a_weight_has_shares_between_2_and_262144(void **state)
{
	static const uint64_t cases[][2] = {{0, 0},	 {1, 2},	 {2, 28},
					    {100, 2597}, {245, 6398},	 {10000, 262144},
					    {10001, 0},	 {UINT64_MAX, 0}};

	for (size_t i = 0; i < LEN(cases); i++)
		assert_int_equal(cgname_shares_of_weight(cases[i][0]), cases[i][1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pod's name is written, read back and known for a pod's",
		      a_pods_name_is_written_read_back_and_known_for_a_pods),
		CLAIM("a pod's path is one that cgpath reads",
		      a_pods_path_is_one_that_cgpath_reads),
		CLAIM("a component has no slash, no underscore, and something in it",
		      a_component_has_no_slash_no_underscore_and_something_in_it),
		CLAIM("what cannot be written or read is refused",
		      what_cannot_be_written_or_read_is_refused),
		CLAIM("a pod is a direct child of a root, with one \"pod\" in its name",
		      a_pod_is_a_direct_child_of_a_root_with_one_pod_in_its_name),
		CLAIM("containerd turns a slice into three parts",
		      containerd_turns_a_slice_into_three_parts),
		CLAIM("a weight has shares between 2 and 262144",
		      a_weight_has_shares_between_2_and_262144),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
