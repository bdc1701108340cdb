/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inits under audit: start one, hold what graced audit says of it against what is expected, then
 * send the signal and see what becomes of it. Needs root and cgroups, but no BPF. Each function
 * fails the running cmocka test with a sentence.
 */
#ifndef TESTS_LIB_KERNEL_AUDITED_H
#define TESTS_LIB_KERNEL_AUDITED_H

#include "lib/kernel/judge.h"

enum audited_then {
	AUDITED_ENDS,	/* by itself, after it noted that it heard */
	AUDITED_LEAVES, /* by itself with code 0: a program that notes nothing */
	AUDITED_DIES,	/* of the signal */
	AUDITED_EITHER, /* dies of it or drops it, as the kernel likes; it does not hear it */
	AUDITED_STAYS,	/* the kernel drops the signal */
	AUDITED_KEEPS,	/* the signal stays pending */
};

/* A box, what the audit is to say of it, and what becomes of it. */
struct audited_role {
	const char *argv[7];
	const char *prog; /* NULL: stopper */
	long in_call;	  /* first wait until it is in this system call */
	bool sleeps;	  /* and until the last of its children sleeps */
	bool host_pidns;
	const char *says;
	int status; /* exit status of the audit */
	enum audited_then then;
};

/* For cmocka's group: a fixture without a tracer; where that cannot work here, says why and leaves
 * *state NULL. */
int audited_setup(void **state);
int audited_teardown(void **state);

/* Starts the role's box and waits until it is what it is to be. */
void audited_start(struct fixture *f, const struct audited_role *role, struct box *ret);

/* The audit of one box, which has to end with that status. The record is the caller's. */
json_t *audited(const struct box *box, int status);

/* The same, whatever the verdict. */
json_t *audited_any(const struct box *box);

/* The same by this signal, 0: SIGTERM; NULL: it cannot be seen now. */
json_t *audited_any_by(const struct box *box, int signal);

/* Waits until a signal is not pending any more: it was taken, or dropped when it was delivered. */
void audited_await_taken(pid_t pid, int sig);

/* Plays every role from its start to its end. */
void audited_play(void **state, const struct audited_role *roles, size_t n);

#endif
