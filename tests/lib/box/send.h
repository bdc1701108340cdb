/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Senders: who signals a box. Every sender but this process itself is the helper program `sender`,
 * started for the occasion and gone afterwards, as a runtime's command is.
 */
#ifndef TESTS_LIB_BOX_SEND_H
#define TESTS_LIB_BOX_SEND_H

#include "lib/box/box.h"

enum send_from {
	SEND_HERE,	/* this process calls kill(2) itself */
	SEND_HOST,	/* a process named "sender" outside every container */
	SEND_RUNTIME,	/* a root process named "runc" outside every container */
	SEND_CONTAINER, /* a process named "sender" in the cgroup of the box `via` (and in the
			 * host's pid namespace, so that it can name any target) */
};

/* One signal as its sender saw it. Times are CLOCK_BOOTTIME in ns around the call. */
struct sent {
	enum send_from from;
	const struct box *via; /* the box it was sent from, for SEND_CONTAINER */
	pid_t sender;
	char comm[16];
	char ancestors[96]; /* comms of its nearest ancestors, at most 4, as a JSON array in single
			     * quotes */
	int number;
	int result; /* of the call: 0 or -errno; for floods the number that went out */
	uint64_t before_ns;
	uint64_t after_ns;
};

/* Send one signal; returns after the sender is gone. via may be NULL but for SEND_CONTAINER. */
int send_signal(struct box_tree *tree, enum send_from from, const struct box *via, pid_t target,
		int sig, struct sent *ret);

/*
 * Start a sender with arguments of its own (see helpers/sender.c) without waiting; collect it with
 * send_collect(). Not for SEND_HERE.
 */
int send_start(struct box_tree *tree, enum send_from from, const struct box *via,
	       const char *const *argv, struct proc *ret);

/* Wait for a sender, free it, and get at most n of the signals it noted: returns their number. */
int send_collect(enum send_from from, const struct box *via, struct proc *sender, struct sent *ret,
		 size_t n);

/* The nth signal that a box's own process noted about itself or others (from is SEND_CONTAINER). */
int send_of_page(const struct box *box, unsigned int nth, struct sent *ret);

/* Write 1 to a box's cgroup.kill from this process. Needs spec.twin. */
int send_cgroup_kill(const struct box *box, struct sent *ret);

#endif
