/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compare a stop record, member by member, with what the test itself knows: who it started, who
 * signalled, what the clock said around each call, what waitid(2) returned.
 */
#ifndef TESTS_LIB_KERNEL_TRUTH_H
#define TESTS_LIB_KERNEL_TRUTH_H

#include "lib/box/send.h"
#include "lib/jrec.h"

struct truth {
	const struct box_tree *tree;
	const struct box *box;	    /* after box_remove(): its removed_ns bounds empty_boot_ns */
	const struct proc_end *end; /* of the init */
	const struct sent *stop;    /* the request, or what it heard from inside; NULL: neither */
	const char *stop_result;    /* NULL: "delivered" */
	const struct sent *kill;    /* the last SIGKILL to the init, NULL when none was sent by a
				     * process of the test's */
	bool kernel_kill;	    /* the kernel sent a SIGKILL: nothing but that is known of it */
	bool deaf;
	const char *outcome, *cause;
	double grace_s; /* known grace period in seconds, 0 when unknown */
	int64_t collateral_kills;
	int64_t oom_kills;
	const char *comm;	/* of the init at its end; NULL: box->comm */
	uint64_t exit_after_ns; /* a clock read before the exit, 0 if there is none but the signals'
				 */
	const char *gaps;	/* JSON array in single quotes; NULL: none, evidence complete */
	bool loose_empty;	/* empty_boot_ns may be null (something stayed in the cgroup) */
};

/* 0, or 1 with a sentence about the first member that is wrong, missing or out of bounds. */
int truth_compare(const struct truth *truth, const json_t *rec, char *why, size_t size);

#endif
