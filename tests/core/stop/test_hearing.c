// SPDX-License-Identifier: Apache-2.0
// Which container is looked at when, and which answers count.
#include "core/stop/hearing.h"

#include <errno.h>

#include "lib/claim.h"

#define S      1000000000ull
#define BEGAN  (100 * S)
#define SETTLE (BEGAN + HEARING_SETTLE_NS)

static const struct audit hears = {AUDIT_HEARS, AUDIT_HANDLER, 0};
static const struct audit dies = {AUDIT_DIES, AUDIT_DEFAULT, 0};
static const struct audit deaf = {AUDIT_DEAF, AUDIT_SHIELD, 0};
static const struct audit blocked = {AUDIT_DEAF, AUDIT_BLOCKED, 0};
static const struct audit unread = {AUDIT_UNKNOWN, AUDIT_ACCESS, 0};
static const struct hearing_init web = {.id = 7, .start_ns = BEGAN, .pid = 10, .signal = 15};

static void see(struct hearing *h, const struct hearing_init *init)
{
	assert_int_equal(hearing_seen(h, init), 0);
}

static bool is_known(const struct hearing *h)
{
	struct audit answer;

	return hearing_get(h, web.id, web.start_ns, &answer);
}

static enum audit_reason reason_of(const struct hearing *h)
{
	struct audit answer;

	assert_true(hearing_get(h, web.id, web.start_ns, &answer));
	return answer.reason;
}

static void test_settle(void **state)
{
	struct hearing_init next;
	struct hearing h = {};

	see(&h, &web);
	assert_false(hearing_next(&h, SETTLE - 1, &next));
	assert_true(hearing_next(&h, SETTLE, &next));
	assert_int_equal(next.id, web.id);
	hearing_take(&h, &web, &hears, SETTLE);
	assert_false(hearing_next(&h, SETTLE + HEARING_AGAIN_NS - 1, &next));
	assert_true(hearing_next(&h, SETTLE + HEARING_AGAIN_NS, &next));
	hearing_done(&h);
}

/* A spinning thread looks like a woken one to a look that does not know the one before. */
static void test_runs(void **state)
{
	struct hearing_init next, looked = web;
	struct hearing h = {};

	looked.runs.leader = (struct audit_run){.ran_ns = 1, .sleeps = 2};
	looked.runs.others[AUDIT_AWAKE - 1] = (struct audit_run){.ran_ns = 3, .tid = 11};
	see(&h, &web);
	hearing_take(&h, &looked, &deaf, SETTLE);
	see(&h, &web);
	assert_true(hearing_next(&h, SETTLE + HEARING_AGAIN_NS, &next));
	assert_memory_equal(&next.runs, &looked.runs, sizeof(next.runs));
	hearing_done(&h);
}

static void test_counts(void **state)
{
	struct hearing h = {};

	see(&h, &web);
	for (int i = 1; i < HEARING_LOOKS; i++) {
		hearing_take(&h, &web, &deaf, SETTLE);
		assert_false(is_known(&h));
	}
	hearing_take(&h, &web, &deaf, SETTLE);
	assert_int_equal(reason_of(&h), AUDIT_SHIELD);
	hearing_take(&h, &web, &hears, SETTLE);
	assert_int_equal(reason_of(&h), AUDIT_HANDLER);
	hearing_take(&h, &web, &dies, SETTLE);
	assert_int_equal(reason_of(&h), AUDIT_DEFAULT);
	/* Two reasons in turn do not count. */
	for (int i = 0; i < 2 * HEARING_LOOKS; i++)
		hearing_take(&h, &web, i % 2 ? &deaf : &blocked, SETTLE);
	assert_int_equal(reason_of(&h), AUDIT_DEFAULT);
	hearing_done(&h);
}

static void test_disagreement(void **state)
{
	struct hearing_init next;
	struct hearing h = {};

	see(&h, &web);
	hearing_take(&h, &web, &deaf, SETTLE);
	assert_false(hearing_next(&h, SETTLE, &next));
	assert_true(hearing_next(&h, SETTLE + 1, &next));
	hearing_done(&h);
}

static void test_unknown(void **state)
{
	struct hearing h = {};

	see(&h, &web);
	hearing_take(&h, &web, &hears, SETTLE);
	hearing_take(&h, &web, &unread, SETTLE);
	assert_true(is_known(&h));
	for (int i = 1; i < HEARING_LOOKS; i++)
		hearing_take(&h, &web, &unread, SETTLE);
	assert_false(is_known(&h));
	hearing_done(&h);
}

static void test_other(void **state)
{
	struct hearing_init other = web;
	struct hearing h = {};

	see(&h, &web);
	hearing_take(&h, &web, &hears, SETTLE);
	other.start_ns++;
	see(&h, &other);
	assert_false(is_known(&h));
	/* A look that was at the one before. */
	hearing_take(&h, &web, &hears, SETTLE);
	assert_false(hearing_get(&h, other.id, other.start_ns, &(struct audit){}));
	hearing_take(&h, &other, &hears, SETTLE);
	other.signal = 3;
	see(&h, &other);
	assert_false(hearing_get(&h, other.id, other.start_ns, &(struct audit){}));
	hearing_done(&h);
}

static void test_gone(void **state)
{
	struct hearing_init many = {.start_ns = BEGAN, .pid = 10, .signal = 15};
	struct hearing h = {};

	see(&h, &web);
	hearing_take(&h, &web, &hears, SETTLE);
	for (many.id = 100; many.id < 300; many.id++)
		see(&h, &many);
	hearing_end_round(&h);
	assert_true(is_known(&h));
	see(&h, &web);
	hearing_end_round(&h);
	assert_int_equal(h.list.count, 1);
	hearing_end_round(&h);
	assert_int_equal(h.list.count, 0);
	hearing_done(&h);
}

static void test_order(void **state)
{
	struct hearing_init younger = {.id = 8, .start_ns = BEGAN + S, .pid = 11, .signal = 15};
	struct hearing_init next;
	struct hearing h = {};

	see(&h, &younger);
	see(&h, &web);
	assert_true(hearing_next(&h, SETTLE + 2 * S, &next));
	assert_int_equal(next.id, web.id);
	hearing_take(&h, &web, &deaf, SETTLE + 2 * S);
	assert_true(hearing_next(&h, SETTLE + 2 * S, &next));
	assert_int_equal(next.id, younger.id);
	hearing_done(&h);
}

static void test_limit(void **state)
{
	struct hearing_init many = {.start_ns = BEGAN, .pid = 10, .signal = 15};
	struct hearing h = {};

	for (many.id = 1; many.id <= HEARING_MAX; many.id++)
		see(&h, &many);
	assert_int_equal(hearing_seen(&h, &many), -ENOSPC);
	hearing_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a look has what each awake thread had done by the one before", test_runs),
		CLAIM("an init is looked at when it has settled, and again after a while",
		      test_settle),
		CLAIM("that it hears counts at once, that it is deaf after several looks",
		      test_counts),
		CLAIM("a look that does not agree is repeated soon, and not in the same turn",
		      test_disagreement),
		CLAIM("an answer stands until several looks find it unknown", test_unknown),
		CLAIM("another init or another stop signal begins anew", test_other),
		CLAIM("a container that ended is forgotten", test_gone),
		CLAIM("the look that has been due for longest is next", test_order),
		CLAIM("beyond the limit no container is taken", test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
