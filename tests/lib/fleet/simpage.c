// SPDX-License-Identifier: Apache-2.0
/* Counts a node's history and writes its page. */
#include "lib/fleet/simpage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/events/list.h"
#include "core/metrics/series.h"
#include "wire/prometheus/metrics.h"

#define SECOND_NS  ((int64_t)1000000000)
#define BOOT	   "6c5d1f0e-93f4-4a5e-8b1c-2f7d9a4e3b60"
#define PODS	   (SIMNODE_SERVICES + SIMNODE_DAEMONS)
#define CONTAINERS 36

enum { OF_HEARS = 50, OF_COST, OF_RATE, OF_TROUBLE };

int simpage_casts_read(const char *directory, struct simpage_casts *ret, const char **ret_name)
{
	char path[512];
	int r = 0;

	*ret = (struct simpage_casts){};
	for (unsigned int i = 0; r == 0 && simnode_ends[i].recording; i++) {
		*ret_name = simnode_ends[i].recording;
		snprintf(path, sizeof(path), "%s/%s.rec", directory, *ret_name);
		r = i < SIMPAGE_ENDS_MAX ? cast_read(&ret->arena, path, &ret->ends[i]) : -E2BIG;
	}
	return r;
}

void simpage_casts_done(struct simpage_casts *casts)
{
	arena_free(&casts->arena);
}

static struct cast_role role_of(const struct simnode_container *container, int64_t at_s,
				uint32_t pace)
{
	return (struct cast_role){
		.namespace_ = container->namespace_,
		.workload = container->workload,
		.kind = container->kind,
		.pod = container->pod,
		.uid = container->uid,
		.container = container->container,
		.container_id = container->container_id,
		.boot = BOOT,
		.wall_ns = at_s * SECOND_NS,
		.pace = pace,
	};
}

/* --- series of containers ----------------------------------------------------------------------- */

struct counting {
	const struct simpage_casts *casts;
	const struct simnode *node;
	struct series *series;
	int64_t at_s;
	uint64_t stops;
};

static struct record_pod pod_of(const struct simnode_container *container)
{
	return (struct record_pod){
		.known = true,
		.namespace_ = container->namespace_,
		.name = container->pod,
		.uid = container->uid,
		.workload = container->workload,
		.workload_kind = container->kind,
	};
}

static struct record_container named_of(const struct simnode_container *container)
{
	return (struct record_container){
		.known = true, .name = container->container, .kind = CONTAINER_KIND_CONTAINER};
}

static void see(struct counting *c, const struct simnode_container *container, int64_t at_s)
{
	const struct record_pod pod = pod_of(container);
	const struct record_container named = named_of(container);

	series_seen(c->series, &pod, &named, (uint64_t)(at_s * SECOND_NS), at_s * SECOND_NS);
}

static void on_begins(void *userdata, const struct simnode_container *container)
{
	see(userdata, container, container->since_s);
}

static void on_record(void *userdata, const struct record *record)
{
	struct counting *c = userdata;

	c->stops += record->type == RECORD_STOP;
	series_record(c->series, record);
}

static void on_stops(void *userdata, const struct simnode_container *container, int64_t at_s,
		     unsigned int end, uint32_t pace)
{
	struct counting *c = userdata;
	const struct cast_role role = role_of(container, at_s, pace);

	cast_play(&c->casts->ends[end], &role, on_record, c);
}

/* Its series go, once they are old: they would take the room of those that came later. */
static void on_left(void *userdata)
{
	struct counting *c = userdata;

	for (int i = 0; i < SERIES_MIN_SCRAPES; i++)
		series_scraped(c->series);
	series_age(c->series, (uint64_t)(c->at_s * SECOND_NS));
}

static void on_alive(void *userdata, const struct simnode_container *container)
{
	static const enum audit_reason heard[] = {AUDIT_HANDLER, AUDIT_HANDLER, AUDIT_SIGNALFD,
						  AUDIT_DEFAULT};
	struct counting *c = userdata;
	const struct record_pod pod = pod_of(container);
	const struct record_container named = named_of(container);
	struct audit audit = {.verdict = AUDIT_HEARS};

	see(c, container, c->at_s);
	audit.reason = heard[strlen(container->workload) % 4];
	if (container->deaf)
		audit = (struct audit){.verdict = AUDIT_DEAF, .reason = AUDIT_SHIELD};
	series_hears(c->series, &pod, &named, &audit);
}

/* --- the daemon itself -------------------------------------------------------------------------- */

static uint64_t draw(const struct counting *c, uint64_t what, uint64_t below)
{
	return simnode_draw(c->node->number, 0, what) % below;
}

/* So many in an hour, since the daemon's start. */
static uint64_t grown(const struct counting *c, uint64_t an_hour)
{
	return an_hour * (uint64_t)(c->at_s - c->node->start_s) / 3600;
}

static void fill_programs(const struct counting *c, struct metrics_program *programs,
			  struct metrics *ret)
{
	static const char *const names[] = {
		"on_cgroup_mkdir", "on_cgroup_rmdir", "on_cgroup_populated",
		"on_deliver",	   "on_exec",	      "on_exit_live",
		"on_oom_task",	   "on_reap",	      "on_signal",
		"delete_watch",	   "set_kind",	      "set_stop",
	};
	size_t n = sizeof(names) / sizeof(names[0]);

	for (size_t i = 0; i < n; i++) {
		uint64_t runs = grown(c, 3000 + draw(c, OF_RATE + i, 300000));

		programs[i] = (struct metrics_program){names[i], true, runs * 140, runs};
	}
	ret->programs = programs;
	ret->n_programs = n;
}

static void fill_engine(const struct counting *c, struct metrics *ret)
{
	for (int i = 1; i < GRACED_EV_COUNT; i++)
		ret->totals[i].emitted = 4 * c->stops + grown(c, draw(c, OF_RATE + 20 + i, 200));
	ret->engine.observations = 40 * c->stops + grown(c, 2000);
	ret->engine.stops = c->stops;
	ret->engine.cgroups = 120 + draw(c, OF_RATE, 40);
	ret->engine.pods = ret->engine.pods_described = PODS;
	ret->engine.containers_described = CONTAINERS;
	for (int i = 0; i < POD_STAGE_COUNT; i++)
		ret->engine.pod_states[i] = PODS + c->stops;
	ret->pods.desired[0] = ret->pods.active[0] = PODS;
	ret->pods.working[0][POD_DESIRED][0] = PODS;
}

static void fill_sources(const struct counting *c, struct metrics *ret)
{
	static const enum meta_source asked[] = {META_CRI, META_KUBELET, META_SYSTEMD, META_LOGS};

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		ret->sources[asked[i]].asked = ret->sources[asked[i]].up = true;
		ret->sources[asked[i]].lookups[META_FOUND] = 2 * c->stops + grown(c, 4);
	}
	ret->sources[META_KUBELET].credential = (struct credential){
		CREDENTIAL_TOKEN, c->at_s / 3600 * 3600 + 5400, c->at_s / 3600 * 3600 + 5040};
	ret->sinks[METRICS_JOURNAL] = (struct metrics_sink){.on = true, .records = 5 * c->stops};
	ret->http_requests[2] = grown(c, 120);
	ret->http_connections = 1;
	ret->control = (struct metrics_control){.on = true};
	ret->checkpoint = (struct metrics_checkpoint){true, 40000, grown(c, 60), 0, 0};
	ret->api.events.on = true;
	ret->api.events.results[API_EVENT_CREATED] = c->stops / 4;
}

/* One node in 100 would not shut down as it should, one sheds work, one went down uncleanly. */
static void fill_shutdown(const struct counting *c, struct bootlog *previous, struct metrics *ret)
{
	uint64_t trouble = draw(c, OF_TROUBLE, 100);

	ret->shutdown.on = ret->shutdown.held = true;
	ret->shutdown.delay_known = true;
	ret->shutdown.delay_max_ns = 60 * (uint64_t)SECOND_NS;
	ret->shutdown.n_groups = 1;
	for (int i = 0; i < METRICS_READY_COUNT; i++)
		ret->shutdown.ready[i] = METRICS_READY_YES;
	if (trouble == 0)
		ret->shutdown.ready[METRICS_READY_DELAY] = METRICS_READY_NO;
	if (trouble == 1)
		ret->shed = SHED_NOISY;
	strcpy(previous->boot_id, "11111111-2222-3333-4444-555555555555");
	previous->saved_wall_ns = (c->node->start_s - 300) * SECOND_NS;
	previous->watched_ns = previous->saved_ns = 60 * (uint64_t)SECOND_NS;
	if (trouble != 2) {
		previous->shutdown.announced_ns = 1;
		previous->shutdown.released_ns = 50 * (uint64_t)SECOND_NS;
	}
	ret->boot = (struct metrics_boot){true, trouble == 2, previous};
}

static void fill_process(const struct counting *c, struct metrics *ret)
{
	uint64_t mean_ppm = 1500 + draw(c, OF_COST, 3000);

	ret->overhead_known = ret->process_known = true;
	ret->overhead_ppm = mean_ppm + (uint64_t)c->at_s % 97;
	ret->budget_ppm = 20000;
	ret->process_cpu_ns = grown(c, 3600) * mean_ppm * 1000;
	ret->process_resident_bytes = (11 << 20) + (draw(c, OF_COST, 1024) << 12);
	ret->process_virtual_bytes = (uint64_t)220 << 20;
	ret->process_open_fds = 64;
	ret->process_max_fds = 65536;
	ret->process_start_wall_ns = ret->reload_ok_wall_ns = c->node->start_s * SECOND_NS;
	ret->version = "0.1.0";
	ret->kernel = "6.1.0-28-cloud-amd64";
}

static int write_page(const struct counting *c, enum expo_format format, struct buf *out)
{
	struct metrics_program programs[METRICS_PROGRAMS_MAX];
	struct metrics metrics = {.series = c->series};
	struct bootlog previous = {};

	fill_programs(c, programs, &metrics);
	fill_engine(c, &metrics);
	fill_sources(c, &metrics);
	fill_shutdown(c, &previous, &metrics);
	fill_process(c, &metrics);
	return metrics_write(out, format, &metrics);
}

int simpage_write(const struct simpage_casts *casts, const struct simnode *node, int64_t at_s,
		  enum expo_format format, struct buf *out)
{
	const struct series_config config = {.reserved = METRICS_OWN_LINES};
	struct counting c = {.casts = casts, .node = node, .at_s = at_s};
	const struct simnode_sink sink = {&c, on_begins, on_stops, on_left, on_alive};
	int r = series_new(&config, &c.series);

	if (r < 0)
		return r;
	simnode_walk(node, at_s, &sink);
	on_left(&c);
	r = write_page(&c, format, out);
	series_free(c.series);
	return r;
}

/* --- Events ------------------------------------------------------------------------------------- */

struct happened {
	int64_t at_s;
	unsigned int end;
	uint32_t pace;
	const char *kind;
	char namespace_[64], workload[64], pod[128], uid[40], container[64], id[72];
};

struct listing {
	const struct simpage_casts *casts;
	struct eventlist *list;
	struct happened *all;
	size_t n, room;
	int64_t from_s;
	uint64_t now_ns;
	bool failed;
	struct simpage_events *events;
};

static void note_stop(void *userdata, const struct simnode_container *container, int64_t at_s,
		      unsigned int end, uint32_t pace)
{
	struct listing *l = userdata;
	struct happened *at;

	if (at_s < l->from_s || l->failed)
		return;
	l->failed = !ROOM_FOR_ONE(l->all, l->n, l->room, 64);
	if (l->failed)
		return;
	at = &l->all[l->n++];
	*at = (struct happened){.at_s = at_s, .end = end, .pace = pace, .kind = container->kind};
	snprintf(at->namespace_, sizeof(at->namespace_), "%s", container->namespace_);
	snprintf(at->workload, sizeof(at->workload), "%s", container->workload);
	snprintf(at->pod, sizeof(at->pod), "%s", container->pod);
	snprintf(at->uid, sizeof(at->uid), "%s", container->uid);
	snprintf(at->container, sizeof(at->container), "%s", container->container);
	snprintf(at->id, sizeof(at->id), "%s", container->container_id);
}

static int compare_times(const void *a, const void *b)
{
	const struct happened *one = a, *other = b;

	return (one->at_s > other->at_s) - (one->at_s < other->at_s);
}

/* The series whose time has come until then. */
static void write_due(struct listing *l, uint64_t until_ns)
{
	const struct eventlist_item *item;
	uint64_t due_ns;

	while ((due_ns = eventlist_due_ns(l->list, l->now_ns)) && due_ns <= until_ns) {
		l->now_ns = due_ns > l->now_ns ? due_ns : l->now_ns;
		item = eventlist_next(l->list, l->now_ns);
		if (!item)
			return;
		l->events->written++;
		eventlist_written(l->list, item->id, true, false);
	}
}

static void on_event_record(void *userdata, const struct record *record)
{
	struct listing *l = userdata;
	const struct eventlist_item *item;
	struct event event;

	l->events->stops += record->type == RECORD_STOP;
	if (!event_of_record(record, "node-1", &event))
		return;
	switch (eventlist_take(l->list, &event, l->now_ns, &item)) {
	case EVENTLIST_NEW:
		l->events->created++;
		eventlist_created(l->list, item->id, true);
		break;
	case EVENTLIST_DROPPED:
		l->events->dropped++;
		break;
	case EVENTLIST_AGAIN:
	case EVENTLIST_SAME:
		break;
	}
}

static void play_all(struct listing *l)
{
	qsort(l->all, l->n, sizeof(l->all[0]), compare_times);
	for (const struct happened *at = l->all; at < l->all + l->n; at++) {
		const struct simnode_container container = {
			.namespace_ = at->namespace_,
			.workload = at->workload,
			.kind = at->kind,
			.pod = at->pod,
			.uid = at->uid,
			.container = at->container,
			.container_id = at->id,
		};
		const struct cast_role role = role_of(&container, at->at_s, at->pace);

		write_due(l, (uint64_t)(at->at_s * SECOND_NS));
		l->now_ns = (uint64_t)(at->at_s * SECOND_NS);
		cast_play(&l->casts->ends[at->end], &role, on_event_record, l);
	}
}

int simpage_count_events(const struct simpage_casts *casts, const struct simnode *node,
			 int64_t from_s, int64_t until_s, struct simpage_events *ret)
{
	struct listing l = {.casts = casts,
			    .from_s = from_s,
			    .now_ns = (uint64_t)(from_s * SECOND_NS),
			    .events = ret};
	const struct simnode_sink sink = {.userdata = &l, .stops = note_stop};
	int r = eventlist_new(&l.list);

	if (r < 0)
		return r;
	*ret = (struct simpage_events){};
	simnode_walk(node, until_s, &sink);
	if (!l.failed) {
		play_all(&l);
		write_due(&l, (uint64_t)(until_s * SECOND_NS));
	}
	free(l.all);
	eventlist_free(l.list);
	return l.failed ? -ENOMEM : 0;
}
