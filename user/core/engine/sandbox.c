// SPDX-License-Identifier: Apache-2.0
#include "core/engine/sandbox.h"

#include <string.h>

#include "core/stop/stop.h"

#define PAUSE "pause"

/* A scan knows when a process started by the tick of /proc only. */
#define START_GRAIN_NS 10000000ULL

/* When the life of its init ended, at the latest: of one that exited unseen only its cgroup's end
 * is known. */
static uint64_t end_ns(const struct stop *stop)
{
	if (stop_is_running(stop))
		return UINT64_MAX;
	if (stop->exit_seen)
		return stop->exit_ns;
	return stop->empty_ns ?: UINT64_MAX;
}

static bool has_init(const struct cgnode *node)
{
	return node->stop && node->stop->init.pid && node->stop->init.start_ns;
}

/* Both ran at one time. */
static bool is_beside(const struct cgnode *node, const struct cgnode *other)
{
	if (other == node || !has_init(other))
		return false;
	return node->stop->init.start_ns < end_ns(other->stop) &&
	       other->stop->init.start_ns < end_ns(node->stop);
}

/* False: no source and no path says what it is. */
static bool is_provided(const struct names *names, const struct cgnode *node, enum sandbox *ret)
{
	const struct podtab_container *c = names_container(names, node);

	if (c && c->kind)
		*ret = c->kind == META_KIND_SANDBOX ? SANDBOX_KNOWN : SANDBOX_NOT;
	else if (node->ident.kind == CGPATH_SANDBOX)
		*ret = SANDBOX_KNOWN;
	else if (c && c->name)
		*ret = SANDBOX_NOT;
	else
		return false;
	return true;
}

/* A pod has one sandbox at a time: another one is known. That of CRI-O may have no process. */
static bool has_sandbox(const struct names *names, const struct cgnode *node)
{
	const struct cgnode *other;
	enum sandbox kind;

	LIST_FOREACH(other, &node->cgroups->nodes, in_pod) {
		if (other->ident.kind == CGPATH_SANDBOX && !other->removed)
			return true;
		if (is_beside(node, other) &&
		    (is_provided(names, other, &kind) ? kind == SANDBOX_KNOWN : other->is_sandbox))
			return true;
	}
	return false;
}

/* --- by the list ---------------------------------------------------------------------------- */

/* When a status was first read that has this container's id; 0: none, or not in its first life. */
static uint64_t listed_ns(const struct names *names, const struct cgnode *node)
{
	const struct podtab_container *c = names_container(names, node);

	if (!c || !has_init(node) || node->stop->guessed ||
	    c->listed_ns < node->stop->init.start_ns)
		return 0;
	return c->listed_ns;
}

/* Runs, with `listed` being younger and in the status; that was read at read_ns, while it ran. */
static bool is_before(const struct cgnode *node, const struct cgnode *listed, uint64_t read_ns)
{
	return has_init(node) &&
	       node->stop->init.start_ns + START_GRAIN_NS <= listed->stop->init.start_ns &&
	       read_ns < end_ns(node->stop);
}

static bool may_be_missing(const struct names *names, const struct cgnode *node)
{
	enum sandbox kind;

	if (!has_init(node) || node->stop->guessed || is_provided(names, node, &kind))
		return false;
	/* It left unseen: it may have been gone when the status was read. */
	return stop_is_running(node->stop) || node->stop->exit_seen;
}

/* Sets is_missing of all nodes of a pod: what sources say of each is looked up once. */
static void mark_missing(const struct names *names, const struct pod_cgroups *pod)
{
	const struct cgnode *listed;
	struct cgnode *node;

	LIST_FOREACH(node, &pod->nodes, in_pod)
		node->is_missing = false;
	LIST_FOREACH(listed, &pod->nodes, in_pod) {
		uint64_t read_ns = listed_ns(names, listed);

		if (!read_ns)
			continue;
		LIST_FOREACH(node, &pod->nodes, in_pod)
			node->is_missing = node->is_missing || is_before(node, listed, read_ns);
	}
	LIST_FOREACH(node, &pod->nodes, in_pod)
		node->is_missing = node->is_missing && may_be_missing(names, node);
}

/* After mark_missing(). */
static bool is_left(const struct names *names, const struct cgnode *node)
{
	const struct cgnode *other;

	if (!node->is_missing)
		return false;
	LIST_FOREACH(other, &node->cgroups->nodes, in_pod)
		if (other->is_missing && is_beside(node, other))
			return false;
	return !has_sandbox(names, node);
}

/* The list has the id of each container of node's pod. */
static bool is_listed_whole(const struct names *names, const struct cgnode *node)
{
	const struct podtab_pod *pod = names_pod(names, node);

	return pod && pod->known & META_POD_CONTAINERS;
}

static bool is_left_by_list(const struct names *names, const struct cgnode *node)
{
	if (!is_listed_whole(names, node) || !may_be_missing(names, node))
		return false;
	mark_missing(names, node->cgroups);
	return is_left(names, node);
}

void sandbox_settle(const struct names *names, const struct cgnode *leaving)
{
	struct cgnode *node;

	if (!is_listed_whole(names, leaving))
		return;
	mark_missing(names, leaving->cgroups);
	LIST_FOREACH(node, &leaving->cgroups->nodes, in_pod)
		node->is_sandbox = node->is_sandbox || is_left(names, node);
}

/* --- by its shape --------------------------------------------------------------------------- */

/* In a pod with the host's pid namespace the sandbox is not PID 1, but no other number either. */
static bool is_pause(const struct graced_proc *init)
{
	if (strcmp(init->exe, PAUSE) != 0 && strcmp(init->comm, PAUSE) != 0)
		return false;
	return init->ns_pid == 1 || init->ns_pid == init->pid;
}

/* A container of its pod runs that is older than it. */
static bool has_elder(const struct cgnode *node)
{
	const struct cgnode *other;

	LIST_FOREACH(other, &node->cgroups->nodes, in_pod)
		if (is_beside(node, other) &&
		    other->stop->init.start_ns < node->stop->init.start_ns)
			return true;
	return false;
}

static bool looks_like_one(const struct names *names, const struct cgnode *node)
{
	return is_pause(&node->stop->init) && !has_elder(node) && !has_sandbox(names, node);
}

enum sandbox sandbox_of(const struct names *names, const struct cgnode *node)
{
	enum sandbox kind;

	if (!node || !cgnode_is_container(node))
		return SANDBOX_NOT;
	if (is_provided(names, node, &kind))
		return kind;
	if (!node->pod || !has_init(node))
		return SANDBOX_NOT;
	if (node->is_sandbox || is_left_by_list(names, node))
		return SANDBOX_KNOWN;
	return looks_like_one(names, node) ? SANDBOX_GUESSED : SANDBOX_NOT;
}
