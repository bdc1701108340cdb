// SPDX-License-Identifier: Apache-2.0
/* Records become increments, and increments find their series, or "_other". */
#include "core/metrics/series.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics/series_store.h"
#include "core/stop/outcome.h"

#define OTHER "_other"

/* What a record adds to one label set. */
struct subject {
	struct series *series;
	struct labels labels;
	struct labelset *set; /* NULL: none yet */
	uint64_t at_ns;
	int64_t wall_ns;
	const char *id, *pod; /* of exemplars */
};

/* How much of the room a new series leaves to others. */
enum modesty { LEAVE_NOTHING, LEAVE_COUNTERS, LEAVE_STOPS, LEAVE_EVENTS };

static const struct labels other_labels = {{OTHER, OTHER, OTHER}};

_Static_assert((int)OOM_LEVEL_UNKNOWN < (int)OUTCOME_COUNT && (int)TRI_TRUE < (int)OUTCOME_COUNT,
	       "any_key() gets to every major");

/* The index-th of all series that a label set can have: 1 with its key, 0 where the combination
 * makes none, -1 after the last. */
static int any_key(unsigned int index, struct serie_key *ret)
{
	if (index >= SERIES_FAMILY_COUNT * OUTCOME_COUNT * CAUSE_COUNT)
		return -1;
	*ret = (struct serie_key){
		.family = (enum series_family)(index / CAUSE_COUNT / OUTCOME_COUNT),
		.major = index / CAUSE_COUNT % OUTCOME_COUNT,
		.minor = index % CAUSE_COUNT,
	};
	return serie_is_key(ret);
}

uint64_t series_overflow_lines(void)
{
	struct serie_key key;
	uint64_t lines = 0;
	int r;

	for (unsigned int i = 0; (r = any_key(i, &key)) >= 0; i++)
		lines += r > 0 ? serie_lines(key.family) : 0;
	return lines;
}

/* All of it at once, so that counting there never fails. */
static int fill_overflow(struct series *s)
{
	struct labelset *set = series_store_add(&s->overflow, &other_labels);
	struct serie_key key;
	int r;

	if (!set)
		return -ENOMEM;
	for (unsigned int i = 0; (r = any_key(i, &key)) >= 0; i++)
		if (r > 0 && !serie_add(set, &key))
			return -ENOMEM;
	return 0;
}

int series_new(const struct series_config *config, struct series **ret)
{
	uint64_t reserve = config->reserved + series_overflow_lines();
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->limit = config->max_series ? config->max_series : SERIES_DEFAULT_LIMIT;
	if (s->limit < reserve)
		s->limit = reserve;
	s->room = s->limit - reserve;
	s->max_age_ns = config->max_age_ns ? config->max_age_ns : SERIES_DEFAULT_AGE_NS;
	if (fill_overflow(s) < 0) {
		series_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

struct series *series_free(struct series *s)
{
	if (!s)
		return NULL;
	series_store_done(&s->store);
	series_store_done(&s->overflow);
	free(s);
	return NULL;
}

static uint64_t spare(const struct series *s, enum modesty modesty)
{
	switch (modesty) {
	case LEAVE_COUNTERS:
		return s->room / SERIES_COUNTERS_PART;
	case LEAVE_STOPS:
		return s->room / SERIES_STOPS_PART;
	case LEAVE_EVENTS:
		return s->room / SERIES_EVENTS_PART;
	case LEAVE_NOTHING:
		break;
	}
	return 0;
}

static bool has_room(const struct series *s, enum series_family family, enum modesty modesty)
{
	return s->store.lines + serie_lines(family) + spare(s, modesty) <= s->room;
}

/* Lines for containers that may be there before a histogram finds no room any more. */
static uint64_t room_of_histograms(const struct series *s)
{
	uint64_t room = s->room - spare(s, LEAVE_COUNTERS);
	uint64_t histogram = serie_lines(SERIES_STOP_DURATION);

	return room < histogram ? 0 : room - histogram + 1;
}

static void use(struct series_store *store, struct serie *serie, int64_t wall_ns)
{
	if (serie->used)
		return;
	store->lines += serie_lines(serie->key.family);
	serie->created_wall_ns = wall_ns;
	serie->used = true;
}

/* The series of the subject, made where there is none and there is room; NULL: there is not. */
static struct serie *own_serie(struct subject *to, const struct serie_key *key,
			       enum modesty modesty)
{
	struct series *s = to->series;
	struct serie *serie = to->set ? serie_find(to->set, key) : NULL;

	if (serie || !has_room(s, key->family, modesty))
		return serie;
	if (!to->set)
		to->set = series_store_add(&s->store, &to->labels);
	serie = to->set ? serie_add(to->set, key) : NULL;
	if (serie)
		use(&s->store, serie, to->wall_ns);
	return serie;
}

static void raise_by(struct serie *serie, uint64_t amount, const struct subject *by)
{
	const struct histogram_bounds *bounds = serie_bounds(serie->key.family);

	if (bounds)
		exemplar_set(serie->exemplars + histogram_observe(serie->histogram, bounds, amount),
			     amount, by->wall_ns, by->id, by->pod);
	else if (__builtin_add_overflow(serie->value, amount, &serie->value))
		serie->value = UINT64_MAX;
}

static void absorb(const struct subject *to, const struct serie_key *key, uint64_t amount)
{
	struct series *s = to->series;
	struct serie *serie = serie_find(s->overflow.sets[0], key);

	assert(serie);
	use(&s->overflow, serie, to->wall_ns);
	raise_by(serie, amount, to);
	s->absorbed[key->family]++;
}

/* amount is what a counter grows by, or what a histogram observes. */
static void add(struct subject *to, struct serie_key key, uint64_t amount)
{
	struct serie *serie =
		own_serie(to, &key, serie_bounds(key.family) ? LEAVE_COUNTERS : LEAVE_NOTHING);

	if (serie)
		raise_by(serie, amount, to);
	else
		absorb(to, &key, amount);
}

static void show_zeros(struct subject *to)
{
	const struct serie_key *key;

	for (size_t i = 0; (key = serie_from_the_start(i)); i++)
		own_serie(to, key, LEAVE_EVENTS);
}

static void touch(struct labelset *set, uint64_t at_ns)
{
	if (at_ns > set->touched_ns)
		set->touched_ns = at_ns;
}

static bool set_kind(struct labelset *set, const char *kind)
{
	char clean[LABEL_MAX + 1], *copy;

	label_clean(clean, kind);
	if (set->kind && strcmp(set->kind, clean) == 0)
		return true;
	copy = strdup(clean);
	if (!copy)
		return false;
	free(set->kind);
	set->kind = copy;
	return true;
}

/* labels: of a container of the workload. Without room or memory there is one line less. */
static void show_workload(struct series *s, const struct record_pod *pod,
			  const struct record_container *container, const struct labels *labels,
			  uint64_t now_ns)
{
	const struct serie_key key = {.family = SERIES_WORKLOAD};
	const char *kind = record_workload_kind(pod, container);
	struct subject to = {.series = s, .labels = *labels};
	struct serie *serie;

	if (!kind || !record_workload(pod, container) || (container->known && container->user))
		return;
	to.labels.text[LABEL_CONTAINER][0] = '\0';
	to.set = series_store_find(&s->store, &to.labels);
	serie = own_serie(&to, &key, LEAVE_STOPS);
	if (!serie || !set_kind(to.set, kind))
		return;
	serie->value = 1;
	touch(to.set, now_ns);
}

static const char *last_component(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void labels_of(const struct record_pod *pod, const struct record_container *container,
		      struct labels *ret)
{
	const char *name = container->known ? container->name : NULL;

	*ret = (struct labels){};
	/* A user would count in another's series, or make them without end. */
	if (container->known && container->user)
		return;
	if (container->known && container->kind == CONTAINER_KIND_SERVICE && !name)
		name = last_component(container->cgroup);
	label_clean(ret->text[LABEL_NAMESPACE], record_namespace(pod, container));
	label_clean(ret->text[LABEL_WORKLOAD], record_workload(pod, container));
	label_clean(ret->text[LABEL_CONTAINER], name);
}

static void subject_begin(struct subject *ret, struct series *s, const struct record *record,
			  const struct record_pod *pod, const struct record_container *container,
			  const char *id)
{
	ret->series = s;
	ret->id = id;
	ret->pod = pod->known ? pod->name : NULL;
	ret->at_ns = record->at_ns;
	ret->wall_ns = record->wall_ns;
	labels_of(pod, container, &ret->labels);
	ret->set = series_store_find(&s->store, &ret->labels);
}

static void subject_end(const struct subject *to)
{
	if (!to->set)
		return;
	touch(to->set, to->at_ns);
	to->set->scrapes = to->series->scrapes;
}

static struct serie *hears_of(const struct labelset *set)
{
	struct serie *serie = set->first;

	while (serie && !(serie->key.family == SERIES_HEARS && serie->used))
		serie = serie->next;
	return serie;
}

static void hide(struct series_store *store, struct serie *serie)
{
	serie->used = false;
	store->lines -= serie_lines(serie->key.family);
}

static void hide_hears(struct series *s, struct labelset *set)
{
	struct serie *serie = set ? hears_of(set) : NULL;

	if (serie)
		hide(&s->store, serie);
}

static void count_gap(struct series *s, const struct record *record, enum gap gap)
{
	s->incomplete[gap] += record->stop.gaps >> gap & 1;
}

enum cause series_kill_cause(enum series_kill kill)
{
	static const enum cause causes[SERIES_KILL_COUNT] = {
		[SERIES_KILL_GRACE_EXPIRED] = CAUSE_GRACE_EXPIRED,
		[SERIES_KILL_EARLY] = CAUSE_KILLED_EARLY,
		[SERIES_KILL_NO_GRACE] = CAUSE_NO_GRACE,
	};

	return causes[kill];
}

static void count_kill(struct series *s, const struct record_stop *stop)
{
	enum sender_kind sender =
		stop->kill_signal.known ? stop->kill_signal.sender.kind : SENDER_UNKNOWN;

	/* One that has no place is as unknown. */
	if ((unsigned int)sender > SENDER_UNKNOWN)
		sender = SENDER_UNKNOWN;
	for (int kill = 0; kill < SERIES_KILL_COUNT; kill++)
		s->kills[kill][sender] += stop->outcome == OUTCOME_KILLED &&
					  stop->cause == series_kill_cause((enum series_kill)kill);
}

static void record_stop(struct series *s, const struct record *record)
{
	const struct record_stop *stop = &record->stop;
	bool odd = !serie_is_pair(stop->outcome, stop->cause);
	unsigned int outcome = odd ? OUTCOME_UNKNOWN : stop->outcome;
	unsigned int cause = odd ? CAUSE_UNKNOWN : stop->cause;
	struct subject to;

	subject_begin(&to, s, record, &stop->pod, &stop->container, stop->id);
	hide_hears(s, to.set);
	s->stops[outcome]++;
	add(&to, (struct serie_key){SERIES_STOPS, outcome, cause}, 1);
	if (stop->deaf)
		add(&to, (struct serie_key){.family = SERIES_DEAF_STOPS}, 1);
	if (stop->collateral_kills)
		add(&to, (struct serie_key){.family = SERIES_COLLATERAL_KILLS},
		    stop->collateral_kills);
	if (record_cut_well(stop))
		add(&to, (struct serie_key){.family = SERIES_CUT}, record_cut_well(stop));
	if (stop->latency_known)
		add(&to, (struct serie_key){SERIES_STOP_DURATION, outcome, 0}, stop->latency_ns);
	if (stop->latency_known && grace_known(&stop->grace) && stop->grace.ns)
		add(&to, (struct serie_key){.family = SERIES_GRACE_USED},
		    histogram_ratio(stop->latency_ns, stop->grace.ns));
	subject_end(&to);
	show_workload(s, &stop->pod, &stop->container, &to.labels, record->at_ns);
	for (int gap = 0; gap < GAP_COUNT; gap++)
		count_gap(s, record, (enum gap)gap);
	if (unheard_name(stop->reason))
		s->unheard[stop->reason]++;
	count_kill(s, stop);
}

static void record_oom(struct series *s, const struct record *record)
{
	const struct record_oom *oom = &record->oom;
	struct serie_key key = {SERIES_OOM_KILLS, oom->level, 0};
	struct subject to;

	if (!serie_is_key(&key))
		key.major = OOM_LEVEL_UNKNOWN;
	subject_begin(&to, s, record, &oom->pod, &oom->container, NULL);
	add(&to, key, 1);
	subject_end(&to);
}

static void record_restart(struct series *s, const struct record *record)
{
	const struct record_restart *r = &record->restart;
	struct subject to;

	subject_begin(&to, s, record, &r->pod, &r->container, r->id);
	add(&to, (struct serie_key){SERIES_RESTARTS, r->probe, 0}, 1);
	subject_end(&to);
}

static void record_pod(struct series *s, const struct record *record)
{
	const struct record_pod_state *pod = &record->pod_state;
	const struct record_container none = {};
	struct subject to;

	if (pod->state == POD_STAGE_TERMINATING)
		s->terminations[(unsigned int)pod->trigger < POD_TRIGGER_COUNT ? pod->trigger
									       : POD_TRIGGER_NONE]++;
	if (pod->state != POD_STAGE_TERMINATED || !pod->exit_ns || pod->empty_ns < pod->exit_ns)
		return;
	subject_begin(&to, s, record, &pod->pod, &none, pod->id);
	add(&to, (struct serie_key){.family = SERIES_POD_EMPTY}, pod->empty_ns - pod->exit_ns);
	subject_end(&to);
}

static void record_pod_ready(struct series *s, const struct record *record)
{
	const struct record_pod_ready *pod = &record->pod_ready;
	const struct record_container none = {};
	struct subject to;

	if (pod->gaps || !pod->stop_ns || pod->until_ns < pod->stop_ns)
		return;
	subject_begin(&to, s, record, &pod->pod, &none, pod->id);
	add(&to, (struct serie_key){.family = SERIES_POD_READY}, pod->until_ns - pod->stop_ns);
	subject_end(&to);
}

void series_record(struct series *s, const struct record *record)
{
	enum record_container_kind kind;

	if (record->type == RECORD_STOP) {
		kind = record->stop.container.kind;
		if (kind == CONTAINER_KIND_SANDBOX)
			count_gap(s, record, GAP_SANDBOX_GUESSED);
		else if (kind != CONTAINER_KIND_PROCESS)
			record_stop(s, record);
	} else if (record->type == RECORD_OOM) {
		kind = record->oom.container.kind;
		if (kind != CONTAINER_KIND_PROCESS)
			record_oom(s, record);
	} else if (record->type == RECORD_RESTART) {
		record_restart(s, record);
	} else if (record->type == RECORD_POD) {
		record_pod(s, record);
	} else if (record->type == RECORD_POD_READY) {
		record_pod_ready(s, record);
	}
}

void series_seen(struct series *s, const struct record_pod *pod,
		 const struct record_container *container, uint64_t now_ns, int64_t wall_ns)
{
	struct subject to = {.series = s, .wall_ns = wall_ns};

	labels_of(pod, container, &to.labels);
	to.set = series_store_find(&s->store, &to.labels);
	if (container->kind == CONTAINER_KIND_CONTAINER ||
	    container->kind == CONTAINER_KIND_SERVICE)
		show_zeros(&to);
	if (to.set)
		touch(to.set, now_ns);
	show_workload(s, pod, container, &to.labels, now_ns);
}

void series_hears_begin(struct series *s)
{
	for (size_t i = 0; i < s->store.n; i++)
		hide_hears(s, s->store.sets[i]);
}

static bool has_no_name(const struct labels *labels)
{
	for (int i = 0; i < LABEL_COUNT; i++)
		if (labels->text[i][0])
			return false;
	return true;
}

/* Whether an answer is to be shown in place of the one that is. */
static bool is_worse(const struct serie *shown, uint64_t value, enum audit_reason reason)
{
	if (shown->value != value)
		return value < shown->value;
	return reason < shown->key.minor;
}

void series_hears(struct series *s, const struct record_pod *pod,
		  const struct record_container *container, const struct audit *audit)
{
	const struct serie_key key = {SERIES_HEARS, 0, audit->reason};
	uint64_t value = !audit_is_deaf(audit);
	struct subject to = {.series = s};
	struct serie *serie;

	if (container->kind != CONTAINER_KIND_CONTAINER &&
	    container->kind != CONTAINER_KIND_SERVICE)
		return;
	labels_of(pod, container, &to.labels);
	if (has_no_name(&to.labels))
		return;
	to.set = series_store_find(&s->store, &to.labels);
	serie = to.set ? hears_of(to.set) : NULL;
	if (serie && !is_worse(serie, value, audit->reason))
		return;
	if (serie)
		hide(&s->store, serie);
	if (!has_room(s, SERIES_HEARS, LEAVE_STOPS))
		return;
	serie = own_serie(&to, &key, LEAVE_STOPS);
	if (!serie)
		return;
	if (!serie->used)
		use(&s->store, serie, 0);
	serie->value = value;
}

void series_scraped(struct series *s)
{
	s->scrapes++;
}

struct sweep {
	const struct series *series;
	uint64_t now_ns;
};

static bool is_old(void *userdata, struct labelset *set)
{
	const struct sweep *sweep = userdata;
	const struct series *s = sweep->series;
	uint64_t age;

	/* Nothing was touched in the future, whatever a record says. */
	if (set->touched_ns > sweep->now_ns)
		set->touched_ns = sweep->now_ns;
	age = sweep->now_ns - set->touched_ns;
	if (age < s->max_age_ns)
		return false;
	return s->scrapes - set->scrapes >= SERIES_MIN_SCRAPES ||
	       age / SERIES_UNSCRAPED_AGES >= s->max_age_ns;
}

void series_age(struct series *s, uint64_t now_ns)
{
	struct sweep sweep = {.series = s, .now_ns = now_ns};
	uint64_t before = s->store.lines;

	series_store_sweep(&s->store, is_old, &sweep);
	s->aged += before - s->store.lines;
}

/* --- reading ------------------------------------------------------------------------------ */

#define MILLION 1000000

static uint64_t used_ppm(const struct series *s)
{
	uint64_t room = room_of_histograms(s);

	return s->store.lines >= room ? MILLION : s->store.lines * MILLION / room;
}

void series_get_stats(const struct series *s, struct series_stats *ret)
{
	*ret = (struct series_stats){
		.lines = s->store.lines + s->overflow.lines,
		.limit = s->limit,
		.used_ppm = used_ppm(s),
		.labelsets = s->store.n,
		.aged = s->aged,
	};
	memcpy(ret->absorbed, s->absorbed, sizeof(ret->absorbed));
	memcpy(ret->stops, s->stops, sizeof(ret->stops));
	memcpy(ret->incomplete, s->incomplete, sizeof(ret->incomplete));
	memcpy(ret->unheard, s->unheard, sizeof(ret->unheard));
	memcpy(ret->kills, s->kills, sizeof(ret->kills));
	memcpy(ret->terminations, s->terminations, sizeof(ret->terminations));
}

const char *series_family_name(enum series_family family)
{
	static const char *const names[SERIES_FAMILY_COUNT] = {
		[SERIES_STOP_DURATION] = "graced_container_stop_duration_seconds",
		[SERIES_STOPS] = "graced_container_stops_total",
		[SERIES_GRACE_USED] = "graced_container_grace_used_ratio",
		[SERIES_DEAF_STOPS] = "graced_container_deaf_stops_total",
		[SERIES_COLLATERAL_KILLS] = "graced_collateral_kills_total",
		[SERIES_CUT] = "graced_container_cut_processes_total",
		[SERIES_OOM_KILLS] = "graced_oom_kills_total",
		[SERIES_POD_EMPTY] = "graced_pod_empty_duration_seconds",
		[SERIES_POD_READY] = "graced_pod_ready_while_terminating_seconds",
		[SERIES_RESTARTS] = "graced_container_requested_restarts_total",
		[SERIES_HEARS] = "graced_container_hears",
		[SERIES_WORKLOAD] = "graced_workload_info",
	};

	return (unsigned int)family < SERIES_FAMILY_COUNT ? names[family] : NULL;
}

static const char *probe_word(unsigned int probe)
{
	static const char *const words[] = {
		[TRI_UNKNOWN] = "unknown", [TRI_FALSE] = "absent", [TRI_TRUE] = "present"};

	return words[probe];
}

static void report(const struct labelset *set, const struct serie *serie, series_fn fn,
		   void *userdata)
{
	const struct serie_key *key = &serie->key;
	struct series_point point = {
		.namespace_ = set->label[LABEL_NAMESPACE],
		.workload = set->label[LABEL_WORKLOAD],
		.container = set->label[LABEL_CONTAINER],
		.value = serie->value,
		.bounds = serie_bounds(key->family),
		.exemplars = serie->exemplars,
		.created_wall_ns = serie->created_wall_ns,
	};

	if (key->family == SERIES_POD_EMPTY || key->family == SERIES_POD_READY ||
	    key->family == SERIES_WORKLOAD)
		point.container = NULL;
	if (point.bounds)
		point.histogram = serie->histogram;
	if (key->family == SERIES_STOPS || key->family == SERIES_STOP_DURATION)
		point.outcome = outcome_name((enum outcome)key->major);
	if (key->family == SERIES_STOPS)
		point.cause = cause_name((enum cause)key->minor);
	if (key->family == SERIES_OOM_KILLS)
		point.level = oom_level_name((enum oom_level)key->major);
	if (key->family == SERIES_WORKLOAD && !set->kind)
		return;
	if (key->family == SERIES_WORKLOAD)
		point.kind = set->kind;
	if (key->family == SERIES_RESTARTS)
		point.probe = probe_word(key->major);
	if (key->family == SERIES_HEARS)
		point.reason = audit_reason_name((enum audit_reason)key->minor);
	fn(userdata, &point);
}

static void report_family(const struct labelset *set, enum series_family family, series_fn fn,
			  void *userdata)
{
	for (const struct serie *serie = set->first; serie; serie = serie->next) {
		if (serie->key.family == family && serie->used)
			report(set, serie, fn, userdata);
	}
}

void series_each(const struct series *s, enum series_family family, series_fn fn, void *userdata)
{
	for (size_t i = 0; i < s->store.n; i++)
		report_family(s->store.sets[i], family, fn, userdata);
	report_family(s->overflow.sets[0], family, fn, userdata);
}
