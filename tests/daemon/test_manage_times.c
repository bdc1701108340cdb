// SPDX-License-Identifier: Apache-2.0
/* Claims about when a shutdown that the daemon drives began and ended: its state file and metrics. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/run.h"
#include "lib/shutdown/shutscene.h"
#include "wire/kubernetes/kubelet_files.h"

#define START "graced_shutdown_start_time_seconds"
#define END   "graced_shutdown_end_time_seconds"

static const char *const by_hand[] = {"--shutdown.control", NULL};

static void control(const struct shutscene *s, const char *option)
{
	char socket[128];
	const char *const args[] = {"shutdown", option, "--control.socket", socket, NULL};
	struct run_result result;

	snprintf(socket, sizeof(socket), "%s/control.sock", s->state);
	assert_int_equal(run(&(struct run_spec){.exe = getenv("GRACED"), .args = args}, &result),
			 0);
	if (result.status != 0)
		fail_msg("%s: %s", option, result.err);
	run_done(&result);
}

static struct shutstate read_state(const char *dir, const char *name)
{
	_cleanup_(cleanup_free) char *text = NULL;
	struct shutstate state;
	char path[160];
	ssize_t size;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	size = fd_read_all(AT_FDCWD, path, SHUTSTATE_MAX_SIZE, &text);
	assert_true(size > 0);
	assert_int_equal(shutstate_read(text, (size_t)size, &state), 0);
	return state;
}

static double now_s(void)
{
	return (double)(clock_wall_ns() / NS_PER_S);
}

static double await_time(struct shutscene *s, const char *metric, double from)
{
	double is = service_await_metric(s->service, metric, NULL, from);

	assert_true(is >= from);
	return is;
}

/* What the file has when logind sees that the lock is released is copied to "seen". */
static void copy_when_released(struct shutscene *s)
{
	char python[512];

	snprintf(python, sizeof(python),
		 "global when_released\n"
		 "def when_released():\n"
		 "  with open('%s/" SHUTSTATE_FILE "') as f, open('%s/seen', 'w') as to:\n"
		 "    to.write(f.read())\n",
		 s->state, s->mock.dir);
	logindmock_run(&s->mock, python);
}

static void the_end_is_stored_before_the_lock_is_released(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "manage"});
	struct shutstate seen, left;
	double began = now_s();
	char path[160];
	struct box box;

	shutscene_box_of(s, "web", &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	shutscene_await_locks(s, 2);
	shutscene_await_metric(s, "graced_shutdown_inhibitor_held", NULL, 1);
	/* So that no copy of the lock is on its way to systemd. */
	service_notifications(s->service);
	copy_when_released(s);
	logindmock_announce(&s->mock, true, "poweroff");
	await_time(s, START, began);
	shutscene_await_locks(s, 1);
	snprintf(path, sizeof(path), "%s/seen", s->mock.dir);
	seen = read_state(s->mock.dir, "seen");
	assert_int_equal(unlink(path), 0);
	assert_true(seen.started && seen.ended && seen.end_wall_ns >= seen.start_wall_ns);
	left = read_state(s->state, SHUTSTATE_FILE);
	assert_memory_equal(&left, &seen, sizeof(left));
	assert_true(await_time(s, END, began) >= (double)(seen.end_wall_ns / NS_PER_S));
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void restart(struct shutscene *s, bool without_logind)
{
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	if (without_logind)
		logindmock_kill(&s->mock);
	shutscene_start(s, "manage");
}

static void one_without_a_lock_is_stored_as_well(void **state)
{
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = by_hand});
	struct shutstate left;
	double began = now_s(), end;
	struct box box;

	restart(s, true);
	shutscene_box(s, "deaf", &box);
	control(s, "--begin");
	await_time(s, START, began);
	shutscene_await_metric(s, END, NULL, 0);
	assert_false(read_state(s->state, SHUTSTATE_FILE).ended);
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'released','reason':'all-stopped',"
		   "'lock_held':false}"));
	end = await_time(s, END, began);
	left = read_state(s->state, SHUTSTATE_FILE);
	assert_true(left.ended && (double)(left.end_wall_ns / NS_PER_S) >= end);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void the_next_process_loads_both_and_a_cancelled_one_has_its_end(void **state)
{
	struct shutscene *s =
		shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = by_hand});
	double began = now_s(), start, end;
	struct box box;

	shutscene_box(s, "deaf", &box);
	shutscene_await_locks(s, 2);
	control(s, "--begin");
	start = await_time(s, START, began);
	control(s, "--cancel");
	end = await_time(s, END, began);
	restart(s, false);
	shutscene_await_metric(s, START, NULL, start);
	shutscene_await_metric(s, END, NULL, end);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("the end is stored before the lock is released",
				the_end_is_stored_before_the_lock_is_released),
		SHUTSCENE_CLAIM("the end of one without a lock is stored as well",
				one_without_a_lock_is_stored_as_well),
		SHUTSCENE_CLAIM("the next process loads both, and one that is cancelled has its end",
				the_next_process_loads_both_and_a_cancelled_one_has_its_end),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
