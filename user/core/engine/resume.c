// SPDX-License-Identifier: Apache-2.0
#include "core/engine/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "core/stop/keep.h"
#include "core/stop/processes.h"

static int refuse(struct checkpoint *c)
{
	c->resume.refused++;
	return 0;
}

static void remove_cgroup(struct checkpoint *c, struct cgnode *node)
{
	output_changed(c->out, node);
	pods_missed(node, true);
	node->stop = stop_free(c->map, &c->stops->deadlines, node->stop);
	shutdowns_forget_container(c->shutdowns, node);
	cgmap_remove(c->map, node->id);
}

static void free_aside(struct checkpoint *c, struct stop *stop)
{
	stop->node->stop = NULL;
	stop_free(c->map, &c->stops->deadlines, stop);
}

/* --- what was kept -------------------------------------------------------------------------- */

static void forget_all(struct checkpoint *c)
{
	struct resume *r = &c->resume;
	struct stop *stop;

	pods_drop_loaded(c->pods);
	for (size_t i = 0; i < r->cgroups.n; i++) {
		struct cgnode *node = cgmap_get(c->map, r->cgroups.ids[i]);

		if (!node || !node->restored)
			continue;
		node->restored = false;
		if (node->kept) {
			remove_cgroup(c, node);
			continue;
		}
		stop = node->stop ? stop_new(node) : NULL;
		stop_free(c->map, &c->stops->deadlines, node->stop);
		node->stop = stop;
		if (stop)
			stop->there = true;
	}
	while ((stop = r->aside)) {
		r->aside = stop->next_over;
		free_aside(c, stop);
	}
	r->cgroups.n = 0;
	shutdowns_load_run(c->shutdowns, &(struct shutdown_run){});
	podtab_done(&c->names->tab);
}

static int on_head(struct checkpoint *c, const struct obs *obs)
{
	struct resume *r = &c->resume;

	r->foreign = obs->kept.version != KEPT_VERSION;
	/* Before it was attached the earlier engine did not know which boot it was in. */
	if (r->foreign || obs->kept.all ||
	    (r->boot_id[0] && strcmp(r->boot_id, obs->kept.boot_id) != 0))
		forget_all(c);
	strcpy(r->boot_id, obs->kept.boot_id);
	r->until_ns = obs->at_ns;
	return r->foreign ? refuse(c) : 0;
}

static int add_cgroup(struct checkpoint *c, const struct kept_cgroup *cg, struct cgnode **ret)
{
	struct cgnode *node = cgmap_get(c->map, cg->id);
	int r;

	/* The id was given to another cgroup since. */
	if (node && node->path && strcmp(node->path, cg->path) != 0)
		remove_cgroup(c, node);
	else if (node && !cg->path[0]) {
		*ret = node;
		return 0;
	}
	if (!cg->path[0])
		return cg->id ? cgmap_add_unknown(c->map, cg->id, ret) : -EINVAL;
	r = cgmap_add_path(c->map,
			   &(struct cgmap_new){.id = cg->id,
					       .delegated_level = cg->delegated_level,
					       .name = cg->path},
			   ret);
	if (r == 0 && cg->container_id[0] && (*ret)->kind == GRACED_WATCH_BRANCH)
		r = cgmap_identify(c->map, *ret, cg->container_id,
				   (enum cgpath_runtime)cg->runtime);
	return r;
}

static int on_cgroup(struct checkpoint *c, const struct obs *obs)
{
	const struct kept_cgroup *cg = &obs->kept_cgroup;
	struct cgnode *node;
	int r = cg->runtime > CGPATH_RT_ECS ? -EINVAL : add_cgroup(c, cg, &node);

	if (r < 0) {
		refuse(c);
		return r == -ENOMEM ? r : 0;
	}
	if (!node->restored && id_list_add(&c->resume.cgroups, node->id) < 0) {
		remove_cgroup(c, node);
		return -ENOMEM;
	}
	node->restored = node->kept = true;
	node->populated = cg->populated;
	node->entered = node->pod && cg->entered;
	if (node->pod)
		node->cgroups->entered |=
			cg->entered || (cgnode_is_container(node) && cg->populated);
	return 0;
}

static int on_stop(struct checkpoint *c, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(c->map, obs->kept_stop.id);

	if (obs->kept_stop.over) {
		if (node)
			remove_cgroup(c, node);
		return 0;
	}
	if (!node || !node->restored || !cgnode_is_container(node))
		return refuse(c);
	if (!node->stop)
		node->stop = stop_new(node);
	if (!node->stop)
		return -ENOMEM;
	return stop_restore(c->map, node->stop, &obs->kept_stop) < 0 ? refuse(c) : 0;
}

static int on_signal(struct checkpoint *c, const struct obs *obs)
{
	struct cgnode *node = cgmap_get(c->map, obs->kept_signal.id);

	if (!node || !node->stop || stop_restore_signal(c->map, node->stop, &obs->kept_signal) < 0)
		return refuse(c);
	return 0;
}

static int on_pod(struct checkpoint *c, const struct obs *obs)
{
	int r = pods_load(c->pods, &obs->kept_pod);

	if (r < 0)
		refuse(c);
	return r == -ENOMEM ? r : 0;
}

static int on_word(struct checkpoint *c, int r)
{
	if (r < 0)
		refuse(c);
	return r == -ENOMEM ? r : 0;
}

static bool is_kept(enum obs_type type)
{
	return type >= OBS_KEPT_CGROUP || type == OBS_POD || type == OBS_CONTAINER;
}

/* False: it is nothing that is kept. */
static bool feed(struct checkpoint *c, const struct obs *obs, int *ret)
{
	if (obs->type == OBS_KEPT) {
		*ret = on_head(c, obs);
		return true;
	}
	if (c->resume.foreign && is_kept(obs->type)) {
		*ret = refuse(c);
		return true;
	}
	switch (obs->type) {
	case OBS_KEPT_CGROUP:
		*ret = on_cgroup(c, obs);
		return true;
	case OBS_KEPT_STOP:
		*ret = on_stop(c, obs);
		return true;
	case OBS_KEPT_SIGNAL:
		*ret = on_signal(c, obs);
		return true;
	case OBS_KEPT_POD:
		*ret = on_pod(c, obs);
		return true;
	case OBS_KEPT_RUN:
		shutdowns_load_run(c->shutdowns, &obs->kept_run);
		*ret = 0;
		return true;
	case OBS_KEPT_TURN:
		*ret = on_word(c, shutdowns_load_turn(c->shutdowns, &obs->kept_turn));
		return true;
	case OBS_KEPT_EXIT:
		*ret = on_word(c, names_load_exit(c->names, &obs->kept_exit, obs->at_ns));
		return true;
	case OBS_POD:
		*ret = on_word(c, podtab_take_pod(&c->names->tab, &obs->pod, obs->at_ns));
		return true;
	case OBS_CONTAINER:
		*ret = on_word(c,
			       podtab_take_container(&c->names->tab, &obs->container, obs->at_ns));
		return true;
	default:
		return false;
	}
}

static void fed(struct checkpoint *c)
{
	struct resume *r = &c->resume;

	r->phase = RESUME_SCANNING;
	for (size_t i = 0; i < r->cgroups.n; i++) {
		struct cgnode *node = cgmap_get(c->map, r->cgroups.ids[i]);

		if (node && node->stop)
			stop_restored(node->stop);
	}
}

/* --- what is there -------------------------------------------------------------------------- */

/* It was saved by an engine that did not know who could choose its name. */
static bool was_overrated(const struct checkpoint *c, const struct cgnode *node,
			  const struct obs_cgroup *cg)
{
	return cgtrust_of(c->map->roots, cg->path, cg->delegated_level) < node->trust;
}

void resume_leave(struct checkpoint *c, const struct obs_cgroup *cg, bool whole)
{
	struct cgnode *node = cgmap_get(c->map, cg->id);

	if (!node || !node->kept || (whole && !node->path))
		return;
	if (whole && strcmp(node->path, cg->path) == 0) {
		if (was_overrated(c, node, cg))
			remove_cgroup(c, node);
		return;
	}
	node->restored = node->kept = false;
	pods_missed(node, true);
	if (node->stop) {
		node->stop->next_over = c->resume.aside;
		c->resume.aside = node->stop;
	}
	shutdowns_forget_container(c->shutdowns, node);
	cgmap_remove(c->map, cg->id);
}

static int hold(struct resume *r, const struct obs *obs)
{
	if (!ROOM_FOR_ONE(r->held, r->n_held, r->room_held, 16))
		return -ENOMEM;
	r->held[r->n_held++] = (struct resume_init){obs->at_ns, obs->init};
	return 0;
}

/* An init other than the restored one is reported only after that one's end, and no init is before
 * it is known that the checkpoint is of this boot. */
static int on_init(struct checkpoint *c, const struct obs *obs, struct cgnode *node)
{
	const struct obs_init *init = &obs->init;
	struct stop *stop = node->stop;

	node->inhabited = true;
	if (process_is_same(&stop->init, &init->proc)) {
		stop->guessed &= init->rank == GRACED_INIT_GUESSED;
		stop->kept = false;
		stop->keeper_pid = init->keeper_pid;
	}
	return hold(&c->resume, obs);
}

bool resume_takes(struct checkpoint *c, const struct obs *obs, int *ret)
{
	struct resume *r = &c->resume;
	struct cgnode *node;

	if (r->phase == RESUME_NEW)
		r->phase = obs->type == OBS_KEPT ? RESUME_FED : RESUME_DONE;
	if (r->phase == RESUME_FED) {
		if (feed(c, obs, ret))
			return true;
		fed(c);
	}
	if (r->phase != RESUME_SCANNING)
		return false;
	/* The trace ends before it has begun: what was kept stays so. */
	if (obs->type == OBS_END) {
		*ret = 0;
		return true;
	}
	node = obs->type == OBS_INIT ? cgmap_get(c->map, obs->init.id) : NULL;
	if (!node || !node->restored || !node->stop)
		return false;
	*ret = on_init(c, obs, node);
	return true;
}

/* --- what is missing ------------------------------------------------------------------------ */

static void query_name(struct checkpoint *c, struct cgnode *node)
{
	if (!podtab_is_named(names_container(c->names, node)))
		names_query(c->names, node);
}

/* True: its verdict still waits, and the stop is freed once that is reported. */
static bool end_stop(struct checkpoint *c, struct stop *stop)
{
	if (stop->state == STOP_REPORTED) {
		stops_advance(c->stops, stop, STOP_EV_EMPTY);
		stop_vacate(stop, c->out->now_ns);
	}
	if (stop->state == STOP_IDLE && stop->init_unseen)
		stops_begin_unseen(c->stops, stop, c->out->now_ns);
	if (stop->state != STOP_IDLE)
		query_name(c, stop->node);
	return !stops_gone(c->stops, stop);
}

static void settle_gone(struct checkpoint *c, struct cgnode *node)
{
	pods_missed(node, true);
	if (node->stop && end_stop(c, node->stop))
		shutdowns_forget_container(c->shutdowns, node);
	else
		remove_cgroup(c, node);
}

/* Its exit was not observed; its runtime may say how it exited. Or it was moved, and lives. */
static void settle_missing(struct checkpoint *c, struct stop *stop)
{
	const struct effect probe = {.type = EFFECT_PROBE_INIT,
				     .id = stop->node->id,
				     .pid = stop->init.pid,
				     .start_ns = stop->init.start_ns};

	stop->probed = true;
	if (stop->init.pid)
		output_effect(c->out, &probe);
	names_query_exit(c->names, stop->node);
	stops_wake(c->stops, stop, c->out->now_ns + STOPS_WAIT_NS);
}

static void settle_alive(struct checkpoint *c, struct stop *stop)
{
	stops_take_grace(c->stops, stop);
	if (stop->state == STOP_REQUESTED)
		stops_look(c->stops, stop);
	if (stop->state == STOP_REQUESTED || stop->state == STOP_KILLED)
		stops_watch(c->stops, stop);
	pods_entered(c->pods, stop->node);
}

static void settle_found(struct checkpoint *c, struct cgnode *node)
{
	struct stop *stop = node->stop;

	if (!node->inhabited)
		pods_missed(node, false);
	if (stop_is_running(stop) && !stop->kept)
		settle_alive(c, stop);
	else if (stop_is_running(stop))
		settle_missing(c, stop);
	else if (stop->state == STOP_EXITED || stop_is_held(stop))
		stops_resume(c->stops, stop);
	else if (stop->state == STOP_REPORTED && !node->inhabited) {
		stops_advance(c->stops, stop, STOP_EV_EMPTY);
		stop_vacate(stop, c->out->now_ns);
	}
	stop->kept = false;
	/* Processes may have come in meanwhile, whatever was found. */
	stop->there = true;
}

static void settle_cgroup(struct checkpoint *c, uint64_t id)
{
	struct cgnode *node = cgmap_get(c->map, id);

	if (!node || !node->restored)
		return;
	node->restored = false;
	output_changed(c->out, node);
	if (node->kept)
		settle_gone(c, node);
	else if (node->stop)
		settle_found(c, node);
}

static void settle_aside(struct checkpoint *c)
{
	struct stop *stop;

	while ((stop = c->resume.aside)) {
		c->resume.aside = stop->next_over;
		stop->next_over = NULL;
		if (stop_is_running(stop))
			stops_advance(c->stops, stop, STOP_EV_EXIT);
		if (stop->state == STOP_EXITED)
			stops_publish(c->stops, stop, false);
		free_aside(c, stop);
	}
}

/* Who was there all the time and is no init was not made one by its init's end. */
static bool is_left_over(const struct resume *r, const struct obs_init *init)
{
	return init->rank == GRACED_INIT_GUESSED && init->proc.start_ns <= r->until_ns;
}

static bool begins_life(const struct checkpoint *c, const struct obs_init *init)
{
	const struct cgnode *node = cgmap_get(c->map, init->id);

	if (!node || !node->stop || !node->stop->init.pid)
		return true;
	return (node->stop->moved || !process_is_same(&node->stop->init, &init->proc)) &&
	       !is_left_over(&c->resume, init);
}

/* Their lives began while no engine ran, or this one would know of them. */
static void begin_held(struct checkpoint *c)
{
	struct resume *r = &c->resume;
	struct obs obs = {.type = OBS_INIT};

	for (size_t i = 0; i < r->n_held; i++) {
		obs.at_ns = r->held[i].at_ns;
		obs.init = r->held[i].init;
		if (begins_life(c, &obs.init))
			stops_on_init(c->stops, &obs);
	}
}

void resume_settle(struct checkpoint *c)
{
	struct resume *r = &c->resume;

	if (r->phase != RESUME_SCANNING)
		return;
	r->phase = RESUME_DONE;
	if (r->until_ns > c->out->now_ns)
		r->until_ns = c->out->now_ns;
	if (strcmp(r->boot_id, c->out->host.boot_id) != 0)
		forget_all(c);
	settle_aside(c);
	for (size_t i = 0; i < r->cgroups.n; i++)
		settle_cgroup(c, r->cgroups.ids[i]);
	begin_held(c);
	pods_settle_loaded(c->pods);
	resume_done(c);
}

void resume_done(struct checkpoint *c)
{
	struct resume *r = &c->resume;
	struct stop *stop;

	while ((stop = r->aside)) {
		r->aside = stop->next_over;
		free_aside(c, stop);
	}
	free(r->cgroups.ids);
	free(r->held);
	*r = (struct resume){.phase = RESUME_DONE, .refused = r->refused};
}
