// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what each scope tells, and what only it does. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

static void open_scope(struct world *w, enum engine_scope scope)
{
	const struct engine_config config = {.scope = scope};

	world_open(w, &config);
}

/* Asked, and gone. */
static void stops(struct world *w, uint64_t id, const struct graced_proc *proc)
{
	world_init(w, SEC(10), id, proc);
	world_managed(w, SEC(20), id, proc, 15);
	world_exit(w, SEC(21), id, proc, EXIT(0));
	world_empty(w, SEC(22), id);
}

static void test_scopes(void **state)
{
	static const struct {
		enum engine_scope scope;
		size_t pod, container, service; /* records of each kind */
	} want[] = {
		{SCOPE_PODS, 1, 0, 0},
		{SCOPE_CONTAINERS, 1, 1, 0},
		{SCOPE_SERVICES, 1, 1, 1},
		{SCOPE_ALL, 1, 1, 1},
	};
	static const enum record_type types[] = {RECORD_SIGNAL, RECORD_STOP, RECORD_OOM};

	for (size_t i = 0; i < LEN(want); i++) {
		const uint64_t ids[] = {CG_A1, CG_D1, CG_SSHD};
		const struct graced_proc *const procs[] = {&P_A1, &P_D1, &P_SSHD};
		const size_t counts[] = {want[i].pod, want[i].container, want[i].service};

		for (size_t k = 0; k < LEN(ids); k++) {
			struct world w;

			open_scope(&w, want[i].scope);
			stops(&w, ids[k], procs[k]);
			world_tell(&w, &(struct obs){.type = OBS_OOM,
						     .at_ns = SEC(30),
						     .oom = {.id = ids[k], .victim = *procs[k]}});
			for (size_t t = 0; t < LEN(types); t++)
				assert_int_equal(world_count(&w, types[t]), counts[k]);
			world_close(&w);
		}
	}
}

static void test_services(void **state)
{
	const struct record_stop *s;
	struct world w;

	open_scope(&w, SCOPE_SERVICES);
	world_init(&w, SEC(10), CG_SSHD, &P_SSHD);
	world_from(&w, SEC(20), CG_SSHD, &P_SSHD, 15, &P_SYSTEMD);
	/* A unit that sends is no container either. */
	world_from(&w, SEC(20) + 1, CG_SSHD, &P_SSHD, 15, &P_KUBELET);
	assert_false(world_record(&w, RECORD_SIGNAL, 1)->signal.sender.container.known);
	world_exit(&w, SEC(21), CG_SSHD, &P_SSHD, 15);
	world_empty(&w, SEC(21) + 1, CG_SSHD);
	assert_verdict(&w, OUTCOME_TERMINATED, CAUSE_STOP_SIGNAL, 0);
	s = world_stop(&w);
	assert_int_equal(s->container.kind, CONTAINER_KIND_SERVICE);
	assert_string_equal(s->container.name, "ssh.service");
	assert_string_equal(s->container.cgroup, "/system.slice/ssh.service");
	assert_null(s->container.id);
	assert_false(s->pod.known);
	assert_string_equal(s->id, WORLD_BOOT "/ssh.service/2000000500");
	/* It was there for no name: services name themselves. */
	assert_int_equal(world_effects(&w, EFFECT_FIND_NAMES), 0);
	world_close(&w);
}

/* A restart: the same cgroup, entered again before anybody was done with the first life. */
static void test_service_restarts(void **state)
{
	struct graced_proc second = P_SSHD;
	struct world w;

	second.pid = 5000;
	second.start_ns = SEC(21);
	open_scope(&w, SCOPE_SERVICES);
	world_init(&w, SEC(10), CG_SSHD, &P_SSHD);
	world_from(&w, SEC(20), CG_SSHD, &P_SSHD, 9, &P_SYSTEMD);
	world_exit(&w, SEC(20) + 1, CG_SSHD, &P_SSHD, 9);
	world_init(&w, SEC(21), CG_SSHD, &second);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	world_clear(&w);
	world_exit(&w, SEC(30), CG_SSHD, &second, EXIT(1));
	world_empty(&w, SEC(30) + 1, CG_SSHD);
	assert_verdict(&w, OUTCOME_FAILED, CAUSE_SELF, 0);
	assert_int_equal(world_stop(&w)->process.pid, 5000);
	world_close(&w);
}

static void process_exit(struct world *w, uint64_t at, const struct graced_proc *proc,
			 uint32_t status, uint32_t flags)
{
	const struct obs obs = {
		.type = OBS_EXIT,
		.at_ns = at,
		.exit = {.id = proc->watch_id, .status = status, .flags = flags, .proc = *proc},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

static void shot_process(struct world *w, uint64_t at, const struct graced_proc *to, uint32_t sig,
			 const struct graced_proc *from)
{
	world_shot(w, at, to->watch_id,
		   &(struct shot){.sig = sig, .from = from, .to = to, .not_init = true});
}

static void test_all(void **state)
{
	static const struct {
		const char *what;
		const struct graced_proc *to, *from; /* from NULL: no signal was seen */
		uint32_t sig, status;
		enum outcome outcome;
		enum cause cause;
		uint32_t gaps;
	} want[] = {
		{"a shell's child, by the shell", &P_SSHD, &P_SHELL, 9, 9, OUTCOME_KILLED,
		 CAUSE_HOST, 0},
		{"by a manager", &P_SHELL, &P_SYSTEMD, 9, 9, OUTCOME_KILLED, CAUSE_NO_GRACE, 0},
		{"by a container", &P_SHELL, &P_B1, 9, 9, OUTCOME_KILLED, CAUSE_OTHER_POD, 0},
		{"in its container", &P_A1_CHILD, &P_A1, 9, 9, OUTCOME_KILLED, CAUSE_SAME_CONTAINER,
		 0},
		{"of a stop signal", &P_SHELL, &P_SSHD, 15, 15, OUTCOME_TERMINATED,
		 CAUSE_STOP_SIGNAL, 0},
		{"of its own fault", &P_SHELL, &P_SHELL, 11, 11 | CORE_BIT, OUTCOME_CRASHED,
		 CAUSE_SELF, 0},
		{"of nobody's kill", &P_SHELL, NULL, 0, 9, OUTCOME_KILLED, CAUSE_UNKNOWN,
		 GAP(KILL_UNSEEN)},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct record_stop *s;
		struct world w;

		open_scope(&w, SCOPE_ALL);
		if (want[i].from)
			shot_process(&w, SEC(20), want[i].to, want[i].sig, want[i].from);
		process_exit(&w, SEC(21), want[i].to, want[i].status, 0);
		s = world_stop(&w);
		if (s->outcome != want[i].outcome || s->cause != want[i].cause ||
		    s->gaps != want[i].gaps)
			fail_msg("%s: %s/%s, gaps %x", want[i].what, outcome_name(s->outcome),
				 cause_name(s->cause), s->gaps);
		assert_int_equal(s->container.kind, CONTAINER_KIND_PROCESS);
		assert_int_equal(s->process.pid, want[i].to->pid);
		assert_int_equal(s->empty_ns, SEC(21));
		world_close(&w);
	}
}

static void test_all_names_what_it_is_in(void **state)
{
	const struct obs exit = {
		.type = OBS_EXIT,
		.at_ns = SEC(21),
		.exit = {.id = CG_A1,
			 .status = 31,
			 .proc = P_A1_CHILD,
			 .counts = {.exits = 7, .oom_kills = 5, .collateral = 3}},
	};
	const struct record_stop *s;
	struct world w;

	open_scope(&w, SCOPE_ALL);
	shot_process(&w, SEC(20), &P_A1_CHILD, 15, &P_B1);
	assert_false(world_record(&w, RECORD_SIGNAL, 0)->signal.target_init);
	world_tell(&w, &exit);
	/* What is counted is its container's. */
	assert_int_equal(world_stop(&w)->oom_kills, 0);
	assert_int_equal(world_stop(&w)->collateral_kills, 0);
	s = world_stop(&w);
	assert_string_equal(s->pod.name, "web-0");
	assert_string_equal(s->container.id, WORLD_ID_A1);
	assert_string_equal(s->id, WORLD_BOOT "/4243/2000004243");
	world_clear(&w);
	process_exit(&w, SEC(22), &P_SHELL, 31, 0);
	s = world_stop(&w);
	assert_false(s->pod.known);
	assert_string_equal(s->container.cgroup, "/user.slice");
	assert_null(s->container.id);
	world_close(&w);
}

static void test_all_but_exits(void **state)
{
	struct world w;

	open_scope(&w, SCOPE_ALL);
	shot_process(&w, SEC(20), &P_SHELL, 15, &P_SSHD);
	process_exit(&w, SEC(21), &P_SHELL, EXIT(143), 0);
	process_exit(&w, SEC(21), &P_SSHD, EXIT(0), 0);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_close(&w);
	/* And in another scope not even those. */
	open_scope(&w, SCOPE_SERVICES);
	shot_process(&w, SEC(20), &P_SHELL, 9, &P_SSHD);
	process_exit(&w, SEC(21), &P_SHELL, 9, 0);
	assert_int_equal(w.n_records, 0);
	world_close(&w);
}

/* The kernel half records all of what may be a container, and takes who execs there for its init. */
static void test_all_inits_of_none(void **state)
{
	const struct record_stop *s;
	struct world w;

	open_scope(&w, SCOPE_ALL);
	world_shot(&w, SEC(20), CG_USER,
		   &(struct shot){.sig = 15, .from = &P_SSHD, .to = &P_SHELL});
	assert_false(world_record(&w, RECORD_SIGNAL, 0)->signal.target_init);
	process_exit(&w, SEC(21), &P_SHELL, 15, GRACED_EXIT_INIT);
	s = world_stop(&w);
	assert_int_equal(s->outcome, OUTCOME_TERMINATED);
	assert_int_equal(s->cause, CAUSE_STOP_SIGNAL);
	assert_int_equal(s->container.kind, CONTAINER_KIND_PROCESS);
	world_close(&w);
	open_scope(&w, SCOPE_SERVICES);
	world_shot(&w, SEC(20), CG_USER,
		   &(struct shot){.sig = 15, .from = &P_SSHD, .to = &P_SHELL});
	process_exit(&w, SEC(21), &P_SHELL, 15, GRACED_EXIT_INIT);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_close(&w);
}

static void test_all_oom(void **state)
{
	static const struct {
		uint64_t level;
		enum cause cause;
	} want[] = {{CG_A1, CAUSE_OOM_CONTAINER}, {CG_POD_A, CAUSE_OOM_POD}, {0, CAUSE_OOM_NODE}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct obs oom = {
			.type = OBS_OOM,
			.at_ns = SEC(20),
			.oom = {.id = CG_A1,
				.level_id = want[i].level,
				.flags = GRACED_OOM_LEVEL_KNOWN,
				.victim = P_A1_CHILD},
		};
		struct world w;

		open_scope(&w, SCOPE_ALL);
		world_shot(&w, SEC(20), CG_A1,
			   &(struct shot){.sig = 9,
					  .from = &P_SHELL,
					  .to = &P_A1_CHILD,
					  .flags = GRACED_SIG_INFO_PRIV,
					  .not_init = true});
		world_tell(&w, &oom);
		process_exit(&w, SEC(21), &P_A1_CHILD, 9, GRACED_EXIT_OOM_VICTIM);
		assert_verdict(&w, OUTCOME_OOM_KILLED, want[i].cause, 0);
		world_close(&w);
	}
}

/* Losses in its container since its first signal may be of its own records. */
static void test_all_lost(void **state)
{
	static const struct {
		uint32_t lost, suppressed; /* when it exits; 4 of each at its signal */
		uint32_t gaps;
	} want[] = {{4, 4, 0}, {5, 4, GAP(EVENTS_LOST)}, {4, 5, GAP(SUPPRESSED)}};

	for (size_t i = 0; i < LEN(want); i++) {
		const struct obs exit = {
			.type = OBS_EXIT,
			.at_ns = SEC(21),
			.exit = {.id = CG_A1,
				 .status = 10,
				 .proc = P_A1_CHILD,
				 .counts = {.lost = want[i].lost,
					    .suppressed = want[i].suppressed}},
		};
		struct world w;

		open_scope(&w, SCOPE_ALL);
		world_shot(&w, SEC(20), CG_A1,
			   &(struct shot){.sig = 10,
					  .from = &P_B1,
					  .to = &P_A1_CHILD,
					  .lost = 4,
					  .suppressed = 4,
					  .not_init = true});
		world_tell(&w, &exit);
		assert_verdict(&w, OUTCOME_TERMINATED, CAUSE_OTHER_POD, want[i].gaps);
		world_close(&w);
	}
}

static void test_all_pid_reuse(void **state)
{
	struct graced_proc second = P_SHELL;
	struct world w;

	second.start_ns = SEC(500);
	open_scope(&w, SCOPE_ALL);
	shot_process(&w, SEC(20), &P_SHELL, 10, &P_B1);
	process_exit(&w, SEC(501), &second, 31, 0);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_SELF, 0);
	world_close(&w);
}

static void test_all_attached_late(void **state)
{
	struct graced_proc old = P_SHELL;
	struct world w;

	old.start_ns = SEC(1) - 1;
	open_scope(&w, SCOPE_ALL);
	process_exit(&w, SEC(20), &old, 31, 0);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_UNKNOWN, GAP(ATTACHED_LATE));
	world_close(&w);
}

/* Thousands of processes survive a signal, and their ends are never reported. */
static void test_all_bounded(void **state)
{
	struct graced_proc p = P_SHELL;
	struct engine_stats stats;
	struct world w;

	open_scope(&w, SCOPE_ALL);
	for (uint32_t pid = 10000; pid < 20000; pid++) {
		p.pid = pid;
		shot_process(&w, SEC(20) + pid, &p, 10, &P_B1);
	}
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.procs_forgotten, 10000 - 4096);
	/* A new one is followed all the same. */
	world_clear(&w);
	shot_process(&w, SEC(30), &P_SSHD, 9, &P_SHELL);
	process_exit(&w, SEC(31), &P_SSHD, 9, 0);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_HOST, 0);
	/* One of the latest is still known; of one of the first the evidence is gone. */
	world_clear(&w);
	process_exit(&w, SEC(32), &p, 10, 0);
	assert_verdict(&w, OUTCOME_TERMINATED, CAUSE_OTHER_POD, 0);
	world_clear(&w);
	p.pid = 10000;
	process_exit(&w, SEC(33), &p, 10, 0);
	assert_verdict(&w, OUTCOME_CRASHED, CAUSE_UNKNOWN, GAP(EVENTS_LOST) | GAP(KILL_UNSEEN));
	world_close(&w);
}

/* Thousands die, and none of them is kept. */
static void test_all_forgets_the_dead(void **state)
{
	struct graced_proc p = P_SHELL;
	struct engine_stats stats;
	struct world w;

	open_scope(&w, SCOPE_ALL);
	for (uint32_t pid = 10000; pid < 16000; pid++) {
		p.pid = pid;
		shot_process(&w, SEC(20) + pid, &p, 9, &P_B1);
		process_exit(&w, SEC(20) + pid + 1, &p, pid % 2 ? 9 : EXIT(0), 0);
	}
	assert_int_equal(world_count(&w, RECORD_STOP), 3000);
	engine_get_stats(w.engine, &stats);
	assert_int_equal(stats.procs_forgotten, 0);
	assert_int_equal(stats.unexpected, 0);
	world_close(&w);
}

static void test_all_lapses(void **state)
{
	struct world w;

	open_scope(&w, SCOPE_ALL);
	shot_process(&w, SEC(20), &P_SHELL, 15, &P_SYSTEMD);
	shot_process(&w, SEC(620), &P_SHELL, 9, &P_SYSTEMD);
	process_exit(&w, SEC(621), &P_SHELL, 9, 0);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	world_clear(&w);
	shot_process(&w, SEC(20), &P_SSHD, 15, &P_SYSTEMD);
	process_exit(&w, SEC(620), &P_SSHD, 15, 0);
	assert_verdict(&w, OUTCOME_TERMINATED, CAUSE_HOST, 0);
	/* Not before. */
	world_clear(&w);
	shot_process(&w, SEC(20), &P_KUBELET, 15, &P_SYSTEMD);
	shot_process(&w, SEC(620) - 1, &P_KUBELET, 9, &P_SYSTEMD);
	process_exit(&w, SEC(621), &P_KUBELET, 9, 0);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_GRACE_EXPIRED, 0);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each scope tells what it says, of every kind of record", test_scopes),
		CLAIM("a service is named by its unit", test_services),
		CLAIM("a service that restarts at once loses neither life", test_service_restarts),
		CLAIM("scope all judges any process that died of a signal", test_all),
		CLAIM("a process is reported with the container or the cgroup it was in",
		      test_all_names_what_it_is_in),
		CLAIM("scope all tells no exit by code", test_all_but_exits),
		CLAIM("what was taken for an init and is none is a process",
		      test_all_inits_of_none),
		CLAIM("a process's OOM kill has its level too", test_all_oom),
		CLAIM("a process's evidence has the gaps of its container since its first signal",
		      test_all_lost),
		CLAIM("a number that is used again is another process", test_all_pid_reuse),
		CLAIM("a process that is older than the tracer has the gap",
		      test_all_attached_late),
		CLAIM("a process that died is forgotten", test_all_forgets_the_dead),
		CLAIM("a process's request lapses too", test_all_lapses),
		CLAIM("survivors of signals do not keep later ones out", test_all_bounded),
	};

	return cmocka_run_group_tests_name("core/engine: scopes", tests, NULL, NULL);
}
