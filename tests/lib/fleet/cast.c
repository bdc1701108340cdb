// SPDX-License-Identifier: Apache-2.0
/* Keeps the records of recordings, and reports them again. */
#include "lib/fleet/cast.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/files/file.h"
#include "wire/recording/recording.h"

#define POD	  "web-0"
#define CONTAINER "main"
/* A stop that took longer than this share of its grace period would be another verdict. */
#define IN_TIME	  95 / 100

struct reading {
	struct arena *arena;
	struct cast *cast;
};

static struct record_pod *pod_of(struct record *record)
{
	switch (record->type) {
	case RECORD_SIGNAL:
		return &record->signal.pod;
	case RECORD_STOP:
		return &record->stop.pod;
	case RECORD_OOM:
		return &record->oom.pod;
	case RECORD_POD:
		return &record->pod_state.pod;
	case RECORD_POD_READY:
		return &record->pod_ready.pod;
	default:
		return NULL;
	}
}

/* NULL: the record is of a pod. */
static struct record_container *container_of_record(struct record *record)
{
	switch (record->type) {
	case RECORD_SIGNAL:
		return &record->signal.container;
	case RECORD_STOP:
		return &record->stop.container;
	case RECORD_OOM:
		return &record->oom.container;
	default:
		return NULL;
	}
}

static void own(struct arena *arena, const char **text)
{
	if (*text)
		*text = arena_strdup(arena, *text);
}

static void own_pod(struct arena *arena, struct record_pod *pod)
{
	own(arena, &pod->namespace_);
	own(arena, &pod->name);
	own(arena, &pod->uid);
	own(arena, &pod->workload);
	own(arena, &pod->workload_kind);
}

static void own_container(struct arena *arena, struct record_container *container)
{
	own(arena, &container->name);
	own(arena, &container->id);
	own(arena, &container->cgroup);
	own(arena, &container->image);
	own(arena, &container->namespace_);
	own(arena, &container->workload);
	own(arena, &container->workload_kind);
}

static void own_sender(struct arena *arena, struct record_sender *sender)
{
	own(arena, &sender->process.comm);
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		own(arena, &sender->ancestors[i]);
	own_pod(arena, &sender->pod);
	own_container(arena, &sender->container);
	own(arena, &sender->cgroup);
}

static void own_record(struct arena *arena, struct record *record)
{
	struct record_container *container = container_of_record(record);

	record->node = NULL;
	own_pod(arena, pod_of(record));
	if (container)
		own_container(arena, container);
	if (record->type == RECORD_SIGNAL) {
		own_sender(arena, &record->signal.sender);
		own(arena, &record->signal.target.comm);
	} else if (record->type == RECORD_STOP) {
		own(arena, &record->stop.process.comm);
		own_sender(arena, &record->stop.stop_signal.sender);
		own_sender(arena, &record->stop.kill_signal.sender);
		own(arena, &record->stop.forward.to.comm);
	} else if (record->type == RECORD_OOM) {
		own(arena, &record->oom.victim.comm);
	}
}

static void on_record(void *userdata, const struct record *record)
{
	struct reading *reading = userdata;
	struct cast *cast = reading->cast;
	struct record copy = *record;
	struct record_pod *pod = pod_of(&copy);
	struct record_container *container = container_of_record(&copy);

	if (!pod || !pod->known || !pod->name || strcmp(pod->name, POD) != 0 ||
	    cast->n == CAST_RECORDS_MAX)
		return;
	if (container &&
	    (!container->known || !container->name || strcmp(container->name, CONTAINER) != 0))
		return;
	own_record(reading->arena, &copy);
	cast->records[cast->n++] = copy;
}

static int play_lines(struct lines *lines, const struct feed_sink *sink)
{
	struct rec_options options = {};
	struct lines_line line;
	struct feed *feed;
	struct obs obs;
	int r = lines_next(lines, &line) > 0 ? rec_options_read(line.at, line.len, &options)
					     : -EBADMSG;

	if (r >= 0)
		r = feed_new(&options.engine, sink, &feed);
	if (r >= 0) {
		while (r >= 0 && lines_next(lines, &line) > 0) {
			r = rec_read_line(line.at, line.len, &obs);
			if (r >= 0)
				feed_obs(feed, &obs);
		}
		feed_free(feed);
	}
	rec_options_done(&options);
	return r;
}

int cast_feed(const char *path, const struct feed_sink *sink)
{
	struct lines *lines;
	int r = lines_open(path, REC_LINE_MAX, &lines);

	if (r < 0)
		return r;
	r = play_lines(lines, sink);
	lines_free(lines);
	return r;
}

int cast_read(struct arena *arena, const char *path, struct cast *ret)
{
	struct reading reading = {arena, ret};
	const struct feed_sink sink = {.userdata = &reading, .record = on_record};
	int r;

	*ret = (struct cast){};
	r = cast_feed(path, &sink);
	return r < 0 ? r : ret->n ? 0 : -EBADMSG;
}

static void pace(struct record_stop *stop, uint32_t thousandths)
{
	uint64_t latency_ns = stop->latency_ns * thousandths / 1000;
	uint64_t most_ns = stop->grace.ns * IN_TIME;

	if (!stop->latency_known || stop->kill_signal.known)
		return;
	stop->latency_ns = grace_known(&stop->grace) && latency_ns > most_ns ? most_ns : latency_ns;
}

void cast_play(const struct cast *cast, const struct cast_role *role, cast_fn fn, void *userdata)
{
	for (size_t i = 0; i < cast->n; i++) {
		struct record record = cast->records[i];
		struct record_pod *pod = pod_of(&record);
		struct record_container *container = container_of_record(&record);

		pod->namespace_ = role->namespace_;
		pod->workload = role->workload;
		pod->workload_kind = role->kind;
		pod->name = role->pod;
		pod->uid = role->uid;
		if (container) {
			container->name = role->container;
			container->id = role->container_id;
		}
		if (record.type == RECORD_STOP) {
			snprintf(record.stop.id, sizeof(record.stop.id), "%s/%s/%" PRId64,
				 role->boot, role->container_id, role->wall_ns);
			pace(&record.stop, role->pace);
		}
		record.wall_ns = role->wall_ns;
		record.at_ns = (uint64_t)role->wall_ns;
		fn(userdata, &record);
	}
}
