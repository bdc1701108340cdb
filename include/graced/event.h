/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause OR Apache-2.0 */
/*
 * The binary interface between the BPF programs and the daemon: the records of the ring buffer and
 * the values of the shared maps.
 *
 * Append-only. Members have fixed widths and are padded by hand, so that the BPF build and the
 * user build agree; tests/wire/kernel/test_abi.c compares the two. Times are nanoseconds of
 * CLOCK_BOOTTIME. Cgroup ids are kernfs ids of the one hierarchy that holds the containers.
 * Process ids are numbers of the initial pid namespace unless a name says ns_pid. Strings are
 * NUL-terminated bytes of any content.
 *
 * The including file provides __u8 ... __u64 (linux/types.h or the CO-RE header).
 */
#ifndef GRACED_EVENT_H
#define GRACED_EVENT_H

#define GRACED_ABI 1

#define GRACED_COMM_LEN	 16
#define GRACED_NAME_LEN	 256
#define GRACED_ANCESTORS 4

/* Senders that each CPU remembers, by their pids: a power of two. */
#define GRACED_LINEAGES 32

enum graced_ev_type {
	GRACED_EV_NONE = 0,
	GRACED_EV_CGROUP_NEW = 1, /* always before any record that names the cgroup */
	GRACED_EV_CGROUP_GONE = 2,
	GRACED_EV_CGROUP_EMPTY = 3, /* no process left in it or below it */
	GRACED_EV_INIT = 4,	    /* a process is its container's init from now on */
	GRACED_EV_SIGNAL = 5,	    /* a signal was generated for an init, or forwarded by one */
	GRACED_EV_EXIT = 6,	    /* a process (not a thread) stopped running */
	GRACED_EV_OOM = 7,	    /* the OOM killer chose a victim */
	GRACED_EV_REAPED = 8,	    /* an init's parent has waited for it */
	GRACED_EV_TAKEN = 9,	    /* an init has taken a stop signal from its queue */
	GRACED_EV_COUNT = 10,
};

/* What a watched cgroup is, as far as its name shows it to the kernel half. */
enum graced_watch_kind {
	GRACED_WATCH_BRANCH = 1,    /* may hold containers; its own processes are not recorded */
	GRACED_WATCH_POD = 2,	    /* a branch; that it is empty is recorded */
	GRACED_WATCH_CONTAINER = 3, /* recorded, with everything below it */
	GRACED_WATCH_SERVICE = 4,   /* recorded like a container (scope services) */
	/* A branch, recorded like a container until the daemon has found out which of them it is. */
	GRACED_WATCH_MAYBE = 5,
};

/* How sure we are that a process is its container's init. Only a guess that has exited gives way to
 * another process while the cgroup is not empty. */
enum graced_init_rank {
	GRACED_INIT_NONE = 0,
	GRACED_INIT_GUESSED = 1, /* the oldest process found when attaching late, or the first from
				    outside that was signalled or exited and never exec'd; or one
				    that exec'd while another from outside was there before it */
	GRACED_INIT_FIRST = 2,	 /* the first that came in from outside and exec'd */
	GRACED_INIT_PID1 = 3,	 /* PID 1 of its own pid namespace, its parent outside */
};

/* graced_ev_init.flags */
enum graced_init_flags {
	/* It started before its container was recorded, or was sent a stop signal before it was
	 * known as init: what it was sent until then is not known. */
	GRACED_INIT_LATE = 1 << 0,
};

/* graced_ev_signal.flags */
enum graced_signal_flags {
	GRACED_SIG_GROUP = 1 << 0,	   /* for the whole process, not for one thread */
	GRACED_SIG_INFO_NONE = 1 << 1,	   /* siginfo is the constant 0 */
	GRACED_SIG_INFO_PRIV = 1 << 2,	   /* siginfo is the constant 1: the kernel itself */
	GRACED_SIG_SHIELDED = 1 << 3,	   /* target is SIGNAL_UNKILLABLE */
	GRACED_SIG_DFL = 1 << 4,	   /* the target's disposition is SIG_DFL */
	GRACED_SIG_IGN = 1 << 5,	   /* the target's disposition is SIG_IGN */
	GRACED_SIG_BLOCKED = 1 << 6,	   /* in the thread it was generated for, or all but that */
	GRACED_SIG_GROUP_EXIT = 1 << 7,	   /* target's SIGNAL_GROUP_EXIT, after this signal acted */
	GRACED_SIG_NS_TEARDOWN = 1 << 8,   /* current is a dying PID 1 of a pid namespace */
	GRACED_SIG_TARGET_ZOMBIE = 1 << 9, /* target had stopped running already */
	GRACED_SIG_INIT = 1 << 10,	   /* target is its container's init */
	GRACED_SIG_FORWARDED = 1 << 11,	   /* the sender is its container's init, asked to stop */
	GRACED_SIG_STOPPED = 1 << 12,	   /* the target is frozen, stopped or held by a tracer */
	GRACED_SIG_CHILDREN = 1 << 13,	   /* a stop signal to an init that has a child */
	/* A blocked stop signal to an init with a thread that does not block it, or is in vfork(),
	 * or with more threads than were looked at. */
	GRACED_SIG_OPEN = 1 << 14,
	GRACED_SIG_WAITED = 1 << 15,	   /* the thread it was generated for waits in sigwait() */
	GRACED_SIG_PARENT_DEATH = 1 << 16, /* PR_SET_PDEATHSIG: current is the parent, and dies */
	GRACED_SIG_KEEPER_LOST = 1 << 17,  /* a SIGKILL to an init whose keeper has died */
	GRACED_SIG_TO_KEEPER = 1 << 18,	   /* the target is the keeper of inits */
	/* current exits, and siginfo is the kernel's (code > 0) */
	GRACED_SIG_SENDER_EXITS = 1 << 19,
	GRACED_SIG_REBOOT = 1 << 20, /* reboot(2) kills PID 1 of the namespace that called it */
};

/*
 * What an init passes on. Once a stop signal has come to it from outside its container, signals
 * that it sends (kill, sigqueue and their likes, by any of its threads) to other processes of the
 * container are records with GRACED_SIG_FORWARDED: the first four of a stop, with any signal but
 * CHLD, CONT, URG and WINCH. Those behind them, and all in a container that is noisy, have no such
 * record by rule, and are neither lost nor suppressed. With scope all others may have the flag.
 */
#define GRACED_FORWARDS_MAX 4

/* graced_ev_exit.flags */
enum graced_exit_flags {
	GRACED_EXIT_INIT = 1 << 0,	 /* it was its container's init */
	GRACED_EXIT_OOM_VICTIM = 1 << 1, /* the OOM killer had marked its memory */
	GRACED_EXIT_NS_OTHERS = 1 << 2,	 /* its pid namespace, which ends with it, has others */
	/* The stop signal of stop_at_ns, or a repetition, was pending still ... */
	GRACED_EXIT_STOP_PENDING = 1 << 3,
	GRACED_EXIT_STOP_BLOCKED = 1 << 4, /* ... and the last thread blocked it */
	/*
	 * It ended while it waited for children, and its first child, which is older than that stop
	 * signal, is in its process group and can be interrupted from a terminal: a shell without
	 * job control has children that it does not wait for ignore SIGINT and SIGQUIT. Not known
	 * before Linux 5.15.
	 */
	GRACED_EXIT_AWAITS_CHILD = 1 << 5,
	/* It ignored (SIG_IGN) that stop signal at its end: what was pending when it began to is
	 * gone. */
	GRACED_EXIT_STOP_IGNORED = 1 << 6,
	/* Its parent, at its end, is outside its container: it was brought in, by exec or the like.
	 * Never of an init. */
	GRACED_EXIT_ENTERED = 1 << 9,
};

/*
 * What an init took by signal_deliver: stop signals, whoever sent them, one for each that was
 * recorded, and a few more if they were sent at once. What sigwait(3) or a signalfd takes, what a
 * tracer keeps, and what is flushed when a process begins to ignore it is not seen.
 * graced_ev_exit.deliver_ns has what kills it.
 */
#define GRACED_TAKES_MAX 8

/* graced_ev_taken.flags, beside GRACED_SIG_SHIELDED, _DFL and _IGN as they are then: with one of
 * the latter two it was dropped. */
enum graced_taken_flags {
	GRACED_TAKEN_OWN = 1 << 17, /* the process sent it itself: raise(3) */
};

/*
 * Processes of a container beside its init. Recorded are their exits by a signal, by a code above
 * 128, and of a child of init by any code but 0; the signals that end them, but for those by which
 * a pid namespace ends with its PID 1; and from a stop signal on that init does not ignore, for ten
 * minutes, all their exits, and the stop signals to them. A bucket bounds these records, and a noisy
 * container has none: they say nothing of its init, and none of them counts as lost or suppressed.
 */
#define GRACED_OTHERS_NS 600000000000ULL

/* graced_ev_oom.flags */
enum graced_oom_flags {
	GRACED_OOM_INIT = 1 << 0, /* the victim is its container's init */
	GRACED_OOM_LEVEL_KNOWN = 1
				 << 1, /* level_id says where memory ran out; 0 is the whole node */
	GRACED_OOM_BELOW = 1 << 2,     /* ... in a cgroup below the container */
};

struct graced_hdr {
	__u16 abi;
	__u16 type;
	__u32 size; /* bytes of the whole record */
	__u64 at_ns;
	__u64 watch_id;	  /* the container (pod, branch) it is about; 0: none */
	__u32 lost;	  /* records about watch_id lost so far */
	__u32 suppressed; /* graced_counts.suppressed of watch_id so far */
};

/* Kept per watched cgroup by the kernel half, since the cgroup was made or first watched. */
struct graced_counts {
	__u64 exits;	       /* processes that stopped running, init included */
	__u64 kills;	       /* SIGKILLs generated for processes other than init */
	__u64 collateral;      /* ... of which because a dying init's pid namespace was torn down */
	__u64 oom_kills;       /* OOM victims, init included */
	__u64 lost;	       /* records lost */
	__u64 suppressed;      /* signals to init suppressed, but for SIGKILLs that it ignored */
	__u64 suppressed_sigs; /* which ones: bit n-1 for signal n */
};

struct graced_proc {
	__u64 start_ns;	 /* start of the process (its leader), not of the thread */
	__u64 cgroup_id; /* the very cgroup it is in */
	/*
	 * Nearest watched cgroup at or above that; 0: none. Everything below a container is that
	 * container. Below a branch each cgroup is watched that there was room for: one that is in
	 * none of these may be in a container, and which one is not known.
	 */
	__u64 watch_id;
	__u32 pid;    /* thread group id */
	__u32 ns_pid; /* the same in the pid namespace of its container's init, 0: it is not in
		       * that; in its own where no init is known */
	__u32 uid;    /* in the initial user namespace */
	__u32 pad;
	char comm[GRACED_COMM_LEN];
	char exe[GRACED_COMM_LEN]; /* file name of the executable, its first 15 bytes */
};

struct graced_ev_cgroup {
	struct graced_hdr hdr; /* watch_id is the cgroup itself */
	__u64 parent_id;
	__u32 kind; /* enum graced_watch_kind */
	__u32 level;
	char name[GRACED_NAME_LEN]; /* last component of its path */
	/*
	 * Level of the first component of its path that others than root could choose, because root
	 * did not own the directory above it, or others may write there; 0: none.
	 */
	__u32 delegated_level;
	__u32 pad;
};

/* CGROUP_EMPTY and CGROUP_GONE; only the latter has a kind and an owner, only the former an init
 * that has left it alive (0: none). */
struct graced_ev_empty {
	struct graced_hdr hdr;
	struct graced_counts counts;
	__u64 owner_id; /* as in graced_watch */
	__u32 kind;	/* enum graced_watch_kind */
	__u32 left_pid;
};

struct graced_ev_init {
	struct graced_hdr hdr;
	struct graced_proc proc;
	__u32 rank; /* enum graced_init_rank */
	__u32 flags;
	__u32 keeper_pid; /* as in graced_init */
	__u32 pad;
};

struct graced_ev_signal {
	struct graced_hdr hdr;
	__u32 sig;
	__s32 result; /* enum of trace/events/signal.h: 0 delivered ... 4 lose_info */
	__s32 code;   /* si_code, 0 when there is no siginfo */
	__u32 flags;
	__u64 target_pidns; /* inode number of the target's pid namespace */
	__u64 sender_pidns;
	struct graced_proc target;
	struct graced_proc sender; /* current, when the signal was generated */
	/*
	 * The sender's ancestors are those in the last full record with this number, which had this
	 * turn. Records with the same number are in the order in which they were made.
	 */
	__u32 lineage; /* GRACED_LINEAGES for each CPU, from its own first on */
	__u32 turn;
	__u32 full; /* 1: this record includes them: it is a struct graced_ev_signal_full */
	__u32 pad;
};

struct graced_ev_signal_full {
	struct graced_ev_signal signal;
	struct graced_proc ancestors[GRACED_ANCESTORS]; /* nearest first; pid 0 ends */
};

struct graced_ev_exit {
	struct graced_hdr hdr;
	__u32 status; /* raw wait status */
	__u32 flags;
	struct graced_proc proc;
	struct graced_counts counts;
	/*
	 * When a thread of init took the stop signal that opened its stop, to run its handler or to
	 * die of it: 0 when none came from outside, or when none was seen to be taken. One that is
	 * fetched by sigwait() or from a signalfd is not seen. With one whose default is fatal the
	 * kernel kills all threads at once, and this is when the first of them woke up to that.
	 */
	__u64 deliver_ns;
	__u64 stop_at_ns;    /* at_ns of the record of that signal; 0: none came */
	__u64 exec_ns;	     /* init exec'd last, since it is the init; 0: never */
	__u32 parent_pid;    /* of the process, at its end */
	__u32 others_missed; /* as in graced_watch */
	/* An init's dispositions at its end: the signals that were looked at, and of these the ones
	 * that it has a handler for, ignores, and blocks. Bit n-1 for signal n. */
	__u64 looked_at;
	__u64 caught;
	__u64 ignored;
	__u64 blocked;
};

struct graced_ev_taken {
	struct graced_hdr hdr;
	__u32 sig;
	__u32 flags;
	__u32 pid; /* of the init */
	__u32 pad;
};

/* The parent of a container's init has waited for it: its pid may be used again. Told as long as
 * the container's cgroup is there, by kernels that let a program see it. */
struct graced_ev_reaped {
	struct graced_hdr hdr;
	__u64 start_ns;
	__u32 pid;
	__u32 pad;
};

struct graced_ev_oom {
	struct graced_hdr hdr;
	__u64 level_id; /* cgroup whose limit ran out; see flags */
	__u32 flags;
	__u32 pad;
	struct graced_proc victim;
	__u64 limit;	   /* of the memory of the victim's container, in bytes; 0: none */
	__u64 level_limit; /* of level_id's; 0: none, or not known */
};

/* Map values. */

struct graced_watch {
	__u32 kind;	 /* enum graced_watch_kind */
	__u32 level;	 /* depth below the root of the hierarchy, root 0 */
	__u64 owner_id;	 /* whose quota the entry is charged to */
	__u64 sigmask;	 /* signals recorded for its init: bit n-1 for signal n, never CHLD, CONT
			  * and URG; 0: the default */
	__u64 oom_seen;	 /* OOM events of this very level seen so far */
	__u64 oom_below; /* ... and of those below it */
	__u64 bucket_at_ns;
	__u32 bucket_left;  /* as __s32: CPUs that race may take more than there is */
	__u32 oom_known;    /* these are a true base line */
	__u64 others_at_ns; /* a bucket, for what is recorded of its other processes */
	__u32 others_left;
	__u32 others_missed; /* how many of these records were not made */
	__u64 others_tick;   /* of the kernel's timer, when that bucket was found empty last */
	struct graced_counts counts;
	__u64 outside_at_ns; /* a bucket like the other, for what others send */
	__u32 outside_left;
	__u32 stop_sig;	       /* its own stop signal; 0: the default set */
	__u32 reap_pid;	       /* of its last init that had yet to be waited for; 0: none */
	__u32 delegated_level; /* as in graced_ev_cgroup */
	/*
	 * When a process of it was last sent INT, QUIT, TERM, RTMIN+3, its own stop signal or KILL,
	 * by any process, and neither ignored it, as a deaf init does, nor had stopped running; 0:
	 * never. An entry that is made or becomes a container's while processes may run in it
	 * begins with that moment, since what they were sent before is not known.
	 */
	__u64 told_at_ns;
	__u64 vain_at_ns; /* a bucket, for SIGKILLs that its init ignores */
	__u32 vain_left;
	__u32 vain_kills; /* how many of these were not recorded; not among the suppressed */
	/* When it began to be recorded, if not when it was made; 0: it was made so. */
	__u64 since_ns;
	/*
	 * Its cgroup was removed. The entry stays, with its counts, if there was no room for the
	 * record of that; the daemon deletes it then.
	 */
	__u32 gone;
	__u32 charged; /* to its owner; the daemon's entries are not */
	/* The process that was sent a stop signal or SIGKILL while it could not be the init, as its
	 * parent was inside or it ran a runtime's program, and there was no init;
	 * GRACED_EARLY_SEVERAL: more than one was; 0: none was since the cgroup was empty. */
	__u32 early_pid;
	/*
	 * Odd: a process is in the cgroup or below it; even: none is; each change makes it greater.
	 * 0: unknown, for there was none since the daemon made the entry.
	 */
	__u32 populated;
	__u32 part; /* where it is; see enum graced_part */
	/* Its last init that has exited: the rest of its pid namespace is killed after that. */
	__u32 ending_pid;
};

/*
 * Whether containers are looked for at a cgroup. Which ones are is a list of paths, and the kernel
 * half sees one name at a time: so what is above some path of the list has a number of its own, and
 * what a cgroup made there is called decides which part that is (struct graced_step).
 */
enum graced_part {
	GRACED_PART_INSIDE = 0,	 /* there, and at all that is below */
	GRACED_PART_OUTSIDE = 1, /* neither there nor at anything below */
	GRACED_PART_USERS = 2,	 /* there may be containers of users, and nothing else, below */
	GRACED_PART_FIRST = 3,	 /* from here on: above one of the paths */
};

/* From a cgroup to one made in it: the key of a map whose values are parts. */
struct graced_step {
	__u32 part;
	char name[GRACED_NAME_LEN];
};

/* Value of since_ns: each process in it may have begun before. */
#define GRACED_SINCE_UNKNOWN ((__u64)-1)

/* Value of populated, for a cgroup that is made. */
#define GRACED_NEVER_POPULATED 2

/* Value of early_pid: more than one. */
#define GRACED_EARLY_SEVERAL ((__u32)-1)

struct graced_init {
	__u64 start_ns;
	__u32 pid; /* 0: it is gone */
	__u32 rank;
	/* Its stop, opened by a signal from outside the container. */
	__u64 stop_at_ns; /* at_ns of that signal's record; 0: there is none */
	__u64 deliver_ns; /* as in graced_ev_exit */
	__u32 stop_sig;
	__u32 await_sig;   /* what signal_deliver will call it: stop_sig, or SIGKILL when fatal */
	__u32 forwards;	   /* how many more of the signals it sends are recorded, as __s32 */
	__u32 stop_inside; /* the sender was in another container */
	__u64 recent_tick; /* of the kernel's timer, when that stop was last found to be recent */
	/* A sibling that was there before it, and that may be a stage which made it; 0: none. It is
	 * no guess any more once that exits with 0 before until_ns. */
	__u32 stage_pid;
	__u32 takes; /* how many more of the signals it takes are recorded */
	__u64 until_ns;
	__u64 exec_ns; /* as in graced_ev_exit */
	__u32 joined;  /* the signal of stop_at_ns found another of its number pending */
	/*
	 * Its keeper: the parent that it had when it became init, if that adopts what its children
	 * leave behind (PR_SET_CHILD_SUBREAPER) and is no runtime which leaves once the container
	 * runs: a shim, conmon or the like. 0: it had none.
	 */
	__u32 keeper_pid;
	/* Bit n-1: of what came by sigqueue(3), or with the like siginfo, the last signal n that
	 * was queued is its own. */
	__u64 queued_own;
	__u32 pidns; /* its pid namespace, by GRACED_PIDNS(); 0: not known */
	__u32 pad;
};

/* A pid namespace by its level, 0 for the host's, and its inode number. */
#define GRACED_PIDNS(level, inum) ((level) << 24 | ((inum)&0xffffff))

/* Inits that have exited and were not waited for, by pid. */
struct graced_reap {
	__u64 watch_id;
	__u64 start_ns;
};

/* One per event type and CPU: emitted + lost + suppressed is what was produced. */
struct graced_stat {
	__u64 emitted;
	__u64 lost;
	__u64 suppressed;
};

/*
 * How soon a record is wanted. One that is urgent is read at once: a person waits for it, or the
 * container that it is about is short-lived. Others have a moment; those of cgroups that hold no
 * container (branches) come with the next.
 */
enum graced_urgency {
	GRACED_LATER,
	GRACED_SOON,
	GRACED_URGENT,
	GRACED_URGENCY_COUNT,
};

/* Where programs are attached. */
enum graced_hook {
	GRACED_HOOK_SIGNAL,
	GRACED_HOOK_EXIT,
	GRACED_HOOK_EXEC,
	GRACED_HOOK_OOM,
	GRACED_HOOK_DELIVER,
	GRACED_HOOK_REAP,
	GRACED_HOOK_MKDIR,
	GRACED_HOOK_RMDIR,
	GRACED_HOOK_POPULATED,
	GRACED_HOOK_ATTACH,
	GRACED_HOOK_EXIT_AGAIN,
	GRACED_HOOK_EXEC_AGAIN,
	GRACED_HOOK_COUNT,
};

/* Which programs have a second one behind them (bpf/again.bpf.h). */
enum graced_again {
	GRACED_AGAIN_EXIT,
	GRACED_AGAIN_EXEC,
	GRACED_AGAIN_COUNT,
};

/* The programs of a hook are timed in one tick of the kernel's timer out of so many: a power of
 * two. */
#define GRACED_COST_SHARE 16

/* What they cost on one CPU in these ticks, without the way into the program and out of it. */
struct graced_cost {
	__u64 runs;
	__u64 run_ns;
	/* The run under way: its tick, 0: none; its begin; what one look at the clock takes. */
	__u64 tick;
	__u64 began_ns;
	__u64 clock_ns;
};

/* Indexes of further counters behind the event types in the same array (member lost). */
enum graced_stat_extra {
	GRACED_STAT_WATCH_FULL = GRACED_EV_COUNT, /* no room in the watched map */
	GRACED_STAT_QUOTA,			  /* refused by a quota */
	GRACED_STAT_TOO_DEEP,			  /* too many levels below the root */
	GRACED_STAT_COUNT,
};

#endif
