// SPDX-License-Identifier: Apache-2.0
/* Follows a stop signal through the processes of a container. */
#include "core/tree/tree.h"

#include <signal.h>
#include <string.h>

/* --- order --- */

static void swap(struct tree_process *a, struct tree_process *b)
{
	struct tree_process c = *a;

	*a = *b;
	*b = c;
}

static bool is_older(const struct tree_process *a, const struct tree_process *b)
{
	if (a->process.start_ns != b->process.start_ns)
		return a->process.start_ns < b->process.start_ns;
	/* Numbers in the namespace come around later than the host's. */
	return a->process.ns_pid != b->process.ns_pid ? a->process.ns_pid < b->process.ns_pid
						      : a->process.pid < b->process.pid;
}

/* Puts the oldest first of those in [from, n) that this parent started. False: it started none. */
static bool take_child(struct tree_process *list, size_t from, size_t n, uint32_t parent)
{
	size_t best = TREE_NONE;

	for (size_t i = from; i < n; i++)
		if (list[i].ppid == parent &&
		    (best == TREE_NONE || is_older(list + i, list + best)))
			best = i;
	if (best != TREE_NONE)
		swap(list + from, list + best);
	return best != TREE_NONE;
}

static size_t find_pid(const struct tree_process *list, size_t from, size_t n, uint32_t pid)
{
	for (size_t i = from; i < n; i++)
		if (list[i].process.pid == pid)
			return i;
	return TREE_NONE;
}

/* Puts the init first of those in [from, n), or else the oldest: it is below none of the others,
 * but for one that started in the same tick. */
static void take_root(struct tree_process *list, size_t from, size_t n, uint32_t init_pid)
{
	size_t best = find_pid(list, from, n, init_pid);

	for (size_t i = from; best == TREE_NONE || (list[best].process.pid != init_pid && i < n);
	     i++)
		if (best == TREE_NONE || is_older(list + i, list + best))
			best = i;
	for (int i = 0; i < TREE_MAX && list[best].process.pid != init_pid; i++) {
		size_t parent = find_pid(list, from, n, list[best].ppid);

		if (parent == TREE_NONE)
			break;
		best = parent;
	}
	swap(list + from, list + best);
}

/* Level by level, so that the nearest are kept. */
static size_t take_nearest(struct tree_process *list, size_t n, uint32_t init_pid)
{
	size_t taken = 0, next = 0;

	while (taken < n && taken < TREE_MAX) {
		if (next == taken) {
			take_root(list, taken++, n, init_pid);
			continue;
		}
		while (taken < TREE_MAX && take_child(list, taken, n, list[next].process.pid))
			taken++;
		next++;
	}
	return taken;
}

static size_t place_below(struct tree_process *list, size_t at, size_t n)
{
	size_t next = at + 1;

	while (next < n && take_child(list, next, n, list[at].process.pid)) {
		list[next].parent = at;
		list[next].depth = list[at].depth + 1;
		next = place_below(list, next, n);
	}
	return next;
}

void tree_order(struct tree_process *list, size_t *n, uint32_t init_pid, uint32_t *ret_others)
{
	size_t taken = take_nearest(list, *n, init_pid);

	*ret_others = (uint32_t)(*n - taken);
	*n = taken;
	for (size_t at = 0; at < taken; at = place_below(list, at, taken)) {
		take_root(list, at, taken, init_pid);
		list[at].parent = TREE_NONE;
		list[at].depth = 0;
	}
}

/* --- who is asked --- */

struct judge {
	struct tree *tree;
	tree_look look;
	void *userdata;
};

static void ask(struct judge *j, size_t i, uint32_t signal, size_t from);

static void taint(struct tree_process *p, enum tree_reason why)
{
	p->taints = true;
	p->taint = why;
}

static void set(struct tree_process *p, enum tree_fate fate, enum tree_reason reason)
{
	p->fate = fate;
	p->reason = reason;
}

static void set_unknown(struct tree_process *p, enum tree_reason reason)
{
	set(p, TREE_UNKNOWN, reason);
	taint(p, reason);
}

static enum tree_reason why_deaf(const struct audit *a)
{
	switch (a->reason) {
	case AUDIT_BLOCKED:
		return TREE_BLOCKED;
	case AUDIT_SUSPENDS:
		return TREE_SUSPENDS;
	case AUDIT_SIG_IGN:
	case AUDIT_TERMINAL:
	case AUDIT_DEFAULT_IGNORE:
		return TREE_IGNORED;
	default:
		return TREE_NO_HANDLER;
	}
}

static void set_by_audit(struct tree_process *p, const struct audit *a)
{
	if (a->warnings & (1u << AUDIT_STOPPED | 1u << AUDIT_FROZEN))
		set_unknown(p, TREE_STOPPED);
	else if (a->verdict == AUDIT_HEARS)
		set(p, TREE_RECEIVES, TREE_HANDLER);
	else if (a->verdict == AUDIT_DIES)
		set(p, TREE_RECEIVES, TREE_DEFAULT);
	else if (audit_is_deaf(a))
		set(p, TREE_IGNORES, why_deaf(a));
	else
		set_unknown(p, a->reason == AUDIT_ACCESS ? TREE_UNREAD : TREE_UNCLEAR);
}

static bool is_copy(const struct tree_process *p, const struct tree_process *of, uint32_t signal)
{
	struct wrapper a, b;

	return strcmp(p->exe, of->exe) == 0 && wrapper_find(&p->program, signal, &a) &&
	       wrapper_find(&of->program, signal, &b) && strcmp(a.name, b.name) == 0;
}

/* The oldest child, as the others came to it when their parents left. */
static size_t child_of(const struct tree *t, size_t i)
{
	for (size_t k = 0; k < t->n; k++)
		if (t->list[k].parent == i)
			return k;
	return TREE_NONE;
}

/* Between a program and what it runs may be a copy of it, which does it in its place. */
static bool has_deputy(const struct tree *t, size_t i, uint32_t signal, const struct wrapper *row)
{
	size_t child = child_of(t, i);

	return row->copy_unknown && child != TREE_NONE &&
	       is_copy(t->list + child, t->list + i, signal);
}

/* The program as the table has it; a worker is a copy of the program that started it, and does not
 * do for others what that does. */
static bool find_wrapper(const struct tree *t, size_t i, uint32_t signal, struct wrapper *ret)
{
	const struct tree_process *p = t->list + i;
	struct wrapper above;

	if (!wrapper_find(&p->program, signal, ret))
		return false;
	return p->parent == TREE_NONE || ret->pass < WRAPPER_WORKERS ||
	       ret->pass == WRAPPER_UNKNOWN ||
	       !wrapper_find(&t->list[p->parent].program, signal, &above) ||
	       strcmp(above.name, ret->name) != 0;
}

static bool is_passed_to(const struct tree *t, size_t i, size_t k, uint32_t signal)
{
	const struct tree_process *p = t->list + i, *other = t->list + k;
	size_t child = child_of(t, i);

	if (k == i || child == TREE_NONE)
		return false;
	switch (p->wrapper.pass) {
	case WRAPPER_CHILD:
		return k == child;
	case WRAPPER_CHILDREN:
		return other->parent == i;
	case WRAPPER_GROUP:
		return k == child || other->pgrp == t->list[child].process.pid;
	case WRAPPER_OWN_GROUP:
		return k == child || (other->pgrp == p->pgrp && p->pgrp == p->process.pid);
	case WRAPPER_WORKERS:
	case WRAPPER_MESSAGE:
	case WRAPPER_CLIENTS:
		return other->parent == i && is_copy(other, p, signal);
	default:
		return false;
	}
}

static void mark_asked(struct tree_process *p, uint32_t signal, size_t from)
{
	p->asked = true;
	p->signal = signal;
	p->from = from;
}

/* A worker that is asked in a way of its own does what it likes with its children. */
static void ask_otherwise(struct tree *t, size_t k, size_t from, enum wrapper_pass pass)
{
	struct tree_process *p = t->list + k;

	if (p->asked)
		return;
	if (pass == WRAPPER_CLIENTS) {
		set_unknown(p, TREE_WAITS);
		p->by = from;
		p->reached = true;
		return;
	}
	mark_asked(p, 0, from);
	set(p, TREE_RECEIVES, TREE_MESSAGE);
	taint(p, TREE_DECIDES);
}

/* Before it is asked itself, as what it passes on depends on that. */
static void mark_passed(const struct tree_process *p, size_t i, struct tree_process *other)
{
	other->assumed = p->assumed || p->wrapper.assumed;
	other->then = p->wrapper.then;
	other->killed_ms = p->wrapper.kill_ms;
	other->killer = i;
	/* What ends with a process that is killed is killed then, too. */
	if (p->killed_ms && (!other->killed_ms || p->killed_ms < other->killed_ms)) {
		other->killed_ms = p->killed_ms;
		other->killer = p->killer;
	}
}

static void pass_to(struct judge *j, size_t i, size_t k, uint32_t signal)
{
	struct tree_process *p = j->tree->list + i, *other = j->tree->list + k;

	if (!other->asked)
		mark_passed(p, i, other);
	if (p->wrapper.pass == WRAPPER_MESSAGE || p->wrapper.pass == WRAPPER_CLIENTS)
		ask_otherwise(j->tree, k, i, p->wrapper.pass);
	else
		ask(j, k, p->wrapper.sends ? p->wrapper.sends : signal, i);
	if (p->wrapper.then && other->fate == TREE_IGNORES)
		ask(j, k, p->wrapper.then, i);
}

static bool is_foreground(const struct tree_process *shell, const struct tree_process *child)
{
	const char *name = audit_program_name(shell->program.exe, shell->program.comm);

	if (child->keys_ignored)
		return false;
	/* dash and ash wait for what was started with & in another call; bash does not, and a
	 * program may have undone what tells the two apart. */
	return !child->key_caught || !strcmp(name, "dash") || !strcmp(name, "ash");
}

/* A trap runs when the command in the foreground has ended: it gets no signal from the shell. */
static bool waits_in_front(const struct tree *t, size_t i)
{
	const struct tree_process *p = t->list + i;

	if (!audit_is_shell(p->program.exe, p->program.comm) || !p->awaits_child)
		return false;
	for (size_t k = 0; k < t->n; k++)
		if (t->list[k].parent == i && !is_foreground(p, t->list + k))
			return false;
	return child_of(t, i) != TREE_NONE;
}

static void pass_on(struct judge *j, size_t i, uint32_t signal, const struct audit *a)
{
	struct tree *t = j->tree;
	struct tree_process *p = t->list + i;

	if (!find_wrapper(t, i, signal, &p->wrapper)) {
		if (a->warnings & 1u << AUDIT_RERAISES)
			set_unknown(p, TREE_RERAISES);
		else if (!waits_in_front(t, i))
			taint(p, TREE_DECIDES);
		return;
	}
	if (p->wrapper.by && !(p->wrapper.by & 1u << a->reason)) {
		taint(p, TREE_CONTRADICTS);
		return;
	}
	if (p->wrapper.pass == WRAPPER_UNKNOWN || has_deputy(t, i, signal, &p->wrapper)) {
		taint(p, TREE_DECIDES);
		return;
	}
	p->wraps = true;
	for (size_t k = 0; k < t->n; k++)
		if (is_passed_to(t, i, k, signal))
			pass_to(j, i, k, signal);
}

static void ask(struct judge *j, size_t i, uint32_t signal, size_t from)
{
	struct tree_process *p = j->tree->list + i;
	struct audit a;

	/* Who ignores one signal may hear another. */
	if (p->asked && (p->fate != TREE_IGNORES || p->signal == signal))
		return;
	mark_asked(p, signal, from);
	if (j->look(j->userdata, p, signal, &a) < 0) {
		set_unknown(p, TREE_UNREAD);
		return;
	}
	set_by_audit(p, &a);
	if (p->fate == TREE_RECEIVES && p->reason == TREE_HANDLER)
		pass_on(j, i, signal, &a);
}

/* --- who is not --- */

static bool may_reach(const struct tree *t, const struct tree_process *p, size_t *ret)
{
	for (size_t k = 0; k < t->n; k++) {
		const struct tree_process *other = t->list + k;

		/* kill(0), which traps often use; and kill(-1) of an init. */
		if (other->taints && (other->pgrp == p->pgrp || k == 0)) {
			*ret = k;
			return true;
		}
	}
	return false;
}

static void set_unasked(struct tree *t, size_t i)
{
	struct tree_process *p = t->list + i;
	size_t above = p->parent;

	while (above != TREE_NONE && !t->list[above].asked && !t->list[above].reached)
		above = t->list[above].parent;
	p->by = above;
	set(p, TREE_CUT, above == TREE_NONE ? TREE_OUTSIDE : TREE_UNASKED);
	if (above != TREE_NONE && t->list[above].taints)
		set(p, TREE_UNKNOWN, t->list[above].taint);
	else if (above != TREE_NONE && t->list[above].wraps && t->list[above].wrapper.rest_unknown)
		set(p, TREE_UNKNOWN, TREE_MAY_PASS);
	else if (may_reach(t, p, &above)) {
		p->by = above;
		set(p, TREE_UNKNOWN, t->list[above].taint);
	} else if (!t->shielded)
		set(p, TREE_UNKNOWN, TREE_SHARED);
}

/* Below a process that was passed nothing: a program that stops all below it may reach further than
 * its own children (rest_unknown). */
static void find_maybe(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tree_process *p = t->list + i;

		if (p->fate != TREE_CUT)
			continue;
		for (size_t a = p->parent; a != TREE_NONE; a = t->list[a].parent)
			if (t->list[a].wraps && t->list[a].wrapper.rest_unknown) {
				set(p, TREE_UNKNOWN, TREE_MAY_PASS);
				p->by = a;
				break;
			}
	}
}

/* --- what the container waits for --- */

static void wait_for(struct tree *t, size_t i, enum record_tri waited)
{
	struct tree_process *p = t->list + i;
	size_t child = child_of(t, i);

	if (p->waited == TRI_TRUE)
		return;
	p->waited = waited;
	if (!p->wraps) {
		for (size_t k = 0; p->taints && k < t->n; k++)
			if (t->list[k].parent == i)
				wait_for(t, k, TRI_UNKNOWN);
		return;
	}
	for (size_t k = 0; k < t->n; k++)
		if ((p->wrapper.end == WRAPPER_WITH_CHILD && k == child) ||
		    (p->wrapper.end == WRAPPER_WITH_ALL && t->list[k].from == i))
			wait_for(t, k, waited);
}

/* What asks it may be killed first: the container ends without waiting for that. */
static void find_too_late(struct tree *t)
{
	for (size_t i = 0; i < t->n && t->shielded; i++) {
		struct tree_process *p = t->list + i;
		bool late = p->from != TREE_NONE && p->from && t->list[p->from].waited == TRI_FALSE;

		if (!late || p->fate != TREE_RECEIVES)
			continue;
		set(p, TREE_UNKNOWN, TREE_MAY_PASS);
		p->by = p->from;
	}
}

void tree_judge(struct tree *t, tree_look look, void *userdata)
{
	struct judge j = {.tree = t, .look = look, .userdata = userdata};

	for (size_t i = 0; i < t->n; i++) {
		t->list[i].from = t->list[i].by = TREE_NONE;
		t->list[i].waited = TRI_FALSE;
	}
	if (!t->n)
		return;
	ask(&j, 0, t->signal, TREE_NONE);
	for (size_t i = 0; i < t->n; i++)
		if (!t->list[i].asked && !t->list[i].reached)
			set_unasked(t, i);
	find_maybe(t);
	wait_for(t, 0, TRI_TRUE);
	find_too_late(t);
}

const char *tree_fate_name(enum tree_fate fate)
{
	static const char *const names[] = {
		[TREE_RECEIVES] = "receives",
		[TREE_CUT] = "cut",
		[TREE_IGNORES] = "ignores",
		[TREE_UNKNOWN] = "unknown",
	};

	return (unsigned int)fate < TREE_FATE_COUNT ? names[fate] : NULL;
}

const char *tree_reason_name(enum tree_reason reason)
{
	static const char *const names[] = {
		[TREE_HANDLER] = "handler",	    [TREE_DEFAULT] = "default",
		[TREE_MESSAGE] = "message",	    [TREE_IGNORED] = "ignored",
		[TREE_NO_HANDLER] = "no-handler",   [TREE_BLOCKED] = "blocked",
		[TREE_SUSPENDS] = "suspends",	    [TREE_UNASKED] = "not-passed-on",
		[TREE_OUTSIDE] = "from-outside",    [TREE_DECIDES] = "handler-decides",
		[TREE_CONTRADICTS] = "contradicts", [TREE_MAY_PASS] = "may-pass-on",
		[TREE_WAITS] = "waits-for-clients", [TREE_STOPPED] = "stopped",
		[TREE_RERAISES] = "may-reraise",    [TREE_SHARED] = "shared-namespace",
		[TREE_UNREAD] = "no-access",	    [TREE_UNCLEAR] = "unclear",
	};

	return (unsigned int)reason < TREE_REASON_COUNT ? names[reason] : NULL;
}
