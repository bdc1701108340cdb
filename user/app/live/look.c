// SPDX-License-Identifier: Apache-2.0
#include "app/live/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/log.h"
#include "io/cgroup/hierarchy.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/proc/look.h"
#include "io/proc/proc.h"
#include "io/proc/self.h"

/* What one step may take before the next process is left to the next one. */
#define STEP_NS	     2000000
/* Directories and processes that are listed in one step. */
#define STEP_WORK    256
/* Reading tables of connections takes 1/NET_SHARE of the loop's time at most, beyond a burst. */
#define NET_SHARE    10
#define NET_BURST_NS 500000000ULL
/* Looks that wait: beyond these a stop is not looked at, which its record says. */
#define JOBS_MAX     1024

/* Whom others wait for is searched for so often in a look, and once in a step: 64 processes with
 * 256 files each take 30 ms. */
#define PEERS_MAX 4

struct job {
	struct job *next;
	uint64_t id, begin_ns;
	pid_t init;
	ino_t pidns; /* its pid namespace; 0: not known */
	bool waits, failed, more, begun;
	bool reads_net, unread;
	struct cgfs_members *members; /* while they are listed */
	struct look_net *net;
	struct obs_look piped; /* the last of its threads that writes to a pipe, with its reader */
	size_t n, at;
	size_t peers, peer_at;		/* searched for; the last of them at that step */
	pid_t pids[LOOK_PROCESSES + 1]; /* and the parent of init, which reads what it writes */
};

struct looks {
	struct feed *feed;
	struct cgfs *cgfs;
	struct figures *figures;
	struct defer defer;
	/* Which processes are there is looked at before what they wait for. */
	struct queue {
		struct job *first, **end;
	} queues[2];
	size_t n;
	uint64_t net_ns; /* by then what was read of tables of connections is within its share */
};

/* --- one look ---------------------------------------------------------------------------------- */

static struct job *job_free(struct job *job)
{
	cgfs_members_free(job->members);
	look_net_free(job->net);
	free(job);
	return NULL;
}

/* Init is the first of them already. */
static int take_members(void *userdata, const struct cgfs_batch *batch)
{
	struct job *job = userdata;
	size_t max = job->waits ? LOOK_WAITS : LOOK_PROCESSES;

	for (size_t i = 0; i < batch->n; i++) {
		if (batch->pids[i] == job->init)
			continue;
		if (job->n == max) {
			job->more = true;
			return -E2BIG;
		}
		job->pids[job->n++] = batch->pids[i];
	}
	return 0;
}

static bool holds_sockets(const struct job *job)
{
	for (size_t i = 0; i < job->n; i++)
		if (look_has_socket(job->pids[i]))
			return true;
	return false;
}

/* Without time for the tables, as when a node is drained, clients are not looked for. */
static void end_list(struct looks *looks, struct job *job)
{
	bool has_time = looks->net_ns < clock_boot_ns() + NET_BURST_NS * NET_SHARE;

	job->members = cgfs_members_free(job->members);
	if (!job->waits || !holds_sockets(job))
		return;
	job->net = has_time ? look_net_new() : NULL;
	job->reads_net = job->net;
	job->unread = !job->net;
}

static void list_members(struct looks *looks, struct job *job)
{
	uint32_t work = STEP_WORK;
	int r = cgfs_members_step(job->members, take_members, job, &work);

	job->failed |= r < 0 && r != -E2BIG;
	if (r <= 0)
		end_list(looks, job);
}

static void read_net(struct looks *looks, struct job *job)
{
	uint64_t now_ns = clock_boot_ns(), begin_ns = clock_thread_ns();

	job->reads_net = look_net_step(job->net, job->init);
	if (looks->net_ns < now_ns)
		looks->net_ns = now_ns;
	looks->net_ns += (clock_thread_ns() - begin_ns) * NET_SHARE;
}

static void feed_look(struct looks *looks, const struct job *job, const struct obs_look *look)
{
	struct obs obs;

	feed_begin(&obs, OBS_LOOK);
	obs.look = *look;
	obs.look.id = job->id;
	obs.look.begin_ns = job->begin_ns;
	obs.look.waits = job->waits;
	feed_obs(looks->feed, &obs);
}

/* The shim or the like, which is the last of those that may read a pipe. */
static size_t list_readers(struct job *job, const struct obs_look *init)
{
	if (job->pids[0] == (pid_t)init->proc.pid && init->parent_pid > 1)
		job->pids[job->n] = (pid_t)init->parent_pid;
	return job->n + (job->pids[job->n] != 0);
}

static bool may_search(struct job *job)
{
	if (job->peers == PEERS_MAX || job->peer_at == job->at)
		return false;
	job->peers++;
	job->peer_at = job->at;
	return true;
}

/* Threads write to one pipe, as a rule: the output of the container. */
static void find_peer(struct job *job, size_t readers, struct obs_look *look)
{
	bool piped = look_is_piped(look);

	if (piped && strcmp(look->file, job->piped.file) == 0) {
		look->reader_pid = job->piped.reader_pid;
		memcpy(look->reader_comm, job->piped.reader_comm, sizeof(look->reader_comm));
	} else if (piped && may_search(job)) {
		look_reader(job->pids, readers, look);
		job->piped = *look;
	} else if (look->call == LOOK_CALL_LOCK && look->file[0] && may_search(job)) {
		look_holder(look);
	}
}

static void feed_thread(struct looks *looks, struct job *job, size_t readers, pid_t pid, pid_t tid,
			struct obs_look *look)
{
	bool lives = look_thread(pid, tid, look);

	if (!lives && tid)
		return;
	/* A leader that has ended stands for the threads that have not. */
	look->state = lives ? look->state : 'Z';
	look->reader_pid = 0;
	find_peer(job, readers, look);
	feed_look(looks, job, look);
}

static void look_at(struct looks *looks, struct job *job, pid_t pid)
{
	pid_t tids[LOOK_THREADS];
	struct obs_look look;
	size_t n, readers;

	if (look_process(pid, job->id, job->pidns, &look) < 0 ||
	    !procfs_is_process(pid, look.proc.start_ns))
		return;
	if (!job->waits) {
		feed_look(looks, job, &look);
		return;
	}
	readers = list_readers(job, &look);
	look_clients(job->net, &look);
	feed_thread(looks, job, readers, pid, 0, &look);
	n = look_threads(pid, tids);
	for (size_t i = 0; i < n; i++)
		feed_thread(looks, job, readers, pid, tids[i], &look);
}

static void feed_end(struct looks *looks, const struct job *job)
{
	const char *path = engine_cgroup_path(feed_engine(looks->feed), job->id);
	struct obs obs;

	feed_begin(&obs, OBS_LOOKED);
	obs.looked = (struct obs_looked){
		.id = job->id,
		.begin_ns = job->begin_ns,
		.failed = job->failed,
		.more = job->more,
		.waits = job->waits,
		.unread = job->unread,
	};
	if (path && !job->failed)
		figures_read(looks->figures, path, job->init, &obs.looked);
	feed_obs(looks->feed, &obs);
}

/* --- their turns ------------------------------------------------------------------------------- */

/* What is queued holds no descriptors. */
static void begin_job(struct looks *looks, struct job *job)
{
	const char *path = engine_cgroup_path(feed_engine(looks->feed), job->id);

	job->begun = true;
	job->begin_ns = clock_boot_ns();
	/* Elsewhere its pid is another process's. */
	job->failed = !path || !host_in_initial_pidns() ||
		      cgfs_members_begin(looks->cgfs, path, job->id, &job->members) < 0;
	if (!job->init || job->failed)
		return;
	job->pids[job->n++] = job->init;
	job->pidns = procfs_pidns(job->init);
}

/* False: it is over. */
static bool go_on(struct looks *looks, struct job *job)
{
	if (!job->begun)
		begin_job(looks, job);
	else if (job->members)
		list_members(looks, job);
	else if (job->reads_net)
		read_net(looks, job);
	else if (job->at < job->n)
		look_at(looks, job, job->pids[job->at++]);
	return job->members || job->reads_net || job->at < job->n;
}

static struct queue *next_queue(struct looks *looks)
{
	for (int i = 0; i < 2; i++)
		if (looks->queues[i].first)
			return looks->queues + i;
	return NULL;
}

static struct job *take_first(struct queue *queue)
{
	struct job *job = queue->first;

	queue->first = job->next;
	if (!queue->first)
		queue->end = &queue->first;
	return job;
}

static void end_first(struct looks *looks, struct queue *queue)
{
	struct job *job = take_first(queue);

	looks->n--;
	feed_end(looks, job);
	job_free(job);
}

static int on_turn(sd_event_source *source, void *userdata)
{
	uint64_t until_ns = clock_boot_ns() + STEP_NS;
	struct looks *looks = userdata;
	struct queue *queue;

	(void)source;
	while ((queue = next_queue(looks)) && clock_boot_ns() < until_ns)
		if (!go_on(looks, queue->first))
			end_first(looks, queue);
	if (queue)
		defer_enable(&looks->defer);
	return 0;
}

void looks_add(struct looks *looks, const struct effect *effect)
{
	struct job *job = looks->n < JOBS_MAX ? calloc(1, sizeof(*job)) : NULL;
	struct queue *queue = looks->queues + effect->waits;

	if (!job)
		return;
	job->id = effect->id;
	job->init = (pid_t)effect->pid;
	job->waits = effect->waits;
	*queue->end = job;
	queue->end = &job->next;
	looks->n++;
	defer_enable(&looks->defer);
}

int looks_new(struct feed *feed, struct cgfs *cgfs, const struct hierarchy *hierarchy,
	      sd_event *event, struct looks **ret)
{
	struct looks *looks = calloc(1, sizeof(*looks));
	int r;

	if (!looks)
		return -ENOMEM;
	looks->feed = feed;
	looks->cgfs = cgfs;
	for (int i = 0; i < 2; i++)
		looks->queues[i].end = &looks->queues[i].first;
	r = figures_new(hierarchy, &looks->figures);
	if (r >= 0)
		r = defer_open(&looks->defer, event, on_turn, looks);
	if (r < 0)
		looks_free(looks);
	else
		*ret = looks;
	return r;
}

struct looks *looks_free(struct looks *looks)
{
	struct queue *queue;

	if (!looks)
		return NULL;
	while ((queue = next_queue(looks)))
		job_free(take_first(queue));
	figures_free(looks->figures);
	if (looks->defer.source)
		defer_close(&looks->defer);
	free(looks);
	return NULL;
}

/* --- whether an init is there ----------------------------------------------------------------- */

static void log_holder(struct feed *feed, const struct effect *effect, const struct held *held)
{
	const char *path = engine_cgroup_path(feed_engine(feed), effect->id);

	log_warning(
		"%s: PID 1 (%u) has exited and is held by process %u (%s) of its pid namespace, "
		"which %u (%s) has not waited for: until it does, or ends, the runtime sees no "
		"exit",
		path ? path : "a container", effect->pid, held->pid, held->comm, held->parent_pid,
		held->parent_comm);
}

static void find_holder(struct feed *feed, const struct effect *effect, struct obs_probe *ret)
{
	struct held held;

	if (held_find(effect->pid, &held) < 0)
		return;
	log_holder(feed, effect, &held);
	ret->holder.pid = held.pid;
	ret->holder_parent.pid = held.parent_pid;
	memcpy(ret->holder.comm, held.comm, sizeof(held.comm));
	memcpy(ret->holder_parent.comm, held.parent_comm, sizeof(held.parent_comm));
}

void probe_init(struct feed *feed, const struct effect *effect)
{
	struct obs obs;

	feed_begin(&obs, OBS_PROBE);
	obs.probe.id = effect->id;
	obs.probe.pid = effect->pid;
	obs.probe.start_ns = effect->start_ns;
	/* Where pids are not the host's, no process is known to be gone, and none to be held. */
	obs.probe.alive =
		!host_in_initial_pidns() || procfs_alive((pid_t)effect->pid, effect->start_ns);
	obs.probe.held = !obs.probe.alive && held_is(effect->pid, effect->start_ns);
	if (obs.probe.held && effect->holder)
		find_holder(feed, effect, &obs.probe);
	feed_obs(feed, &obs);
}
