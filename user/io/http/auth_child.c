// SPDX-License-Identifier: Apache-2.0
/* Reads passwords and hashes, says whether they fit, and can do nothing else. */
#include "io/http/auth_child.h"

#include <crypt.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/files/library.h"

#define CRYPT_SONAME "libcrypt.so.1"
#define NICENESS     10

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

static void say(char answer)
{
	if (write(0, &answer, 1) != 1)
		child_end(1);
}

static _Noreturn void fail(char answer)
{
	say(answer);
	child_end(1);
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
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
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
	child_end(0);
}

static void run(void *userdata, bool confined)
{
	/* A courtesy, which a service manager may forbid. */
	setpriority(PRIO_PROCESS, 0, NICENESS);
	if (!confined)
		fail(WEBAUTH_NOT_CONFINED);
	serve();
}

int webauth_child_start(struct child *ret)
{
	return child_start("graced-auth", run, NULL, ret);
}
