// SPDX-License-Identifier: Apache-2.0
// The daemon drives a shutdown of the node itself, where no runtime can be asked.
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/claim.h"
#include "lib/shutdown/shutscene.h"

static void await_end(struct box *box, int number)
{
	struct proc_end end;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	if (number)
		assert_int_equal(WTERMSIG(end.status), number);
	else
		assert_true(WIFEXITED(end.status));
	assert_int_equal(box_remove(box), 0);
}

static void containers_are_signalled_and_killed_at_their_deadline(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "manage"});
	const struct box_spec spec = {.argv = BOX_ARGV("graceful")};
	struct box polite, deaf;

	shutscene_box_of(s, "polite", &spec, &polite);
	shutscene_box(s, "deaf", &deaf);
	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&polite, 0);
	json_decref(shutscene_await_record(s,
					   "{'type':'stop','outcome':'graceful',"
					   "'pod':{'name':'polite'},'stop_signal':{'number':15}}"));
	await_end(&deaf, SIGKILL);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'container-killed',"
					      "'pod':{'name':'deaf'}}"));
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'released',"
					      "'reason':'all-stopped'}"));
	shutscene_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("containers without a runtime get their stop signal, and SIGKILL "
				"at their deadline",
				containers_are_signalled_and_killed_at_their_deadline),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
