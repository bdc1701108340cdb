/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discrepancies: what the kubelet or a runtime reports of a pod or an exit, and what the kernel
 * observed otherwise, or the same source contradicts.
 */
#ifndef CORE_PODS_DISCREPANCY_H
#define CORE_PODS_DISCREPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/words/words.h"

/* Those that begin and end with the state of a pod. */
#define DISCREPANCY_STATES DISCREPANCY_EXIT_CODE

#define DISCREPANCY_BIT(kind) (1u << (kind))

/* An exit has one of these. */
#define DISCREPANCY_TIMES \
	(DISCREPANCY_BIT(DISCREPANCY_EXIT_TIME) | DISCREPANCY_BIT(DISCREPANCY_EXIT_LATE))

/* What holds no longer than this is a pod or a list in the middle of changing; nanoseconds. */
#define DISCREPANCY_GRACE_NS 5000000000ULL

/* The API writes whole seconds; a runtime stamps an exit when it reaps, which takes a moment. */
#define DISCREPANCY_TIME_NS 1000000000LL

struct exit_seen;

/* An exit as it is reported. Times are nanoseconds since 1970. */
struct discrepancy_reported {
	int32_t code;	     /* 128 + n for signal n */
	const char *reason;  /* "": none */
	int64_t finished_ns; /* 0: unknown */
	int64_t heard_ns;    /* when it was reported; 0: unknown */
};

/* How long a state must hold before it counts; nanoseconds. */
uint64_t discrepancy_grace_ns(enum discrepancy kind);

/* What runtimes and shells call the code of a wait status: 128 + n for signal n. */
int32_t discrepancy_code_of(uint32_t status);

/* In what an exit is reported otherwise than it was: bits DISCREPANCY_BIT(kind). Only the reasons
 * Completed, Error and OOMKilled say anything about the exit itself (docs/kubelet-rules.md, "Exit
 * reasons"). */
uint32_t discrepancy_of_exit(const struct exit_seen *exit,
			     const struct discrepancy_reported *reported);

#endif
