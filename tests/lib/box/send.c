// SPDX-License-Identifier: Apache-2.0
// Signal a box from a chosen kind of sender and note the clock around the call.
#include "lib/box/send.h"

#include "lib/box/peek.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

/* Ancestors from pid upwards, at most four, up to the host's PID 1. */
static void fill_ancestors(struct sent *sent, pid_t pid)
{
	size_t size = sizeof(sent->ancestors);
	size_t used = (size_t)snprintf(sent->ancestors, size, "[");
	char comm[16];
	pid_t parent;

	for (int n = 0; n < 4 && pid > 0 && !peek_parent(pid, &parent, comm); n++) {
		used += (size_t)snprintf(sent->ancestors + used, size - used, "%s'%s'",
					 n ? "," : "", comm);
		pid = parent;
	}
	snprintf(sent->ancestors + used, size - used, "]");
}

static void fill_here(struct sent *sent, int number)
{
	*sent = (struct sent){.from = SEND_HERE, .sender = getpid(), .number = number};
	prctl(PR_GET_NAME, sent->comm);
	fill_ancestors(sent, getppid());
}

static int send_here(pid_t target, int sig, struct sent *ret)
{
	struct sent sent;

	fill_here(&sent, sig);
	sent.before_ns = page_clock_ns();
	sent.result = kill(target, sig) < 0 ? -errno : 0;
	sent.after_ns = page_clock_ns();
	*ret = sent;
	return sent.result;
}

int send_cgroup_kill(const struct box *box, struct sent *ret)
{
	struct sent sent;

	fill_here(&sent, SIGKILL);
	sent.before_ns = page_clock_ns();
	sent.result = cg_write(box->kill_dir, "cgroup.kill", "1");
	sent.after_ns = page_clock_ns();
	*ret = sent;
	return sent.result;
}

int send_start(struct box_tree *tree, enum send_from from, const struct box *via,
	       const char *const *argv, struct proc *ret)
{
	char exe[HIER_PATH_MAX + 32];
	struct proc_spec spec = {.exe = exe, .argv = argv, .cwd = tree->tmp, .no_wait = true};

	if (from == SEND_CONTAINER)
		spec.cgroups[0] = via->dir;
	if (from == SEND_RUNTIME)
		snprintf(exe, sizeof(exe), "%s/runc", tree->tmp);
	else
		snprintf(exe, sizeof(exe), "%s/sender", tree->helpers);
	return proc_start(&spec, ret);
}

static void of_note(enum send_from from, const struct box *via, const struct note *note,
		    struct sent *ret)
{
	*ret = (struct sent){
		.from = from,
		.via = via,
		.sender = note->pid,
		.number = note->number,
		.result = note->value,
		.before_ns = note->before_ns,
		.after_ns = note->after_ns,
	};
	fill_ancestors(ret, getpid());
}

int send_collect(enum send_from from, const struct box *via, struct proc *sender, struct sent *ret,
		 size_t n)
{
	pid_t pid = sender->pid;
	struct proc_end end;
	const struct note *note;
	size_t got = 0;
	int r = proc_wait(sender, &end);

	while (!r && got < n && (note = page_find(sender->page, NOTE_KILL, (unsigned int)got))) {
		of_note(from, via, note, &ret[got]);
		ret[got].sender = pid;
		snprintf(ret[got].comm, sizeof(ret[got].comm), "%s",
			 from == SEND_RUNTIME ? "runc" : "sender");
		got++;
	}
	proc_free(sender);
	return r ? r : (int)got;
}

int send_signal(struct box_tree *tree, enum send_from from, const struct box *via, pid_t target,
		int sig, struct sent *ret)
{
	char pid[16], number[16];
	struct proc sender;
	int r;

	if (from == SEND_HERE)
		return send_here(target, sig, ret);
	snprintf(pid, sizeof(pid), "%d", (int)target);
	snprintf(number, sizeof(number), "%d", sig);
	r = send_start(tree, from, via, BOX_ARGV("kill", pid, number), &sender);
	if (!r)
		r = send_collect(from, via, &sender, ret, 1);
	if (r < 0)
		return r;
	return r == 1 ? ret->result : -EIO;
}

int send_of_page(const struct box *box, unsigned int nth, struct sent *ret)
{
	const struct note *note = page_find(box->proc.page, NOTE_KILL, nth);

	if (!note)
		return -ENOENT;
	of_note(SEND_CONTAINER, box, note, ret);
	ret->sender = box->init_pid;
	memcpy(ret->comm, box->comm, sizeof(ret->comm));
	return 0;
}
