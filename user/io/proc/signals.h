/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a running process does about a signal, as /proc tells it now. Masks are there for everybody
 * to read; what a thread waits for and which files are open, for who may trace the process.
 */
#ifndef IO_PROC_SIGNALS_H
#define IO_PROC_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/stop/audit.h"
#include "wire/kernel/proc_signals.h"

/*
 * Fills in what the facts have of dispositions, threads, signalfds, a pending signal and a stopped
 * process, and leaves the rest alone. facts->signal and ->shielded are given. Of the signalfds it
 * looks only when they would matter. -ESRCH: the process is gone; *facts may be half filled then.
 */
int procfs_sig_read(pid_t pid, struct audit_facts *facts);

/* The leader's. -ESRCH when it is gone. */
int procfs_sig_status(pid_t pid, struct procsig_status *ret);

/* Whether the leader sleeps until a child ends; false also when that may not be read. */
bool procfs_sig_awaits_child(pid_t pid);

#endif
