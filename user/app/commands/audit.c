// SPDX-License-Identifier: Apache-2.0
/* graced audit: reports whether the init of each container, or a process, would hear its stop
 * signal. */
#include "app/commands/audit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/commands/follow.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/signame.h"
#include "core/stop/audit_changes.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"
#include "wire/json/audit.h"
#include "wire/text/audit.h"

/* Whether the reader of the table is a person: not with --no-headers or chosen columns. */
static bool explains(const struct options *o)
{
	return !o->json && !o->table.no_titles && !o->table.columns;
}

/* --- again and again -------------------------------------------------------------------------- */

/* Sources are queried again as long as a container is that new: a runtime may name it a moment
 * after it has begun. */
#define LOOKS_YOUNG 2

struct auditwatch {
	const struct options *options;
	uint32_t signal;
	struct follow follow;
	struct audit_changes changes;
	struct describe *describe; /* of the round before; NULL: none */
	bool asked;		   /* the sources were queried once */
	struct grid grid;
};

static struct audit_subject subject_of(const struct audit_found *f)
{
	return (struct audit_subject){
		.cgroup = f->cgroup, .pid = f->init.proc.pid, .start_ns = f->init.proc.start_ns};
}

static bool has_young(const struct auditwatch *w, const struct audit_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct audit_subject subject = subject_of(list->list + i);

		if (audit_changes_is_young(&w->changes, &subject, LOOKS_YOUNG))
			return true;
	}
	return false;
}

/* Looks, and where new containers are there looks once more, with what the sources say of them. */
static int look_for_news(struct auditwatch *w, struct audit_list *list)
{
	int r;

	*list = (struct audit_list){.describe = w->describe, .quiet = w->asked};
	w->describe = NULL;
	r = audit_scan(w->options, w->signal, list);
	if (r == 0 && w->asked && !w->options->no_names && has_young(w, list)) {
		audit_list_free(list);
		list->quiet = true;
		r = audit_scan(w->options, w->signal, list);
	}
	w->asked = true;
	return r;
}

/* Leaves those of the list that have something new to report. */
static int keep_new(struct auditwatch *w, struct audit_list *list)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct audit_subject subject = subject_of(list->list + i);
		struct audit_found kept = list->list[i];
		bool is_new = false;

		if (r == 0)
			r = audit_changes_take(&w->changes, &subject, &kept.audit, &is_new);
		if (!is_new)
			continue;
		list->list[i] = list->list[n];
		list->list[n++] = kept;
	}
	audit_changes_end_round(&w->changes);
	for (size_t i = n; i < list->n; i++)
		cleanup_free(&list->list[i].cgroup);
	list->n = n;
	return r;
}

static void add_row(struct auditwatch *w, struct buf *text, const struct audit_record *record)
{
	if (w->options->json) {
		audit_json(text, record);
		return;
	}
	grid_add(&w->grid, record);
	grid_flush(&w->grid, text);
	if (explains(w->options))
		advice_lines(text, record, screen_width());
}

static int print_news(struct auditwatch *w, const struct audit_list *list)
{
	_cleanup_(cleanup_free) struct audit_record *records = NULL;
	_cleanup_(buf_free) struct buf text = {}, shown = {};
	char node[AUDIT_NODE_SIZE];
	size_t n;
	int r = audit_records(w->options, list, node, &records, &n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		add_row(w, &text, records + i);
	screen_add(&shown, &text);
	return follow_put(&w->follow, &shown);
}

static int turn(void *userdata)
{
	struct auditwatch *w = userdata;
	struct audit_list list;
	int r = look_for_news(w, &list);

	if (r == 0)
		r = keep_new(w, &list);
	if (r == 0)
		r = print_news(w, &list);
	w->describe = list.describe;
	list.describe = NULL;
	audit_list_free(&list);
	return r;
}

/* Looks each second and prints what is new, until SIGINT or SIGTERM (which are blocked) or until
 * the reader leaves. The exit status. */
static int audit_watch(const struct options *options, uint32_t signal)
{
	struct auditwatch w = {.options = options, .signal = signal};
	struct grid_view view = screen_view(options);
	int status;

	if (!follow_open(&w.follow))
		return 1;
	view.live = true;
	grid_init(&w.grid, &audit_table, &view);
	status = follow_run(&w.follow, turn, &w);
	grid_done(&w.grid);
	audit_changes_done(&w.changes);
	describe_free(w.describe);
	follow_close(&w.follow);
	return status;
}

/* --- the processes of a container ------------------------------------------------------------- */

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
	fresh.process.ns_pid = procfs_ns_pid(&seen->proc, procfs_pidns((pid_t)of->init->proc.pid));
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

/* --- once ------------------------------------------------------------------------------------- */

static const struct options_help help = {
	.head = "usage: graced audit [OPTIONS]\n"
		"\n"
		"Shows for every running container how its init would react to its stop signal, and why; no\n"
		"signal is sent. Reads /proc alone: signal masks and handlers, threads in sigwait, signalfds,\n"
		"the shield of PID 1, a shell in front of the app. Without the right to trace the processes\n"
		"(root has it) the verdict is `unknown` where that is needed.\n",
	.tail = "VERDICT  WHY\n"
		"hears    handler, waiter (a thread in sigwait) or signalfd\n"
		"dies     default: at once, without a chance to clean up\n"
		"ignores  ignored (SIG_IGN), or default-ignore (the default of SIGWINCH)\n"
		"deaf     no-handler (PID 1 of its namespace), shell (the same, with the app\n"
		"         as a child), blocked (in all threads, and nothing takes it),\n"
		"         suspends (SIGSTOP and its like)\n"
		"unknown  no-access, starting, busy (blocked, perhaps for a time), or\n"
		"         threads-differ (one waits for it, another does not block it)\n"
		"\n"
		"With -o wide, or for one container (-c, -p, -n, --pid), a line for each of its processes\n"
		"follows: who receives the signal from whom, and who gets only SIGKILL.\n"
		"\n"
		"Below the table is a paragraph for each reason that is trouble: the processes concerned, and\n"
		"what to do. docs/fix.md has each remedy by example.\n"
		"\n"
		"The exit status is 1 when a container is deaf or ignores the signal, when one could not be\n"
		"examined, when no container matches -n, -p and -c, or when the audit failed; 2 after wrong\n"
		"use; else 0.\n"
		"\n"
		"EXAMPLES\n"
		"  graced audit                       every container, by its own stop signal\n"
		"  graced audit -s QUIT -c nginx      a container whose image says STOPSIGNAL SIGQUIT\n"
		"  graced audit --watch               how the containers that begin would take it\n"
		"  graced audit --pid 4242            one process\n"
		"  graced audit >/dev/null || echo \"a container is deaf\"\n"
		"  graced audit --exit-zero -o json |\n"
		"    jq -r '(.container.name // .container.id) + \": \" + .advice[0].remedy'\n",
};

/* The filter knows records; an emptiness is one of a pod and a container and nothing more. */
static bool is_asked_for(const struct options *o, const struct audit_record *r)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = r->pod, .container = r->container}};
	struct filter filter = o->filter;

	filter.sigmask = 0;
	return filter_matches(&filter, &subject);
}

int audit_records(const struct options *o, const struct audit_list *list,
		  char node[static AUDIT_NODE_SIZE], struct audit_record **ret, size_t *ret_n)
{
	uint64_t now = clock_boot_ns();
	int64_t wall = (int64_t)now + clock_wall_offset_ns();
	struct audit_record *records = calloc(list->n + 1, sizeof(*records));
	size_t n = 0;

	if (!records)
		return -ENOMEM;
	clock_node_name(node, AUDIT_NODE_SIZE);
	for (size_t i = 0; i < list->n; i++) {
		struct audit_record *r = records + n;

		*r = audit_record_of(list, list->list + i);
		r->at_ns = now;
		r->wall_ns = wall;
		r->node = node;
		/* A table leaves sandboxes out: JSON has all that is known. */
		n += is_asked_for(o, r) &&
		     (o->json || o->pid || r->container.kind != CONTAINER_KIND_SANDBOX);
	}
	*ret = records;
	*ret_n = n;
	return 0;
}

/* For those who want all, or ask for one container. */
static bool shows_trees(const struct options *o, size_t n)
{
	return explains(o) &&
	       (o->table.wide || (n == 1 && (o->pid || filter_has_names(&o->filter))));
}

struct counts {
	uint32_t all, deaf, no_access;
};

static int print(const struct options *o, const struct audit_list *list, struct counts *ret)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(cleanup_free) struct audit_record *records = NULL;
	_cleanup_(grid_done) struct grid grid = {};
	struct grid_view view = screen_view(o);
	char node[AUDIT_NODE_SIZE];
	size_t n;
	int r = audit_records(o, list, node, &records, &n);

	if (r < 0)
		return r;
	/* What is cut is in the paragraphs below. */
	view.flat = explains(o) && !o->table.wide;
	grid_init(&grid, &audit_table, &view);
	for (size_t i = 0; i < n && !buf_error(&out); i++) {
		const struct audit_record *record = records + i;

		ret->all++;
		ret->deaf += audit_is_deaf(&record->audit);
		ret->no_access += record->audit.reason == AUDIT_ACCESS;
		if (o->json)
			audit_json(&out, record);
		else
			grid_add(&grid, record);
	}
	grid_flush(&grid, &out);
	if (shows_trees(o, n))
		tree_blocks(&out, records, n, screen_width());
	if (explains(o))
		advice_paragraphs(&out, records, n, screen_width());
	screen_print(&out);
	return buf_error(&out);
}

/* A misspelt name must not look like a container that would hear the signal. */
static bool asked_in_vain(const struct options *o, const struct counts *c)
{
	return !c->all && filter_has_names(&o->filter);
}

static void say_in_vain(const struct audit_list *list)
{
	size_t unnamed = 0;

	for (size_t i = 0; i < list->n; i++)
		unnamed += !audit_record_of(list, list->list + i).container.name;
	if (unnamed)
		say("no container whose names are known matches; %zu have unknown names: see "
		    "--cri.endpoint and --names.log-directory",
		    unnamed);
	else
		say("there is no such container running");
}

/* The count is for a person at a terminal; a script has the rows and the exit status. */
static void sum_up(const struct counts *c, uint32_t signal)
{
	char name[SIGNAME_SIZE];

	if (!c->all)
		say("there is no container running");
	else if (c->all > 1 && isatty(STDERR_FILENO))
		say("%u of %u containers would not react to %s", c->deaf, c->all,
		    signal ? signame_format(signal, name) : "their stop signal");
}

static int audit(const struct options *o, uint32_t signal)
{
	struct audit_list list = {.trees = true};
	struct counts counts = {};
	int r = o->pid ? audit_scan_pid(o, signal, o->pid, &list) : audit_scan(o, signal, &list);

	if (r == 0) {
		r = print(o, &list, &counts);
		if (r < 0)
			say("cannot print the audit: %s", strerror(-r));
	}
	fflush(stdout);
	if (r == 0 && counts.no_access)
		say("%u of %u %s could not be looked into; %s", counts.no_access, counts.all,
		    o->pid ? "processes" : "containers",
		    geteuid() ? "run as root, on the host"
			      : "a capability (CAP_SYS_PTRACE) is missing, or a security module "
				"(AppArmor, SELinux) denies it");
	if (r == 0 && asked_in_vain(o, &counts)) {
		say_in_vain(&list);
		r = -ENOENT;
	}
	audit_list_free(&list);
	if (r < 0)
		return 1;
	sum_up(&counts, signal);
	/* Who was not looked into may be deaf. */
	return (counts.deaf || counts.no_access) && !o->exit_zero;
}

int cmd_audit(int argc, char **argv)
{
	struct options options;
	uint32_t signal;
	uint64_t mask;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("audit", "'%s' is one argument too many", argv[options.first]);
	mask = options.filter.sigmask;
	if (mask & (mask - 1))
		return say_usage("audit", "--signal wants one signal, the one that asks to stop");
	status = screen_check(&options, &audit_table);
	if (status)
		return status;
	if (options.pid && (options.watch || filter_has_names(&options.filter)))
		return say_usage("audit",
				 "--pid examines one process: it has no use for --watch, -n, "
				 "-p and -c");
	if (!say_host_pids("audit"))
		return 1;
	signal = mask ? (uint32_t)__builtin_ctzll(mask) + 1 : 0;
	if (options.watch)
		return audit_watch(&options, signal);
	follow_release_signals();
	return audit(&options, signal);
}
