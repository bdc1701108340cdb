/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what the engine reports, in the terms of graced-records(5), before
 * any encoding. Filled by the engine, valid during the effect's call.
 *
 * Strings point into the engine or are NULL where a value is unknown. Times are nanoseconds of
 * CLOCK_BOOTTIME, 0 for unknown, unless a name says wall.
 */
#ifndef CORE_STOP_RECORD_H
#define CORE_STOP_RECORD_H

#include "core/cgroup/path.h"
#include "core/facts/observation.h"
#include "core/pods/discrepancy.h"
#include "core/pods/life.h"
#include "core/stop/grace.h"
#include "core/stop/outcome.h"
#include "core/stop/unheard.h"
#include "core/waits/waits.h"
#include "core/words/words.h"

#define RECORD_ID_SIZE 192

_Static_assert(SENDER_UNPLACED == SENDER_UNKNOWN + 1 && SENDER_KIND_COUNT == SENDER_UNPLACED + 1,
	       "metrics and readers take the kinds before SENDER_UNKNOWN for those with a word");

struct record_pod {
	bool known; /* false: not in a pod, printed as null */
	const char *namespace_;
	const char *name;
	const char *uid;
	const char *workload; /* what made it; NULL: not known */
	enum cgpath_qos qos;
	bool is_static;
	const char *workload_kind; /* NULL: not known */
};

struct record_container {
	bool known;
	const char *name;
	const char *id; /* NULL: a cgroup that carries no id */
	enum cgpath_runtime runtime;
	enum record_container_kind kind;
	const char *cgroup; /* path in the hierarchy of the containers */
	const char *image;  /* NULL: not known */
	bool attempt_known;
	uint32_t attempt; /* how often it was restarted */
	bool ephemeral;	  /* kubectl debug added it; not in what is written */
	uint32_t user;	  /* cgtrust_user() of cgroup; likewise */
	/* What it belongs to outside pods: a compose project, and its service or a unit; NULL: not
	 * known. */
	const char *namespace_, *workload, *workload_kind;
};

struct record_process {
	uint32_t pid, ns_pid;
	const char *comm;
	uint64_t start_ns;
};

struct record_sender {
	enum sender_kind kind;
	struct record_process process;
	const char *ancestors[GRACED_ANCESTORS]; /* comms, nearest first, NULL ends */
	struct record_pod pod;
	struct record_container container;
	const char *cgroup; /* NULL: not known */
};

struct record_sigref { /* a signal inside a stop record */
	bool known;
	uint32_t number;
	int32_t result;
	uint64_t at_ns;
	struct record_sender sender;
};

struct record_signal {
	uint32_t number;
	int32_t result;
	bool group;
	int32_t code;
	bool blocked;
	bool deaf;
	enum unheard reason;
	struct record_sender sender;
	struct record_process target;
	bool target_init;
	struct record_pod pod;
	struct record_container container;
};

struct record_exit {
	bool known;	 /* false: exit status not seen */
	bool reported;	 /* ... but the runtime reported its code */
	int32_t code;	 /* as reported: 128 + n for signal n */
	uint32_t status; /* raw wait status */
	uint64_t at_ns;
};

/* What init passed on of its stop; none when count is 0. */
struct record_forward {
	uint32_t count; /* signals recorded, a few at most */
	uint32_t number;
	int32_t result;
	struct record_process to;
	uint64_t after_ns; /* since the stop signal */
};

/* What an init that has exited waits for, and its parent, which has not waited for it. */
struct record_holder {
	struct record_process process, parent; /* pid 0: not known */
};

/* A signal to a process of a container. */
struct record_asked {
	uint32_t number; /* 0: none */
	int32_t result;
	uint64_t at_ns;
	enum sender_kind sender;
	struct record_process process; /* that sent it */
	bool inside;		       /* ... and was in this container */
};

/* A process of a container that was stopped, or ended. */
struct record_member {
	struct record_process process;
	const char *exe;
	uint32_t parent_pid; /* at its end; 0: not known */
	enum disposition disposition;
	struct record_asked asked; /* as in struct process */
	struct record_asked fatal; /* what ended it */
	struct record_exit exit;   /* not known: it lives, or its end was not seen */
	enum ended_by by;
	bool entered; /* brought in by exec or the like, and so never cut */
	bool helper;  /* nobody has to ask it to stop, and so never cut, either */
	bool cut;     /* killed after the stop began, before it had ended by itself */
};

/* How many processes a record lists. */
#define RECORD_MEMBERS 16

/* The child whose end init passed on by its own status. */
struct record_via {
	struct record_process process; /* pid 0: there is none */
	enum via_how how;
};

/* A request to stop, and what became of it. */
struct record_request {
	SHARED(record_asked, asked);
	uint64_t taken_ns;   /* init took it by a handler; 0: not seen */
	uint64_t dropped_ns; /* the kernel dropped it when init was to take it; 0: not */
	enum unheard reason;
	const char *target_comm; /* init's name then */
};

#define RECORD_REQUESTS 5

enum record_tri { TRI_UNKNOWN, TRI_FALSE, TRI_TRUE };

struct record_stop {
	char id[RECORD_ID_SIZE]; /* <boot id>/<container id>/<start_boot_ns> */
	struct record_pod pod;
	struct record_container container;
	struct record_process process;
	struct record_sigref stop_signal;
	bool inferred; /* that is the stop signal only by what followed */
	struct record_sigref kill_signal;
	struct record_sigref keeper_signal; /* for CAUSE_RUNTIME_LOST: what ended the keeper */
	struct record_request requests[RECORD_REQUESTS]; /* in their order, stop_signal among them */
	uint32_t n_requests;				 /* with those that are left out */
	bool deaf;
	enum unheard reason;
	struct record_exit exit;
	uint64_t abort_ns; /* from the SIGABRT that abort() raised in vain to its fault; 0: neither */
	uint64_t latency_ns; /* valid when stop_signal is known and the exit was seen */
	bool latency_known;
	struct grace grace;
	struct record_forward forward;
	struct record_holder held_by;
	SHARED(stop_seen, seen);
	enum record_tri pod_terminating;
	enum outcome outcome;
	enum cause cause;
	struct record_via via;
	const struct record_member *processes; /* init first; none where only init is known */
	size_t n_processes;
	uint32_t processes_other; /* known, and not listed */
	uint32_t processes_gaps;  /* bits 1 << enum list_gap */
	uint32_t looks;		  /* at what the stop waited for */
	const struct wait *waited_for;
	size_t n_waited_for;
	uint32_t cut; /* how many of them were */
	uint64_t collateral_kills;
	uint64_t oom_kills;
	bool oom_kills_unknown; /* more may have gone unseen, and no gap says so */
	uint32_t gaps;		/* bits 1 << enum gap; 0 is complete evidence */
};

/* The runtime's own word of an exit, beside the kernel's. */
struct record_runtime_exit {
	char id[RECORD_ID_SIZE]; /* of the stop */
	struct record_pod pod;
	struct record_container container;
	int32_t exit_code; /* 128 + n for signal n */
	const char *reason;
	int64_t finished_wall_ns;
	struct record_exit kernel;
	int64_t kernel_wall_ns;
	enum record_tri agrees; /* in the code */
};

/*
 * A container that a manager stopped, and in whose place its kubelet made another: the pod goes on.
 * The probe of a liveness check may have failed; a changed image, a postStart hook that failed or
 * somebody who asked the runtime look the same.
 */
struct record_restart {
	char id[RECORD_ID_SIZE]; /* of the stop */
	struct record_pod pod;
	struct record_container container; /* that was stopped */
	const char *next_id;		   /* of the container in its place */
	uint32_t next_attempt;
	enum record_tri probe; /* its spec has a liveness or startup probe */
	struct record_exit exit;
};

struct record_empty {
	char id[RECORD_ID_SIZE];
	struct record_pod pod;
	struct record_container container;
	uint64_t empty_ns;
};

/* An init that was reported as not reaped is: its runtime sees the exit. */
struct record_reaped {
	char id[RECORD_ID_SIZE];
	struct record_pod pod;
	struct record_container container;
	struct record_exit exit;
	uint64_t reap_ns; /* 0: not seen, a look at the record's own time found it so */
};

struct record_oom {
	struct record_pod pod;
	struct record_container container;
	struct record_process victim;
	bool init;
	enum oom_level level;
	uint64_t limit;	      /* of the container's memory, in bytes; 0: none, or not known */
	uint64_t level_limit; /* of the memory that ran out; likewise */
};

/* A pod changed state. */
struct record_pod_state {
	char id[RECORD_ID_SIZE]; /* <boot id>/<uid>/<state>/<at_ns> */
	struct record_pod pod;
	enum pod_stage state, previous; /* POD_STAGE_NONE: it was not seen before */
	enum pod_trigger trigger;
	uint64_t at_ns; /* of what triggered it */
	struct grace grace;
	uint64_t deadline_ns;	 /* when the grace is over; 0: not known */
	uint64_t terminating_ns; /* when that began */
	uint64_t exit_ns;	 /* the last container's, the sandbox apart; 0: not seen */
	uint64_t empty_ns;   /* the pod's cgroups had no process left; 0: not seen, or not yet */
	uint64_t removed_ns; /* they were gone; 0: not seen, or not yet */
	uint32_t gaps;	     /* bits 1 << enum gap */
};

/* A source is asked at times. What changed between two of its answers is a figure when they are no
 * further apart than that, and a gap (GAP_TIME_UNCERTAIN) otherwise; nanoseconds. */
#define RECORD_ANSWERS_NS 2000000000ULL

/* How long a pod that was being stopped was still reported to be Ready. */
struct record_pod_ready {
	char id[RECORD_ID_SIZE]; /* <boot id>/<uid>/ready/<stop_ns> */
	struct record_pod pod;
	uint64_t stop_ns;  /* the first stop signal to a container of it */
	uint64_t last_ns;  /* the kubelet was asked last, and it was Ready still */
	uint64_t until_ns; /* the kubelet was asked, and it was Ready no longer */
	uint64_t heard_ns; /* ... and answered */
	bool gone;	   /* ... for it was not listed any more */
	uint32_t gaps;	   /* bits 1 << enum gap; 0: from stop_ns to until_ns is a figure */
};

/* What is reported of a pod or an exit, and what the kernel observed. */
struct record_discrepancy {
	/* <boot id>/<uid>/<kind>/<since_ns>, or <boot id>/<container id>/<start_ns>/<kind> */
	char id[RECORD_ID_SIZE];
	struct record_pod pod;
	struct record_container container; /* not known: it is about the pod */
	enum discrepancy kind;
	uint64_t since_ns; /* both were so, as far as known; of an exit, when it was */
	struct {
		enum meta_source source;
		bool listed;	       /* of a pod */
		enum meta_phase phase; /* 0: unknown */
		enum record_tri ready;
		int32_t exit_code; /* of an exit, as the next two */
		const char *reason;
		int64_t finished_wall_ns; /* 0: unknown */
	} reported;
	struct {
		bool populated;	  /* the pod's cgroups hold a process */
		uint32_t running; /* its containers whose init lives, the sandbox apart */
		struct record_exit exit;
		int64_t exit_wall_ns;
		enum record_tri oom; /* the OOM killer chose a process of it */
	} kernel;
};

/* An element of step.volumes, which has the strings; namespace_ and pod: NULL where no source
 * provides them. */
struct record_volume {
	const char *uid, *namespace_, *pod;
	const char *plugin, *driver, *name;
};

/* A step of a node's shutdown. */
struct record_shutdown {
	char id[RECORD_ID_SIZE]; /* <boot id>/shutdown/<announced_ns>/<step>/<of what, or when> */
	struct shutdown_record step; /* strings as it has them */
	struct record_pod pod;	     /* of a container's steps, as the next one */
	struct record_container container;
	bool group_known;
	int32_t group_priority; /* from which on pods are in the group */
	struct record_volume volumes[SHUTDOWN_LIST_VOLUMES];
};

struct boot_verdict {
	enum boot_end end;
	enum boot_reason reason;
};

struct bootlog;

/* The end of an earlier boot; boot_ns is of that boot, when what was alive was looked at last. */
struct record_boot {
	char id[RECORD_ID_SIZE]; /* <boot id>/end */
	struct boot_verdict verdict;
	const struct bootlog *log; /* core/boot/log */
};

struct record_attached {
	const char *hierarchy;
	uint32_t programs;
	uint64_t containers; /* already there */
	bool pods;	     /* some of them in pods */
};

struct record_lost {
	struct graced_stat totals[GRACED_STAT_COUNT];
	uint64_t recursion_misses;
};

/* Events of all types that were lost, and cgroups that are not watched because of a limit. */
uint64_t record_events_lost(const struct record_lost *lost);
uint64_t record_cgroups_unwatched(const struct record_lost *lost);

/* Records that were not written here, by what could not take them: a file, a reader, the journal. */
struct record_dropped {
	uint64_t records;
	uint64_t since_ns, until_ns; /* the first and the last of them was reported; 0: not known */
};

enum record_type {
	RECORD_NONE,
	RECORD_ATTACHED,
	RECORD_SIGNAL,
	RECORD_STOP,
	RECORD_EMPTY,
	RECORD_OOM,
	RECORD_LOST,
	RECORD_RUNTIME_EXIT,
	RECORD_RESTART,
	RECORD_POD,
	RECORD_POD_READY,
	RECORD_DISCREPANCY,
	RECORD_SHUTDOWN,
	RECORD_BOOT,
	RECORD_DROPPED,
	RECORD_REAPED,
	RECORD_TYPE_COUNT,
};

struct record {
	enum record_type type;
	uint64_t at_ns;	  /* "boot_ns" */
	int64_t wall_ns;  /* "time": nanoseconds since 1970, UTC */
	const char *node; /* NULL: not known */
	union {
		struct record_attached attached;
		struct record_signal signal;
		struct record_stop stop;
		struct record_empty empty;
		struct record_oom oom;
		struct record_reaped reaped;
		struct record_lost lost;
		struct record_runtime_exit runtime_exit;
		struct record_restart restart;
		struct record_pod_state pod_state;
		struct record_pod_ready pod_ready;
		struct record_discrepancy discrepancy;
		struct record_shutdown shutdown;
		struct record_boot boot;
		struct record_dropped dropped;
	};
};

/* How long it was Ready at least; 0 where nothing is known. */
static inline uint64_t record_ready_min_ns(const struct record_pod_ready *r)
{
	return r->last_ns > r->stop_ns ? r->last_ns - r->stop_ns : 0;
}

/* The signal whose sender ended it: what ended its keeper, as far as that is known, before the
 * SIGKILL to init. It may not be known. */
static inline const struct record_sigref *record_killer(const struct record_stop *stop)
{
	return stop->keeper_signal.known ? &stop->keeper_signal : &stop->kill_signal;
}

/* How many processes were cut though init ended well: those that a look at init alone misses. */
static inline uint32_t record_cut_well(const struct record_stop *stop)
{
	bool well = stop->outcome == OUTCOME_GRACEFUL || stop->outcome == OUTCOME_TERMINATED;

	return well ? stop->cut : 0;
}

/* Its stop signal is of another sender than a manager, which gives no grace period. */
bool record_is_unmanaged(const struct record_stop *stop);

/* It ended by what a terminal sends, or a process of the host: the record does not say which. */
bool record_may_be_terminal(const struct record_stop *stop);

/* How badly it went, for a list with the worst first; 0: it went well, and no process was cut. */
#define RECORD_BADNESS_MAX 6
unsigned int record_badness(const struct record_stop *stop);

/* The signal that ended it; 0: none, or it is not known. */
static inline uint32_t record_died_of(const struct record_exit *exit)
{
	return exit->known ? exit->status & 0x7f : 0;
}

static inline uint32_t record_code_of(const struct record_exit *exit)
{
	return exit->status >> 8 & 0xff;
}

/* The process of this pid in the list of the stop; NULL: it is not there. */
const struct record_member *record_find_member(const struct record_stop *stop, uint32_t pid);
/* The first in it that was cut; NULL: none was, or none is listed. */
const struct record_member *record_first_cut(const struct record_stop *stop);
/* It was asked to stop, and did not ignore that. */
bool record_heard(const struct record_member *m);
/* It was started after the stop signal had been sent. */
bool record_is_late(const struct record_stop *stop, const struct record_member *m);

/* The pod's, or outside pods the container's own; NULL: not known. */
const char *record_namespace(const struct record_pod *pod,
			     const struct record_container *container);
const char *record_workload(const struct record_pod *pod, const struct record_container *container);
const char *record_workload_kind(const struct record_pod *pod,
				 const struct record_container *container);
/* The name of the cgroup of that path. */
const char *record_last_component(const char *path);
/* "compose" or "quadlet", by the source that groups containers outside pods. */
const char *record_group_kind(enum meta_source source);

/* Without a stop signal: the last signal among the requests that init took, or else was sent,
 * before it ended. NULL: there was none. */
const struct record_request *record_beside(const struct record_stop *stop);

/* Who ended it, or the child whose end init passed on; without one, who requested its end. False:
 * no sender is known. */
bool record_ender(const struct record_stop *stop, struct record_sender *ret);

/* For a stop of the reason before-exec: how long after its start the init was asked, and its name
 * then. NULL if either is unknown, or the reason is another. */
const char *record_before_exec(const struct record_stop *stop, uint64_t *ret_after_ns);

/*
 * What a cgroup that is no service is: its path identifies a dropped sandbox and a container
 * outside pods, a name (NULL: not known) identifies a container; a sandbox that runs looks like one
 * without.
 */
enum record_container_kind record_container_kind_of(const struct cgpath *path, const char *name);

#endif
