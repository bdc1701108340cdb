// SPDX-License-Identifier: Apache-2.0
// The daemon drives a shutdown of the node itself, where no runtime can be asked.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
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

/* How many records have this text. */
static int count(const struct shutscene *s, const char *text)
{
	FILE *file = fopen(s->records, "re");
	_cleanup_(cleanup_free) char *line = NULL;
	size_t size = 0;
	int n = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) >= 0)
		n += strstr(line, text) != NULL;
	fclose(file);
	return n;
}

/* Groups of 8 and 2 s; the checkpoint of the first process has the stop signal. */
static void the_next_process_keeps_the_deadline(void **state)
{
	struct shutscene *s = shutscene_begin(
		state, &(struct shutscene_spec){.mode = "manage",
						.kubelet = SHUTSCENE_KUBELET
						"shutdownGracePeriod: 10s\n"
						"shutdownGracePeriodCriticalPods: 2s\n"});
	json_int_t asked_ns, killed_ns;
	uint64_t restart_ns;
	struct box deaf;
	json_t *rec;

	shutscene_box(s, "deaf", &deaf);
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'group-started'}"));
	sleep(2);
	restart_ns = clock_boot_ns();
	assert_int_equal(kill(service_pid(s->service), SIGKILL), 0);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	shutscene_start(s, "manage");
	await_end(&deaf, SIGKILL);
	rec = shutscene_await_record(s, "{'type':'shutdown','event':'container-killed',"
					"'pod':{'name':'deaf'}}");
	killed_ns = jrec_int(rec, "boot_ns", 0);
	json_decref(rec);
	rec = shutscene_await_record(s, "{'type':'stop','pod':{'name':'deaf'}}");
	asked_ns = jrec_int(json_object_get(rec, "stop_signal"), "at_boot_ns", 0);
	json_decref(rec);
	assert_true(asked_ns && asked_ns < (json_int_t)restart_ns);
	assert_true(killed_ns - asked_ns >= 7500000000);
	assert_int_equal(count(s, "\"event\":\"group-started\""), 1);
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
		SHUTSCENE_CLAIM("one that is killed is followed by one that keeps its deadlines",
				the_next_process_keeps_the_deadline),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
