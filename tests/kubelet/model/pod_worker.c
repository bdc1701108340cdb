// SPDX-License-Identifier: Apache-2.0
/* The pod worker's records: made, found, reported, forgotten. */
#include "kubelet/model/pod_worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kubelet/model/pod_worker_priv.h"

uint64_t podworker_stamp(uint64_t now_ns)
{
	return now_ns ? now_ns : 1;
}

int podworker_new(const struct podworker_config *config, struct podworker **ret)
{
	struct podworker *pw = calloc(1, sizeof(*pw));

	if (!pw)
		return -ENOMEM;
	pw->config = *config;
	if (!pw->config.resync_ns)
		pw->config.resync_ns = PODWORKER_RESYNC_NS;
	if (!pw->config.backoff_ns)
		pw->config.backoff_ns = PODWORKER_BACKOFF_NS;
	TAILQ_INIT(&pw->all);
	TAILQ_INIT(&pw->ready);
	TAILQ_INIT(&pw->all_names);
	*ret = pw;
	return 0;
}

static void record_free(struct podworker_record *rec)
{
	free(rec->fullname);
	free(rec);
}

DEFINE_CLEANUP(struct podworker_record *, record_free);

struct podworker *podworker_free(struct podworker *pw)
{
	struct podworker_record *rec;

	if (!pw)
		return NULL;
	while ((rec = TAILQ_FIRST(&pw->all))) {
		TAILQ_REMOVE(&pw->all, rec, all);
		record_free(rec);
	}
	podworker_names_done(pw);
	map_done(&pw->records);
	free(pw);
	return NULL;
}

struct podworker_record *podworker_find(const struct podworker *pw, const char *uid)
{
	struct podworker_record *rec = uid ? map_get(&pw->records, map_key(uid)) : NULL;

	return rec && strcmp(rec->uid, uid) == 0 ? rec : NULL;
}

static char *fullname_of(const char *namespace_, const char *name)
{
	char text[PODWORKER_FULLNAME_MAX];

	snprintf(text, sizeof(text), "%s_%s", name ? name : "", namespace_ ? namespace_ : "");
	return strdup(text);
}

int podworker_add(struct podworker *pw, const char *uid, const char *namespace_, const char *name,
		  struct podworker_record **ret)
{
	_cleanup_(cleanup_record_free) struct podworker_record *rec = NULL;
	uint64_t key = map_key(uid);
	int r;

	if (!*uid || strlen(uid) >= POD_UID_MAX)
		return -EINVAL;
	/* The second of two UIDs with one key is refused. */
	if (pw->records.count >= PODLIFE_MAX_PODS || map_get(&pw->records, key)) {
		pw->refused++;
		return -ENOSPC;
	}
	rec = calloc(1, sizeof(*rec));
	if (!rec)
		return -ENOMEM;
	snprintf(rec->uid, sizeof(rec->uid), "%s", uid);
	rec->fullname = fullname_of(namespace_, name);
	if (!rec->fullname)
		return -ENOMEM;
	r = map_put(&pw->records, key, rec);
	if (r < 0)
		return r;
	TAILQ_INSERT_TAIL(&pw->all, rec, all);
	*ret = TAKE_PTR(rec);
	return 0;
}

static void unqueue(struct podworker *pw, struct podworker_record *rec)
{
	if (rec->signalled && !rec->call)
		TAILQ_REMOVE(&pw->ready, rec, ready);
	rec->signalled = false;
}

void podworker_end(struct podworker *pw, struct podworker_record *rec)
{
	unqueue(pw, rec);
	rec->worker = false;
}

void podworker_finish(struct podworker *pw, struct podworker_record *rec)
{
	podworker_end(pw, rec);
	rec->status.finished = true;
	rec->status.working = false;
	podworker_name_free(pw, rec->fullname, rec->uid);
}

void podworker_remove(struct podworker *pw, struct podworker_record *rec)
{
	struct podworker_effect moved = {
		.type = PODWORKER_MOVED, .uid = rec->uid, .stage = POD_STAGE_FORGOTTEN};

	podworker_end(pw, rec);
	podworker_name_free(pw, rec->fullname, rec->uid);
	if (rec->reported)
		podworker_tell(pw, &moved);
	map_remove(&pw->records, map_key(rec->uid));
	TAILQ_REMOVE(&pw->all, rec, all);
	record_free(rec);
}

void podworker_signal(struct podworker *pw, struct podworker_record *rec)
{
	if (rec->signalled || !rec->worker)
		return;
	rec->signalled = true;
	if (!rec->call)
		TAILQ_INSERT_TAIL(&pw->ready, rec, ready);
}

void podworker_replay(struct podworker *pw, struct podworker_record *rec)
{
	if (rec->status.has_pending || !rec->status.has_active)
		return;
	rec->pending = rec->active;
	rec->status.has_pending = true;
	rec->status.working = true;
	podworker_signal(pw, rec);
}

void podworker_tell(const struct podworker *pw, const struct podworker_effect *effect)
{
	if (pw->config.effect)
		pw->config.effect(pw->config.userdata, effect);
}

static enum pod_stage stage_of(const struct podworker_status *s)
{
	if (s->finished)
		return POD_STAGE_FINISHED;
	if (s->terminated_ns)
		return POD_STAGE_TERMINATED;
	return s->terminating_ns ? POD_STAGE_TERMINATING : POD_STAGE_SYNC;
}

void podworker_tell_stage(const struct podworker *pw, struct podworker_record *rec)
{
	struct podworker_effect moved = {
		.type = PODWORKER_MOVED, .uid = rec->uid, .stage = stage_of(&rec->status)};

	if (rec->reported == moved.stage)
		return;
	rec->reported = moved.stage;
	podworker_tell(pw, &moved);
}

void podworker_get_stats(const struct podworker *pw, struct podworker_stats *ret)
{
	*ret = (struct podworker_stats){
		.pods = pw->records.count,
		.refused = pw->refused,
		.waiters_refused = pw->waiters_refused,
		.unexpected = pw->unexpected,
	};
}
