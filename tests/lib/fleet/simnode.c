// SPDX-License-Identifier: Apache-2.0
/* Draws the pods of a node and their ends. */
#include "lib/fleet/simnode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOUR_S	       3600
#define DAY_S	       86400
/* Slots count their turns from here: 2026-01-01T00:00:00Z. */
#define EPOCH_S	       ((int64_t)1767225600)
/* One stop in so many leaves the pod in its place; one workload in so many is deaf; one pod in so
 * many has a sidecar; so many workloads share a namespace. */
#define IN_PLACE_EACH  4
#define DEAF_EACH      20
#define SIDECAR_EACH   4
#define NAMESPACE_EACH 8
/* More than all pods that a node has in a day; a prime, so that steps of any size reach each. */
#define WORKLOADS_MIN  997

enum { OF_PHASE = 1, OF_JITTER, OF_KIND, OF_END, OF_PACE, OF_ID, OF_START, OF_FIRST, OF_DEAF };

const struct simnode_end simnode_ends[] = {
	/* Pods that are deleted. */
	{"pod-deleted", 70},
	{"pod-ready", 12},
	{"row-17", 8},
	{"pod-evicted", 4},
	{"row-09", 4},
	{"row-16", 2},
	/* ... and are deaf. */
	{"row-10", 60},
	{"grace-deletion", 30},
	{"grace-early", 10},
	/* Restarts in their place. */
	{"row-02", 30},
	{"child-oom", 10},
	{"row-18", 30},
	{"row-29", 20},
	{"row-28", 10},
	{},
};

enum { ENDS_OF_DELETED = 0, ENDS_OF_DEAF = 6, ENDS_IN_PLACE = 9, ENDS = 14 };

/* One place for a pod, from the daemon's start on. */
struct slot {
	const struct simnode *node;
	uint32_t number;
	bool daemon;
	uint32_t tenants; /* so far */
	char namespace_[64], workload[64], pod[96], uid[40], id[72];
	struct simnode_container container;
};

uint64_t simnode_draw(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x =
		(a * 0x9e3779b97f4a7c15U) ^ (b * 0xbf58476d1ce4e5b9U) ^ (c * 0x94d049bb133111ebU);

	for (int i = 0; i < 2; i++) {
		x += 0x9e3779b97f4a7c15U;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
		x = (x ^ x >> 27) * 0x94d049bb133111ebU;
		x ^= x >> 31;
	}
	return x;
}

static uint64_t draw(const struct slot *slot, uint64_t turn, uint64_t what)
{
	return simnode_draw((uint64_t)slot->node->number << 8 | slot->number, turn, what);
}

struct simnode simnode_of(const struct simnode_fleet *fleet, uint32_t number, int64_t now_s)
{
	uint64_t age_s = HOUR_S + simnode_draw(number, 0, OF_START) % (DAY_S - HOUR_S);

	return (struct simnode){fleet, number, now_s - (int64_t)age_s};
}

/* --- who runs in a slot ------------------------------------------------------------------------- */

static bool is_prime(uint32_t n)
{
	for (uint32_t i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return n > 1;
}

static uint32_t workloads_of(const struct simnode_fleet *fleet)
{
	uint32_t n = fleet->nodes * SIMNODE_SERVICES / SIMNODE_REPLICAS;

	n = n < WORKLOADS_MIN ? WORKLOADS_MIN : n;
	while (!is_prime(n))
		n++;
	return n;
}

static void name_daemon(struct slot *slot)
{
	static const char *const names[SIMNODE_DAEMONS] = {
		"kube-proxy",	 "cilium",     "node-local-dns", "ebs-csi-node",
		"node-exporter", "fluent-bit", "graced",	 "node-problem-detector",
	};
	uint32_t i = slot->number - SIMNODE_SERVICES;

	strcpy(slot->namespace_, i < 4 ? "kube-system" : "monitoring");
	snprintf(slot->workload, sizeof(slot->workload), "%s", names[i]);
	slot->container.container = slot->workload;
	slot->container.deaf = false;
}

/* Never the same twice on a node: a tenant's number times a step that no workload is a multiple of.
 */
static void name_service(struct slot *slot)
{
	static const char *const areas[] = {"checkout", "search", "billing", "media",
					    "identity", "orders", "pricing", "mail"};
	static const char *const parts[] = {"api",    "worker", "web",	"cache",
					    "ingest", "sync",	"cron", "gateway"};
	const struct simnode *node = slot->node;
	uint32_t workloads = workloads_of(node->fleet);
	uint64_t tenant = slot->tenants * (uint64_t)SIMNODE_SERVICES + slot->number;
	uint64_t first = simnode_draw(node->number, 0, OF_FIRST);
	uint64_t step = 1 + first % (workloads - 1);
	uint32_t n = (uint32_t)((first / workloads + tenant * step) % workloads);
	uint32_t group = n / NAMESPACE_EACH;

	snprintf(slot->namespace_, sizeof(slot->namespace_), "%s-%u", areas[group % 8], group / 8);
	snprintf(slot->workload, sizeof(slot->workload), "%s-%s-%u", areas[group % 8],
		 parts[n % NAMESPACE_EACH], n);
	slot->container.container = "app";
	slot->container.deaf = simnode_draw(n, 0, OF_DEAF) % DEAF_EACH == 0;
}

static void name_container(struct slot *slot)
{
	uint64_t at = (uint64_t)slot->container.since_s;

	snprintf(slot->id, sizeof(slot->id),
		 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, draw(slot, at, OF_ID),
		 draw(slot, at, OF_ID + 100), draw(slot, at, OF_ID + 200),
		 draw(slot, at, OF_ID + 300));
}

static void enter(struct slot *slot, int64_t at_s)
{
	uint64_t a, b;

	if (slot->daemon)
		name_daemon(slot);
	else
		name_service(slot);
	slot->tenants++;
	slot->container.since_s = at_s;
	a = draw(slot, (uint64_t)at_s, OF_ID + 400);
	b = draw(slot, (uint64_t)at_s, OF_ID + 500);
	snprintf(slot->pod, sizeof(slot->pod), "%s-%09" PRIx64 "-%05" PRIx64, slot->workload,
		 a & 0xfffffffffU, b & 0xfffff);
	snprintf(slot->uid, sizeof(slot->uid), "%08x-%04x-4%03x-8%03x-%012" PRIx64,
		 (uint32_t)(a >> 32), (uint32_t)a & 0xffff, (uint32_t)(a >> 16) & 0xfff,
		 (uint32_t)b & 0xfff, b >> 16);
	name_container(slot);
}

/* --- when and how it stops ---------------------------------------------------------------------- */

static int64_t period_of(const struct slot *slot)
{
	const struct simnode_fleet *fleet = slot->node->fleet;
	uint32_t stops = fleet->stops_an_hour ?: 1;

	return slot->daemon ? DAY_S : SIMNODE_SERVICES * HOUR_S / stops;
}

/* In the first half of the turn, which begins for each slot at a time of its own. */
static int64_t time_of(const struct slot *slot, int64_t turn)
{
	uint64_t period_s = (uint64_t)period_of(slot);

	return EPOCH_S + turn * (int64_t)period_s +
	       (int64_t)(draw(slot, 0, OF_PHASE) % period_s +
			 draw(slot, (uint64_t)turn, OF_JITTER) % (period_s / 2 + 1));
}

static unsigned int pick_end(uint64_t number, unsigned int from, unsigned int to)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = from; i < to; i++)
		sum += simnode_ends[i].weight;
	number %= sum;
	for (i = from; number >= simnode_ends[i].weight; i++)
		number -= simnode_ends[i].weight;
	return i;
}

static unsigned int end_of(const struct slot *slot, int64_t turn, bool in_place)
{
	uint64_t number = draw(slot, (uint64_t)turn, OF_END);

	if (in_place)
		return pick_end(number, ENDS_IN_PLACE, ENDS);
	if (slot->container.deaf)
		return pick_end(number, ENDS_OF_DEAF, ENDS_IN_PLACE);
	return pick_end(number, ENDS_OF_DELETED, ENDS_OF_DEAF);
}

static bool has_sidecar(const struct slot *slot)
{
	return !slot->daemon && slot->number % SIDECAR_EACH == 0;
}

static struct simnode_container sidecar_of(const struct slot *slot)
{
	struct simnode_container sidecar = slot->container;

	sidecar.container = "proxy";
	sidecar.deaf = false;
	return sidecar;
}

/* For each container of the pod. */
static void call(const struct slot *slot, void (*fn)(void *, const struct simnode_container *),
		 void *userdata)
{
	struct simnode_container sidecar = sidecar_of(slot);

	if (!fn)
		return;
	fn(userdata, &slot->container);
	if (has_sidecar(slot))
		fn(userdata, &sidecar);
}

/* The stop of this turn; the pod is replaced, or its container starts again. */
static void stop(struct slot *slot, int64_t turn, int64_t at_s, const struct simnode_sink *sink)
{
	bool in_place = draw(slot, (uint64_t)turn, OF_KIND) % IN_PLACE_EACH == 0 && !slot->daemon;
	uint32_t pace = 50 + (uint32_t)(draw(slot, (uint64_t)turn, OF_PACE) % 3000);
	struct simnode_container sidecar = sidecar_of(slot);

	sink->stops(sink->userdata, &slot->container, at_s, end_of(slot, turn, in_place), pace);
	if (in_place) {
		slot->container.since_s = at_s;
		name_container(slot);
		return;
	}
	if (has_sidecar(slot))
		sink->stops(sink->userdata, &sidecar, at_s, ENDS_OF_DELETED, pace);
	if (sink->left && !slot->daemon)
		sink->left(sink->userdata);
	enter(slot, at_s);
	call(slot, sink->begins, sink->userdata);
}

static void walk_slot(struct slot *slot, int64_t until_s, const struct simnode_sink *sink)
{
	int64_t start_s = slot->node->start_s;
	int64_t turn = (start_s - EPOCH_S) / period_of(slot) - 2;

	enter(slot, start_s);
	call(slot, sink->begins, sink->userdata);
	for (; time_of(slot, turn) <= until_s; turn++)
		if (time_of(slot, turn) > start_s)
			stop(slot, turn, time_of(slot, turn), sink);
	call(slot, sink->alive, sink->userdata);
}

void simnode_walk(const struct simnode *node, int64_t until_s, const struct simnode_sink *sink)
{
	for (uint32_t i = 0; i < SIMNODE_SERVICES + SIMNODE_DAEMONS; i++) {
		struct slot slot = {
			.node = node,
			.number = i,
			.daemon = i >= SIMNODE_SERVICES,
		};

		slot.container = (struct simnode_container){
			.namespace_ = slot.namespace_,
			.workload = slot.workload,
			.kind = slot.daemon ? "DaemonSet" : "Deployment",
			.pod = slot.pod,
			.uid = slot.uid,
			.container_id = slot.id,
		};
		walk_slot(&slot, until_s, sink);
	}
}
