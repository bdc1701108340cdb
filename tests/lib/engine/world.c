// SPDX-License-Identifier: Apache-2.0
/* Tells an engine observations and keeps what it answers. */
#include "lib/engine/world.h"

#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"

#define PROC(name_, pid_, ns_pid_, cgroup, exe_, uid_)                                      \
	{                                                                                   \
		.pid = pid_, .ns_pid = ns_pid_, .uid = uid_, .cgroup_id = cgroup,           \
		.watch_id = cgroup, .start_ns = SEC(2) + (pid_), .comm = name_, .exe = exe_ \
	}

const struct graced_proc P_SYSTEMD = PROC("systemd", 1, 1, CG_INIT_SCOPE, "systemd", 0);
const struct graced_proc P_CONTAINERD =
	PROC("containerd", 700, 700, CG_CONTAINERD, "containerd", 0);
const struct graced_proc P_SHIM =
	PROC("containerd-shim", 800, 800, CG_SYSTEM, "containerd-shim", 0);
const struct graced_proc P_RUNC = PROC("runc", 812, 812, CG_SYSTEM, "runc", 0);
const struct graced_proc P_KUBELET = PROC("kubelet", 600, 600, CG_KUBELET, "kubelet", 0);
const struct graced_proc P_SSHD = PROC("sshd", 500, 500, CG_SSHD, "sshd", 0);
const struct graced_proc P_SHELL = PROC("bash", 900, 900, CG_USER, "bash", 0);
const struct graced_proc P_SELF = PROC("graced", 77, 77, CG_SYSTEM, "graced", 0);
const struct graced_proc P_A1 = PROC("nginx", 4242, 1, CG_A1, "nginx", 101);
const struct graced_proc P_A1_CHILD = PROC("nginx", 4243, 2, CG_A1, "nginx", 101);
const struct graced_proc P_A2 = PROC("envoy", 4343, 1, CG_A2, "envoy", 0);
const struct graced_proc P_B1 = PROC("java", 4444, 1, CG_B1, "java", 0);
const struct graced_proc P_D1 = PROC("redis", 4545, 1, CG_D1, "redis", 999);

struct graced_proc world_second_a1(void)
{
	struct graced_proc p = P_A1;

	p.pid = 5000;
	p.start_ns = SEC(150);
	return p;
}

/* Room for one more: doubled whenever the count is a power of two. */
static void *room_for(void *list, size_t n, size_t size)
{
	if (n && n & (n - 1))
		return list;
	list = reallocarray(list, n ? 2 * n : 1, size);
	assert_non_null(list);
	return list;
}

static const char *keep(struct world *w, const char *s)
{
	if (!s)
		return NULL;
	w->strings = room_for(w->strings, w->n_strings, sizeof(*w->strings));
	w->strings[w->n_strings] = strdup(s);
	assert_non_null(w->strings[w->n_strings]);
	return w->strings[w->n_strings++];
}

static void keep_pod(struct world *w, struct record_pod *p)
{
	p->namespace_ = keep(w, p->namespace_);
	p->name = keep(w, p->name);
	p->uid = keep(w, p->uid);
}

static void keep_container(struct world *w, struct record_container *c)
{
	c->name = keep(w, c->name);
	c->id = keep(w, c->id);
	c->cgroup = keep(w, c->cgroup);
}

static void keep_sender(struct world *w, struct record_sender *s)
{
	s->process.comm = keep(w, s->process.comm);
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		s->ancestors[i] = keep(w, s->ancestors[i]);
	keep_pod(w, &s->pod);
	keep_container(w, &s->container);
	s->cgroup = keep(w, s->cgroup);
}

static void keep_stop(struct world *w, struct record_stop *s)
{
	keep_pod(w, &s->pod);
	keep_container(w, &s->container);
	s->process.comm = keep(w, s->process.comm);
	keep_sender(w, &s->stop_signal.sender);
	keep_sender(w, &s->kill_signal.sender);
	for (size_t i = 0; i < RECORD_REQUESTS; i++) {
		s->requests[i].target_comm = keep(w, s->requests[i].target_comm);
		s->requests[i].process.comm = keep(w, s->requests[i].process.comm);
	}
	keep_sender(w, &s->keeper_signal.sender);
}

/* Strings of a record point into the engine, which may free them later. */
static void keep_record(struct world *w, struct record *r)
{
	r->node = keep(w, r->node);
	switch (r->type) {
	case RECORD_STOP:
		keep_stop(w, &r->stop);
		break;
	case RECORD_SIGNAL:
		keep_pod(w, &r->signal.pod);
		keep_container(w, &r->signal.container);
		keep_sender(w, &r->signal.sender);
		r->signal.target.comm = keep(w, r->signal.target.comm);
		break;
	case RECORD_POD:
		keep_pod(w, &r->pod_state.pod);
		break;
	case RECORD_POD_READY:
		keep_pod(w, &r->pod_ready.pod);
		break;
	case RECORD_DISCREPANCY:
		keep_pod(w, &r->discrepancy.pod);
		keep_container(w, &r->discrepancy.container);
		r->discrepancy.reported.reason = keep(w, r->discrepancy.reported.reason);
		break;
	case RECORD_RESTART:
		keep_pod(w, &r->restart.pod);
		keep_container(w, &r->restart.container);
		r->restart.next_id = keep(w, r->restart.next_id);
		break;
	case RECORD_EMPTY:
		keep_pod(w, &r->empty.pod);
		keep_container(w, &r->empty.container);
		break;
	case RECORD_REAPED:
		keep_pod(w, &r->reaped.pod);
		keep_container(w, &r->reaped.container);
		break;
	case RECORD_OOM:
		keep_pod(w, &r->oom.pod);
		keep_container(w, &r->oom.container);
		r->oom.victim.comm = keep(w, r->oom.victim.comm);
		break;
	case RECORD_ATTACHED:
		r->attached.hierarchy = keep(w, r->attached.hierarchy);
		break;
	default:
		break;
	}
}

static void answered(void *userdata, const struct effect *effect)
{
	struct world *w = userdata;

	if (effect->type == EFFECT_REPORT) {
		w->records = room_for(w->records, w->n_records, sizeof(*w->records));
		w->records[w->n_records] = *effect->record;
		keep_record(w, &w->records[w->n_records++]);
		return;
	}
	w->effects = room_for(w->effects, w->n_effects, sizeof(*w->effects));
	w->effects[w->n_effects++] = *effect;
}

static world_ear ear;
static void *ear_userdata;

void world_listen(world_ear fn, void *userdata)
{
	ear = fn;
	ear_userdata = userdata;
}

int world_tell(struct world *w, const struct obs *obs)
{
	if (ear)
		ear(ear_userdata, obs);
	return engine_step(w->engine, obs, answered, w);
}

void world_open_bare(struct world *w, const struct engine_config *config)
{
	const struct engine_config plain = {.scope = SCOPE_CONTAINERS};

	*w = (struct world){};
	assert_int_equal(engine_new(config ? config : &plain, &w->engine), 0);
}

void world_open(struct world *w, const struct engine_config *config)
{
	static const struct {
		uint64_t id;
		const char *path;
	} tree[] = {
		{CG_ROOT, "/"},
		{CG_KUBEPODS, "/kubepods"},
		{CG_BURSTABLE, "/kubepods/burstable"},
		{CG_POD_A, "/kubepods/burstable/pod" WORLD_UID_A},
		{CG_A1, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A1},
		{CG_A2, "/kubepods/burstable/pod" WORLD_UID_A "/" WORLD_ID_A2},
		{CG_POD_B, "/kubepods/burstable/pod" WORLD_UID_B},
		{CG_B1, "/kubepods/burstable/pod" WORLD_UID_B "/" WORLD_ID_B1},
		{CG_DOCKER, "/docker"},
		{CG_D1, "/docker/" WORLD_ID_D1},
		{CG_SYSTEM, "/system.slice"},
		{CG_CONTAINERD, "/system.slice/containerd.service"},
		{CG_KUBELET, "/system.slice/kubelet.service"},
		{CG_SSHD, "/system.slice/ssh.service"},
		{CG_INIT_SCOPE, "/init.scope"},
		{CG_USER, "/user.slice"},
	};

	world_open_bare(w, config);
	for (size_t i = 0; i < LEN(tree); i++)
		world_found(w, MSEC(900), tree[i].id, tree[i].path);
	world_attach(w, SEC(1));
	world_names(w, SEC(1), WORLD_UID_A, WORLD_ID_A1, "default", "web-0", "main", true);
	world_names(w, SEC(1), WORLD_UID_A, WORLD_ID_A2, "default", "web-0", "proxy", true);
	world_names(w, SEC(1), WORLD_UID_B, WORLD_ID_B1, "shop", "cart-7", "cart", true);
	world_clear(w);
}

void world_clear(struct world *w)
{
	while (w->n_strings)
		free(w->strings[--w->n_strings]);
	free(w->strings);
	free(w->records);
	free(w->effects);
	*w = (struct world){.engine = w->engine};
}

void world_close(struct world *w)
{
	world_clear(w);
	w->engine = engine_free(w->engine);
}

size_t world_count(const struct world *w, enum record_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_records; i++)
		n += w->records[i].type == type;
	return n;
}

const struct record *world_record(const struct world *w, enum record_type type, size_t n)
{
	for (size_t i = 0; i < w->n_records; i++)
		if (w->records[i].type == type && !n--)
			return &w->records[i];
	fail_msg("there is no such record");
	return NULL;
}

const struct record_stop *world_stop(const struct world *w)
{
	if (world_count(w, RECORD_STOP) != 1)
		fail_msg("%zu stop records, not 1", world_count(w, RECORD_STOP));
	return &world_record(w, RECORD_STOP, 0)->stop;
}

const struct effect *world_effect(const struct world *w, enum effect_type type)
{
	for (size_t i = w->n_effects; i > 0; i--)
		if (w->effects[i - 1].type == type)
			return &w->effects[i - 1];
	return NULL;
}

size_t world_effects(const struct world *w, enum effect_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_effects; i++)
		n += w->effects[i].type == type;
	return n;
}

void assert_verdict(const struct world *w, enum outcome outcome, enum cause cause, uint32_t gaps)
{
	const struct record_stop *s = world_stop(w);

	if (s->outcome != outcome || s->cause != cause || s->gaps != gaps)
		fail_msg("%s/%s, gaps %x, not %s/%s, gaps %x", outcome_name(s->outcome),
			 cause_name(s->cause), s->gaps, outcome_name(outcome), cause_name(cause),
			 gaps);
}
