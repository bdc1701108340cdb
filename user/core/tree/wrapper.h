/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that run others, and what each does when it gets a stop signal: a table, and which row
 * of it a process is. tests/runtime/test_wrappers holds the rows against the programs.
 *
 * A row is found by the name of the program and by its arguments, which the container chooses, so
 * that it is believed only where the process hears the signal as the row says.
 */
#ifndef CORE_TREE_WRAPPER_H
#define CORE_TREE_WRAPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stop/record.h"

/* To which processes it passes the signal on. */
enum wrapper_pass {
	WRAPPER_NOTHING,   /* "nothing" */
	WRAPPER_CHILD,	   /* "child": the one that it was made to start */
	WRAPPER_CHILDREN,  /* "children": each of them */
	WRAPPER_GROUP,	   /* "group": that child's process group */
	WRAPPER_OWN_GROUP, /* "own-group": that child, and its own process group */
	WRAPPER_WORKERS,   /* "workers": the children that are copies of it */
	WRAPPER_MESSAGE,   /* "message": those, by a pipe or a socket */
	WRAPPER_CLIENTS,   /* "clients": those, once the last client has left */
	WRAPPER_UNKNOWN,   /* "unknown": its configuration, or the application in it, decides */
	WRAPPER_PASS_COUNT,
};

/* When it ends. */
enum wrapper_end {
	WRAPPER_WITH_CHILD, /* when that child has ended */
	WRAPPER_WITH_ALL,   /* when all that it passed the signal to have ended */
	WRAPPER_AT_ONCE,
	WRAPPER_BY_ITSELF, /* that is not known */
};

#define WRAPPER_NAMES 4

struct wrapper {
	const char *name;		  /* as reports have it */
	const char *names[WRAPPER_NAMES]; /* of the program, or of the script that its interpreter
					     runs */
	const char *takes;		  /* its short options with a value */
	char letter;			  /* only with this option, */
	bool permutes;	      /* ... which may also stand behind the command, before -- */
	const char *word;     /* ... or --word, */
	const char *variable; /* ... or this in its environment ("NAME=": with any value) */
	uint64_t signals;     /* bits 1 << (number - 1) of the stop signals it is for; 0: all */
	uint32_t by;	      /* bits 1 << enum audit_reason: how it hears the signal */
	enum wrapper_pass pass;
	enum wrapper_end end;
	uint32_t sends;	   /* this signal; 0: the one that it got */
	uint32_t then;	   /* ... and at once this one; 0: none */
	uint32_t kill_ms;  /* SIGKILL, so long after, or at the next signal; 0: none */
	bool assumed;	   /* its configuration may say otherwise, and is not read */
	bool copy_unknown; /* its child may be a copy of it, of which nothing is known */
	/* What becomes of processes below it that it passes nothing to is not known. */
	bool rest_unknown;
};

/* What shows which program a process runs. */
struct wrapper_program {
	const char *exe, *comm; /* as audit_is_shell() takes them */
	const char *args; /* as in /proc/PID/cmdline, each with its NUL; the last may be cut short */
	size_t args_len;
	/* Whether wrapper_variable() is in its environment. */
	enum record_tri variable;
};

/* What in the environment decides what it does, to be looked up; NULL: nothing. */
const char *wrapper_variable(const struct wrapper_program *program);

/* What it does when it gets this signal, with the values of its arguments. False: not known. */
bool wrapper_find(const struct wrapper_program *program, uint32_t signal, struct wrapper *ret);

/* The word in quotes above; NULL for a number that is no member. */
const char *wrapper_pass_name(enum wrapper_pass pass);

#endif
