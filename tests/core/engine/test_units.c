// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what systemd's word does to the stop of a service. */
#include "core/engine/engine.h"

#include "lib/claim.h"
#include "lib/engine/world.h"

#define CG_USERS 90
#define SIGQUIT	 3

/* A user may call a unit of their own as the host's is called. */
static void test_users_unit(void **state)
{
	const struct engine_config services = {.scope = SCOPE_SERVICES,
					       .sources = 1u << META_SYSTEMD};
	const struct obs ssh = {
		.type = OBS_CONTAINER,
		.at_ns = SEC(11),
		.container = {.source = META_SYSTEMD,
			      .unit = "ssh.service",
			      .name = "ssh.service",
			      .stop_signal = SIGQUIT,
			      .known = META_CTR_GRACE,
			      .grace_ns = SEC(5)},
	};
	struct world w;

	world_open(&w, &services);
	world_found(&w, SEC(10), CG_USERS,
		    "/user.slice/user-1.slice/user@1.service/app.slice/ssh.service");
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
	world_tell(&w, &ssh);
	assert_int_equal(world_effects(&w, EFFECT_SET_STOP), 1);
	assert_int_equal(world_effect(&w, EFFECT_SET_STOP)->id, CG_SSHD);
	world_init(&w, SEC(12), CG_USERS, &P_A1);
	world_exit(&w, SEC(21), CG_USERS, &P_A1, EXIT(0));
	world_empty(&w, SEC(21) + 1000, CG_USERS);
	assert_string_equal(world_stop(&w)->container.name, "ssh.service");
	assert_int_equal(world_stop(&w)->grace.from, GRACE_UNKNOWN);
	world_close(&w);
}

/* A service whose first process leaves another one as the main one. */
static const struct graced_proc first = {.pid = 5000,
					 .ns_pid = 5000,
					 .start_ns = SEC(10) + 1234567,
					 .cgroup_id = CG_SSHD,
					 .watch_id = CG_SSHD,
					 .comm = "starter"};
static const struct graced_proc second = {.pid = 5001,
					  .ns_pid = 5001,
					  .start_ns = SEC(10) + 18062878,
					  .cgroup_id = CG_SSHD,
					  .watch_id = CG_SSHD,
					  .comm = "server"};

static void open_services(struct world *w)
{
	world_open(w, &(struct engine_config){.scope = SCOPE_SERVICES});
}

/* As a look-up finds it: /proc knows the tick alone. */
static void report_main(struct world *w, uint64_t at, const struct graced_proc *proc)
{
	struct graced_proc found = *proc;

	found.start_ns -= found.start_ns % MSEC(10);
	world_ranked(w, at, CG_SSHD, &found, GRACED_INIT_PID1);
}

static void answer(struct world *w, uint64_t at)
{
	world_tell(w, &(struct obs){.type = OBS_NAMES, .at_ns = at, .names = {.id = CG_SSHD}});
}

static void expect_end_of_second(struct world *w)
{
	assert_int_equal(world_count(w, RECORD_STOP), 0);
	world_from(w, SEC(20), CG_SSHD, &second, 15, &P_SYSTEMD);
	world_exit(w, SEC(21), CG_SSHD, &second, EXIT(0));
	world_empty(w, SEC(21) + 1000, CG_SSHD);
	answer(w, SEC(21) + 2000);
	assert_verdict(w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	assert_int_equal(world_stop(w)->process.pid, second.pid);
	assert_string_equal(world_stop(w)->id, WORLD_BOOT "/ssh.service/10018062878");
	world_close(w);
}

/* What systemd says comes another way than what the kernel recorded, and may be there first. */
static void test_word_overtakes_exit(void **state)
{
	/* The kernel half may have looked up whose exit it is just before it got the new one. */
	const uint64_t exits[] = {SEC(10) + MSEC(29), SEC(10) + MSEC(30) + 1};

	for (size_t i = 0; i < 2; i++) {
		struct world w;

		open_services(&w);
		world_ranked(&w, SEC(10) + MSEC(2), CG_SSHD, &first, GRACED_INIT_FIRST);
		report_main(&w, SEC(10) + MSEC(30), &second);
		world_from(&w, exits[i] - 2, CG_SSHD, &first, 1, &P_SHELL);
		world_exit(&w, exits[i], CG_SSHD, &first, EXIT(0));
		expect_end_of_second(&w);
	}
}

static void test_word_overtakes_life(void **state)
{
	struct world w;

	open_services(&w);
	report_main(&w, SEC(10) + MSEC(30), &second);
	world_ranked(&w, SEC(10) + MSEC(2), CG_SSHD, &first, GRACED_INIT_FIRST);
	world_exit(&w, SEC(10) + MSEC(29), CG_SSHD, &first, EXIT(0));
	expect_end_of_second(&w);
	/* Its exec's record was lost. */
	open_services(&w);
	report_main(&w, SEC(10) + MSEC(30), &second);
	world_exit(&w, SEC(10) + MSEC(29), CG_SSHD, &first, EXIT(0));
	expect_end_of_second(&w);
}

static void test_word_after_exit(void **state)
{
	struct world w;

	open_services(&w);
	world_ranked(&w, SEC(10) + MSEC(2), CG_SSHD, &first, GRACED_INIT_FIRST);
	world_exit(&w, SEC(10) + MSEC(29), CG_SSHD, &first, EXIT(0));
	report_main(&w, SEC(10) + MSEC(30), &second);
	expect_end_of_second(&w);
}

static const struct graced_counts left = {.exits = 1};

static void open_asking(struct world *w)
{
	world_open(w,
		   &(struct engine_config){.scope = SCOPE_SERVICES, .sources = 1u << META_SYSTEMD});
	world_ranked(w, SEC(10) + MSEC(2), CG_SSHD, &first, GRACED_INIT_FIRST);
	world_exit(w, SEC(10) + MSEC(29), CG_SSHD, &first, EXIT(0));
}

/* On a busy node the daemon may come to an exit long after it was. */
static void test_word_after_exit_read_late(void **state)
{
	struct world w;

	open_asking(&w);
	world_timer(&w, SEC(10) + MSEC(400));
	assert_non_null(world_effect(&w, EFFECT_READ_COUNTS));
	world_counts(&w, SEC(10) + MSEC(400), CG_SSHD, true, &left);
	report_main(&w, SEC(10) + MSEC(409), &second);
	answer(&w, SEC(10) + MSEC(410));
	world_timer(&w, SEC(10) + MSEC(650));
	expect_end_of_second(&w);
}

static void test_no_word(void **state)
{
	struct world w;

	open_asking(&w);
	world_timer(&w, SEC(10) + MSEC(279));
	world_counts(&w, SEC(10) + MSEC(279), CG_SSHD, true, &left);
	world_timer(&w, SEC(10) + MSEC(528));
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_timer(&w, SEC(10) + MSEC(529));
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY) | GAP(NAME_LATE));
	world_close(&w);
	/* Nobody is left, or nobody was asked: there is no word to wait for. */
	open_asking(&w);
	world_timer(&w, SEC(10) + MSEC(279));
	world_counts(&w, SEC(10) + MSEC(279), CG_SSHD, true, &left);
	world_empty(&w, SEC(10) + MSEC(300), CG_SSHD);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NAME_LATE));
	world_close(&w);
	open_services(&w);
	world_ranked(&w, SEC(10) + MSEC(2), CG_SSHD, &first, GRACED_INIT_FIRST);
	world_exit(&w, SEC(10) + MSEC(29), CG_SSHD, &first, EXIT(0));
	world_timer(&w, SEC(10) + MSEC(279));
	world_counts(&w, SEC(10) + MSEC(279), CG_SSHD, true, &left);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, GAP(NOT_EMPTY));
	world_close(&w);
}

/* The new life began in the very tick in which the old one had ended. */
static void test_restart_within_a_tick(void **state)
{
	struct world w;

	open_services(&w);
	world_ranked(&w, SEC(10) + MSEC(2), CG_SSHD, &first, GRACED_INIT_FIRST);
	world_tell(&w, &(struct obs){.type = OBS_EXIT,
				     .at_ns = SEC(10) + MSEC(16),
				     .exit = {.id = CG_SSHD,
					      .flags = GRACED_EXIT_INIT | GRACED_EXIT_NS_OTHERS,
					      .proc = first}});
	world_empty(&w, SEC(10) + MSEC(17), CG_SSHD);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	report_main(&w, SEC(10) + MSEC(30), &second);
	assert_verdict(&w, OUTCOME_COMPLETED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->process.pid, first.pid);
	world_clear(&w);
	expect_end_of_second(&w);
}

/* Its exit has no record, but a signal to it had one. */
static void test_start_is_the_kernels(void **state)
{
	const struct graced_counts lost = {.exits = 1, .lost = 1};
	struct world w;

	open_services(&w);
	report_main(&w, SEC(10) + MSEC(30), &second);
	world_from(&w, SEC(20), CG_SSHD, &second, 15, &P_SYSTEMD);
	/* What was known exactly is not known less by another look. */
	report_main(&w, SEC(20) + 1, &second);
	world_gone(&w, SEC(21), CG_SSHD, &lost);
	assert_int_equal(world_stop(&w)->process.start_ns, second.start_ns);
	assert_string_equal(world_stop(&w)->id, WORLD_BOOT "/ssh.service/10018062878");
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a user's unit is not the host's of the same name", test_users_unit),
		CLAIM("who hands a service over ends late, and ends nothing",
		      test_word_overtakes_exit),
		CLAIM("a main process gives way to no record of one before it",
		      test_word_overtakes_life),
		CLAIM("a first process that left was not the service, once systemd names another",
		      test_word_after_exit),
		CLAIM("systemd is heard about who is left, however late the exit was read",
		      test_word_after_exit_read_late),
		CLAIM("a verdict waits for systemd's word a bounded time, and only while some are left",
		      test_no_word),
		CLAIM("a service that restarts within a tick loses neither life",
		      test_restart_within_a_tick),
		CLAIM("when a process started is the kernel's to say, where it does",
		      test_start_is_the_kernels),
	};

	return cmocka_run_group_tests_name("core/engine: units", tests, NULL, NULL);
}
