// SPDX-License-Identifier: Apache-2.0
// Read what /proc tells of a process.
#include "lib/box/peek.h"

#include "lib/box/page.h"
#include "lib/patience.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The last of the pids a process has, one for each pid namespace it is seen from. */
pid_t peek_ns_pid(pid_t pid)
{
	char path[64], line[256];
	pid_t last = pid;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in)) {
		char *at = strncmp(line, "NSpid:", 6) ? NULL : strrchr(line, '\t');

		if (at)
			last = (pid_t)strtol(at + 1, NULL, 10);
	}
	if (in)
		fclose(in);
	return last;
}

/* The fields of /proc/<pid>/stat after the comm, which may hold anything. */
static char *read_stat(pid_t pid, char *text, size_t size)
{
	char path[64];
	size_t n;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	in = fopen(path, "re");
	if (!in)
		return NULL;
	n = fread(text, 1, size - 1, in);
	fclose(in);
	text[n] = '\0';
	return strrchr(text, ')');
}

uint64_t peek_start_ticks(pid_t pid)
{
	char text[1024], *at = read_stat(pid, text, sizeof(text));
	int field = 2;

	for (; at && *at && field < 22; at++)
		field += *at == ' ';
	return at ? strtoull(at, NULL, 10) : 0;
}

static bool thread_is_in(pid_t pid, const char *tid, long number)
{
	char path[512];
	bool found;
	long now;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", (int)pid, tid);
	in = fopen(path, "re");
	if (!in)
		return false;
	found = fscanf(in, "%ld", &now) == 1 && now == number;
	fclose(in);
	return found;
}

static bool any_thread_is_in(pid_t pid, long number)
{
	struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	list = opendir(path);
	while (list && !found && (entry = readdir(list)))
		found = entry->d_name[0] != '.' && thread_is_in(pid, entry->d_name, number);
	if (list)
		closedir(list);
	return found;
}

int peek_await_syscall(pid_t pid, long number)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;

	while (!any_thread_is_in(pid, number)) {
		if (page_clock_ns() > until)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
	return 0;
}

int peek_await_leader_gone(pid_t pid)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	char text[1024], *at, state;

	for (;;) {
		at = read_stat(pid, text, sizeof(text));
		if (at && sscanf(at, ") %c", &state) == 1 && state == 'Z')
			return 0;
		if (page_clock_ns() > until)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}

pid_t peek_first_child(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	in = fopen(path, "re");
	if (in && fscanf(in, "%d", &child) != 1)
		child = 0;
	if (in)
		fclose(in);
	return child;
}

int peek_parent(pid_t pid, pid_t *ret_parent, char ret_comm[16])
{
	char text[1024], *end = read_stat(pid, text, sizeof(text)), *begin;
	int parent;

	begin = end ? strchr(text, '(') : NULL;
	if (!begin || sscanf(end, ") %*c %d", &parent) != 1)
		return -ESRCH;
	*end = '\0';
	snprintf(ret_comm, 16, "%s", begin + 1);
	*ret_parent = parent;
	return 0;
}
