// SPDX-License-Identifier: Apache-2.0
/* Small plays, each about one thing. */
#include "lib/engine/relay_plays.h"

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

#define US(n) ((uint64_t)(n)*1000)

static const struct engine_config GRACE_30 = {.scope = SCOPE_CONTAINERS,
					      .assumed_grace_ns = SEC(30)};

static void graceful(struct world *w)
{
	world_open(w, &GRACE_30);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
	world_exit(w, SEC(22), CG_A1, &P_A1, EXIT(0));
	world_empty(w, SEC(22) + US(30), CG_A1);
	world_gone(w, SEC(23), CG_A1, NULL);
}

static void escalated(struct world *w)
{
	const struct graced_counts others = {.exits = 5, .kills = 4, .collateral = 4};

	world_open(w, &GRACE_30);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_managed(w, SEC(20), CG_A1, &P_A1, 15);
	world_managed(w, SEC(25), CG_A1, &P_A1, 15);
	world_managed(w, SEC(50), CG_A1, &P_A1, 9);
	world_exit(w, SEC(50) + US(100), CG_A1, &P_A1, 9);
	world_empty_counted(w, SEC(50) + US(300), CG_A1, &others);
	world_gone(w, SEC(51), CG_A1, &others);
}

static void deaf(struct world *w)
{
	const struct shot stop = {
		.sig = 15,
		.result = 1,
		.flags = GRACED_SIG_GROUP | GRACED_SIG_SHIELDED | GRACED_SIG_DFL,
		.from = &P_RUNC,
		.to = &P_D1,
		.parents = {&P_SHIM},
	};

	world_open(w, NULL);
	world_init(w, SEC(10), CG_D1, &P_D1);
	world_shot(w, SEC(20), CG_D1, &stop);
	world_managed(w, SEC(30), CG_D1, &P_D1, 9);
	world_exit(w, SEC(30) + US(100), CG_D1, &P_D1, 9);
	world_empty(w, SEC(30) + US(300), CG_D1);
	world_gone(w, SEC(31), CG_D1, NULL);
}

static void take(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *proc,
		 uint32_t sig)
{
	const struct obs obs = {
		.type = OBS_TAKEN,
		.at_ns = at,
		.taken = {.id = id, .pid = proc->pid, .sig = sig},
	};

	assert_int_equal(world_tell(w, &obs), 0);
}

/* More requests than there is room for: dropped, heard, from beside, from inside. */
static void asked_often(struct world *w)
{
	struct graced_proc hook = P_A1;
	struct shot stop = {
		.sig = 15,
		.result = 1,
		.flags = GRACED_SIG_GROUP | GRACED_SIG_SHIELDED | GRACED_SIG_DFL,
		.from = &P_SHELL,
		.to = &P_A1,
	};

	hook.pid++;
	hook.start_ns++;
	world_open(w, &GRACE_30);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_init(w, SEC(10), CG_A2, &P_A2);
	world_shot(w, SEC(20), CG_A1, &stop);
	world_from(w, SEC(21), CG_A1, &P_A1, 3, &P_A2);
	for (unsigned int i = 0; i < 3; i++)
		world_from(w, SEC(22 + i), CG_A1, &P_A1, 2, &P_SHELL);
	world_from(w, SEC(25), CG_A1, &P_A1, 3, &hook);
	world_managed(w, SEC(26), CG_A1, &P_A1, 15);
	take(w, SEC(26) + US(10), CG_A1, &P_A1, 15);
	world_exit(w, SEC(28), CG_A1, &P_A1, EXIT(0));
	world_empty(w, SEC(28) + US(30), CG_A1);
	world_gone(w, SEC(29), CG_A1, NULL);
}

/* A shell drops the signal and executes the server after that. */
static void before_exec(struct world *w)
{
	const struct shot stop = {
		.sig = 15,
		.result = 1,
		.flags = GRACED_SIG_GROUP | GRACED_SIG_SHIELDED | GRACED_SIG_DFL,
		.from = &P_RUNC,
		.to = &P_D1,
		.parents = {&P_SHIM},
	};
	const struct obs exit = {
		.type = OBS_EXIT,
		.at_ns = SEC(30) + US(100),
		.exit = {.id = CG_D1, .proc = P_D1, .status = 9, .exec_ns = SEC(20) + MSEC(700)},
	};

	world_open(w, NULL);
	world_init(w, SEC(10), CG_D1, &P_D1);
	world_shot(w, SEC(20), CG_D1, &stop);
	world_managed(w, SEC(30), CG_D1, &P_D1, 9);
	assert_int_equal(world_tell(w, &exit), 0);
	world_empty(w, SEC(30) + US(300), CG_D1);
	world_gone(w, SEC(31), CG_D1, NULL);
}

/* The shim of both containers is killed, and the runtime cleans up. */
static void kept(struct world *w)
{
	const struct shot lost = {
		.sig = 9,
		.flags = GRACED_SIG_GROUP | GRACED_SIG_TO_KEEPER,
		.from = &P_SHELL,
		.to = &P_SHIM,
		.parents = {&P_SSHD},
		.not_init = true,
	};
	const struct shot end = {
		.sig = 9,
		.flags = GRACED_SIG_GROUP | GRACED_SIG_KEEPER_LOST,
		.from = &P_RUNC,
		.to = &P_A1,
		.parents = {&P_CONTAINERD},
	};
	struct shot other = end;

	other.to = &P_A2;
	world_open(w, NULL);
	world_kept(w, SEC(10), CG_A1, &P_A1, GRACED_INIT_PID1, P_SHIM.pid);
	world_kept(w, SEC(11), CG_A2, &P_A2, GRACED_INIT_FIRST, P_SHIM.pid);
	world_shot(w, SEC(20), CG_A1, &lost);
	world_shot(w, SEC(21), CG_A1, &end);
	world_exit(w, SEC(21) + US(100), CG_A1, &P_A1, 9);
	world_empty(w, SEC(21) + US(300), CG_A1);
	world_shot(w, SEC(22), CG_A2, &other);
	world_exit(w, SEC(22) + US(100), CG_A2, &P_A2, 9);
	world_empty(w, SEC(22) + US(300), CG_A2);
}

/* A neighbour in the pod asks first, then somebody on the host; in between it is left alone for so
 * long that the first one counts no more. */
static void lapses(struct world *w)
{
	world_open(w, &GRACE_30);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_init(w, SEC(10), CG_A2, &P_A2);
	world_from(w, SEC(20), CG_A1, &P_A1, 15, &P_A2);
	world_exit(w, SEC(25), CG_A2, &P_A2, EXIT(3));
	world_empty(w, SEC(25) + US(10), CG_A2);
	world_gone(w, SEC(26), CG_A2, NULL);
	world_timer(w, SEC(141));
	world_from(w, SEC(150), CG_A1, &P_A1, 2, &P_SHELL);
	world_exit(w, SEC(151), CG_A1, &P_A1, 2);
	world_empty(w, SEC(151) + US(10), CG_A1);
}

static void neighbour(struct world *w)
{
	world_open(w, &GRACE_30);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_init(w, SEC(10), CG_A2, &P_A2);
	world_from(w, SEC(20), CG_A1, &P_A1, 15, &P_A2);
	world_gone(w, SEC(21), CG_A2, NULL);
	world_exit(w, SEC(22), CG_A1, &P_A1, EXIT(0));
	world_empty(w, SEC(22) + US(10), CG_A1);
	world_gone(w, SEC(23), CG_A1, NULL);
}

/* One cgroup, three lives, the last of which goes on. */
static void lives(struct world *w)
{
	struct graced_proc proc = P_D1;

	world_open(w, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at = SEC(10 + 10 * i);

		proc.pid = 5000 + i;
		proc.start_ns = at - MSEC(3);
		world_init(w, at, CG_D1, &proc);
		if (i == 2)
			return;
		world_exit(w, at + SEC(2), CG_D1, &proc, i ? 11 : EXIT(1));
		world_empty(w, at + SEC(2) + US(20), CG_D1);
	}
}

/* Processes are left behind; its cgroup runs empty a while later. */
static void left_behind(struct world *w)
{
	const struct graced_counts one = {.exits = 1}, two = {.exits = 2};

	world_open(w, NULL);
	world_init(w, SEC(10), CG_D1, &P_D1);
	world_from(w, SEC(20), CG_D1, &P_D1, 15, &P_SHELL);
	world_exit(w, SEC(21), CG_D1, &P_D1, EXIT(0));
	world_timer(w, SEC(21) + MSEC(300));
	world_counts(w, SEC(21) + MSEC(301), CG_D1, true, &one);
	world_empty_counted(w, SEC(30), CG_D1, &two);
	world_gone(w, SEC(31), CG_D1, &two);
}

static void oom(struct world *w)
{
	const struct graced_counts counts = {.exits = 2, .oom_kills = 2};
	struct obs obs = {.type = OBS_OOM, .at_ns = SEC(20)};

	world_open(w, NULL);
	world_init(w, SEC(10), CG_A1, &P_A1);
	obs.oom = (struct obs_oom){.id = CG_A1,
				   .level_id = CG_A1,
				   .flags = GRACED_OOM_INIT | GRACED_OOM_LEVEL_KNOWN,
				   .victim = P_A1};
	world_tell(w, &obs);
	world_exit(w, SEC(20) + US(500), CG_A1, &P_A1, 9);
	world_empty_counted(w, SEC(20) + US(900), CG_A1, &counts);
	world_gone(w, SEC(21), CG_A1, &counts);
}

/* Made while somebody watches, named late by the runtime, gone before it is. */
static void named_late(struct world *w)
{
	const struct meta_container main = world_main_a1();
	const struct meta_pod pod = world_pod_a();

	world_open(w, &WORLD_ALL);
	world_gone(w, SEC(5), CG_A1, NULL);
	world_made(w, SEC(9), CG_A1 + 100, CG_POD_A, WORLD_ID_A1);
	world_init(w, SEC(10), CG_A1 + 100, &P_A1);
	world_managed(w, SEC(20), CG_A1 + 100, &P_A1, 15);
	world_exit(w, SEC(21), CG_A1 + 100, &P_A1, EXIT(0));
	world_empty(w, SEC(21) + US(10), CG_A1 + 100);
	world_gone(w, SEC(21) + MSEC(20), CG_A1 + 100, NULL);
	world_say_container(w, SEC(21) + MSEC(30), &main);
	world_answer(w, SEC(21) + MSEC(30), CG_A1 + 100, WORLD_UID_A, WORLD_ID_A1);
	world_say_pod(w, SEC(21) + MSEC(40), &pod);
	world_answer(w, SEC(21) + MSEC(40), CG_A1 + 100, WORLD_UID_A, "");
}

/* A service of a compose project, outside pods. */
static void composed(struct world *w)
{
	const struct meta_container web = {.source = META_DOCKER,
					   .kind = META_KIND_CONTAINER,
					   .id = WORLD_ID_D1,
					   .name = "shop-web-1",
					   .namespace_ = "shop",
					   .workload = "web"};

	world_open(w, &WORLD_ALL);
	world_init(w, SEC(10), CG_D1, &P_D1);
	world_say_container(w, SEC(11), &web);
	world_answer(w, SEC(11), CG_D1, "", WORLD_ID_D1);
	world_managed(w, SEC(20), CG_D1, &P_D1, 15);
	world_exit(w, SEC(21), CG_D1, &P_D1, EXIT(0));
	world_empty(w, SEC(21) + US(10), CG_D1);
	world_gone(w, SEC(22), CG_D1, NULL);
}

/* The runtime sends SIGHUP, and `number` is provided as the stop signal before the verdict; 0: none
 * is. */
static void stop_signal(struct world *w, uint32_t number)
{
	struct meta_container main = world_main_a1();
	const struct meta_pod pod = world_pod_a();

	world_open_described(w, &pod, &main);
	world_managed(w, SEC(20), CG_A1, &P_A1, 1);
	world_exit(w, SEC(22), CG_A1, &P_A1, EXIT(0));
	main.stop_signal = number;
	if (number)
		world_say_container(w, SEC(22) + US(10), &main);
	world_empty(w, SEC(22) + US(30), CG_A1);
	world_gone(w, SEC(23), CG_A1, NULL);
}

static void stop_signal_unknown(struct world *w)
{
	stop_signal(w, 0);
}

static void stop_signal_late(struct world *w)
{
	stop_signal(w, 1);
}

static void stop_signal_other(struct world *w)
{
	stop_signal(w, 15);
}

static void pod_alone(struct world *w)
{
	world_open_pod(w, false);
	world_stop_a1(w, SEC(20));
	world_stop_sandbox(w, SEC(23));
	world_pod_empty(w, SEC(24));
	world_pod_removed(w, SEC(25));
}

static void pod_deleted(struct world *w)
{
	const struct meta_pod pod = world_pod_a(), going = world_pod_deleted(SEC(19), SEC(30));

	world_open_pod(w, true);
	world_lists(w, SEC(12), &pod);
	world_lists(w, SEC(15), &pod);
	world_stop_a1(w, SEC(20));
	world_lists(w, SEC(21), &going);
	world_stop_sandbox(w, SEC(23));
	world_pod_empty(w, SEC(24));
	world_pod_removed(w, SEC(25));
	world_lists(w, SEC(26), &going);
	world_lists_not(w, SEC(30));
}

/* It is over, it is Ready, and it lives on: all of that is reported once. */
static void pod_untrue(struct world *w)
{
	struct meta_pod pod = world_pod_a();

	pod.known |= META_POD_READY;
	pod.ready = true;
	pod.phase = META_PHASE_RUNNING;
	world_open_pod(w, true);
	world_lists(w, SEC(12), &pod);
	pod.phase = META_PHASE_FAILED;
	world_lists(w, SEC(15), &pod);
	world_timer(w, SEC(21));
	world_lists(w, SEC(22), &pod);
	world_managed(w, SEC(25), CG_A1, &P_A1, 15);
	world_lists(w, SEC(25) + MSEC(1), &pod);
	world_lists(w, SEC(25) + MSEC(900), &pod);
	world_exit(w, SEC(26), CG_A1, &P_A1, EXIT(0));
	world_empty(w, SEC(26) + US(1), CG_A1);
	pod.ready = false;
	world_lists(w, SEC(27), &pod);
	world_stop_sandbox(w, SEC(28));
	world_pod_empty(w, SEC(29));
	world_pod_removed(w, SEC(30));
	world_lists_not(w, SEC(31));
}

const struct relay_play relay_plays[] = {
	{"graceful", graceful, &GRACE_30},
	{"escalated", escalated, &GRACE_30},
	{"deaf", deaf, NULL},
	{"kept", kept, NULL},
	{"lapses", lapses, &GRACE_30},
	{"asked often", asked_often, &GRACE_30},
	{"before exec", before_exec, NULL},
	{"neighbour", neighbour, &GRACE_30},
	{"lives", lives, NULL},
	{"left behind", left_behind, NULL},
	{"oom", oom, NULL},
	{"named late", named_late, &WORLD_ALL},
	{"composed", composed, &WORLD_ALL},
	{"stop signal unknown", stop_signal_unknown, &WORLD_ALL},
	{"stop signal late", stop_signal_late, &WORLD_ALL},
	{"stop signal other", stop_signal_other, &WORLD_ALL},
	{"pod alone", pod_alone, NULL},
	{"pod deleted", pod_deleted, &WORLD_ALL},
	{"pod untrue", pod_untrue, &WORLD_ALL},
};

const size_t relay_n_plays = LEN(relay_plays);
