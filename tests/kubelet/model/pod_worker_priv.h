/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pod worker share: its records and its tables. */
#ifndef TESTS_KUBELET_MODEL_POD_WORKER_PRIV_H
#define TESTS_KUBELET_MODEL_POD_WORKER_PRIV_H

#include <sys/queue.h>

#include "base/map.h"
#include "kubelet/model/pod_worker.h"

/* An update as it is kept: what is left of it once UpdatePod has decided. */
struct podworker_kept {
	enum podworker_type type;
	bool has_pod, has_running, mirror;
	bool is_static;
	struct pod_seconds deletion_grace, spec_grace;
	struct pod_seconds grace; /* set once the pod is to end */
	uint64_t start_ns;
};

struct podworker_record {
	TAILQ_ENTRY(podworker_record) all, ready;
	struct podworker_status status;
	struct podworker_kept pending, active; /* where status says that there is one */
	bool worker;			       /* a worker runs for it, or waits to */
	bool signalled;			       /* ... and has something to look at */
	bool context;			       /* it has had something to cancel */
	enum podworker_call_kind call;	       /* that runs now */
	enum pod_stage reported;
	uint64_t last_call_ns; /* when this worker's last call ended */
	uint64_t epoch;	       /* of the last sync that wanted it */
	uint64_t status_fn;
	uint64_t waiters[PODWORKER_MAX_WAITERS];
	size_t n_waiters;
	char *fullname;
	char uid[POD_UID_MAX];
};

/* The static pods of one full name (docs/kubelet-rules.md, "Static pods"). */
struct podworker_name {
	TAILQ_ENTRY(podworker_name) all;
	char *fullname;
	char started[POD_UID_MAX]; /* "": none */
	char (*waiting)[POD_UID_MAX];
	size_t n_waiting, room;
};

TAILQ_HEAD(podworker_queue, podworker_record);

struct podworker {
	struct podworker_config config;
	struct map records; /* by UID */
	struct map names;   /* by full name */
	struct podworker_queue all, ready;
	TAILQ_HEAD(, podworker_name) all_names;
	uint64_t epoch; /* counts the syncs */
	uint64_t refused, waiters_refused, unexpected;
};

/* pod_worker.c */

struct podworker_record *podworker_find(const struct podworker *pw, const char *uid);
/* A new record, its status empty. -EINVAL, -ENOSPC, -ENOMEM. */
int podworker_add(struct podworker *pw, const char *uid, const char *namespace_, const char *name,
		  struct podworker_record **ret);
/* Forgets a record, its worker and its place among the started static pods. */
void podworker_remove(struct podworker *pw, struct podworker_record *rec);
/* Ends the worker; the record stays. */
void podworker_end(struct podworker *pw, struct podworker_record *rec);
/* Ends the worker of what is over, and frees its full name. */
void podworker_finish(struct podworker *pw, struct podworker_record *rec);
/* Lets the worker look at what is pending, now or once its call has ended. */
void podworker_signal(struct podworker *pw, struct podworker_record *rec);
/* The last update again, unless another one waits. */
void podworker_replay(struct podworker *pw, struct podworker_record *rec);
void podworker_tell(const struct podworker *pw, const struct podworker_effect *effect);
/* Tells the stage that rec is in, once. */
void podworker_tell_stage(const struct podworker *pw, struct podworker_record *rec);
/* 0 is no time. */
uint64_t podworker_stamp(uint64_t now_ns);
uint64_t podworker_jittered(uint64_t delay_ns, uint32_t jitter);

/* pod_worker_static.c */

enum podworker_may { PODWORKER_MAY_START, PODWORKER_NOT_YET, PODWORKER_NEVER };

/* Whether the pod may start, and if so it has. */
enum podworker_may podworker_may_start(struct podworker *pw, const char *uid, bool is_static);
/* 0, -ENOSPC or -ENOMEM. */
int podworker_name_wait(struct podworker *pw, const char *fullname, const char *uid);
int podworker_name_start(struct podworker *pw, const char *fullname, const char *uid);
/* Frees the full name if uid is the one that was started. */
void podworker_name_free(struct podworker *pw, const char *fullname, const char *uid);
struct podworker_name *podworker_name_find(const struct podworker *pw, const char *fullname);
void podworker_names_done(struct podworker *pw);

/* pod_worker_house.c */

/* For a record that is orphaned or to be restarted (tests/kubelet/README.md, "Orphaned pods").
 * True: it was removed. */
bool podworker_remove_terminated(struct podworker *pw, struct podworker_record *rec, bool orphan,
				 uint64_t now_ns);

/* pod_worker_sync.c */

/* completeWork() of the kubelet: another look if something is pending, else the worker rests. */
void podworker_complete_work(struct podworker *pw, struct podworker_record *rec);

#endif
