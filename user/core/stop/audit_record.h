/* SPDX-License-Identifier: Apache-2.0 */
/* What graced audit reports about one container, before any encoding. */
#ifndef CORE_STOP_AUDIT_RECORD_H
#define CORE_STOP_AUDIT_RECORD_H

#include "core/stop/audit.h"
#include "core/stop/grace.h"
#include "core/stop/record.h"

struct tree; /* core/tree/tree.h */

/* Two processes of a container that do not end well together. */
struct audit_pair {
	struct record_process app; /* that is killed unasked, or too soon */
	struct record_process by;  /* that does not pass the signal on, or kills it */
	uint64_t after_ns;	   /* ... so long after */
	bool assumed;		   /* ... if it has its default configuration */
};

/* Strings are the caller's, NULL where a value is not known. */
struct audit_record {
	uint64_t at_ns;	 /* CLOCK_BOOTTIME */
	int64_t wall_ns; /* since 1970, UTC */
	const char *node;
	struct record_pod pod;
	struct record_container container;
	bool seen;		       /* false: of its processes none could be seen */
	struct record_process process; /* the init; start_ns is not used */
	const char *shell;	       /* name of the program, when the init is a shell */
	bool has_app;
	/* The process that would have to get the signal: the child behind the shell, or that of an
	 * init that passes signals on. */
	struct record_process app;
	struct grace grace; /* as far as it is known */
	struct audit_facts facts;
	struct audit audit;
	const struct tree *tree; /* NULL: it was not looked at */
	/* The first pair for each warning about pairs, from AUDIT_PAIR_FIRST on. */
	struct audit_pair pairs[AUDIT_PAIRS];
};

#endif
