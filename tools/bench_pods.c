// SPDX-License-Identifier: Apache-2.0
/*
 * What pods cost the engine, for the benchmark: 500 pods of a sandbox and two containers each,
 * which the kubelet lists. Prints "list NANOSECONDS", of a whole list that says nothing new, and
 * "event NANOSECONDS", the mean of what the kernel tells while containers crash and come back.
 */
#include <stdio.h>
#include <string.h>

#include "core/engine/engine.h"
#include "io/proc/clock.h"

#define PODS	   500
#define CONTAINERS 3
#define ROUNDS	   40
#define SEC(n)	   ((uint64_t)(n)*1000000000ULL)
#define LIST_S	   30

/* One for all: it is large, and only its type's members are read. */
struct node {
	struct engine *engine;
	struct obs obs;
	uint64_t now_ns;
	uint64_t events;
};

static void ignore(void *userdata, const struct effect *effect)
{
}

static void tell(struct node *n, enum obs_type type)
{
	n->obs.type = type;
	n->obs.at_ns = n->now_ns;
	engine_step(n->engine, &n->obs, ignore, NULL);
	n->events++;
}

static uint64_t cgroup_of(unsigned int pod, unsigned int container)
{
	return 1000 + pod * (CONTAINERS + 1) + container;
}

static void uid_of(unsigned int pod, char ret[POD_UID_MAX])
{
	snprintf(ret, POD_UID_MAX, "94dc9966-21b5-4c6e-8f0a-%012x", pod);
}

static struct graced_proc init_of(unsigned int pod, unsigned int container, unsigned int life)
{
	return (struct graced_proc){
		.pid = (uint32_t)(cgroup_of(pod, container) + life * 10000),
		.ns_pid = 1,
		.start_ns = SEC(1) + SEC(life),
		.comm = "app",
		.exe = "app",
	};
}

static void begin(struct node *n, unsigned int pod, unsigned int container, unsigned int life)
{
	n->obs.init = (struct obs_init){.id = cgroup_of(pod, container),
					.rank = GRACED_INIT_PID1,
					.proc = init_of(pod, container, life)};
	tell(n, OBS_INIT);
}

static void make_pod(struct node *n, unsigned int pod)
{
	char uid[POD_UID_MAX], *path = n->obs.cgroup.path;

	uid_of(pod, uid);
	n->obs.cgroup = (struct obs_cgroup){.id = cgroup_of(pod, 0)};
	snprintf(path, CGPATH_MAX, "/kubepods/burstable/pod%s", uid);
	tell(n, OBS_CGROUP_FOUND);
	for (unsigned int i = 1; i <= CONTAINERS; i++) {
		n->obs.cgroup = (struct obs_cgroup){.id = cgroup_of(pod, i)};
		snprintf(path, CGPATH_MAX, "/kubepods/burstable/pod%s/%064llx", uid,
			 (unsigned long long)cgroup_of(pod, i));
		tell(n, OBS_CGROUP_FOUND);
		begin(n, pod, i, 0);
	}
}

static void list_pods(struct node *n)
{
	for (unsigned int pod = 0; pod < PODS; pod++) {
		n->obs.pod = (struct meta_pod){
			.source = META_KUBELET,
			.known = META_POD_GRACE | META_POD_DELETING | META_POD_READY,
			.namespace_ = "default",
			.workload = "web",
			.grace_ns = SEC(30),
			.phase = META_PHASE_RUNNING,
			.ready = true,
		};
		uid_of(pod, n->obs.pod.uid);
		snprintf(n->obs.pod.name, META_NAME_MAX, "web-%u", pod);
		tell(n, OBS_POD);
	}
	n->obs.listed = (struct obs_listed){.source = META_KUBELET};
	tell(n, OBS_LISTED);
}

static void crash(struct node *n, unsigned int pod, unsigned int life)
{
	n->obs.exit = (struct obs_exit){
		.id = cgroup_of(pod, 1), .flags = GRACED_EXIT_INIT, .proc = init_of(pod, 1, life)};
	tell(n, OBS_EXIT);
	n->obs.empty = (struct obs_empty){.id = cgroup_of(pod, 1)};
	tell(n, OBS_CGROUP_EMPTY);
	begin(n, pod, 1, life + 1);
}

static uint64_t time_lists(struct node *n)
{
	uint64_t from_ns;

	list_pods(n);
	from_ns = clock_monotonic_ns();
	for (int i = 0; i < ROUNDS; i++) {
		n->now_ns += SEC(LIST_S);
		list_pods(n);
	}
	return (clock_monotonic_ns() - from_ns) / ROUNDS;
}

static uint64_t time_events(struct node *n)
{
	uint64_t from_ns = clock_monotonic_ns();

	n->events = 0;
	for (unsigned int life = 0; life < ROUNDS; life++) {
		n->now_ns += SEC(1);
		for (unsigned int pod = 0; pod < PODS; pod++)
			crash(n, pod, life);
		/* Verdicts that wait for a name. */
		n->now_ns += SEC(1);
		tell(n, OBS_TIMER);
	}
	return (clock_monotonic_ns() - from_ns) / n->events;
}

int main(void)
{
	const struct engine_config config = {.scope = SCOPE_PODS,
					     .sources = 1u << META_CRI | 1u << META_KUBELET};
	static struct node n = {.now_ns = SEC(1)};

	if (engine_new(&config, &n.engine) < 0)
		return 1;
	for (unsigned int pod = 0; pod < PODS; pod++)
		make_pod(&n, pod);
	n.obs.attached = (struct obs_attached){.hierarchy = "unified"};
	tell(&n, OBS_ATTACHED);
	printf("list %llu\n", (unsigned long long)time_lists(&n));
	printf("event %llu\n", (unsigned long long)time_events(&n));
	engine_free(n.engine);
	return 0;
}
