// SPDX-License-Identifier: Apache-2.0
/* Claims about graced_unheard_stops_total: stops of real containers, by why they took no notice. */
#include <signal.h>
#include <stdio.h>

#include "base/buf.h"
#include "core/stop/unheard.h"
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"

#define METRIC "graced_unheard_stops_total"

static struct box_tree tree;

static int setup(void **state)
{
	int r = tracer_open_tree("unheardstops", NULL, &tree);

	*state = r > 0 ? &tree : NULL;
	return r < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	return *state ? box_tree_close(*state) : 0;
}

static double count_of(const struct service *service, enum unheard reason)
{
	char label[64];

	snprintf(label, sizeof(label), "reason=\"%s\"", unheard_name(reason));
	return service_metric(service, METRIC, label);
}

static void stop_one(const char *behaviour)
{
	struct proc_end end;
	struct sent sent;
	struct box box;

	assert_int_equal(
		box_start(&tree, &(struct box_spec){.argv = BOX_ARGV(behaviour, "0")}, &box), 0);
	assert_int_equal(send_signal(&tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent), 0);
	send_signal(&tree, SEND_RUNTIME, NULL, box.init_pid, SIGKILL, &sent);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
}

static void test_counted(void **state)
{
	static const struct {
		const char *behaviour;
		enum unheard reason;
	} rows[] = {
		{"deaf", UNHEARD_NO_HANDLER},
		{"sigign", UNHEARD_IGNORED},
		{"deaf", UNHEARD_NO_HANDLER},
	};
	unsigned int expected[UNHEARD_COUNT] = {};
	struct service *service = NULL;

	if (!*state)
		skip();
	assert_int_equal(service_start(&(struct service_spec){.tree = &tree}, &service), 0);
	/* All are there before anything has stopped. */
	for (int reason = UNHEARD_NONE + 1; reason < UNHEARD_COUNT; reason++)
		assert_true(count_of(service, (enum unheard)reason) == 0);
	for (size_t i = 0; i < LEN(rows); i++) {
		stop_one(rows[i].behaviour);
		expected[rows[i].reason]++;
	}
	assert_true(service_await_metric(service, "graced_container_stops_total", NULL,
					 LEN(rows)) == LEN(rows));
	for (int reason = UNHEARD_NONE + 1; reason < UNHEARD_COUNT; reason++)
		assert_true(count_of(service, (enum unheard)reason) == expected[reason]);
	assert_true(service_metric(service, "graced_inits_not_found_total", NULL) == 0);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each reason is counted from 0, as often as a container stopped so",
		      test_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
