// SPDX-License-Identifier: Apache-2.0
/* What housekeeping does with pods: the worker is held against what is wanted and what runs
 * (docs/kubelet-rules.md, "Pod metrics"; tests/kubelet/README.md, "Orphaned pods",
 * "Housekeeping"). */
#include <stdlib.h>

#include "kubelet/model/pod_worker_priv.h"

#define RUNTIME_GRACE 1

/* A pod that was started, or that the runtime runs, is driven to its end from here on. */
static void drive_orphan(struct podworker *pw, struct podworker_record *rec, uint64_t now_ns)
{
	struct podworker_status *s = &rec->status;
	bool shortened;

	if (!s->terminating_ns) {
		s->terminating_ns = podworker_stamp(now_ns);
		s->grace_s = 1;
		if (s->has_active && rec->active.has_pod)
			s->grace_s = podworker_effective_grace(0, rec->active.deletion_grace,
							       (struct pod_seconds){},
							       rec->active.spec_grace, &shortened);
	}
	podworker_replay(pw, rec);
	podworker_tell_stage(pw, rec);
}

bool podworker_remove_terminated(struct podworker *pw, struct podworker_record *rec, bool orphan,
				 uint64_t now_ns)
{
	struct podworker_status *s = &rec->status;

	if (!s->finished) {
		if (!orphan)
			return false;
		s->deleted = true;
		if (s->started_ns || s->observed_runtime) {
			drive_orphan(pw, rec, now_ns);
			return false;
		}
	}
	podworker_remove(pw, rec);
	return true;
}

static void want(struct podworker *pw, const char *uid)
{
	struct podworker_record *rec = podworker_find(pw, uid);

	if (rec)
		rec->epoch = pw->epoch;
}

static struct podworker_known known_of(const struct podworker_record *rec, bool orphan)
{
	const struct podworker_status *s = &rec->status;
	struct podworker_known known = {
		.uid = rec->uid, .state = podworker_state(s), .orphan = orphan};
	const struct podworker_kept *kept = s->has_active    ? &rec->active
					    : s->has_pending ? &rec->pending
							     : NULL;

	known.has_config = kept && kept->has_pod;
	known.is_static = known.has_config && kept->is_static;
	return known;
}

static void sync_records(struct podworker *pw, uint64_t now_ns, podworker_known_fn fn,
			 void *userdata)
{
	struct podworker_record *rec, *next;

	for (rec = TAILQ_FIRST(&pw->all); rec; rec = next) {
		bool orphan = rec->epoch != pw->epoch;
		struct podworker_known known;

		next = TAILQ_NEXT(rec, all);
		if ((orphan || rec->status.restart_requested) &&
		    podworker_remove_terminated(pw, rec, orphan, now_ns))
			continue;
		known = known_of(rec, orphan);
		if (fn)
			fn(userdata, &known);
	}
}

void podworker_sync_known(struct podworker *pw, const char *const *uids, size_t n, uint64_t now_ns,
			  podworker_known_fn fn, void *userdata)
{
	pw->epoch++;
	for (size_t i = 0; i < n; i++)
		want(pw, uids[i]);
	sync_records(pw, now_ns, fn, userdata);
}

bool podworker_sync_one(struct podworker *pw, const char *uid, bool orphan, uint64_t now_ns)
{
	struct podworker_record *rec = podworker_find(pw, uid);

	if (!rec || !(orphan || rec->status.restart_requested))
		return false;
	return podworker_remove_terminated(pw, rec, orphan, now_ns);
}

/* A pod in config that has neither state has no series: it ended before it started. */
static void count_working(void *userdata, const struct podworker_known *known)
{
	struct podworker_house *house = userdata;
	enum podworker_config_state config = PODWORKER_RUNTIME_ONLY;

	if (known->has_config)
		config = known->orphan ? PODWORKER_ORPHAN : PODWORKER_DESIRED;
	else if (!known->orphan)
		return;
	house->working[known->state][config][known->is_static]++;
}

static bool is_terminal(const struct podworker_pod *pod)
{
	return pod->phase == META_PHASE_SUCCEEDED || pod->phase == META_PHASE_FAILED;
}

/* Pods that are over count as active only while they are being terminated. */
static bool is_active(const struct podworker *pw, const struct podworker_pod *pod)
{
	if (podworker_is_known_terminated(pw, pod->uid))
		return false;
	if (is_terminal(pod) || pod->ended_here)
		return podworker_is_termination_requested(pw, pod->uid);
	return true;
}

static int restart(struct podworker *pw, const struct podworker_pod *pod, uint64_t now_ns,
		   struct podworker_house *house)
{
	const struct podworker_update create = {.type = PODWORKER_CREATE, .pod = pod};
	const struct podworker_known known = {
		.state = PODWORKER_STATE_SYNC, .has_config = true, .is_static = pod->is_static};

	house->restarted[pod->is_static]++;
	count_working(house, &known);
	return podworker_update(pw, &create, now_ns);
}

/* Counts what is wanted, and starts what is active and has no worker: its UID came anew. */
static int start_active(struct podworker *pw, const struct podworker_pod *config, size_t n,
			uint64_t now_ns, struct podworker_house *house)
{
	int ret = 0, r = 0;

	for (size_t i = 0; i < n; i++) {
		bool active = is_active(pw, &config[i]);

		house->desired[config[i].is_static]++;
		house->active[config[i].is_static] += active;
		if (active && !podworker_find(pw, config[i].uid))
			r = restart(pw, &config[i], now_ns, house);
		if (r < 0 && ret == 0)
			ret = r;
	}
	return ret;
}

/* A pod that is deleted and over without ever having had a worker has to pass through one, for its
 * object to go. What runs has its own way out. */
static int end_rejected(struct podworker *pw, const struct podworker_pod *config, size_t n,
			const struct map *running, uint64_t now_ns)
{
	struct podworker_update kill = {.type = PODWORKER_KILL};
	int ret = 0, r;

	for (size_t i = 0; i < n; i++) {
		kill.pod = &config[i];
		if (!config[i].uid || !config[i].deleting || !is_terminal(kill.pod) ||
		    podworker_find(pw, config[i].uid) || map_get(running, map_key(config[i].uid)))
			continue;
		r = podworker_update(pw, &kill, now_ns);
		if (r < 0 && ret == 0)
			ret = r;
	}
	return ret;
}

static int kill_orphaned(struct podworker *pw, const struct podworker_running *runtime, size_t n,
			 uint64_t now_ns, struct podworker_house *house)
{
	const struct podworker_kill one = {.grace = {true, RUNTIME_GRACE}};
	const struct podworker_known known = {.state = PODWORKER_STATE_TERMINATING, .orphan = true};
	struct podworker_update kill = {.type = PODWORKER_KILL, .kill = &one};
	int ret = 0, r;

	for (size_t i = 0; i < n; i++) {
		if (!runtime[i].uid || podworker_find(pw, runtime[i].uid))
			continue;
		kill.running = &runtime[i];
		r = podworker_update(pw, &kill, now_ns);
		if (r < 0 && ret == 0)
			ret = r;
		count_working(house, &known);
		house->orphaned++;
	}
	return ret;
}

static int index_running(const struct podworker_running *runtime, size_t n, struct map *ret)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		if (runtime[i].uid)
			r = map_put(ret, map_key(runtime[i].uid), (void *)&runtime[i]);
	return r;
}

int podworker_housekeep(struct podworker *pw, const struct podworker_pod *config, size_t n_config,
			const struct podworker_running *runtime, size_t n_runtime, uint64_t now_ns,
			struct podworker_house *ret)
{
	struct map running = {};
	int r = index_running(runtime, n_runtime, &running), started, ended, killed;

	if (r < 0) {
		map_done(&running);
		return r;
	}
	*ret = (struct podworker_house){};
	pw->epoch++;
	for (size_t i = 0; i < n_config; i++)
		want(pw, config[i].uid);
	sync_records(pw, now_ns, count_working, ret);
	started = start_active(pw, config, n_config, now_ns, ret);
	ended = end_rejected(pw, config, n_config, &running, now_ns);
	killed = kill_orphaned(pw, runtime, n_runtime, now_ns, ret);
	map_done(&running);
	return started < 0 ? started : ended < 0 ? ended : killed;
}
