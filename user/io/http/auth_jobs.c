// SPDX-License-Identifier: Apache-2.0
/* Hands passwords to the child one by one, and starts it again when it is lost. */
#include "io/http/auth_jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/load/credit.h"
#include "io/http/auth_child.h"
#include "wire/config/web.h"

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
	bool stale; /* nobody wants to know what it was asked */
	uint64_t restart_at_ns;
};

bool webauth_mac_same(const struct webauth_mac *a, const struct webauth_mac *b)
{
	return basicauth_same(a->bytes, b->bytes, sizeof(a->bytes));
}

static void stop_child(struct webauth_jobs *jobs)
{
	if (!jobs->child.pid)
		return;
	jobs->source = sd_event_source_disable_unref(jobs->source);
	close(jobs->child.fd);
	/* It may be in the middle of a password. */
	kill(jobs->child.pid, SIGKILL);
	while (waitpid(jobs->child.pid, NULL, 0) < 0 && errno == EINTR)
		;
	jobs->child.pid = 0;
	jobs->ready = jobs->asked = jobs->stale = false;
}

struct webauth_jobs *webauth_jobs_free(struct webauth_jobs *jobs)
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

void webauth_jobs_drop(struct webauth_jobs *jobs)
{
	jobs->stale = jobs->asked;
	truncate_jobs(jobs, 0);
}

/* Nobody is to wait for what it was asked. */
static void lose_child(struct webauth_jobs *jobs)
{
	uint64_t now_us = 0;

	stop_child(jobs);
	truncate_jobs(jobs, 0);
	sd_event_now(jobs->event, CLOCK_MONOTONIC, &now_us);
	jobs->restart_at_ns = now_us * 1000 + RESTART_NS;
}

static void ask_child(struct webauth_jobs *jobs)
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
	ask_child(jobs);
	jobs->hooks.changed(jobs->hooks.userdata);
	return 0;
}

static int start_child(struct webauth_jobs *jobs)
{
	int r = webauth_child_start(&jobs->child);

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
		{WEBAUTH_NO_LIBRARY, ELIBACC, "libcrypt.so.1 cannot be loaded"},
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

int webauth_jobs_new(sd_event *event, bool wait, const struct webauth_jobs_hooks *hooks,
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

bool webauth_jobs_has(const struct webauth_jobs *jobs, const struct webauth_mac *mac)
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

bool webauth_jobs_add(struct webauth_jobs *jobs, const struct basicauth *who,
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
	ask_child(jobs);
	return true;
}
