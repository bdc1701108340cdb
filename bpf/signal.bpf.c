// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Signals, as they are generated: current is the sender. Recorded are signals to inits, and the few
 * that an init passes on to other processes. Other signals in a container are ignored, except
 * that SIGKILLs are counted.
 */
#include "cost.bpf.h"
#include "hear.bpf.h"
#include "init.bpf.h"
#include "lineage.bpf.h"

/* Beside graced_signal_flags, taken away before a record is filled: for a noisy container. */
#define NOISY (1u << 31)
/* ... for a process that is no init, and that may matter for its container's stop. */
#define OTHER (1u << 30)
/* ... and has taken room for its record. */
#define TAKEN (1u << 29)

struct signal_args {
	struct task_struct *target, *leader;
	struct signal_struct *signal; /* these three are the target's */
	const struct cred *cred;
	struct mm_struct *mm;
	struct graced_watch *w; /* of the target, may be NULL with scope all */
	struct place at;
	__u64 sender_id;   /* of the watched cgroup that the sender is in */
	__u32 sender_kind; /* of the same */
	__u64 info;	   /* siginfo as a number: it may be the constants 0 and 1 */
	__u32 sig;
	__s32 result;
	__u32 flags;
	__s32 code;
};

/* Current is PID 1 of a pid namespace that dies. A global function: the verifier goes through it
 * once. */
__noinline __u32 ends_namespace(void)
{
	struct task_struct *current = (void *)bpf_get_current_task();

	return BPF_CORE_READ(current, flags) & PF_EXITING && task_is_ns_init(current);
}

static __always_inline bool is_ns_teardown(const struct signal_args *a)
{
	return a->info == 1 && a->sig == SIGKILL && ends_namespace();
}

/* Whether current may raise its own exit signal. */
__noinline __u32 sender_flags(__s32 code)
{
	struct task_struct *current = (void *)bpf_get_current_task();

	if (code <= 0 || !(BPF_CORE_READ(current, flags) & PF_EXITING))
		return 0;
	return GRACED_SIG_SENDER_EXITS;
}

static __always_inline __u32 signal_flags(struct signal_args *a, struct signal_struct *signal,
					  __u64 group)
{
	__u32 flags = disposition_flags(a->target, a->sig);

	flags |= (group & 1) * GRACED_SIG_GROUP;
	flags |= info_flags(a->info);
	flags |= sender_flags(a->code);
	flags |= is_set(signal->flags & SIGNAL_UNKILLABLE) * GRACED_SIG_SHIELDED;
	flags |= is_set(signal->flags & SIGNAL_GROUP_EXIT) * GRACED_SIG_GROUP_EXIT;
	flags |= (is_set(signal->live.counter) ^ 1) * GRACED_SIG_TARGET_ZOMBIE;
	flags |= (a->target->blocked.sig[0] >> (a->sig - 1) & 1) * GRACED_SIG_BLOCKED;
	flags |= (a->target->real_blocked.sig[0] >> (a->sig - 1) & 1) * GRACED_SIG_WAITED;
	flags |= is_stopped(a->target, signal) * GRACED_SIG_STOPPED;
	if (is_ns_teardown(a))
		flags |= GRACED_SIG_NS_TEARDOWN;
	return flags;
}

/* Counts a kill if PID 1 of the namespace that pid, a pointer, has at that level is the init of a
 * container and dies. */
__noinline __u32 collateral_at(__u64 pid, __u32 level)
{
	struct pid *own = (void *)pid;
	struct task_struct *reaper;
	struct graced_watch *w;
	struct upid up = {};
	struct place at;

	bpf_core_read(&up, sizeof(up), &own->numbers[level]);
	reaper = BPF_CORE_READ(up.ns, child_reaper);
	w = watch_of_read(task_cgroup_of(reaper, false), &at);
	if (!w || !w->ending_pid || w->ending_pid != (__u32)BPF_CORE_READ(reaper, tgid))
		return 0;
	__sync_fetch_and_add(&w->counts.collateral, 1);
	return 1;
}

#define PIDNS_LEVELS 32 /* MAX_PID_NS_LEVEL */

/*
 * A dying PID 1 kills what is in its namespace and in those below it. One of these may die of that
 * at once, and on another CPU kill what is in its own before the first comes to it.
 */
__noinline __u32 collateral_count(void)
{
	struct pid *pid = task_tgid((void *)bpf_get_current_task());
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i < PIDNS_LEVELS && i < level; i++)
		collateral_at((__u64)pid, level - i);
	return 0;
}

/*
 * A SIGKILL to any process but an init is counted in the target's container; one by which a dying
 * init kills its namespace is also counted in the init's. At the end of their namespace the zombies
 * in it get a SIGKILL, too: these do not count.
 */
static __always_inline void count_kill(struct signal_args *a, bool for_init)
{
	if (a->result != RESULT_DELIVERED || a->flags & GRACED_SIG_TARGET_ZOMBIE)
		return;
	if (!for_init && watch_recorded(a->w))
		__sync_fetch_and_add(&a->w->counts.kills, 1);
	if (a->flags & GRACED_SIG_NS_TEARDOWN)
		collateral_count();
}

static __always_inline void suppress(struct signal_args *a)
{
	__sync_fetch_and_add(&a->w->counts.suppressed, 1);
	a->w->counts.suppressed_sigs |= BIT_OF(a->sig);
	stat_add(GRACED_EV_SIGNAL, 0, 0, 1);
}

/* Scope all judges any process that dies of a signal, so a signal that can do that is kept. */
static __always_inline bool wanted_by_all(const struct signal_args *a)
{
	return cfg_all && a->result != RESULT_IGNORED &&
	       (a->sig == SIGKILL || a->flags & GRACED_SIG_DFL);
}

/* For what a noisy container's other processes are sent: suppressed is what would be a record. */
static __always_inline void suppress_by_all(struct signal_args *a)
{
	if (!cfg_all)
		return;
	a->flags = disposition_flags(a->target, a->sig);
	if (wanted_by_all(a))
		stat_add(GRACED_EV_SIGNAL, 0, 0, 1);
}

/*
 * For a noisy container, records only what decides about its init. SIGKILLs by the kernel are still
 * counted: each process gets one, and the count may belong to another container, whose init dies
 * and so kills the processes of this one.
 */
static __always_inline bool shed(struct signal_args *a, bool for_init)
{
	if (a->sig == SIGKILL && (for_init || a->info == 1))
		return false;
	if (for_init && stop_set(a->w) & BIT_OF(a->sig))
		return false;
	if (for_init)
		suppress(a);
	else
		suppress_by_all(a);
	return true;
}

static __always_inline bool from_outside(const struct signal_args *a)
{
	return a->sender_id != a->at.watch_id && a->info != 1 && a->code <= 0 &&
	       !has_no_sender(a->code);
}

/* False: it is more than its sender may send. */
static __always_inline bool outside_take(const struct signal_args *a)
{
	if (a->sender_kind == GRACED_WATCH_CONTAINER)
		return pair_take(a->sender_id, a->at.watch_id);
	return !(limit_all || a->w->delegated_level) ||
	       bucket_take(&a->w->outside_at_ns, &a->w->outside_left);
}

/*
 * What a container does to its own init is limited: signals sent from inside it, and what the
 * kernel raises for it (timers, terminals, faults), which it can provoke at any rate. So is what
 * another container sends, by itself. What the host sends is limited only while the daemon is over
 * its budget, and to a user's container, which that user may signal from the host. Each has a
 * bucket of its own: otherwise a container that keeps one of them empty would hide the runtime's
 * stop signal. A SIGKILL that is delivered is never limited; for one that is not see
 * drop_vain_kill(). The count of what was suppressed is exact.
 */
static __always_inline bool limited(struct signal_args *a)
{
	struct graced_watch *w = a->w;

	if (!watch_recorded(w) || a->sig == SIGKILL)
		return false;
	if (from_outside(a)) {
		if (outside_take(a))
			return false;
	} else if (bucket_take(&w->bucket_at_ns, &w->bucket_left)) {
		return false;
	}
	suppress(a);
	return true;
}

/*
 * A SIGKILL that changes nothing: PID 1 of a pid namespace ignores SIGKILLs from inside of it, and
 * a process that dies already is not killed again. What the kernel sends by itself is none: no
 * process can provoke it.
 */
static __always_inline bool is_vain_kill(const struct signal_args *a)
{
	return a->sig == SIGKILL && a->result != RESULT_DELIVERED && a->info != 1;
}

/*
 * An ignored SIGKILL decides nothing, so it is not among the suppressed signals: those make a
 * verdict partial, and a neighbour may send ignored ones without end. One that was pending already
 * is among them: the first may have been sent before the programs were attached.
 */
static __always_inline void suppress_vain(struct signal_args *a)
{
	if (a->result != RESULT_IGNORED) {
		suppress(a);
		return;
	}
	__sync_fetch_and_add(&a->w->vain_kills, 1);
	stat_add(GRACED_EV_SIGNAL, 0, 0, 1);
}

/* Whether such a SIGKILL to init is not recorded, since they could flood the ring. All that an init
 * ignores have one bucket, whoever sends them: its own container, or others in its pid namespace. */
static __always_inline bool drop_vain_kill(struct signal_args *a)
{
	if (bucket_take(&a->w->vain_at_ns, &a->w->vain_left))
		return false;
	suppress_vain(a);
	__sync_fetch_and_add(&vain_kills, 1);
	return true;
}

static __always_inline void place_sender(struct signal_args *a)
{
	struct lineage *l;

	lineage_place();
	l = lineage_of_current();
	if (!l)
		return;
	a->sender_id = l->at.watch_id;
	a->sender_kind = l->kind;
}

static __always_inline void fill_target(struct graced_ev_signal *ev, const struct proc_of *of,
					const struct signal_struct *signal, const bool typed)
{
	proc_fill_of(&ev->target, of, typed);
	ev->target.ns_pid = task_ns_pid(of->task, signal, &ev->target_pidns, typed);
}

/* Everything but the sender and its ancestors. */
static __always_inline void fill_signal(struct graced_ev_signal *ev, const struct signal_args *a)
{
	const struct proc_of of = {a->target, a->leader, a->cred, a->mm};

	ev->sig = a->sig;
	ev->result = a->result;
	ev->code = a->code;
	ev->flags = a->flags & ~(NOISY | OTHER | TAKEN);
	if (loads_may_fail())
		fill_target(ev, &of, a->signal, true);
	else
		fill_target(ev, &of, a->signal, false);
	proc_place(&ev->target, &a->at);
}

/* kernel/exit.c, forget_original_parent(): without a siginfo. */
static __always_inline bool is_parent_death(struct task_struct *t, __u64 info, __u32 sig)
{
	struct task_struct *current = (void *)bpf_get_current_task();

	return !info && BPF_CORE_READ(current, flags) & PF_EXITING &&
	       BPF_CORE_READ(t, pdeath_signal) == (int)sig;
}

/* Fills the record of current with all but the sender and its ancestors, which it has, for a
 * keeper, a pointer. By itself, for its stack. */
__noinline __u32 keeper_fill(__u64 keeper, __u64 info)
{
	struct task_struct *t = (void *)keeper;
	struct lineage *l = lineage_of_current();
	struct place at = {.cgroup_id = BPF_CORE_READ(task_cgroup_of(t, false), kn, id)};
	const struct proc_of of = {t, t, BPF_CORE_READ(t, real_cred), BPF_CORE_READ(t, mm)};
	struct graced_ev_signal *ev;

	if (!l)
		return 0;
	ev = &l->record.signal;
	ev->sig = SIGKILL;
	ev->result = RESULT_DELIVERED;
	ev->code = info_code(info);
	ev->flags = GRACED_SIG_TO_KEEPER | info_flags(info) |
		    is_parent_death(t, info, SIGKILL) * GRACED_SIG_PARENT_DEATH;
	fill_target(ev, &of, NULL, false);
	proc_place(&ev->target, &at);
	ev->lineage = lineage_number();
	ev->turn = l->turn;
	ev->full = 1;
	ev->pad = 0;
	return 1;
}

/*
 * A SIGKILL ends a process, a pointer: recorded if its first child is an init of which it is the
 * keeper. With the ancestors of who sent it, whether they have changed or not.
 */
__noinline __u32 keeper_killed(__u64 task, __u64 info, __u32 result)
{
	struct task_struct *t = BPF_CORE_READ((struct task_struct *)task, group_leader);
	struct graced_init *init;
	struct graced_hdr *hdr;
	struct lineage *l;
	__u64 id;

	if (result != RESULT_DELIVERED)
		return 0;
	id = watch_id_of((__u64)task_cgroup_of(first_child(t), false));
	init = bpf_map_lookup_elem(&inits, &id);
	if (!init || init->keeper_pid != (__u32)BPF_CORE_READ(t, tgid))
		return 0;
	lineage_place();
	lineage_see();
	l = lineage_of_current();
	if (!l || !keeper_fill((__u64)t, info))
		return 0;
	hdr = emit_begin(GRACED_EV_SIGNAL, sizeof(l->record), id,
			 bpf_map_lookup_elem(&watched, &id));
	if (!hdr) {
		lineage_forget(l);
		return 0;
	}
	__builtin_memcpy(hdr + 1, &l->record.signal.hdr + 1, sizeof(l->record) - sizeof(*hdr));
	emit_end(hdr, GRACED_SOON);
	return 1;
}

static __always_inline __u64 emit_signal(struct signal_args *a, struct lineage *l, const __u64 size)
{
	struct graced_hdr *hdr = emit_begin(GRACED_EV_SIGNAL, size, a->at.watch_id, a->w);
	__u64 at_ns;

	if (!hdr) {
		if (l->changed)
			lineage_forget(l);
		return bpf_ktime_get_boot_ns();
	}
	at_ns = hdr->at_ns;
	__builtin_memcpy(hdr + 1, &l->record.signal.hdr + 1, size - sizeof(*hdr));
	emit_end(hdr, a->sender_id != a->at.watch_id ? GRACED_URGENT : GRACED_SOON);
	return at_ns;
}

#define THREADS_MAX 16

#define CHILDREN_MAX 4 /* the youngest, and what a reaper has adopted since */

/* Whether a thread waits in vfork(), for which posix_spawn() blocks everything. */
static __always_inline bool is_in_vfork(struct task_struct *t)
{
	__u64 head = (__u64)t + bpf_core_field_offset(struct task_struct, children);
	__u64 link = (__u64)BPF_CORE_READ(t, children.prev);

	for (int i = 0; i < CHILDREN_MAX && link && link != head; i++) {
		t = (void *)(link - bpf_core_field_offset(struct task_struct, sibling));
		if (BPF_CORE_READ(t, vfork_done))
			return true;
		link = (__u64)BPF_CORE_READ(t, sibling.prev);
	}
	return false;
}

/*
 * One step of all_block(): the link behind that of a thread, a pointer, 0 if that thread may take
 * the signal. A global function of numbers: the verifier goes through it once.
 */
__noinline __u64 block_step(__u64 link, __u32 sig)
{
	struct task_struct *t;

	t = (void *)(link - bpf_core_field_offset(struct task_struct, thread_node));
	link = (__u64)BPF_CORE_READ(t, thread_node.next);
	if (!(BPF_CORE_READ(t, blocked.sig[0]) & BIT_OF(sig)) &&
	    !(BPF_CORE_READ(t, flags) & PF_EXITING))
		return 0;
	return is_in_vfork(t) ? 0 : link;
}

/* Whether each thread of a process blocks the signal: none is in sigwait() for it, which unblocks
 * it meanwhile. */
static __always_inline bool all_block(struct task_struct *t, __u32 sig)
{
	struct signal_struct *signal = BPF_CORE_READ(t, signal);
	__u64 head = (__u64)signal + bpf_core_field_offset(struct signal_struct, thread_head);
	__u64 link = (__u64)BPF_CORE_READ(signal, thread_head.next);

	for (int i = 0; i < THREADS_MAX && link; i++) {
		if (link == head)
			return true;
		link = block_step(link, sig);
	}
	return false;
}

/* Its keeper died before it, or is about to: a process ends before it hands on its children. */
static __always_inline bool keeper_lost(struct task_struct *t, __u64 watch_id)
{
	struct graced_init *init = bpf_map_lookup_elem(&inits, &watch_id);
	struct task_struct *parent = BPF_CORE_READ(t, real_parent);

	return init && init->keeper_pid &&
	       (init->keeper_pid != (__u32)BPF_CORE_READ(parent, tgid) ||
		BPF_CORE_READ(parent, signal, flags) & SIGNAL_GROUP_EXIT);
}

/* The flags so far, and those of a recorded signal to a task, a pointer: most are of a stop signal
 * or SIGKILL to an init. sigs: its number, and in the upper half the container's own stop signal.
 */
__noinline __u32 more_flags(__u64 task, __u64 info, __u64 sigs, __u32 flags, __u64 watch_id)
{
	struct task_struct *t = (void *)task;
	__u32 sig = sigs;
	bool left;

	if (is_parent_death(t, info, sig))
		flags |= GRACED_SIG_PARENT_DEATH;
	if (!(flags & GRACED_SIG_INIT) ||
	    !((stop_set_of(sigs >> 32) | BIT_OF(SIGKILL)) & BIT_OF(sig)))
		return flags;
	if (sig == SIGKILL && info == 1 && task_ns_reboot(t))
		flags |= GRACED_SIG_REBOOT;
	if (sig == SIGKILL)
		return keeper_lost(t, watch_id) ? flags | GRACED_SIG_KEEPER_LOST : flags;
	if (first_child(t))
		flags |= GRACED_SIG_CHILDREN;
	/* complete_signal() passes over a leader that has left its threads behind. */
	left = BPF_CORE_READ(t, flags) & PF_EXITING;
	if (!left && !(flags & GRACED_SIG_BLOCKED))
		return flags;
	if (all_block(t, sig))
		return left ? flags | GRACED_SIG_BLOCKED : flags;
	return flags & GRACED_SIG_BLOCKED ? flags | GRACED_SIG_OPEN : flags;
}

/*
 * When it was; the record, if there was room for one, has the same time. It is filled before there
 * is room for it: the verifier goes through that once, and not once for each of its sizes.
 */
static __always_inline __u64 record(struct signal_args *a, const __u64 *ctx)
{
	struct graced_ev_signal *ev;
	__u64 task, sigs = a->sig;
	struct lineage *l;

	lineage_see();
	l = lineage_of_current();
	if (!l)
		return bpf_ktime_get_boot_ns();
	ev = &l->record.signal;
	fill_signal(ev, a);
	bpf_probe_read_kernel(&task, sizeof(task), &ctx[2]);
	if (a->w)
		sigs |= (__u64)a->w->stop_sig << 32;
	ev->flags = more_flags(task, a->info, sigs, ev->flags, a->at.watch_id);
	if (!(a->flags & GRACED_SIG_INIT))
		ev->target.ns_pid = ns_pid_within(task, a->at.watch_id, ev->target.ns_pid);
	ev->lineage = lineage_number();
	ev->turn = l->turn;
	ev->full = l->changed;
	ev->pad = 0;
	if (l->changed)
		return emit_signal(a, l, sizeof(l->record));
	return emit_signal(a, l, sizeof(*ev));
}

/* A siginfo that a process wrote does not say who sent it. */
static __always_inline void queue_note(const struct signal_args *a, struct graced_init *init)
{
	if (a->code != CODE_QUEUE || a->result != RESULT_DELIVERED)
		return;
	if (init->pid == bpf_get_current_pid_tgid() >> 32)
		init->queued_own |= BIT_OF(a->sig);
	else
		init->queued_own &= ~BIT_OF(a->sig);
}

/*
 * A stop signal from outside opens init's stop. One that is ignored is not passed on, one that
 * finds init dying of something else opens nothing. A second one is a repetition, unless the first
 * is a minute old, has been taken and is another signal, or came from a container and this one does
 * not: what a neighbour sends hides no runtime's stop.
 */
static __always_inline void stop_note(struct signal_args *a, struct graced_init *init, __u64 at_ns)
{
	bool inside = a->sender_kind == GRACED_WATCH_CONTAINER,
	     dies = a->flags & GRACED_SIG_GROUP_EXIT;
	struct task_struct *target = a->target;
	__u64 age = at_ns - init->stop_at_ns;

	queue_note(a, init);
	if (is_dying(init))
		return;
	if (a->result == RESULT_IGNORED || a->result == RESULT_OVERFLOW)
		return;
	if (taken_set(a->w) & BIT_OF(a->sig) && init->takes < GRACED_TAKES_MAX)
		init->takes++;
	if (!(stop_set(a->w) & BIT_OF(a->sig)) || !from_outside(a))
		return;
	if (dies && BPF_CORE_READ(target, signal, group_exit_code) != a->sig)
		return;
	if (init->stop_sig && age < STOP_AGE_NS) {
		if (inside > init->stop_inside)
			return;
		if (inside == init->stop_inside && (!init->deliver_ns || init->stop_sig == a->sig))
			return;
	}
	if (!init->stop_sig || age >= FORWARDS_GAP_NS)
		init->forwards = GRACED_FORWARDS_MAX;
	init->stop_at_ns = at_ns;
	init->deliver_ns = 0;
	init->stop_inside = inside;
	init->stop_sig = a->sig;
	init->await_sig = dies ? SIGKILL : a->sig;
	init->joined = a->result == RESULT_ALREADY_PENDING;
	if (dies)
		doom(a->at.watch_id);
}

/* The sender is the init of the target's container, and was asked to stop. */
static __always_inline bool sent_by_stopping(const struct graced_init *init)
{
	return init && init->stop_sig && init->pid && init->pid == bpf_get_current_pid_tgid() >> 32;
}

/*
 * By kill(), sigqueue() or tgkill() of a process that lives: what the kernel raises in its name,
 * when a parent dies (PR_SET_PDEATHSIG) or a timer expires, is nothing it passes on. To the dead it
 * passes nothing on, either.
 */
static __always_inline bool passes_on(const struct signal_args *a, __u32 flags)
{
	struct task_struct *current = (void *)bpf_get_current_task();

	if (a->info == 1 || flags & GRACED_SIG_TARGET_ZOMBIE || a->sig == SIGWINCH)
		return false;
	if (a->code != CODE_USER && a->code != CODE_QUEUE && a->code != CODE_TKILL)
		return false;
	return !(BPF_CORE_READ(current, flags) & PF_EXITING);
}

static __always_inline bool forward_take(const struct signal_args *a, struct graced_init *init)
{
	return a->flags & GRACED_SIG_FORWARDED && init && take_one(&init->forwards);
}

/* HUP, USR1, USR2, WINCH and real-time signals: what programs take for a request to drain, to
 * reload or to hand over. */
#define DRAIN_SET (BIT_OF(1) | BIT_OF(10) | BIT_OF(12) | BIT_OF(SIGWINCH) | ~0ULL << 33)

/*
 * Another process asks it for something other than to stop, by kill(), sigqueue() or tgkill(): a
 * terminal's SIGWINCH or SIGHUP is the kernel's, and what a process sends itself is its own matter.
 */
static __always_inline bool asks_to_drain(const struct signal_args *a, const __u64 *ctx)
{
	__u64 info = 1;
	__s32 code;

	if (!(DRAIN_SET & BIT_OF(a->sig)) ||
	    a->target->tgid == (__s32)(bpf_get_current_pid_tgid() >> 32))
		return false;
	bpf_probe_read_kernel(&info, sizeof(info), &ctx[1]);
	code = info_code(info);
	return info != 1 && (code == CODE_USER || code == CODE_QUEUE || code == CODE_TKILL);
}

/* Notes that a process of the container was asked to stop, or to drain: also an init that is deaf
 * to another signal, and also by a signal that is pending already. */
static __always_inline void note_asked(struct signal_args *a, struct signal_struct *signal,
				       const __u64 *ctx)
{
	if (!(asking_set(a->w) & BIT_OF(a->sig)) && !asks_to_drain(a, ctx))
		return;
	if (a->result == RESULT_IGNORED || a->result == RESULT_OVERFLOW || !signal->live.counter)
		return;
	a->w->told_at_ns = bpf_ktime_get_boot_ns();
}

/* It may become the init, and then this is missing: there is no init to record it for. */
static __always_inline void early_note(const struct signal_args *a)
{
	__u32 pid = a->target->tgid, known = a->w->early_pid;

	if (!(asking_set(a->w) & BIT_OF(a->sig)))
		return;
	a->w->early_pid = known && known != pid ? GRACED_EARLY_SEVERAL : pid;
}

/* The container's init, found by this signal if need be; NULL: it has none. */
static __always_inline struct graced_init *init_of(const struct signal_args *a, const __u64 *ctx,
						   bool live)
{
	struct graced_init *init = bpf_map_lookup_elem(&inits, &a->at.watch_id);
	__u64 task;

	if (init_is_settled(init) || !live || !watch_recorded(a->w))
		return init;
	if (!(signal_mask(a->w) & BIT_OF(a->sig)))
		return init;
	bpf_probe_read_kernel(&task, sizeof(task), &ctx[2]);
	if (!init_find(task, a->at.watch_id)) {
		early_note(a);
		return init;
	}
	return bpf_map_lookup_elem(&inits, &a->at.watch_id);
}

/* An OOM kill is seen as the kernel's SIGKILL first, and by mark_victim after that. */
static __always_inline void kill_seen(struct signal_args *a, const __u64 *ctx, bool for_init)
{
	__u64 task;

	bpf_probe_read_kernel(&task, sizeof(task), &ctx[2]);
	/* Elsewhere it is outside: see outside_killed(). */
	if (cfg_services || cfg_all)
		keeper_killed(task, a->info, a->result);
	if (a->info == 1 && a->result == RESULT_DELIVERED && watch_recorded(a->w))
		oom_may_kill(task);
	count_kill(a, for_init);
}

/* It asks a process to stop whose container is being stopped. */
static __always_inline bool asks_in_stop(const struct signal_args *a, struct graced_init *init)
{
	return watch_recorded(a->w) && a->result != RESULT_OVERFLOW &&
	       taken_set(a->w) & BIT_OF(a->sig) && is_stopping(init);
}

/* Whether a process, a pointer, dies of a signal that it has for itself. A global function: the
 * verifier goes through it once. */
__noinline __u32 is_fatal(__u64 task, __u32 sig, __u32 result)
{
	if (result != RESULT_DELIVERED || (NEVER_FATAL | JOB_CONTROL) & BIT_OF(sig))
		return 0;
	return disposition_flags((void *)task, sig) & GRACED_SIG_DFL;
}

/* Takes room for what is recorded for no other reason, before its flags are read, which costs most:
 * of a flood nearly all find none. */
static __always_inline bool alone_take(const struct signal_args *a, const __u64 *ctx, bool in_stop)
{
	__u64 task;

	if (a->result == RESULT_OVERFLOW || is_noisy(a->at.watch_id))
		return false;
	if (!in_stop) {
		bpf_probe_read_kernel(&task, sizeof(task), &ctx[2]);
		if (!is_fatal(task, a->sig, a->result))
			return false;
	}
	return a->w && others_take(a->w, &a->at, GRACED_EV_SIGNAL);
}

/* By the other flags: OTHER if its target dies of it. */
static __always_inline __u32 fatal_flag(const struct signal_args *a, __u32 flags)
{
	if (!watch_recorded(a->w) || a->result != RESULT_DELIVERED ||
	    (NEVER_FATAL | JOB_CONTROL) & BIT_OF(a->sig))
		return 0;
	return is_set(flags & GRACED_SIG_DFL) * OTHER;
}

/* Not to a zombie, nor by the end of a pid namespace. */
static __always_inline bool other_take(struct signal_args *a)
{
	const __u32 no = NOISY | GRACED_SIG_NS_TEARDOWN | GRACED_SIG_TARGET_ZOMBIE;

	if ((a->flags & (no | OTHER)) != OTHER)
		return false;
	return a->flags & TAKEN || (a->w && others_take(a->w, &a->at, GRACED_EV_SIGNAL));
}

static __always_inline void signal_seen(struct signal_args *a, const __u64 *ctx)
{
	struct signal_struct *signal = a->signal;
	struct graced_init *init = init_of(a, ctx, signal->live.counter);
	bool for_init = watch_recorded(a->w) && init && init->pid == a->target->tgid;
	bool forwarded = !for_init && sent_by_stopping(init);
	bool masked = signal_mask(a->w) & BIT_OF(a->sig), noisy, alone, in_stop;
	__u32 flags;
	__u64 at_ns;

	if (watch_recorded(a->w))
		note_asked(a, signal, ctx);
	if (!masked && !forwarded)
		return;
	alone = !for_init && !forwarded && a->sig != SIGKILL && !cfg_all;
	in_stop = !for_init && asks_in_stop(a, init);
	if (alone && !(signal->live.counter && alone_take(a, ctx, in_stop)))
		return;
	bpf_probe_read_kernel(&a->info, sizeof(a->info), &ctx[1]);
	noisy = is_noisy(a->at.watch_id);
	if (noisy && watch_recorded(a->w) && shed(a, for_init))
		return;
	if (for_init && is_vain_kill(a) && drop_vain_kill(a))
		return;
	flags = for_init * GRACED_SIG_INIT | forwarded * GRACED_SIG_FORWARDED | noisy * NOISY |
		in_stop * OTHER | alone * (OTHER | TAKEN);
	flags = any_value(flags, a->info);
	a->code = info_code(a->info);
	flags |= signal_flags(a, signal, ctx[3]);
	flags |= fatal_flag(a, flags);
	if (flags & GRACED_SIG_FORWARDED && !passes_on(a, flags))
		flags &= ~(__u32)GRACED_SIG_FORWARDED;
	a->flags = any_value(flags, a->info);
	for_init = a->flags & GRACED_SIG_INIT;
	/* Never so, but news to the verifier. */
	if (for_init && !init)
		return;
	if (a->sig == SIGKILL)
		kill_seen(a, ctx, for_init);
	if (!for_init && !forward_take(a, init) && !wanted_by_all(a)) {
		if (!other_take(a))
			return;
		flags = (a->flags & ~(__u32)GRACED_SIG_FORWARDED) | TAKEN;
		a->flags = any_value(flags, a->info);
	} else if (!for_init && a->flags & NOISY) {
		stat_add(GRACED_EV_SIGNAL, 0, 0, 1);
		return;
	}
	place_sender(a);
	if (!(a->flags & TAKEN) && limited(a))
		return;
	at_ns = record(a, ctx);
	/* Read again: for_init would be a constant on each way that leads through record(). */
	if (a->flags & GRACED_SIG_INIT && init && a->w)
		stop_note(a, init, at_ns);
}

/* A SIGKILL to a process outside of containers, which may be in the pid namespace of one. */
static __always_inline void outside_killed(const __u64 *ctx)
{
	struct task_struct *t;
	__u64 info;

	bpf_probe_read_kernel(&info, sizeof(info), &ctx[1]);
	bpf_probe_read_kernel(&t, sizeof(t), &ctx[2]);
	keeper_killed((__u64)t, info, ctx[4]);
	if (info != 1 || ctx[4] != RESULT_DELIVERED || !ends_namespace())
		return;
	if (BPF_CORE_READ(t, signal, live.counter))
		collateral_count();
}

static __always_inline void signal_look(const __u64 *ctx, __u32 sig)
{
	struct signal_args a = {.target = (void *)ctx[2]};

	a.leader = a.target->group_leader;
	a.w = container_at(task_cgroup(a.leader), &a.at);
	if (!a.w && !cfg_all) {
		if (sig == SIGKILL)
			outside_killed(ctx);
		return;
	}
	a.sig = sig;
	a.result = ctx[4];
	/* Loaded before the ways part: see lineage_see(). */
	a.signal = a.target->signal;
	a.cred = a.target->real_cred;
	a.mm = a.leader->mm;
	signal_seen(&a, ctx);
}

SEC("tp_btf/signal_generate")
int on_signal(__u64 *ctx)
{
	__u32 sig = ctx[0];

	/* Each exit raises a SIGCHLD. */
	if (sig < 1 || sig > 64 || NO_STOP & BIT_OF(sig))
		return 0;
	cost_begin(GRACED_HOOK_SIGNAL);
	signal_look(ctx, sig);
	cost_end(GRACED_HOOK_SIGNAL);
	return 0;
}
