// SPDX-License-Identifier: Apache-2.0
/* Remembers passwords, keeps a queue of those to be checked, and an account of what that costs. */
#include "io/webauth.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/webauth_child.h"
#include "wire/basicauth.h"
#include "wire/webconfig.h"

#define MAC_SIZE   32
#define WRONG_MAX  64 /* wrong passwords remembered */
#define JOBS_MAX   16
#define SECOND_NS  UINT64_C(1000000000)
#define READY_MS   5000
#define ROUND_NS   60000 /* what one of bcrypt's 2^cost rounds takes, on the slow side */
#define SHARE	   10	 /* one part in so many of a CPU */
#define BURST_NS   (10 * SECOND_NS)
#define RESTART_NS SECOND_NS

struct mac {
	unsigned char bytes[MAC_SIZE];
};

struct user {
	char *name, *hash;
	bool known; /* the password, by its mac */
	struct mac mac;
};

struct job {
	struct mac mac;
	char name[BASICAUTH_SIZE];
	struct webauth_question question;
};

struct webauth {
	sd_event *event;
	int64_t priority;
	void (*told)(void *userdata);
	void *userdata;
	struct gtls gtls;
	unsigned char key[MAC_SIZE];

	struct user *users;
	size_t n_users;
	struct mac wrong[WRONG_MAX]; /* a ring */
	size_t n_wrong, next_wrong;
	struct job jobs[JOBS_MAX]; /* the first is with the child, when that is busy */
	size_t n_jobs;
	uint64_t paid_ns; /* of CLOCK_MONOTONIC: in the future when nothing more is checked */

	pid_t pid; /* 0: there is no child */
	int fd;
	sd_event_source *source;
	bool ready, asked;
	bool stale; /* what was asked is of no interest any more */
	uint64_t restart_at_ns;
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

static void stop_child(struct webauth *auth)
{
	if (!auth->pid)
		return;
	auth->source = sd_event_source_disable_unref(auth->source);
	close(auth->fd);
	/* It may be in the middle of a password. */
	kill(auth->pid, SIGKILL);
	while (waitpid(auth->pid, NULL, 0) < 0 && errno == EINTR)
		;
	auth->pid = 0;
	auth->ready = auth->asked = auth->stale = false;
}

struct webauth *webauth_free(struct webauth *auth)
{
	if (!auth)
		return NULL;
	stop_child(auth);
	free_users(auth->users, auth->n_users);
	sd_event_unref(auth->event);
	explicit_bzero(auth, sizeof(*auth));
	free(auth);
	return NULL;
}

static void drop_jobs(struct webauth *auth, size_t from)
{
	explicit_bzero(auth->jobs + from, (JOBS_MAX - from) * sizeof(*auth->jobs));
	auth->n_jobs = from < auth->n_jobs ? from : auth->n_jobs;
}

static void drop_first_job(struct webauth *auth)
{
	memmove(auth->jobs, auth->jobs + 1, (JOBS_MAX - 1) * sizeof(*auth->jobs));
	drop_jobs(auth, auth->n_jobs - 1);
}

/* There is none, and nobody is to wait for it. */
static void lose_child(struct webauth *auth)
{
	uint64_t now_us = 0;

	stop_child(auth);
	drop_jobs(auth, 0);
	sd_event_now(auth->event, CLOCK_MONOTONIC, &now_us);
	auth->restart_at_ns = now_us * 1000 + RESTART_NS;
	auth->told(auth->userdata);
}

/* Gives the child what is first in the queue. */
static void put_question(struct webauth *auth)
{
	const struct webauth_question *q = &auth->jobs[0].question;

	if (!auth->pid || !auth->ready || auth->asked || auth->n_jobs == 0)
		return;
	if (send(auth->fd, q, sizeof(*q), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*q))
		auth->asked = true;
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

static void take_verdict(struct webauth *auth, bool right)
{
	const struct job *job = &auth->jobs[0];
	struct user *user = find_user(auth, job->name);

	auth->asked = false;
	if (auth->stale) {
		auth->stale = false;
		return;
	}
	if (right && user) {
		user->known = true;
		user->mac = job->mac;
	} else {
		auth->wrong[auth->next_wrong] = job->mac;
		auth->next_wrong = (auth->next_wrong + 1) % WRONG_MAX;
		auth->n_wrong += auth->n_wrong < WRONG_MAX;
	}
	drop_first_job(auth);
}

static int on_child(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct webauth *auth = userdata;
	char answer;
	ssize_t n = recv(fd, &answer, 1, MSG_DONTWAIT);

	(void)source;
	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n == 1 && answer == WEBAUTH_READY && !auth->ready) {
		auth->ready = true;
	} else if (n == 1 && auth->asked && (answer == WEBAUTH_RIGHT || answer == WEBAUTH_WRONG)) {
		take_verdict(auth, answer == WEBAUTH_RIGHT);
	} else {
		lose_child(auth);
		return 0;
	}
	put_question(auth);
	auth->told(auth->userdata);
	return 0;
}

static int start_child(struct webauth *auth)
{
	int r = webauth_child_start(&auth->pid, &auth->fd);

	if (r < 0)
		return r;
	r = sd_event_add_io(auth->event, &auth->source, auth->fd, EPOLLIN, on_child, auth);
	if (r >= 0)
		r = sd_event_source_set_priority(auth->source, auth->priority);
	if (r < 0)
		stop_child(auth);
	return r < 0 ? r : 0;
}

static int await_child(struct webauth *auth, struct web_why *ret_why)
{
	struct pollfd wait = {.fd = auth->fd, .events = POLLIN};
	char answer = 0;

	if (poll(&wait, 1, READY_MS) == 1 && recv(auth->fd, &answer, 1, MSG_DONTWAIT) == 1 &&
	    answer == WEBAUTH_READY) {
		auth->ready = true;
		return 0;
	}
	snprintf(ret_why->text, sizeof(ret_why->text), "cannot start to check passwords: %s",
		 answer == WEBAUTH_NO_LIBRARY ? "libcrypt.so.1 cannot be loaded"
					      : "the process for it does not come up");
	return answer == WEBAUTH_NO_LIBRARY ? -ELIBACC : -ECHILD;
}

static int set_up(struct webauth *auth, struct web_why *ret_why)
{
	const char *error;
	int r = start_child(auth);

	if (r == 0) {
		r = await_child(auth, ret_why);
		if (r < 0)
			return r;
	}
	if (r == 0 && getrandom(auth->key, sizeof(auth->key), 0) != sizeof(auth->key))
		r = -errno;
	if (r < 0) {
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot start to check passwords: %s", strerror(-r));
		return r;
	}
	r = gtls_load(&auth->gtls, &error);
	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot start to check passwords: %s", error);
	return r;
}

int webauth_new(sd_event *event, int64_t priority, void (*told)(void *userdata), void *userdata,
		struct webauth **ret, struct web_why *ret_why)
{
	_cleanup_(cleanup_webauth_free) struct webauth *auth = calloc(1, sizeof(*auth));
	int r;

	if (!auth) {
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot start to check passwords: out of memory");
		return -ENOMEM;
	}
	auth->event = sd_event_ref(event);
	auth->priority = priority;
	auth->told = told;
	auth->userdata = userdata;
	r = set_up(auth, ret_why);
	if (r < 0)
		return r;
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
	auth->stale = auth->asked;
	drop_jobs(auth, 0);
	auth->told(auth->userdata);
	return 0;
}

static bool make_mac(const struct webauth *auth, const struct basicauth *who, struct mac *ret)
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

static bool same(const struct mac *a, const struct mac *b)
{
	return basicauth_same(a->bytes, b->bytes, MAC_SIZE);
}

static bool is_wrong(const struct webauth *auth, const struct mac *mac)
{
	for (size_t i = 0; i < auth->n_wrong; i++)
		if (same(&auth->wrong[i], mac))
			return true;
	return false;
}

static bool is_queued(const struct webauth *auth, const struct mac *mac)
{
	for (size_t i = 0; i < auth->n_jobs; i++)
		if (same(&auth->jobs[i].mac, mac))
			return true;
	return false;
}

/* The hash that is checked in the name of somebody who is not there: it takes as long as any. */
static const char *dearest_hash(const struct webauth *auth)
{
	const char *dearest = auth->users[0].hash;

	for (size_t i = 1; i < auth->n_users; i++)
		if (webconfig_cost(auth->users[i].hash) > webconfig_cost(dearest))
			dearest = auth->users[i].hash;
	return dearest;
}

/* False: it is not to be had now. */
static bool pay(struct webauth *auth, const char *hash, uint64_t now_ns)
{
	uint64_t floor_ns = now_ns > BURST_NS ? now_ns - BURST_NS : 0;

	if (auth->paid_ns > now_ns)
		return false;
	if (auth->paid_ns < floor_ns)
		auth->paid_ns = floor_ns;
	auth->paid_ns += ((uint64_t)ROUND_NS << webconfig_cost(hash)) * SHARE;
	return true;
}

static enum webauth_verdict enqueue(struct webauth *auth, const struct basicauth *who,
				    const struct mac *mac, uint64_t now_ns)
{
	const struct user *user = find_user(auth, who->user);
	const char *hash = user ? user->hash : dearest_hash(auth);
	struct job *job = &auth->jobs[auth->n_jobs];

	if (!auth->pid && now_ns >= auth->restart_at_ns && start_child(auth) < 0)
		auth->restart_at_ns = now_ns + RESTART_NS;
	/* While a stale question is with the child, the first job is none that it was asked. */
	if (!auth->pid || auth->n_jobs == JOBS_MAX || !pay(auth, hash, now_ns))
		return WEBAUTH_BUSY;
	job->mac = *mac;
	memcpy(job->name, who->user, sizeof(job->name));
	snprintf(job->question.hash, sizeof(job->question.hash), "%s", hash);
	memcpy(job->question.password, who->password, sizeof(job->question.password));
	auth->n_jobs++;
	put_question(auth);
	return WEBAUTH_WAIT;
}

static enum webauth_verdict judge(struct webauth *auth, const struct basicauth *who,
				  uint64_t now_ns)
{
	const struct user *user = find_user(auth, who->user);
	struct mac mac;

	if (!make_mac(auth, who, &mac))
		return WEBAUTH_BUSY;
	if (user && user->known && same(&user->mac, &mac))
		return WEBAUTH_YES;
	if (is_wrong(auth, &mac))
		return WEBAUTH_NO;
	return is_queued(auth, &mac) ? WEBAUTH_WAIT : enqueue(auth, who, &mac, now_ns);
}

enum webauth_verdict webauth_ask(struct webauth *auth, const char *header, uint64_t now_ns)
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
