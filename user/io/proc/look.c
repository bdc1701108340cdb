// SPDX-License-Identifier: Apache-2.0
#include "io/proc/look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/proc/proc.h"
#include "wire/kernel/proc.h"

/* Files of a process that are looked at. */
#define FILES_MAX	256
/* Lines of a table of sockets, and connections that are kept. */
#define LINES_MAX	65536
#define STEP_LINES	500
#define CLIENTS_MAX	4096
/* Lines of the table of locks, which is one of the host. */
#define LOCKS_MAX	4096
/* Ports from there on are given to sockets that connect (net.ipv4.ip_local_port_range). */
#define FIRST_EPHEMERAL 32768

struct client {
	uint64_t inode;
	uint32_t port;
	uint32_t pid; /* it was counted for that process */
	bool sure;    /* it is known to be one without a port that is listened at */
};

struct look_net {
	unsigned int read; /* how many tables */
	FILE *file;	   /* the one that is being read */
	int lines;	   /* of it */
	size_t n;
	struct client clients[CLIENTS_MAX];
	bool listens[UINT16_MAX + 1];
};

/* --- connections ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	bool (*parse)(const char *line, struct net_socket *ret);
} tables[] = {{"tcp", net_parse_tcp}, {"tcp6", net_parse_tcp}, {"unix", net_parse_unix}};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* A connection has the port of the socket that listens, or one that no socket gets by connecting:
 * the one that listened may be closed by now. */
static void take_socket(struct look_net *net, const struct net_socket *s)
{
	if (s->listens)
		net->listens[s->port & UINT16_MAX] = true;
	if (!s->is_established || net->n == CLIENTS_MAX)
		return;
	if (s->port || s->is_accepted)
		net->clients[net->n++] = (struct client){
			.inode = s->inode,
			.port = s->port & UINT16_MAX,
			.sure = s->port < FIRST_EPHEMERAL && (!s->port || s->to > s->port),
		};
}

static int by_inode(const void *a, const void *b)
{
	const struct client *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* Leaves those that came. */
static void sort_out(struct look_net *net)
{
	size_t n = 0;

	for (size_t i = 0; i < net->n; i++)
		if (net->clients[i].sure || net->listens[net->clients[i].port])
			net->clients[n++] = net->clients[i];
	net->n = n;
	qsort(net->clients, net->n, sizeof(*net->clients), by_inode);
}

struct look_net *look_net_new(void)
{
	return calloc(1, sizeof(struct look_net));
}

/* False: the table ends. */
static bool read_lines(struct look_net *net)
{
	struct net_socket s;
	char line[512];

	for (int i = 0; i < STEP_LINES; i++) {
		if (!net->file || net->lines++ == LINES_MAX ||
		    !fgets(line, sizeof(line), net->file))
			return false;
		if (tables[net->read].parse(line, &s))
			take_socket(net, &s);
	}
	return true;
}

bool look_net_step(struct look_net *net, pid_t pid)
{
	char path[64];

	if (!net->file) {
		snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, tables[net->read].name);
		net->file = fopen(path, "re");
		net->lines = 0;
	}
	if (read_lines(net))
		return true;
	if (net->file)
		fclose(net->file);
	net->file = NULL;
	if (++net->read < TABLES)
		return true;
	sort_out(net);
	return false;
}

struct look_net *look_net_free(struct look_net *net)
{
	if (net && net->file)
		fclose(net->file);
	free(net);
	return NULL;
}

/* --- files ------------------------------------------------------------------------------------- */

/* False ends the walk. */
typedef bool (*file_fn)(void *userdata, int files, const char *number, const char *target);

static void each_file(pid_t pid, file_fn fn, void *userdata)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	char path[64], target[LOOK_FILE_SIZE];
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	if (procfs_is_replaced(pid) || fd_opendir(AT_FDCWD, path, &dir) < 0)
		return;
	for (int i = 0; i < FILES_MAX && (entry = readdir(dir)); i++) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (n > 0 && !fn(userdata, dirfd(dir), entry->d_name, target))
			return;
	}
}

static bool is_no_socket(void *userdata, int files, const char *number, const char *target)
{
	bool *found = userdata;

	(void)files;
	(void)number;
	*found = strncmp(target, "socket:", 7) == 0;
	return !*found;
}

bool look_has_socket(pid_t pid)
{
	bool found = false;

	each_file(pid, is_no_socket, &found);
	return found;
}

struct client_search {
	struct look_net *net;
	struct obs_look *look;
};

static bool count_client(void *userdata, int files, const char *number, const char *target)
{
	struct client_search *search = userdata;
	struct look_net *net = search->net;
	struct client key = {}, *found;

	(void)files;
	(void)number;
	if (sscanf(target, "socket:[%" SCNu64 "]", &key.inode) != 1)
		return true;
	found = bsearch(&key, net->clients, net->n, sizeof(key), by_inode);
	/* It may have several descriptors. */
	if (!found || found->pid == search->look->proc.pid)
		return true;
	found->pid = search->look->proc.pid;
	if (!search->look->clients++)
		search->look->port = found->port;
	return true;
}

void look_clients(struct look_net *net, struct obs_look *look)
{
	struct client_search search = {net, look};

	if (net && net->n)
		each_file((pid_t)look->proc.pid, count_client, &search);
}

struct file_search {
	pid_t pid;
	const char *file;
	bool found;
	char number[16]; /* of the descriptor */
};

/* "flags:" of /proc/PID/fdinfo/FD, in octal. */
static bool is_for_reading(pid_t pid, const char *number)
{
	char path[64], text[512];
	const char *flags;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, number);
	if (fd_read_into(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	flags = strstr(text, "flags:");
	return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE) == O_RDONLY;
}

static bool is_read_end(void *userdata, int files, const char *number, const char *target)
{
	struct file_search *search = userdata;

	(void)files;
	search->found = strcmp(target, search->file) == 0 && is_for_reading(search->pid, number);
	return !search->found;
}

static void read_comm(pid_t pid, char ret[static GRACED_COMM_LEN])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	n = fd_read_into(AT_FDCWD, path, ret, GRACED_COMM_LEN);
	ret[n > 0 ? strcspn(ret, "\n") : 0] = '\0';
}

bool look_is_piped(const struct obs_look *look)
{
	return look->call == LOOK_CALL_WRITE && strncmp(look->file, "pipe:", 5) == 0;
}

void look_reader(const pid_t *pids, size_t n, struct obs_look *look)
{
	for (size_t i = 0; i < n; i++) {
		struct file_search search = {.pid = pids[i], .file = look->file};

		each_file(pids[i], is_read_end, &search);
		if (!search.found)
			continue;
		look->reader_pid = (uint32_t)pids[i];
		read_comm(pids[i], look->reader_comm);
		return;
	}
}

static bool is_file(void *userdata, int files, const char *number, const char *target)
{
	struct file_search *search = userdata;

	(void)files;
	search->found = strcmp(target, search->file) == 0;
	if (search->found)
		snprintf(search->number, sizeof(search->number), "%.15s", number);
	return !search->found;
}

/* "ino:" of /proc/PID/fdinfo/FD, since Linux 5.14: no file system is asked. 0: not known. */
static uint64_t inode_of(pid_t pid, const char *file)
{
	struct file_search search = {.pid = pid, .file = file};
	char path[64], text[512];
	const char *inode;

	each_file(pid, is_file, &search);
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, search.number);
	if (!search.found || fd_read_into(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	inode = strstr(text, "\nino:");
	return inode ? strtoull(inode + strlen("\nino:"), NULL, 10) : 0;
}

/* Who took the lock of that file that pid waits for; 0: not known, or its threads wait for several.
 */
static uint32_t find_holder(uint32_t pid, uint64_t inode)
{
	_cleanup_(cleanup_fclose) FILE *file = fopen("/proc/locks", "re");
	struct locks_line held = {}, l;
	uint64_t number = 0;
	uint32_t holder = 0;
	char line[256];
	int lines = 0;

	for (; file && lines < LOCKS_MAX && fgets(line, sizeof(line), file); lines++) {
		if (!locks_parse(line, &l))
			continue;
		if (!l.waits)
			held = l;
		if (!l.waits || l.pid != pid || l.inode != inode || l.number != held.number)
			continue;
		if (number && number != l.number)
			return 0;
		number = l.number;
		holder = held.pid;
	}
	return lines < LOCKS_MAX && holder != pid ? holder : 0;
}

/* Who took it may have ended, and left it to a child with the file: then its pid is another's. */
void look_holder(struct obs_look *look)
{
	uint64_t inode = inode_of((pid_t)look->proc.pid, look->file);
	struct file_search search = {.file = look->file};

	search.pid = inode ? (pid_t)find_holder(look->proc.pid, inode) : 0;
	if (search.pid)
		each_file(search.pid, is_file, &search);
	if (!search.found)
		return;
	look->reader_pid = (uint32_t)search.pid;
	read_comm(search.pid, look->reader_comm);
}

/* --- processes and threads --------------------------------------------------------------------- */

static bool has_ended(const struct procfs_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

/* A leader may have ended before its threads. */
int look_process(pid_t pid, uint64_t cgroup_id, ino_t pidns, struct obs_look *ret)
{
	struct procsig_status status;
	struct procfs_proc proc;
	struct procfs_stat stat;
	int r = procfs_read(pid, cgroup_id, &proc);

	if (r < 0)
		return r;
	if (proc.exiting || procfs_sig_status(pid, &status) < 0 || procfs_stat(pid, 0, &stat) < 0)
		return -ESRCH;
	proc.proc.ns_pid = procfs_ns_pid(&proc, pidns);
	*ret = (struct obs_look){
		.proc = proc.proc,
		.parent_pid = proc.ppid,
		.state = (unsigned char)stat.state,
		.cpu_ns = stat.cpu_ns,
		.ignored = status.ignored,
		.caught = status.caught,
		.blocked = status.blocked,
	};
	return 0;
}

static void read_wchan(const char *dir, char ret[static LOOK_WCHAN_SIZE])
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/wchan", dir);
	n = fd_read_into(AT_FDCWD, path, ret, LOOK_WCHAN_SIZE);
	if (n <= 0 || ret[0] == '0')
		ret[0] = '\0';
}

/* The file behind the descriptor that is the first argument of a call. */
static void read_file(const char *dir, uint64_t number, char ret[static LOOK_FILE_SIZE])
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/fd/%" PRIu64, dir, number);
	n = readlink(path, ret, LOOK_FILE_SIZE - 1);
	ret[n > 0 ? n : 0] = '\0';
}

static bool is_about_a_file(enum look_call call)
{
	return call == LOOK_CALL_READ || call == LOOK_CALL_WRITE || call == LOOK_CALL_SYNC ||
	       call == LOOK_CALL_LOCK;
}

static uint32_t read_tracer(const char *dir)
{
	char path[96], text[8192];
	const char *line;

	snprintf(path, sizeof(path), "%s/status", dir);
	if (fd_read_into(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nTracerPid:");
	return line ? (uint32_t)strtoul(line + strlen("\nTracerPid:"), NULL, 10) : 0;
}

bool look_thread(pid_t pid, pid_t tid, struct obs_look *ret)
{
	struct procsig_call call;
	struct procfs_stat stat;
	char dir[64], path[96], text[512];
	int r = procfs_stat(pid, tid ? tid : pid, &stat);
	ssize_t n;

	if (r == -EBUSY)
		stat = (struct procfs_stat){.state = 'D'};
	else if (r < 0 || has_ended(&stat))
		return false;
	snprintf(dir, sizeof(dir), "/proc/%d/task/%d", pid, tid ? tid : pid);
	ret->tid = (uint32_t)tid;
	ret->state = (unsigned char)stat.state;
	ret->call = LOOK_CALL_NONE;
	ret->file[0] = ret->wchan[0] = '\0';
	if (r == 0)
		read_wchan(dir, ret->wchan);
	ret->tracer_pid = stat.state == 't' ? read_tracer(dir) : 0;
	/* As procfs_is_replaced() has it, in a thread that was just seen. */
	if (stat.state == 'D')
		return true;
	snprintf(path, sizeof(path), "%s/syscall", dir);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	if (n < 0 || procsig_parse_call(text, (size_t)n, &call) < 0)
		return true;
	ret->call = procsig_call_kind(&call);
	if (is_about_a_file((enum look_call)ret->call))
		read_file(dir, call.args[0], ret->file);
	return true;
}

size_t look_threads(pid_t pid, pid_t ret[static LOOK_THREADS])
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (fd_opendir(AT_FDCWD, path, &dir) < 0)
		return 0;
	while (n < LOOK_THREADS && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != pid)
			ret[n++] = tid;
	}
	return n;
}

/* --- what holds an init that has exited ------------------------------------------------------- */

#define PF_EXITING 0x4
#define TICK_NS	   10000000ull

static bool is_pid1(uint32_t pid)
{
	struct procfs_status status;
	char path[64], text[8192];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	n = fd_read_into(AT_FDCWD, path, text, sizeof(text));
	return n > 0 && procfs_parse_status(text, (size_t)n, &status) == 0 && status.ns_pid == 1 &&
	       status.ns_depth > 1;
}

bool held_is(uint32_t pid, uint64_t start_ns)
{
	struct procfs_stat stat;

	if (procfs_stat((pid_t)pid, 0, &stat) < 0 || !(stat.flags & PF_EXITING))
		return false;
	return (!start_ns || stat.start_ns == start_ns - start_ns % TICK_NS) && is_pid1(pid) &&
	       procfs_ends((pid_t)pid);
}

/* False: go on. */
typedef bool (*each_fn)(void *userdata, uint32_t pid);

static void each_process(each_fn fn, void *userdata)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	struct dirent *entry;

	if (fd_opendir(AT_FDCWD, "/proc", &dir) < 0)
		return;
	while ((entry = readdir(dir))) {
		unsigned long pid = strtoul(entry->d_name, NULL, 10);

		if (pid && pid <= INT32_MAX && fn(userdata, (uint32_t)pid))
			return;
	}
}

struct search {
	uint32_t init;
	ino_t pidns;
	struct held found;
};

static bool take_holder(void *userdata, uint32_t pid)
{
	struct search *search = userdata;
	struct procfs_stat stat, parent = {};

	/* One below has a PID 1 that has to end before. */
	if (pid == search->init || procfs_pidns_above((pid_t)pid, search->pidns) < 0 ||
	    procfs_stat((pid_t)pid, 0, &stat) < 0)
		return false;
	procfs_stat((pid_t)stat.ppid, 0, &parent);
	search->found = (struct held){.pid = pid, .parent_pid = stat.ppid};
	memcpy(search->found.comm, stat.comm, sizeof(stat.comm));
	memcpy(search->found.parent_comm, parent.comm, sizeof(parent.comm));
	return has_ended(&stat);
}

int held_find(uint32_t pid, struct held *ret)
{
	struct search search = {.init = pid, .pidns = procfs_pidns((pid_t)pid)};

	if (search.pidns)
		each_process(take_holder, &search);
	if (!search.found.pid)
		return -ENOENT;
	*ret = search.found;
	return 0;
}

static bool take_any(void *userdata, uint32_t pid)
{
	uint32_t *ret = userdata;

	if (!held_is(pid, 0))
		return false;
	*ret = pid;
	return true;
}

uint32_t held_any(void)
{
	uint32_t pid = 0;

	each_process(take_any, &pid);
	return pid;
}
