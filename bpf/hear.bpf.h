/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How a process takes a signal: its disposition, whether it runs, which child a shell waits for. */
#ifndef GRACED_HEAR_BPF_H
#define GRACED_HEAR_BPF_H

#include "stop.bpf.h"

/* System calls that wait for children, by the architecture's numbers. */
#ifdef __TARGET_ARCH_arm64
#define SYS_WAIT4  260
#define SYS_WAITID 95
#else
#define SYS_WAIT4  61
#define SYS_WAITID 247
#endif

/*
 * 1 for any number but 0. Flags are computed without branches: the verifier goes both ways of a
 * branch, and through all that follows, so that each flag would double its work. The compiler knows
 * what this computes, and would make it a branch if it saw the sign.
 */
static __always_inline __u32 is_set(__u64 x)
{
	__u64 sign = x | -x;

	asm volatile("" : "+r"(sign));
	return sign >> 63;
}

/*
 * The same value, which is any to the verifier: it goes on once, and not once for each value that
 * it knows. It knows nothing of the number.
 */
static __always_inline __u32 any_value(__u64 value, __u64 number)
{
	asm volatile("%0 ^= %1\n%0 ^= %1" : "+&r"(value) : "r"(number));
	return value;
}

/* info is a siginfo as a number. */
static __always_inline __u32 info_flags(__u64 info)
{
	return (is_set(info) ^ 1) * GRACED_SIG_INFO_NONE |
	       (is_set(info ^ 1) ^ 1) * GRACED_SIG_INFO_PRIV;
}

/*
 * The members of an array's element are relocated, the distance between elements is not: it is
 * asked for, or the size of our short k_sigaction would be taken for the kernel's. The table is
 * read as a number, as 6.1 refuses to add a variable to a pointer to a kernel type. sig is 1 to 64.
 */
static __always_inline __u32 disposition_flags(struct task_struct *t, __u32 sig)
{
	void *table = BPF_CORE_READ(t, sighand), *at = table;
	__u64 handler = 0;

	at += bpf_core_field_offset(struct sighand_struct, action);
	at += (sig - 1) * bpf_core_type_size(struct k_sigaction);
	bpf_core_read(&handler, sizeof(handler), &((struct k_sigaction *)at)->sa.sa_handler);
	return is_set((__u64)table) * (is_set(handler) ^ 1) * GRACED_SIG_DFL |
	       (is_set(handler ^ 1) ^ 1) * GRACED_SIG_IGN;
}

/*
 * Frozen by either cgroup hierarchy, stopped by a signal, or in a tracer's hand. The older freezer
 * marks a task by a flag until Linux 6.0 and by a state since 6.1; where the state has its new name
 * the bit of that flag may mean something else, and on 5.14 to 6.0 that freezer is not seen.
 */
static __always_inline __u32 is_stopped(struct task_struct *t, struct signal_struct *signal)
{
	__u64 of_either = (signal->flags & SIGNAL_STOPPED) | (t->jobctl & TRAP_FREEZE);
	struct task_struct___old_state *old = (void *)t;
	struct task_struct___state *now = (void *)t;

	if (bpf_core_field_exists(now->__state))
		return is_set(of_either | (now->__state & (TASK_TRACED | TASK_FROZEN)));
	return is_set(of_either | (old->state & TASK_TRACED) | (t->flags & PF_FROZEN));
}

/* The first child of the target's leader; NULL: it has none. */
static __always_inline struct task_struct *first_child(struct task_struct *t)
{
	struct list_head *next = BPF_CORE_READ(t, children.next);
	void *head = (void *)t + bpf_core_field_offset(struct task_struct, children);

	if (!next || next == head)
		return NULL;
	return (void *)next - bpf_core_field_offset(struct task_struct, sibling);
}

#ifdef __TARGET_ARCH_arm64
#define PSR_MODE32_BIT 0x10 /* arch/arm64/include/uapi/asm/ptrace.h */

/*
 * Before the task ends, do_signal() of arm64 has cleared syscallno, and made ready to repeat the
 * call that the signal interrupted: x0 is what the call began with. The number is in x8 still. A
 * thread that was in no call would need to have left both as its last call did. Programs for
 * 32 bits have the number elsewhere: it is not known.
 */
static __always_inline __u64 interrupted_syscall(struct pt_regs *regs)
{
	bool repeats = BPF_CORE_READ(regs, regs[0]) == BPF_CORE_READ(regs, orig_x0);

	if (BPF_CORE_READ(regs, pstate) & PSR_MODE32_BIT)
		return ~0ULL;
	return repeats ? BPF_CORE_READ(regs, regs[8]) : ~0ULL;
}
#else
static __always_inline __u64 interrupted_syscall(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
}
#endif

/*
 * The system call that a thread which is about to exit was in. signal_generate is too late to find
 * a thread on its process's list of those that wait for children (wait_chldexit): the signal has
 * woken it by then, and on another CPU it may have left the list.
 */
static __always_inline __u64 current_syscall(void)
{
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return ~0ULL;
	return interrupted_syscall((void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
}

static __always_inline bool same_group(struct task_struct *a, struct task_struct *b)
{
	return BPF_CORE_READ(a, signal, pids[PIDTYPE_PGID]) ==
	       BPF_CORE_READ(b, signal, pids[PIDTYPE_PGID]);
}

/*
 * For the reason why a shell that took a stop signal did nothing: the child that it waited for then
 * is the one that it waits for still. t is current and about to exit.
 */
static __always_inline bool awaits_child(struct task_struct *t, __u64 since_ns)
{
	__u64 call = current_syscall();
	struct task_struct *child;

	if (call != SYS_WAIT4 && call != SYS_WAITID)
		return false;
	child = first_child(t);
	if (!child || BPF_CORE_READ(child, start_boottime) >= since_ns || !same_group(child, t))
		return false;
	/* Until it execs, a shell's child may have yet to be put into the background. A handler of
	 * its own hides that it was started there. */
	return !(BPF_CORE_READ(child, flags) & PF_FORKNOEXEC) &&
	       disposition_flags(child, SIGINT) & disposition_flags(child, SIGQUIT) &
		       GRACED_SIG_DFL;
}

#endif
