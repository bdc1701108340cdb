// SPDX-License-Identifier: Apache-2.0
/* Claims about a container that forks while it is killed in a node's shutdown: logind is
 * python-dbusmock's on a bus of the test's own. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/shutdown/shutscene.h"

#define FORKS	   300
#define FORKS_TEXT "300"

static unsigned int count(const struct box *box)
{
	return (unsigned int)cg_pids(box->dir, NULL, 0);
}

static void await_crowd(const struct box *box)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;

	while (count(box) < FORKS) {
		assert_true(clock_boot_ns() < until);
		usleep(1000);
	}
}

/* The page is had all the time; how often. */
static unsigned int ask_until_empty(const struct shutscene *s, const struct box *box)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;
	unsigned int n = 0;

	while (count(box)) {
		_cleanup_(buf_free) struct buf page = {};

		assert_true(clock_boot_ns() < until);
		assert_int_equal(service_get(s->service, "/healthz", NULL, &page), 200);
		n++;
	}
	return n;
}

static void forks_are_killed_to_the_last(void **state)
{
	const struct box_spec spec = {
		.prog = "forker", .argv = BOX_ARGV(FORKS_TEXT), .host_pidns = true};
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist"});
	unsigned int answers;
	struct sent sent;
	struct box box;

	shutscene_box_of(s, "forker", &spec, &box);
	await_crowd(&box);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	answers = ask_until_empty(s, &box);
	print_message("# /healthz answered %u times\n", answers);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'container-killed',"
					      "'pod':{'name':'forker'}}"));
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'released'}"));
	shutscene_await_locks(s, 0);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("an overdue container that forks is killed to the last process",
				forks_are_killed_to_the_last),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
