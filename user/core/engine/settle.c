// SPDX-License-Identifier: Apache-2.0
/* The engine's part that tells, once after a restart, what went by while nobody watched. */
#include <string.h>

#include "core/engine/priv.h"

static void ask_name(struct engine *e, struct cgnode *node)
{
	if (!podtab_is_named(names_container(&e->names, node)))
		names_ask(&e->names, node);
}

/* True: its verdict still waits, and the stop is gone once it is told. */
static bool end_stop(struct engine *e, struct stop *stop)
{
	if (stop->state == STOP_TOLD) {
		engine_expect(e, stop, STOP_EV_EMPTY);
		stop_vacate(stop, e->out.now_ns);
	}
	if (stop->state == STOP_IDLE && stop->init_unseen)
		engine_begin_unseen(e, stop, e->out.now_ns);
	if (stop->state != STOP_IDLE)
		ask_name(e, stop->node);
	return !engine_stop_gone(e, stop);
}

static void settle_gone(struct engine *e, struct cgnode *node)
{
	engine_pods_missed(node, true);
	if (node->stop && end_stop(e, node->stop))
		return;
	engine_resume_remove(e, node);
}

/* Nobody saw it leave; whoever waits for it may tell how that was. */
static void settle_missing(struct engine *e, struct stop *stop)
{
	stop->probed = true;
	names_ask_exit(&e->names, stop->node);
	engine_wake(e, stop, e->out.now_ns + ENGINE_WAIT_NS);
}

static void settle_alive(struct engine *e, struct stop *stop)
{
	engine_take_grace(e, stop);
	if (stop->state == STOP_REQUESTED)
		engine_wake(e, stop, stop_lapse_ns(stop));
	output_change(&e->out, &(struct change){.type = CHANGE_INIT_ENTERED, .node = stop->node});
}

static void settle_found(struct engine *e, struct cgnode *node)
{
	struct stop *stop = node->stop;

	if (!node->inhabited)
		engine_pods_missed(node, false);
	if (stop_is_running(stop) && !stop->kept)
		settle_alive(e, stop);
	else if (stop_is_running(stop))
		settle_missing(e, stop);
	else if (stop->state == STOP_EXITED)
		engine_stop_resume(e, stop);
	else if (stop->state == STOP_TOLD && !node->inhabited) {
		engine_expect(e, stop, STOP_EV_EMPTY);
		stop_vacate(stop, e->out.now_ns);
	}
	stop->kept = false;
	/* Processes may have come in meanwhile, whatever was found. */
	stop->there = true;
}

static void settle(struct engine *e, uint64_t id)
{
	struct cgnode *node = cgmap_get(&e->map, id);

	if (!node || !node->restored)
		return;
	node->restored = false;
	output_changed(&e->out, node);
	if (node->kept)
		settle_gone(e, node);
	else if (node->stop)
		settle_found(e, node);
}

static void settle_aside(struct engine *e)
{
	struct stop *stop;

	while ((stop = e->resume.aside)) {
		e->resume.aside = stop->next_over;
		stop->next_over = NULL;
		if (stop_is_running(stop))
			engine_expect(e, stop, STOP_EV_EXIT);
		if (stop->state == STOP_EXITED)
			engine_tell(e, stop, false);
		engine_resume_free_aside(e, stop);
	}
}

/* Who was there all the time and is no init was not made one by its init's end. */
static bool is_left_over(const struct engine_resume *r, const struct obs_init *init)
{
	return init->rank == GRACED_INIT_GUESSED && init->proc.start_ns <= r->until_ns;
}

static bool begins_life(const struct engine *e, const struct obs_init *init)
{
	const struct cgnode *node = cgmap_get(&e->map, init->id);

	if (!node || !node->stop || !node->stop->init.pid)
		return true;
	return !engine_same_process(&node->stop->init, &init->proc) &&
	       !is_left_over(&e->resume, init);
}

/* Their lives began while nobody watched, or the engine would know of them. */
static void begin_held(struct engine *e)
{
	struct engine_resume *r = &e->resume;
	struct obs obs = {.type = OBS_INIT};

	for (size_t i = 0; i < r->n_held; i++) {
		obs.at_ns = r->held[i].at_ns;
		obs.init = r->held[i].init;
		if (begins_life(e, &obs.init))
			engine_on_init(e, &obs);
	}
}

void engine_resume_settle(struct engine *e)
{
	struct engine_resume *r = &e->resume;

	if (r->phase != RESUME_SCANNING)
		return;
	r->phase = RESUME_DONE;
	if (r->until_ns > e->out.now_ns)
		r->until_ns = e->out.now_ns;
	if (strcmp(r->boot_id, e->out.host.boot_id) != 0)
		engine_resume_forget(e);
	settle_aside(e);
	for (size_t i = 0; i < r->cgroups.n; i++)
		settle(e, r->cgroups.ids[i]);
	begin_held(e);
	engine_pods_resume(e);
	engine_resume_done(e);
}
