/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of one container as a JSON line: the members that all records have (graced-records(5),
 * "Common members"), then what was found and why. */
#ifndef WIRE_JSON_AUDIT_H
#define WIRE_JSON_AUDIT_H

#include "base/buf.h"
#include "core/stop/audit.h"
#include "core/stop/record.h"

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
	struct record_process app; /* the child behind the shell that would have to get it */
	struct audit_facts facts;
	struct audit audit;
};

/* Adds the line with its newline. 0 or buf_error(). */
int audit_json(struct buf *out, const struct audit_record *record);

#endif
