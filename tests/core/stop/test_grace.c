// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/grace: the effective grace period of a stop. */
#include "core/stop/grace.h"

#include "lib/claim.h"

#define S 1000000000ULL

#define SPEC	 META_POD_GRACE
#define DELETING META_POD_DELETING
#define DELETION META_POD_DELETION_GRACE
#define SIDECARS META_POD_SIDECARS

static void check(const struct grace *got, enum grace_from from, uint64_t ns, const char *what)
{
	if (got->from != from || got->ns != ns)
		fail_msg("%s: from %d, %llu ns", what, got->from, (unsigned long long)got->ns);
}

static void test_pods(void **state)
{
	static const struct {
		const char *what;
		struct podtab_pod pod;
		struct podtab_container own, spec;
		enum grace_from from;
		uint64_t ns;
	} want[] = {
		{"spec", {.known = SPEC, .grace_ns = 30 * S}, {}, {}, GRACE_SPEC, 30 * S},
		{"spec below the kubelet's least",
		 {.known = SPEC, .grace_ns = 1},
		 {},
		 {},
		 GRACE_SPEC,
		 2 * S},
		{"a deletion shortens",
		 {.known = SPEC | DELETING | DELETION,
		  .deleting = true,
		  .grace_ns = 30 * S,
		  .deletion_grace_ns = 5 * S},
		 {},
		 {},
		 GRACE_DELETION,
		 5 * S},
		{"a deletion by force",
		 {.known = SPEC | DELETING | DELETION, .deleting = true, .grace_ns = 30 * S},
		 {},
		 {},
		 GRACE_DELETION,
		 2 * S},
		{"not being deleted",
		 {.known = SPEC | DELETING | DELETION,
		  .grace_ns = 30 * S,
		  .deletion_grace_ns = 5 * S},
		 {},
		 {},
		 GRACE_SPEC,
		 30 * S},
		{"a preStop hook of this container",
		 {.known = SPEC, .grace_ns = 30 * S},
		 {},
		 {.prestop = true},
		 GRACE_HIDDEN,
		 0},
		{"sidecars",
		 {.known = SPEC | SIDECARS, .sidecars = true, .grace_ns = 30 * S},
		 {},
		 {},
		 GRACE_HIDDEN,
		 0},
		{"a probe's own period",
		 {.known = SPEC, .grace_ns = 30 * S},
		 {.probe_grace = true},
		 {},
		 GRACE_HIDDEN,
		 0},
		{"a probe's own period while being deleted",
		 {.known = SPEC | DELETING | DELETION,
		  .deleting = true,
		  .deletion_grace_ns = 30 * S},
		 {.probe_grace = true},
		 {},
		 GRACE_DELETION,
		 30 * S},
		{"nothing known, and the sandbox",
		 {.known = SPEC, .grace_ns = 30 * S},
		 {.kind = META_KIND_SANDBOX},
		 {},
		 GRACE_UNKNOWN,
		 0},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct grace got = grace_of(&want[i].pod, &want[i].own, &want[i].spec, 0);

		check(&got, want[i].from, want[i].ns, want[i].what);
	}
}

static void test_others(void **state)
{
	const struct podtab_container docker = {
		.known = META_CTR_GRACE, .grace_ns = 10 * S, .grace_from = META_DOCKER};
	const struct podtab_container unit = {
		.known = META_CTR_GRACE, .grace_ns = 90 * S, .grace_from = META_SYSTEMD};
	const struct podtab_container none = {};
	const struct podtab_pod hook = {.known = SPEC, .grace_ns = 30 * S};
	const struct podtab_container prestop = {.prestop = true};
	struct grace got;

	got = grace_of(NULL, &docker, NULL, 5 * S);
	check(&got, GRACE_RUNTIME, 10 * S, "Docker's");
	got = grace_of(NULL, &unit, NULL, 5 * S);
	check(&got, GRACE_UNIT, 90 * S, "a unit's");
	got = grace_of(NULL, &none, NULL, 5 * S);
	check(&got, GRACE_ASSUMED, 5 * S, "assumed");
	got = grace_of(NULL, NULL, NULL, 0);
	check(&got, GRACE_UNKNOWN, 0, "unknown");
	/* Somebody tells it, and it says nothing: then nothing is assumed either. */
	got = grace_of(&hook, &prestop, NULL, 5 * S);
	check(&got, GRACE_HIDDEN, 0, "a hook, with --assume-grace");
	assert_false(grace_known(&got));
}

/* docker stop -t, of a container whose own timeout is 10 s. */
static void test_observed(void **state)
{
	static const struct {
		enum grace_from own;
		uint64_t after_ns;
		bool killed;
		enum grace_from from;
		uint64_t ns;
	} want[] = {
		{GRACE_RUNTIME, 3 * S + S / 50, true, GRACE_INFERRED, 3 * S},
		{GRACE_RUNTIME, 3 * S - S / 10, true, GRACE_INFERRED, 3 * S},
		{GRACE_RUNTIME, 3 * S + S / 10 + 1, true, GRACE_RUNTIME, 10 * S},
		{GRACE_RUNTIME, 3 * S - S / 10 - 1, true, GRACE_RUNTIME, 10 * S},
		{GRACE_RUNTIME, S / 50, true, GRACE_INFERRED, 0},
		{GRACE_RUNTIME, 10 * S + S / 50, true, GRACE_RUNTIME, 10 * S},
		{GRACE_RUNTIME, 10 * S + S / 2, true, GRACE_RUNTIME, 10 * S},
		{GRACE_RUNTIME, 20 * S + S / 50, true, GRACE_INFERRED, 20 * S},
		{GRACE_RUNTIME, 20 * S + S / 2, true, GRACE_HIDDEN, 0},
		{GRACE_RUNTIME, 3 * S, false, GRACE_RUNTIME, 10 * S},
		{GRACE_RUNTIME, 11 * S, false, GRACE_RUNTIME, 10 * S},
		{GRACE_RUNTIME, 11 * S + 1, false, GRACE_HIDDEN, 0},
		{GRACE_SPEC, 3 * S, true, GRACE_SPEC, 10 * S},
		{GRACE_UNIT, 20 * S, false, GRACE_UNIT, 10 * S},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct grace own = {.from = want[i].own, .ns = 10 * S};
		struct grace got = grace_observed(&own, want[i].after_ns, want[i].killed);

		check(&got, want[i].from, want[i].ns, want[i].killed ? "a kill" : "an exit");
	}
}

/* A tenth of so short a timeout is less than a slow runtime's delay. */
static void test_observed_short(void **state)
{
	static const struct {
		uint64_t own_ns, late_ns;
		bool killed;
		enum grace_from from;
	} want[] = {
		{S, 134 * S / 1000, true, GRACE_RUNTIME}, {S, 2 * S / 5, true, GRACE_RUNTIME},
		{S, 3 * S / 5, true, GRACE_HIDDEN},	  {S, 2 * S / 5, false, GRACE_HIDDEN},
		{2 * S, 2 * S / 5, true, GRACE_RUNTIME},  {2 * S, 3 * S / 5, true, GRACE_HIDDEN},
		{0, 2 * S / 5, true, GRACE_RUNTIME},	  {S, S, true, GRACE_INFERRED},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct grace own = {.from = GRACE_RUNTIME, .ns = want[i].own_ns};
		uint64_t after_ns = want[i].own_ns + want[i].late_ns;
		struct grace got = grace_observed(&own, after_ns, want[i].killed);
		uint64_t ns = want[i].from == GRACE_RUNTIME    ? want[i].own_ns
			      : want[i].from == GRACE_INFERRED ? after_ns
							       : 0;

		check(&got, want[i].from, ns, want[i].killed ? "a kill" : "an exit");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a pod's grace is what the kubelet would give, or unknown", test_pods),
		CLAIM("what contradicts a container's own timeout is inferred, or it is unknown",
		      test_observed),
		CLAIM("a kill nearest to a container's own timeout is at its end, however late",
		      test_observed_short),
		CLAIM("outside pods it is the runtime's, the unit's, or assumed", test_others),
	};

	return cmocka_run_group_tests_name("core/stop/grace", tests, NULL, NULL);
}
