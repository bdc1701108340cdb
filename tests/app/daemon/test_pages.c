// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/pages: the last stops first, deaf containers once each. */
#include <stdio.h>
#include <string.h>

#include "app/daemon/pages.h"
#include "lib/claim.h"

static void add(struct history *h, const char *container, enum record_container_kind kind,
		enum unheard reason)
{
	struct record record = {.type = RECORD_STOP};

	record.stop.container = (struct record_container){.known = true, .kind = kind};
	record.stop.container.name = container;
	record.stop.reason = reason;
	record.stop.latency_known = true;
	record.stop.latency_ns = 31;
	record.stop.grace = (struct grace){.from = GRACE_SPEC, .ns = 30};
	history_record(h, &record);
}

static void test_order(void **state)
{
	static struct history h;
	char name[16];

	for (int i = 0; i < HISTORY_STOPS + 5; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		add(&h, name, CONTAINER_KIND_CONTAINER, UNHEARD_NONE);
	}
	add(&h, "sandbox", CONTAINER_KIND_SANDBOX, UNHEARD_NO_HANDLER);
	add(&h, "process", CONTAINER_KIND_PROCESS, UNHEARD_NO_HANDLER);
	history_record(&h, &(struct record){.type = RECORD_EMPTY});
	assert_int_equal(h.n_stops, HISTORY_STOPS);
	assert_string_equal(h.stops[0].subject.container, "c54");
	assert_string_equal(h.stops[HISTORY_STOPS - 1].subject.container, "c5");
	assert_int_equal(h.stops[0].margin_ns, -1);
	assert_int_equal(h.n_deaf, 0);
	history_done(&h);
	assert_null(h.stops);
}

static void test_deaf(void **state)
{
	static struct history h;
	char name[16];

	add(&h, "a", CONTAINER_KIND_CONTAINER, UNHEARD_NO_HANDLER);
	add(&h, "b", CONTAINER_KIND_CONTAINER, UNHEARD_BLOCKED);
	add(&h, "c", CONTAINER_KIND_CONTAINER, UNHEARD_NONE);
	add(&h, "a", CONTAINER_KIND_CONTAINER, UNHEARD_SHELL);
	assert_int_equal(h.n_deaf, 2);
	assert_string_equal(h.deaf[0].subject.container, "a");
	assert_int_equal(h.deaf[0].times, 2);
	assert_int_equal(h.deaf[0].reason, UNHEARD_SHELL);
	assert_string_equal(h.deaf[1].subject.container, "b");
	/* The one that was stopped last longest ago makes room. */
	for (int i = 0; i < HISTORY_DEAF - 1; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		add(&h, name, CONTAINER_KIND_CONTAINER, UNHEARD_NO_HANDLER);
	}
	assert_int_equal(h.n_deaf, HISTORY_DEAF);
	assert_string_equal(h.deaf[HISTORY_DEAF - 1].subject.container, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the last stops are kept, the last one first", test_order),
		CLAIM("a deaf container is kept once, with how often it was stopped", test_deaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
