/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would become of each process of a container if its init got the stop signal now: who gets it
 * from whom, who acts on it, and who is only there to be killed when the container ends.
 *
 * A signal goes from the init down as far as programs pass it on that are known to
 * (core/tree/wrapper); whether a process hears it follows the kernel's rules (core/stop/audit). Of
 * what the handler of another program does nothing is known, nor of what is below it.
 *
 * Not visible, and so not judged: a signal that a process wants to have when its parent dies
 * (PR_SET_PDEATHSIG), a pipe or a socket whose end makes it end, and whether a handler signals
 * processes that are neither below its own nor in its process group. That of PID 1 may signal all.
 */
#ifndef CORE_TREE_TREE_H
#define CORE_TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/stop/audit.h"
#include "core/stop/record.h"
#include "core/tree/wrapper.h"

#define TREE_MAX 64

enum tree_fate {
	TREE_RECEIVES, /* "receives": it is asked to end, and acts on that */
	TREE_CUT,      /* "cut": it is not asked; if it is still there, it is killed when the
			  container ends */
	TREE_IGNORES,  /* "ignores": it is asked, in vain, and killed when the container ends */
	TREE_UNKNOWN,  /* "unknown" */
	TREE_FATE_COUNT,
};

enum tree_reason {
	TREE_HANDLER,	 /* "handler": receives, by a handler, a thread that waits, a signalfd */
	TREE_DEFAULT,	 /* "default": receives, and dies of it */
	TREE_MESSAGE,	 /* "message": receives, not by a signal or by one of the parent's choice */
	TREE_IGNORED,	 /* "ignored": ignores, SIG_IGN or the signal's default */
	TREE_NO_HANDLER, /* "no-handler": ignores, as the init of a pid namespace */
	TREE_BLOCKED,	 /* "blocked": ignores, blocked in all threads */
	TREE_SUSPENDS,	 /* "suspends": ignores, the signal only suspends it */
	TREE_UNASKED,	 /* "not-passed-on": cut, a process above it passes nothing on to it */
	TREE_OUTSIDE,	 /* "from-outside": cut, started from outside, as docker exec does */
	TREE_DECIDES,	 /* "handler-decides": unknown, a handler above it may pass it on */
	TREE_CONTRADICTS, /* "contradicts": unknown, what is called as a wrapper is not like it */
	TREE_MAY_PASS,	  /* "may-pass-on": unknown, a wrapper above it may pass it on */
	TREE_WAITS,	  /* "waits-for-clients": unknown, asked when the last client has left */
	TREE_STOPPED,	  /* "stopped": unknown, stopped or frozen: acts when it goes on */
	TREE_RERAISES,	  /* "may-reraise": unknown, the handler may be Node's own */
	TREE_SHARED,	  /* "shared-namespace": unknown, nothing ends it with the init */
	TREE_UNREAD,	  /* "no-access": unknown, it could not be looked into */
	TREE_UNCLEAR,	  /* "unclear": unknown, its threads differ, or were busy */
	TREE_REASON_COUNT,
};

#define TREE_NONE ((size_t)-1)

/* A process, and then what would become of it. */
struct tree_process {
	struct record_process process;
	uint32_t ppid, pgrp;
	const char *exe;
	struct wrapper_program program;
	bool keys_ignored, key_caught; /* SIGINT and SIGQUIT; SIGINT */
	bool awaits_child;	       /* a shell: it is in a call that ends when a child does */

	size_t parent; /* in the list; TREE_NONE: it has none there */
	uint32_t depth;
	enum tree_fate fate;
	enum tree_reason reason;
	bool asked;	 /* it would be asked to end */
	uint32_t signal; /* by this; 0: by none, or it is not asked */
	size_t from;	 /* who asks it; TREE_NONE: who stops the container, or nobody */
	size_t by;  /* who does not, or may not, pass it on; TREE_NONE: the reason is its own */
	bool wraps; /* it hears it, and passes it on as: */
	struct wrapper wrapper;
	bool assumed;	    /* it is asked if a program above it has its default configuration */
	uint32_t then;	    /* ... and right after it by this one; 0: not */
	uint32_t killed_ms; /* ... and killed so long after, or before that; 0: not */
	size_t killer;	    /* ... by this one, which asked it or a process above it */
	enum record_tri waited; /* the container does not end before it has */

	/* For tree_judge() alone. */
	bool taints; /* what it does to others is not known */
	enum tree_reason taint;
	uint32_t reached;
};

struct tree {
	struct tree_process *list; /* at most TREE_MAX, as tree_order() leaves them */
	size_t n;
	uint32_t others; /* there are so many more */
	uint32_t signal; /* that the container is stopped by */
	bool shielded;	 /* its init is one of a pid namespace, so that all end with it */
};

/* Leaves of n processes the init and those that are next to it, at most TREE_MAX, each behind its
 * parent, and sets parent and depth. Others without a parent in the list come last. *n becomes how
 * many; ret_others how many were left out. */
void tree_order(struct tree_process *list, size_t *n, uint32_t init_pid, uint32_t *ret_others);

/* What a process would make of a signal; -errno: it cannot be seen. */
typedef int (*tree_look)(void *userdata, const struct tree_process *p, uint32_t signal,
			 struct audit *ret);

void tree_judge(struct tree *tree, tree_look look, void *userdata);

/* The words in quotes above; NULL for a number that is no member. */
const char *tree_fate_name(enum tree_fate fate);
const char *tree_reason_name(enum tree_reason reason);

/* What becomes of a process when its container is stopped, as a sentence. */

/* Adds a process as comm[number in its pid namespace], in printable characters. */
void tree_add_name(struct buf *out, const struct tree_process *process);

/* Adds the sentence about process i, without its name before it and a full stop behind it. */
void tree_add_words(struct buf *out, const struct tree *tree, size_t i);

#endif
