// SPDX-License-Identifier: Apache-2.0
/* A recording of a busy node, made up: COUNT observations of 250 pods that come and go. For the
 * benchmark of replay; equal counts give equal bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "wire/recording/recording.h"

#define PODS	 250
#define BRANCH	 "/kubepods.slice/kubepods-burstable.slice"
#define BEGIN_NS 14400000000000ULL
#define STEP_NS	 100000ULL /* between two observations */

enum { ID_SERVICE = 2, ID_BRANCH, ID_FIRST = 100 };

/* One pod with one container, from its cgroup to the removal of that. */
struct life {
	uint64_t number, pod_id, id, start_ns;
	uint32_t pid;
	unsigned int stage;
};

struct gen {
	uint64_t left, at_ns, lives;
	struct buf out;
	struct obs obs;
};

static struct obs *begin(struct gen *g, enum obs_type type)
{
	memset(&g->obs, 0, sizeof(g->obs));
	g->obs.type = type;
	g->obs.at_ns = g->at_ns += STEP_NS;
	return &g->obs;
}

/* The last observation is the recording's end. */
static void end(struct gen *g)
{
	if (g->left == 0)
		return;
	g->left--;
	if (rec_write_obs(&g->out, &g->obs) < 0)
		exit(1);
	fwrite(g->out.data, 1, g->out.len, stdout);
	buf_reset(&g->out);
}

static struct graced_proc proc(uint32_t pid, uint32_t ns_pid, uint64_t id, const char *comm,
			       uint64_t start_ns)
{
	struct graced_proc p = {
		.pid = pid,
		.ns_pid = ns_pid,
		.cgroup_id = id,
		.watch_id = id,
		.start_ns = start_ns,
	};

	snprintf(p.comm, sizeof(p.comm), "%s", comm);
	snprintf(p.exe, sizeof(p.exe), "%s", comm);
	return p;
}

static void uid_of(const struct life *l, char sep, char *ret, size_t size)
{
	snprintf(ret, size, "%08" PRIx64 "%c21b5%c4c6e%c8f0a%c1d2c3b4a5968", l->number, sep, sep,
		 sep, sep);
}

static void container_id_of(const struct life *l, char *ret, size_t size)
{
	snprintf(ret, size, "%016" PRIx64 "2ad7f0c1e8b34d5960718293a4b5c6d7e8f90a1b2c3d4e5f",
		 (uint64_t)(l->number * 0x9e3779b97f4a7c15U));
}

static void found(struct gen *g, uint64_t id, const char *path)
{
	struct obs *obs = begin(g, OBS_CGROUP_FOUND);

	obs->cgroup.id = id;
	snprintf(obs->cgroup.path, sizeof(obs->cgroup.path), "%s", path);
	end(g);
}

static void made(struct gen *g, uint64_t id, uint64_t parent, uint32_t kind, const char *prefix,
		 const char *name, const char *suffix)
{
	struct obs *obs = begin(g, OBS_CGROUP_NEW);

	obs->cgroup.id = id;
	obs->cgroup.parent_id = parent;
	obs->cgroup.kind = kind;
	obs->cgroup.level = kind + 1;
	snprintf(obs->cgroup.path, sizeof(obs->cgroup.path), "%s%s%s", prefix, name, suffix);
	end(g);
}

static void pod_made(struct gen *g, struct life *l)
{
	char uid[37];

	*l = (struct life){.number = ++g->lives};
	l->pod_id = ID_FIRST + 2 * l->number;
	l->id = l->pod_id + 1;
	l->pid = 2000 + (uint32_t)(l->number * 7 % 4000000);
	uid_of(l, '_', uid, sizeof(uid));
	made(g, l->pod_id, ID_BRANCH, GRACED_WATCH_POD, "kubepods-burstable-pod", uid, ".slice");
}

static void container_made(struct gen *g, struct life *l)
{
	char id[65];

	container_id_of(l, id, sizeof(id));
	made(g, l->id, l->pod_id, GRACED_WATCH_CONTAINER, "cri-containerd-", id, ".scope");
}

static void named(struct gen *g, struct life *l)
{
	struct obs_names *n = &begin(g, OBS_NAMES)->names;

	uid_of(l, '-', n->pod_uid, sizeof(n->pod_uid));
	container_id_of(l, n->container_id, sizeof(n->container_id));
	strcpy(n->namespace_, "payments");
	snprintf(n->pod, sizeof(n->pod), "checkout-5d9c7b6f4-%05" PRIx64, l->number & 0xfffff);
	strcpy(n->container, "checkout");
	n->found = true;
	end(g);
}

static void begun(struct gen *g, struct life *l)
{
	struct obs_init *i = &begin(g, OBS_INIT)->init;

	l->start_ns = g->at_ns - 3 * STEP_NS;
	i->id = l->id;
	i->rank = GRACED_INIT_PID1;
	i->proc = proc(l->pid, 1, l->id, "checkout-server", l->start_ns);
	end(g);
}

static struct obs_signal *signalled(struct gen *g, const struct life *l, uint32_t sig)
{
	struct obs_signal *s = &begin(g, OBS_SIGNAL)->signal;

	s->id = l->id;
	s->sig = sig;
	s->flags = GRACED_SIG_GROUP | GRACED_SIG_INIT | GRACED_SIG_SHIELDED;
	s->target_pidns = 4026532000 + l->number % PODS;
	s->target = proc(l->pid, 1, l->id, "checkout-server", l->start_ns);
	return s;
}

static void signalled_by_child(struct gen *g, struct life *l)
{
	struct obs_signal *s = signalled(g, l, 10);

	s->sender_pidns = s->target_pidns;
	s->sender = proc(l->pid + 1, 7, l->id, "worker", l->start_ns + STEP_NS);
	s->ancestors[0] = s->target;
	end(g);
}

static void stopped_by_runtime(struct gen *g, struct life *l, uint32_t sig)
{
	struct obs_signal *s = signalled(g, l, sig);

	s->sender_pidns = 4026531836;
	s->sender = proc(l->pid + 5, l->pid + 5, ID_SERVICE, "runc", g->at_ns - STEP_NS);
	s->ancestors[0] = proc(l->pid - 3, l->pid - 3, ID_SERVICE, "containerd-shim", BEGIN_NS);
	s->ancestors[1] = proc(1, 1, 1, "systemd", BEGIN_NS - STEP_NS);
	end(g);
}

static struct graced_counts counts(const struct life *l)
{
	return (struct graced_counts){.exits = 1 + l->number % 40, .kills = l->number % 3};
}

static void exited(struct gen *g, struct life *l)
{
	struct obs_exit *e = &begin(g, OBS_EXIT)->exit;

	e->id = l->id;
	e->status = l->number % 8 ? 0 : 9;
	e->flags = GRACED_EXIT_INIT;
	e->proc = proc(l->pid, 1, l->id, "checkout-server", l->start_ns);
	e->counts = counts(l);
	end(g);
}

static void counted(struct gen *g, const struct life *l, enum obs_type type, uint64_t id)
{
	struct obs_empty *e = &begin(g, type)->empty;

	e->id = id;
	e->counts = counts(l);
	end(g);
}

/* The next thing that happens to the pod. */
static void step(struct gen *g, struct life *l)
{
	static void (*const births[])(struct gen * g, struct life * l) = {pod_made, container_made,
									  named, begun};
	unsigned int stage = l->stage;

	if (stage < sizeof(births) / sizeof(*births))
		births[stage](g, l);
	else if (stage < 6)
		signalled_by_child(g, l);
	else if (stage == 6)
		stopped_by_runtime(g, l, 15);
	else if (stage == 7 && l->number % 8 == 0)
		stopped_by_runtime(g, l, 9);
	else if (stage == 8)
		exited(g, l);
	else if (stage == 9 || stage == 10)
		counted(g, l, OBS_CGROUP_EMPTY, stage == 9 ? l->id : l->pod_id);
	else if (stage == 11 || stage == 12)
		counted(g, l, OBS_CGROUP_GONE, stage == 11 ? l->id : l->pod_id);
	l->stage = stage < 12 ? stage + 1 : 0;
}

static void attached(struct gen *g)
{
	struct obs_attached *a = &begin(g, OBS_ATTACHED)->attached;

	strcpy(a->boot_id, "7c9f2f0e-5d0b-4a52-9a7d-0b6a3f1c2d4e");
	strcpy(a->node, "worker-3");
	strcpy(a->hierarchy, "unified");
	a->wall_offset_ns = 1795248000000000000;
	a->programs = 9;
	end(g);
}

int main(int argc, char **argv)
{
	static struct life lives[PODS];
	static struct gen g = {.at_ns = BEGIN_NS};
	char *rest = NULL;

	g.left = argc == 2 ? strtoull(argv[1], &rest, 10) : 0;
	if (g.left < 10 || *rest) {
		fprintf(stderr, "usage: recgen COUNT (10 or more observations)\n");
		return 2;
	}
	g.left--;
	rec_write_header(&g.out, version_string());
	found(&g, 1, "/init.scope");
	found(&g, ID_SERVICE, "/system.slice/containerd.service");
	found(&g, ID_BRANCH, BRANCH);
	attached(&g);
	/* Each pod is at another stage of its life. */
	for (uint64_t n = 0; g.left > 0; n++)
		for (uint64_t k = 0; k < 1 + n % 3 && g.left > 0; k++)
			step(&g, &lives[n * 7 % PODS]);
	begin(&g, OBS_END);
	g.left = 1;
	end(&g);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
