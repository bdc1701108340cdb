/* SPDX-License-Identifier: Apache-2.0 */
/* Which feature needs which capability: what graced check tells, and what deploy/ grants. */
#ifndef APP_COMMANDS_CHECK_NEEDS_H
#define APP_COMMANDS_CHECK_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct need {
	const char *feature;
	uint64_t capabilities; /* all of them: bits 1 << CAP_... */
	bool vital;	       /* without it nothing is traced */
	const char *without;   /* what happens then */
};

/* All there are; needs_n of them. */
extern const struct need needs[];
extern const size_t needs_n;

/* The capabilities that any feature needs. */
uint64_t needs_all(void);

/* Which of the wanted capabilities are not in have. CAP_SYS_ADMIN stands in for CAP_BPF and
 * CAP_PERFMON, as it does in the kernel. */
uint64_t needs_lacking(uint64_t wanted, uint64_t have);

/* "CAP_BPF", for a capability that some feature needs; NULL for any other. */
const char *needs_name(unsigned int capability);

/* Adds their names, separated by ", ". */
void needs_add_names(struct buf *out, uint64_t capabilities);

#endif
