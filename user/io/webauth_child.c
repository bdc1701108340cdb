// SPDX-License-Identifier: Apache-2.0
/* Reads passwords and hashes, says whether they fit, and can do nothing else. */
#include "io/webauth_child.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/dynlib.h"
#include "io/fd.h"

#define CRYPT_SONAME "libcrypt.so.1"
#define NICENESS     10
#define MAPS_MAX     (4 << 20)

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "which numbers system calls have here is unknown"
#endif

struct crypt_functions {
	__typeof__(crypt_r) *crypt_r;
};

static const struct dynlib_function functions[] = {
	{"crypt_r", offsetof(struct crypt_functions, crypt_r)},
};

/* Nothing is to be flushed twice. */
static _Noreturn void end(int status)
{
	while (true)
		syscall(SYS_exit, status);
}

static void say(char answer)
{
	if (write(0, &answer, 1) != 1)
		end(1);
}

static _Noreturn void fail(char answer)
{
	say(answer);
	end(1);
}

/* Nothing but read, write and end from here on: whoever finds a hole in the parsing of passwords
 * falls into a pit. A filter and no strict mode, which there is none of below another filter, as
 * service managers and container runtimes have them. */
static bool confine(void)
{
	static struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(steps) / sizeof(*steps), .filter = steps};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static bool fits(const struct crypt_functions *f, const struct webauth_question *q,
		 struct crypt_data *data)
{
	const char *made = f->crypt_r(q->password, q->hash, data);
	size_t size = strlen(q->hash);

	return made && strlen(made) == size && basicauth_same(made, q->hash, size);
}

int webauth_child_check(const char **ret_error)
{
	struct crypt_functions f;

	return dynlib_load(CRYPT_SONAME, functions, 1, &f, ret_error);
}

static _Noreturn void serve(void)
{
	static struct crypt_data data;
	struct crypt_functions f;
	struct webauth_question q;
	const char *error;

	if (dynlib_load(CRYPT_SONAME, functions, 1, &f, &error) < 0)
		fail(WEBAUTH_NO_LIBRARY);
	/* No file can be opened from here on. */
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){});
	if (!confine())
		fail(WEBAUTH_NOT_CONFINED);
	say(WEBAUTH_READY);
	while (read(0, &q, sizeof(q)) == (ssize_t)sizeof(q)) {
		q.hash[sizeof(q.hash) - 1] = q.password[sizeof(q.password) - 1] = '\0';
		say(fits(&f, &q, &data) ? WEBAUTH_RIGHT : WEBAUTH_WRONG);
		explicit_bzero(&data, sizeof(data));
		explicit_bzero(&q, sizeof(q));
	}
	end(0);
}

/* Maps of BPF that the daemon had before the fork could be written through them. */
static bool unmap_shared(void)
{
	_cleanup_(cleanup_free) char *maps = NULL;
	uintptr_t from, to;
	char kind;

	if (fd_read_all(AT_FDCWD, "/proc/self/maps", MAPS_MAX, &maps) < 0)
		return false;
	for (const char *line = maps; *line; line += *line == '\n') {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*3c%c", &from, &to, &kind) != 3)
			return false;
		if (kind == 's' && munmap((void *)from, to - from) < 0)
			return false;
		line += strcspn(line, "\n");
	}
	return true;
}

static bool give_up_privileges(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	setrlimit(RLIMIT_CORE, &(struct rlimit){});
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
	       syscall(SYS_capset, &head, none) == 0;
}

static _Noreturn void run(int fd, pid_t parent)
{
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fd, 0) < 0)
		end(1);
	/* Signals to the group are the parent's to follow. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	closefrom(1);
	prctl(PR_SET_NAME, "graced-auth");
	/* A courtesy, which a service manager may forbid. */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	if (!unmap_shared() || !give_up_privileges())
		fail(WEBAUTH_NOT_CONFINED);
	serve();
}

int webauth_child_start(pid_t *ret_pid, int *ret_fd)
{
	_cleanup_(cleanup_close) int ours = -1;
	_cleanup_(cleanup_close) int theirs = -1;
	pid_t parent = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		run(theirs, parent);
	*ret_pid = pid;
	*ret_fd = TAKE_FD(ours);
	return 0;
}
