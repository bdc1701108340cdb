/* SPDX-License-Identifier: Apache-2.0 */
/* A pod as `graced pods` and the metrics show it. */
#ifndef CORE_PODS_VIEW_H
#define CORE_PODS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cgroup/path.h"
#include "core/pods/discrepancy.h"
#include "core/pods/life.h"

/* Strings are borrowed and valid during the call that shows it. Times are nanoseconds of
 * CLOCK_BOOTTIME. */
struct podview {
	const char *uid;					  /* as its cgroup has it */
	const char *namespace_, *name, *workload, *workload_kind; /* NULL: not known */
	enum cgpath_qos qos;
	enum pod_stage stage;
	uint64_t first_ns;    /* when it was first seen */
	uint64_t since_ns;    /* ... and when it came to its stage */
	uint64_t grace_ns;    /* effective, once it is terminating; 0: not known */
	uint64_t deadline_ns; /* when that is over; 0: not known */
	uint32_t containers;  /* that have a cgroup, the sandbox apart */
	uint32_t running;     /* ... and whose init lives */
	bool sandbox_running;
	bool desired; /* the kubelet lists it */
	bool is_static, deleting;
	bool waiting;		 /* static, and another of its full name has to finish first */
	bool ready_known, ready; /* as the kubelet lists it; not known where it does not */
	uint64_t ready_stop_ns;	 /* it is reported as Ready, being stopped since then; 0: not so */
	uint32_t discrepancies;	 /* that hold, and those of its exits: bits of enum discrepancy */
};

#endif
