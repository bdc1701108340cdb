/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graced's part in a node shutdown: when its delay lock is taken and released, which container may
 * be ended, and what is reported of it.
 *
 * It decides and never acts. Events come in with the time they are handled at; what to do comes out
 * as effects. All times are nanoseconds on CLOCK_BOOTTIME, so a wall clock that steps is not seen;
 * time in which nothing ran (a suspend, a paused machine) counts only against logind's limit.
 *
 * SHUTDOWN_OBSERVE changes nothing: it releases when every kubepods container is empty or no
 * other delay lock is held. While logind does not say who holds any, it holds while a container is
 * being stopped or the kubelet has yet to stop one, as ASSIST does. SHUTDOWN_ASSIST holds while a
 * container is being stopped, ends those whose own time is over without a SIGKILL, and waits for
 * their pods' last status: up to logind's limit while the source of it answers. It queries that
 * once a pod is empty and every second from then on. It also waits until the volumes of these pods
 * are unmounted, while the kubelet lives. SHUTDOWN_MANAGE ends the pods itself, group by group, as
 * the kubelet would, with or without a lock, and releases when every container that it may end is
 * empty.
 */
#ifndef CORE_SHUTDOWN_SHUTDOWN_H
#define CORE_SHUTDOWN_SHUTDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/cgroup/map.h"
#include "core/model/effect.h"
#include "core/pods/life.h"
#include "core/shutdown/death.h"
#include "core/words/words.h"

#define SHUTDOWN_MAX_CONTAINERS 16384
#define SHUTDOWN_MAX_PODS	PODLIFE_MAX_PODS
#define SHUTDOWN_MAX_GROUPS	64
#define SHUTDOWN_MAX_HOLDERS	16 /* listed by name */
#define SHUTDOWN_WHO_MAX	64 /* with its NUL */

#define SHUTDOWN_MAX_VOLUMES  2048
#define SHUTDOWN_LIST_VOLUMES 16 /* listed in a record */
#define SHUTDOWN_PLUGIN_MAX   80 /* these with their NUL */
#define SHUTDOWN_DRIVER_MAX   64
#define SHUTDOWN_VOLUME_MAX   256

#define SHUTDOWN_OVERDUE_SLACK_NS 2000000000ULL
/* The lock is released a tenth of logind's limit before it, within these bounds; of a limit that is
 * shorter than twice the least, half of it before. The first half of the margin is for records to
 * be out, the second for the lock to be closed and logind to see that. logind's time begins a
 * moment before its announcement: it queries systemd about the target in between
 * (bus_manager_shutdown_or_sleep_now_or_later() of src/login/logind-dbus.c). */
#define SHUTDOWN_MARGIN_MIN_NS	  250000000ULL
#define SHUTDOWN_MARGIN_MAX_NS	  2000000000ULL
#define SHUTDOWN_LIMIT_DEFAULT_NS 5000000000ULL /* logind's own */
#define SHUTDOWN_FLUSH_NS	  1000000000ULL /* how long records may take to be out */
#define SHUTDOWN_TICK_NS	  1000000000ULL
#define SHUTDOWN_LIST_NS	  1000000000ULL /* how long logind may take to say who holds */
/* How often logind is asked that while the lock is held: twice as often as "at most 100 ms alone"
 * needs, for the answer takes time, too. */
#define SHUTDOWN_HOLDERS_NS	  50000000ULL
/* A delay lock of another program that is held so long after the last container is empty holds the
 * node up: the time that logind allows by default. */
#define SHUTDOWN_HELD_UP_NS	  5000000000ULL
/* A status that is not there by then does not come, however long logind would wait. */
#define SHUTDOWN_STATUS_MAX_NS	  300000000000ULL
/* A program that came to a shutdown under way waits so long to hear which pods are being ended. */
#define SHUTDOWN_JOIN_NS	  5000000000ULL
#define SHUTDOWN_SURVIVES_NS	  1000000000ULL /* what lives so long after SIGKILL is named */
#define SHUTDOWN_LOOK_NS	  1000000000ULL /* how long a look at a container holds */
#define SHUTDOWN_BACKOFF_MAX_NS	  30000000000ULL
/* The attach/detach controller gives a volume up after so long (maxWaitForUnmountDuration). */
#define SHUTDOWN_VOLUMES_MAX_NS	  360000000000ULL
/* How long the first reading of the mounts may take. */
#define SHUTDOWN_VOLUMES_NS	  1000000000ULL
/* A source of pods' status that fails for so long, asked every second, is away: more than a request
 * or two that a node that is shutting down loses. */
#define SHUTDOWN_API_AWAY_NS	  2000000000ULL
/* A source that neither answers nor fails for so long is away, too: a server that takes connections
 * and is silent, or an address behind which nothing is. */
#define SHUTDOWN_API_SILENT_NS	  5000000000ULL

/* How long units may take to be stopped before the first group begins without that. */
#define SHUTDOWN_UNITS_NS	   5000000000ULL
/* A runtime that was asked to stop a container and was not seen to for so long is overtaken. */
#define SHUTDOWN_UNSEEN_NS	   2000000000ULL
/* How long sandboxes are waited for, from the last that is to be stopped. */
#define SHUTDOWN_SANDBOX_NS	   2000000000ULL
/* Until then a kubelet that lives has written the status of a pod that has ended: it writes all it
 * has every 10 s. */
#define SHUTDOWN_KUBELET_WRITES_NS 12000000000ULL
/* An API server that has not decided about any write for so long is away: several attempts fit in. */
#define SHUTDOWN_WRITE_SILENT_NS   10000000000ULL

enum shutdown_kind {
	SHUTDOWN_KIND_UNKNOWN, /* no source says: may be a sandbox, and is never killed */
	SHUTDOWN_KIND_CONTAINER,
	SHUTDOWN_KIND_SANDBOX, /* not waited for, never killed */
	SHUTDOWN_KIND_OWN,     /* the container that this program runs in: likewise */
	SHUTDOWN_KIND_OUTSIDE, /* in no pod, and shutdown.managed does not name it: likewise */
};

/* A container as it is now, of kubepods or of shutdown.managed: each event replaces what was known
 * of it. */
struct shutdown_container {
	const char *pod_uid;
	/* From here to `outside` two containers are compared as bytes: no padding between members. */
	uint64_t id;	    /* of its own cgroup, not 0 */
	uint64_t asked_ns;  /* the runtime's stop signal to it; 0: it was not asked */
	uint64_t ending_ns; /* since when its pod is being ended; 0: not, or not known */
	uint64_t looked_ns; /* when the signals to its other processes were looked at; 0: never */
	uint64_t signalled_ns; /* ... and when one was last asked to stop, or ended; 0: never */
	uint64_t kill_ns;      /* a SIGKILL by any sender; 0: none */
	uint64_t timeout_ns;   /* effective stop timeout, from the stop signal on */
	enum shutdown_kind kind;
	uint32_t signal;      /* the stop signal that it was sent */
	uint32_t stop_signal; /* its own; 0: not known */
	uint32_t sidecar;     /* its place among its pod's sidecars in the spec; 0: no sidecar */
	uint32_t group;	      /* of one outside pods */
	bool populated;
	bool deaf; /* PID 1 never heard its stop signal, and not by choice */
	bool hook; /* it has a preStop hook, which may ask it to drain unseen */
	bool timeout_known;
	bool no_init;	 /* none is known that could be sent a signal */
	bool unanswered; /* a source has yet to answer what it is, or which rule is about it */
	/* It is in no pod: shutdown.managed gives it its group, and grace is its own. Both, and its
	 * kind, stay as they are once its grace period has begun. */
	bool outside;
	struct seconds grace; /* its pod's own, by its spec */
};

/* A pod as the API or the kubelet has it: each event replaces what was known. A container of a pod
 * that is not known is in group 0. */
struct shutdown_pod {
	const char *uid;
	uint32_t group;	 /* its place in the plan */
	bool stopping;	 /* it is being ended, though perhaps no container was asked yet */
	bool ended;	 /* terminal, Ready False, and that can be seen */
	bool unlisted;	 /* there is no source that could show that */
	bool api_server; /* with it the API goes */
	bool is_static;	 /* which source lists it */
	/* For its status. */
	bool named;   /* its namespace and name are known */
	bool seen;    /* an earlier process has seen it alive in this shutdown, and being stopped */
	bool lost;    /* records about it were lost: how it ended is not known for sure */
	bool pending; /* how a container ended is known in a moment */
};

/* A mount of the kubelet's for a volume that another node may wait for. */
struct shutdown_volume {
	uint64_t id;			    /* of the mount, not 0 */
	uint64_t device;		    /* of its file system */
	const char *pod_uid;		    /* "": for all pods of the node that use the volume */
	const char *plugin, *driver, *name; /* "": not known */
};

/* One of the plan's groups, in the order of their ending (core/shutdown/plan). */
struct shutdown_group {
	uint64_t ns;  /* how long the kubelet waits for it at most */
	bool in_full; /* it waits so long even when nothing is left */
};

/* A delay lock on shutdown that another program holds. */
struct shutdown_holder {
	const char *who; /* as it calls itself, any bytes */
	uint32_t uid, pid;
};

/* The kubelet's lock by its name (docs/kubelet-rules.md, "Inhibitor lock"); a lock of that name of
 * a user other than root is not the kubelet's. */
static inline bool shutdown_is_kubelet(const char *who, uint32_t uid)
{
	return uid == 0 && strcmp(who, "kubelet") == 0;
}

/* What the next process has to know of a shutdown that mode manage drives, or in which mode assist
 * may write statuses. Times are of CLOCK_BOOTTIME; but for those of the announcement and a kill,
 * less what was lost; 0: not yet. */
struct shutdown_run {
	uint64_t announced_ns; /* 0: there is none */
	uint64_t lost_ns;      /* time in which nothing ran */
	bool units_stopped;    /* the groups have begun */
	bool handed_over;      /* the lock was released */
	bool kubelet_held;     /* the kubelet's lock was seen in it */
	uint32_t group;	       /* the one it is at */
	uint64_t group_ns;     /* when that was started */
};

/* The same of a container that it ends. */
struct shutdown_run_turn {
	uint64_t id;	   /* of its cgroup; used where it is saved */
	uint64_t begun_ns; /* since when its grace period runs */
	int64_t grace_s;
	uint64_t end_ns;     /* of the group under way then */
	uint64_t given_ns;   /* its runtime was asked to stop it, or a hook has ended since */
	uint64_t stop_ns;    /* what it has from then on at the most, a duration */
	uint64_t hook_ns;    /* a hook runs since */
	uint64_t asked_ns;   /* its stop signal was seen, or sent by graced */
	uint64_t killed_ns;  /* last, by graced */
	bool hooked, failed; /* a hook was run; the runtime does not stop it */
};

enum shutdown_event_type {
	SHUTDOWN_EV_LOGIND_UP,	  /* logind answers, and signals are matched */
	SHUTDOWN_EV_LOGIND_DOWN,  /* logind or the bus went; a lock that is held stays held */
	SHUTDOWN_EV_LOCK_TAKEN,	  /* asked for, or taken back from the fd store */
	SHUTDOWN_EV_LOCK_REFUSED, /* the answer to TAKE_LOCK, whatever the reason */
	SHUTDOWN_EV_LOCK_LOST,	  /* logind does not know it any more, or it was taken away */
	SHUTDOWN_EV_ANNOUNCED,	  /* announced; may be repeated with what is known by then */
	SHUTDOWN_EV_CANCELLED,	  /* or logind, asked anew, prepares for none */
	SHUTDOWN_EV_HOLDERS,	  /* the answer to LIST_HOLDERS, or that something changed */
	SHUTDOWN_EV_FLUSHED,	  /* the answer to FLUSH */
	SHUTDOWN_EV_STOPPING,	  /* this program is to end */
	SHUTDOWN_EV_TIMER,	  /* the answer to WAKE_AT */
	SHUTDOWN_EV_PLAN,	  /* the groups; none: their order is not known */
	SHUTDOWN_EV_CONTAINER,
	SHUTDOWN_EV_CONTAINER_GONE,
	SHUTDOWN_EV_POD,
	SHUTDOWN_EV_POD_GONE,
	SHUTDOWN_EV_API,	   /* whether a source that lists pods can be asked */
	SHUTDOWN_EV_LISTED,	   /* ... and that it has answered a question */
	SHUTDOWN_EV_UNITS_STOPPED, /* the answer to STOP_UNITS, also when some could not be stopped */
	SHUTDOWN_EV_STOP_FAILED, /* the answer to STOP where no runtime could be asked, or failed */
	SHUTDOWN_EV_VOLUME,	 /* a mount is there; answers WATCH_VOLUMES, as do the next two */
	SHUTDOWN_EV_VOLUME_GONE, /* ... and is no more */
	SHUTDOWN_EV_VOLUMES,	 /* all that are there are known, or they cannot be read */
	SHUTDOWN_EV_UNMOUNTER,	 /* whether the process lives that held the kubelet's lock */
	/* A preStop hook of a container runs, which comes before its stop signal; it has ended. */
	SHUTDOWN_EV_HOOK_BEGUN,
	SHUTDOWN_EV_HOOK_ENDED,
	SHUTDOWN_EV_SANDBOX_STOPPED, /* the answer to STOP_SANDBOX, also when it could not be */
	SHUTDOWN_EV_STATUS,	     /* the answer to WRITE_STATUS */
	SHUTDOWN_EV_TAINT,	     /* the answer to SET_TAINT, also when it could not be set */
	SHUTDOWN_EV_EVIDENCE,	     /* how good all that is noted of containers is */
	SHUTDOWN_EVENT_COUNT,
};

/* What came of the statuses of pods. */
struct shutdown_statuses {
	uint64_t writes[SHUTDOWN_WRITE_COUNT];
	uint64_t withheld[SHUTDOWN_WITHHELD_COUNT];
};

/* How good the facts are. */
struct shutdown_evidence {
	char boot[DEATH_BOOT_SIZE]; /* in which they were observed */
	bool complete;		    /* all cgroups that there were at the start are known */
	bool lost;		    /* a record of the kernel half was */
	bool cgroups_lost;	    /* ... of a cgroup, which may be any pod's */
};

/* A source that lists pods: one for static pods, and one, or the same, for all others. */
struct shutdown_lister {
	bool is_static;
	bool kubelet;	/* it is the kubelet itself */
	bool reachable; /* API; false: asked again and again in vain */
	bool absent;	/* API: no address of it was ever known, so that it counts as no source */
};

struct shutdown_event {
	enum shutdown_event_type type;
	struct cgnode *node; /* CONTAINER, CONTAINER_GONE: of that id; NULL: it is looked up */
	union {
		struct {
			/* When logind said so, which may be before this program ran; 0: now. */
			uint64_t at_ns;
			/* InhibitDelayMaxUSec, read anew; 0: not known, or no_delay. */
			uint64_t limit_ns;
			bool no_delay; /* logind does not wait: the lock is released at once */
			enum shutdown_action action;
			bool by_hand; /* begun without logind, which may announce it later */
			/* What an earlier process has saved of it; of two turns of one id the
			 * later counts. NULL: nothing. */
			const struct shutdown_run *run;
			const struct shutdown_run_turn *turns;
			size_t n_turns;
		} announced;
		struct {
			/* Without the own lock; SHUTDOWN_MAX_HOLDERS of n at most. */
			const struct shutdown_holder *list;
			size_t n;
			bool failed; /* logind did not answer */
		} holders;
		struct {
			const struct shutdown_group *groups;
			size_t n; /* what is beyond the maximum counts to the last */
		} plan;
		struct shutdown_container container;
		struct shutdown_pod pod;
		struct shutdown_volume volume;
		uint64_t id; /* CONTAINER_GONE, STOP_FAILED, VOLUME_GONE, HOOK_* */
		bool failed; /* UNITS_STOPPED: one at least still runs; VOLUMES */
		struct {
			const char *uid;
			enum shutdown_write result;
		} status;
		struct shutdown_evidence evidence;
		bool lives;		       /* UNMOUNTER */
		const char *uid;	       /* POD_GONE, SANDBOX_STOPPED */
		struct shutdown_lister lister; /* API, LISTED */
	};
};

/* Each record has the first part; what else it has is named there. */
struct shutdown_record {
	enum shutdown_report what;
	uint64_t at_ns;
	enum shutdown_mode mode;
	enum shutdown_action action;
	bool locked; /* graced holds its lock */
	uint64_t announced_ns, limit_ns;
	size_t living;	 /* kubepods containers that are populated, sandboxes aside */
	size_t stopping; /* ... and that are being stopped */

	uint32_t group; /* GROUP_*: its place; LATE, OVERDUE, KILLED, SURVIVES: the container's */
	uint64_t group_ns;
	uint64_t planned_ns; /* GROUP_STARTED: when its turn came by the plan */
	bool timed_out;	     /* GROUP_DONE */

	/* LATE, OVERDUE, KILLED, SURVIVES; pod_uid is valid during the call. */
	struct shutdown_container container;
	bool deaf; /* OVERDUE, KILLED: for deafGrace, not for the end of its own time */

	enum shutdown_reason reason; /* RELEASED */

	/* HELD_UP, RELEASED: who else holds, as logind answered last; n may be more than are
	 * listed. Valid during the call. */
	const struct shutdown_holder *holders;
	size_t n_holders, n_listed;

	/* RELEASED: mounts of the volumes of pods that were stopped; n may be more than are listed.
	 * Valid during the call. */
	bool volumes_known; /* false: they were not looked for, or could not be read */
	struct shutdown_volume volumes[SHUTDOWN_LIST_VOLUMES];
	size_t n_volumes, n_volumes_listed;

	/* RELEASED: of this shutdown, as far as this process has decided. */
	bool statuses_known; /* false: none are written */
	struct shutdown_statuses statuses;
};

/* What settings make of it. */
struct shutdown_policy {
	enum shutdown_mode mode;
	uint64_t overdue_slack_ns; /* shutdown.overdueSlack; 0 is none */
	uint64_t status_wait_ns;   /* shutdown.statusWait; 0: as long as the limit allows */
	uint64_t deaf_grace_ns;	   /* shutdown.deafGrace; 0: off */
	bool volumes;		   /* shutdown.volumes: wait until they are unmounted */
	bool statuses;		   /* api.report: write the last status of pods */
	bool taint;		   /* shutdown.outOfServiceTaint, where death is proven */
	bool unschedulable;	   /* api.report, in mode manage: while a shutdown is under way */
	bool stops_kubelet;	   /* manage: the kubelet's unit is in shutdown.stopUnits */
};

struct shutdown_config {
	SHARED(shutdown_policy, policy);
	struct cgmap *cgroups; /* NULL: its own; else borrowed, and outlives it */
	effect_fn effect;
	void *userdata;
};

/* As it is now. */
struct shutdown_status {
	enum shutdown_state state;
	enum shutdown_action action;
	bool locked, going;
	uint64_t announced_ns, limit_ns; /* 0 unless a shutdown is going on */
	uint64_t deadline_ns;		 /* when it releases at the latest; likewise */
	size_t containers, living, stopping;
	/* Without those that had ended before this shutdown; ended: of those stopped in it. */
	size_t pods, pods_stopped, pods_ended;
	uint32_t group; /* that the kubelet is at by the plan; the number of groups: past the last */
};

/* All since shutdown_new(). */
struct shutdown_stats {
	uint64_t unexpected; /* events a state does not expect: counted no-ops */
	uint64_t refused;    /* facts that found no room */
	uint64_t announced, cancelled, killed, released;
	uint64_t lost_ns; /* time in which nothing ran, in this shutdown */
	struct shutdown_statuses statuses;
};

struct shutdown;

/* 0, -EINVAL or -ENOMEM. The configuration is copied; the caller frees with shutdown_free(). */
int shutdown_new(const struct shutdown_config *config, struct shutdown **ret);
struct shutdown *shutdown_free(struct shutdown *sd);

/* 0; -EINVAL for an unknown event or a fact without id or usable UID; -ENOSPC when there is no
 * room for one, -ENOMEM: a no-op. What it points to is copied. A time before
 * that of an earlier step counts as that one. */
int shutdown_step(struct shutdown *sd, const struct shutdown_event *event, uint64_t now_ns);

/* Many facts at once: takes a CONTAINER, CONTAINER_GONE, POD, POD_GONE, LISTED, VOLUME,
 * VOLUME_GONE or EVIDENCE about which nothing is decided before the next step or shutdown_settle().
 * 1: it is new; 0: it was known; or an error of shutdown_step(). */
int shutdown_note(struct shutdown *sd, const struct shutdown_event *event);
/* Decides by all that was noted. */
void shutdown_settle(struct shutdown *sd, uint64_t now_ns);

void shutdown_get_status(struct shutdown *sd, struct shutdown_status *ret);
void shutdown_get_stats(const struct shutdown *sd, struct shutdown_stats *ret);
/* What to save of it, and of the container of that cgroup. False: nothing. */
bool shutdown_save_run(const struct shutdown *sd, struct shutdown_run *ret);
bool shutdown_save_turn(const struct shutdown *sd, uint64_t id, struct shutdown_run_turn *ret);
/* What mode manage gave a container whose stop it asked for before anybody else had, from the stop
 * signal on, until the end of its group at the most; a duration. False: it gave it nothing, or that
 * is not what ends it. */
bool shutdown_gave(const struct shutdown *sd, const struct cgnode *node, uint64_t *ret_ns);
/* Whether the pod was seen alive in the shutdown under way, and being stopped: to be noted as seen
 * to the next process. */
bool shutdown_saw_pod(const struct shutdown *sd, const char *uid);
/* Adds how many pods of that group are in which state, without those that had ended before the
 * shutdown; a group beyond the plan's last is it. */
void shutdown_count_pods(struct shutdown *sd, uint32_t group,
			 uint64_t ret[static SHUTDOWN_POD_STATE_COUNT]);

/* By the "type" of logind's PrepareForShutdownWithMetadata: systemd's handle_action_table
 * (src/login/logind-action.c), whose words are API, and the same with a hyphen, as org.freedesktop.
 * login1's methods would have it. SHUTDOWN_UNKNOWN for any other. */
enum shutdown_action shutdown_action_of(const char *type);

#endif
