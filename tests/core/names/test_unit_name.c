// SPDX-License-Identifier: Apache-2.0
/* Claims about core/names/unit: which cgroups are a service of the manager that is asked. */
#include <stdlib.h>
#include <string.h>

#include "core/names/unit.h"
#include "lib/claim.h"

#define L50  "a2345678901234567890123456789012345678901234567890"
#define L245 L50 L50 L50 L50 "123456789012345678901234567890123456789012345"

struct row {
	const char *root, *path;
	const char *unit; /* NULL: none */
};

static void expect(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char got[META_NAME_MAX] = "untouched";

		print_message("# row %zu\n", i);
		assert_int_equal(unitname_service(rows[i].root, rows[i].path, got),
				 rows[i].unit != NULL);
		assert_string_equal(got, rows[i].unit ? rows[i].unit : "untouched");
	}
}

static const struct row services[] = {
	{"", "/system.slice/nginx.service", "nginx.service"},
	{"/", "/system.slice/nginx.service", "nginx.service"},
	{"", "/nginx.service", "nginx.service"},
	{"", "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service"},
	{"", "/system.slice/system-a.slice/a@b@c.service", "a@b@c.service"},
	{"", "/user.slice/user-1000.slice/user@1000.service", "user@1000.service"},
	{"", "/system.slice/a\\x2db.service", "a\\x2db.service"},
	{"", "/system-a\\x2db.slice/c:d_e.f.service", "c:d_e.f.service"},
	{"", "/system.slice/-.service", "-.service"},
	{"", "/system.slice/a.slice.service", "a.slice.service"},
	{"", "/system.slice/.service.service", ".service.service"},
	{"", "/system.slice/" L245 ".service", L245 ".service"},
};

static void test_services(void **state)
{
	expect(services, LEN(services));
}

static const struct row others[] = {
	{"", "", NULL},
	{"", "/", NULL},
	{"", "nginx.service", NULL},
	{"", "/system.slice", NULL},
	{"", "/init.scope", NULL},
	{"", "/system.slice/nginx.scope", NULL},
	{"", "/system.slice/.service", NULL},
	{"", "/system.slice/nginx", NULL},
	{"", "/system.slice/nginx.service/", NULL},
	{"", "//nginx.service", NULL},
	{"", "/system.slice//nginx.service", NULL},
	{"", "/system.slice/getty@.service", NULL},
	{"", "/system.slice/@tty1.service", NULL},
	{"", "/system.slice/ng inx.service", NULL},
	{"", "/system.slice/ng\ninx.service", NULL},
	{"", "/system.slice/ng\"inx.service", NULL},
	{"", "/system.slice/ng\303\266.service", NULL},
	{"", "/system.slice/../nginx.service", NULL},
	{"", "/system.slice/" L245 "6.service", NULL},
	{"", "/-.slice/nginx.service", NULL},
	{"", "/-a.slice/nginx.service", NULL},
	{"", "/a-.slice/nginx.service", NULL},
	{"", "/a--b.slice/nginx.service", NULL},
	{"", "/a@b.slice/nginx.service", NULL},
	{"", "/.slice/nginx.service", NULL},
};

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_split(void **state)
{
	static const struct {
		const char *path, *want; /* NULL: none */
	} rows[] = {
		{"/system.slice/web.service/libpod-payload-" ID, "web"},
		{"/system.slice/system-web.slice/web@1.service/libpod-payload-" ID, "web@1"},
		{"/system.slice/a\\x2db.service/libpod-payload-" ID, "a\\x2db"},
		{"/system.slice/_cgroup.service/libpod-payload-" ID, "cgroup"},
		{"/system.slice/" L245 ".service/libpod-payload-" ID, L245},
		{"/system.slice/" L245 L50 ".service/libpod-payload-" ID, NULL},
		{"/system.slice/web.service/libpod-" ID ".scope", NULL},
		{"/system.slice/web.service/libpod-payload-" ID "/container", NULL},
		{"/machine.slice/libpod-" ID ".scope", NULL},
		{"/user.slice/session-3.scope/libpod-payload-" ID, NULL},
		{"/system.slice/we b.service/libpod-payload-" ID, NULL},
		{"/system.slice/@.service/libpod-payload-" ID, NULL},
		{"/.service/libpod-payload-" ID, NULL},
		{"/_/libpod-payload-" ID, NULL},
		{"//libpod-payload-" ID, NULL},
		{"/libpod-payload-" ID, NULL},
		{"web.service/libpod-payload-" ID, "web"},
		{"", NULL},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char got[META_NAME_MAX] = "untouched";

		print_message("# row %zu\n", i);
		assert_int_equal(unitname_of_split(rows[i].path, got), rows[i].want != NULL);
		assert_string_equal(got, rows[i].want ? rows[i].want : "untouched");
	}
}

static void test_others(void **state)
{
	expect(others, LEN(others));
}

static const struct row foreign[] = {
	{"", "/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service", NULL},
	{"", "/user.slice/user-1000.slice/user@1000.service/nginx.service", NULL},
	{"", "/system.slice/containerd.service/nginx.service", NULL},
	{"", "/system.slice/docker-1.scope/nginx.service", NULL},
	{"", "/machine.slice/machine-c.scope/system.slice/nginx.service", NULL},
	{"", "/docker/1234/system.slice/nginx.service", NULL},
	{"/docker/1234", "/docker/1234/system.slice/nginx.service", "nginx.service"},
	{"/docker/1234/", "/docker/1234/system.slice/nginx.service", "nginx.service"},
	{"/docker/1234", "/system.slice/nginx.service", NULL},
	{"/docker/1234", "/docker/12345/system.slice/nginx.service", NULL},
	{"/docker/1234", "/docker/1234", NULL},
	{"/system.slice/a.service", "/system.slice/a.service", NULL},
	{"/system.slice/a.service", "/system.slice/a.service/b.service", "b.service"},
};

static void test_foreign(void **state)
{
	expect(foreign, LEN(foreign));
}

static const struct row escaped[] = {
	{"", "/system.slice/_cpu.service", "cpu.service"},
	{"", "/system.slice/_memory.service", "memory.service"},
	{"", "/system.slice/__a.service", "_a.service"},
	{"", "/_cpu.slice/a.service", "a.service"},
	{"", "/system.slice/_.service", NULL},
	{"", "/_/a.service", NULL},
	{"", "/system.slice/_a\\x2db.service", "a\\x2db.service"},
};

static void test_escaped(void **state)
{
	expect(escaped, LEN(escaped));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container in the split cgroup of a service is that service's", test_split),
		CLAIM("a service is the last part of a path of slices, by its whole name",
		      test_services),
		CLAIM("what is no service's own cgroup, or no unit's name, has none", test_others),
		CLAIM("a cgroup below a unit, or not below the manager's, is somebody else's",
		      test_foreign),
		CLAIM("the underscore before a name that the kernel could want is taken off",
		      test_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
