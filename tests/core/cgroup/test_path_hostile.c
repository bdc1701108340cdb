// SPDX-License-Identifier: Apache-2.0
/* Claims about core/cgroup/path for bytes that nobody meant to be a cgroup path: what kind they
 * give, and that nothing outside them is read (each input is a block of exactly its size). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "core/cgroup/path.h"

#define HEX16	   "0123456789abcdef"
#define ID	   HEX16 HEX16 HEX16 HEX16
#define UID	   "2c48913c-b29f-11e7-9350-020968147796"
#define POD	   "/kubepods/burstable/pod" UID
#define LEN(table) (sizeof(table) / sizeof((table)[0]))

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

/* Bytes with their length, so that a NUL may stand among them. */
struct want {
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

static void assert_kinds(const struct want *want, size_t n)
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
	static const struct want want[] = {
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
	static const struct want want[] = {
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
	static const struct want want[] = {
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
	static const struct want want[] = {
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

#define CLAIM(sentence, function)                    \
	{                                            \
		sentence, function, NULL, NULL, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a line of /proc/PID/cgroup is stripped only when it is one", test_lines),
		CLAIM("a path that does not begin with a slash is nothing", test_absolute),
		CLAIM("empty and dotted components do not count", test_slashes),
		CLAIM("a NUL is a byte that no name contains", test_nul),
		CLAIM("a path cut short anywhere says only what is left of it", test_truncated),
		CLAIM("100,000 repetitions of anything are parsed like one", test_long),
	};

	return cmocka_run_group_tests_name("core/cgroup/path, hostile", tests, NULL, NULL);
}
