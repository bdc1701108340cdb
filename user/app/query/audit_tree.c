// SPDX-License-Identifier: Apache-2.0
/* Reads arguments and signal masks of the processes of a container. */
#include "app/query/audit_tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "io/proc/proc.h"

/* The options of a wrapper come before the command that it runs. */
#define ARGS_SIZE 1024

/* As in audit_scan. */
#define LOOKS	      6
#define BETWEEN_LOOKS ((struct timespec){.tv_nsec = 5000000})

struct audit_seen {
	struct procfs_proc proc;
	char args[ARGS_SIZE];
};

static struct tree_process process_of(const struct procfs_proc *p)
{
	return (struct tree_process){
		.process = {.pid = p->proc.pid,
			    .ns_pid = p->proc.ns_pid,
			    .comm = p->proc.comm,
			    .start_ns = p->proc.start_ns},
		.ppid = p->ppid,
		.pgrp = p->pgrp,
		.exe = p->proc.exe,
		.program = {.exe = p->proc.exe, .comm = p->proc.comm},
	};
}

static const struct procfs_proc *find(const struct audit_tree_of *of, uint32_t pid)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->members[i].proc.pid == pid)
			return of->members + i;
	return of->init;
}

static void read_variable(pid_t pid, struct wrapper_program *program)
{
	const char *variable = wrapper_variable(program);
	int r = variable ? procfs_has_variable(pid, variable) : 0;

	program->variable = r < 0 ? TRI_UNKNOWN : r ? TRI_TRUE : TRI_FALSE;
}

static void read_masks(pid_t pid, struct tree_process *p)
{
	struct procsig_status s;
	bool is_read = procfs_sig_status(pid, &s) == 0;

	/* Nothing is known about a process that has gone: a shell's trap may be for it. */
	p->key_caught = !is_read || audit_disposition_of(SIGINT, s.caught, 0) == AUDIT_SIG_HANDLED;
	p->keys_ignored =
		!is_read || (audit_disposition_of(SIGINT, 0, s.ignored) == AUDIT_SIG_IGNORED &&
			     audit_disposition_of(SIGQUIT, 0, s.ignored) == AUDIT_SIG_IGNORED);
	p->awaits_child =
		audit_is_shell(p->program.exe, p->program.comm) && procfs_sig_awaits_child(pid);
}

static void read_process(const struct audit_tree_of *of, struct tree_process *p,
			 struct audit_seen *seen)
{
	struct tree_process fresh;
	pid_t pid = (pid_t)p->process.pid;

	seen->proc = *find(of, p->process.pid);
	fresh = process_of(&seen->proc);
	if (seen->proc.ns_depth != of->init->ns_depth)
		fresh.process.ns_pid = procfs_ns_pid(pid, of->init->ns_depth);
	fresh.parent = p->parent;
	fresh.depth = p->depth;
	fresh.program.args_len = procfs_args(pid, seen->args, sizeof(seen->args));
	fresh.program.args = fresh.program.args_len ? seen->args : NULL;
	read_variable(pid, &fresh.program);
	read_masks(pid, &fresh);
	*p = fresh;
}

/* Waits that end again and again, and signals blocked for a moment, may hide that it hears. */
static bool look_is_enough(const struct tree_process *p, const struct audit *a, uint32_t signal)
{
	struct wrapper wrapper;

	if (a->verdict == AUDIT_HEARS)
		return true;
	if (a->verdict == AUDIT_DEAF || a->reason == AUDIT_BUSY)
		return false;
	return !wrapper_find(&p->program, signal, &wrapper);
}

static int look(void *userdata, const struct tree_process *p, uint32_t signal, struct audit *ret)
{
	const struct audit_tree_of *of = userdata;
	pid_t pid = (pid_t)p->process.pid;
	struct audit_facts facts = {
		.signal = signal,
		.shielded = find(of, p->process.pid)->proc.ns_pid == 1,
		.frozen = of->facts->frozen,
	};
	int r = 0;

	if (p->process.pid == of->init->proc.pid && signal == of->facts->signal) {
		*ret = *of->audit;
		return 0;
	}
	for (int i = 0; i < LOOKS && r == 0; i++) {
		if (i)
			nanosleep(&BETWEEN_LOOKS, NULL);
		r = procfs_sig_read(pid, PROCFS_SIG_MOST, &facts);
		*ret = audit_judge(&facts);
		if (look_is_enough(p, ret, signal))
			break;
	}
	return r == 0 && !procfs_alive(pid, p->process.start_ns) ? -ESRCH : r;
}

/* How many of the first belong to the first. */
static size_t count_below(const struct tree *t)
{
	size_t n = 1;

	while (n < t->n && t->list[n].depth)
		n++;
	return n;
}

static size_t list_members(const struct audit_tree_of *of, struct tree_process *list)
{
	size_t n = 0;

	list[n++] = process_of(of->init);
	for (size_t i = 0; i < of->n; i++)
		if (!of->members[i].exiting && of->members[i].proc.pid != of->init->proc.pid)
			list[n++] = process_of(of->members + i);
	return n;
}

int audit_tree_read(const struct audit_tree_of *of, struct audit_tree *ret)
{
	struct tree t = {.signal = of->facts->signal, .shielded = of->facts->shielded};
	struct audit_seen *seen;

	t.list = calloc(of->n + 1, sizeof(*t.list));
	if (!t.list)
		return -ENOMEM;
	t.n = list_members(of, t.list);
	tree_order(t.list, &t.n, of->init->proc.pid, &t.others);
	if (of->only_below) {
		t.n = count_below(&t);
		t.others = 0;
	}
	seen = calloc(t.n, sizeof(*seen));
	if (!seen) {
		free(t.list);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t.n; i++)
		read_process(of, t.list + i, seen + i);
	tree_judge(&t, look, (void *)of);
	*ret = (struct audit_tree){.tree = t, .seen = seen};
	return 0;
}

void audit_tree_free(struct audit_tree *tree)
{
	free(tree->tree.list);
	free(tree->seen);
	*tree = (struct audit_tree){};
}
