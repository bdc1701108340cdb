// SPDX-License-Identifier: Apache-2.0
// What an audit that goes on reports anew.
#include "core/stop/audit_changes.h"
#include "lib/claim.h"

static const struct audit hears = {AUDIT_HEARS, AUDIT_HANDLER, 0};
static const struct audit deaf = {AUDIT_DEAF, AUDIT_SHIELD, 0};
static const struct audit starting = {AUDIT_UNKNOWN, AUDIT_STARTING, 0};
static const struct audit_subject web = {"/docker/web", 10, 100};

static bool take(struct audit_changes *c, const struct audit_subject *s, struct audit audit)
{
	bool is_new = false;

	assert_int_equal(audit_changes_take(c, s, &audit, &is_new), 0);
	return is_new;
}

static bool round_of(struct audit_changes *c, struct audit audit)
{
	bool is_new = take(c, &web, audit);

	audit_changes_end_round(c);
	return is_new;
}

static void a_verdict_counts_when_two_looks_agree(void **state)
{
	struct audit_changes c = {};

	assert_false(round_of(&c, deaf));
	assert_false(round_of(&c, hears));
	assert_true(round_of(&c, hears));
	assert_false(round_of(&c, hears));
	audit_changes_done(&c);
}

static void a_stage_of_the_runtime_is_not_reported(void **state)
{
	struct audit_changes c = {};

	assert_false(round_of(&c, starting));
	assert_false(round_of(&c, starting));
	assert_false(round_of(&c, deaf));
	assert_true(round_of(&c, deaf));
	audit_changes_done(&c);
}

static void another_verdict_reason_or_warning_is_new(void **state)
{
	const struct audit waits = {AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_SHELL_WAITS};
	const struct audit fd = {AUDIT_HEARS, AUDIT_SIGNALFD, 0};
	struct audit_changes c = {};

	assert_false(round_of(&c, hears));
	assert_true(round_of(&c, hears));
	assert_false(round_of(&c, waits));
	assert_true(round_of(&c, waits));
	assert_false(round_of(&c, fd));
	assert_true(round_of(&c, fd));
	assert_false(round_of(&c, deaf));
	assert_true(round_of(&c, deaf));
	/* Back for one look: nothing new. */
	assert_false(round_of(&c, hears));
	assert_false(round_of(&c, deaf));
	assert_false(round_of(&c, deaf));
	audit_changes_done(&c);
}

static void a_signal_on_its_way_is_nothing_new(void **state)
{
	const struct audit pending = {AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_PENDING};
	struct audit_changes c = {};

	assert_false(round_of(&c, hears));
	assert_true(round_of(&c, hears));
	assert_false(round_of(&c, pending));
	assert_false(round_of(&c, pending));
	audit_changes_done(&c);
}

static void another_process_in_the_cgroup_is_another_container(void **state)
{
	const struct audit_subject next = {"/docker/web", 11, 200},
				   again = {"/docker/web", 10, 300};
	struct audit_changes c = {};

	assert_false(round_of(&c, hears));
	assert_true(round_of(&c, hears));
	assert_false(take(&c, &next, hears));
	assert_true(take(&c, &next, hears));
	assert_false(take(&c, &again, hears));
	assert_true(take(&c, &again, hears));
	audit_changes_done(&c);
}

static void what_is_gone_is_forgotten(void **state)
{
	struct audit_changes c = {};

	assert_true(audit_changes_is_young(&c, &web, 1));
	assert_false(round_of(&c, hears));
	assert_false(audit_changes_is_young(&c, &web, 1));
	assert_true(audit_changes_is_young(&c, &web, 2));
	audit_changes_end_round(&c);
	assert_int_equal(c.n, 0);
	assert_true(audit_changes_is_young(&c, &web, 1));
	audit_changes_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a verdict counts when two looks agree",
		      a_verdict_counts_when_two_looks_agree),
		CLAIM("a stage of the runtime is not reported",
		      a_stage_of_the_runtime_is_not_reported),
		CLAIM("another verdict, reason or warning is new",
		      another_verdict_reason_or_warning_is_new),
		CLAIM("a signal on its way is nothing new", a_signal_on_its_way_is_nothing_new),
		CLAIM("another process in the cgroup is another container",
		      another_process_in_the_cgroup_is_another_container),
		CLAIM("what is gone is forgotten", what_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
