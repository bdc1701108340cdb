// SPDX-License-Identifier: Apache-2.0
/* What the kubelet will do in a shutdown is read from its configuration, and logind's limit is kept
 * high enough for it. */
#include "app/daemon/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/shutdown.h"
#include "app/live/feed.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "core/shutdown/plan.h"
#include "io/files/watch.h"

struct schedule {
	struct monitor *monitor;
	const struct config_shutdown *options;
	struct logind *logind;
	struct schedule_plan plan;
	struct delaykeep *delay; /* NULL: logind's limit is left as it is */
	struct confwatch *watch; /* NULL: delay watches the kubelet's configuration */
	bool dropped;		 /* our drop-in is removed, and logind has not read that */
};

/* --- what the kubelet will do, by its configuration -------------------------------------------- */

/* With some of them left out, a pod would seem to be in a group that is not its own. */
static void fill_ranges(const struct shutplan *plan, struct schedule_plan *ret)
{
	if (plan->n > OBS_RANGES_MAX) {
		ret->kubelet_bad = true;
		log_warning(
			"the kubelet's configuration has %zu shutdown groups, and graced supports "
			"%d: each container gets the grace period of its pod",
			plan->n, OBS_RANGES_MAX);
		return;
	}
	for (size_t i = 0; i < plan->n; i++) {
		ret->obs.shutdown_plan.ranges[i].priority = plan->groups[i].priority;
		ret->obs.shutdown_plan.ranges[i].seconds = plan->groups[i].seconds;
	}
	ret->obs.shutdown_plan.n_ranges = (uint32_t)plan->n;
}

void schedule_read(const struct config_shutdown *o, struct schedule_plan *ret)
{
	const struct kubeletfile file = {.path = o->kubelet_config, .minor = o->kubelet_minor};
	_cleanup_(arena_free) struct arena arena = {};
	struct kubeletfile_why why;
	struct shutplan plan;

	*ret = (struct schedule_plan){.kubelet_there = kubeletfile_is_there(&file)};
	ret->kubelet_bad = groups_plan(o, &file, &arena, &plan, &why) < 0;
	if (ret->kubelet_bad)
		log_warning("the kubelet's configuration cannot be used: %s; its groups in a "
			    "shutdown are not known",
			    why.text);
	ret->need_ns = groups_need_ns(o, &plan);
	feed_begin(&ret->obs, OBS_SHUTDOWN_PLAN);
	ret->obs.shutdown_plan.mode = o->mode;
	ret->obs.shutdown_plan.overdue_slack_ns = o->overdue_slack_ns;
	ret->obs.shutdown_plan.status_wait_ns = o->status_wait_ns;
	ret->obs.shutdown_plan.deaf_grace_ns = o->deaf_grace_ns;
	ret->obs.shutdown_plan.volumes = o->volumes && o->mode != SHUTDOWN_OBSERVE;
	ret->obs.shutdown_plan.statuses = o->statuses && o->mode != SHUTDOWN_OBSERVE;
	ret->obs.shutdown_plan.unschedulable = o->unschedulable && o->mode == SHUTDOWN_MANAGE;
	ret->obs.shutdown_plan.taint = o->taint && o->volumes && o->mode != SHUTDOWN_OBSERVE;
	ret->obs.shutdown_plan.stops_kubelet = manage_stops_kubelet(o);
	ret->obs.shutdown_plan.two_phases = plan.rules == SHUTPLAN_TWO_PHASES;
	fill_ranges(&plan, ret);
}

/* They want a restart. */
static void feed_rules(struct schedule *s)
{
	struct obs obs;

	for (size_t i = 0; i < s->options->n_managed; i++) {
		feed_begin(&obs, OBS_SHUTDOWN_RULE);
		obs.shutdown_rule = s->options->managed[i];
		feed_obs(monitor_feed(s->monitor), &obs);
	}
}

static void feed_plan(struct schedule *s)
{
	schedule_read(s->options, &s->plan);
	feed_obs(monitor_feed(s->monitor), &s->plan.obs);
}

const struct schedule_plan *schedule_get_plan(const struct schedule *s)
{
	return &s->plan;
}

/* --- how long logind waits for delay locks ----------------------------------------------------- */

static void on_kubelet(void *userdata)
{
	struct schedule *s = userdata;

	log_info("the kubelet's configuration may have changed");
	feed_plan(s);
	if (s->delay)
		delaykeep_need(s->delay, s->plan.need_ns);
}

static void on_config(void *userdata, size_t index)
{
	on_kubelet(userdata);
}

static const char *kubelet_of(const struct schedule *s)
{
	return s->options->kubelet_config ? s->options->kubelet_config : KUBELETFILE_DEFAULT;
}

static void open_watch(struct schedule *s)
{
	const char *path = kubelet_of(s);
	const struct confwatch_sink sink = {s, on_config};
	int r = confwatch_new(monitor_event(s->monitor), &path, 1, &sink, &s->watch);

	if (r < 0)
		log_warning("cannot watch the kubelet's configuration for changes: %s",
			    strerror(-r));
}

static void open_keeper(struct schedule *s)
{
	const struct delaykeep_options options = {.kubelet_config = kubelet_of(s)};
	const struct delaykeep_sink sink = {s, on_kubelet};
	int r = delaykeep_new(monitor_event(s->monitor), s->logind, &options, &sink, &s->delay);

	if (r < 0)
		log_warning("cannot raise logind's InhibitDelayMaxSec: %s", strerror(-r));
	else
		delaykeep_need(s->delay, s->plan.need_ns);
}

void schedule_open(struct schedule *s, struct logind *logind)
{
	s->logind = logind;
	if (s->options->mode != SHUTDOWN_OBSERVE) {
		open_keeper(s);
	} else {
		s->dropped = schedule_remove_drop_in();
		open_watch(s);
	}
}

bool schedule_remove_drop_in(void)
{
	int r = delaydrop_remove("");

	if (r < 0)
		log_warning("cannot remove " DELAYDROP_DIR "/" DELAYDROP_NAME ": %s", strerror(-r));
	else if (r > 0)
		log_info(DELAYDROP_DIR "/" DELAYDROP_NAME " is removed: shutdown.mode is no longer "
				       "assist or manage");
	return r > 0;
}

void schedule_limit(struct schedule *s, uint64_t limit_ns)
{
	if (s->delay)
		delaykeep_limit(s->delay, limit_ns);
}

void schedule_up(struct schedule *s)
{
	if (s->dropped)
		logind_reload(s->logind);
}

void schedule_reloaded(struct schedule *s, const char *error)
{
	if (s->delay)
		delaykeep_reloaded(s->delay, error);
	if (!s->dropped)
		return;
	s->dropped = false;
	if (error)
		log_warning(
			"cannot reload logind: %s; its InhibitDelayMaxSec changes when it is reloaded",
			error);
	else
		logind_query_limit(s->logind);
}

bool schedule_get_delay(const struct schedule *s, struct delaykeep_state *ret)
{
	if (s->delay)
		delaykeep_get_state(s->delay, ret);
	return s->delay;
}

/* --- opening and closing ----------------------------------------------------------------------- */

int schedule_new(struct monitor *m, const struct config_shutdown *options, struct schedule **ret)
{
	struct schedule *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->monitor = m;
	s->options = options;
	feed_rules(s);
	feed_plan(s);
	*ret = s;
	return 0;
}

struct schedule *schedule_free(struct schedule *s)
{
	if (!s)
		return NULL;
	delaykeep_free(s->delay);
	confwatch_free(s->watch);
	free(s);
	return NULL;
}
