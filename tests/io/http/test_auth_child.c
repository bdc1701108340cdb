// SPDX-License-Identifier: Apache-2.0
/* Claims about the child of io/http/auth: what it cannot do, and how it comes and goes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "lib/claim.h"
#include "lib/net/webc.h"

/* "secret" and "other", at the lowest cost. */
#define SECRET "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define OTHER  "$2y$04$abcdefghijklmnopqrstuu0HtfOlPbTiymk5tcV.3TsFPDd3SYZqu"

#define SHARED ((size_t)1 << 16)

static const struct web_user users[] = {{"joe", SECRET}, {"j.doe", OTHER}};
static const struct web_config two = {.users = users, .n_users = LEN(users)};

static unsigned int get(struct site *site, const char *both)
{
	return webc_get(site, "/", both ? webc_credentials(both) : "", NULL);
}

/* The only child of this process; 0: there is none. */
static pid_t find_child(void)
{
	char path[64], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return atoi(text);
}

static void expect_status(pid_t pid, const char *line)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	assert_true(fd_read_all(AT_FDCWD, path, 1 << 16, &text) > 0);
	if (!strstr(text, line))
		fail_msg("%s is not in %s", line, text);
}

static void expect_nothing_shared(pid_t pid)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[64], kind;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (fd_read_all(AT_FDCWD, path, 4 << 20, &text) < 0) {
		print_message("not shown: its memory is not ours to see\n");
		return;
	}
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		assert_int_equal(sscanf(line, "%*x-%*x %*3c%c", &kind), 1);
		assert_int_equal(kind, 'p');
	}
}

static void test_confined(void **state)
{
	void *shared =
		mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct site site;
	char path[64];
	pid_t child;

	assert_ptr_not_equal(shared, MAP_FAILED);
	site_open(&site, &two);
	child = find_child();
	if (child == 0) {
		print_message("not shown: this kernel does not list children\n");
		site_close(&site);
		return;
	}
	expect_status(child, "\nCapPrm:\t0000000000000000\n");
	expect_status(child, "\nCapEff:\t0000000000000000\n");
	expect_status(child, "\nNoNewPrivs:\t1\n");
	expect_status(child, "\nSeccomp:\t2\n");
	snprintf(path, sizeof(path), "/proc/%d/fd/1", child);
	assert_int_equal(access(path, F_OK), -1);
	expect_nothing_shared(child);
	munmap(shared, SHARED);
	site_close(&site);
}

/* From here on this process gets EPERM for a system call whose first argument has these bits among
 * those of mask. */
static void forbid(unsigned int number, unsigned int mask, unsigned int first)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = LEN(steps), .filter = steps};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(99);
}

static int start(void)
{
	static const char *const loopback[] = {"127.0.0.1:0"};
	struct web_config config = two;
	sd_event *event = NULL;
	struct web *web = NULL;
	struct web_why why;

	config.listen = loopback;
	config.n_listen = 1;
	if (mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) ==
	    MAP_FAILED)
		return 97;
	if (sd_event_new(&event) < 0)
		return 98;
	return -web_new(event, &config, NULL, NULL, &web, &why);
}

static void test_not_confined(void **state)
{
	static const struct {
		const char *what;
		unsigned int number, mask, first;
		int error;
	} table[] = {
		{"a filter", SYS_prctl, UINT_MAX, PR_SET_SECCOMP, EPERM},
		{"no capabilities", SYS_capset, 0, 0, EPERM},
		{"no privileges by programs", SYS_prctl, UINT_MAX, PR_SET_NO_NEW_PRIVS, EPERM},
		{"being no debugger's", SYS_prctl, UINT_MAX, PR_SET_DUMPABLE, EPERM},
		{"no shared memory", SYS_munmap, 0, 0, EPERM},
		{"being nice", SYS_setpriority, 0, 0, 0},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		pid_t pid;
		int status;

		print_message("# %s\n", table[i].what);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			forbid(table[i].number, table[i].mask, table[i].first);
			_exit(start());
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), table[i].error);
	}
}

static int reload_without_filter(void)
{
	static const struct web_config none;
	struct web_why why;
	struct site site;

	site_open(&site, &none);
	forbid(SYS_prctl, UINT_MAX, PR_SET_SECCOMP);
	if (web_reload(site.web, &two, &why) != 0)
		return 1;
	if (get(&site, NULL) != 401)
		return 2;
	return get(&site, "joe:secret") == 429 ? 0 : 3;
}

/* Had it waited for the child, it would know. */
static void test_reload_waits_not(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(reload_without_filter());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_child(void **state)
{
	struct site site;
	pid_t child;

	site_open(&site, &two);
	child = find_child();
	if (child == 0) {
		print_message("not shown: this kernel does not list children\n");
		site_close(&site);
		return;
	}
	assert_int_equal(get(&site, "joe:secret"), 200);
	assert_int_equal(kill(child, SIGKILL), 0);
	/* Known passwords need no child. */
	assert_int_equal(get(&site, "joe:secret"), 200);
	while (get(&site, "j.doe:other") != 200)
		site_turn(&site);
	assert_int_not_equal(find_child(), child);
	child = find_child();
	site_close(&site);
	assert_int_equal(find_child(), 0);
	assert_int_equal(kill(child, 0), -1);
}

static void test_nothing_left(void **state)
{
	unsigned int fds = 0;

	for (int i = 0; i < 5; i++) {
		struct site site;

		site_open(&site, &two);
		assert_int_equal(get(&site, "joe:secret"), 200);
		site_close(&site);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		if (i == 0)
			fds = site_count_fds();
	}
	assert_int_equal(site_count_fds(), fds);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the child that checks has given up all else", test_confined),
		CLAIM("without giving up all else it does not start", test_not_confined),
		CLAIM("a reload does not wait for the child of its first users",
		      test_reload_waits_not),
		CLAIM("a child that dies is replaced, and gone at the end", test_child),
		CLAIM("nothing is left behind", test_nothing_left),
	};

	return cmocka_run_group_tests_name("webauth, the child", tests, NULL, NULL);
}
