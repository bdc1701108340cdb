// SPDX-License-Identifier: Apache-2.0
/* graced audit: which running containers would not hear their stop signal. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/audit_scan.h"
#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/output.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/signame.h"
#include "io/proc/clock.h"
#include "wire/json/audit.h"
#include "wire/text/audit.h"

static const struct options_help help = {
	.head = "usage: graced audit [OPTIONS]\n"
		"\n"
		"Shows of every running container whether its init would hear its stop signal, and why; no\n"
		"signal is sent. Looks at /proc alone: signal masks and handlers, threads in sigwait, signalfds,\n"
		"the shield of PID 1, a shell in front of the app. Without the right to trace the processes\n"
		"(root has it) the verdict is `unknown` where that is needed.\n",
	.tail = "VERDICT  WHY\n"
		"hears    handler, waiter (a thread in sigwait) or signalfd\n"
		"dies     default: at once, without a chance to clean up\n"
		"ignores  ignored (SIG_IGN), or default-ignore (the default of SIGWINCH and its like)\n"
		"deaf     no-handler (PID 1 of its namespace), shell (the same, with the app as a child),\n"
		"         blocked (in all threads, and none waits for it), suspends (SIGSTOP and its like)\n"
		"unknown  no-access, starting, busy (blocked, perhaps for a moment), or threads-differ (one\n"
		"         thread waits for it, another does not block it)\n"
		"\n"
		"The exit status is 1 when a container is deaf or ignores the signal, when one could not be\n"
		"examined, when no container matches -n, -p and -c, or when the audit failed; 2 after wrong\n"
		"use; else 0.\n"
		"\n"
		"EXAMPLES\n"
		"  graced audit                       every container, by its own stop signal\n"
		"  graced audit -s QUIT -c nginx      a container whose image says STOPSIGNAL SIGQUIT\n"
		"  graced audit >/dev/null || echo \"a container is deaf\"\n"
		"  graced audit --exit-zero -o json | jq -r 'select(.verdict == \"deaf\") | .pod.name'\n",
};

static const char *known(const char *name)
{
	return name && name[0] ? name : NULL;
}

static struct record_process process_of(const struct procfs_proc *p)
{
	return (struct record_process){
		.pid = p->proc.pid, .ns_pid = p->proc.ns_pid, .comm = p->proc.comm};
}

static const char *shell_of(const struct audit_found *f)
{
	if (!f->facts.shell.is_shell)
		return NULL;
	return known(f->init.proc.exe) ? f->init.proc.exe : f->init.proc.comm;
}

static struct audit_record record_of(const struct audit_list *list, const struct audit_found *f)
{
	struct audit_record r = {
		.seen = f->seen,
		.process = process_of(&f->init),
		.shell = shell_of(f),
		.has_app = f->has_app,
		.app = process_of(&f->app),
		.facts = f->facts,
		.audit = f->audit,
	};

	describe_record(audit_describes(list, f), &f->path, &f->names, f->cgroup, &r.pod,
			&r.container);
	return r;
}

/* The filter knows records; an emptiness is one of a pod and a container and nothing more. */
static bool is_asked_for(const struct options *o, const struct audit_record *r)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = r->pod, .container = r->container}};
	struct filter filter = o->filter;

	filter.sigmask = 0;
	return filter_matches(&filter, &subject);
}

struct counts {
	uint32_t all, deaf, no_access;
};

static int print(const struct options *o, const struct audit_list *list, struct counts *ret)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(rows_free_kept) struct rows rows = {};
	uint64_t now = clock_boot_ns();
	int64_t wall = (int64_t)now + clock_wall_offset_ns();
	char node[256];

	clock_node_name(node, sizeof(node));
	for (size_t i = 0; i < list->n && !buf_error(&out); i++) {
		struct audit_record r = record_of(list, list->list + i);

		/* A sandbox is of interest to nobody who did not ask for all that is known. */
		if (!is_asked_for(o, &r) ||
		    (!o->json && r.container.kind == CONTAINER_KIND_SANDBOX))
			continue;
		r.at_ns = now;
		r.wall_ns = wall;
		r.node = node;
		if (!ret->all++ && !o->json)
			audit_table_title(&rows);
		ret->deaf += audit_is_deaf(&r.audit);
		ret->no_access += r.audit.reason == AUDIT_ACCESS;
		if (o->json)
			audit_json(&out, &r);
		else
			audit_table_row(&rows, &r);
	}
	audit_table_put(&out, &rows, output_wants_colour());
	fwrite(buf_str(&out), 1, out.len, stdout);
	return buf_error(&out);
}

/* A misspelt name must not look like a container that would hear the signal. */
static bool asked_in_vain(const struct options *o, const struct counts *c)
{
	const struct filter *f = &o->filter;

	return !c->all && (f->namespace_ || f->pod || f->container);
}

/* The count is for a person at a terminal; a script has the rows and the exit status. */
static void sum_up(const struct counts *c, uint32_t signal)
{
	char name[SIGNAME_SIZE];

	if (!c->all)
		say("there is no container running");
	else if (isatty(STDERR_FILENO))
		say("%u of %u containers would not hear %s", c->deaf, c->all,
		    signal ? signame_format(signal, name) : "their stop signal");
}

static int audit(const struct options *o, uint32_t signal)
{
	struct audit_list list = {};
	struct counts counts = {};
	int r = audit_scan(o, signal, &list);

	if (r == 0) {
		r = print(o, &list, &counts);
		if (r < 0)
			say("cannot print the audit: %s", strerror(-r));
	}
	audit_list_free(&list);
	if (r < 0)
		return 1;
	fflush(stdout);
	if (counts.no_access)
		say("%u of %u containers could not be looked into; run as root, on the host",
		    counts.no_access, counts.all);
	if (asked_in_vain(o, &counts)) {
		say("there is no such container running");
		return 1;
	}
	sum_up(&counts, signal);
	/* Who was not looked into may be deaf. */
	return (counts.deaf || counts.no_access) && !o->exit_zero;
}

int cmd_audit(int argc, char **argv)
{
	struct options options;
	uint64_t mask;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("audit", "'%s' is one argument too many", argv[options.first]);
	mask = options.filter.sigmask;
	if (mask & (mask - 1))
		return say_usage("audit", "--signal wants one signal, the one that asks to stop");
	if (!say_host_pids("audit"))
		return 1;
	return audit(&options, mask ? (uint32_t)__builtin_ctzll(mask) + 1 : 0);
}
