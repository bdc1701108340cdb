// SPDX-License-Identifier: Apache-2.0
/* Samples what the programs and the daemon cost, and sheds and takes back what core/load/budget
 * says. */
#include "app/daemon/costs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/daemon/daemon.h"
#include "app/live/feed.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "base/room.h"
#include "base/time.h"
#include "core/load/budget.h"
#include "core/load/noisy.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"

#define SECOND_US 1000000
#define GRAIN_US  100000

/* The start is over when each source has answered, and by then at the latest. */
#define START_MAX_NS 60000000000ULL

/* A container that does less than so much in a second is not worth marking. */
#define NOISY_FLOOR 200

/* As struct kern_program has them, at the last sample. */
struct program {
	uint64_t run_ns, runs;
};

struct work_list {
	struct noisy_work *list;
	size_t n, room;
};

struct costs {
	struct daemon *daemon;
	struct budget budget;
	struct program programs[METRICS_PROGRAMS_MAX];
	struct metrics_program metrics[METRICS_PROGRAMS_MAX];
	sd_event_source *timer;
	uint64_t bpf_ns;     /* of all programs, estimated, since the start */
	uint64_t vain_ns;    /* of that, what SIGKILLs cost that are ignored and only counted */
	uint64_t vain_kills; /* at the last sample */

	uint64_t began_ns;
	bool started;
	uint64_t start_cpu_ns; /* the daemon's, as far as it is the start's */

	struct noisy noisy;
	bool limited; /* signals to inits are */
};

static struct monitor *monitor_of(const struct costs *c)
{
	return c->daemon->monitor;
}

/*
 * The part of the programs' time since the last sample that went to SIGKILLs which are ignored and
 * only counted: no level of shedding makes these cheaper. As much for each run.
 */
static uint64_t vain_ns(const struct costs *c, uint64_t kills, const struct program *before,
			const struct kern_program *now)
{
	uint64_t runs = now->runs - before->runs, run_ns = now->run_ns - before->run_ns;

	if (strcmp(now->name, "on_signal") != 0 || !runs)
		return 0;
	return kills < runs ? (uint64_t)((double)run_ns * (double)kills / (double)runs) : run_ns;
}

static void read_programs(struct costs *c)
{
	uint64_t vain_kills = kern_vain_kills(monitor_kern(monitor_of(c)));
	struct kern_program program;

	for (unsigned int i = 0; i < METRICS_PROGRAMS_MAX; i++) {
		struct program *p = c->programs + i;

		if (kern_get_program(monitor_kern(monitor_of(c)), i, &program) < 0)
			break;
		c->bpf_ns += program.run_ns - p->run_ns;
		c->vain_ns += vain_ns(c, vain_kills - c->vain_kills, p, &program);
		*p = (struct program){.run_ns = program.run_ns, .runs = program.runs};
	}
	c->vain_kills = vain_kills;
}

static int add_work(void *userdata, uint64_t id, const struct graced_watch *watch)
{
	const struct graced_counts *counts = &watch->counts;
	struct work_list *work = userdata;

	if (watch->kind < GRACED_WATCH_CONTAINER)
		return 0;
	if (!ROOM_FOR_ONE(work->list, work->n, work->room, 64))
		return -ENOMEM;
	work->list[work->n++] = (struct noisy_work){
		.id = id,
		.events = counts->exits + counts->kills + counts->suppressed,
	};
	return 0;
}

/* -errno, with nothing in the list. The caller frees it. */
static int list_work(const struct costs *c, struct work_list *ret)
{
	int r;

	*ret = (struct work_list){};
	r = kern_watch_each(monitor_kern(monitor_of(c)), add_work, ret);
	if (r < 0) {
		free(ret->list);
		*ret = (struct work_list){};
	}
	return r;
}

static void begin_choosing(struct costs *c)
{
	struct work_list work;

	if (list_work(c, &work) >= 0)
		noisy_look(&c->noisy, work.list, work.n);
	free(work.list);
}

static void feed_shed(struct costs *c, uint64_t id, bool on)
{
	struct obs obs;

	feed_begin(&obs, OBS_SHED);
	obs.shed.id = id;
	obs.shed.on = on;
	feed_obs(monitor_feed(monitor_of(c)), &obs);
}

static void report_noisy(struct costs *c, uint64_t id, bool on, uint64_t events)
{
	struct monitor *m = monitor_of(c);
	char path[PATH_MAX];
	uint32_t level;

	feed_shed(c, id, on);
	if (cgfs_path_of(monitor_cgfs(m), id, path, sizeof(path), &level) < 0)
		strcpy(path, "a container that is gone");
	if (on)
		log_at(LOG_WARNING,
		       "shedding: %s made %" PRIu64 " events in a second; only its init is traced "
		       "until the load falls",
		       path, events);
	else
		log_at(LOG_NOTICE, "all processes of %s are traced again", path);
}

static void finish_choosing(struct costs *c)
{
	struct work_list work;
	size_t chosen = 0;

	if (list_work(c, &work) >= 0)
		chosen = noisy_choose(&c->noisy, work.list, work.n, NOISY_FLOOR);
	/* One that is gone by now needs no mark. */
	for (size_t i = 0; i < chosen; i++)
		if (kern_noisy_set(monitor_kern(monitor_of(c)), work.list[i].id, true) >= 0)
			report_noisy(c, work.list[i].id, true, work.list[i].events);
	free(work.list);
}

static void follow_all(struct costs *c)
{
	uint64_t id;

	while (noisy_release(&c->noisy, &id)) {
		/* ENOENT: it is gone, and so is its mark. */
		if (kern_noisy_set(monitor_kern(monitor_of(c)), id, false) >= 0)
			report_noisy(c, id, false, 0);
	}
}

/* What is shed at that level. */
static const char *what(enum shed level)
{
	switch (level) {
	case SHED_NOISY:
		return "in the busiest containers only inits are traced";
	case SHED_SIGNALS:
		return "signal records are not written, repeated signals are not recorded, and in the "
		       "busiest containers only inits are traced";
	case SHED_NAMES:
		return "names are not looked up, signal records are not written, and in the busiest "
		       "containers only inits are traced";
	case SHED_NOTHING:
	case SHED_COUNT:
		break;
	}
	return "nothing is shed";
}

static void limit_signals(struct costs *c, bool on)
{
	kern_limit_all(monitor_kern(monitor_of(c)), on);
	if (on != c->limited)
		feed_shed(c, 0, on);
	c->limited = on;
}

static void apply(struct costs *c, enum shed before)
{
	uint32_t ratio_ppm = c->budget.ratio_ppm;
	bool shutdown = engine_in_shutdown(monitor_engine(monitor_of(c)));
	enum shed level = shed_of(c->budget.level, shutdown);

	before = shed_of(before, shutdown);
	if (level > before)
		log_at(LOG_WARNING,
		       "shedding: %u.%04u %% of a CPU is above the budget of %u.%04u %%; %s",
		       ratio_ppm / 10000, ratio_ppm % 10000, c->budget.limit_ppm / 10000,
		       c->budget.limit_ppm % 10000, what(level));
	else if (level < before)
		log_at(LOG_NOTICE, "less is shed to stay within the budget: now %s", what(level));
	if (level >= before && level >= SHED_NOISY)
		begin_choosing(c);
	if (level < SHED_NOISY)
		follow_all(c);
	recorders_shed_signals(c->daemon->recorders, level >= SHED_SIGNALS);
	limit_signals(c, level >= SHED_SIGNALS);
	lookup_set_shed(monitor_lookup(monitor_of(c)), c->budget.level);
}

/* Scrapes count apart from the budget: no level of shedding makes them cheaper. */
static uint64_t web_cpu_ns(const struct costs *c)
{
	struct web_stats stats;

	web_get_stats(c->daemon->web, &stats);
	return stats.cpu_ns;
}

/* The first look-ups of all pods are made once: their cost sheds nothing. */
static void follow_start(struct costs *c, uint64_t cpu_ns, uint64_t now_ns)
{
	if (c->started)
		return;
	c->start_cpu_ns = cpu_ns;
	c->started = lookup_is_settled(monitor_lookup(monitor_of(c))) ||
		     now_ns - c->began_ns >= START_MAX_NS;
}

/* As often as programs run, whatever they leave out. */
static uint64_t offered_load(const struct costs *c)
{
	uint64_t runs = 0;

	for (unsigned int i = 0; i < METRICS_PROGRAMS_MAX; i++)
		runs += c->programs[i].runs;
	return runs;
}

static void sample(struct costs *c, uint64_t now_ns)
{
	uint64_t web_ns = web_cpu_ns(c), cpu_ns = beyond(selfstat_cpu_ns(), web_ns);
	enum shed before = c->budget.level;
	struct budget_sample s;

	follow_start(c, cpu_ns, now_ns);
	s = (struct budget_sample){
		.at_ns = now_ns,
		.cost_ns = beyond(cpu_ns, c->start_cpu_ns) + c->bpf_ns - c->vain_ns,
		.apart_ns = web_ns + c->start_cpu_ns + c->vain_ns,
		.load = offered_load(c),
	};

	if (noisy_is_looking(&c->noisy))
		finish_choosing(c);
	if (budget_sample(&c->budget, &s))
		apply(c, before);
	lookup_make_up(monitor_lookup(monitor_of(c)));
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct costs *c = userdata;

	read_programs(c);
	sample(c, clock_boot_ns());
	return timer_after(source, SECOND_US);
}

int costs_new(struct daemon *daemon, struct costs **ret)
{
	struct costs *c = calloc(1, sizeof(*c));
	int r = -ENOMEM;

	if (c) {
		c->daemon = daemon;
		c->budget.limit_ppm = daemon->config.budget_ppm;
		c->began_ns = clock_boot_ns();
		c->start_cpu_ns = selfstat_cpu_ns();
		budget_sample(&c->budget, &(struct budget_sample){.at_ns = c->began_ns,
								  .apart_ns = c->start_cpu_ns});
		r = sd_event_add_time_relative(monitor_event(daemon->monitor), &c->timer,
					       CLOCK_MONOTONIC, SECOND_US, GRAIN_US, on_timer, c);
	}
	if (r < 0) {
		log_at(LOG_ERR, "cannot measure the CPU time of graced: %s", strerror(-r));
		costs_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

struct costs *costs_free(struct costs *c)
{
	if (!c)
		return NULL;
	sd_event_source_disable_unref(c->timer);
	noisy_done(&c->noisy);
	free(c);
	return NULL;
}

void costs_reload(struct costs *c)
{
	c->budget.limit_ppm = c->daemon->config.budget_ppm;
}

void costs_get_metrics(struct costs *c, struct metrics *ret)
{
	struct kern_program program;
	unsigned int i;

	for (i = 0; i < METRICS_PROGRAMS_MAX; i++) {
		if (kern_get_program(monitor_kern(monitor_of(c)), i, &program) < 0)
			break;
		c->metrics[i] = (struct metrics_program){
			.name = program.name,
			.attached = program.attached,
			.run_ns = program.run_ns,
			.runs = program.runs,
		};
	}
	ret->programs = c->metrics;
	ret->n_programs = i;
	ret->overhead_known = c->budget.ratio_ppm;
	ret->overhead_ppm = c->budget.ratio_ppm;
	ret->budget_ppm = c->budget.limit_ppm;
	ret->shed = shed_of(c->budget.level, engine_in_shutdown(monitor_engine(monitor_of(c))));
	ret->shed_containers = c->noisy.n_marked;
	ret->shed_changes = c->budget.changes;
}
