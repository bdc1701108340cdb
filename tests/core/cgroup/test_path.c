// SPDX-License-Identifier: Apache-2.0
/* Claims about core/cgroup/path that the vectors do not make: places and nesting, and bytes that
 * nobody meant to be a path. Single components are in test_part.c, what real clusters name their
 * cgroups is in tests/vectors/cgroup_paths.json. */
#include "core/cgroup/path.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#include "lib/claim.h"

#define HEX16 "0123456789abcdef"
#define ID    HEX16 HEX16 HEX16 HEX16
#define ID2   "fedcba9876543210" HEX16 HEX16 HEX16
#define UID   "2c48913c-b29f-11e7-9350-020968147796"
#define UID_  "2c48913c_b29f_11e7_9350_020968147796"
#define UID2  "a2830d0d-b0f0-4ff0-81b5-0ee4e299cf80"
#define HASH  HEX16 HEX16
#define POD   "/kubepods/burstable/pod" UID
#define SLICE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice"

/* Parses a copy in a block of exactly its size: reading past it is a sanitizer's report. */
static struct cgpath parse(const char *bytes, size_t len)
{
	_cleanup_(cleanup_free) char *copy = malloc(len ? len : 1);
	struct cgpath got;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	memset(&got, 0xa5, sizeof(got));
	cgpath_parse(copy, len, &got);
	return got;
}

static void assert_nothing(const struct cgpath *got, enum cgpath_kind kind, const char *path)
{
	if (got->kind != kind)
		fail_msg("%s: %s, not %s", path, cgpath_kind_name(got->kind),
			 cgpath_kind_name(kind));
	assert_int_equal(got->qos, CGPATH_QOS_UNKNOWN);
	assert_int_equal(got->runtime, CGPATH_RT_NONE);
	assert_int_equal(got->driver, CGPATH_DRIVER_NONE);
	assert_false(got->static_pod);
	assert_string_equal(got->pod_uid, "");
	assert_string_equal(got->container_id, "");
}

struct want {
	const char *path;
	struct cgpath id;
};

static void assert_all(const struct want *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct cgpath *id = &want[i].id;
		struct cgpath got = parse(want[i].path, strlen(want[i].path));

		if (got.kind != id->kind || got.qos != id->qos || got.runtime != id->runtime ||
		    got.driver != id->driver || got.static_pod != id->static_pod)
			fail_msg("%s: kind %d qos %d runtime %d driver %d static %d", want[i].path,
				 got.kind, got.qos, got.runtime, got.driver, got.static_pod);
		if (strcmp(got.pod_uid, id->pod_uid) || strcmp(got.container_id, id->container_id))
			fail_msg("%s: pod \"%s\" container \"%s\"", want[i].path, got.pod_uid,
				 got.container_id);
	}
}
#define assert_paths(table) assert_all(table, sizeof(table) / sizeof((table)[0]))

static void assert_nothing_in(const char *const paths[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cgpath got = parse(paths[i], strlen(paths[i]));

		assert_nothing(&got, CGPATH_NONE, paths[i]);
	}
}
#define assert_none(table) assert_nothing_in(table, sizeof(table) / sizeof((table)[0]))

/* The members of an expected identity, by what most tables vary. */
#define IN_POD(kind_, runtime_, driver_, id_)                                       \
	{                                                                           \
		.kind = CGPATH_##kind_, .qos = CGPATH_QOS_BURSTABLE,                \
		.runtime = CGPATH_RT_##runtime_, .driver = CGPATH_DRIVER_##driver_, \
		.pod_uid = UID, .container_id = id_                                 \
	}
#define NO_POD(kind_, runtime_, id_)                                                         \
	{                                                                                    \
		.kind = CGPATH_##kind_, .runtime = CGPATH_RT_##runtime_, .container_id = id_ \
	}

static void test_deeper_levels(void **state)
{
	static const struct want want[] = {
		{POD "/" ID "/system.slice/a.mount", IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{POD "/" ID "/" ID2, IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{POD "/" ID "/docker-" ID2 ".scope", IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{POD "/" ID "/kubepods", IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{POD "/" ID "/kubepods/besteffort", IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{POD "/" ID "/crio-conmon-" ID2, IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{SLICE ":cri-containerd:" ID "/init.scope",
		 IN_POD(CONTAINER, CONTAINERD, SYSTEMD, ID)},
		{SLICE "/crio-" ID ".scope/container/exec", IN_POD(CONTAINER, CRIO, SYSTEMD, ID)},
		{SLICE "/crio-" ID "/container", IN_POD(SANDBOX, CRIO, SYSTEMD, ID)},
		{"/kubepods.slice/crio-" ID "/a", NO_POD(SANDBOX, CRIO, ID)},
		{"/kubepods/" ID "/a/b", NO_POD(CONTAINER, UNKNOWN, ID)},
		{"/../crio-" ID ".scope/container/exec", NO_POD(CONTAINER, CRIO, ID)},
	};

	assert_paths(want);
}

static void test_innermost_pod(void **state)
{
	static const struct want want[] = {
		{"/kubepods/besteffort/pod" UID2 "/" ID2 "/kubelet" POD "/" ID,
		 IN_POD(CONTAINER, UNKNOWN, CGROUPFS, ID)},
		{"/kubepods/pod" UID2 "/" ID2 SLICE, IN_POD(POD, NONE, SYSTEMD, "")},
		{"/kubepods/pod" UID2 POD, IN_POD(POD, NONE, CGROUPFS, "")},
		{"/kubepods/burstable/pod" UID2 "/" ID2 "/kubepods/pod" UID,
		 {.kind = CGPATH_POD,
		  .qos = CGPATH_QOS_GUARANTEED,
		  .driver = CGPATH_DRIVER_CGROUPFS,
		  .pod_uid = UID}},
	};

	assert_paths(want);
}

static void test_qos(void **state)
{
#define POD_OF(qos_, driver_)                                                 \
	{                                                                     \
		.kind = CGPATH_POD, .qos = CGPATH_QOS_##qos_, .pod_uid = UID, \
		.driver = CGPATH_DRIVER_##driver_                             \
	}
	static const struct want want[] = {
		{"/kubepods/pod" UID, POD_OF(GUARANTEED, CGROUPFS)},
		{"/kubepods.slice/kubepods-pod" UID_ ".slice", POD_OF(GUARANTEED, SYSTEMD)},
		{"/../kubepods-pod" UID_ ".slice", POD_OF(GUARANTEED, SYSTEMD)},
		{"/kubepods/besteffort/pod" UID, POD_OF(BESTEFFORT, CGROUPFS)},
		{"/../besteffort/pod" UID, POD_OF(BESTEFFORT, CGROUPFS)},
		{"/../besteffort-pod" UID_ ".slice", POD_OF(BESTEFFORT, SYSTEMD)},
		{"/../../pod" UID, POD_OF(UNKNOWN, CGROUPFS)},
		{"/a.slice/a-pod" UID_ ".slice", POD_OF(UNKNOWN, SYSTEMD)},
		{"/xkubepods/pod" UID, POD_OF(UNKNOWN, CGROUPFS)},
		{"/kubepods-x/pod" UID, POD_OF(UNKNOWN, CGROUPFS)},
		{"/a-kubepods/pod" UID, POD_OF(UNKNOWN, CGROUPFS)},
		{"/xburstable-pod" UID_ ".slice", POD_OF(UNKNOWN, SYSTEMD)},
		{"/Burstable/pod" UID, POD_OF(UNKNOWN, CGROUPFS)},
	};

	assert_paths(want);
}

static void test_upper(void **state)
{
#define UPPER(kind_, qos_, driver_)                               \
	{                                                         \
		.kind = CGPATH_##kind_, .qos = CGPATH_QOS_##qos_, \
		.driver = CGPATH_DRIVER_##driver_                 \
	}
	static const struct want want[] = {
		{"/kubepods", UPPER(KUBEPODS_ROOT, UNKNOWN, CGROUPFS)},
		{"/kubepods/", UPPER(KUBEPODS_ROOT, UNKNOWN, CGROUPFS)},
		{"/kubepods/kubepods", UPPER(KUBEPODS_ROOT, UNKNOWN, CGROUPFS)},
		{"/docker/" ID "/kubepods", UPPER(KUBEPODS_ROOT, UNKNOWN, CGROUPFS)},
		{"/a.slice/a-kubepods.slice", UPPER(KUBEPODS_ROOT, UNKNOWN, SYSTEMD)},
		{"/kubepods/besteffort", UPPER(QOS, BESTEFFORT, CGROUPFS)},
		{"/../a-kubepods-burstable.slice", UPPER(QOS, BURSTABLE, SYSTEMD)},
	};
	static const char *const none[] = {
		"/burstable",
		"/a/burstable",
		"/kubepods/a",
		"/kubepods/a/burstable",
		"/kubepods/burstable/besteffort",
	};

	assert_paths(want);
	assert_none(none);
}

static void test_sandbox(void **state)
{
	static const struct want want[] = {
		{SLICE "/crio-" ID, IN_POD(SANDBOX, CRIO, SYSTEMD, ID)},
		{SLICE "/crio-" ID ".scope", IN_POD(CONTAINER, CRIO, SYSTEMD, ID)},
		{POD "/crio-" ID, IN_POD(CONTAINER, CRIO, CGROUPFS, ID)},
		{SLICE "/cri-containerd-" ID, IN_POD(CONTAINER, CONTAINERD, SYSTEMD, ID)},
		{SLICE "/" ID, IN_POD(CONTAINER, UNKNOWN, SYSTEMD, ID)},
		{"/system.slice/crio-" ID, NO_POD(SANDBOX, CRIO, ID)},
	};

	assert_paths(want);
}

static void test_conmon(void **state)
{
	static const struct want want[] = {
		{POD "/crio-conmon-" ID, IN_POD(CONMON, CRIO, CGROUPFS, "")},
		{SLICE "/crio-conmon-" ID ".scope", IN_POD(CONMON, CRIO, SYSTEMD, "")},
		{"/system.slice/crio-conmon-" ID ".scope", NO_POD(CONMON, CRIO, "")},
		{"/machine.slice/libpod-conmon-" ID ".scope", NO_POD(CONMON, PODMAN, "")},
		{"/libpod_parent/conmon", NO_POD(CONMON, PODMAN, "")},
	};

	assert_paths(want);
}

static void test_mount(void **state)
{
	static const char *const mounts[] = {
		"/a.mount",
		"/" ID ".mount",
		"/docker-" ID ".mount",
		"/crio-conmon-" ID ".mount",
		"/kubepods/" ID ".mount",
		POD "/" ID ".mount",
		"/system.slice/docker-" ID ".scope/system.slice/a.mount",
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		struct cgpath got = parse(mounts[i], strlen(mounts[i]));

		assert_nothing(&got, CGPATH_MOUNT, mounts[i]);
	}
}

static void test_outside(void **state)
{
	static const struct want want[] = {
		{"/docker/" ID, NO_POD(CONTAINER_OUTSIDE, UNKNOWN, ID)},
		{"/system.slice/docker-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, DOCKER, ID)},
		{"/system.slice/docker-" ID ".scope/container",
		 NO_POD(CONTAINER_OUTSIDE, DOCKER, ID)},
		{"/docker-" ID2 ".scope/docker-" ID ".scope",
		 NO_POD(CONTAINER_OUTSIDE, DOCKER, ID)},
		{"/libpod_parent/libpod-" ID, NO_POD(CONTAINER_OUTSIDE, PODMAN, ID)},
		{"/system.slice/nerdctl-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, UNKNOWN, ID)},
		{"/user.slice/runc-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, UNKNOWN, ID)},
		{"/system.slice/web.service/libpod-payload-" ID,
		 NO_POD(CONTAINER_OUTSIDE, PODMAN, ID)},
		{"/a.slice/crio-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, CRIO, ID)},
	};
	static const char *const none[] = {
		"/docker/" ID "/a",
		"/docker/" ID "/init.scope",
		"/docker/" ID "/container/a",
		"/docker/" ID "/container/container",
		"/container",
		"/docker/" ID "/a/container",
		"/crio-conmon-" ID "/container",
		"/a.mount/container",
	};

	assert_paths(want);
	assert_none(none);
}

static void test_relative(void **state)
{
	static const struct want want[] = {
		{"/../cri-containerd-" ID ".scope", NO_POD(CONTAINER, CONTAINERD, ID)},
		{"/../../crio-" ID, NO_POD(CONTAINER, CRIO, ID)},
		{"/../docker-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, DOCKER, ID)},
		{"/../" ID, NO_POD(CONTAINER_OUTSIDE, UNKNOWN, ID)},
		{"/../system.slice/crio-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, CRIO, ID)},
		{"/system.slice/../crio-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, CRIO, ID)},
		{"/crio-" ID ".scope", NO_POD(CONTAINER_OUTSIDE, CRIO, ID)},
	};

	assert_paths(want);
}

static void test_strangers_in_a_pod(void **state)
{
	static const char *const none[] = {
		POD "/a", POD "/burstable", POD "/kubepods", POD "/a/" ID, SLICE "/init.scope",
	};

	assert_none(none);
}

static void test_static_pod(void **state)
{
	static const struct want want[] = {
		{"/kubepods/pod" HASH,
		 {.kind = CGPATH_POD,
		  .qos = CGPATH_QOS_GUARANTEED,
		  .driver = CGPATH_DRIVER_CGROUPFS,
		  .static_pod = true,
		  .pod_uid = HASH}},
		{"/kubepods.slice/kubepods-pod" UID ".slice",
		 {.kind = CGPATH_POD,
		  .qos = CGPATH_QOS_GUARANTEED,
		  .driver = CGPATH_DRIVER_SYSTEMD,
		  .pod_uid = UID}},
	};

	assert_paths(want);
}

/* --- hostile bytes --------------------------------------------------------------------------- */

/* Bytes with their length, so that a NUL may stand among them. */
struct bytes {
	const char *bytes;
	size_t len;
	enum cgpath_kind kind;
};
#define BYTES(text) (text), sizeof(text) - 1

static bool is_empty(const struct cgpath *id)
{
	return id->qos == CGPATH_QOS_UNKNOWN && id->runtime == CGPATH_RT_NONE &&
	       id->driver == CGPATH_DRIVER_NONE && !id->static_pod && !id->pod_uid[0] &&
	       !id->container_id[0];
}

static void assert_kinds(const struct bytes *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cgpath got = parse(want[i].bytes, want[i].len);

		if (got.kind != want[i].kind)
			fail_msg("row %zu, %s: %s", i, want[i].bytes, cgpath_kind_name(got.kind));
		if (got.kind == CGPATH_NONE && !is_empty(&got))
			fail_msg("row %zu, %s: something is left", i, want[i].bytes);
	}
}

static void test_lines(void **state)
{
	static const struct bytes want[] = {
		{BYTES("0::" POD), CGPATH_POD},
		{BYTES("0::" POD "\n"), CGPATH_POD},
		{BYTES("0::" POD " (deleted)"), CGPATH_POD},
		{BYTES("0::" POD "/" ID " (deleted)\n"), CGPATH_CONTAINER},
		{BYTES("12:cpu,cpuacct:" POD), CGPATH_POD},
		{BYTES("1:name=systemd:" POD), CGPATH_POD},
		{BYTES("2:devices:/a" POD ":crio:" ID), CGPATH_CONTAINER},
		{BYTES("0::/"), CGPATH_NONE},
		{BYTES("0::"), CGPATH_NONE},
		{BYTES("0:"), CGPATH_NONE},
		{BYTES("0"), CGPATH_NONE},
		{BYTES("0:" POD), CGPATH_NONE},
		{BYTES("::" POD), CGPATH_NONE},
		{BYTES("a::" POD), CGPATH_NONE},
		{BYTES(" 0::" POD), CGPATH_NONE},
		{BYTES("-1::" POD), CGPATH_NONE},
		{BYTES("0::kubepods"), CGPATH_NONE},
		{BYTES("0:/a:" POD), CGPATH_NONE},
		{BYTES("0:a/b:" POD), CGPATH_NONE},
		{BYTES("0:a" POD), CGPATH_NONE},
		{BYTES("0::" POD "\n\n"), CGPATH_NONE},
		{BYTES(POD "\n"), CGPATH_NONE},
		{BYTES(POD " (deleted)"), CGPATH_NONE},
	};

	assert_kinds(want, LEN(want));
}

static void test_absolute(void **state)
{
	static const struct bytes want[] = {
		{BYTES(""), CGPATH_NONE},
		{BYTES("a"), CGPATH_NONE},
		{BYTES(ID), CGPATH_NONE},
		{BYTES("docker-" ID ".scope"), CGPATH_NONE},
		{BYTES("kubepods"), CGPATH_NONE},
		{BYTES("kubepods/pod" UID), CGPATH_NONE},
		{BYTES("pod" UID), CGPATH_NONE},
		{BYTES("./kubepods"), CGPATH_NONE},
		{BYTES("../crio-" ID ".scope"), CGPATH_NONE},
		{BYTES("\\kubepods"), CGPATH_NONE},
	};
	struct cgpath got;

	assert_kinds(want, LEN(want));
	cgpath_parse(NULL, 0, &got);
	assert_int_equal(got.kind, CGPATH_NONE);
}

static void test_slashes(void **state)
{
	static const struct bytes want[] = {
		{BYTES("/"), CGPATH_NONE},
		{BYTES("//"), CGPATH_NONE},
		{BYTES("/.."), CGPATH_NONE},
		{BYTES("/../"), CGPATH_NONE},
		{BYTES("/../.."), CGPATH_NONE},
		{BYTES("/..."), CGPATH_NONE},
		{BYTES("//kubepods///burstable//pod" UID "//" ID "//"), CGPATH_CONTAINER},
		{BYTES(POD "/"), CGPATH_POD},
	};

	assert_kinds(want, LEN(want));
}

static void test_nul(void **state)
{
	static const struct bytes want[] = {
		{BYTES("\0"), CGPATH_NONE},
		{BYTES("/\0"), CGPATH_NONE},
		{BYTES("\0/kubepods"), CGPATH_NONE},
		{BYTES("/kubepods\0"), CGPATH_NONE},
		{BYTES("/a\0/pod" UID), CGPATH_POD},
		{BYTES("/kubepods/pod" UID "\0"), CGPATH_NONE},
		{BYTES("/kubepods/pod\0" UID), CGPATH_NONE},
		{BYTES("/docker/" ID "\0"), CGPATH_NONE},
		{BYTES("/docker/" HEX16 "\0" HEX16 HEX16 HEX16), CGPATH_NONE},
		{BYTES("/docker-\0" ID), CGPATH_NONE},
		{BYTES("0::" POD "\0"), CGPATH_NONE},
	};

	assert_kinds(want, LEN(want));
}

static void test_truncated(void **state)
{
	static const char whole[] = POD "/crio-" ID ".scope";
	static const struct {
		size_t len;
		enum cgpath_kind kind;
	} known[] = {
		{sizeof("/kubepods") - 1, CGPATH_KUBEPODS_ROOT},
		{sizeof("/kubepods/") - 1, CGPATH_KUBEPODS_ROOT},
		{sizeof("/kubepods/burstable") - 1, CGPATH_QOS},
		{sizeof("/kubepods/burstable/") - 1, CGPATH_QOS},
		{sizeof(POD) - 1, CGPATH_POD},
		{sizeof(POD "/") - 1, CGPATH_POD},
		{sizeof(POD "/crio-" ID) - 1, CGPATH_CONTAINER},
		{sizeof(whole) - 1, CGPATH_CONTAINER},
	};
	size_t next = 0;

	for (size_t len = 0; len < sizeof(whole); len++) {
		enum cgpath_kind kind = CGPATH_NONE;
		struct cgpath got = parse(whole, len);

		if (known[next].len == len)
			kind = known[next++].kind;
		if (got.kind != kind)
			fail_msg("%.*s: %s", (int)len, whole, cgpath_kind_name(got.kind));
	}
	assert_int_equal(next, LEN(known));
}

/* N times UNIT between HEAD and TAIL. */
static struct cgpath parse_long(const char *head, const char *unit, size_t n, const char *tail)
{
	size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
	_cleanup_(cleanup_free) char *bytes = malloc(h + u * n + t);

	assert_non_null(bytes);
	memcpy(bytes, head, h);
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + h + u * i, unit, u);
	memcpy(bytes + h + u * n, tail, t);
	return parse(bytes, h + u * n + t);
}

static void test_long(void **state)
{
	static const struct {
		const char *head, *unit, *tail;
		enum cgpath_kind kind;
	} want[] = {
		{"", "/a", "", CGPATH_NONE},
		{"", "/a", POD, CGPATH_POD},
		{POD "/" ID, "/a", "", CGPATH_CONTAINER},
		{"", "/kubepods", "", CGPATH_KUBEPODS_ROOT},
		{"", "/..", "/crio-" ID ".scope", CGPATH_CONTAINER},
		{"", "/pod" UID, "", CGPATH_POD},
		{"", "/", "docker-" ID ".scope", CGPATH_CONTAINER_OUTSIDE},
		{"/", "a", "", CGPATH_NONE},
		{"/", "a", "/" ID, CGPATH_CONTAINER_OUTSIDE},
		{"/", "0", "", CGPATH_NONE},
		{"/", "pod", UID, CGPATH_NONE},
		{"/", "a-", "pod" UID, CGPATH_POD},
		{"/", ":", "", CGPATH_NONE},
		{"", "0", "::" POD, CGPATH_POD},
		{"", ":", POD, CGPATH_NONE},
		{"0:", "a", ":" POD, CGPATH_POD},
		{"/", "\xff", ".mount", CGPATH_MOUNT},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct cgpath got = parse_long(want[i].head, want[i].unit, 100000, want[i].tail);

		if (got.kind != want[i].kind)
			fail_msg("row %zu: %s", i, cgpath_kind_name(got.kind));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("deeper levels belong to the container", test_deeper_levels),
		CLAIM("the innermost pod is the pod", test_innermost_pod),
		CLAIM("QoS comes from the name or the nearest ancestor, else it is unknown",
		      test_qos),
		CLAIM("a QoS class is a child of kubepods", test_upper),
		CLAIM("CRI-O's plain directory below a slice is a sandbox", test_sandbox),
		CLAIM("a monitor is no container, and has no container's ID", test_conmon),
		CLAIM("a mount unit is nothing but a mount unit", test_mount),
		CLAIM("outside kubepods only the last component names a container", test_outside),
		CLAIM("a name only Kubernetes uses needs no pod when the parents are hidden",
		      test_relative),
		CLAIM("an unknown child of a pod's cgroup is nothing", test_strangers_in_a_pod),
		CLAIM("a UID without dashes is a static pod's", test_static_pod),
		CLAIM("a line of /proc/PID/cgroup is stripped only when it is one", test_lines),
		CLAIM("a path that does not begin with a slash is nothing", test_absolute),
		CLAIM("empty and dotted components do not count", test_slashes),
		CLAIM("a NUL is a byte that no name contains", test_nul),
		CLAIM("a path cut short anywhere says only what is left of it", test_truncated),
		CLAIM("100,000 repetitions of anything are parsed like one", test_long),
	};

	return cmocka_run_group_tests_name("core/cgroup/path", tests, NULL, NULL);
}
