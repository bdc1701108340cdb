/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process that a test starts: put into its cgroup before it execs, as a runtime does, with a
 * shared page (page.h), a pidfd and the clock reads around its birth and its end.
 */
#ifndef TESTS_LIB_BOX_PROC_H
#define TESTS_LIB_BOX_PROC_H

#include "lib/box/page.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROC_CGROUPS 2

struct proc_spec {
	const char *exe;	 /* path of the program; its base name becomes the comm */
	const char *const *argv; /* arguments after argv[0], NULL-terminated; NULL for none */
	const char
		*cgroups[PROC_CGROUPS]; /* directories entered before exec; NULL entries skipped */
	const char *cwd;		/* NULL for "/" */
	bool new_pidns;			/* PID 1 of a pid namespace of its own */
	pid_t pidns_of; /* start it in this process's pid namespace; 0 for the caller's */
	bool stages;	/* as runc: a stage in the cgroup makes the namespace, clones the
			 * init as its own sibling and leaves, all before the exec */
	pid_t want_pid; /* this pid in the caller's namespace; 0 for any */
	bool core;	/* may dump core (into cwd) */
	/* Called in place of the exec, with the page; it must not return, and make system calls
	 * only. */
	void (*run)(struct page *page);
	bool no_wait; /* return after the exec was let loose, without the ready byte */
};

/* Times are CLOCK_BOOTTIME in ns. */
struct proc {
	pid_t pid;    /* as the caller sees it; 0 once reaped */
	pid_t ns_pid; /* as it sees itself */
	int pidfd;
	int ready_fd;
	bool ready; /* the ready byte came; false when it ended or closed the pipe without */
	struct page *page;
	uint64_t before_clone_ns; /* its start lies between these two */
	uint64_t after_clone_ns;
};

struct proc_end {
	int status;	    /* as waitpid(2) tells it */
	uint64_t waited_ns; /* read right after waitid(2) returned */
};

/*
 * Start a process and wait for its ready byte (or its end) at most PATIENCE_S, unless no_wait. The
 * process is killed when the calling thread ends. 0, or -errno with everything undone. The caller
 * ends it with proc_wait() and proc_free().
 */
int proc_start(const struct proc_spec *spec, struct proc *ret);

/* Wait for the ready byte of a process started with no_wait; sets proc->ready. -ETIMEDOUT. */
int proc_await_ready(struct proc *proc);

/* Wait until the process has ended, note the time, then reap it. At most PATIENCE_S: -ETIMEDOUT. */
int proc_wait(struct proc *proc, struct proc_end *ret);

/* SIGKILL and reap the process if it is still there, unmap its page. NULL and twice are fine. */
void proc_free(struct proc *proc);

#endif
