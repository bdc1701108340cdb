// SPDX-License-Identifier: Apache-2.0
/* Which warning two processes give. */
#include "core/tree/pairs.h"

#include <string.h>

/* A wrapper that leaves an app less than the shortest usual grace period. */
#define SOON_MS 5000

static bool is_script_runner(const struct tree_process *p)
{
	static const char *const names[] = {"npm", "yarn", "pnpm"};

	for (size_t i = 0; p->wraps && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(p->wrapper.name, names[i]) == 0)
			return true;
	return false;
}

static bool is_shell(const struct tree_process *p)
{
	return audit_is_shell(p->program.exe, p->program.comm);
}

static bool is_keeper(const struct tree_process *p)
{
	return p->fate == TREE_RECEIVES && p->reason == TREE_DEFAULT &&
	       audit_is_placeholder(p->program.exe, p->program.comm);
}

/* An init passes the signal on to a keeper, and what that is to keep has come to the init. */
static bool passes_to_keeper(const struct tree *t, size_t *by)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].from == *by && is_keeper(t->list + i)) {
			*by = i;
			return true;
		}
	return false;
}

static enum audit_warning warning_of_cut(const struct tree *t, size_t *ret_by)
{
	const struct tree_process *by = t->list + *ret_by;

	if (by->wraps && by->wrapper.pass == WRAPPER_NOTHING && by->wrapper.end == WRAPPER_AT_ONCE)
		return AUDIT_SERVICES_CUT;
	if (is_shell(by))
		return by->from != TREE_NONE && is_script_runner(t->list + by->from)
			       ? AUDIT_SCRIPT_SHELL
			       : AUDIT_SHELL_BETWEEN;
	return is_keeper(by) || passes_to_keeper(t, ret_by) ? AUDIT_KEEPER_BETWEEN
							    : AUDIT_PROCESS_CUT;
}

/* If init does not act on the signal, or is a shell, the verdict and its warnings say all. */
static bool init_says_it(const struct tree_process *init)
{
	return init->fate != TREE_RECEIVES || (is_shell(init) && !init->wraps);
}

/* The process by which the end of the container is decided before this one has ended. */
static size_t first_to_end(const struct tree *t)
{
	size_t last = 0;

	for (size_t i = 1; i < t->n; i++)
		if (t->list[i].waited == TRI_TRUE && t->list[i].parent == last)
			last = i;
	return last;
}

/* AUDIT_WARNING_COUNT: none. */
static enum audit_warning warning_of(const struct tree *t, size_t i, size_t *ret_by)
{
	const struct tree_process *p = t->list + i;

	*ret_by = p->by;
	if (p->fate == TREE_CUT && p->reason == TREE_UNASKED) {
		/* What a cut process started is cut for the same reason: its topmost one counts. */
		if ((p->by == 0 && init_says_it(t->list)) || p->parent != p->by ||
		    t->list[p->by].fate == TREE_IGNORES)
			return AUDIT_WARNING_COUNT;
		return warning_of_cut(t, ret_by);
	}
	if (p->fate != TREE_RECEIVES || p->reason == TREE_DEFAULT || !i)
		return AUDIT_WARNING_COUNT;
	*ret_by = p->waited == TRI_FALSE ? first_to_end(t) : p->killer;
	if (p->waited == TRI_FALSE)
		return AUDIT_NOT_AWAITED;
	return p->killed_ms && p->killed_ms <= SOON_MS && !p->wraps ? AUDIT_KILLED_SOON
								    : AUDIT_WARNING_COUNT;
}

uint32_t tree_pairs(const struct tree *t, struct audit_pair ret[static AUDIT_PAIRS])
{
	uint32_t warnings = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t by;
		enum audit_warning w = warning_of(t, i, &by);

		if (w == AUDIT_WARNING_COUNT || by == TREE_NONE || warnings >> w & 1)
			continue;
		warnings |= 1u << w;
		ret[w - AUDIT_PAIR_FIRST] = (struct audit_pair){
			.app = t->list[i].process,
			.by = t->list[by].process,
			.after_ns = t->list[i].killed_ms * 1000000ull,
			.assumed = t->list[i].assumed,
		};
	}
	return warnings;
}
