/* SPDX-License-Identifier: Apache-2.0 */
/* A pod worker and what it said, as words in order: "cancel 1", "stopped 7", "requeue 1 60s",
 * "1 terminating" and, of calls, "SyncTerminatingPod 1 grace 30". */
#ifndef TESTS_LIB_PODS_PODRUN_H
#define TESTS_LIB_PODS_PODRUN_H

#include "core/pods/worker.h"

#define PODRUN_SECOND 1000000000ULL

struct podrun {
	struct podworker *pw;
	uint64_t now;
	char log[4096]; /* "; " between words; what does not fit is lost */
};

/* The clock starts at 100 s. */
void podrun_begin(struct podrun *run);
void podrun_end(struct podrun *run);

/* The words since the last call of it; valid until the next word. */
const char *podrun_log(struct podrun *run);

struct podworker_pod podrun_pod(const char *uid, int64_t spec_grace);

/* An update without kill options, and one with; what podworker_update() says. */
int podrun_update(struct podrun *run, enum podworker_type type, const struct podworker_pod *pod);
int podrun_kill(struct podrun *run, const struct podworker_pod *pod,
		const struct podworker_kill *kill);
int podrun_kill_running(struct podrun *run, const char *uid, const struct podworker_kill *kill);

/* Starts the worker of uid: what podworker_start() says, the call going to the log. */
int podrun_start(struct podrun *run, const char *uid);
void podrun_done(struct podrun *run, const char *uid, enum podworker_result result);
/* Runs all workers until none is ready; all calls end well. */
void podrun_drain(struct podrun *run);

#endif
