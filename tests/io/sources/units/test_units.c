// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/units and a systemd that answers: what is reported, and how often. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/units/unitasker.h"

#define SLICE "/system.slice/"
#define S     1000000ull

static struct unitpeer_service services[] = {
	{"a_2eservice", SLICE "a.service", 42, 15, 90 * S, NULL, NULL},
	{"b_2eservice", SLICE "b.service", 43, 2, 2 * S, NULL, NULL},
	{"c_40x_2eservice", "/system.slice/system-c.slice/c@x.service", 0, 37, 1, NULL, NULL},
	{"d_5cx2de_2eservice", SLICE "d\\x2de.service", 44, 15, UINT64_MAX, NULL, NULL},
	{"elsewhere_2eservice", "/other.slice/elsewhere.service", 45, 15, S, NULL, NULL},
	{},
};

static struct unitpeer_service *const a_service = services, *const b_service = services + 1;

static int setup(void **state)
{
	static struct unitasker a;

	unitasker_begin(&a);
	a.peer.services = services;
	assert_int_equal(unitpeer_listen(&a.peer, a.event, a.dir, "private"), 0);
	unitasker_ask(&a, "private", 0);
	*state = &a;
	a_service->main_pid = 42;
	a_service->stop_us = 90 * S;
	return 0;
}

static int teardown(void **state)
{
	unitasker_end(*state);
	return 0;
}

static const struct find_row {
	const char *cgroup;
	enum meta_result result;
	const char *unit;
	uint32_t known, pid, sig;
	uint64_t grace_ns;
	bool asked;
} finds[] = {
	{SLICE "a.service", META_FOUND, "a.service", META_CTR_MAIN_PID | META_CTR_GRACE, 42, 15,
	 90 * S * 1000, true},
	{SLICE "b.service", META_FOUND, "b.service", META_CTR_MAIN_PID | META_CTR_GRACE, 43, 2,
	 2 * S * 1000, true},
	{"/system.slice/system-c.slice/c@x.service", META_FOUND, "c@x.service", META_CTR_GRACE, 0,
	 37, 1000, true},
	{SLICE "d\\x2de.service", META_FOUND, "d\\x2de.service", META_CTR_MAIN_PID, 44, 15, 0,
	 true},
	{SLICE "nothing.service", META_ABSENT, NULL, 0, 0, 0, 0, true},
	{SLICE "elsewhere.service", META_ABSENT, NULL, 0, 0, 0, 0, true},
	{SLICE "x.scope", META_ABSENT, NULL, 0, 0, 0, 0, false},
	{"/system.slice", META_ABSENT, NULL, 0, 0, 0, 0, false},
	{"", META_ABSENT, NULL, 0, 0, 0, 0, false},
	{"/user.slice/user-1.slice/user@1.service/app.slice/a.service", META_ABSENT, NULL, 0, 0, 0,
	 0, false},
	{"/lxc/1/system.slice/a.service", META_ABSENT, NULL, 0, 0, 0, 0, false},
};

static void test_find(void **state)
{
	struct unitasker *a = *state;

	for (size_t i = 0; i < LEN(finds); i++) {
		const struct find_row *row = finds + i;
		unsigned int asked = a->peer.asked;
		size_t containers = unitasker_containers(a);
		const struct meta_container *got;

		print_message("# %s\n", row->cgroup);
		assert_int_equal(unitasker_find(a, row->cgroup), row->result);
		assert_int_equal(a->peer.asked - asked, row->asked);
		assert_int_equal(unitasker_containers(a) - containers, row->unit != NULL);
		if (!row->unit)
			continue;
		got = unitasker_last(a);
		assert_int_equal(got->source, META_SYSTEMD);
		assert_string_equal(got->unit, row->unit);
		assert_string_equal(got->name, row->unit);
		assert_int_equal(got->known, row->known);
		assert_int_equal(got->main_pid, row->pid);
		assert_int_equal(got->stop_signal, row->sig);
		assert_int_equal(got->grace_ns, row->grace_ns);
	}
	assert_int_equal(a->peer.connected, 1);
}

static void test_root(void **state)
{
	struct unitasker *a = *state;

	a->peer.root = "/lxc/1";
	a->peer.services[0].cgroup = "/lxc/1/system.slice/a.service";
	assert_int_equal(unitasker_find(a, "/lxc/1/system.slice/a.service"), META_FOUND);
	assert_int_equal(unitasker_find(a, SLICE "b.service"), META_ABSENT);
	a->peer.services[0].cgroup = SLICE "a.service";
	assert_int_equal(a->peer.asked, 1);
}

static bool all_done(struct unitasker *a)
{
	return a->n_done == (size_t)SOURCE_UNITS_WAITING_MAX + 5;
}

/* How many there are of each path: one, but for those asked for several times. */
static void count_done(struct unitasker *a, const char *key, enum meta_result result, size_t want)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (a->reports[i].done && strcmp(a->reports[i].key, key) == 0) {
			n++;
			assert_int_equal(a->reports[i].result, result);
		}
	assert_int_equal(n, want);
}

static void test_many(void **state)
{
	struct unitasker *a = *state;
	char path[64];

	unitasker_until(a, unitasker_is_up);
	a->peer.silent = true;
	source_units_find(a->units, SLICE "a.service");
	source_units_find(a->units, SLICE "b.service");
	source_units_find(a->units, SLICE "a.service");
	for (int i = 3; i < SOURCE_UNITS_WAITING_MAX; i++) {
		snprintf(path, sizeof(path), SLICE "n%d.service", i);
		source_units_find(a->units, path);
	}
	assert_int_equal(a->n, 0);
	for (int i = 0; i < 5; i++)
		source_units_find(a->units, i ? SLICE "more.service" : SLICE "b.service");
	assert_int_equal(a->n_done, 5);
	assert_int_equal(a->reports[0].result, META_SHED);
	a->n = a->n_done = 0;
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 8);
	a->peer.silent = false;
	unitpeer_release(&a->peer);
	for (int i = 0; i < 5; i++)
		source_units_find(a->units, SLICE "x.scope");
	unitasker_until(a, all_done);
	unitasker_settle(a);
	assert_true(all_done(a));
	assert_int_equal(a->peer.asked, SOURCE_UNITS_WAITING_MAX - 1);
	count_done(a, SLICE "a.service", META_FOUND, 2);
	count_done(a, SLICE "b.service", META_FOUND, 1);
	for (int i = 3; i < SOURCE_UNITS_WAITING_MAX; i++) {
		snprintf(path, sizeof(path), SLICE "n%d.service", i);
		count_done(a, path, META_ABSENT, 1);
	}
}

static void test_counts(void **state)
{
	struct unitasker *a = *state;
	struct source_state got;
	char where[64];

	source_units_get_state(a->units, &got);
	assert_int_equal(got.status, SOURCE_STARTING);
	unitasker_find(a, SLICE "a.service");
	unitasker_find(a, SLICE "a.service");
	unitasker_find(a, SLICE "nothing.service");
	source_units_get_state(a->units, &got);
	snprintf(where, sizeof(where), "%s/private", a->dir);
	assert_int_equal(got.status, SOURCE_UP);
	assert_string_equal(got.where, where);
	assert_string_equal(got.text, "systemd " UNITPEER_VERSION);
	assert_int_equal(got.lookups[META_FOUND], 2);
	assert_int_equal(got.lookups[META_ABSENT], 1);
	assert_int_equal(got.lookups[META_FAILED], 0);
	assert_int_equal(got.lookups[META_SHED], 0);
	assert_int_equal(got.failures, 0);
	assert_int_equal(got.retry_ns, 0);
}

static void test_main_pid(void **state)
{
	struct unitasker *a = *state;

	a_service->main_pid = 0;
	assert_int_equal(unitasker_find(a, SLICE "a.service"), META_FOUND);
	assert_int_equal(unitasker_last(a)->known & META_CTR_MAIN_PID, 0);
	a_service->main_pid = 50;
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "a_2eservice", 50) >= 0);
	unitasker_settle(a);
	assert_int_equal(unitasker_containers(a), 2);
	assert_int_equal(unitasker_last(a)->main_pid, 50);
	assert_int_equal(a->n_done, 1);
	/* Nothing new: no question, no report. */
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "a_2eservice", 50) >= 0);
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "a_2eservice", 0) >= 0);
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "b_2eservice", 60) >= 0);
	unitasker_settle(a);
	assert_int_equal(unitasker_containers(a), 2);
	assert_int_equal(a->peer.asked, 2);
}

/* A signal that overtakes nothing: the answer under way is from before it. */
static void test_main_pid_meanwhile(void **state)
{
	struct unitasker *a = *state;

	assert_int_equal(unitasker_find(a, SLICE "a.service"), META_FOUND);
	a->peer.silent = true;
	source_units_find(a->units, SLICE "a.service");
	unitasker_settle(a);
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "a_2eservice", 51) >= 0);
	unitasker_settle(a);
	a->peer.silent = false;
	unitpeer_release(&a->peer);
	a_service->main_pid = 51;
	unitasker_settle(a);
	assert_int_equal(a->n_done, 2);
	assert_int_equal(unitasker_containers(a), 3);
	assert_int_equal(unitasker_last(a)->main_pid, 51);
}

static void test_reload(void **state)
{
	struct unitasker *a = *state;

	assert_int_equal(unitasker_find(a, SLICE "a.service"), META_FOUND);
	assert_int_equal(unitasker_find(a, SLICE "b.service"), META_FOUND);
	a_service->stop_us = 7 * S;
	assert_true(unitpeer_tell_reloading(&a->peer, NULL, true) >= 0);
	assert_true(unitpeer_tell_removed(&a->peer, NULL, "a_2eservice") >= 0);
	assert_true(unitpeer_tell_removed(&a->peer, NULL, "b_2eservice") >= 0);
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 2);
	assert_true(unitpeer_tell_reloading(&a->peer, NULL, false) >= 0);
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 4);
	assert_int_equal(unitasker_containers(a), 3);
	assert_string_equal(unitasker_last(a)->unit, "a.service");
	assert_int_equal(unitasker_last(a)->grace_ns, 7 * S * 1000);
	assert_int_equal(a->n_done, 2);
}

static void test_removed(void **state)
{
	struct unitasker *a = *state;

	assert_int_equal(unitasker_find(a, SLICE "a.service"), META_FOUND);
	assert_int_equal(unitasker_find(a, SLICE "b.service"), META_FOUND);
	assert_true(unitpeer_tell_removed(&a->peer, NULL, "a_2eservice") >= 0);
	assert_true(unitpeer_tell_pid(&a->peer, NULL, "a_2eservice", 50) >= 0);
	assert_true(unitpeer_tell_reloading(&a->peer, NULL, false) >= 0);
	unitasker_settle(a);
	assert_int_equal(a->peer.asked, 3);
	/* One that is waited for stays. */
	a->peer.silent = true;
	source_units_find(a->units, SLICE "b.service");
	assert_true(unitpeer_tell_removed(&a->peer, NULL, "b_2eservice") >= 0);
	unitasker_settle(a);
	unitpeer_release(&a->peer);
	unitasker_settle(a);
	assert_int_equal(a->n_done, 3);
	assert_int_equal(b_service->main_pid, unitasker_last(a)->main_pid);
}

static void test_reentrant(void **state)
{
	struct unitasker *a = *state;

	a->next = SLICE "b.service";
	assert_int_equal(unitasker_find(a, SLICE "a.service"), META_FOUND);
	unitasker_settle(a);
	assert_int_equal(a->n_done, 2);
	/* Over before the call returns, and asked for in it. */
	a->next = SLICE "x.scope";
	source_units_find(a->units, SLICE "y.scope");
	assert_int_equal(a->n_done, 4);
	unitpeer_done(&a->peer);
	unitasker_until(a, unitasker_is_down);
	a->next = SLICE "a.service";
	source_units_find(a->units, SLICE "a.service");
	unitasker_until(a, unitasker_is_off);
	assert_int_equal(a->n_done, 6);
	assert_int_equal(a->reports[a->n - 1].result, META_FAILED);
}

static void test_forgets(void **state)
{
	struct unitasker *a = *state;
	char path[64];

	assert_int_equal(unitasker_find(a, SLICE "a.service"), META_FOUND);
	unitpeer_done(&a->peer);
	unitasker_until(a, unitasker_is_off);
	for (int i = 0; i < SOURCE_UNITS_FOLLOWED_MAX; i++) {
		snprintf(path, sizeof(path), SLICE "n%d.service", i);
		source_units_find(a->units, path);
		a->n = a->n_done = 0;
	}
	a_service->stop_us = S;
	assert_int_equal(unitpeer_listen(&a->peer, a->event, a->dir, "private"), 0);
	unitasker_until(a, unitasker_is_up);
	unitasker_settle(a);
	assert_int_equal(a->n, 0);
	assert_int_equal(a->peer.asked, 1 + SOURCE_UNITS_FOLLOWED_MAX);
}

static void test_end(void **state)
{
	struct unitasker *a = *state;

	unitasker_until(a, unitasker_is_up);
	a->peer.silent = true;
	for (size_t i = 0; i < LEN(finds); i++)
		source_units_find(a->units, finds[i].cgroup);
	unitasker_settle(a);
	a->n = 0;
	a->units = source_units_free(a->units);
	assert_null(a->units);
	assert_int_equal(a->n, 0);
	assert_null(source_units_free(NULL));
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a service is reported with its main process, stop signal and time",
		     test_find),
		TEST("a systemd that is not at the root has its services below its own cgroup",
		     test_root),
		TEST("every look-up ends once; eight are under way, and too many are shed",
		     test_many),
		TEST("the state says what it speaks to and how look-ups ended", test_counts),
		TEST("a new main process is reported, an old one is not reported again",
		     test_main_pid),
		TEST("a main process that changes while it is asked for is reported",
		     test_main_pid_meanwhile),
		TEST("settings that changed are reported after a reload", test_reload),
		TEST("a unit that is gone is not followed", test_removed),
		TEST("the sink may look up from within", test_reentrant),
		TEST("beyond its bound it forgets who was asked for first", test_forgets),
		TEST("freed with look-ups under way, it reports nothing", test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
