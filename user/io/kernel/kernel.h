/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half seen from here: the BPF programs, chosen for what this kernel's BTF says, and
 * their maps. Which programs a kernel gets is probed and never guessed from its version.
 */
#ifndef IO_KERNEL_KERNEL_H
#define IO_KERNEL_KERNEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "graced/event.h"
#include "io/cgroup/hierarchy.h"

struct kern;

struct kern_options {
	const struct hierarchy *hierarchy;
	size_t ring_bytes; /* a power of two and a multiple of the page size; 0: the default */
	bool services;	   /* scope services */
	bool all;	   /* scope all */
	const char *const *roots; /* as core/cgroup/trust has them; used while kern_new() runs */
	bool no_group_dead; /* as on kernels whose exit tracepoint does not mark the last thread */
	/* Takes libbpf's own messages, some of which are many lines; NULL: they are dropped. */
	void (*debug)(const char *format, va_list args);
};

/* One sentence for a person: what failed and what to do about it. */
struct kern_why {
	char text[384];
};

/* What was decided about this kernel. */
struct kern_flavours {
	bool group_dead; /* the exit tracepoint says which thread is the last */
	bool oom_task;	 /* mark_victim hands over a task rather than a pid */
	bool again; /* tracepoints leave preemption on: exits and execs have a second program */
	bool reap;  /* it is seen when an init is waited for; attaching may find that it is not */
};

struct kern_program {
	const char *name;	/* static */
	const char *tracepoint; /* or, for on_reap, function */
	bool wanted;		/* the flavour this kernel gets */
	bool attached;
	bool optional; /* a kernel that cannot attach it is traced without */
	/* Estimated: the programs time themselves in some of the kernel's ticks (bpf/cost.bpf.h). */
	uint64_t run_ns, runs;
};

/* Loads maps and programs. On failure *ret_why says it in a sentence. The caller frees. */
int kern_new(const struct kern_options *options, struct kern **ret, struct kern_why *ret_why);
int kern_attach(struct kern *kern, struct kern_why *ret_why);
/* Nothing more is produced after this. */
void kern_detach(struct kern *kern);
struct kern *kern_free(struct kern *kern);

void kern_get_flavours(const struct kern *kern, struct kern_flavours *ret);
unsigned int kern_attached(const struct kern *kern);
/* -ENOENT beyond the last one. kern NULL: all there are, by name alone. */
int kern_get_program(const struct kern *kern, unsigned int index, struct kern_program *ret);

/* Whether the kernel has BTF: 0; -ENOENT (or -ESRCH): it has none, or -errno. */
int kern_probe_btf(void);

/* Loads one program alone, to find out which one a kernel refuses. */
int kern_try_program(const struct kern_options *options, const char *name,
		     struct kern_why *ret_why);

int kern_ring_fd(const struct kern *kern);

/* The least urgency of a record that wakes who reads the ring; GRACED_URGENCY_COUNT: none does. */
void kern_wake_from(struct kern *kern, enum graced_urgency urgency);

/*
 * since_ns and told_at_ns are a moment at which the entry was there. -EEXIST: the kernel half was
 * first. -E2BIG: the map is full. -ENOENT: the cgroup was removed meanwhile.
 */
int kern_watch_add(struct kern *kern, uint64_t id, const struct graced_watch *watch);
int kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret);
/* These are done by the kernel half: nothing that it counts meanwhile is lost, and what it charged
 * for an entry is given back once. -ENOENT: there is none. */
int kern_watch_delete(struct kern *kern, uint64_t id);
int kern_watch_set_kind(struct kern *kern, uint64_t id, uint32_t kind);

/*
 * A container's own stop signal: recorded whatever it is, and with SIGTERM the only one that opens
 * its init's stop (deliver_ns and GRACED_SIG_FORWARDED of event.h). 0: SIGTERM, SIGINT, SIGQUIT and
 * SIGRTMIN+3 do, as before. -EINVAL: no signal, or SIGCHLD, SIGCONT or SIGURG. -ENOENT: it is not
 * watched.
 */
int kern_watch_set_stop(struct kern *kern, uint64_t id, unsigned int sig);

/* A negative result ends the walk and is returned. Entries that come or go meanwhile may be missed
 * or not. */
typedef int (*kern_watch_fn)(void *userdata, uint64_t id, const struct graced_watch *watch);
int kern_watch_each(const struct kern *kern, kern_watch_fn fn, void *userdata);

/*
 * While a container is noisy, processes in it that are not its init are neither counted (exits,
 * kills by processes) nor recorded, nor what init passes on, and of its init's signals only SIGKILL
 * and stop signals (kern_watch_set_stop()) are recorded, the others counted as suppressed. Its
 * init's exit and SIGKILLs by the kernel are recorded and counted as ever, and so is all of every
 * other container. The mark goes with the cgroup; setting what is set is fine. -ENOENT: it is not
 * watched. -E2BIG: too many are noisy.
 */
int kern_noisy_set(struct kern *kern, uint64_t id, bool on);

/* Whether signals to an init are limited (256 at once, then 100 a second, the rest counted as
 * suppressed) when they come from outside its container, too, apart from those from inside. SIGKILL
 * never is. */
void kern_limit_all(struct kern *kern, bool on);
/* How many SIGKILLs were ignored by an init and only counted, since the start. */
uint64_t kern_vain_kills(const struct kern *kern);

int kern_init_add(struct kern *kern, uint64_t id, const struct graced_init *init);
/* -ENOENT: the container has none. */
int kern_init_get(const struct kern *kern, uint64_t id, struct graced_init *ret);
/* The same in place of what is there. */
int kern_init_set(struct kern *kern, uint64_t id, const struct graced_init *init);
/* Only if it is still that process. */
int kern_init_delete(struct kern *kern, uint64_t id, uint32_t pid);

/* Totals over all CPUs, GRACED_STAT_COUNT of them. */
int kern_read_stats(const struct kern *kern, struct graced_stat *ret);

/* Events for which the kernel did not run a program. */
struct kern_misses {
	uint64_t sure;
	/* Less what second programs did, which may come yet, and counted too often: it may fall. */
	int64_t open;
};
void kern_misses(const struct kern *kern, struct kern_misses *ret);

#endif
