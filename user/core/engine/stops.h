/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stops' room: follows each container and service of the map from the exec of its init, through
 * signals and its exit, to its verdict; with scope all single processes, too.
 *
 * What happens to the init of a pod's container is handed on to the pods' room.
 */
#ifndef CORE_ENGINE_STOPS_H
#define CORE_ENGINE_STOPS_H

#include "core/engine/pods.h"
#include "core/shutdown/plan.h"
#include "core/shutdown/shutdown.h"
#include "core/stop/grace.h"
#include "core/stop/stop.h"

/* How long a verdict waits for its cgroup to run empty, and for its name. */
#define STOPS_WAIT_NS 250000000ULL
/* How long a container may be without an init that execs before its processes are looked at: while
 * it is being made it holds stages of its runtime. */
#define STOPS_INIT_NS 10000000000ULL

/* --- what a node's shutdown gives the stop of a container in a pod --- */

/* The node's shutdown, as far as it bounds grace periods. All zero: no shutdown is followed. */
struct given {
	bool watched;		     /* a shutdown that is announced would be known */
	bool going;		     /* one is announced */
	uint64_t announced_ns;	     /* when, while it is going */
	const struct shutplan *plan; /* of the kubelet; NULL: none */
	bool managed; /* graced ends the pods: what is late has less than its group */
	const struct shutdown *sequencer; /* of a managed one */
};

/* The pod's group by the plan; meta NULL: no source describes it. */
size_t given_group(const struct shutplan *plan, const struct podtab_pod *meta, bool is_static);

/* Whether what is noted in stop is what graced itself gave it. */
static inline bool given_by_graced(const struct given *given, const struct stop *stop)
{
	return given->managed && stop->given_ns && !stop->given_unknown;
}

/* Notes in stop what the shutdown that is under way gives it, if its stop was requested in that.
 * meta: of its pod, NULL when no source describes it. True: that is new. */
bool given_note(const struct given *given, const struct podtab_pod *meta, struct stop *stop);

/* --- the room --- */

struct stops {
	struct cgmap *map;
	struct names *names;
	struct pods *pods;
	struct output *out;
	bool pods_only;				 /* scope pods: others are not reported */
	bool all_processes;			 /* scope all */
	uint64_t assumed_grace_ns, name_wait_ns; /* as in struct engine_config */
	const char *const *helpers;		 /* likewise */

	const struct given *given; /* as the shutdown has it */
	uint64_t missed_ns;	   /* kernel programs were last seen not to have run; 0: never */
	bool limited;		   /* signals to inits are limited, to stay within the budget */
	uint64_t limited_ns;	   /* when that ended last; 0: never */

	struct deadline_queue deadlines;
	bool any_left;	   /* an init may have been moved out of a container of the map */
	uint32_t n_gone;   /* stops whose cgroup is gone, and that wait */
	struct stop *over; /* ... those of them that were reported in this step */
	bool has_judged;   /* a verdict on a pod's container was reported in this step */
	struct record_member members[RECORD_MEMBERS]; /* of the record under way */
	struct map procs;		 /* scope all: stops of single processes, by pid */
	struct deadline_queue proc_ages; /* of the last signal to each */
	struct {
		uint64_t stops, unexpected, inits_not_found, procs_forgotten;
	} stats; /* as in struct engine_stats */
};

void stops_done(struct stops *stops);

/* A node of the map turned up: gives containers a stop, corrects the kernel half, queries names. 0
 * or -ENOMEM. */
int stops_cgroup_known(struct stops *stops, struct cgnode *node, uint32_t kernel_kind);
/* A source describes node: what follows for the kernel half and for its stop. */
void stops_described(struct stops *stops, struct cgnode *node);

/* Take an observation. 0 or -ENOMEM. */
int stops_on_init(struct stops *stops, const struct obs *obs);
int stops_on_no_init(struct stops *stops, const struct obs *obs);
int stops_on_signal(struct stops *stops, const struct obs *obs);
int stops_on_exit(struct stops *stops, const struct obs *obs);
int stops_on_oom(struct stops *stops, const struct obs *obs);
int stops_on_counts(struct stops *stops, const struct obs *obs);
int stops_on_probe(struct stops *stops, const struct obs *obs);
/* A record has its init in its cgroup: what was found by looks no longer counts. */
void stops_seen_there(struct stops *stops, struct stop *stop);
int stops_on_reaped(struct stops *stops, const struct obs *obs);
int stops_on_taken(struct stops *stops, const struct obs *obs);
int stops_on_shed(struct stops *stops, const struct obs *obs);
/* Kernel programs did not run, and cannot say for what: it may be any stop under way. */
void stops_missed(struct stops *stops, uint64_t at_ns);

/* Its cgroup has no process left, and pid, its init, was moved to another. */
void stops_left(struct stops *stops, struct stop *stop, uint32_t pid, uint64_t at_ns);
/* Its cgroup has no process left. */
void stops_empty(struct stops *stops, struct stop *stop, uint64_t at_ns);
/* Its names are known, or known to be unknown; or its init was reaped. */
void stops_named(struct stops *stops, struct stop *stop);
/* Its init, which was reported as held, is so no longer: that is reported. */
void stops_held_ends(struct stops *stops, struct stop *stop, uint64_t at_ns);
/* Its cgroup was removed. False: its verdict, or its init, still waits; stops_bury() frees it with
 * its node. */
bool stops_gone(struct stops *stops, struct stop *stop);
/* The id of node, which is gone while its verdict waits, is another cgroup's now. */
void stops_leave_id(struct stops *stops, struct cgnode *node);
/* Frees what was held beyond its cgroup's removal for its verdict, now that this is reported. */
void stops_bury(struct stops *stops);
void stops_expire(struct stops *stops, uint64_t now_ns);
/* The trace ends, and no record comes any more: verdicts that wait are reported. */
void stops_end(struct stops *stops, uint64_t at_ns);

/* For the steps of a stop, and for a stop that goes on after a restart. */

/* A life ended in its cgroup, and nothing was seen of its init. */
void stops_begin_unseen(struct stops *stops, struct stop *stop, uint64_t at_ns);
/* Moves stop, and counts an event that its state does not expect. */
void stops_advance(struct stops *stops, struct stop *stop, enum stop_event event);
/* Reports the verdict; stop moves on. not_empty: the wait is over and processes are left. */
void stops_publish(struct stops *stops, struct stop *stop, bool not_empty);
/* One that has exited has waited for its verdict, or its init to be reaped, since before the daemon
 * was restarted. */
void stops_resume(struct stops *stops, struct stop *stop);

static inline void stops_wake(struct stops *stops, struct stop *stop, uint64_t at_ns)
{
	/* Without memory for a deadline the verdict is reported at the cgroup's end. */
	deadline_set(&stops->deadlines, &stop->wake, at_ns);
}

/* --- core/engine/grace.c: what sources provide for a stop --- */

/* The grace period in force, by what is known now. What a node shutdown gives it is noted: that
 * holds when the shutdown is over, too. */
void stops_take_grace(struct stops *stops, struct stop *stop);
/* The same for all stops that are under way: a node shutdown is announced, which may come after its
 * first stop signals. */
void stops_renew_all(struct stops *stops);
/* ... for the stops in a pod. */
void stops_renew_pod(struct stops *stops, const char *uid);
/* It was killed early, and its pod's source has yet to say since whether that was deleted. */
bool stops_lacks_grace(const struct stops *stops, const struct stop *stop);
/* Signals that ask node's init to stop, when such a sender sends them: bit n-1 for signal n. */
uint64_t stops_signal_set(const struct stops *stops, const struct cgnode *node,
			  enum sender_kind from);
/* From when on it counts what the pod of a stop was about to do; 0: not yet. */
uint64_t stops_pod_since(const struct stop *stop);
/* Whether the pod was terminating then. */
enum record_tri stops_pod_terminating(const struct stops *stops, const struct stop *stop);

/* --- core/engine/others.c: the processes of a stop beside its init --- */

/* A signal as it was sent; NULL or not seen: none. */
struct record_asked stops_asked(const struct stop_signal *s);
/* What is known of them, and of what the stop waited for; valid until the next call. */
void stops_fill_members(struct stops *stops, const struct stop *stop, bool not_empty,
			struct record_stop *ret);
/* A signal to a process of a container beside its init, and its exit. */
void stops_other_signalled(struct stops *stops, const struct obs *obs);
void stops_other_exited(struct stops *stops, const struct obs *obs);
/* Its request is open from now on: which processes are there is looked at. */
void stops_look(struct stops *stops, struct stop *stop);
/* While it is being stopped, its deadline is the request's lapse, or the next look before that. */
void stops_watch(struct stops *stops, struct stop *stop);
/* A look is due, and asked for. */
bool stops_look_due(struct stops *stops, struct stop *stop, uint64_t now_ns);
int stops_on_look(struct stops *stops, const struct obs *obs);
int stops_on_looked(struct stops *stops, const struct obs *obs);

/* --- core/engine/report.c: records --- */

/* What is known of a stop: all of its record but outcome, cause and gaps. */
void stops_fill(const struct stops *stops, const struct stop *stop, struct record_stop *ret);
void stops_report_verdict(struct stops *stops, const struct stop *stop, uint32_t gaps);
void stops_report_empty(struct stops *stops, const struct stop *stop);
void stops_report_reaped(struct stops *stops, const struct stop *stop, uint64_t at_ns);
void stops_report_signal(struct stops *stops, const struct obs *obs, const struct stop *target,
			 const struct sender *sender);
void stops_report_oom(struct stops *stops, const struct obs *obs, const struct cgnode *node,
		      enum oom_level level);
/* Reports how the runtime says that a container exited beside how the kernel did, once both have. */
void stops_compare_exit(struct stops *stops, struct podtab_container *c);
/* Reports that a container whose stop a manager had asked for was made again, once the exit of the
 * one and the name of the other are known: c is either. */
void stops_compare_restart(struct stops *stops, struct podtab_container *c);

#endif
