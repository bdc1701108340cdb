// SPDX-License-Identifier: Apache-2.0
/*
 * The volumes of pods that are stopped, by the kubelet's mounts. A volume can be attached to
 * another node once it is unmounted here; where a node goes down before that, the attach/detach
 * controller waits six minutes.
 *
 * A mount of a pod counts once the pod is stopped, and until it is gone, whatever becomes of the
 * pod. A mount for all pods of the node counts when such a pod used its volume, and no other pod
 * does. A mount of a pod that is not known is of no pod that was stopped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/shutdown/priv.h"

struct volume_rec {
	uint64_t id, device;
	char pod_uid[POD_UID_MAX];
	char plugin[SHUTDOWN_PLUGIN_MAX];
	char driver[SHUTDOWN_DRIVER_MAX];
	char name[SHUTDOWN_VOLUME_MAX];
	uint64_t key; /* of plugin and name; 0: it has no name */
	bool stopped; /* it is of a pod that was stopped, or was used by one */
	bool left;    /* ... and by no other */
};

/* A mount of a pod, as far as each mount for the node is compared with it. */
struct shutdown_volume_use {
	uint64_t device, key;
	const struct volume_rec *rec;
};

/* --- facts ---------------------------------------------------------------------------------- */

static bool fits(const char *text, size_t size)
{
	return text && strnlen(text, size) < size;
}

static void fill(struct volume_rec *rec, const struct shutdown_volume *facts)
{
	*rec = (struct volume_rec){.id = facts->id, .device = facts->device};
	strcpy(rec->pod_uid, facts->pod_uid);
	strcpy(rec->plugin, facts->plugin);
	strcpy(rec->driver, facts->driver);
	strcpy(rec->name, facts->name);
	if (*rec->name)
		rec->key = map_key_join(map_key(rec->plugin), map_key(rec->name));
}

static int add(struct shutdown *sd, const struct shutdown_volume *facts)
{
	struct volume_rec *rec;
	int r;

	if (sd->volumes.list.count >= SHUTDOWN_MAX_VOLUMES) {
		sd->stats.refused++;
		return -ENOSPC;
	}
	if (!sd->volumes.uses)
		sd->volumes.uses = calloc(SHUTDOWN_MAX_VOLUMES, sizeof(*sd->volumes.uses));
	rec = sd->volumes.uses ? malloc(sizeof(*rec)) : NULL;
	if (!rec)
		return -ENOMEM;
	fill(rec, facts);
	r = map_put(&sd->volumes.list, rec->id, rec);
	if (r < 0)
		free(rec);
	return r;
}

int shutdown_note_volume(struct shutdown *sd, const struct shutdown_event *event)
{
	const struct shutdown_volume *facts = &event->volume;
	struct volume_rec *rec;
	int r = 0;

	if (!facts->id || !fits(facts->pod_uid, sizeof(rec->pod_uid)) ||
	    !fits(facts->plugin, sizeof(rec->plugin)) ||
	    !fits(facts->driver, sizeof(rec->driver)) || !fits(facts->name, sizeof(rec->name)))
		return -EINVAL;
	if (!sd->volumes.watched)
		return 0;
	rec = map_get(&sd->volumes.list, facts->id);
	if (rec)
		fill(rec, facts);
	else
		r = add(sd, facts);
	sd->volumes.counted = false;
	return r < 0 ? r : 1;
}

int shutdown_forget_volume(struct shutdown *sd, const struct shutdown_event *event)
{
	struct volume_rec *rec = map_remove(&sd->volumes.list, event->id);

	if (!event->id)
		return -EINVAL;
	if (!rec)
		return 0;
	free(rec);
	sd->volumes.counted = false;
	return 1;
}

void shutdown_forget_volumes(struct shutdown *sd)
{
	struct volume_rec *rec;

	for (size_t i = 0; (rec = map_next(&sd->volumes.list, &i));)
		free(rec);
	map_done(&sd->volumes.list);
	free(sd->volumes.uses);
	sd->volumes = (struct shutdown_volumes){};
}

/* --- which of them are left ------------------------------------------------------------------- */

static void mark_of_pod(struct shutdown *sd, struct volume_rec *rec)
{
	const struct shutdown_pod_rec *pod = shutdown_pod(sd, rec->pod_uid);

	if (pod && pod->stopped)
		rec->stopped = true;
	rec->left = rec->stopped;
}

/* By the name of the volume, or by its file system, which a pod's mount shares with the one for the
 * node. */
static bool is_same(const struct volume_rec *a, const struct volume_rec *b)
{
	return a->device == b->device ||
	       (a->key && a->key == b->key && strcmp(a->plugin, b->plugin) == 0 &&
		strcmp(a->name, b->name) == 0);
}

static void mark_of_node(const struct shutdown_volume_use *uses, size_t n, struct volume_rec *rec)
{
	bool others = false;

	for (size_t i = 0; i < n; i++) {
		if ((uses[i].device != rec->device && uses[i].key != rec->key) ||
		    !is_same(uses[i].rec, rec))
			continue;
		rec->stopped |= uses[i].rec->stopped;
		others |= !uses[i].rec->stopped;
	}
	rec->left = rec->stopped && !others;
}

/* Until a pod is stopped no mount is compared with others. */
static void count(struct shutdown *sd)
{
	struct shutdown_volume_use *uses = sd->volumes.uses;
	struct volume_rec *rec;
	size_t left = 0, n = 0;
	bool stopped = false;

	for (size_t i = 0; (rec = map_next(&sd->volumes.list, &i));) {
		if (*rec->pod_uid) {
			mark_of_pod(sd, rec);
			uses[n++] = (struct shutdown_volume_use){rec->device, rec->key, rec};
		}
		stopped |= rec->stopped;
	}
	for (size_t i = 0; stopped && (rec = map_next(&sd->volumes.list, &i));) {
		if (!*rec->pod_uid)
			mark_of_node(uses, n, rec);
		left += rec->left;
	}
	sd->volumes.left = left;
	sd->volumes.counted = true;
}

size_t shutdown_volumes_left(struct shutdown *sd)
{
	shutdown_survey(sd);
	if (!sd->volumes.counted)
		count(sd);
	return sd->volumes.left;
}

/* The driver of a pod's mount is that of the mount for the node, as long as there is one. */
static const char *driver_of(const struct shutdown *sd, const struct volume_rec *of)
{
	const struct volume_rec *rec;

	for (size_t i = 0; !*of->driver && (rec = map_next(&sd->volumes.list, &i));)
		if (*rec->driver && strcmp(rec->plugin, of->plugin) == 0 && is_same(rec, of))
			return rec->driver;
	return of->driver;
}

void shutdown_list_volumes(struct shutdown *sd, struct shutdown_record *ret)
{
	const struct volume_rec *rec;

	ret->volumes_known = sd->volumes.read;
	ret->n_volumes = shutdown_volumes_left(sd);
	for (size_t i = 0; (rec = map_next(&sd->volumes.list, &i));) {
		if (!rec->left || ret->n_volumes_listed == SHUTDOWN_LIST_VOLUMES)
			continue;
		ret->volumes[ret->n_volumes_listed++] = (struct shutdown_volume){
			.id = rec->id,
			.device = rec->device,
			.pod_uid = rec->pod_uid,
			.plugin = rec->plugin,
			.driver = driver_of(sd, rec),
			.name = rec->name,
		};
	}
}

/* --- the lock --------------------------------------------------------------------------------- */

void shutdown_watch_volumes(struct shutdown *sd)
{
	struct shutdown_volumes *v = &sd->volumes;
	bool wanted = sd->config.volumes && sd->config.mode != SHUTDOWN_OBSERVE &&
		      (sd->state == SHUTDOWN_GOING || sd->state == SHUTDOWN_FLUSHING);

	if (!wanted && v->watched) {
		shutdown_forget_volumes(sd);
		shutdown_do(sd, EFFECT_LEAVE_VOLUMES, 0, 0);
	}
	if (wanted && !v->watched) {
		v->watched = true;
		v->since_ns = sd->now_ns;
		shutdown_do(sd, EFFECT_WATCH_VOLUMES, 0, 0);
	}
	/* Which pod used the volume shows only while its own mount is there. */
	if (v->watched)
		shutdown_volumes_left(sd);
}

/* The kubelet unmounts, also after it has released its lock. */
static bool can_unmount(const struct shutdown *sd)
{
	return sd->volumes.unmounter || shutdown_kubelet_may_hold(sd);
}

static bool is_given_up(struct shutdown *sd)
{
	uint64_t end_ns = shutdown_sum(sd->empty_ns, SHUTDOWN_VOLUMES_MAX_NS);

	if (shutdown_counted(sd) >= end_ns)
		return true;
	shutdown_want_counted(sd, end_ns);
	return false;
}

bool shutdown_volumes_hold(struct shutdown *sd)
{
	const struct shutdown_volumes *v = &sd->volumes;
	uint64_t late_ns = shutdown_sum(v->since_ns, SHUTDOWN_VOLUMES_NS);

	if (!v->watched)
		return false;
	if (v->read)
		return shutdown_volumes_left(sd) > 0 && can_unmount(sd) && !is_given_up(sd);
	if (v->failed || sd->now_ns >= late_ns)
		return false;
	shutdown_want(sd, late_ns);
	return true;
}
