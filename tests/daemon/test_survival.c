// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about a daemon that is killed or restarted while containers stop: nothing is missing,
 * nothing is reported in two ways, and what went unseen is marked so.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "lib/box/box.h"
#include "lib/box/fleet.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/restarts.h"
#include "lib/jrec.h"
#include "lib/patience.h"

#define CONTAINERS 200
#define KILLS	   20
#define WITHIN_MS  14000 /* all of them are stopped */
#define CALM_MS	   1500	 /* before the first kill */
#define LIFE_MS	   1300	 /* of a daemon at most, its start included */

static uint64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

/* Kills daemon after daemon while the fleet goes down. */
static void ride(struct restarts *stage, struct fleet *fleet)
{
	uint64_t begin = now_ms(), kill_at = begin + CALM_MS;
	unsigned int kills = 0;

	while (kills < KILLS || fleet->removed < fleet->n) {
		assert_int_equal(fleet_step(fleet, now_ms() - begin), 0);
		if (kills < KILLS && now_ms() >= kill_at) {
			restarts_end_by(stage, SIGKILL);
			restarts_start(stage, false);
			kill_at = now_ms() + box_tree_random(&stage->tree) % LIFE_MS;
			kills++;
		}
		usleep(1000);
	}
}

static size_t await_records(struct restarts *stage, struct fleet *fleet)
{
	uint64_t until = now_ms() + PATIENCE_MS;
	size_t n;

	while ((n = fleet_read(fleet, stage->file)) < fleet->n && now_ms() < until)
		usleep(100000);
	return n;
}

static uint64_t choose_seed(void)
{
	const char *given = getenv("GRACED_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : clock_wall_ns();

	print_message("# seed %#llx\n", (unsigned long long)seed);
	return seed;
}

static void twenty_kills(void **state)
{
	struct restarts *stage = *state;
	struct fleet fleet;

	if (!stage)
		skip();
	stage->tree.seed = choose_seed();
	restarts_start(stage, true);
	assert_int_equal(fleet_start(&stage->tree, CONTAINERS, WITHIN_MS, &fleet), 0);
	/* The last of them is known to it. */
	assert_true(service_await_metric(stage->service, "graced_known_pods", NULL, CONTAINERS) >=
		    CONTAINERS);
	usleep(200000);
	ride(stage, &fleet);
	await_records(stage, &fleet);
	restarts_end_by(stage, SIGTERM);
	fleet_read(&fleet, stage->file);
	fleet_check(&fleet);
	print_message("# %u complete, %u partial, %u repeated\n", fleet.complete, fleet.partial,
		      fleet.repeated);
	assert_int_equal(fleet.complete + fleet.partial, CONTAINERS);
	assert_true(fleet.complete > 0);
	fleet_done(&fleet);
}

static json_t *stop_of(struct restarts *stage, const struct box *box)
{
	FILE *in = fopen(stage->file, "re");
	json_t *found = NULL;
	char *line = NULL;
	size_t size = 0;

	while (in && !found && getline(&line, &size, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		if (strcmp(jrec_text(record, "type"), "stop") == 0 &&
		    strcmp(jrec_text(record, "container.id"), box->id) == 0)
			found = json_incref(record);
		json_decref(record);
	}
	free(line);
	if (in)
		fclose(in);
	return found;
}

static json_t *await_stop(struct restarts *stage, const struct box *box)
{
	uint64_t until = now_ms() + PATIENCE_MS;
	json_t *record;

	while (!(record = stop_of(stage, box)) && now_ms() < until)
		usleep(50000);
	assert_non_null(record);
	return record;
}

/* The request is in the checkpoint. */
static void await_kept(struct restarts *stage, uint32_t sender)
{
	uint64_t until = now_ms() + PATIENCE_MS;
	bool found = false;
	char pid[32];

	snprintf(pid, sizeof(pid), "\"pid\":%u,", sender);
	while (!found && now_ms() < until) {
		FILE *in = fopen(stage->checkpoint, "re");
		char *line = NULL;
		size_t size = 0;

		while (in && !found && getline(&line, &size, in) > 0)
			found = strstr(line, "\"kept_signal\"") && strstr(line, pid);
		free(line);
		if (in)
			fclose(in);
		if (!found)
			usleep(50000);
	}
	assert_true(found);
}

/* A request before a restart, the kill that follows after it. */
static void request_survives(struct restarts *stage, int sig)
{
	struct proc_end end;
	struct sent sent;
	json_t *record;
	struct box box;
	int64_t at;

	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box), 0);
	restarts_start(stage, true);
	assert_int_equal(
		send_signal(&stage->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent), 0);
	await_kept(stage, (uint32_t)sent.sender);
	restarts_end_by(stage, sig);
	restarts_start(stage, true);
	assert_int_equal(kill(box.init_pid, SIGKILL), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
	record = await_stop(stage, &box);
	at = jrec_int(record, "stop_signal.at_boot_ns", 0);
	assert_in_range(at, sent.before_ns, sent.after_ns);
	assert_string_equal(jrec_text(record, "stop_signal.sender.comm"), sent.comm);
	assert_string_equal(jrec_text(record, "stop_signal.sender.kind"), "runtime");
	assert_int_equal(jrec_int(record, "stop_signal.sender.pid", 0), sent.sender);
	assert_int_equal(jrec_int(record, "exit.signal", 0), SIGKILL);
	assert_true(json_is_true(jrec_get(record, "deaf")));
	json_decref(record);
	restarts_end_by(stage, SIGTERM);
}

static void request_before_restart(void **state)
{
	struct restarts *stage = *state;

	if (!stage)
		skip();
	request_survives(stage, SIGTERM);
	unlink(stage->file);
	request_survives(stage, SIGKILL);
}

static unsigned int count_records(struct restarts *stage, const struct box *box)
{
	FILE *in = fopen(stage->file, "re");
	unsigned int n = 0;
	char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0)
		n += strstr(line, box->uid) != NULL;
	free(line);
	if (in)
		fclose(in);
	return n;
}

static void restarts_tell_nothing(void **state)
{
	struct restarts *stage = *state;
	unsigned int before;
	struct box box;

	if (!stage)
		skip();
	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	restarts_start(stage, true);
	usleep(700000);
	before = count_records(stage, &box);
	for (int i = 0; i < 4; i++) {
		restarts_end_by(stage, i % 2 ? SIGKILL : SIGTERM);
		assert_int_equal(count_records(stage, &box), before);
		restarts_start(stage, true);
		usleep(700000);
		assert_int_equal(count_records(stage, &box), before);
	}
	assert_int_equal(box_remove(&box), 0);
	restarts_end_by(stage, SIGTERM);
}

/* The container's init is not PID 1, and its program has a runtime's name. */
static void a_name_ends_no_life(void **state)
{
	const struct box_spec spec = {
		.as = "runc-app", .argv = BOX_ARGV("graceful"), .host_pidns = true};
	struct restarts *stage = *state;
	struct proc_end end;
	json_t *record;
	struct box box;

	if (!stage)
		skip();
	restarts_start(stage, true);
	assert_int_equal(box_start(&stage->tree, &spec, &box), 0);
	for (int i = 0; i < 2; i++) {
		usleep(700000);
		restarts_end_by(stage, i ? SIGKILL : SIGTERM);
		restarts_start(stage, true);
	}
	usleep(700000);
	assert_null(stop_of(stage, &box));
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
	record = await_stop(stage, &box);
	assert_string_equal(jrec_text(record, "outcome"), "graceful");
	assert_int_equal(jrec_int(record, "process.pid", 0), box.init_pid);
	json_decref(record);
	restarts_end_by(stage, SIGTERM);
}

#define SURVIVES(sentence, function)                           \
	{                                                      \
		sentence, function, NULL, restarts_clear, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SURVIVES("killed 20 times while 200 containers stop, it tells each stop in one way",
			 twenty_kills),
		SURVIVES("a stop that was asked for before a restart keeps who asked and when",
			 request_before_restart),
		SURVIVES("restarts without a change tell nothing", restarts_tell_nothing),
		SURVIVES("a container whose program has a runtime's name lives through restarts",
			 a_name_ends_no_life),
	};

	return cmocka_run_group_tests_name("survival", tests, restarts_setup, restarts_teardown);
}
