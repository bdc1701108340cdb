/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine writes down of what it knows, for one that comes after it on the same boot: the
 * members of its observations (core/facts/observation.h says how they are fed). They come out of a
 * file, and are trusted no more than any other observation.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME, 0 for what was not seen. Strings are NUL-terminated.
 */
#ifndef CORE_FACTS_SAVED_H
#define CORE_FACTS_SAVED_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/cgroup/path.h"
#include "core/names/meta.h"
#include "core/pods/life.h"
#include "graced/event.h"

/* Enums are kept by their numbers: what changes those changes this. */
#define KEPT_VERSION	1
#define KEPT_PATH_MAX	4096
#define KEPT_POD_DOUBTS 3 /* as many as there are discrepancies that begin and end */

/* Begins what was written at one time. */
struct kept_head {
	uint32_t version; /* KEPT_VERSION */
	char boot_id[37];
	bool all; /* nothing that was fed before counts */
};

struct kept_cgroup {
	uint64_t id;
	uint32_t runtime;	  /* enum cgpath_runtime, of container_id */
	bool populated;		  /* in a pod: a process may be in it */
	bool entered;		  /* a pod's own: a container was in it */
	uint32_t delegated_level; /* as core/cgroup/trust has it */
	char container_id[65];	  /* "" unless a source provided what its path does not say */
	char path[KEPT_PATH_MAX]; /* "": not known */
};

/*
 * What is seen of a stop as it goes: struct stop, its checkpoint and its record have a member for
 * each row, and the checkpoint has it by that name.
 */
#define STOP_SEEN(ROW)                                                               \
	ROW(UINT, uint64_t, empty_ns)	/* its cgroup was empty; 0: not yet */       \
	ROW(UINT, uint64_t, deliver_ns) /* init took its stop signal; 0: not seen */ \
	ROW(UINT, uint64_t, reap_ns)	/* its parent waited for it; 0: not seen */

struct stop_seen {
#define STOP_SEEN_MEMBER(kind, type, name) type name;
	STOP_SEEN(STOP_SEEN_MEMBER)
};

/* The first signal that init sent to another process of its container after it was asked to stop. */
struct stop_forward {
	uint32_t count; /* how many were recorded; 0: none */
	uint32_t number;
	int32_t result;
	uint64_t at_ns;
	struct graced_proc to;
};

/* The life of a container's init, or service's main process: struct stop has these members, too. */
struct kept_stop {
	uint64_t id; /* of its cgroup; used where it is saved */
	bool over;   /* likewise: the cgroup is gone, all is reported, and no other member counts */
	uint32_t state; /* enum stop_state */
	struct graced_proc init;
	uint64_t since_ns; /* when init was reported to be it; 0: not yet */
	uint32_t rank;	   /* enum graced_init_rank */
	bool guessed;	   /* by its age when attaching late, or as it never exec'd */
	bool late;	   /* it ran before signals to it were recorded */
	bool init_unseen;  /* processes ran in its cgroup, and none was found to be init */
	bool deaf;
	uint32_t hearing;      /* enum stop_hearing */
	uint64_t request_sigs; /* stop-set signals sent in the request */
	uint64_t request_suppressed;
	uint64_t unsure_ns; /* a stop signal of a sender that cannot be known came last; 0: never */
	uint32_t oom;	    /* enum oom_level */
	bool oom_victim;
	bool exit_seen;
	uint32_t status;
	uint64_t exit_ns;
	uint64_t abort_ns; /* init raised SIGABRT last, and the kernel dropped it; 0: it did not */
	uint64_t fault_ns; /* the last SIGSEGV, SIGILL, SIGTRAP or SIGBUS; 0: there was none */
	SHARED(stop_seen, seen);
	struct graced_counts base; /* when this init's life began */
	struct graced_counts counts;
	/* What a node shutdown gives this stop, the least so far, 0: nothing; in force until it
	 * ends, whatever becomes of the shutdown. */
	uint64_t given_ns;
	bool given_unknown;    /* a shutdown may give it less than its own, which is not known */
	bool takes_others;     /* others were left in the pid namespace that ended with it */
	bool reported_unnamed; /* reported while the path of its cgroup was not known */
	bool record_lost;      /* one about it was lost, whatever the counts say */
	bool shed;	       /* less was recorded of it at some time of this init's life */
	bool restarted;	       /* the daemon was, between its begin and its verdict */
	bool blind;	       /* ... and init ran then: signals to it may have gone unseen */
	bool moved;	       /* init was moved and lived on; saved of one that was reported */
	bool again;	       /* that was reported, and it came back later */
	struct stop_forward forward;
	/* The relation (enum relation, as a digit) of the last signal of number 1, 2, ... that
	 * acted; what is missing at the end is none. */
	char last_from[65];
	bool not_reaped; /* as it is saved: reported as held, and so it still is */
};

/* A signal to init, and what became of it. */
struct stop_sent {
	uint32_t number;
	int32_t result;
	uint32_t flags;
	uint64_t at_ns;
	uint64_t taken_ns;   /* init took it, by a handler; 0: not seen */
	uint64_t dropped_ns; /* ... or the kernel dropped it then, by the action in flags; 0: not */
	bool passed;	     /* it is not queued any more, and what became of it was not seen */
	bool inferred;	     /* a candidate: only what followed makes it the request */
	char target_comm[GRACED_COMM_LEN]; /* the init's name then */
};

/* A signal that counts in the life that was fed last for the cgroup. */
struct kept_signal {
	uint64_t id;
	bool kill;   /* the SIGKILL */
	bool inside; /* the stop signal from its own container */
	bool other;  /* a request beside the one that counts */
	/* Neither of the two: the request. Both: the candidate, which a program that does not know
	 * candidates refuses. Kill and other: the SIGKILL to init's keeper. */
	SHARED(stop_sent, sent);
	uint32_t kind, relation; /* enum sender_kind, enum relation: as judged then */
	struct graced_proc sender;
	char ancestors[GRACED_ANCESTORS][GRACED_COMM_LEN];
	uint64_t exec_ns;  /* of the request: as struct stop has it */
	uint32_t n_others; /* of a request beside the one that counts: how many there were */
	uint32_t hearing;  /* STOP_SHELL, or 0 */
	/* The candidate's, as in struct stop_aside. */
	uint64_t numbers, suppressed;
	uint64_t mind_start_ns; /* of the sender's mind */
	uint32_t mind_pid;	/* 0: it was not saved */
	bool deaf;		/* init was, to it */
};

/* As the kubelet had a pod last. */
struct pod_reported {
	uint32_t known; /* enum meta_pod_known */
	uint32_t phase; /* enum meta_phase */
	uint32_t end;	/* enum meta_end */
	bool deleting;
	uint64_t grace_ns, deletion_grace_ns;
	int64_t deleted_wall_ns;
};

/* A pod that is followed: struct epod has these members, too. Times are CLOCK_BOOTTIME, 0: not so. */
struct kept_pod {
	char uid[POD_UID_MAX];
	bool over;	   /* it is followed no longer: nothing else in here but the uid counts */
	bool cgroups_over; /* all its cgroups are; what is made under its uid is another's */
	enum cgpath_qos qos;
	bool is_static;
	bool listed, was_listed;
	struct pod_reported reported;
	struct podlife life;
	uint32_t published; /* enum pod_stage: the last that was reported */
	uint32_t trigger; /* enum pod_trigger: of its stage, or of the one it is about to come to */
	uint64_t trigger_ns;
	bool between;		  /* trigger_ns is an answer's, and the one before was long ago */
	bool terminating_between; /* terminating_ns likewise */
	uint64_t first_ns;
	uint64_t since_ns;
	uint64_t terminating_ns;
	uint64_t concluded_ns;
	bool held;	       /* stage sync is not reported yet: its name is awaited */
	bool by_kernel;	       /* its end was concluded; no source said so */
	bool is_orphan;	       /* counted as one */
	bool seen_in_shutdown; /* in the one under way: alive, and being stopped */
	uint64_t empty_ns;     /* all its cgroups were empty, at the latest */
	bool empty_seen;       /* they were at that moment */
	uint32_t empty_why;    /* enum pod_trigger */
	uint64_t stop_ns;      /* the first stop signal of those that may be the pod's end */
	uint64_t exit_ns;      /* of the last container, the sandbox apart */
	uint64_t removed_ns;
	/* A shutdown of the node requested it, and its time ends then; EPOD_GIVEN_UNKNOWN: when is
	 * not known; 0: no shutdown did. */
	uint64_t given_until_ns;
	/* What is reported of it, compared with the kernel. */
	struct {
		uint32_t ready;	     /* enum record_tri */
		uint32_t open;	     /* reported, and not over: bits of enum discrepancy */
		uint64_t ready_ns;   /* when the newest answer that had it as Ready was asked for */
		uint64_t unready_ns; /* it was Ready, and since then is not */
		uint64_t heard_ns;   /* when the answer came that said so */
		uint64_t gone_ns;    /* not listed any more */
		uint64_t stop_ns; /* first stop signal to a container, of those that may be its end */
		uint64_t since_ns[KEPT_POD_DOUBTS];
		bool lost;     /* events about one of its containers were, the sandbox apart */
		bool measured; /* how long it was Ready after that is over */
	} truth;
};

/* How one of a pod's that a shutdown ends has exited, as struct podtab_container has it. */
struct kept_exit {
	char id[META_ID_MAX];
	char pod_uid[POD_UID_MAX];
	SHARED(exit_seen, as);
	bool compared, again;
	uint32_t differs; /* bits of enum discrepancy */
};

#endif
