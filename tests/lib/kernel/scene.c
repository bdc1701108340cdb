// SPDX-License-Identifier: Apache-2.0
// Play a scene with real processes and hold the tracer's record against it.
#include "lib/kernel/scene.h"

#include "lib/box/peek.h"
#include "lib/kernel/truth.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define GRACE_MS "2000"

static bool in_stop_set(int sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGQUIT || sig == SIGRTMIN + 3;
}

static bool needs_mate(const struct scene *scene)
{
	for (int i = 0; i < SCENE_ACTS; i++)
		if (scene->acts[i].who == BY_SAME_POD)
			return true;
	return false;
}

static enum send_from from_of(enum scene_who who)
{
	switch (who) {
	case BY_RUNTIME:
		return SEND_RUNTIME;
	case BY_SAME_CONTAINER:
	case BY_SAME_POD:
	case BY_OTHER_POD:
		return SEND_CONTAINER;
	case BY_TRACER:
		return SEND_HOST;
	case BY_HERE:
	case BY_NOBODY:
		break;
	}
	return SEND_HERE;
}

static const struct box *via_of(enum scene_who who, const struct played *played,
				const struct box *other)
{
	if (who == BY_SAME_CONTAINER)
		return &played->box;
	if (who == BY_SAME_POD)
		return &played->mate;
	return who == BY_OTHER_POD ? other : NULL;
}

static int act_by_helper(struct box_tree *tree, const struct scene_act *act,
			 const struct box *other, struct played *played)
{
	enum send_from from = from_of(act->who);
	const struct box *via = via_of(act->who, played, other);
	const char *stop[] = {"stop", NULL, NULL, GRACE_MS, NULL};
	char pid[16], sig[16];
	struct proc sender;
	int r;

	snprintf(pid, sizeof(pid), "%d", (int)played->box.init_pid);
	snprintf(sig, sizeof(sig), "%d", act->sig);
	stop[1] = pid;
	stop[2] = sig;
	if (act->who == BY_TRACER)
		r = send_start(tree, from, via, BOX_ARGV("exitkill", pid), &sender);
	else if (act->then_kill)
		r = send_start(tree, from, via, stop, &sender);
	else
		r = send_start(tree, from, via, BOX_ARGV("kill", pid, sig), &sender);
	if (r)
		return r;
	r = send_collect(from, via, &sender, played->sent + played->n_sent, act->then_kill ? 2 : 1);
	if (r > 0 && act->who != BY_TRACER)
		played->n_sent += (unsigned int)r;
	return r < 0 ? r : 0;
}

static int act_here(const struct scene_act *act, struct played *played)
{
	struct sent *sent = played->sent + played->n_sent;

	played->n_sent++;
	return send_signal(NULL, SEND_HERE, NULL, played->box.init_pid, act->sig, sent);
}

static int act_all(struct box_tree *tree, const struct box *other, struct played *played)
{
	const struct scene_act *acts = played->scene->acts;
	int r = 0;

	for (int i = 0; i < SCENE_ACTS && !r; i++) {
		if (acts[i].who == BY_HERE)
			r = act_here(&acts[i], played);
		else if (acts[i].who != BY_NOBODY)
			r = act_by_helper(tree, &acts[i], other, played);
	}
	return r;
}

/* The init's notes, before its page goes away. */
static void read_notes(struct played *played)
{
	const uint32_t kinds[] = {NOTE_READY, NOTE_HEARD, NOTE_KILL, NOTE_EXIT};
	const struct note *note;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		note = page_find(played->box.proc.page, kinds[i], 0);
		if (note && note->before_ns > played->exit_after_ns)
			played->exit_after_ns = note->before_ns;
	}
	if (send_of_page(&played->box, 0, &played->self))
		played->self.number = 0;
}

const char *scene_unavailable(const struct box_tree *tree, const struct scene *scene)
{
	bool limits = scene->memory || scene->pod_memory || scene->whole_node;

	return limits && !tree->hier.memory ? "memory cannot be limited in this hierarchy" : NULL;
}

static int raise_curtain(struct box_tree *tree, const struct scene *scene, struct played *played)
{
	struct box_spec spec = {
		.prog = scene->prog,
		.argv = scene->argv,
		.host_pidns = scene->host_pidns,
		.stages = scene->stages,
		.memory = scene->memory,
		.pod_memory = scene->pod_memory,
	};
	int r = box_start(tree, &spec, &played->box);

	if (!r && scene->in_syscall)
		r = peek_await_syscall(played->box.init_pid, scene->in_syscall);
	if (!r && needs_mate(scene))
		r = box_start(tree,
			      &(struct box_spec){.argv = BOX_ARGV("deaf"), .pod_of = &played->box},
			      &played->mate);
	return r;
}

int scene_play(struct box_tree *tree, const struct scene *scene, const struct box *other,
	       struct played *ret)
{
	int r;

	*ret = (struct played){.scene = scene};
	r = raise_curtain(tree, scene, ret);
	if (!r)
		r = act_all(tree, other, ret);
	if (r)
		return r;
	page_go(ret->box.proc.page, 1);
	page_go(ret->box.proc.page, 2);
	r = proc_wait(&ret->box.proc, &ret->end);
	if (r)
		return r;
	read_notes(ret);
	if (needs_mate(scene))
		r = box_remove(&ret->mate);
	if (!r)
		r = box_remove(&ret->box);
	return r;
}

/* A request comes from outside the container; a manager's replaces anybody else's. */
static const struct sent *find_request(const struct played *played)
{
	const struct sent *found = NULL;

	for (unsigned int i = 0; i < played->n_sent; i++) {
		const struct sent *sent = &played->sent[i];

		if (!in_stop_set(sent->number) || sent->via == &played->box)
			continue;
		if (!found || (sent->from == SEND_RUNTIME && found->from != SEND_RUNTIME))
			found = sent;
	}
	return found;
}

/* Without a request: the last stop signal from its own container that it heard. */
static const struct sent *find_inside(const struct played *played)
{
	const char *result = played->scene->stop_result;

	if ((result && !strcmp(result, "ignored")) || WTERMSIG(played->end.status) == SIGKILL)
		return NULL;
	for (unsigned int i = played->n_sent; i > 0; i--)
		if (in_stop_set(played->sent[i - 1].number))
			return &played->sent[i - 1];
	return NULL;
}

static const struct sent *find_kill(const struct played *played)
{
	for (unsigned int i = played->n_sent; i > 0; i--)
		if (played->sent[i - 1].number == SIGKILL)
			return &played->sent[i - 1];
	return played->self.number == SIGKILL ? &played->self : NULL;
}

int scene_check(const struct box_tree *tree, const struct played *played, const json_t *rec,
		char *why, size_t size)
{
	const struct scene *scene = played->scene;
	const struct sent *request = find_request(played);
	struct truth truth = {
		.tree = tree,
		.box = &played->box,
		.end = &played->end,
		.stop = request ? request : find_inside(played),
		.stop_result = scene->stop_result,
		.kill = find_kill(played),
		.kernel_kill = scene->kernel_kill,
		.deaf = scene->deaf,
		.outcome = scene->outcome,
		.cause = scene->cause,
		.grace_s = request && request->from == SEND_RUNTIME ? SCENE_GRACE_S : 0,
		.collateral_kills = scene->collateral_kills,
		.oom_kills = scene->oom_kills,
		.exit_after_ns = played->exit_after_ns,
		.gaps = scene->gaps,
	};

	return truth_compare(&truth, rec, why, size);
}
