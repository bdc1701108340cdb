// SPDX-License-Identifier: Apache-2.0
/* Claims about core/names/unit: what properties of a service say of its stop. */
#include <string.h>

#include "core/names/unit.h"
#include "lib/claim.h"

#define ALL    0x7f
#define CGROUP "/system.slice/a.service"
#define PID    META_CTR_MAIN_PID
#define GRACE  META_CTR_GRACE

#define S	 1000000ull
#define INFINITY UINT64_MAX

static const struct row {
	const char *about;
	struct unitfacts facts; /* known: what is not */
	enum meta_result result;
	struct {
		uint32_t known, pid, sig;
		uint64_t grace_ns;
	} want;
} rows[] = {
	{"a running service",
	 {0, 1, CGROUP, "control-group", 15, 42, 7, 90 * S},
	 META_FOUND,
	 {PID | GRACE, 42, 15, 90 * S * 1000}},
	{"another stop signal, and another time",
	 {0, 1, CGROUP, "mixed", 37, 42, 7, 1},
	 META_FOUND,
	 {PID | GRACE, 42, 37, 1000}},
	{"only the main process is signalled",
	 {0, 1, CGROUP, "process", 2, 42, 7, 2 * S},
	 META_FOUND,
	 {PID | GRACE, 42, 2, 2 * S * 1000}},
	{"no main process yet",
	 {0, 1, CGROUP, "control-group", 15, 0, 0, S},
	 META_FOUND,
	 {GRACE, 0, 15, S * 1000}},
	{"no process is that high",
	 {0, 1, CGROUP, "control-group", 15, 4194305, 7, S},
	 META_FOUND,
	 {GRACE, 0, 15, S * 1000}},
	{"waited for without end",
	 {0, 1, CGROUP, "control-group", 15, 42, 7, INFINITY},
	 META_FOUND,
	 {PID, 42, 15, 0}},
	{"waited for without end, as it was written once",
	 {0, 1, CGROUP, "control-group", 15, 42, 7, 0},
	 META_FOUND,
	 {PID, 42, 15, 0}},
	{"longer than nanoseconds can count",
	 {0, 1, CGROUP, "control-group", 15, 42, 7, UINT64_MAX / 1000 + 1},
	 META_FOUND,
	 {PID, 42, 15, 0}},
	{"never killed",
	 {0, 0, CGROUP, "control-group", 15, 42, 7, S},
	 META_FOUND,
	 {PID, 42, 15, 0}},
	{"sent nothing at all", {0, 1, CGROUP, "none", 15, 42, 7, S}, META_FOUND, {PID, 42, 0, 0}},
	{"no signal",
	 {0, 1, CGROUP, "mixed", 0, 42, 7, S},
	 META_FOUND,
	 {PID | GRACE, 42, 0, S * 1000}},
	{"no signal",
	 {0, 1, CGROUP, "mixed", -9, 42, 7, S},
	 META_FOUND,
	 {PID | GRACE, 42, 0, S * 1000}},
	{"no signal",
	 {0, 1, CGROUP, "mixed", 65, 42, 7, S},
	 META_FOUND,
	 {PID | GRACE, 42, 0, S * 1000}},
	{"the highest",
	 {0, 1, CGROUP, "mixed", 64, 42, 7, S},
	 META_FOUND,
	 {PID | GRACE, 42, 64, S * 1000}},
	{"over before it was asked for",
	 {0, 1, "", "control-group", 15, 0, 7, S},
	 META_FOUND,
	 {GRACE, 0, 15, S * 1000}},
	{"a main process without a cgroup",
	 {0, 1, "", "control-group", 15, 42, 7, S},
	 META_FOUND,
	 {GRACE, 0, 15, S * 1000}},
	{"a name that nothing has", {0, 1, "", "control-group", 15, 0, 0, S}, META_ABSENT, {}},
	{"a name that nothing has, start unknown",
	 {UNITFACTS_STARTED, 1, "", "control-group", 15, 0, 7, S},
	 META_ABSENT,
	 {}},
	{"the service of that name is elsewhere",
	 {0, 1, "/other.slice/a.service", "control-group", 15, 42, 7, S},
	 META_ABSENT,
	 {}},
	{"cgroup unknown",
	 {UNITFACTS_CGROUP, 1, NULL, "control-group", 15, 42, 7, S},
	 META_FAILED,
	 {}},
	{"main process unknown",
	 {UNITFACTS_MAIN_PID, 1, CGROUP, "mixed", 15, 42, 7, S},
	 META_FOUND,
	 {GRACE, 0, 15, S * 1000}},
	{"signal unknown",
	 {UNITFACTS_KILL_SIGNAL, 1, CGROUP, "mixed", 15, 42, 7, S},
	 META_FOUND,
	 {PID | GRACE, 42, 0, S * 1000}},
	{"time unknown",
	 {UNITFACTS_STOP_TIMEOUT, 1, CGROUP, "mixed", 15, 42, 7, S},
	 META_FOUND,
	 {PID, 42, 15, 0}},
	{"whether SIGKILL follows unknown",
	 {UNITFACTS_SEND_SIGKILL, 1, CGROUP, "mixed", 15, 42, 7, S},
	 META_FOUND,
	 {PID, 42, 15, 0}},
	{"its targets unknown",
	 {UNITFACTS_KILL_MODE, 1, CGROUP, NULL, 15, 42, 7, S},
	 META_FOUND,
	 {PID, 42, 0, 0}},
};

static void test_rows(void **state)
{
	for (size_t i = 0; i < LEN(rows); i++) {
		const struct row *row = rows + i;
		struct unitfacts facts = row->facts;
		struct meta_container got = {.attempt = 77};

		print_message("# %s\n", row->about);
		facts.known = ALL & ~facts.known;
		assert_int_equal(unitfacts_judge(&facts, "a.service", CGROUP, &got), row->result);
		if (row->result != META_FOUND) {
			assert_int_equal(got.attempt, 77);
			continue;
		}
		assert_int_equal(got.source, META_SYSTEMD);
		assert_string_equal(got.unit, "a.service");
		assert_string_equal(got.name, "a.service");
		assert_string_equal(got.id, "");
		assert_int_equal(got.known, row->want.known);
		assert_int_equal(got.main_pid, row->want.pid);
		assert_int_equal(got.stop_signal, row->want.sig);
		assert_int_equal(got.grace_ns, row->want.grace_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a service has a stop signal and a grace period where systemd sends them",
		      test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
