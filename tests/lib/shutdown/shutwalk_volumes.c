// SPDX-License-Identifier: Apache-2.0
/* The mounts of a walk: each pod has one volume, which is unmounted at some time, or never. */
#include "lib/shutdown/shutwalk_priv.h"

static void send(struct shutwalk *w, enum shutdown_event_type type, size_t i)
{
	struct shutdown_event event = {.type = type};

	if (type == SHUTDOWN_EV_VOLUME)
		event.volume = (struct shutdown_volume){.id = i + 1,
							.device = i,
							.pod_uid = shutwalk_uids[i],
							.plugin = "kubernetes.io~csi",
							.driver = "",
							.name = ""};
	else
		event.id = i + 1;
	shutwalk_send(w, &event);
}

void shutwalk_take_volumes(struct shutwalk *w, bool watch)
{
	if (watch == w->volumes.watched || (watch && (!w->config.volumes || !w->on || !w->lock ||
						      w->config.mode != SHUTDOWN_ASSIST)))
		shutwalk_break(w, "mounts are followed while assist holds the lock in a shutdown");
	w->volumes.watched = watch;
	w->volumes.since_ns = w->seen_ns;
	w->volumes.complete = w->volumes.failed = w->volumes.lives = false;
	for (size_t i = 0; i < SHUTWALK_PODS; i++)
		w->volumes.mounted[i] = w->volumes.stopped[i] = false;
}

/* The reading of the mounts, or one of them that goes, or the kubelet that comes or goes. */
void shutwalk_change_volume(struct shutwalk *w)
{
	size_t i = shutwalk_roll(w, SHUTWALK_PODS);

	if (!w->volumes.watched)
		return;
	if (!w->volumes.complete) {
		for (i = 0; i < SHUTWALK_PODS && w->volumes.watched; i++) {
			if (w->volumes.mounted[i] || shutwalk_chance(w, 2))
				continue;
			w->volumes.mounted[i] = true;
			send(w, SHUTDOWN_EV_VOLUME, i);
		}
		if (!w->volumes.watched)
			return;
		w->volumes.failed = shutwalk_chance(w, 8);
		w->volumes.complete = !w->volumes.failed;
		shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_VOLUMES,
							  .failed = w->volumes.failed});
	} else if (shutwalk_chance(w, 3)) {
		w->volumes.lives = !w->volumes.lives;
		shutwalk_send(w, &(struct shutdown_event){.type = SHUTDOWN_EV_UNMOUNTER,
							  .lives = w->volumes.lives});
	} else if (w->volumes.mounted[i]) {
		w->volumes.mounted[i] = false;
		send(w, SHUTDOWN_EV_VOLUME_GONE, i);
	}
}

static bool stops_now(const struct shutwalk *w, size_t pod)
{
	for (size_t i = 0; i < SHUTWALK_CONTAINERS; i++)
		if (w->containers[i].pod == pod && shutwalk_lives(&w->containers[i]) &&
		    shutwalk_is_stopped(w, &w->containers[i]))
			return true;
	return w->pods[pod].known && w->pods[pod].facts.stopping;
}

void shutwalk_mark_volumes(struct shutwalk *w)
{
	for (size_t i = 0; i < SHUTWALK_PODS; i++)
		w->volumes.stopped[i] |= w->volumes.mounted[i] && stops_now(w, i);
}

static bool can_unmount(const struct shutwalk *w)
{
	return w->volumes.lives || shutwalk_kubelet_may_hold(w);
}

/* For a pod that was stopped while its mount was known. */
bool shutwalk_must_wait(const struct shutwalk *w)
{
	bool left = false;

	for (size_t i = 0; i < SHUTWALK_PODS; i++)
		left |= w->volumes.mounted[i] && (w->volumes.stopped[i] || stops_now(w, i));
	return w->volumes.watched && w->volumes.complete && left && can_unmount(w) &&
	       (!w->empty_ns || w->seen_ns < w->empty_ns + SHUTDOWN_VOLUMES_MAX_NS);
}

/* For any pod. */
bool shutwalk_may_wait(const struct shutwalk *w)
{
	bool left = false;

	if (!w->volumes.watched)
		return false;
	if (!w->volumes.complete)
		return !w->volumes.failed && w->seen_ns < w->volumes.since_ns + SHUTDOWN_VOLUMES_NS;
	for (size_t i = 0; i < SHUTWALK_PODS; i++)
		left |= w->volumes.mounted[i];
	return left && can_unmount(w) &&
	       w->seen_ns < w->empty_ns + w->lost_ns + SHUTDOWN_VOLUMES_MAX_NS;
}
