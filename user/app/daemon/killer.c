// SPDX-License-Identifier: Apache-2.0
/* Kills the processes of several containers in turns. */
#include "app/daemon/killer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/log/log.h"
#include "io/loop/loop.h"

/* Jobs under way together: each holds up to four descriptors. */
#define OPEN_MAX_JOBS 16
/* After so many a job makes room for those that wait. An ordinary container needs two or three. */
#define ROUNDS_A_TURN 8
/* After so many a container is logged. */
#define ROUNDS_TO_LOG 64
/* When the daemon ends. */
#define LAST_SLICES   64

struct job {
	uint64_t id;
	struct cgfs_kill *kill; /* NULL: not begun in this turn */
	uint32_t rounds;	/* of its earlier turns */
	bool logged;		/* that it still forks */
};

struct killer {
	struct cgfs *cgfs;
	/* A timer that is always due, enabled while there is a job: a source of the deferred kind
	 * would go before all others of its priority. */
	sd_event_source *slice;
	struct job *jobs; /* oldest first */
	size_t n, room;
	size_t next; /* of the first OPEN_MAX_JOBS */
};

static void log_failure(uint64_t id, int error)
{
	if (error != -ENOENT)
		log_error("cannot kill the processes of cgroup %llu: %s", (unsigned long long)id,
			  strerror(-error));
}

/* 1: there is more to do. */
static int work_on(struct killer *k, struct job *job)
{
	uint32_t work = KILLER_WORK;
	int r = job->kill ? 1 : cgfs_kill_begin(k->cgfs, job->id, &job->kill);

	if (r > 0)
		r = cgfs_kill_step(job->kill, &work);
	if (r < 0)
		log_failure(job->id, r);
	return r;
}

static void log_forking(struct job *job)
{
	if (job->logged || job->rounds < ROUNDS_TO_LOG)
		return;
	log_warning("cgroup %llu is still forking after %u rounds of SIGKILL to all its processes; "
		    "further rounds follow, after those of other containers",
		    (unsigned long long)job->id, job->rounds);
	job->logged = true;
}

/* Behind all that wait, without its descriptors. */
static void move_to_tail(struct killer *k, size_t at)
{
	struct job job = k->jobs[at];

	job.rounds += cgfs_kill_rounds(job.kill);
	job.kill = cgfs_kill_free(job.kill);
	log_forking(&job);
	memmove(k->jobs + at, k->jobs + at + 1, (k->n - 1 - at) * sizeof(*k->jobs));
	k->jobs[k->n - 1] = job;
}

static void run_slice(struct killer *k)
{
	size_t open = k->n < OPEN_MAX_JOBS ? k->n : OPEN_MAX_JOBS;
	size_t at = k->next < open ? k->next : 0;
	struct job *job = k->jobs + at;

	k->next = at + 1;
	if (work_on(k, job) > 0) {
		if (cgfs_kill_rounds(job->kill) >= ROUNDS_A_TURN) {
			move_to_tail(k, at);
			k->next = at;
		}
		return;
	}
	cgfs_kill_free(job->kill);
	k->n--;
	memmove(job, job + 1, (k->n - at) * sizeof(*k->jobs));
	k->next = at;
}

static int on_slice(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct killer *k = userdata;

	run_slice(k);
	return sd_event_source_set_enabled(source, k->n ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

void killer_add(struct killer *k, uint64_t id)
{
	int r = 0;

	for (size_t i = 0; i < k->n; i++)
		if (k->jobs[i].id == id)
			return;
	if (k->n == k->room) {
		size_t room = k->room ? 2 * k->room : 16;
		struct job *jobs = reallocarray(k->jobs, room, sizeof(*jobs));

		if (!jobs) {
			log_failure(id, -ENOMEM);
			return;
		}
		k->jobs = jobs;
		k->room = room;
	}
	k->jobs[k->n++] = (struct job){.id = id};
	r = sd_event_source_set_enabled(k->slice, SD_EVENT_ONESHOT);
	if (r < 0)
		log_failure(id, r);
}

int killer_new(sd_event *event, struct cgfs *cgfs, struct killer **ret)
{
	struct killer *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->cgfs = cgfs;
	r = timer_new(event, CLOCK_MONOTONIC, 1, on_slice, k, &k->slice);
	if (r < 0) {
		killer_free(k);
		return r;
	}
	*ret = k;
	return 0;
}

struct killer *killer_free(struct killer *k)
{
	if (!k)
		return NULL;
	for (unsigned int i = 0; k->n && i < LAST_SLICES; i++)
		run_slice(k);
	for (size_t i = 0; i < k->n; i++)
		cgfs_kill_free(k->jobs[i].kill);
	sd_event_source_disable_unref(k->slice);
	free(k->jobs);
	free(k);
	return NULL;
}
