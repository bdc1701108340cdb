// SPDX-License-Identifier: Apache-2.0
/* Claims about core/events/list: one Event for what happens again, and no more than the limit. */
#include "core/events/list.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define START  (100000 * SECOND)

DEFINE_CLEANUP(struct eventlist *, eventlist_free);
#define _list_ _cleanup_(cleanup_eventlist_free)

static struct eventlist *new_list(void)
{
	struct eventlist *list;

	assert_int_equal(eventlist_new(&list), 0);
	return list;
}

/* Makes an event about container n of pod n, in its run. */
static struct event event(unsigned int n, uint64_t run)
{
	struct event e = {.reason = "KilledBy",
			  .action = "Killing",
			  .cause = "host",
			  .container = "main",
			  .namespace_ = "shop",
			  .run = run,
			  .wall_ns = 1795273445000000000 + (int64_t)run};

	snprintf(e.name, sizeof(e.name), "web-%u", n);
	snprintf(e.uid, sizeof(e.uid), "uid-%u", n);
	return e;
}

static enum eventlist_taken take(struct eventlist *list, const struct event *e, uint64_t now_ns,
				 struct eventlist_item *ret)
{
	const struct eventlist_item *item = NULL;
	enum eventlist_taken taken = eventlist_take(list, e, now_ns, &item);

	if (taken == EVENTLIST_NEW && ret)
		*ret = *item;
	return taken;
}

/* 10,000 containers that die in a minute, evenly, each of its own. */
static void test_flood(void **state)
{
	_list_ struct eventlist *list = new_list();
	unsigned int created = 0, dropped = 0, second = 0, worst = 0;
	struct event node = {.reason = "NodeShutdownComplete",
			     .action = "ShuttingDown",
			     .cause = "",
			     .of_node = true,
			     .name = "node-1",
			     .uid = "node-1",
			     .run = 1};

	for (unsigned int i = 0; i < 10000; i++) {
		struct event e = event(i, 1);
		enum eventlist_taken taken = take(list, &e, START + i * (MINUTE / 10000), NULL);

		if (i % 167 == 0)
			second = 0;
		created += taken == EVENTLIST_NEW;
		second += taken == EVENTLIST_NEW;
		dropped += taken == EVENTLIST_DROPPED;
		if (i > 167 && second > worst)
			worst = second;
	}
	print_message("# created %u, dropped %u, in a second %u at most\n", created, dropped,
		      worst);
	assert_int_equal(created + dropped, 10000);
	assert_in_range(created, EVENTLIST_BURST + 57, EVENTLIST_BURST + 60);
	assert_in_range(worst, 1, 2);
	/* There is room for that of the node. */
	assert_int_equal(take(list, &node, START + MINUTE - 1, NULL), EVENTLIST_NEW);
	node.run = 2;
	node.uid[0] = 'm';
	assert_int_equal(take(list, &node, START + MINUTE - 1, NULL), EVENTLIST_DROPPED);
}

static void test_burst(void **state)
{
	_list_ struct eventlist *list = new_list();
	unsigned int n = 0;

	for (int round = 0; round < 3; round++) {
		unsigned int before = n;
		struct event e;

		do
			e = event(n++, 1);
		while (take(list, &e, START + (uint64_t)round * 600 * SECOND, NULL) ==
		       EVENTLIST_NEW);
		assert_int_equal(n - before - 1, EVENTLIST_BURST - 1);
	}
}

static void test_series(void **state)
{
	_list_ struct eventlist *list = new_list();
	const struct eventlist_item *next;
	struct event e = event(1, 1);
	struct eventlist_item item = {};

	assert_int_equal(take(list, &e, START, &item), EVENTLIST_NEW);
	assert_string_equal(item.namespace_, "shop");
	assert_int_equal(item.count, 1);
	assert_int_equal(take(list, &e, START + SECOND, NULL), EVENTLIST_SAME);
	/* Not before the server has it. */
	e = event(1, 2);
	assert_int_equal(take(list, &e, START + SECOND, NULL), EVENTLIST_AGAIN);
	assert_int_equal(eventlist_due_ns(list, START + SECOND), 0);
	assert_null(eventlist_next(list, START + 2 * MINUTE));
	eventlist_created(list, item.id, true);
	assert_int_equal(eventlist_due_ns(list, START + SECOND), START + MINUTE);
	assert_null(eventlist_next(list, START + MINUTE - 1));
	for (uint64_t run = 3; run < 1000; run++) {
		e = event(1, run);
		assert_int_equal(take(list, &e, START + 2 * SECOND, NULL), EVENTLIST_AGAIN);
	}
	next = eventlist_next(list, START + MINUTE);
	assert_non_null(next);
	assert_int_equal(next->id, item.id);
	assert_string_equal(next->name, item.name);
	assert_int_equal(next->count, 999);
	assert_true(next->last_wall_ns == e.wall_ns);
	/* It is under way, and what happens meanwhile waits. */
	e = event(1, 1000);
	assert_int_equal(take(list, &e, START + MINUTE, NULL), EVENTLIST_AGAIN);
	assert_null(eventlist_next(list, START + 3 * MINUTE));
	eventlist_written(list, item.id, true, false);
	next = eventlist_next(list, START + 2 * MINUTE);
	assert_int_equal(next->count, 1000);
	/* It may not have arrived. */
	eventlist_written(list, item.id, false, false);
	assert_non_null(eventlist_next(list, START + 3 * MINUTE));
	eventlist_written(list, item.id, true, false);
	assert_int_equal(eventlist_due_ns(list, START + 9 * MINUTE), 0);
}

/* Another pod, container, reason or cause is another Event, as is one that the server has lost. */
static void test_apart(void **state)
{
	_list_ struct eventlist *list = new_list();
	struct event e = event(1, 1), other;
	struct eventlist_item item = {}, again = {};

	assert_int_equal(take(list, &e, START, &item), EVENTLIST_NEW);
	other = event(2, 1);
	assert_int_equal(take(list, &other, START, NULL), EVENTLIST_NEW);
	other = event(1, 2);
	strcpy(other.container, "side");
	assert_int_equal(take(list, &other, START, NULL), EVENTLIST_NEW);
	other = event(1, 2);
	other.reason = "GraceExceeded";
	assert_int_equal(take(list, &other, START, NULL), EVENTLIST_NEW);
	other = event(1, 2);
	other.cause = "other-pod";
	assert_int_equal(take(list, &other, START, NULL), EVENTLIST_NEW);
	eventlist_created(list, item.id, false);
	other = event(1, 2);
	assert_int_equal(take(list, &other, START, &again), EVENTLIST_NEW);
	assert_string_not_equal(again.name, item.name);
	eventlist_created(list, again.id, true);
	other = event(1, 3);
	assert_int_equal(take(list, &other, START + SECOND, NULL), EVENTLIST_AGAIN);
	assert_non_null(eventlist_next(list, START + MINUTE));
	eventlist_written(list, again.id, false, true);
	other = event(1, 4);
	assert_int_equal(take(list, &other, START + MINUTE, &item), EVENTLIST_NEW);
	eventlist_created(list, item.id, true);
	other = event(1, 5);
	assert_int_equal(take(list, &other, START + MINUTE + EVENTLIST_FORGET_NS, NULL),
			 EVENTLIST_AGAIN);
	other = event(1, 6);
	assert_int_equal(take(list, &other, START + MINUTE + 2 * EVENTLIST_FORGET_NS + 1, NULL),
			 EVENTLIST_NEW);
}

/* Old ones make way, and what comes of them later is ignored. */
static void test_full(void **state)
{
	_list_ struct eventlist *list = new_list();
	struct event first = event(0, 1), e;
	struct eventlist_item item = {};

	assert_int_equal(take(list, &first, START, &item), EVENTLIST_NEW);
	for (unsigned int i = 1; i <= EVENTLIST_MAX; i++) {
		e = event(i, 1);
		assert_int_equal(take(list, &e, START + i * SECOND, NULL), EVENTLIST_NEW);
	}
	eventlist_created(list, item.id, true);
	eventlist_written(list, item.id, true, true);
	first = event(0, 2);
	assert_int_equal(take(list, &first, START + 600 * SECOND, NULL), EVENTLIST_NEW);
}

/* Objects' names are DNS-1123 subdomains, however a pod's name ends where it is cut. */
static void test_object_names(void **state)
{
	for (int dash = 0; dash < 40; dash++) {
		_list_ struct eventlist *list = new_list();
		struct event e = event(1, 1);
		struct eventlist_item item = {};
		size_t len;

		memset(e.name, 'a', 253);
		e.name[253] = '\0';
		memset(e.name + 215, dash % 2 ? '-' : '.', (size_t)(dash < 37 ? dash : 37));
		assert_int_equal(take(list, &e, START, &item), EVENTLIST_NEW);
		len = strlen(item.name);
		assert_in_range(len, 200, 253);
		assert_int_equal(strspn(item.name, "abcdefghijklmnopqrstuvwxyz0123456789-."), len);
		assert_int_equal(item.name[len - 17], '.');
		assert_int_equal(item.name[len - 18], 'a');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("10,000 stops a minute make one write a second, after a burst of 20",
		      test_flood),
		CLAIM("a burst comes back after a while, without the node's own", test_burst),
		CLAIM("what happens again is counted in its series, once a minute", test_series),
		CLAIM("only what is the same is one Event", test_apart),
		CLAIM("the oldest Event makes way", test_full),
		CLAIM("the object has a valid name", test_object_names),
	};

	return cmocka_run_group_tests_name("core/events/list", tests, NULL, NULL);
}
