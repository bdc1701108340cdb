// SPDX-License-Identifier: Apache-2.0
/* Answers requests from what the daemon knows. */
#include "app/daemon/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "app/daemon/daemon.h"
#include "app/daemon/hearings.h"
#include "app/daemon/schedule.h"
#include "app/live/lookup.h"
#include "app/log/log.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "base/version.h"
#include "core/story/story.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"
#include "wire/html/status.h"
#include "wire/http/request.h"

/* --- the last stops --------------------------------------------------------------------------- */

/* Copies, for a record lives no longer than its report. */

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* Names a container for the page: by its name, else the first 12 characters of its id, else its
 * cgroup; its pod by name, else by uid. */
static void subject_of(const struct record_pod *pod, const struct record_container *container,
		       struct htmlsubject *ret)
{
	const char *name = container->name;

	copy(ret->namespace_, sizeof(ret->namespace_), pod->namespace_);
	copy(ret->pod, sizeof(ret->pod), pod->name ? pod->name : pod->uid);
	if (name || !container->id)
		copy(ret->container, sizeof(ret->container), name ? name : container->cgroup);
	else
		snprintf(ret->container, sizeof(ret->container), "%.12s", container->id);
}

static void fill_why(struct htmlstop *ret, const struct record_stop *stop)
{
	_cleanup_(buf_free) struct buf why = {};

	if (!record_badness(stop) && !stop->reason)
		return;
	story_add_why(&why, stop);
	copy(ret->why, sizeof(ret->why), buf_str(&why));
}

static void fill(struct htmlstop *ret, const struct record *record)
{
	const struct record_stop *stop = &record->stop;
	bool timed = stop->latency_known && grace_known(&stop->grace);

	*ret = (struct htmlstop){
		.wall_ns = record->wall_ns,
		.outcome = stop->outcome,
		.cause = stop->cause,
		.latency_known = stop->latency_known,
		.latency_ns = stop->latency_ns,
		.margin_known = timed,
		.margin_ns = timed ? (int64_t)(stop->grace.ns - stop->latency_ns) : 0,
		.complete = !stop->gaps,
		.reason = stop->reason,
		.times = 1,
	};
	fill_why(ret, stop);
	subject_of(&stop->pod, &stop->container, &ret->subject);
}

/* The same name in the same pod, or in its successor under the same name. */
static bool is_same(const struct htmlsubject *a, const struct htmlsubject *b)
{
	return strcmp(a->namespace_, b->namespace_) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->container, b->container) == 0;
}

/* One more place, or that of the last one. False without memory for the first. */
static bool make_room(struct htmlstop **list, size_t *n, size_t most)
{
	struct htmlstop *longer = *n < most ? reallocarray(*list, *n + 1, sizeof(**list)) : NULL;

	if (longer) {
		*list = longer;
		++*n;
	}
	return *n > 0;
}

/* Puts it first, where the one at that place was before. */
static void put_first(struct htmlstop *list, size_t at, const struct htmlstop *stop)
{
	memmove(list + 1, list, at * sizeof(*list));
	list[0] = *stop;
}

static void add_deaf(struct history *h, struct htmlstop *stop)
{
	size_t at = 0;

	while (at < h->n_deaf && !is_same(&h->deaf[at].subject, &stop->subject))
		at++;
	if (at < h->n_deaf)
		stop->times += h->deaf[at].times;
	else if (make_room(&h->deaf, &h->n_deaf, HISTORY_DEAF))
		at = h->n_deaf - 1;
	else
		return;
	put_first(h->deaf, at, stop);
}

void history_done(struct history *h)
{
	free(h->stops);
	free(h->deaf);
	*h = (struct history){};
}

void history_record(struct history *h, const struct record *record)
{
	enum record_container_kind kind = record->stop.container.kind;
	struct htmlstop stop;

	if (record->type != RECORD_STOP || kind == CONTAINER_KIND_SANDBOX ||
	    kind == CONTAINER_KIND_PROCESS)
		return;
	fill(&stop, record);
	if (make_room(&h->stops, &h->n_stops, HISTORY_STOPS))
		put_first(h->stops, h->n_stops - 1, &stop);
	if (stop.reason != UNHEARD_NONE)
		add_deaf(h, &stop);
}

/* --- pages ------------------------------------------------------------------------------------ */

#define PLAIN "text/plain; charset=utf-8"
#define HTML  "text/html; charset=utf-8"

/* However many scrape at once, the metrics are written down once in this time. */
#define KEEP_MS 250

static void add_kernel_half(const struct monitor *m, struct metrics *ret)
{
	struct ring_stats ring;

	if (!monitor_kern(m) || !monitor_ring(m))
		return;
	kern_read_stats(monitor_kern(m), ret->totals);
	ret->recursion_misses = monitor_lost(m)->recursion_misses;
	ring_get_stats(monitor_ring(m), &ring);
	ret->rejected = ring.rejected;
}

static void add_process(struct metrics *ret)
{
	struct selfstat self;

	ret->process_known = selfstat_read(&self) >= 0;
	if (!ret->process_known)
		return;
	ret->process_cpu_ns = self.cpu_ns;
	ret->process_resident_bytes = self.resident_bytes;
	ret->process_virtual_bytes = self.virtual_bytes;
	ret->process_open_fds = self.open_fds;
	ret->process_max_fds = self.max_fds;
	ret->process_start_wall_ns = self.start_wall_ns;
}

static void add_lookups(const struct monitor *m, struct metrics *ret)
{
	struct source_state state;

	for (int source = META_NONE + 1; source < META_SOURCE_COUNT; source++) {
		lookup_get_state(monitor_lookup(m), (enum meta_source)source, &state);
		ret->sources[source].asked = state.status != SOURCE_OFF;
		ret->sources[source].up = state.status == SOURCE_UP;
		ret->sources[source].credential = state.credential;
		memcpy(ret->sources[source].lookups, state.lookups, sizeof(state.lookups));
	}
}

_Static_assert(METRICS_HTTP_CLASSES == WEB_CLASSES, "both go by the first digit");

static void add_web(const struct daemon *d, struct metrics *ret)
{
	struct web_stats stats;

	web_get_stats(d->web, &stats);
	memcpy(ret->http_requests, stats.requests, sizeof(ret->http_requests));
	ret->http_connections = stats.connections;
	ret->http_connections_refused = stats.evicted + stats.refused;
	ret->http_connections_expired = stats.expired;
}

static void add_loop(const struct steps *steps, struct metrics_loop *ret)
{
	*ret = (struct metrics_loop){&steps_bounds, &steps->wall, &steps->cpu, &steps->delay};
}

static void add_control(const struct daemon *d, struct metrics *ret)
{
	struct control_stats stats;

	if (!d->control)
		return;
	control_get_stats(d->control, &stats);
	ret->control = (struct metrics_control){true, stats.answered, stats.refused, stats.failed};
}

static void add_boot(const struct daemon *d, struct metrics *ret)
{
	const struct bootnote *note;

	if (!d->boot)
		return;
	note = bootkeep_note(d->boot);
	ret->boot = (struct metrics_boot){true, note->unclean,
					  note->previous.boot_id[0] ? &note->previous : NULL};
}

static void add_statuses(const struct daemon *d, struct api_statuses *ret)
{
	struct shutdown_status status;
	struct shutdown_stats stats;

	if (!d->config.shutdown.statuses ||
	    !engine_get_shutdown(monitor_engine(d->monitor), &status, &stats))
		return;
	*ret = (struct api_statuses){.on = true, .counts = stats.statuses};
}

static void fill_metrics(struct daemon *d, struct metrics *ret)
{
	struct monitor *m = d->monitor;

	*ret = (struct metrics){.series = d->tally.series, .version = version_string()};
	add_kernel_half(m, ret);
	if (monitor_engine(m)) {
		engine_get_stats(monitor_engine(m), &ret->engine);
		engine_pods_count(monitor_engine(m), &ret->pods);
	}
	ret->effects_dropped = monitor_feed(m) ? feed_dropped(monitor_feed(m)) : 0;
	add_lookups(m, ret);
	recorders_get_stats(d->recorders, ret->sinks);
	if (d->costs)
		costs_get_metrics(d->costs, ret);
	add_loop(monitor_steps(m), &ret->loop);
	add_web(d, ret);
	add_control(d, ret);
	if (d->checkpoint)
		checkpoint_get_stats(d->checkpoint, &ret->checkpoint);
	if (d->inhibitor)
		inhibitor_get_metrics(d->inhibitor, &ret->shutdown);
	if (d->events)
		events_get_metrics(d->events, &ret->api.events);
	if (d->inhibitor)
		add_statuses(d, &ret->api.statuses);
	add_boot(d, ret);
	ret->log_lost = log_lost();
	ret->reload_failed = d->reload_failed;
	ret->reload_ok_wall_ns = d->reload_ok_wall_ns;
	add_process(ret);
}

/* 0 or -ENOMEM. */
static int write_metrics(struct daemon *d, enum expo_format format, struct buf *out)
{
	struct metrics metrics;
	struct utsname uts;

	fill_metrics(d, &metrics);
	if (uname(&uts) == 0)
		metrics.kernel = uts.release;
	return metrics_write(out, format, &metrics);
}

static void metrics(struct daemon *d, const struct web_request *request, struct web_reply *ret)
{
	ret->type = negotiate_content_type(request->format);
	ret->keep_ms = KEEP_MS;
	tally_look(&d->tally, d->monitor, d->hearings);
	if (write_metrics(d, request->format, &ret->body) >= 0) {
		series_scraped(d->tally.series);
		return;
	}
	ret->status = 500;
	ret->type = PLAIN;
	ret->keep_ms = 0;
	buf_free(&ret->body);
	buf_adds(&ret->body, "out of memory\n");
}

static const char *const words[] = {
	[SOURCE_OFF] = "off",
	[SOURCE_STARTING] = "starting",
	[SOURCE_UP] = "up",
	[SOURCE_DOWN] = "down",
};

/* A source that is down costs names, not readiness: a line for each that is used. */
static void add_sources(const struct monitor *m, struct buf *out)
{
	struct source_state state;

	for (int source = META_NONE + 1; source < META_SOURCE_COUNT; source++) {
		lookup_get_state(monitor_lookup(m), (enum meta_source)source, &state);
		if (state.status == SOURCE_OFF)
			continue;
		buf_printf(out, "%s: %s", meta_source_name((enum meta_source)source),
			   words[state.status]);
		/* A source calls itself and its troubles whatever it likes. */
		if (state.text[0]) {
			buf_adds(out, ", ");
			utf8_add_visible(out, state.text, strlen(state.text));
		}
		buf_addc(out, '\n');
	}
}

/* --- the status page --------------------------------------------------------------------------- */

struct status_parts {
	struct source_state states[META_SOURCE_COUNT];
	struct htmlsource sources[META_SOURCE_COUNT];
	struct htmlgroup groups[OBS_RANGES_MAX];
	struct engine_planned_pod *pods; /* HTMLSTATUS_PODS; NULL without memory */
	struct htmldeaf *deaf;		 /* HTMLSTATUS_DEAF, likewise */
	char node[META_NAME_MAX];
};

static void fill_sources(const struct daemon *d, struct status_parts *parts, struct htmlstatus *ret)
{
	ret->sources = parts->sources;
	for (int i = META_NONE + 1; i < META_SOURCE_COUNT; i++) {
		struct source_state *state = &parts->states[i];

		lookup_get_state(monitor_lookup(d->monitor), (enum meta_source)i, state);
		if (state->status != SOURCE_OFF)
			parts->sources[ret->n_sources++] =
				(struct htmlsource){meta_source_name((enum meta_source)i),
						    words[state->status], state->text,
						    state->status == SOURCE_UP};
	}
}

struct deaf_fill {
	const struct hearings *hearings;
	struct status_parts *parts;
	struct htmlstatus *page;
};

static void add_running(void *userdata, const struct engine_running *running)
{
	struct deaf_fill *fill = userdata;
	struct htmlstatus *page = fill->page;
	struct htmldeaf *deaf;
	struct audit audit;

	if (!hearings_get(fill->hearings, running, &audit) || !audit_is_deaf(&audit))
		return;
	if (!fill->parts->deaf || page->n_running_deaf == HTMLSTATUS_DEAF) {
		page->n_running_deaf_unlisted++;
		return;
	}
	deaf = &fill->parts->deaf[page->n_running_deaf++];
	deaf->reason = audit.reason;
	subject_of(&running->pod, &running->container, &deaf->subject);
}

static void fill_deaf(const struct daemon *d, struct status_parts *parts, struct htmlstatus *ret)
{
	ret->deaf = d->history.deaf;
	ret->n_deaf = d->history.n_deaf;
	ret->audited = d->hearings && d->ready;
	if (!ret->audited)
		return;
	parts->deaf = calloc(HTMLSTATUS_DEAF, sizeof(*parts->deaf));
	ret->running_deaf = parts->deaf;
	engine_each_container(monitor_engine(d->monitor), add_running,
			      &(struct deaf_fill){d->hearings, parts, ret});
}

struct plan_fill {
	struct status_parts *parts;
	struct htmlstatus *page;
};

static void add_planned(void *userdata, const struct engine_planned_pod *pod)
{
	struct plan_fill *fill = userdata;
	struct htmlstatus *page = fill->page;

	/* The daemon may have read a newer plan than the one that the shutdown under way has. */
	if (!fill->parts->pods || page->n_pods == HTMLSTATUS_PODS || pod->group >= page->n_groups) {
		page->n_pods_unlisted++;
		return;
	}
	fill->parts->pods[page->n_pods++] = *pod;
}

static void fill_shutdown(const struct daemon *d, struct status_parts *parts,
			  struct htmlstatus *ret)
{
	const struct schedule_plan *plan;
	struct shutdown_stats stats;

	if (!d->inhibitor)
		return;
	ret->shutdown_known =
		engine_get_shutdown(monitor_engine(d->monitor), &ret->shutdown, &stats);
	plan = inhibitor_get_plan(d->inhibitor);
	ret->need_ns = plan->need_ns;
	ret->groups = parts->groups;
	for (; ret->n_groups < plan->obs.shutdown_plan.n_ranges; ret->n_groups++) {
		const struct obs_range *range = &plan->obs.shutdown_plan.ranges[ret->n_groups];

		parts->groups[ret->n_groups] = (struct htmlgroup){
			range->priority,
			range->seconds > 0 ? (uint64_t)range->seconds * NS_PER_S : 0};
	}
	parts->pods = calloc(HTMLSTATUS_PODS, sizeof(*parts->pods));
	ret->pods = parts->pods;
	engine_each_planned(monitor_engine(d->monitor), add_planned,
			    &(struct plan_fill){parts, ret});
}

static const char *name_node(const struct daemon *d, struct status_parts *parts)
{
	if (d->config.options.node_name)
		return d->config.options.node_name;
	clock_node_name(parts->node, sizeof(parts->node));
	return parts->node;
}

static void status(struct daemon *d, struct web_reply *ret)
{
	struct status_parts parts = {};
	struct metrics metrics;
	struct htmlstatus page = {
		.node = name_node(d, &parts),
		.version = version_string(),
		.state = d->ending  ? "stopping"
			 : d->ready ? "ready"
				    : "starting",
		.scope = engine_scope_name(d->config.options.engine.scope),
		.mode = d->config.shutdown.off ? "off"
					       : shutdown_mode_name(d->config.shutdown.mode),
		.metrics_path = d->config.telemetry_path,
		.wall_ns = (int64_t)clock_wall_ns(),
		.metrics = &metrics,
	};

	ret->type = HTML;
	ret->policy = htmlstatus_policy;
	ret->keep_ms = KEEP_MS;
	fill_metrics(d, &metrics);
	page.stops = d->history.stops;
	page.n_stops = d->history.n_stops;
	fill_deaf(d, &parts, &page);
	if (d->ready) {
		fill_sources(d, &parts, &page);
		fill_shutdown(d, &parts, &page);
	}
	htmlstatus_write(&ret->body, &page);
	free(parts.pods);
	free(parts.deaf);
}

static void readiness(const struct daemon *d, struct web_reply *ret)
{
	ret->type = PLAIN;
	if (d->ready && !d->ending) {
		buf_adds(&ret->body, "ready\n");
		add_sources(d->monitor, &ret->body);
		if (d->events)
			events_add_state(d->events, &ret->body);
		return;
	}
	ret->status = 503;
	buf_adds(&ret->body, d->ending ? "stopping\n" : "starting\n");
}

void pages_answer(void *userdata, const struct web_request *request, struct web_reply *ret)
{
	struct daemon *d = userdata;

	ret->status = 200;
	if (strcmp(request->path, "/") == 0) {
		status(d, ret);
	} else if (strcmp(request->path, d->config.telemetry_path) == 0) {
		metrics(d, request, ret);
	} else if (strcmp(request->path, "/readyz") == 0) {
		readiness(d, ret);
	} else if (strcmp(request->path, "/healthz") == 0) {
		ret->type = PLAIN;
		buf_adds(&ret->body, "ok\n");
	} else {
		ret->status = 404;
		ret->type = PLAIN;
		buf_adds(&ret->body, "not found\n");
	}
}
