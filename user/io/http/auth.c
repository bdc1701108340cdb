// SPDX-License-Identifier: Apache-2.0
/* Knows the users, has a child process check their passwords, and remembers which were right. */
#include "io/http/auth.h"

#include <crypt.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/load/credit.h"
#include "io/files/library.h"
#include "io/http/web.h"
#include "io/proc/child.h"
#include "wire/config/web.h"
#include "wire/http/request.h"

/* --- the child that checks passwords ---------------------------------------------------------- */

#define WEBAUTH_HASH_SIZE 64

struct webauth_question {
	char hash[WEBAUTH_HASH_SIZE];
	char password[BASICAUTH_SIZE];
};

enum {
	WEBAUTH_READY = 'r',
	WEBAUTH_NO_LIBRARY = 'l',
	WEBAUTH_NOT_CONFINED = 'c', /* it could do more than it should, and ends */
	WEBAUTH_RIGHT = '1',
	WEBAUTH_WRONG = '0',
};

#define NICENESS 10

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

static void child_answer(char answer)
{
	if (write(0, &answer, 1) != 1)
		child_end(1);
}

static _Noreturn void child_fail(char answer)
{
	child_answer(answer);
	child_end(1);
}

/* Nothing but read, write and end from here on: who finds a hole in the parsing of passwords
 * gains nothing by it. A filter, for there is no strict mode below another filter, as
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

/* Whether the library of the child is there: 0, or -ELIBACC with *ret_error as dynlib_load(). It
 * stays loaded. */
static int webauth_child_check(const char **ret_error)
{
	struct crypt_functions f;

	return dynlib_load(DYNLIB_CRYPT, functions, 1, &f, ret_error);
}

static _Noreturn void serve(void)
{
	static struct crypt_data data;
	struct crypt_functions f;
	struct webauth_question q;
	const char *error;

	if (dynlib_load(DYNLIB_CRYPT, functions, 1, &f, &error) < 0)
		child_fail(WEBAUTH_NO_LIBRARY);
	/* No file can be opened from here on. */
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){});
	if (!confine())
		child_fail(WEBAUTH_NOT_CONFINED);
	child_answer(WEBAUTH_READY);
	while (read(0, &q, sizeof(q)) == (ssize_t)sizeof(q)) {
		q.hash[sizeof(q.hash) - 1] = q.password[sizeof(q.password) - 1] = '\0';
		child_answer(fits(&f, &q, &data) ? WEBAUTH_RIGHT : WEBAUTH_WRONG);
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
		child_fail(WEBAUTH_NOT_CONFINED);
	serve();
}

/* --- the queue for the child ------------------------------------------------------------------ */

#define WEBAUTH_MAC_SIZE 32

/* A user and a password, as a keyed hash that only this process can make. */
struct webauth_mac {
	unsigned char bytes[WEBAUTH_MAC_SIZE];
};

struct webauth_jobs_hooks {
	void *userdata;
	void (*verdict)(void *userdata, const char *user, const struct webauth_mac *mac,
			bool right);
	void (*changed)(void *userdata); /* after a verdict, or when jobs were lost */
};

struct webauth_jobs;

#define JOBS_MAX   16
#define READY_MS   5000
#define SECOND_NS  UINT64_C(1000000000)
#define RESTART_NS SECOND_NS
#define ROUND_NS   60000 /* what one of bcrypt's 2^cost rounds takes, on the slow side */
#define SHARE	   10	 /* one part in so many of a CPU */
#define BURST_NS   (10 * SECOND_NS)

struct job {
	struct webauth_mac mac;
	char user[BASICAUTH_SIZE];
	struct webauth_question question;
};

struct webauth_jobs {
	sd_event *event;
	struct webauth_jobs_hooks hooks;
	struct job jobs[JOBS_MAX]; /* the first is what the child was asked, unless that is stale */
	size_t n;
	struct credit credit; /* of CLOCK_MONOTONIC: without any nothing more is checked */

	struct child child; /* pid 0: there is none */
	sd_event_source *source;
	bool ready, asked;
	bool stale; /* its answer is not needed any more */
	uint64_t restart_at_ns;
};

static bool webauth_mac_same(const struct webauth_mac *a, const struct webauth_mac *b)
{
	return basicauth_same(a->bytes, b->bytes, sizeof(a->bytes));
}

static void stop_child(struct webauth_jobs *jobs)
{
	if (!jobs->child.pid)
		return;
	jobs->source = sd_event_source_disable_unref(jobs->source);
	child_stop(&jobs->child);
	jobs->ready = jobs->asked = jobs->stale = false;
}

static struct webauth_jobs *webauth_jobs_free(struct webauth_jobs *jobs)
{
	if (!jobs)
		return NULL;
	stop_child(jobs);
	sd_event_unref(jobs->event);
	explicit_bzero(jobs, sizeof(*jobs));
	free(jobs);
	return NULL;
}

DEFINE_CLEANUP(struct webauth_jobs *, webauth_jobs_free);

static void truncate_jobs(struct webauth_jobs *jobs, size_t n)
{
	explicit_bzero(jobs->jobs + n, (JOBS_MAX - n) * sizeof(*jobs->jobs));
	jobs->n = n;
}

static void drop_first(struct webauth_jobs *jobs)
{
	memmove(jobs->jobs, jobs->jobs + 1, (JOBS_MAX - 1) * sizeof(*jobs->jobs));
	truncate_jobs(jobs, jobs->n - 1);
}

/* No verdict comes of what was added before. */
static void webauth_jobs_drop(struct webauth_jobs *jobs)
{
	jobs->stale = jobs->asked;
	truncate_jobs(jobs, 0);
}

/* No client may wait for the passwords that it was given. */
static void lose_child(struct webauth_jobs *jobs)
{
	uint64_t now_us = 0;

	stop_child(jobs);
	truncate_jobs(jobs, 0);
	sd_event_now(jobs->event, CLOCK_MONOTONIC, &now_us);
	jobs->restart_at_ns = now_us * 1000 + RESTART_NS;
}

static void query_child(struct webauth_jobs *jobs)
{
	const struct webauth_question *q = &jobs->jobs[0].question;

	if (!jobs->child.pid || !jobs->ready || jobs->asked || jobs->n == 0)
		return;
	if (send(jobs->child.fd, q, sizeof(*q), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*q))
		jobs->asked = true;
}

static void take_verdict(struct webauth_jobs *jobs, bool right)
{
	const struct job *job = &jobs->jobs[0];

	jobs->asked = false;
	if (jobs->stale) {
		jobs->stale = false;
		return;
	}
	jobs->hooks.verdict(jobs->hooks.userdata, job->user, &job->mac, right);
	drop_first(jobs);
}

static int on_child(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct webauth_jobs *jobs = userdata;
	char answer;
	ssize_t n = recv(fd, &answer, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == 1 && answer == WEBAUTH_READY && !jobs->ready)
		jobs->ready = true;
	else if (n == 1 && jobs->asked && (answer == WEBAUTH_RIGHT || answer == WEBAUTH_WRONG))
		take_verdict(jobs, answer == WEBAUTH_RIGHT);
	else
		lose_child(jobs);
	query_child(jobs);
	jobs->hooks.changed(jobs->hooks.userdata);
	return 0;
}

/*
 * The child's descriptor takes whole questions; each is answered by one byte, before the
 * first comes WEBAUTH_READY, or _NO_LIBRARY or _NOT_CONFINED as the last. The child ends with the
 * descriptor, or its parent.
 */
static int start_child(struct webauth_jobs *jobs)
{
	int r = child_start("graced-auth", run, NULL, &jobs->child);

	if (r < 0)
		return r;
	r = sd_event_add_io(jobs->event, &jobs->source, jobs->child.fd, EPOLLIN, on_child, jobs);
	if (r < 0)
		stop_child(jobs);
	return r < 0 ? r : 0;
}

static int why_not(char answer, struct web_why *ret_why)
{
	static const struct {
		char answer;
		int error;
		const char *text;
	} table[] = {
		{WEBAUTH_NO_LIBRARY, ELIBACC, "libcrypt cannot be loaded"},
		{WEBAUTH_NOT_CONFINED, EPERM, "the process for it may not give up its privileges"},
		{0, ECHILD, "the process for it does not come up"},
	};
	size_t i = 0;

	while (table[i].answer && table[i].answer != answer)
		i++;
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot start to check passwords: %s",
		 table[i].text);
	return -table[i].error;
}

/* Whether it can do its work is known before the server starts. */
static int await_child(struct webauth_jobs *jobs, struct web_why *ret_why)
{
	struct pollfd wait = {.fd = jobs->child.fd, .events = POLLIN};
	char answer = 0;

	if (poll(&wait, 1, READY_MS) == 1 && recv(jobs->child.fd, &answer, 1, MSG_DONTWAIT) == 1 &&
	    answer == WEBAUTH_READY) {
		jobs->ready = true;
		return 0;
	}
	return why_not(answer, ret_why);
}

/* As webauth_new(). */
static int webauth_jobs_new(sd_event *event, bool wait, const struct webauth_jobs_hooks *hooks,
			    struct webauth_jobs **ret, struct web_why *ret_why)
{
	_cleanup_(cleanup_webauth_jobs_free) struct webauth_jobs *jobs = calloc(1, sizeof(*jobs));
	const char *error;
	int r = jobs ? 0 : -ENOMEM;

	if (!wait && webauth_child_check(&error) < 0)
		return why_not(WEBAUTH_NO_LIBRARY, ret_why);
	if (jobs) {
		jobs->event = sd_event_ref(event);
		jobs->hooks = *hooks;
		jobs->credit = (struct credit){.share = SHARE, .burst_ns = BURST_NS};
		r = start_child(jobs);
	}
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot start to check passwords: %s", strerror(-r));
		return r;
	}
	r = wait ? await_child(jobs, ret_why) : 0;
	if (r < 0)
		return r;
	*ret = TAKE_PTR(jobs);
	return 0;
}

static bool webauth_jobs_has(const struct webauth_jobs *jobs, const struct webauth_mac *mac)
{
	for (size_t i = 0; i < jobs->n; i++)
		if (webauth_mac_same(&jobs->jobs[i].mac, mac))
			return true;
	return false;
}

static uint64_t cost_ns(const char *hash)
{
	return (uint64_t)ROUND_NS << webconfig_cost(hash);
}

/* Has a password checked; false: not now, since too many are, or it costs too much. */
static bool webauth_jobs_add(struct webauth_jobs *jobs, const struct basicauth *who,
			     const struct webauth_mac *mac, const char *hash, uint64_t now_ns)
{
	struct job *job = &jobs->jobs[jobs->n];

	if (!jobs->child.pid && now_ns >= jobs->restart_at_ns && start_child(jobs) < 0)
		jobs->restart_at_ns = now_ns + RESTART_NS;
	if (!jobs->child.pid || jobs->n == JOBS_MAX || credit_back_at(&jobs->credit, now_ns))
		return false;
	credit_charge(&jobs->credit, now_ns, cost_ns(hash));
	job->mac = *mac;
	memcpy(job->user, who->user, sizeof(job->user));
	snprintf(job->question.hash, sizeof(job->question.hash), "%s", hash);
	memcpy(job->question.password, who->password, sizeof(job->question.password));
	jobs->n++;
	query_child(jobs);
	return true;
}

/* --- the users -------------------------------------------------------------------------------- */

#define WRONG_MAX 64

struct user {
	char *name, *hash;
	bool known; /* the password, by its mac */
	struct webauth_mac mac;
};

struct webauth {
	struct gtls gtls;
	unsigned char key[WEBAUTH_MAC_SIZE];
	struct user *users;
	size_t n_users;
	struct webauth_mac wrong[WRONG_MAX]; /* a ring */
	size_t n_wrong, next_wrong;
	struct webauth_jobs *jobs;
	void (*changed)(void *userdata);
	void *userdata;
};

static void free_users(struct user *users, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(users[i].name);
		if (users[i].hash)
			explicit_bzero(users[i].hash, strlen(users[i].hash));
		free(users[i].hash);
	}
	free(users);
}

struct webauth *webauth_free(struct webauth *auth)
{
	if (!auth)
		return NULL;
	webauth_jobs_free(auth->jobs);
	free_users(auth->users, auth->n_users);
	explicit_bzero(auth, sizeof(*auth));
	free(auth);
	return NULL;
}

static struct user *find_user(const struct webauth *auth, const char *name)
{
	struct user *found = NULL;
	size_t size = strlen(name) + 1;

	for (size_t i = 0; i < auth->n_users; i++)
		if (strlen(auth->users[i].name) + 1 == size &&
		    basicauth_same(auth->users[i].name, name, size))
			found = &auth->users[i];
	return found;
}

static void on_verdict(void *userdata, const char *name, const struct webauth_mac *mac, bool right)
{
	struct webauth *auth = userdata;
	struct user *user = find_user(auth, name);

	if (right && user) {
		user->known = true;
		user->mac = *mac;
		return;
	}
	auth->wrong[auth->next_wrong] = *mac;
	auth->next_wrong = (auth->next_wrong + 1) % WRONG_MAX;
	auth->n_wrong += auth->n_wrong < WRONG_MAX;
}

static void on_change(void *userdata)
{
	const struct webauth *auth = userdata;

	auth->changed(auth->userdata);
}

static int fail(struct web_why *ret_why, int r, const char *reason)
{
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot start to check passwords: %s",
		 reason);
	return r;
}

int webauth_new(sd_event *event, bool wait, void (*changed)(void *userdata), void *userdata,
		struct webauth **ret, struct web_why *ret_why)
{
	_cleanup_(cleanup_webauth_free) struct webauth *auth = calloc(1, sizeof(*auth));
	const char *error;
	int r;

	if (!auth)
		return fail(ret_why, -ENOMEM, strerror(ENOMEM));
	auth->changed = changed;
	auth->userdata = userdata;
	r = webauth_jobs_new(event, wait, &(struct webauth_jobs_hooks){auth, on_verdict, on_change},
			     &auth->jobs, ret_why);
	if (r < 0)
		return r;
	if (getrandom(auth->key, sizeof(auth->key), 0) != sizeof(auth->key))
		return fail(ret_why, -EIO, "there are no random numbers");
	r = gtls_load(&auth->gtls, &error);
	if (r < 0)
		return fail(ret_why, r, error);
	*ret = TAKE_PTR(auth);
	return 0;
}

static int copy_users(const struct webauth *auth, const struct web_user *users, size_t n,
		      struct user **ret)
{
	struct user *copies = calloc(n + 1, sizeof(*copies));

	for (size_t i = 0; copies && i < n; i++) {
		const struct user *old = find_user(auth, users[i].name);

		copies[i].name = strdup(users[i].name);
		copies[i].hash = strdup(users[i].hash);
		if (!copies[i].name || !copies[i].hash) {
			free_users(copies, n);
			return -ENOMEM;
		}
		if (old && strcmp(old->hash, users[i].hash) == 0) {
			copies[i].known = old->known;
			copies[i].mac = old->mac;
		}
	}
	*ret = copies;
	return copies ? 0 : -ENOMEM;
}

int webauth_set_users(struct webauth *auth, const struct web_user *users, size_t n)
{
	struct user *copies;
	int r = copy_users(auth, users, n, &copies);

	if (r < 0)
		return r;
	free_users(auth->users, auth->n_users);
	auth->users = copies;
	auth->n_users = n;
	auth->n_wrong = auth->next_wrong = 0;
	webauth_jobs_drop(auth->jobs);
	auth->changed(auth->userdata);
	return 0;
}

static bool make_mac(const struct webauth *auth, const struct basicauth *who,
		     struct webauth_mac *ret)
{
	char text[2 * BASICAUTH_SIZE];
	size_t user = strlen(who->user) + 1, password = strlen(who->password);
	bool ok;

	memcpy(text, who->user, user);
	memcpy(text + user, who->password, password);
	ok = auth->gtls.hmac_fast(GNUTLS_MAC_SHA256, auth->key, sizeof(auth->key), text,
				  user + password, ret->bytes) == 0;
	explicit_bzero(text, sizeof(text));
	return ok;
}

static bool is_wrong(const struct webauth *auth, const struct webauth_mac *mac)
{
	for (size_t i = 0; i < auth->n_wrong; i++)
		if (webauth_mac_same(&auth->wrong[i], mac))
			return true;
	return false;
}

/* The hash that is checked for a user that does not exist: it takes as long as any other. */
static const char *dearest_hash(const struct webauth *auth)
{
	const char *dearest = auth->users[0].hash;

	for (size_t i = 1; i < auth->n_users; i++)
		if (webconfig_cost(auth->users[i].hash) > webconfig_cost(dearest))
			dearest = auth->users[i].hash;
	return dearest;
}

static enum webauth_verdict judge(struct webauth *auth, const struct basicauth *who,
				  uint64_t now_ns)
{
	const struct user *user = find_user(auth, who->user);
	struct webauth_mac mac;

	if (!make_mac(auth, who, &mac))
		return WEBAUTH_BUSY;
	if (user && user->known && webauth_mac_same(&user->mac, &mac))
		return WEBAUTH_YES;
	if (is_wrong(auth, &mac))
		return WEBAUTH_NO;
	if (webauth_jobs_has(auth->jobs, &mac) ||
	    webauth_jobs_add(auth->jobs, who, &mac, user ? user->hash : dearest_hash(auth), now_ns))
		return WEBAUTH_WAIT;
	return WEBAUTH_BUSY;
}

enum webauth_verdict webauth_query(struct webauth *auth, const char *header, uint64_t now_ns)
{
	enum webauth_verdict verdict;
	struct basicauth who;

	if (auth->n_users == 0)
		return WEBAUTH_YES;
	if (!basicauth_parse(header, &who))
		return WEBAUTH_NO;
	verdict = judge(auth, &who, now_ns);
	explicit_bzero(&who, sizeof(who));
	return verdict;
}
