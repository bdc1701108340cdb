// SPDX-License-Identifier: Apache-2.0
/* Puts the pods of a node into the groups of a shutdown, and adds their times up. */
#include "base/time.h"
#include "core/shutdown/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/shutdown/priv.h"

#define N_LISTS	   3
#define N_HEARINGS 3

static int32_t priority_of(const struct podobj_pod *pod)
{
	if (pod->priority > INT32_MAX)
		return INT32_MAX;
	return pod->priority < INT32_MIN ? INT32_MIN : (int32_t)pod->priority;
}

/* A deletion's period takes the place of the spec's, and began before. */
static enum shutview_cut cut_of(const struct podobj_pod *pod, int64_t group_s)
{
	if (pod->deleting)
		return pod->deletion_grace.set && pod->deletion_grace.s <= group_s
			       ? SHUTVIEW_FITS
			       : SHUTVIEW_CUT_UNKNOWN;
	if (!pod->grace.set)
		return SHUTVIEW_CUT_UNKNOWN;
	return pod->grace.s > group_s ? SHUTVIEW_CUT_SHORT : SHUTVIEW_FITS;
}

struct shutview_pod shutview_pod_of(const struct shutplan *plan, const struct podobj_pod *pod)
{
	struct shutview_pod out = {.pod = pod};
	int64_t group_s;

	out.over = podobj_phase_is_terminal(pod->status.phase);
	if (out.over)
		return out;
	out.group = shutplan_group_of(plan, priority_of(pod), pod->is_static);
	group_s = plan->groups[out.group].seconds;
	out.override_s = shutplan_override_s(group_s, pod->grace);
	out.stop_s = shutplan_stop_s(plan, out.group, pod->grace, pod->deletion_grace).s;
	out.cut = cut_of(pod, group_s);
	return out;
}

/* What comes after "containerd://". */
static const char *bare_id(const char *id)
{
	const char *slashes = strstr(id, "://");

	return slashes ? slashes + strlen("://") : id;
}

static bool is_it(const struct podobj_status *status, const char *id)
{
	return *id && status->state.kind == PODOBJ_RUNNING && strcmp(bare_id(status->id), id) == 0;
}

bool shutview_runs(const struct shutview_pod *pod, const char *id)
{
	const struct podobj_pod_status *s = &pod->pod->status;
	const struct podobj_statuses *const lists[] = {&s->inits, &s->containers, &s->ephemerals};

	for (size_t i = 0; i < N_LISTS; i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (is_it(&lists[i]->items[k], id))
				return true;
	return false;
}

static enum shutview_hearing look_up(const struct podobj_status *status,
				     const struct shutview_look *looks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_it(status, looks[i].id))
			return looks[i].hearing;
	return SHUTVIEW_HEARING_UNKNOWN;
}

/* The names of the deaf ones into ret, which may be NULL; counts all by how they hear. */
static void sort_out(const struct podobj_pod *pod, const struct shutview_look *looks, size_t n,
		     size_t counts[static N_HEARINGS], const char **ret)
{
	const struct podobj_pod_status *s = &pod->status;
	const struct podobj_statuses *const lists[] = {&s->inits, &s->containers, &s->ephemerals};

	memset(counts, 0, N_HEARINGS * sizeof(*counts));
	for (size_t i = 0; i < N_LISTS; i++)
		for (size_t k = 0; k < lists[i]->n; k++) {
			const struct podobj_status *status = &lists[i]->items[k];
			enum shutview_hearing hearing = look_up(status, looks, n);

			if (status->state.kind != PODOBJ_RUNNING)
				continue;
			if (hearing == SHUTVIEW_DEAF && ret)
				ret[counts[hearing]] = status->name;
			counts[hearing]++;
		}
}

/* The runtime waits for it no longer than that, and the group no longer than its time. */
static uint64_t wasted_of(const struct shutplan *plan, const struct shutview_pod *pod)
{
	uint64_t group_ns = plan->groups[pod->group].ns, ns;

	if (pod->stop_s <= 0)
		return 0;
	if (__builtin_mul_overflow((uint64_t)pod->stop_s, NS_PER_S, &ns))
		return group_ns;
	return ns < group_ns ? ns : group_ns;
}

int shutview_listen(const struct shutplan *plan, struct shutview_pod *pod,
		    const struct shutview_look *looks, size_t n, struct arena *arena)
{
	size_t counts[N_HEARINGS];
	const char **names;

	if (pod->over)
		return 0;
	sort_out(pod->pod, looks, n, counts, NULL);
	if (counts[SHUTVIEW_DEAF] == 0) {
		pod->hearing = counts[SHUTVIEW_HEARS] && !counts[SHUTVIEW_HEARING_UNKNOWN]
				       ? SHUTVIEW_HEARS
				       : SHUTVIEW_HEARING_UNKNOWN;
		return 0;
	}
	names = arena_array(arena, counts[SHUTVIEW_DEAF], sizeof(*names));
	if (!names)
		return -ENOMEM;
	sort_out(pod->pod, looks, n, counts, names);
	pod->hearing = SHUTVIEW_DEAF;
	pod->deaf = names;
	pod->n_deaf = counts[SHUTVIEW_DEAF];
	pod->wasted_ns = wasted_of(plan, pod);
	return 0;
}

/* --- drivers of volumes ------------------------------------------------------------------------ */

/* Whether the path is that directory below the root: dir and name behind each other. */
static bool is_below(const char *path, const char *root, const char *dir, const char *name)
{
	size_t n = strlen(root);

	if (strncmp(path, root, n) != 0 || strncmp(path + n, dir, strlen(dir)) != 0)
		return false;
	path += n + strlen(dir);
	n = strlen(name);
	return strncmp(path, name, n) == 0 && path[n + strspn(path + n, "/")] == '\0';
}

static bool has_path(const struct podobj_pod *pod, const char *root, const char *dir,
		     const char *name)
{
	for (size_t i = 0; i < pod->n_volume_list; i++)
		if (is_below(pod->volume_list[i].host_path, root, dir, name))
			return true;
	return false;
}

/* Its own pods may be several, as in an update: the last one counts. NULL: it is not known. */
static const struct shutview_pod *find_driver(const struct shutview_pod *pods, size_t n,
					      const char *root, const char *driver)
{
	const struct shutview_pod *last = NULL;

	for (size_t i = 0; i < n; i++)
		if (!pods[i].over && has_path(pods[i].pod, root, "/plugins_registry", "") &&
		    has_path(pods[i].pod, root, "/plugins/", driver) &&
		    (!last || pods[i].group > last->group))
			last = &pods[i];
	return last;
}

static bool is_listed(const struct shutview_pod *pod, const char *driver)
{
	for (size_t i = 0; i < pod->n_early; i++)
		if (strcmp(pod->early[i].driver, driver) == 0)
			return true;
	return false;
}

struct finding {
	const struct shutview_pod *pods;
	size_t n;
	const char *root;
	struct shutview_early *list; /* of the pod, with room for all */
};

static void add_driver(const struct finding *f, struct shutview_pod *user, const char *driver)
{
	const struct shutview_pod *server;

	if (!*driver || is_listed(user, driver))
		return;
	server = find_driver(f->pods, f->n, f->root, driver);
	if (server && server->group < user->group)
		f->list[user->n_early++] = (struct shutview_early){driver, server->pod};
}

int shutview_find_drivers(struct shutview_pod *pods, size_t n, const struct shutview_use *uses,
			  size_t n_uses, const char *root, struct arena *arena)
{
	struct finding f = {.pods = pods, .n = n, .root = root};

	for (size_t i = 0; i < n; i++) {
		struct shutview_pod *user = &pods[i];

		if (user->over)
			continue;
		f.list = arena_array(arena, user->pod->n_volume_list + n_uses, sizeof(*f.list));
		if (!f.list)
			return -ENOMEM;
		user->early = f.list;
		for (size_t k = 0; k < user->pod->n_volume_list; k++)
			add_driver(&f, user, user->pod->volume_list[k].csi_driver);
		for (size_t k = 0; k < n_uses; k++)
			if (strcmp(uses[k].pod_uid, user->pod->uid) == 0)
				add_driver(&f, user, uses[k].driver);
	}
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct shutview_pod *a = x, *b = y;
	int r;

	if (a->over != b->over)
		return a->over ? 1 : -1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	r = strcmp(a->pod->namespace_, b->pod->namespace_);
	return r ? r : strcmp(a->pod->name, b->pod->name);
}

void shutview_sort(struct shutview_pod *pods, size_t n)
{
	if (n > 0)
		qsort(pods, n, sizeof(*pods), compare);
}

static void count(struct shutview *view, struct shutview_group *groups)
{
	for (size_t i = 0; i < view->n; i++) {
		const struct shutview_pod *p = &view->pods[i];

		view->over += p->over;
		if (p->over)
			continue;
		groups[p->group].n_pods++;
		if (p->wasted_ns > groups[p->group].wasted_ns)
			groups[p->group].wasted_ns = p->wasted_ns;
		view->deaf += p->hearing == SHUTVIEW_DEAF;
		view->unheard += p->hearing == SHUTVIEW_HEARING_UNKNOWN;
		view->cut_short += p->cut == SHUTVIEW_CUT_SHORT;
		view->unknown += p->cut == SHUTVIEW_CUT_UNKNOWN;
	}
}

/* Groups without pods are passed over, and one that is done lets the next one start; the older
 * kubelet lets its critical pods wait in any case (docs/kubelet-rules.md, "Two-phase shutdown"). */
static void add_times(struct shutview *view, struct shutview_group *groups)
{
	const struct shutplan *plan = &view->rules->plan;
	bool fixed = plan->rules == SHUTPLAN_TWO_PHASES;
	uint64_t at_ns = 0;

	for (size_t i = 0; i < plan->n; i++) {
		struct shutview_group *g = &groups[i];
		uint64_t end_ns = shutdown_sum(at_ns, plan->groups[i].ns);

		if (g->n_pods > 0) {
			g->earliest_ns = fixed ? at_ns : 0;
			g->latest_ns = at_ns;
			g->deadline_ns = end_ns;
			view->n_groups++;
		}
		view->wasted_ns = shutdown_sum(view->wasted_ns, g->wasted_ns);
		if (g->n_pods > 0 || fixed)
			at_ns = end_ns;
	}
	view->end_ns = view->n_groups > 0 ? at_ns : 0;
}

int shutview_of(const struct shutview_rules *rules, const struct shutview_pod *pods, size_t n,
		struct arena *arena, struct shutview *ret)
{
	struct shutview_group *groups = arena_array(arena, rules->plan.n, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	*ret = (struct shutview){
		.rules = rules,
		.pods = pods,
		.n = n,
		.groups = groups,
		.requested_ns = shutdown_sum(shutplan_requested_ns(&rules->plan), rules->extra_ns),
	};
	count(ret, groups);
	add_times(ret, groups);
	return 0;
}

bool shutview_suffices(const struct shutview *view)
{
	return !view->rules->has_limit || view->rules->limit_ns >= view->requested_ns;
}
