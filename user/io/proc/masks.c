// SPDX-License-Identifier: Apache-2.0
/* Reads what the threads of a process do about signals: their masks, waits and signalfds. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"

static int gone(int r)
{
	return r == -ENOENT ? -ESRCH : r;
}

static int read_status(int dirfd_, const char *path, struct procsig_status *ret)
{
	char text[8192];
	ssize_t n = fd_read_into(dirfd_, path, text, sizeof(text));

	return n < 0 ? gone((int)n) : procsig_parse_status(text, (size_t)n, ret);
}

int procfs_sig_status(pid_t pid, struct procsig_status *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return read_status(AT_FDCWD, path, ret);
}

static int read_call(int dirfd_, const char *path, struct procsig_call *ret)
{
	char text[512];
	ssize_t n = fd_read_into(dirfd_, path, text, sizeof(text));

	return n < 0 ? (int)n : procsig_parse_call(text, (size_t)n, ret);
}

bool procfs_sig_awaits_child(pid_t pid)
{
	struct procsig_call call;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	return !procfs_is_replaced(pid) && read_call(AT_FDCWD, path, &call) == 0 &&
	       procsig_awaits_child(&call);
}

static bool read_set(int task, const char *tid, uint64_t at, uint64_t *ret)
{
	unsigned char bytes[PROCSIG_SET_BYTES];
	uint64_t set = 0;
	char path[32];

	snprintf(path, sizeof(path), "%s/mem", tid);
	_cleanup_(cleanup_close) int fd = openat(task, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || at > INT64_MAX || pread(fd, bytes, sizeof(bytes), (off_t)at) != sizeof(bytes))
		return false;
	memcpy(&set, bytes, sizeof(set));
	*ret = set;
	return true;
}

static enum audit_call call_by_wchan(int task, const char *tid)
{
	static const enum audit_call calls[] = {
		[PROCSIG_WCHAN_NONE] = AUDIT_CALL_UNREAD,
		[PROCSIG_WCHAN_SIGNAL] = AUDIT_CALL_WAIT_ON,
		[PROCSIG_WCHAN_OTHER] = AUDIT_CALL_OTHER,
	};
	char path[32], text[128];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/wchan", tid);
	n = fd_read_into(task, path, text, sizeof(text));
	return n < 0 ? AUDIT_CALL_UNREAD : calls[procsig_parse_wchan(text, (size_t)n)];
}

static enum audit_call call_of(int task, const char *tid, struct audit_facts *f,
			       uint64_t *ret_awaited, bool *ret_runs)
{
	struct procsig_call call;
	uint64_t set;
	char path[32];

	snprintf(path, sizeof(path), "%s/syscall", tid);
	if (read_call(task, path, &call) < 0)
		return call_by_wchan(task, tid);
	*ret_runs = !call.sleeps;
	f->spawning += procsig_makes_child(&call);
	if (!procsig_awaits_signal(&call, &set))
		return AUDIT_CALL_OTHER;
	return read_set(task, tid, set, ret_awaited) ? AUDIT_CALL_WAIT : AUDIT_CALL_WAIT_ON;
}

static void look_at_blocking(int task, const char *tid, struct audit_facts *f)
{
	struct procsig_call call;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "%s/syscall", tid);
	r = read_call(task, path, &call);
	f->calls_unread |= r == -EACCES || r == -EPERM;
	f->passing += r < 0 || !procsig_is_settled(&call);
}

static bool has(uint64_t mask, uint32_t signal)
{
	return mask >> (signal - 1) & 1;
}

static bool has_left(const struct procsig_status *s)
{
	return s->state == 'Z' || s->state == 'X';
}

/* *ret_runs: it does not block it and is not asleep. */
static enum audit_thread judge_thread(int task, const char *tid, const struct procsig_status *s,
				      struct audit_facts *f, bool *ret_runs)
{
	enum audit_call call = AUDIT_CALL_OTHER;
	uint64_t awaited = 0;

	if (!has(s->blocked, f->signal) && !has_left(s))
		call = call_of(task, tid, f, &awaited, ret_runs);
	return audit_thread_of(f->signal, s->blocked, call, awaited);
}

/* The time that a thread has run, in ns; 0: not known, without CONFIG_SCHED_INFO. */
static uint64_t read_ran(int task, const char *tid)
{
	char path[32], text[96];

	snprintf(path, sizeof(path), "%s/schedstat", tid);
	return fd_read_into(task, path, text, sizeof(text)) > 0 ? strtoull(text, NULL, 10) : 0;
}

/* Who has run for less may have lost the CPU on its way out of there. */
#define WAKING_NS 50000

/* Whether it may be woken in sigtimedwait(2), and have no CPU yet. */
static bool may_be_waking(const struct audit_run *before, const struct audit_run *now)
{
	return now->ran_ns && now->sleeps &&
	       (now->ran_ns - before->ran_ns < WAKING_NS || now->sleeps != before->sleeps);
}

static void look_at_running(int task, const char *tid, uint64_t sleeps, struct audit_facts *f)
{
	const struct audit_run run = {read_ran(task, tid), sleeps, 0};

	f->waking = may_be_waking(&f->before.leader, &run);
	f->runs.leader = run;
}

static void look_at_awake(int task, const char *tid, uint64_t sleeps, struct audit_facts *f)
{
	const struct audit_run run = {read_ran(task, tid), sleeps,
				      (uint32_t)strtoul(tid, NULL, 10)};
	const struct audit_run *before = NULL;

	for (size_t i = 0; i < AUDIT_AWAKE; i++)
		if (f->before.others[i].tid == run.tid)
			before = f->before.others + i;
	if (f->awake < AUDIT_AWAKE)
		f->runs.others[f->awake] = run;
	f->awake++;
	f->waking_others += !before || may_be_waking(before, &run);
}

static int read_thread(int task, const char *tid, bool leader, struct audit_facts *f)
{
	struct procsig_status s;
	enum audit_thread thread;
	bool runs = false;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "%s/status", tid);
	r = read_status(task, path, &s);
	if (r < 0)
		return r;
	thread = judge_thread(task, tid, &s, f, &runs);
	/* One that has left takes no signal, but the leader's mask still counts when one is sent.
	 */
	if (!has_left(&s)) {
		f->threads[thread]++;
		if (thread == AUDIT_BLOCKS)
			look_at_blocking(task, tid, f);
	}
	f->pending |= has(s.thread_pending | s.shared_pending, f->signal);
	f->stopped |= s.state == 'T' || s.state == 't';
	if (!leader) {
		if (runs)
			look_at_awake(task, tid, s.sleeps, f);
		return 0;
	}
	f->leader = thread;
	f->left = has_left(&s);
	f->waking = false;
	if (runs)
		look_at_running(task, tid, s.sleeps, f);
	f->disposition = audit_disposition_of(f->signal, s.caught, s.ignored);
	f->keeps_terminal = audit_disposition_of(SIGTTOU, 0, s.ignored) == AUDIT_SIG_IGNORED;
	return 0;
}

static bool is_number(const char *name)
{
	return *name >= '1' && *name <= '9' && strlen(name) < 16;
}

/* Threads that come and go meanwhile may be missed; the leader may not. */
static int read_threads(pid_t pid, uint32_t most, struct audit_facts *f)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;
	uint32_t seen = 0;
	char path[64], name[16];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	snprintf(name, sizeof(name), "%d", pid);
	r = fd_opendir(AT_FDCWD, path, &dir);
	if (r < 0)
		return gone(r);
	r = read_thread(dirfd(dir), name, true, f);
	while (r >= 0 && (entry = readdir(dir))) {
		if (!is_number(entry->d_name) || strcmp(entry->d_name, name) == 0)
			continue;
		if (seen++ == most) {
			f->threads_unread = true;
			break;
		}
		read_thread(dirfd(dir), entry->d_name, false, f);
	}
	return r;
}

/* 1, 0, or -errno when that may not be read. */
static int is_signalfd(int fds, const char *name)
{
	static const char want[] = "anon_inode:[signalfd]";
	char link[sizeof(want)];
	ssize_t n = readlinkat(fds, name, link, sizeof(link));

	if (n < 0)
		return -errno;
	return n == (ssize_t)strlen(want) && memcmp(link, want, (size_t)n) == 0;
}

static int read_mask(pid_t pid, const char *name, uint64_t *ret)
{
	char path[64], text[1024];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.15s", pid, name);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	return n < 0 ? (int)n : procsig_parse_signalfd(text, (size_t)n, ret);
}

static void look_at_file(int fds, pid_t pid, const char *name, struct audit_facts *f)
{
	uint64_t mask = 0;
	int r;

	if (!is_number(name) && strcmp(name, "0") != 0)
		return;
	r = is_signalfd(fds, name);
	if (r > 0)
		r = read_mask(pid, name, &mask);
	f->signalfds += has(mask, f->signal);
	/* One that was closed meanwhile takes no signal. */
	f->signalfds_unread |= r < 0 && r != -ENOENT;
}

static void read_signalfds(pid_t pid, uint32_t most, struct audit_facts *f)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;
	uint32_t seen = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	if (fd_opendir(AT_FDCWD, path, &dir) < 0) {
		f->signalfds_unread = true;
		return;
	}
	while ((entry = readdir(dir))) {
		if (seen++ == most) {
			f->signalfds_unread = true;
			return;
		}
		look_at_file(dirfd(dir), pid, entry->d_name, f);
	}
}

int procfs_sig_read(pid_t pid, uint32_t most, struct audit_facts *f)
{
	int r;

	memset(f->threads, 0, sizeof(f->threads));
	f->before = f->runs;
	f->runs = (struct audit_runs){};
	f->signalfds = f->passing = f->spawning = f->awake = f->waking_others = 0;
	f->threads_unread = f->calls_unread = f->signalfds_unread = false;
	f->pending = f->stopped = false;
	r = procfs_is_replaced(pid) ? -EBUSY : read_threads(pid, most, f);
	if (r < 0)
		return r;
	/* It is queued for one only while the leader blocks it, or has left those that do. */
	if (f->leader == AUDIT_BLOCKS || f->left)
		read_signalfds(pid, most, f);
	return 0;
}
