// SPDX-License-Identifier: Apache-2.0
/* The sentences about processes. */
#include "core/tree/tree.h"

#include <string.h>

#include "base/signame.h"
#include "base/utf8.h"

void tree_add_name(struct buf *out, const struct tree_process *p)
{
	utf8_add_readable(out, p->process.comm);
	if (p->process.ns_pid)
		buf_printf(out, "[%u]", p->process.ns_pid);
	else
		buf_printf(out, "[%u on the host]", p->process.pid);
}

static void add_signal(struct buf *out, uint32_t signal)
{
	char name[SIGNAME_SIZE];

	buf_adds(out, signame_format(signal, name));
}

static void add_by(struct buf *out, const struct tree *t, size_t by, const char *otherwise)
{
	if (by == TREE_NONE)
		buf_adds(out, otherwise);
	else
		tree_add_name(out, t->list + by);
}

static const char *const passes[] = {
	[WRAPPER_NOTHING] = "and passes it on to nobody",
	[WRAPPER_CHILD] = "and passes it on to its child",
	[WRAPPER_CHILDREN] = "and passes it on to its children",
	[WRAPPER_GROUP] = "and passes it on to the process group of its child",
	[WRAPPER_OWN_GROUP] = "and passes it on to its child and its process group",
	[WRAPPER_WORKERS] = "and passes it on to its workers",
	[WRAPPER_MESSAGE] = "and has its workers end",
	[WRAPPER_CLIENTS] = "and has its workers end once the last client has left",
	[WRAPPER_UNKNOWN] = "",
};

static void add_sent(struct buf *out, const struct tree_process *p, uint32_t sends)
{
	if (sends && sends != p->signal) {
		buf_adds(out, " as ");
		add_signal(out, sends);
	}
}

static void add_wrapper(struct buf *out, const struct tree_process *p)
{
	const struct wrapper *w = &p->wrapper;

	buf_printf(out, "receives it %s", passes[w->pass]);
	add_sent(out, p, w->sends);
	if (w->end == WRAPPER_AT_ONCE)
		buf_adds(out, w->pass == WRAPPER_NOTHING ? ": it ends at once"
							 : ", and does not wait for them");
}

static void add_receives(struct buf *out, const struct tree *t, const struct tree_process *p)
{
	if (p->reason == TREE_MESSAGE) {
		buf_adds(out, "is asked to end by ");
		add_by(out, t, p->from, "the container's manager");
	} else if (p->reason == TREE_DEFAULT) {
		buf_adds(out, "dies of ");
		add_signal(out, p->signal);
	} else if (p->wraps) {
		add_wrapper(out, p);
	} else {
		buf_adds(out, "receives ");
		add_signal(out, p->signal);
	}
	if (p->reason == TREE_DEFAULT)
		return;
	if (p->then) {
		buf_adds(out, ", and right after it ");
		add_signal(out, p->then);
	}
	if (p->waited == TRI_FALSE) {
		buf_adds(out, "; the container does not wait for it");
	} else if (p->killed_ms) {
		buf_adds(out, "; killed by ");
		add_by(out, t, p->killer, "");
		buf_printf(out, " within %u.%u s", p->killed_ms / 1000, p->killed_ms % 1000 / 100);
	}
}

static void add_cut(struct buf *out, const struct tree *t, const struct tree_process *p)
{
	buf_adds(out, "gets only SIGKILL: ");
	if (p->reason == TREE_OUTSIDE) {
		buf_adds(out, "started from outside (exec)");
		return;
	}
	add_by(out, t, p->by, "");
	if (t->list[p->by].fate == TREE_IGNORES)
		buf_adds(out, " does not act on the signal");
	else
		buf_printf(out, "%s passes nothing on to it",
			   t->list[p->by].reason == TREE_DEFAULT ? " dies of it and" : "");
}

static void add_ignores(struct buf *out, const struct tree_process *p)
{
	static const char *const words[TREE_REASON_COUNT] = {
		[TREE_IGNORED] = "ignores ",
		[TREE_NO_HANDLER] = "is PID 1 and has no handler for ",
		[TREE_BLOCKED] = "blocks ",
		[TREE_SUSPENDS] = "is only suspended by ",
	};

	buf_adds(out, words[p->reason] ? words[p->reason] : "ignores ");
	add_signal(out, p->signal);
	if (p->killed_ms)
		buf_printf(out, ", and is killed within %u.%u s", p->killed_ms / 1000,
			   p->killed_ms % 1000 / 100);
	else
		buf_adds(out, ", and is killed in the end");
}

/* @ stands for the process that the reason is about. */
static const char *const unknown[TREE_REASON_COUNT] = {
	[TREE_DECIDES] = "unknown: a handler of @ decides",
	[TREE_CONTRADICTS] = "unknown: @ does not take signals as a program of its name does",
	[TREE_MAY_PASS] = "unknown: whether @ reaches it, too, is not known",
	[TREE_WAITS] = "unknown: @ waits for its last client before it asks it",
	[TREE_STOPPED] = "unknown: @ is stopped or frozen, and acts when it goes on",
	[TREE_RERAISES] = "unknown: @ may have only the handler of Node, which does not end PID 1",
	[TREE_SHARED] = "unknown: nothing passes the signal on, and its namespace does not end",
	[TREE_UNREAD] = "unknown: @ could not be looked into",
	[TREE_UNCLEAR] = "unknown: whether a thread of @ would take the signal now is not known",
};

static void add_unknown(struct buf *out, const struct tree *t, size_t i)
{
	const struct tree_process *p = t->list + i;
	const char *text = unknown[p->reason] ? unknown[p->reason] : "unknown";

	for (; *text; text++)
		if (*text == '@')
			tree_add_name(out, t->list + (p->by == TREE_NONE ? i : p->by));
		else
			buf_addc(out, *text);
}

void tree_add_words(struct buf *out, const struct tree *t, size_t i)
{
	const struct tree_process *p = t->list + i;

	switch (p->fate) {
	case TREE_RECEIVES:
		add_receives(out, t, p);
		break;
	case TREE_CUT:
		add_cut(out, t, p);
		break;
	case TREE_IGNORES:
		add_ignores(out, p);
		break;
	default:
		add_unknown(out, t, i);
		return;
	}
	if (p->assumed)
		buf_adds(out, " (if configured by default)");
}
