// SPDX-License-Identifier: Apache-2.0
/*
 * What sources say of pods and containers: bounded, aged, and merged into what is known, fact by
 * fact.
 */
#include "core/names/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_NS      60000000000ULL
/* A full table is swept sooner, but not with every entry that finds no room. */
#define SWEEP_FULL_NS 1000000000ULL

static void pod_free(struct podtab_pod *pod)
{
	free(pod->namespace_);
	free(pod->name);
	free(pod->workload);
	free(pod->workload_kind);
	free(pod);
}

/* How many were dropped. */
static void keep_pods(struct podtab *tab, uint64_t before_ns)
{
	size_t pos = 0;
	struct pod *pod;

	while ((pod = podmap_next(tab->pods, &pos))) {
		if (!pod->meta || pod->meta->touched_ns >= before_ns)
			continue;
		pod_free(pod->meta);
		pod->meta = NULL;
		tab->n_pods--;
	}
	podmap_sweep(tab->pods);
}

static void container_free(struct podtab_container *c)
{
	free(c->name);
	free(c->image);
	free(c->exit_reason);
	free(c->namespace_);
	free(c->workload);
	free(c);
}

struct podtab_container *podtab_next_container(const struct podtab *tab, size_t *pos)
{
	const struct container *c;

	while ((c = containermap_next(tab->containers, pos)))
		if (c->meta)
			return c->meta;
	return NULL;
}

static void keep_containers(struct podtab *tab, uint64_t before_ns)
{
	size_t pos = 0;
	struct podtab_container *c;

	while ((c = podtab_next_container(tab, &pos))) {
		if (c->touched_ns >= before_ns)
			continue;
		c->of->meta = NULL;
		container_free(c);
		tab->n_containers--;
	}
	containermap_sweep(tab->containers);
}

void podtab_done(struct podtab *tab)
{
	keep_pods(tab, UINT64_MAX);
	keep_containers(tab, UINT64_MAX);
	*tab = (struct podtab){.pods = tab->pods, .containers = tab->containers};
}

struct podtab_pod *podtab_pod(const struct podtab *tab, const char *uid)
{
	const struct pod *pod = podmap_find(tab->pods, uid);

	return pod ? pod->meta : NULL;
}

static struct container_name id_name(const char *id, uint32_t user)
{
	return (struct container_name){CONTAINER_BY_ID, user, id, ""};
}

static struct container_name spec_name(const char *pod_uid, const char *name)
{
	return (struct container_name){CONTAINER_BY_SPEC, 0, pod_uid, name};
}

static struct container_name unit_name(const char *unit)
{
	return (struct container_name){CONTAINER_BY_UNIT, 0, unit, ""};
}

static struct podtab_container *find(const struct podtab *tab, struct container_name name)
{
	const struct container *c = containermap_find(tab->containers, &name);

	return c ? c->meta : NULL;
}

struct podtab_container *podtab_container(const struct podtab *tab, const char *id)
{
	return find(tab, id_name(id, 0));
}

struct podtab_container *podtab_user_container(const struct podtab *tab, const char *id,
					       uint32_t user)
{
	return find(tab, id_name(id, user));
}

struct podtab_container *podtab_spec(const struct podtab *tab, const char *pod_uid,
				     const char *name)
{
	return find(tab, spec_name(pod_uid, name));
}

struct podtab_container *podtab_unit(const struct podtab *tab, const char *unit)
{
	return find(tab, unit_name(unit));
}

static int refuse(struct podtab *tab)
{
	tab->refused++;
	return -ENOSPC;
}

/* The entry, made when there is none, and touched. 0, -ENOMEM, -ENOSPC. */
static int want_pod(struct podtab *tab, const char *uid, uint64_t now_ns, struct podtab_pod **ret)
{
	struct pod *pod;
	int r;

	if (tab->n_pods >= PODTAB_MAX_PODS && !podtab_pod(tab, uid))
		return refuse(tab);
	r = podmap_reach(tab->pods, uid, &pod);
	if (r < 0)
		return r == -ENOMEM ? r : refuse(tab);
	if (!pod->meta) {
		pod->meta = calloc(1, sizeof(*pod->meta));
		if (!pod->meta) {
			podmap_leave(tab->pods, pod);
			return -ENOMEM;
		}
		tab->n_pods++;
	}
	pod->meta->touched_ns = now_ns;
	*ret = pod->meta;
	return 0;
}

/* The same of a container. */
static int want(struct podtab *tab, struct container_name name, uint64_t now_ns,
		struct podtab_container **ret)
{
	struct container *c;
	int r;

	if (tab->n_containers >= PODTAB_MAX_CONTAINERS && !find(tab, name))
		return refuse(tab);
	r = containermap_reach(tab->containers, &name, &c);
	if (r < 0)
		return r == -ENOMEM ? r : refuse(tab);
	if (!c->meta) {
		c->meta = calloc(1, sizeof(*c->meta));
		if (!c->meta) {
			containermap_leave(tab->containers, c);
			return -ENOMEM;
		}
		c->meta->of = c;
		tab->n_containers++;
	}
	c->meta->touched_ns = now_ns;
	*ret = c->meta;
	return 0;
}

struct podtab_container *podtab_want_container(struct podtab *tab, const char *id, uint64_t now_ns)
{
	struct podtab_container *c;

	return want(tab, id_name(id, 0), now_ns, &c) < 0 ? NULL : c;
}

/* Whether source may replace a fact that `from` provided; it takes the fact over then. */
static bool may_replace(uint8_t *from, uint32_t source)
{
	if (*from && meta_rank(*from) < meta_rank(source))
		return false;
	*from = (uint8_t)source;
	return true;
}

static int set_string(char **member, const char *value)
{
	char *copy;

	if (*member && strcmp(*member, value) == 0)
		return 0;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	free(*member);
	*member = copy;
	return 0;
}

static int set_optional(char **member, const char *value)
{
	if (value[0])
		return set_string(member, value);
	free(*member);
	*member = NULL;
	return 0;
}

static int take_string(char **member, uint8_t *from, const char *value, uint32_t source)
{
	return value[0] && may_replace(from, source) ? set_string(member, value) : 0;
}

/* Whether meta provides the fact of that bit and may; *known has it then. */
static bool provides(uint32_t known, uint32_t bit, uint8_t *from, uint32_t source,
		     uint32_t *ret_known)
{
	if (!(known & bit) || !may_replace(from, source))
		return false;
	*ret_known |= bit;
	return true;
}

static void take_spec(struct podtab_pod *pod, const struct meta_pod *meta)
{
	const uint32_t known = meta->known, source = meta->source;

	if (provides(known, META_POD_GRACE, &pod->grace_from, source, &pod->known))
		pod->grace_ns = meta->grace_ns;
	if (provides(known, META_POD_SIDECARS, &pod->sidecars_from, source, &pod->known))
		pod->sidecars = meta->sidecars;
	if (provides(known, META_POD_STATIC, &pod->static_from, source, &pod->known))
		pod->is_static = meta->is_static;
	if (provides(known, META_POD_PRIORITY, &pod->priority_from, source, &pod->known))
		pod->priority = meta->priority;
	if (meta->qos && may_replace(&pod->qos_from, source))
		pod->qos = meta->qos;
	if (meta->restart_policy && may_replace(&pod->restart_from, source))
		pod->restart_policy = meta->restart_policy;
}

static void take_state(struct podtab_pod *pod, const struct meta_pod *meta, uint64_t now_ns)
{
	const uint32_t state =
		META_POD_DELETING | META_POD_DELETION_GRACE | META_POD_READY | META_POD_CONTAINERS;

	if (meta->gone &&
	    (!pod->state_from || meta_rank(meta->source) <= meta_rank(pod->state_from)))
		pod->gone = true;
	if (!(meta->known & state) || !may_replace(&pod->state_from, meta->source))
		return;
	pod->gone = meta->gone;
	pod->known = (pod->known & ~state) | (meta->known & state);
	pod->deleting = meta->deleting;
	pod->deletion_grace_ns = meta->deletion_grace_ns;
	pod->deleted_wall_ns = meta->deleted_wall_ns;
	pod->ready = meta->ready;
	pod->phase = meta->phase;
	pod->state_ns = meta->asked_ns && meta->asked_ns < now_ns ? meta->asked_ns : now_ns;
}

/* The kubelet and the API provide the owner; a source that has labels alone guesses it. */
static uint32_t owner_rank(uint32_t source)
{
	return source == META_KUBELET || source == META_API ? 0 : meta_rank(source);
}

static int take_workload(struct podtab_pod *pod, const struct meta_pod *meta)
{
	int r;

	if (!meta->workload[0] ||
	    (pod->workload_from && owner_rank(pod->workload_from) < owner_rank(meta->source)))
		return 0;
	pod->workload_from = (uint8_t)meta->source;
	r = set_string(&pod->workload, meta->workload);
	return r < 0 ? r : set_optional(&pod->workload_kind, meta->workload_kind);
}

int podtab_take_pod(struct podtab *tab, const struct meta_pod *meta, uint64_t now_ns)
{
	struct podtab_pod *pod;
	int r;

	if (!meta->uid[0] || !meta->source || meta->source >= META_SOURCE_COUNT)
		return -EINVAL;
	/* What is gone and not known needs no entry. */
	if (meta->gone && !podtab_pod(tab, meta->uid))
		return 0;
	r = want_pod(tab, meta->uid, now_ns, &pod);
	if (r < 0)
		return r;
	take_spec(pod, meta);
	take_state(pod, meta, now_ns);
	if (meta->namespace_[0] && meta->name[0] && may_replace(&pod->name_from, meta->source)) {
		r = set_string(&pod->namespace_, meta->namespace_);
		if (r == 0)
			r = set_string(&pod->name, meta->name);
	}
	return r < 0 ? r : take_workload(pod, meta);
}

static void take_facts(struct podtab_container *c, const struct meta_container *meta)
{
	const uint32_t known = meta->known, source = meta->source;

	if (meta->kind && may_replace(&c->kind_from, meta->source))
		c->kind = meta->kind;
	if (meta->stop_signal >= 1 && meta->stop_signal <= 64 &&
	    may_replace(&c->signal_from, meta->source))
		c->stop_signal = meta->stop_signal;
	if (provides(known, META_CTR_GRACE, &c->grace_from, source, &c->known))
		c->grace_ns = meta->grace_ns;
	if (provides(known, META_CTR_PRESTOP, &c->prestop_from, source, &c->known))
		c->prestop = meta->prestop;
	if (provides(known, META_CTR_PROBE_GRACE, &c->probe_from, source, &c->known))
		c->probe_grace = meta->probe_grace;
	if (provides(known, META_CTR_PROBE, &c->probe_from, source, &c->known))
		c->probe = meta->probe;
	if (provides(known, META_CTR_SIDECAR, &c->sidecar_from, source, &c->known))
		c->sidecar = meta->sidecar;
	if (provides(known, META_CTR_LABELS, &c->labels_from, source, &c->known))
		c->labels = meta->labels;
	if (meta->known & META_CTR_ATTEMPT) {
		c->known |= META_CTR_ATTEMPT;
		c->attempt = meta->attempt;
	}
	if (meta->known & META_CTR_MAIN_PID) {
		c->known |= META_CTR_MAIN_PID;
		c->main_pid = meta->main_pid;
	}
}

/* Those that list pods know a container by its id from their statuses. */
static void take_listed(struct podtab_container *c, const struct meta_container *meta,
			uint64_t now_ns)
{
	bool lists = meta->source == META_KUBELET || meta->source == META_API;

	if (lists && meta->id[0] && meta->kind == META_KIND_CONTAINER && !c->listed_ns)
		c->listed_ns = now_ns;
}

static int take_exit(struct podtab_container *c, const struct meta_container *meta)
{
	if (!(meta->known & META_CTR_EXIT) || !may_replace(&c->exit_from, meta->source))
		return 0;
	if (set_string(&c->exit_reason, meta->exit_reason) < 0) {
		c->known &= ~(uint32_t)META_CTR_EXIT;
		c->exit_from = META_NONE;
		return -ENOMEM;
	}
	c->known |= META_CTR_EXIT;
	c->exit_code = meta->exit_code;
	c->finished_wall_ns = meta->finished_wall_ns;
	return 0;
}

/* A digest says less than a name, whichever source provides it: it is what a list of the runtime's
 * has. */
static int take_image(struct podtab_container *c, const struct meta_container *meta)
{
	bool digest = meta_is_digest(meta->image, strlen(meta->image));
	bool had_digest = c->image && meta_is_digest(c->image, strlen(c->image));

	if (!meta->image[0] || (digest && c->image && !had_digest))
		return 0;
	if (!digest && had_digest)
		c->image_from = META_NONE;
	return take_string(&c->image, &c->image_from, meta->image, meta->source);
}

/* Half of one source's and half of another's would be a group that does not exist. */
static int take_group(struct podtab_container *c, const struct meta_container *meta)
{
	int r;

	if (!(meta->namespace_[0] || meta->workload[0]) ||
	    !may_replace(&c->group_from, meta->source))
		return 0;
	r = set_optional(&c->namespace_, meta->namespace_);
	return r < 0 ? r : set_optional(&c->workload, meta->workload);
}

static int take(struct podtab *tab, struct container_name name, const struct meta_container *meta,
		uint64_t now_ns)
{
	struct podtab_container *c;
	int r = want(tab, name, now_ns, &c);

	if (r < 0)
		return r;
	take_facts(c, meta);
	take_listed(c, meta, now_ns);
	r = take_exit(c, meta);
	if (r == 0 && meta->name[0] && may_replace(&c->name_from, meta->source)) {
		snprintf(c->pod_uid, sizeof(c->pod_uid), "%s", meta->pod_uid);
		r = set_string(&c->name, meta->name);
	}
	if (r == 0)
		r = take_image(c, meta);
	return r < 0 ? r : take_group(c, meta);
}

bool podtab_pod_differs(const struct podtab_pod *before, const struct podtab_pod *now)
{
	struct podtab_pod a, b;

	memcpy(&a, before, sizeof(a));
	memcpy(&b, now, sizeof(b));
	a.touched_ns = b.touched_ns = 0;
	a.state_ns = b.state_ns = 0;
	/* A text that is provided anew is another copy. */
	return memcmp(&a, &b, sizeof(a)) != 0;
}

bool podtab_container_differs(const struct podtab_container *before,
			      const struct podtab_container *now)
{
	const size_t from = offsetof(struct podtab_container, name);

	return memcmp((const char *)before + from, (const char *)now + from,
		      offsetof(struct podtab_container, exit) - from) != 0;
}

int podtab_take_container(struct podtab *tab, const struct meta_container *meta, uint64_t now_ns)
{
	const uint32_t spec =
		META_CTR_PRESTOP | META_CTR_PROBE_GRACE | META_CTR_PROBE | META_CTR_SIDECAR;
	bool in_spec = meta->pod_uid[0] && meta->name[0] && meta->known & spec;
	struct meta_container of_spec;
	int r = 0;

	if (!meta->source || meta->source >= META_SOURCE_COUNT ||
	    !(meta->id[0] || meta->unit[0] || in_spec))
		return -EINVAL;
	if (meta->id[0])
		r = take(tab, id_name(meta->id, meta->user), meta, now_ns);
	if (r == 0 && meta->unit[0])
		r = take(tab, unit_name(meta->unit), meta, now_ns);
	if (r < 0 || !in_spec)
		return r;
	/* What the spec says holds for every container made by it; the rest is one container's. */
	of_spec = (struct meta_container){.source = meta->source, .known = meta->known & spec};
	of_spec.prestop = meta->prestop;
	of_spec.probe_grace = meta->probe_grace;
	of_spec.probe = meta->probe;
	of_spec.sidecar = meta->sidecar;
	return take(tab, spec_name(meta->pod_uid, meta->name), &of_spec, now_ns);
}

bool podtab_is_named(const struct podtab_container *c)
{
	return c && (c->name || c->kind == META_KIND_SANDBOX);
}

enum cgpath_runtime podtab_runtime(const struct podtab_container *c, enum cgpath_runtime by_path)
{
	if (by_path != CGPATH_RT_UNKNOWN || !c)
		return by_path;
	switch (c->name_from ? c->name_from : c->kind_from) {
	case META_DOCKER:
		return CGPATH_RT_DOCKER;
	case META_PODMAN:
		return CGPATH_RT_PODMAN;
	case META_CRI: /* CRI-O writes its name into the path */
	case META_CONTAINERD:
		return CGPATH_RT_CONTAINERD;
	default:
		return CGPATH_RT_UNKNOWN;
	}
}

bool podtab_is_due(const struct podtab *tab, uint64_t now_ns)
{
	bool full = tab->n_pods >= PODTAB_MAX_PODS || tab->n_containers >= PODTAB_MAX_CONTAINERS;

	return now_ns >= tab->aged_ns + (full ? SWEEP_FULL_NS : SWEEP_NS);
}

static bool nearly(size_t count, size_t max)
{
	return count >= max - max / 8;
}

void podtab_age(struct podtab *tab, uint64_t now_ns)
{
	bool full = nearly(tab->n_pods, PODTAB_MAX_PODS) ||
		    nearly(tab->n_containers, PODTAB_MAX_CONTAINERS);
	/* With little room left only entries that the caller has just touched remain. */
	uint64_t keep = full ? SWEEP_FULL_NS : PODTAB_KEEP_NS;

	tab->aged_ns = now_ns;
	if (now_ns <= keep)
		return;
	keep_pods(tab, now_ns - keep);
	keep_containers(tab, now_ns - keep);
}
