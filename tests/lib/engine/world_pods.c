// SPDX-License-Identifier: Apache-2.0
/* Lets pod A live and end. */
#include "lib/engine/world_pods.h"

#include <string.h>

#include "lib/claim.h"

const struct graced_proc P_PAUSE = {.pid = 4200,
				    .ns_pid = 1,
				    .cgroup_id = CG_SANDBOX,
				    .watch_id = CG_SANDBOX,
				    .start_ns = SEC(2),
				    .comm = "pause",
				    .exe = "pause"};

void world_open_pod(struct world *w, bool sources)
{
	world_open_pod_by(w, sources ? &WORLD_ALL : NULL);
	if (sources)
		world_answer(w, SEC(10), CG_A1, WORLD_UID_A, WORLD_ID_A1);
}

void world_open_pod_by(struct world *w, const struct engine_config *config)
{
	world_open(w, config);
	world_made(w, SEC(9), CG_SANDBOX, CG_POD_A, WORLD_ID_SANDBOX);
	world_init(w, SEC(9), CG_SANDBOX, &P_PAUSE);
	world_init(w, SEC(10), CG_A1, &P_A1);
}

void world_say_sandbox(struct world *w, uint64_t at)
{
	const struct meta_container sandbox = {
		.source = META_CRI,
		.kind = META_KIND_SANDBOX,
		.id = WORLD_ID_SANDBOX,
		.pod_uid = WORLD_UID_A,
	};

	world_say_container(w, at, &sandbox);
}

struct meta_pod world_pod_deleted(uint64_t at, uint64_t grace_ns)
{
	struct meta_pod pod = world_pod_a();

	pod.deleting = true;
	pod.known |= META_POD_DELETION_GRACE;
	pod.deletion_grace_ns = grace_ns;
	pod.deleted_wall_ns = WALL_ZERO + (int64_t)(at + grace_ns);
	return pod;
}

void world_lists(struct world *w, uint64_t at, const struct meta_pod *pod)
{
	world_say_pod(w, at, pod);
	world_listed(w, at);
}

void world_lists_not(struct world *w, uint64_t at)
{
	struct meta_pod pod = {.source = META_KUBELET, .uid = WORLD_UID_A, .gone = true};

	world_lists(w, at, &pod);
}

void world_listed(struct world *w, uint64_t at)
{
	world_listed_by(w, at, META_KUBELET);
}

void world_listed_by(struct world *w, uint64_t at, enum meta_source source)
{
	struct obs obs = {.type = OBS_LISTED, .at_ns = at, .listed = {at, source}};

	assert_int_equal(world_tell(w, &obs), 0);
}

static void stop(struct world *w, uint64_t at, uint64_t id, const struct graced_proc *init,
		 uint32_t sig)
{
	world_managed(w, at, id, init, sig);
	world_exit(w, at + MSEC(1), id, init, sig == 9 ? 9 : EXIT(0));
	world_empty(w, at + MSEC(1) + 1000, id);
}

void world_stop_a1(struct world *w, uint64_t at)
{
	stop(w, at, CG_A1, &P_A1, 15);
}

void world_stop_sandbox(struct world *w, uint64_t at)
{
	stop(w, at, CG_SANDBOX, &P_PAUSE, 9);
}

void world_pod_empty(struct world *w, uint64_t at)
{
	world_empty(w, at, CG_POD_A);
}

void world_pod_removed(struct world *w, uint64_t at)
{
	world_gone(w, at, CG_A1, NULL);
	world_gone(w, at, CG_A2, NULL);
	world_gone(w, at, CG_SANDBOX, NULL);
	world_gone(w, at, CG_POD_A, NULL);
}

static bool is_about(const struct record *r, const char *uid)
{
	return r->type == RECORD_POD && strcmp(r->pod_state.pod.uid, uid) == 0;
}

void assert_moves_of(const struct world *w, const char *uid, const struct move *want, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < w->n_records; i++) {
		const struct record_pod_state *p = &w->records[i].pod_state;

		if (!is_about(&w->records[i], uid))
			continue;
		if (at == n)
			fail_msg("then %s (%s) at %llu", pod_stage_name(p->state),
				 pod_trigger_name(p->trigger), (unsigned long long)p->at_ns);
		if (p->state != want[at].state || p->trigger != want[at].trigger ||
		    p->at_ns != want[at].at_ns)
			fail_msg("%zu: %s (%s) at %llu, not %s (%s) at %llu", at,
				 pod_stage_name(p->state), pod_trigger_name(p->trigger),
				 (unsigned long long)p->at_ns, pod_stage_name(want[at].state),
				 pod_trigger_name(want[at].trigger),
				 (unsigned long long)want[at].at_ns);
		assert_int_equal(w->records[i].at_ns, p->at_ns);
		at++;
	}
	if (at < n)
		fail_msg("never %s", pod_stage_name(want[at].state));
}

const struct record_pod_state *world_move(const struct world *w, size_t n)
{
	return &world_record(w, RECORD_POD, n)->pod_state;
}

struct wanted {
	const char *uid;
	struct podview view;
};

static void on_pod(void *userdata, const struct podview *pod)
{
	struct wanted *wanted = userdata;

	if (strcmp(pod->uid, wanted->uid) == 0)
		wanted->view = *pod;
}

struct podview world_view(const struct world *w, const char *uid)
{
	struct wanted wanted = {.uid = uid};

	engine_pods_each(w->engine, on_pod, &wanted);
	return wanted.view;
}

struct meta_pod world_pod_ready(struct meta_pod pod, bool ready)
{
	pod.known |= META_POD_READY;
	pod.phase = META_PHASE_RUNNING;
	pod.ready = ready;
	return pod;
}

void world_open_ready(struct world *w)
{
	struct meta_pod pod = world_pod_ready(world_pod_a(), true);

	world_open_pod(w, true);
	world_lists(w, SEC(12), &pod);
}

void world_end_pod(struct world *w, uint64_t at)
{
	world_exit(w, at, CG_A1, &P_A1, EXIT(0));
	world_empty(w, at + 1000, CG_A1);
	world_stop_sandbox(w, at + MSEC(1));
	world_pod_empty(w, at + MSEC(3));
	world_pod_removed(w, at + MSEC(4));
}
