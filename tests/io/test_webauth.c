// SPDX-License-Identifier: Apache-2.0
/* Claims about io/webauth: whose password lets them see the pages, and what guessing costs. */
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

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/fd.h"
#include "lib/claim.h"
#include "lib/webc.h"

/* "secret" and "other", at the lowest cost and at the usual one. */
#define SECRET	 "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define OTHER	 "$2y$04$abcdefghijklmnopqrstuu0HtfOlPbTiymk5tcV.3TsFPDd3SYZqu"
#define SECRET2A "$2a$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define DEAR	 "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"

#define SHARED ((size_t)1 << 16)

static const struct web_user users[] = {{"joe", SECRET}, {"j.doe", OTHER}, {"old", SECRET2A}};
static const struct web_config three = {.users = users, .n_users = LEN(users)};

static const struct web_user dear[] = {{"joe", DEAR}};
static const struct web_config one_dear = {.users = dear, .n_users = 1};

/* A header line for "user:password"; valid until the next call. */
static const char *credentials(const char *both)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	static char line[1024];
	size_t len = strlen(both), n;

	strcpy(line, "Authorization: Basic ");
	n = strlen(line);
	for (size_t i = 0; i < len; i += 3) {
		unsigned int bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < len ? (unsigned char)both[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			line[n++] = i + k > len ? '=' : digits[bits >> (18 - 6 * k) & 63];
	}
	strcpy(line + n, "\r\n");
	return line;
}

static unsigned int get(struct site *site, const char *path, const char *both)
{
	return webc_get(site, path, both ? credentials(both) : "", NULL);
}

static void test_users(void **state)
{
	static const struct {
		const char *both; /* NULL: no header */
		unsigned int status;
	} table[] = {
		{"joe:secret", 200},  {"j.doe:other", 200}, {"old:secret", 200},
		{NULL, 401},	      {"joe:other", 401},   {"joe:", 401},
		{"joe:secret ", 401}, {"Joe:secret", 401},  {"nobody:secret", 401},
		{":secret", 401},     {"joe", 401},	    {"j.doe:secret", 401},
		{"old:Secret", 401},  {"joe:*", 401},	    {"joe:" SECRET, 401},
		{"joe:secret", 200},
	};
	struct site site;

	(void)state;
	site_open(&site, &three);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < LEN(table); i++) {
			print_message("# %s\n", table[i].both ? table[i].both : "nobody");
			assert_int_equal(get(&site, "/", table[i].both), table[i].status);
		}
	}
	site_close(&site);
}

static void test_every_page(void **state)
{
	static const char *const paths[] = {"/",      "/metrics", "/each",
					    "/moved", "/nothing", "/broken"};
	struct webc_reply reply;
	struct site site;

	(void)state;
	site_open(&site, &three);
	assert_int_equal(get(&site, "/metrics", "joe:secret"), 200);
	site.rendered = 0;
	for (size_t i = 0; i < LEN(paths); i++) {
		assert_int_equal(webc_get(&site, paths[i], "", &reply), 401);
		assert_string_equal(webc_header(&reply, "WWW-Authenticate"),
				    "Basic realm=\"graced\"");
		webc_reply_free(&reply);
	}
	assert_int_equal(site.rendered, 0);
	assert_int_equal(site_stats(&site).requests[4], LEN(paths));
	site_close(&site);
}

static void test_odd_headers(void **state)
{
	static const char *const lines[] = {
		"Authorization: Bearer am9lOnNlY3JldA==\r\n",
		"Authorization: Basic\r\n",
		"Authorization: Basic am9lOnNlY3JldA===\r\n",
		"Authorization: Basic am9lOnNlY3JldAB4\r\n", /* joe:secret, a NUL and x */
		"Authorization: \r\n",
		"X-Authorization: Basic am9lOnNlY3JldA==\r\n",
	};
	struct site site;

	(void)state;
	site_open(&site, &three);
	for (size_t i = 0; i < LEN(lines); i++)
		assert_int_equal(webc_get(&site, "/", lines[i], NULL), 401);
	assert_int_equal(webc_get(&site, "/", "Authorization: Basic am9lOnNlY3JldA==\r\n", NULL),
			 200);
	site_close(&site);
}

static void test_waiting(void **state)
{
	enum { CLIENTS = 40 };
	struct webc clients[CLIENTS];
	struct webc_reply reply;
	struct site site;

	(void)state;
	site_open(&site, &one_dear);
	for (size_t i = 0; i < CLIENTS; i++) {
		webc_open(&site, &clients[i]);
		assert_true(webc_sends(&site, &clients[i], "GET / HTTP/1.1\r\nHost: x\r\n"));
		assert_true(webc_sends(&site, &clients[i],
				       credentials(i % 2 ? "joe:secret" : "joe:wrong")));
		assert_true(webc_sends(&site, &clients[i], "\r\n"));
	}
	/* Some leave before the verdict. */
	for (size_t i = 0; i < CLIENTS; i += 4)
		webc_reset(&clients[i]);
	for (size_t i = 0; i < CLIENTS; i++) {
		if (i % 4 == 0)
			continue;
		assert_true(webc_reply(&site, &clients[i], false, &reply));
		assert_int_equal(reply.status, i % 2 ? 200 : 401);
		webc_reply_free(&reply);
		webc_close(&clients[i]);
	}
	site_await_empty(&site);
	site_close(&site);
}

static void test_closed_while_waiting(void **state)
{
	struct web_config small = one_dear;
	struct webc clients[9];
	struct site site;

	(void)state;
	small.max_connections = 4;
	site_open(&site, &small);
	for (size_t i = 0; i < LEN(clients); i++) {
		char both[32];

		snprintf(both, sizeof(both), "joe:wrong%zu", i);
		webc_open(&site, &clients[i]);
		assert_true(webc_sends(&site, &clients[i], "GET / HTTP/1.1\r\nHost: x\r\n"));
		assert_true(webc_sends(&site, &clients[i], credentials(both)));
		assert_true(webc_sends(&site, &clients[i], "\r\n"));
		site_settle(&site);
	}
	while (site_stats(&site).evicted < LEN(clients) - 4)
		site_turn(&site);
	for (size_t i = 0; i < LEN(clients); i++)
		webc_close(&clients[i]);
	site_await_empty(&site);
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	/* And ends with some of them waiting. */
	for (size_t i = 0; i < 3; i++) {
		webc_open(&site, &clients[i]);
		assert_true(webc_sends(&site, &clients[i], "GET / HTTP/1.1\r\nHost: x\r\n"));
		assert_true(webc_sends(&site, &clients[i], credentials("joe:last")));
		assert_true(webc_sends(&site, &clients[i], "\r\n"));
		site_settle(&site);
	}
	site_close(&site);
	for (size_t i = 0; i < 3; i++)
		webc_close(&clients[i]);
}

static void begin_guess(struct site *site, int i, struct webc *ret)
{
	char both[32];

	snprintf(both, sizeof(both), "%s:guess%d", i % 2 ? "joe" : "nobody", i);
	webc_open(site, ret);
	assert_true(webc_sends(site, ret, "GET / HTTP/1.1\r\nHost: x\r\n"));
	assert_true(webc_sends(site, ret, credentials(both)));
	assert_true(webc_sends(site, ret, "\r\n"));
}

static void test_flood(void **state)
{
	enum { GUESSES = 200 };
	struct webc clients[GUESSES];
	unsigned int wrong = 0, busy = 0;
	struct webc_reply reply;
	struct site site;

	(void)state;
	site_open(&site, &one_dear);
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	for (int i = 0; i < GUESSES; i++)
		begin_guess(&site, i, &clients[i]);
	for (int i = 0; i < GUESSES; i++) {
		assert_int_equal(get(&site, "/", "joe:secret"), 200);
		assert_true(webc_reply(&site, &clients[i], false, &reply));
		if (reply.status == 429)
			assert_string_equal(webc_header(&reply, "Retry-After"), "1");
		wrong += reply.status == 401;
		busy += reply.status == 429;
		webc_reply_free(&reply);
		webc_close(&clients[i]);
	}
	print_message("# %u checked, %u turned away\n", wrong, busy);
	assert_int_equal(wrong + busy, GUESSES);
	assert_true(wrong > 0);
	assert_true(busy >= GUESSES / 2);
	site_close(&site);
}

static void test_reload(void **state)
{
	static const struct web_user changed[] = {{"joe", OTHER}, {"new", SECRET}};
	static const struct web_config next = {.users = changed, .n_users = LEN(changed)};
	static const struct web_config none;
	struct web_why why;
	struct site site;

	(void)state;
	site_open(&site, &three);
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	assert_int_equal(get(&site, "/", "joe:other"), 401);
	assert_int_equal(web_reload(site.web, &next, &why), 0);
	assert_int_equal(get(&site, "/", "joe:secret"), 401);
	assert_int_equal(get(&site, "/", "joe:other"), 200);
	assert_int_equal(get(&site, "/", "new:secret"), 200);
	assert_int_equal(get(&site, "/", "old:secret"), 401);
	assert_int_equal(web_reload(site.web, &none, &why), 0);
	assert_int_equal(get(&site, "/", NULL), 200);
	assert_int_equal(web_reload(site.web, &three, &why), 0);
	assert_int_equal(get(&site, "/", NULL), 401);
	assert_int_equal(get(&site, "/", "old:secret"), 200);
	site_close(&site);
	site_open(&site, &none);
	assert_int_equal(get(&site, "/", NULL), 200);
	assert_int_equal(web_reload(site.web, &three, &why), 0);
	assert_int_equal(get(&site, "/", NULL), 401);
	site_close(&site);
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

	(void)state;
	assert_ptr_not_equal(shared, MAP_FAILED);
	site_open(&site, &three);
	child = find_child();
	if (child == 0) {
		print_message("not shown: this kernel does not tell children\n");
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
	struct web_config config = three;
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

	(void)state;
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

static void test_child(void **state)
{
	struct site site;
	pid_t child;

	(void)state;
	site_open(&site, &three);
	child = find_child();
	if (child == 0) {
		print_message("not shown: this kernel does not tell children\n");
		site_close(&site);
		return;
	}
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	assert_int_equal(kill(child, SIGKILL), 0);
	/* Known passwords need no child. */
	assert_int_equal(get(&site, "/", "joe:secret"), 200);
	while (get(&site, "/", "j.doe:other") != 200)
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

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct site site;

		site_open(&site, &three);
		assert_int_equal(get(&site, "/", "joe:secret"), 200);
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
		CLAIM("a user is who has the password, whoever else asks before", test_users),
		CLAIM("no page is shown or made without one", test_every_page),
		CLAIM("what is no header of the Basic scheme is no user", test_odd_headers),
		CLAIM("requests wait for the verdict, and may leave before", test_waiting),
		CLAIM("what waits can be evicted, and the server end", test_closed_while_waiting),
		CLAIM("a flood of guesses is turned away while a known password is good",
		      test_flood),
		CLAIM("users change at once, and others' passwords with them", test_reload),
		CLAIM("the child that checks has given up all else", test_confined),
		CLAIM("without giving up all else it does not start", test_not_confined),
		CLAIM("a child that dies is replaced, and gone at the end", test_child),
		CLAIM("nothing is left behind", test_nothing_left),
	};

	return cmocka_run_group_tests_name("webauth", tests, NULL, NULL);
}
