// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/units and answers that are lies, or no answers at all. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/units/unitasker.h"

#define A	UNITASKER_A
#define B	UNITASKER_B
#define S	1000000ull
#define SOON_NS 200000000ull

static int lie_types(sd_bus_message *m)
{
	return sd_bus_message_append(m, "a{sv}", 4, "ControlGroup", "u", 7, "MainPID", "s", "42",
				     "KillSignal", "as", 2, "15", "9", "KillMode", "v", "s", "x");
}

static int lie_some(sd_bus_message *m)
{
	return sd_bus_message_append(m, "a{sv}", 3, "MainPID", "s", "1", "ControlGroup", "s", A,
				     "TimeoutStopUSec", "i", -1);
}

static int lie_shape(sd_bus_message *m)
{
	return sd_bus_message_append(m, "sa{sv}", "a", 1, "ControlGroup", "s", A);
}

static int lie_keys(sd_bus_message *m)
{
	return sd_bus_message_append(m, "a{iv}", 1, 7, "s", A);
}

static int lie_none(sd_bus_message *m)
{
	return sd_bus_message_append(m, "a{sv}", 0);
}

static int lie_nothing(sd_bus_message *m)
{
	return 0;
}

static int lie_many(sd_bus_message *m)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (int i = 0; r >= 0 && i < 5000; i++)
		r = sd_bus_message_append(m, "{sv}", i ? "Name" : "ControlGroup", "s", A);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int lie_names(sd_bus_message *m)
{
	return sd_bus_message_append(m, "a{sv}", 4, "", "s", "", "Main\nPID\"", "u", 1,
				     "ControlGroup", "s", A, "controlgroup", "s", "/");
}

static int lie_big(sd_bus_message *m)
{
	_cleanup_(cleanup_free) char *text = malloc(10 << 20);

	memset(text, 'x', 10 << 20);
	text[(10 << 20) - 1] = 0;
	return sd_bus_message_append(m, "a{sv}", 2, "Environment", "s", text, "ControlGroup", "s",
				     A);
}

static int lie_long(sd_bus_message *m)
{
	char text[70000] = "/";

	memset(text + 1, '/', sizeof(text) - 2);
	return sd_bus_message_append(m, "a{sv}", 1, "ControlGroup", "s", text);
}

static int lie_numbers(sd_bus_message *m)
{
	return sd_bus_message_append(m, "a{sv}", 4, "ControlGroup", "s", A, "MainPID", "u",
				     UINT32_MAX, "KillSignal", "i", INT32_MIN, "KillMode", "s",
				     "\033[1m");
}

static const struct lie_row {
	const char *about;
	int (*lie)(sd_bus_message *m);
	const char *error;
	enum meta_result result;
	bool stays; /* connected */
} lies[] = {
	{"all properties are of other types", lie_types, NULL, META_FAILED, true},
	{"some properties are of other types", lie_some, NULL, META_FOUND, true},
	{"something before the properties", lie_shape, NULL, META_FAILED, true},
	{"properties have numbers", lie_keys, NULL, META_FAILED, true},
	{"no properties", lie_none, NULL, META_FAILED, true},
	{"nothing", lie_nothing, NULL, META_FAILED, true},
	{"properties without end", lie_many, NULL, META_FAILED, true},
	{"names of any kind", lie_names, NULL, META_FOUND, true},
	{"10 MiB in a property", lie_big, NULL, META_FOUND, true},
	{"a path that is no path", lie_long, NULL, META_ABSENT, true},
	{"invalid numbers", lie_numbers, NULL, META_FOUND, true},
	{"no such object", NULL, "org.freedesktop.DBus.Error.UnknownObject", META_ABSENT, true},
	{"no such unit", NULL, "org.freedesktop.systemd1.NoSuchUnit", META_ABSENT, true},
	{"not allowed", NULL, "org.freedesktop.DBus.Error.AccessDenied", META_FAILED, true},
	{"any other error", NULL, "a.b", META_FAILED, true},
	{"no peer", NULL, "org.freedesktop.DBus.Error.NoReply", META_FAILED, false},
};

static void test_lies(void **state)
{
	struct unitasker *a = *state;

	unitasker_listen(a, "private");
	unitasker_ask(a, "private", 0);
	for (size_t i = 0; i < LEN(lies); i++) {
		unsigned int connected;

		print_message("# %s\n", lies[i].about);
		unitasker_until(a, unitasker_is_up);
		connected = a->peer.connected;
		a->peer.services[0].lie = lies[i].lie;
		a->peer.services[0].error = lies[i].error;
		assert_int_equal(unitasker_find(a, A), lies[i].result);
		if (lies[i].result == META_FOUND)
			assert_int_equal(unitasker_last(a)->known, 0);
		a->peer.services[0].lie = NULL;
		a->peer.services[0].error = NULL;
		unitasker_until(a, unitasker_is_up);
		assert_int_equal(unitasker_find(a, B), META_FOUND);
		assert_int_equal(a->peer.connected == connected, lies[i].stays);
	}
}

#define AUTH		   "DATA\r\nOK 00000000000000000000000000000001\r\nAGREE_UNIX_FD\r\n"
/* Little endian, a reply, no flags, protocol 1; length of the body, serial, length of the fields. */
#define HEAD(body, fields) "l\2\0\1" body "\1\0\0\0" fields

static const char zeros[1 << 17];

static const struct bytes_row {
	const char *about;
	const char *bytes;
	size_t n;
	bool closes;
} hostile[] = {
#define BYTES(text) text, sizeof(text) - 1
	{"silence", BYTES(""), false},
	{"the end at once", BYTES(""), true},
	{"refusal", BYTES("REJECTED EXTERNAL\r\n"), false},
	{"another protocol", BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"), false},
	{"no line at all", zeros, sizeof(zeros), false},
	{"half the greeting", BYTES("DATA\r\nOK 0000"), true},
	{"silence after the greeting", BYTES(AUTH), false},
	{"the end after the greeting", BYTES(AUTH), true},
	{"garbage", BYTES(AUTH "\377\376\375 what is it that you would like to know?"), false},
	{"zeros", BYTES(AUTH "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), false},
	{"more than there may be", BYTES(AUTH HEAD("\377\377\377\377", "\0\0\0\0")), false},
	{"fields without end", BYTES(AUTH HEAD("\0\0\0\0", "\377\377\377\377")), false},
	{"128 MiB are announced", BYTES(AUTH HEAD("\0\0\0\7", "\10\0\0\0") "abc"), false},
	{"a message cut in half", BYTES(AUTH HEAD("\100\0\0\0", "\10\0\0\0") "\5\1u\0"), true},
	{"fields of no type", BYTES(AUTH HEAD("\0\0\0\0", "\10\0\0\0") "\5\1?\0\1\0\0\0"), false},
#undef BYTES
};

static bool is_over(struct unitasker *a)
{
	return a->n_done > 0;
}

static bool is_reported(struct unitasker *a)
{
	return unitasker_containers(a) > 0;
}

static void test_bytes(void **state)
{
	struct unitasker *a = *state;

	for (size_t i = 0; i < LEN(hostile); i++) {
		print_message("# %s\n", hostile[i].about);
		a->peer.bytes = hostile[i].bytes;
		a->peer.n_bytes = hostile[i].n;
		a->peer.close_after = hostile[i].closes;
		unitasker_listen(a, "private");
		unitasker_ask(a, "private", SOON_NS);
		source_units_find(a->units, A);
		assert_int_equal(a->n, 0);
		unitasker_until(a, is_over);
		assert_int_equal(a->n, 1);
		assert_int_equal(a->reports[0].result, META_FAILED);
		/* The name comes when systemd does, unasked. */
		a->peer.bytes = NULL;
		unitasker_until(a, is_reported);
		unitasker_settle(a);
		assert_int_equal(a->n_done, 1);
		a->units = source_units_free(a->units);
		unitpeer_done(&a->peer);
		a->n = a->n_done = 0;
	}
}

#define TEST(sentence, function)                                              \
	{                                                                     \
		sentence, function, unitasker_setup, unitasker_teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an answer that makes no sense costs its own look-up alone", test_lies),
		TEST("a peer that sends any bytes ends look-ups once, and names come with systemd",
		     test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
