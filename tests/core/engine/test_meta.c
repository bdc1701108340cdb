// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: what the words of metadata sources do to a stop. */
#include "core/engine/engine.h"

#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_meta.h"

#define SIGWINCH 28
#define SIGQUIT	 3

static void test_described(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	const struct record_stop *s;
	struct world w;

	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_ends(&w, SEC(23), EXIT(0));
	s = world_stop(&w);
	assert_verdict(&w, OUTCOME_GRACEFUL, CAUSE_STOP_SIGNAL, 0);
	assert_string_equal(s->pod.name, "web-0");
	assert_string_equal(s->pod.workload, "web");
	assert_string_equal(s->container.name, "main");
	assert_string_equal(s->container.image, "docker.io/library/nginx:1");
	assert_true(s->container.attempt_known);
	assert_int_equal(s->container.attempt, 2);
	assert_int_equal(s->container.kind, CONTAINER_KIND_CONTAINER);
	assert_int_equal(s->grace.from, GRACE_SPEC);
	assert_int_equal(s->grace.ns, SEC(30));
	world_close(&w);
}

static void test_early(void **state)
{
	static const struct {
		bool prestop, deleting;
		uint64_t deletion_ns;
		enum cause cause;
	} want[] = {
		{false, false, 0, CAUSE_KILLED_EARLY},
		{true, false, 0, CAUSE_GRACE_EXPIRED},
		{false, true, SEC(5), CAUSE_GRACE_EXPIRED},
		{false, true, SEC(20), CAUSE_KILLED_EARLY},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct meta_container c = world_main_a1();
		struct meta_pod pod = world_pod_a();
		struct world w;

		c.known |= META_CTR_PRESTOP;
		c.prestop = want[i].prestop;
		world_open_described(&w, &pod, &c);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		pod.deleting = want[i].deleting;
		pod.deletion_grace_ns = want[i].deletion_ns;
		pod.known |= META_POD_DELETION_GRACE;
		/* The deletion is heard of after the stop signal. */
		world_say_pod(&w, SEC(21), &pod);
		world_managed(&w, SEC(25), CG_A1, &P_A1, 9);
		world_ends(&w, SEC(25), 9);
		assert_int_equal(world_stop(&w)->cause, want[i].cause);
		assert_int_equal(world_stop(&w)->pod_terminating,
				 want[i].deleting ? TRI_TRUE : TRI_FALSE);
		world_close(&w);
	}
}

static void test_old_news(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	assert_int_equal(world_effects(&w, EFFECT_FIND_POD), 1);
	world_ends(&w, SEC(21), EXIT(0));
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_UNKNOWN);
	world_close(&w);
}

static void test_waits_for_pod(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
	world_empty(&w, SEC(21) + 1000, CG_A1);
	assert_int_equal(world_count(&w, RECORD_STOP), 0);
	world_say_pod(&w, SEC(21) + 2000, &pod);
	world_answer(&w, SEC(21) + 2000, CG_A1, WORLD_UID_A, "");
	assert_int_equal(world_stop(&w)->pod_terminating, TRI_FALSE);
	assert_int_equal(world_stop(&w)->gaps, 0);
	world_close(&w);
}

static void test_own_signal(void **state)
{
	static const struct {
		uint32_t own, sent;
		enum cause cause;
	} want[] = {
		{SIGQUIT, SIGQUIT, CAUSE_STOP_SIGNAL},
		{SIGQUIT, 15, CAUSE_SELF},
		{0, 15, CAUSE_STOP_SIGNAL},
		{SIGWINCH, SIGWINCH, CAUSE_STOP_SIGNAL},
		{0, SIGWINCH, CAUSE_SELF},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct meta_container c = world_main_a1();
		struct meta_pod pod = world_pod_a();
		struct world w;

		c.stop_signal = want[i].own;
		world_open_described(&w, &pod, &c);
		assert_int_equal(world_effects(&w, EFFECT_SET_STOP), want[i].own != 0);
		world_managed(&w, SEC(20), CG_A1, &P_A1, want[i].sent);
		world_ends(&w, SEC(21), EXIT(0));
		assert_int_equal(world_stop(&w)->cause, want[i].cause);
		world_close(&w);
	}
}

static void test_liar(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	strcpy(c.pod_uid, WORLD_UID_B);
	c.stop_signal = SIGQUIT;
	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_ends(&w, SEC(21), EXIT(0));
	assert_null(world_stop(&w)->container.name);
	assert_int_equal(world_stop(&w)->cause, CAUSE_STOP_SIGNAL);
	world_close(&w);
}

static void test_sandbox(void **state)
{
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	c.kind = META_KIND_SANDBOX;
	c.name[0] = '\0';
	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 9);
	world_ends(&w, SEC(20), 9);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	assert_int_equal(world_stop(&w)->container.kind, CONTAINER_KIND_SANDBOX);
	assert_int_equal(world_stop(&w)->grace.from, GRACE_UNKNOWN);
	world_close(&w);
}

static void test_runtime_exit(void **state)
{
	static const struct {
		uint32_t status;
		int32_t code;
		bool agrees;
	} want[] = {{EXIT(3), 3, true}, {9, 137, true}, {EXIT(0), 137, false}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct meta_container c = world_main_a1();
		struct meta_pod pod = world_pod_a();
		const struct record_runtime_exit *r;
		struct world w;

		world_open_described(&w, &pod, &c);
		world_ends(&w, SEC(21), want[i].status);
		assert_string_equal(world_effect(&w, EFFECT_FIND_EXIT)->container_id, WORLD_ID_A1);
		/* The cgroup is gone by the time the runtime tells. */
		world_gone(&w, SEC(22), CG_A1, NULL);
		c.known |= META_CTR_EXIT;
		c.exit_code = want[i].code;
		c.finished_wall_ns = WALL_ZERO + (int64_t)SEC(21);
		strcpy(c.exit_reason, "Error");
		/* The kubelet's copy has whole seconds, and is not the runtime's word. */
		c.source = META_KUBELET;
		world_say_container(&w, SEC(22), &c);
		assert_int_equal(world_count(&w, RECORD_RUNTIME_EXIT), 0);
		c.source = META_CRI;
		c.finished_wall_ns += 5000;
		world_say_container(&w, SEC(23), &c);
		world_say_container(&w, SEC(24), &c);
		assert_int_equal(world_count(&w, RECORD_RUNTIME_EXIT), 1);
		r = &world_record(&w, RECORD_RUNTIME_EXIT, 0)->runtime_exit;
		assert_string_equal(r->id, world_stop(&w)->id);
		assert_string_equal(r->pod.name, "web-0");
		assert_string_equal(r->container.name, "main");
		assert_int_equal(r->agrees, want[i].agrees ? TRI_TRUE : TRI_FALSE);
		assert_int_equal(r->finished_wall_ns - r->kernel_wall_ns, 5000);
		world_close(&w);
	}
}

static void test_unseen(void **state)
{
	static const struct graced_counts counts = {.exits = 1, .lost = 1};
	static const struct {
		const char *reason;
		int32_t code;
		enum outcome outcome;
		enum cause cause;
	} want[] = {
		{"Error", 3, OUTCOME_UNKNOWN, CAUSE_UNKNOWN},
		{"OOMKilled", 137, OUTCOME_OOM_KILLED, CAUSE_OOM_UNKNOWN},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct obs probe = {.type = OBS_PROBE, .at_ns = SEC(21)};
		struct meta_container c = world_main_a1();
		struct meta_pod pod = world_pod_a();
		struct world w;

		world_open_described(&w, &pod, &c);
		probe.probe.id = CG_A1;
		probe.probe.pid = P_A1.pid;
		probe.probe.start_ns = P_A1.start_ns;
		world_tell(&w, &probe);
		assert_int_equal(world_effects(&w, EFFECT_FIND_EXIT), 1);
		c.known |= META_CTR_EXIT;
		c.exit_code = want[i].code;
		strcpy(c.exit_reason, want[i].reason);
		world_say_container(&w, SEC(21) + 1, &c);
		world_timer(&w, SEC(21) + MSEC(250));
		world_counts(&w, SEC(21) + MSEC(251), CG_A1, false, &counts);
		assert_int_equal(world_stop(&w)->outcome, want[i].outcome);
		assert_int_equal(world_stop(&w)->cause, want[i].cause);
		assert_false(world_stop(&w)->exit.known);
		assert_true(world_stop(&w)->exit.reported);
		assert_int_equal(world_stop(&w)->exit.code, want[i].code);
		/* Told again, it stands beside what was not seen. */
		world_say_container(&w, SEC(22), &c);
		assert_int_equal(world_record(&w, RECORD_RUNTIME_EXIT, 0)->runtime_exit.agrees,
				 TRI_UNKNOWN);
		world_close(&w);
	}
}

static void test_forwarded(void **state)
{
	const struct shot on = {.sig = SIGQUIT,
				.from = &P_A1,
				.to = &P_A1_CHILD,
				.flags = GRACED_SIG_FORWARDED | GRACED_SIG_GROUP,
				.not_init = true};
	const struct shot by_another = {.sig = 15,
					.from = &P_A1_CHILD,
					.to = &P_A1_CHILD,
					.flags = GRACED_SIG_FORWARDED,
					.not_init = true};
	const struct record_forward *f;
	struct meta_container c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_described(&w, &pod, &c);
	world_shot(&w, SEC(19), CG_A1, &on);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_shot(&w, SEC(20) + 1, CG_A1, &by_another);
	world_shot(&w, SEC(20) + MSEC(3), CG_A1, &on);
	world_shot(&w, SEC(20) + MSEC(4), CG_A1, &on);
	world_ends(&w, SEC(21), EXIT(0));
	f = &world_stop(&w)->forward;
	assert_int_equal(f->count, 2);
	assert_int_equal(f->number, SIGQUIT);
	assert_int_equal(f->to.pid, P_A1_CHILD.pid);
	assert_int_equal(f->after_ns, MSEC(3));
	world_close(&w);
}

static void assert_group(const struct world *w, const char *namespace_, const char *workload)
{
	const struct record_container *c = &world_stop(w)->container;

	assert_true(c->known);
	assert_string_equal(c->namespace_ ? c->namespace_ : "-", namespace_);
	assert_string_equal(c->workload ? c->workload : "-", workload);
}

static void end_d1(struct world *w)
{
	world_exit(w, SEC(20), CG_D1, &P_D1, EXIT(0));
	world_empty(w, SEC(21), CG_D1);
}

static void test_group(void **state)
{
	struct meta_container docker = {.source = META_DOCKER,
					.kind = META_KIND_CONTAINER,
					.id = WORLD_ID_D1,
					.name = "shop-web-1",
					.namespace_ = "shop",
					.workload = "web"};
	struct meta_container worse = docker, c = world_main_a1();
	struct meta_pod pod = world_pod_a();
	struct world w;

	/* Not half of each. */
	worse.source = META_CONTAINERD;
	strcpy(worse.workload, "other");
	docker.workload[0] = '\0';
	world_open(&w, &WORLD_ALL);
	world_init(&w, SEC(10), CG_D1, &P_D1);
	world_say_container(&w, SEC(11), &worse);
	world_say_container(&w, SEC(12), &docker);
	world_say_container(&w, SEC(13), &worse);
	world_answer(&w, SEC(13), CG_D1, "", WORLD_ID_D1);
	end_d1(&w);
	assert_group(&w, "shop", "-");
	world_close(&w);

	strcpy(c.namespace_, "shop");
	strcpy(c.workload, "cart");
	world_open_described(&w, &pod, &c);
	world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
	world_ends(&w, SEC(23), EXIT(0));
	assert_group(&w, "-", "-");
	assert_string_equal(world_stop(&w)->pod.workload, "web");
	world_close(&w);
}

static void test_quadlet(void **state)
{
	const struct meta_container podman = {.source = META_PODMAN,
					      .kind = META_KIND_CONTAINER,
					      .id = WORLD_ID_D1,
					      .name = "systemd-web"};
	struct world w;

	world_open_bare(&w, &WORLD_ALL);
	world_found(&w, SEC(1), CG_D1, "/system.slice/web.service/libpod-payload-" WORLD_ID_D1);
	world_attach(&w, SEC(2));
	world_init(&w, SEC(10), CG_D1, &P_D1);
	world_say_container(&w, SEC(13), &podman);
	world_answer(&w, SEC(13), CG_D1, "", WORLD_ID_D1);
	end_d1(&w);
	assert_group(&w, "-", "web");
	assert_string_equal(world_stop(&w)->container.name, "systemd-web");
	world_close(&w);
}

static void test_delivered(void **state)
{
	static const struct {
		uint64_t stop_at, deliver;
	} want[] = {{SEC(20), SEC(20) + 7}, {SEC(19), 0}, {0, 0}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct obs exit = {.type = OBS_EXIT, .at_ns = SEC(21)};
		struct world w;

		world_open(&w, NULL);
		world_init(&w, SEC(10), CG_A1, &P_A1);
		world_managed(&w, SEC(20), CG_A1, &P_A1, 15);
		exit.exit.id = CG_A1;
		exit.exit.flags = GRACED_EXIT_INIT;
		exit.exit.proc = P_A1;
		exit.exit.stop_at_ns = want[i].stop_at;
		exit.exit.deliver_ns = SEC(20) + 7;
		world_tell(&w, &exit);
		world_empty(&w, SEC(21) + 1000, CG_A1);
		world_timer(&w, SEC(22));
		assert_int_equal(world_stop(&w)->deliver_ns, want[i].deliver);
		world_close(&w);
	}
}

static void test_reaped(void **state)
{
	static const struct {
		bool comes;
		uint64_t due_after;
	} want[] = {{true, MSEC(2)}, {false, MSEC(5) + 1000}};

	for (size_t i = 0; i < LEN(want); i++) {
		struct obs attached = {.type = OBS_ATTACHED, .at_ns = SEC(11)};
		struct obs reaped = {.type = OBS_REAPED, .at_ns = SEC(21) + MSEC(2)};
		struct world w;

		world_open(&w, NULL);
		attached.attached.reaps = true;
		world_tell(&w, &attached);
		world_init(&w, SEC(12), CG_A1, &P_A1);
		world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
		world_names(&w, SEC(21), WORLD_UID_A, WORLD_ID_A1, "", "", "", false);
		world_empty(&w, SEC(21) + 1000, CG_A1);
		assert_int_equal(world_count(&w, RECORD_STOP), 0);
		reaped.reaped.id = CG_A1;
		reaped.reaped.pid = P_A1.pid;
		if (want[i].comes)
			world_tell(&w, &reaped);
		else
			world_timer(&w, SEC(21) + want[i].due_after);
		assert_int_equal(world_stop(&w)->reap_ns, want[i].comes ? reaped.at_ns : 0);
		world_close(&w);
	}
}

/* The kubelet's spec of the pod says so, by its name. */
static void test_ephemeral(void **state)
{
	struct meta_container main = world_main_a1(), spec = world_main_a1();

	for (int ephemeral = 0; ephemeral < 2; ephemeral++) {
		const struct meta_pod pod = world_pod_a();
		struct world w;

		spec.source = META_KUBELET;
		spec.known |= META_CTR_SIDECAR;
		spec.sidecar = ephemeral ? META_EPHEMERAL : 0;
		world_open_described(&w, &pod, &main);
		spec.id[0] = '\0';
		world_say_container(&w, SEC(19), &spec);
		world_exit(&w, SEC(21), CG_A1, &P_A1, EXIT(0));
		world_empty(&w, SEC(21) + 1000, CG_A1);
		world_timer(&w, SEC(22));
		assert_int_equal(world_stop(&w)->container.ephemeral, ephemeral);
		world_close(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a stop carries pod, workload, container, image and grace", test_described),
		CLAIM("early is judged by the grace there really was", test_early),
		CLAIM("what was provided before the stop says nothing of the pod's future",
		      test_old_news),
		CLAIM("a verdict waits for what its pod is about to do", test_waits_for_pod),
		CLAIM("a container's own stop signal asks it to stop, and no other",
		      test_own_signal),
		CLAIM("who places a container in another pod is not believed", test_liar),
		CLAIM("a sandbox is distinguished from a container, and has no grace",
		      test_sandbox),
		CLAIM("the runtime's word of an exit is set beside the kernel's, once",
		      test_runtime_exit),
		CLAIM("an exit that went unseen has the runtime's code, and no other verdict",
		      test_unseen),
		CLAIM("what init passed on is reported: what, to whom, how late", test_forwarded),
		CLAIM("outside pods a container has one source's namespace and workload, in one none",
		      test_group),
		CLAIM("the container of a quadlet has its unit as workload", test_quadlet),
		CLAIM("a delivery counts for the signal that asked, and no other", test_delivered),
		CLAIM("a verdict waits a moment for the parent's wait, where that is seen",
		      test_reaped),
		CLAIM("a container that kubectl debug added is known by the pod's spec",
		      test_ephemeral),
	};

	return cmocka_run_group_tests_name("core/engine: metadata", tests, NULL, NULL);
}
