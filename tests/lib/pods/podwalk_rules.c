// SPDX-License-Identifier: Apache-2.0
/* What must be true of the pod worker after any step (docs/kubelet-rules.md, "Pod worker
 * invariants"). */
#include <string.h>

#include "lib/pods/podwalk_priv.h"

static const char *times_of(const struct podworker_status *s)
{
	if (!s->synced_ns)
		return "what is known was seen";
	if (s->terminated_ns && !s->terminating_ns)
		return "what is terminated was terminating";
	if (s->finished && !s->terminated_ns)
		return "what is finished is terminated";
	if (s->started_terminating && !s->terminating_ns)
		return "what started to terminate is terminating";
	if ((s->deleted || s->evicted) && !s->terminating_ns)
		return "what is deleted or evicted is terminating";
	if (s->restart_requested && !s->terminating_ns)
		return "what is to be restarted ends first";
	return NULL;
}

static const char *worker_of(const struct podworker_record *rec)
{
	const struct podworker_status *s = &rec->status;

	if (rec->worker == s->finished)
		return "a worker runs until its pod is finished";
	if (rec->signalled && !s->has_pending)
		return "who is signalled has something to do";
	if (s->has_pending && !rec->signalled && !s->finished &&
	    (s->started_ns || !rec->pending.is_static))
		return "only static pods wait with something to do";
	if (s->finished && (s->working || rec->call))
		return "what is finished rests";
	if (rec->call && !s->has_active)
		return "a call is about something";
	return NULL;
}

static const char *pod_of(const struct podwalk *w, size_t i, const struct podworker_record *rec)
{
	const struct podwalk_pod *pod = &w->pods[i];
	const char *broken;

	if (!rec)
		return pod->call || pod->stage ? "what is forgotten was told so" : NULL;
	if (pod->call != rec->call)
		return "calls run as they were started";
	if (!pod->stage)
		return "what is known was told";
	if (pod->acknowledged && !rec->status.started_terminating)
		return "what began to terminate does not take it back";
	broken = times_of(&rec->status);
	return broken ? broken : worker_of(rec);
}

static bool is_started(const struct podworker_record *rec)
{
	return rec->status.started_ns && rec->active.is_static && !rec->status.finished;
}

static const char *one_by_name(const struct podworker *pw)
{
	const struct podworker_record *a, *b;
	const struct podworker_name *name;

	TAILQ_FOREACH(a, &pw->all, all) {
		if (!is_started(a))
			continue;
		name = podworker_name_find(pw, a->fullname);
		if (!name || strcmp(name->started, a->uid) != 0)
			return "a started static pod holds its full name";
		for (b = TAILQ_NEXT(a, all); b; b = TAILQ_NEXT(b, all))
			if (is_started(b) && strcmp(a->fullname, b->fullname) == 0)
				return "of a full name one static pod is started";
	}
	return NULL;
}

static const char *ready_of(const struct podworker *pw)
{
	const struct podworker_record *rec;
	size_t ready = 0, known = 0;

	TAILQ_FOREACH(rec, &pw->ready, ready) {
		if (rec->call)
			return "who is busy is not ready";
		if (!rec->signalled || ready++ > PODWALK_PODS)
			return "who is ready was signalled";
	}
	TAILQ_FOREACH(rec, &pw->all, all) {
		known++;
		ready -= rec->signalled && !rec->call;
	}
	if (ready)
		return "who was signalled is ready";
	return known != pw->records.count ? "records are found by UID" : NULL;
}

const char *podwalk_rules(const struct podwalk *w)
{
	const char *broken = NULL;

	for (size_t i = 0; i < PODWALK_PODS && !broken; i++)
		broken = pod_of(w, i, podworker_find(w->pw, podwalk_uid(i)));
	if (!broken)
		broken = one_by_name(w->pw);
	return broken ? broken : ready_of(w->pw);
}
