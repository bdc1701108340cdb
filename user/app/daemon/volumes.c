// SPDX-License-Identifier: Apache-2.0
/* Compares each reading of the table of mounts with the one before. */
#include "app/daemon/volumes.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/live/feed.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/map.h"
#include "io/proc/mounts.h"

struct mount {
	struct kubemount facts;
	uint64_t reading; /* that had it last */
};

enum fed { FED_NOTHING, FED_FAILED, FED_ALL };

struct volumes {
	struct monitor *monitor;
	const char *root;
	bool wanted;
	char real_root[PATH_MAX]; /* without symbolic links, as the kernel shows it */
	struct mounts *mounts;	  /* NULL: not followed */
	struct map known;	  /* struct mount by its id */
	uint64_t reading;	  /* number of the one under way */
	enum fed fed;	       /* to the engine: all that is mounted, or that it cannot be read */
	bool stale;	       /* it is of a shutdown that is over */
	bool full;	       /* that one was left out for want of memory, in this reading */
	uint32_t kubelet;      /* pid; 0: none */
	sd_event_source *exit; /* of that process */
};

static struct feed *feed_of(const struct volumes *v)
{
	return monitor_feed(v->monitor);
}

static void feed_event(struct volumes *v, const struct obs_volume *volume)
{
	struct obs obs;

	feed_begin(&obs, OBS_VOLUME);
	obs.volume = *volume;
	feed_obs(feed_of(v), &obs);
}

/* --- mounts ---------------------------------------------------------------------------------- */

static void feed_mount(struct volumes *v, const struct kubemount *m)
{
	struct obs obs;

	feed_begin(&obs, OBS_VOLUME);
	obs.volume.event = SHUTDOWN_EV_VOLUME;
	obs.volume.mount = *m;
	mounts_read_driver(v->real_root, m, obs.volume.driver);
	feed_obs(feed_of(v), &obs);
}

static struct mount *add(struct volumes *v, uint64_t id)
{
	struct mount *mount = calloc(1, sizeof(*mount));

	if (mount && map_put(&v->known, id, mount) >= 0)
		return mount;
	free(mount);
	v->full = true;
	return NULL;
}

static void on_line(void *userdata, const char *line, size_t len)
{
	struct volumes *v = userdata;
	struct kubemount facts;
	struct mount *mount;
	bool same;

	if (!v->wanted || kubemount_parse(line, len, v->real_root, &facts) <= 0)
		return;
	mount = map_get(&v->known, facts.id);
	/* The kernel gives the id of a mount that is gone to another. */
	same = mount && memcmp(&mount->facts, &facts, sizeof(facts)) == 0;
	if (!mount)
		mount = add(v, facts.id);
	if (!mount)
		return;
	mount->facts = facts;
	mount->reading = v->reading;
	if (!same)
		feed_mount(v, &facts);
}

/* One that is gone; 0: there is none. */
static uint64_t find_gone(const struct volumes *v)
{
	const struct mount *mount;

	for (size_t i = 0; (mount = map_next(&v->known, &i));)
		if (mount->reading != v->reading)
			return mount->facts.id;
	return 0;
}

static void drop_gone(struct volumes *v)
{
	uint64_t id;

	while (v->wanted && (id = find_gone(v))) {
		free(map_remove(&v->known, id));
		feed_event(v, &(struct obs_volume){.event = SHUTDOWN_EV_VOLUME_GONE, .id = id});
	}
}

static void on_read(void *userdata, int error)
{
	struct volumes *v = userdata;

	if (error == 0 && v->full)
		error = -ENOMEM;
	if (error == 0)
		drop_gone(v);
	v->reading++;
	v->full = false;
	if (!v->wanted || v->fed >= (error < 0 ? FED_FAILED : FED_ALL))
		return;
	v->fed = error < 0 ? FED_FAILED : FED_ALL;
	if (error < 0)
		log_warning("cannot read the mounts of the node: %s; no volume is waited for",
			    strerror(-error));
	feed_event(v, &(struct obs_volume){.event = SHUTDOWN_EV_VOLUMES, .failed = error < 0});
}

/* --- the kubelet ----------------------------------------------------------------------------- */

static void forget_kubelet(struct volumes *v)
{
	v->exit = sd_event_source_disable_unref(v->exit);
	v->kubelet = 0;
}

static int on_exit_of_kubelet(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct volumes *v = userdata;

	forget_kubelet(v);
	feed_event(v, &(struct obs_volume){.event = SHUTDOWN_EV_UNMOUNTER, .lives = false});
	return 0;
}

static int follow(struct volumes *v, uint32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), r;

	if (fd < 0)
		return -errno;
	r = sd_event_add_io(monitor_event(v->monitor), &v->exit, fd, EPOLLIN, on_exit_of_kubelet,
			    v);
	if (r >= 0)
		r = sd_event_source_set_io_fd_own(v->exit, true);
	else
		close(fd);
	return r;
}

void volumes_note_holder(struct volumes *v, const struct logind_holder *holder)
{
	uint32_t pid = holder->pid;
	int r;

	if (!v->wanted || !pid || pid == v->kubelet ||
	    !shutdown_is_kubelet(holder->who, holder->uid))
		return;
	forget_kubelet(v);
	v->kubelet = pid;
	r = follow(v, pid);
	if (r < 0 && r != -ESRCH)
		log_info("cannot follow the kubelet's process %u: %s; volumes are waited for "
			 "while it holds its lock",
			 pid, strerror(-r));
	feed_event(v, &(struct obs_volume){.event = SHUTDOWN_EV_UNMOUNTER, .lives = r >= 0});
}

/* --- opening and closing ----------------------------------------------------------------------- */

static void close_all(struct volumes *v)
{
	struct mount *mount;

	v->mounts = mounts_free(v->mounts);
	for (size_t i = 0; (mount = map_next(&v->known, &i));)
		free(mount);
	map_done(&v->known);
	forget_kubelet(v);
	v->fed = FED_NOTHING;
	v->stale = v->full = false;
}

static void open_mounts(struct volumes *v)
{
	const struct mounts_sink sink = {v, on_line, on_read};
	int r;

	/* Where there is none yet, nothing is mounted below. */
	if (!realpath(v->root, v->real_root))
		snprintf(v->real_root, sizeof(v->real_root), "%s", v->root);
	v->reading = 1;
	r = mounts_new(monitor_event(v->monitor), 1, &sink, &v->mounts);
	if (r < 0)
		on_read(v, r);
}

static void watch(struct volumes *v)
{
	v->stale = v->fed != FED_NOTHING || v->mounts;
	v->wanted = true;
}

static void leave(struct volumes *v)
{
	v->wanted = false;
	forget_kubelet(v);
}

void volumes_effect(struct volumes *v, const struct effect *effect)
{
	if (effect->type == EFFECT_WATCH_VOLUMES)
		watch(v);
	else if (effect->type == EFFECT_LEAVE_VOLUMES)
		leave(v);
}

void volumes_turn(struct volumes *v)
{
	if (!v->wanted || v->stale)
		close_all(v);
	if (v->wanted && !v->mounts && v->fed == FED_NOTHING)
		open_mounts(v);
}

int volumes_new(struct monitor *m, const char *root, struct volumes **ret)
{
	struct volumes *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->monitor = m;
	v->root = root;
	*ret = v;
	return 0;
}

struct volumes *volumes_free(struct volumes *v)
{
	if (!v)
		return NULL;
	close_all(v);
	free(v);
	return NULL;
}
