// SPDX-License-Identifier: Apache-2.0
/* What is known of containers, pods and other locks, and what it comes to. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/shutdown/priv.h"

static bool usable(const char *uid)
{
	size_t len = strnlen(uid, POD_UID_MAX);

	return len > 0 && len < POD_UID_MAX;
}

static int refuse(struct shutdown *sd)
{
	sd->stats.refused++;
	return -ENOSPC;
}

struct shutdown_pod_rec *shutdown_pod(const struct shutdown *sd, const char *uid)
{
	const struct pod *pod = podmap_find(&sd->cgroups->pods, uid);

	return pod ? pod->turn : NULL;
}

struct shutdown_pod_rec *shutdown_next_pod(const struct shutdown *sd, size_t *pos)
{
	const struct pod *pod;

	while ((pod = podmap_next(&sd->cgroups->pods, pos)))
		if (pod->turn)
			return pod->turn;
	return NULL;
}

/* Its turn, which is new when it had none. */
static int reach_pod(struct shutdown *sd, const char *uid, struct shutdown_pod_rec **ret)
{
	struct pod *pod;
	int r;

	if (sd->n_pods >= SHUTDOWN_MAX_PODS && !shutdown_pod(sd, uid))
		return refuse(sd);
	r = podmap_reach(&sd->cgroups->pods, uid, &pod);
	if (r < 0)
		return r == -EEXIST ? refuse(sd) : r;
	if (!pod->turn) {
		pod->turn = calloc(1, sizeof(*pod->turn));
		if (!pod->turn) {
			podmap_leave(&sd->cgroups->pods, pod);
			return -ENOMEM;
		}
		pod->turn->pod = pod;
		sd->n_pods++;
	}
	*ret = pod->turn;
	return 0;
}

static void drop(struct shutdown *sd, struct pod *pod)
{
	free(pod->turn);
	pod->turn = NULL;
	sd->n_pods--;
}

static void drop_unused(struct shutdown *sd, struct shutdown_pod_rec *rec)
{
	struct pod *pod = rec->pod;

	if (rec->noted || rec->containers > 0)
		return;
	drop(sd, pod);
	podmap_leave(&sd->cgroups->pods, pod);
}

static void bind(struct shutdown *sd, struct shutdown_container_rec *rec,
		 struct shutdown_pod_rec *pod)
{
	struct shutdown_pod_rec *former = rec->pod;

	if (pod)
		pod->containers++;
	rec->pod = pod;
	if (!former)
		return;
	former->containers--;
	drop_unused(sd, former);
}

struct shutdown_container_rec *shutdown_container(const struct shutdown *sd, uint64_t id)
{
	const struct cgnode *node = cgmap_get(sd->cgroups, id);

	return node ? node->turn : NULL;
}

static struct cgnode *node_of(const struct shutdown *sd, const struct shutdown_event *event,
			      uint64_t id)
{
	return event->node ? event->node : cgmap_get(sd->cgroups, id);
}

/* Its turn, which is new when node had none. */
static int reach_container(struct shutdown *sd, struct cgnode *node, uint64_t id,
			   struct shutdown_container_rec **ret)
{
	int r = 0;

	if (node && node->turn) {
		*ret = node->turn;
		return 0;
	}
	if (sd->n_containers >= SHUTDOWN_MAX_CONTAINERS)
		return refuse(sd);
	if (!node)
		r = cgmap_add_unknown(sd->cgroups, id, &node);
	if (r < 0)
		return r;
	node->turn = calloc(1, sizeof(*node->turn));
	if (!node->turn)
		return -ENOMEM;
	node->turn->node = cgnode_ref(node);
	TAILQ_INSERT_TAIL(&sd->containers, node->turn, all);
	sd->n_containers++;
	*ret = node->turn;
	return 0;
}

static void drop_container(struct shutdown *sd, struct shutdown_container_rec *rec)
{
	struct cgnode *node = rec->node;
	uint64_t id = node->id;

	TAILQ_REMOVE(&sd->containers, rec, all);
	sd->n_containers--;
	node->turn = NULL;
	free(rec);
	cgnode_unref(sd->cgroups, node);
	if (sd->cgroups == &sd->own)
		cgmap_remove(&sd->own, id);
}

/* All but its pod. */
static bool same_container(const struct shutdown_container *a, const struct shutdown_container *b)
{
	const size_t from = offsetof(struct shutdown_container, id);
	const size_t n = offsetof(struct shutdown_container, outside) + sizeof(a->outside) - from;

	_Static_assert(offsetof(struct shutdown_container, outside) ==
			       offsetof(struct shutdown_container, id) + 7 * sizeof(uint64_t) +
				       5 * sizeof(uint32_t) + 6 * sizeof(bool),
		       "bytes between members");
	return memcmp(&a->id, &b->id, n) == 0 && a->grace.set == b->grace.set &&
	       a->grace.s == b->grace.s;
}

/* A rule decides until the container's turn comes: a label that is known later is too late. */
static struct shutdown_container decided(const struct shutdown *sd,
					 const struct shutdown_container_rec *rec,
					 const struct shutdown_container *facts)
{
	struct shutdown_container c = *facts;

	/* The turn of a shutdown that was cancelled is not forgotten before the next one. */
	if (!shutdown_is_on(sd) || !rec->facts.outside || !rec->turn.begun_ns || !facts->populated)
		return c;
	c.kind = rec->facts.kind;
	c.outside = true;
	c.group = rec->facts.group;
	return c;
}

int shutdown_note_container(struct shutdown *sd, const struct shutdown_event *event)
{
	const struct shutdown_container *said = &event->container;
	struct cgnode *node = node_of(sd, event, said->id);
	bool in_pod = said->pod_uid && *said->pod_uid;
	struct shutdown_pod_rec *pod = NULL;
	struct shutdown_container_rec *rec;
	struct shutdown_container facts;
	int r;

	if (!said->id || (in_pod && !usable(said->pod_uid)))
		return -EINVAL;
	if (said->kind == SHUTDOWN_KIND_OUTSIDE && !said->unanswered && !(node && node->turn))
		return 0;
	r = reach_container(sd, node, said->id, &rec);
	if (r < 0)
		return r;
	facts = decided(sd, rec, said);
	/* Where its pod finds no room, the container alone is known. */
	if (in_pod)
		(void)reach_pod(sd, said->pod_uid, &pod);
	if (pod == rec->pod && same_container(&rec->facts, &facts))
		return 0;
	bind(sd, rec, pod);
	if (rec->facts.asked_ns != facts.asked_ns) {
		rec->overdue_reported = false;
		rec->look_ns = 0;
	}
	if (!facts.populated) {
		rec->survives_reported = false;
		rec->turn = (struct shutdown_turn){};
	} else if (!rec->facts.populated) {
		rec->turn.late = shutdown_is_on(sd);
		rec->turn.left = shutdown_is_on(sd) && sd->handed_over;
	}
	rec->facts = facts;
	rec->facts.pod_uid = NULL;
	sd->surveyed = false;
	return 1;
}

int shutdown_forget_container(struct shutdown *sd, const struct shutdown_event *event)
{
	struct cgnode *node = node_of(sd, event, event->id);

	if (!event->id)
		return -EINVAL;
	if (!node || !node->turn)
		return 0;
	bind(sd, node->turn, NULL);
	drop_container(sd, node->turn);
	sd->surveyed = false;
	return 1;
}

static bool same_pod(const struct shutdown_pod *known, const struct shutdown_pod *facts)
{
	struct shutdown_pod bare = *facts;

	bare.uid = NULL;
	return memcmp(known, &bare, sizeof(bare)) == 0;
}

int shutdown_note_pod(struct shutdown *sd, const struct shutdown_event *event)
{
	const struct shutdown_pod *facts = &event->pod;
	struct shutdown_pod_rec *pod;
	int r;

	if (!facts->uid || !usable(facts->uid))
		return -EINVAL;
	r = reach_pod(sd, facts->uid, &pod);
	if (r < 0)
		return r;
	if (pod->noted && same_pod(&pod->facts, facts))
		return 0;
	pod->noted = true;
	pod->facts = *facts;
	pod->facts.uid = NULL;
	sd->surveyed = false;
	return 1;
}

/* A deleted object has no status to wait for. */
int shutdown_forget_pod(struct shutdown *sd, const struct shutdown_event *event)
{
	const char *uid = event->uid;
	struct shutdown_pod_rec *pod;

	if (!uid || !usable(uid))
		return -EINVAL;
	pod = shutdown_pod(sd, uid);
	if (!pod || (!pod->noted && pod->facts.ended))
		return 0;
	pod->noted = false;
	pod->facts.stopping = false;
	pod->facts.ended = true;
	drop_unused(sd, pod);
	sd->surveyed = false;
	return 1;
}

int shutdown_note_holders(struct shutdown *sd, const struct shutdown_event *event)
{
	struct shutdown_holders *h = &sd->holders;

	h->asked = false;
	h->failed = event->holders.failed;
	if (h->failed)
		return 0;
	h->known = true;
	if (h->kubelet)
		h->kubelet_ns = shutdown_counted(sd);
	h->kubelet = false;
	h->n = event->holders.n;
	h->n_listed = h->n < SHUTDOWN_MAX_HOLDERS ? h->n : SHUTDOWN_MAX_HOLDERS;
	for (size_t i = 0; i < h->n_listed; i++) {
		const struct shutdown_holder *from = &event->holders.list[i];

		h->kubelet |= from->who && shutdown_is_kubelet(from->who, from->uid);
		h->who[i][0] = '\0';
		strncat(h->who[i], from->who ? from->who : "", SHUTDOWN_WHO_MAX - 1);
		h->list[i] = *from;
		h->list[i].who = h->who[i];
	}
	return 0;
}

int shutdown_note_plan(struct shutdown *sd, const struct shutdown_event *event)
{
	struct shutdown_plan plan = {};

	for (size_t i = 0; i < event->plan.n; i++) {
		const struct shutdown_group *group = &event->plan.groups[i];

		if (plan.n < SHUTDOWN_MAX_GROUPS)
			plan.groups[plan.n++] = *group;
		else
			plan.groups[plan.n - 1].ns =
				shutdown_sum(plan.groups[plan.n - 1].ns, group->ns);
	}
	sd->plan = plan;
	sd->surveyed = false;
	return 0;
}

uint32_t shutdown_group_of(const struct shutdown *sd, const struct shutdown_container_rec *rec)
{
	uint32_t group = rec->facts.outside ? rec->facts.group
			 : rec->pod	    ? rec->pod->facts.group
					    : 0;
	uint32_t last = sd->plan.n ? sd->plan.n - 1 : 0;

	return group < last ? group : last;
}

void shutdown_forget_marks(struct shutdown *sd)
{
	struct shutdown_container_rec *rec;
	struct shutdown_pod_rec *pod;

	TAILQ_FOREACH(rec, &sd->containers, all) {
		rec->overdue_reported = rec->survives_reported = false;
		rec->look_ns = 0;
		rec->turn = (struct shutdown_turn){};
	}
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		pod->stopped = pod->asked = pod->driven = pod->sandbox_given = false;
		pod->writing = pod->written = pod->write_failed = pod->was_occupied =
			pod->was_open = pod->was_over = pod->withheld = false;
		pod->conflicts = 0;
	}
	sd->surveyed = false;
}

void shutdown_forget_all(struct shutdown *sd)
{
	struct shutdown_container_rec *rec;
	struct shutdown_pod_rec *pod;

	while ((rec = TAILQ_FIRST(&sd->containers)))
		drop_container(sd, rec);
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));)
		drop(sd, pod->pod);
	podmap_sweep(&sd->cgroups->pods);
	cgmap_done(&sd->own);
}

static void survey_managed(struct shutdown *sd, const struct shutdown_container_rec *rec,
			   struct shutdown_survey *s)
{
	struct shutdown_pod_rec *pod = rec->pod;

	s->managed++;
	s->managed_in[shutdown_group_of(sd, rec)]++;
	if (!pod)
		return;
	pod->mains += rec->facts.sidecar == 0;
	if (rec->facts.sidecar > pod->last_sidecar)
		pod->last_sidecar = rec->facts.sidecar;
}

static void survey_asked(struct shutdown *sd, const struct shutdown_container_rec *rec,
			 struct shutdown_survey *s)
{
	uint64_t *asked_ns = &s->asked_in[shutdown_group_of(sd, rec)];

	if (rec->facts.kind != SHUTDOWN_KIND_SANDBOX && rec->facts.asked_ns > *asked_ns)
		*asked_ns = rec->facts.asked_ns;
}

static void survey_containers(struct shutdown *sd, struct shutdown_survey *s)
{
	struct shutdown_container_rec *rec;

	TAILQ_FOREACH(rec, &sd->containers, all) {
		if (rec->pod && rec->facts.populated && rec->facts.kind != SHUTDOWN_KIND_SANDBOX)
			rec->pod->occupied = true;
		s->unanswered += rec->facts.populated && rec->facts.unanswered;
		survey_asked(sd, rec, s);
		if (!shutdown_lives(rec))
			continue;
		s->living++;
		s->unnamed += rec->facts.kind == SHUTDOWN_KIND_UNKNOWN;
		s->living_in[shutdown_group_of(sd, rec)]++;
		if (rec->pod)
			rec->pod->lives = true;
		if (shutdown_is_managed(rec))
			survey_managed(sd, rec, s);
		if (!shutdown_is_stopped(rec))
			continue;
		s->stopping++;
		if (rec->pod && shutdown_is_on(sd))
			rec->pod->stopped = true;
	}
}

/* A runtime that stops a sandbox ends at once what else is in the pod. */
static void survey_sandbox(struct shutdown_pod_rec *pod, struct shutdown_survey *s)
{
	if (pod->occupied)
		pod->sandbox_given = false;
	s->sandboxes_due += pod->driven && !pod->occupied && !pod->sandbox_given;
	s->sandboxes_owed += pod->sandbox_given && !pod->sandbox_answered;
}

static void mark_pod(const struct shutdown *sd, struct shutdown_pod_rec *pod)
{
	if (!shutdown_is_on(sd)) {
		pod->was_open = pod->was_over = false;
		return;
	}
	pod->stopped |= pod->facts.stopping || pod->facts.seen;
	pod->was_occupied |= pod->occupied || pod->facts.seen;
	pod->was_open |= pod->noted && !pod->stopped && !pod->facts.ended;
	pod->was_over = !pod->was_occupied && !pod->was_open && (pod->stopped || pod->facts.ended);
}

static void survey_pod(struct shutdown *sd, struct shutdown_pod_rec *pod, struct shutdown_survey *s)
{
	bool unlisted = pod->facts.unlisted || sd->sources[pod->facts.is_static].absent;
	bool ended = (pod->facts.ended && !pod->writing) || pod->written, awaited;

	mark_pod(sd, pod);
	awaited = pod->stopped && !ended && !unlisted;
	pod->unseen = awaited && !pod->lives;
	pod->asked &= pod->unseen;
	s->pods_over += pod->was_over;
	s->pods_stopped += pod->stopped && !pod->was_over;
	s->pods_ended += pod->stopped && !pod->was_over && ended;
	s->pods_unended += pod->stopped && !ended;
	s->pods_shown += pod->stopped && ended && !unlisted;
	s->awaited[pod->facts.is_static] += awaited;
	s->pods_unseen += pod->unseen;
	s->pods_unasked += pod->unseen && !pod->asked;
	s->api_stopped |= pod->stopped && pod->facts.api_server;
	s->statuses_owed += shutdown_status_is_owed(sd, pod);
	if (pod->occupied)
		pod->empty_ns = 0;
	else if (!pod->empty_ns)
		pod->empty_ns = shutdown_counted(sd);
}

static void survey(struct shutdown *sd)
{
	struct shutdown_survey s = {};
	struct shutdown_pod_rec *pod;

	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		pod->lives = pod->occupied = false;
		pod->mains = pod->last_sidecar = 0;
	}
	survey_containers(sd, &s);
	for (size_t i = 0; (pod = shutdown_next_pod(sd, &i));) {
		survey_pod(sd, pod, &s);
		survey_sandbox(pod, &s);
	}
	sd->any_stopped |= s.pods_stopped > 0 || s.pods_unended > 0 || s.stopping > 0;
	sd->survey = s;
	sd->surveyed = true;
	sd->volumes.counted = false;
}

/* Holders are looked at every 50 ms: what is known already costs nothing. */
const struct shutdown_survey *shutdown_survey(struct shutdown *sd)
{
	if (!sd->surveyed)
		survey(sd);
	return &sd->survey;
}
