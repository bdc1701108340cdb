// SPDX-License-Identifier: Apache-2.0
/* Adds up what controllers wait for when a node is silent. */
#include "core/kubelet/node_failure.h"

#include <stdlib.h>
#include <string.h>

#include "core/names/workload.h"

static const struct nodefail_span never = {.never = true};

struct nodefail_rules nodefail_rules_of(unsigned int minor)
{
	return (struct nodefail_rules){
		.grace_s = minor >= 32 ? 50 : 40,
		.out_of_service = minor >= 26,
	};
}

static int64_t add_up(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static struct nodefail_span later(struct nodefail_span span, int64_t from_s, int64_t to_s)
{
	if (span.never)
		return never;
	return (struct nodefail_span){
		.from_s = add_up(span.from_s, from_s),
		.to_s = add_up(span.to_s, to_s),
	};
}

static struct nodefail_span later_of(struct nodefail_span a, struct nodefail_span b)
{
	if (a.never || b.never)
		return never;
	return (struct nodefail_span){
		.from_s = a.from_s > b.from_s ? a.from_s : b.from_s,
		.to_s = a.to_s > b.to_s ? a.to_s : b.to_s,
	};
}

static struct nodefail_span sooner_of(struct nodefail_span a, struct nodefail_span b)
{
	if (a.never || b.never)
		return a.never ? b : a;
	return (struct nodefail_span){
		.from_s = a.from_s < b.from_s ? a.from_s : b.from_s,
		.to_s = a.to_s < b.to_s ? a.to_s : b.to_s,
	};
}

enum nodefail_maker nodefail_maker_of(const struct podobj_pod *pod)
{
	static const struct {
		const char *kind, *group;
		enum nodefail_maker maker;
	} kinds[] = {
		{"ReplicaSet", "apps", NODEFAIL_REPLICASET},
		{"ReplicationController", "", NODEFAIL_REPLICASET},
		{"StatefulSet", "apps", NODEFAIL_STATEFULSET},
		{"DaemonSet", "apps", NODEFAIL_DAEMONSET},
		{"Job", "batch", NODEFAIL_JOB},
		{"Node", "", NODEFAIL_STATIC},
	};

	if (pod->is_static)
		return NODEFAIL_STATIC;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (workload_kind_is(pod->owner.kind, pod->owner.api, kinds[i].kind,
				     kinds[i].group))
			return kinds[i].maker;
	}
	return *pod->owner.kind ? NODEFAIL_OTHER : NODEFAIL_BARE;
}

static struct nodefail_span evicted(struct toleration toleration, struct nodefail_span tainted)
{
	if (toleration.kind == TOLERATION_FOREVER)
		return never;
	return later(tainted, toleration.seconds, toleration.seconds);
}

/* When the out-of-service taint is there and counts: not before the node is known to be away. */
static struct nodefail_span out_of_service(const struct nodefail_in *in, const struct nodefail *out)
{
	struct nodefail_span set = {.from_s = in->taint_s, .to_s = in->taint_s};

	if (in->taint == NODEFAIL_NO_TAINT || !in->rules.out_of_service)
		return never;
	return later_of(set, out->unready);
}

/* By the taint that the cluster sets, or by the one that an operator sets. */
static struct nodefail_span deleted(const struct nodefail_in *in, const struct nodefail *out)
{
	struct nodefail_span span = evicted(out->toleration, out->tainted), by_hand;
	struct toleration toleration;

	if (in->pod->deleting)
		return (struct nodefail_span){};
	if (in->taint != NODEFAIL_TAINT_NO_EXECUTE || !in->rules.out_of_service)
		return span;
	by_hand = (struct nodefail_span){.from_s = in->taint_s, .to_s = in->taint_s};
	toleration = toleration_of(in->pod, NODEFAIL_OUT_OF_SERVICE, "", "NoExecute");
	return sooner_of(span, evicted(toleration, by_hand));
}

/* The API waits for no kubelet to delete what has ended (pkg/registry/core/pod/strategy.go,
 * CheckGracefulDelete); of a deletion that was asked for before, it does. */
static bool goes_at_once(const struct podobj_pod *pod)
{
	return podobj_phase_is_terminal(pod->status.phase) && !pod->deleting;
}

static struct nodefail_span gone(const struct nodefail_in *in, const struct nodefail *out)
{
	if (goes_at_once(in->pod))
		return out->deleted;
	return later(later_of(out->deleted, out_of_service(in, out)), 0, NODEFAIL_GC_PERIOD_S);
}

/* docs/kubelet-rules.md, "Replacement": a Deployment's is replaced as soon as it is deleted, a
 * StatefulSet's when its object is gone. */
static struct nodefail_span replaced(const struct nodefail_in *in, const struct nodefail *out)
{
	if (podobj_phase_is_terminal(in->pod->status.phase))
		return never;
	switch (out->maker) {
	case NODEFAIL_REPLICASET:
	case NODEFAIL_JOB:
		return out->deleted;
	case NODEFAIL_STATEFULSET:
		return out->gone;
	default:
		return never;
	}
}

static uint32_t stuck(const struct nodefail_in *in, const struct nodefail *out)
{
	bool gone = !out->gone.never;
	const bool is[NODEFAIL_STUCK_COUNT] = {
		[NODEFAIL_STAYS] = out->deleted.never,
		[NODEFAIL_TERMINATING] = !out->deleted.never && !gone,
		[NODEFAIL_WAITS] = out->maker == NODEFAIL_STATEFULSET && !gone,
		[NODEFAIL_NO_OTHER] = out->maker == NODEFAIL_BARE ||
				      out->maker == NODEFAIL_STATIC ||
				      out->maker == NODEFAIL_DAEMONSET,
		[NODEFAIL_LOCAL_DATA] =
			in->pod->volumes & (PODOBJ_VOLUME_EMPTY_DIR | PODOBJ_VOLUME_HOST_PATH),
		[NODEFAIL_VOLUME] = (in->pod->volumes & PODOBJ_VOLUME_CLAIM) && !gone,
	};
	uint32_t bits = 0;

	if (goes_at_once(in->pod))
		return 0;
	for (unsigned int i = 0; i < NODEFAIL_STUCK_COUNT; i++)
		bits |= is[i] ? 1u << i : 0;
	return bits;
}

struct nodefail nodefail_of(const struct nodefail_in *in)
{
	int64_t grace = in->rules.grace_s;
	struct nodefail out = {
		.maker = nodefail_maker_of(in->pod),
		.toleration = toleration_of(in->pod, NODEFAIL_UNREACHABLE, "", "NoExecute"),
		.unready = {.from_s = grace, .to_s = add_up(grace, NODEFAIL_MONITOR_PERIOD_S)},
		.tainted = {.from_s = grace, .to_s = add_up(grace, 2 * NODEFAIL_MONITOR_PERIOD_S)},
	};

	out.deleted = deleted(in, &out);
	out.gone = gone(in, &out);
	out.replaced = replaced(in, &out);
	out.detached = out.gone;
	if (in->taint == NODEFAIL_NO_TAINT)
		out.detached = later(out.gone, NODEFAIL_DETACH_S, NODEFAIL_DETACH_S);
	out.stuck = stuck(in, &out);
	return out;
}

/* --- tolerations ------------------------------------------------------------------------------ */

static bool fits(const struct podobj_toleration *t, const char *key, const char *value,
		 const char *effect)
{
	if (*t->effect && strcmp(t->effect, effect) != 0)
		return false;
	if (*t->key && strcmp(t->key, key) != 0)
		return false;
	if (strcmp(t->op, "Exists") == 0)
		return true;
	return (!*t->op || strcmp(t->op, "Equal") == 0) && *t->key && strcmp(t->value, value) == 0;
}

struct toleration toleration_of(const struct podobj_pod *pod, const char *key, const char *value,
				const char *effect)
{
	for (size_t i = 0; i < pod->n_tolerations; i++) {
		const struct podobj_toleration *t = &pod->tolerations[i];

		if (!fits(t, key, value, effect))
			continue;
		if (!t->seconds.set)
			return (struct toleration){.kind = TOLERATION_FOREVER};
		return (struct toleration){
			.kind = TOLERATION_SECONDS,
			.seconds = t->seconds.s > 0 ? t->seconds.s : 0,
		};
	}
	return (struct toleration){.kind = TOLERATION_NONE};
}

/* --- a whole node ----------------------------------------------------------------------------- */

static enum nodeplan_fate fate_of(const struct podobj_pod *pod, const struct nodefail *dies)
{
	if (podobj_phase_is_terminal(pod->status.phase))
		return NODEPLAN_OVER;
	switch (dies->maker) {
	case NODEFAIL_DAEMONSET:
	case NODEFAIL_STATIC:
		return NODEPLAN_NODE;
	case NODEFAIL_OTHER:
		return NODEPLAN_UNKNOWN;
	default:
		break;
	}
	if (dies->replaced.never)
		return NODEPLAN_DOWN;
	return dies->stuck ? NODEPLAN_REMAINS : NODEPLAN_REPLACED;
}

struct nodeplan_pod nodeplan_of(const struct nodeplan_rules *rules, const struct podobj_pod *pod)
{
	struct nodefail_in in = {
		.rules = rules->nodefail,
		.pod = pod,
		.taint = rules->taint,
		.taint_s = rules->taint_s,
	};
	struct nodeplan_pod out = {.pod = pod, .dies = nodefail_of(&in)};

	in.taint = NODEFAIL_NO_TAINT;
	out.untainted = nodefail_of(&in);
	out.fate = fate_of(pod, &out.dies);
	return out;
}

static int compare(const void *x, const void *y)
{
	const struct nodeplan_pod *a = x, *b = y;
	int r;

	if (!a->dies.stuck != !b->dies.stuck)
		return a->dies.stuck ? -1 : 1;
	if (a->fate != b->fate)
		return a->fate < b->fate ? -1 : 1;
	r = strcmp(a->pod->namespace_, b->pod->namespace_);
	return r ? r : strcmp(a->pod->name, b->pod->name);
}

void nodeplan_sort(struct nodeplan_pod *pods, size_t n)
{
	if (n > 0)
		qsort(pods, n, sizeof(*pods), compare);
}

struct nodeplan_counts nodeplan_count(const struct nodeplan_pod *pods, size_t n)
{
	struct nodeplan_counts counts = {};

	for (size_t i = 0; i < n; i++) {
		const struct nodefail *dies = &pods[i].dies, *untainted = &pods[i].untainted;

		counts.fates[pods[i].fate]++;
		counts.freed += untainted->gone.never && !dies->gone.never;
		counts.revived += untainted->replaced.never && !dies->replaced.never;
	}
	return counts;
}

bool nodefail_taint_removes(const struct podobj_pod *pod)
{
	struct toleration toleration =
		toleration_of(pod, NODEFAIL_OUT_OF_SERVICE, "nodeshutdown", "NoExecute");

	if (pod->is_static)
		return false;
	if (pod->deleting)
		return true;
	return !podobj_phase_is_terminal(pod->status.phase) &&
	       toleration.kind != TOLERATION_FOREVER;
}
