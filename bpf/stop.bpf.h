/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Signals by number, and which of them ask an init to stop. */
#ifndef GRACED_STOP_BPF_H
#define GRACED_STOP_BPF_H

#include "task.bpf.h"

/* include/linux/sched/signal.h and include/linux/sched.h: bits, not relocatable. */
#define SIGNAL_STOPPED	  0x01 /* SIGNAL_STOP_STOPPED */
#define SIGNAL_GROUP_EXIT 0x04
#define SIGNAL_UNKILLABLE 0x40
#define PF_FORKNOEXEC	  0x40
#define PF_FROZEN	  0x00010000 /* until 5.13 and beyond, see is_stopped() */
#define TASK_TRACED	  0x0008
#define TASK_FROZEN	  0x8000      /* since 6.1 */
#define TRAP_FREEZE	  (1UL << 23) /* JOBCTL_TRAP_FREEZE */

/* enum of include/trace/events/signal.h */
#define RESULT_DELIVERED       0
#define RESULT_IGNORED	       1
#define RESULT_ALREADY_PENDING 2
#define RESULT_OVERFLOW	       3

/* si_code */
#define CODE_USER  0
#define CODE_QUEUE (-1)
#define CODE_TIMER (-2)
#define CODE_SIGIO (-5) /* between them: MESGQ and ASYNCIO */
#define CODE_TKILL (-6)

#define SIGINT	 2
#define SIGQUIT	 3
#define SIGKILL	 9
#define SIGTERM	 15
#define SIGSTOP	 19
#define SIGWINCH 28
#define SIGHALT	 37 /* RTMIN+3 */

#define BIT_OF(sig)  (1ULL << (((sig)-1) & 63))
#define NO_STOP	     (BIT_OF(17) | BIT_OF(18) | BIT_OF(23)) /* CHLD CONT URG: never a stop signal */
#define NEVER_FATAL  (NO_STOP | BIT_OF(SIGWINCH))
#define JOB_CONTROL  (BIT_OF(19) | BIT_OF(20) | BIT_OF(21) | BIT_OF(22)) /* STOP TSTP TTIN TTOU */
#define DEFAULT_MASK (~(NEVER_FATAL | JOB_CONTROL))
#define STOP_SET     (BIT_OF(SIGINT) | BIT_OF(SIGQUIT) | BIT_OF(SIGTERM) | BIT_OF(SIGHALT))

/* The daemon lets no request lapse earlier. */
#define STOP_AGE_NS	60000000000ULL
/* Stops that follow one another faster share what is recorded of forwarded signals. */
#define FORWARDS_GAP_NS 1000000000ULL

/* info is a siginfo as a number: it may be the constants 0 and 1. */
static __always_inline __s32 info_code(__u64 info)
{
	const struct kernel_siginfo *si = (void *)info;

	return info > 1 ? BPF_CORE_READ(si, si_code) : 0;
}

/*
 * The kernel raises the signal of a timer that expires, or of input that arrives, while any process
 * may be running, which then looks like the sender.
 */
static __always_inline bool has_no_sender(__s32 code)
{
	return code <= CODE_TIMER && code >= CODE_SIGIO;
}

/* Which signals ask the init of a watched cgroup to stop; systemd sends its own. */
static __always_inline __u64 stop_set_of(__u32 own)
{
	return own ? BIT_OF(own) | BIT_OF(SIGTERM) : STOP_SET;
}

static __always_inline __u64 stop_set(const struct graced_watch *w)
{
	return stop_set_of(w->stop_sig);
}

/* Which signals ask any process of the container to stop, or kill it. */
static __always_inline __u64 asking_set(const struct graced_watch *w)
{
	return stop_set(w) | STOP_SET | BIT_OF(SIGKILL);
}

/* What an init takes of these is recorded: signals that may ask it to stop, whoever sent them. */
static __always_inline __u64 taken_set(const struct graced_watch *w)
{
	return stop_set(w) | STOP_SET;
}

/* It is dying of its stop signal and has not woken up to that. */
static __always_inline bool is_dying(const struct graced_init *init)
{
	return init->await_sig == SIGKILL && !init->deliver_ns;
}

/*
 * Its container is being stopped, or was a while ago. A storm of events asks this for each: the
 * clock is read once in a tick of the kernel's timer, which costs less to read.
 */
static __always_inline bool is_stopping(struct graced_init *init)
{
	__u64 tick = bpf_jiffies64();

	if (!init || !init->stop_sig)
		return false;
	if (*(volatile __u64 *)&init->recent_tick == tick)
		return true;
	if (bpf_ktime_get_boot_ns() - init->stop_at_ns >= GRACED_OTHERS_NS)
		return false;
	init->recent_tick = tick;
	return true;
}

/*
 * Which signals to its init are recorded. w may be NULL. SIGWINCH is the stop signal of some images
 * (httpd), so it is recorded until the stop signal is known.
 */
static __always_inline __u64 signal_mask(const struct graced_watch *w)
{
	__u64 mask = w && w->sigmask ? w->sigmask : DEFAULT_MASK;

	return mask | (w ? BIT_OF(w->stop_sig ? w->stop_sig : SIGWINCH) : 0);
}

#endif
