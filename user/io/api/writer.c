// SPDX-License-Identifier: Apache-2.0
/* Decides when each request is attempted, and what an answer makes of it. */
#include "io/api/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/retry.h"
#include "base/time.h"
#include "io/loop/loop.h"
#include "io/sources/kubelet/kubelet.h"

#define REQUESTS_MAX   256
#define IN_FLIGHT      2
#define TIMEOUT_NS     (10 * NS_PER_S)
#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LAST_NS  (30 * NS_PER_S)

struct entry {
	struct apiwriter *writer;
	TAILQ_ENTRY(entry) link;
	char key[APIWRITER_KEY_MAX]; /* "": none */
	char method[8], type[APIWRITER_TYPE_MAX];
	char *url;
	char *body; /* NULL: none */
	size_t body_len;
	uint64_t deadline_ns; /* 0: none */
	apiwriter_done_fn done;
	void *userdata;
	unsigned int attempts;
	long status;		 /* of the last answer */
	bool reread;		 /* a 401 had the secrets read anew */
	struct fetch_call *call; /* NULL: it waits */
};

struct apiwriter {
	sd_event *event;
	struct fetch *fetch;
	char *url;			    /* of the server, without a slash at its end */
	struct source_kubelet_options peer; /* its files and names: copies */
	size_t requests_max;
	unsigned int in_flight;
	uint64_t timeout_ns, retry_first_ns, retry_last_ns;
	void (*idle)(void *userdata);
	void *userdata;

	TAILQ_HEAD(, entry) queue; /* in the order of their next attempt */
	size_t n, bytes;
	unsigned int flying;
	bool idle_due;		/* the last one ended, and idle() was not called yet */
	sd_event_source *timer; /* the next deadline, or the end of a wait */
	struct defer work;	/* attempts; callbacks apart from those of fetch */
	struct apiwriter_state state;
};

static uint64_t now_ns(const struct apiwriter *w)
{
	uint64_t usec = 0;

	sd_event_now(w->event, CLOCK_BOOTTIME, &usec);
	return usec * 1000;
}

static void wake(struct apiwriter *w)
{
	defer_enable(&w->work);
}

/* --- the queue ---------------------------------------------------------------------------------- */

static struct entry *free_entry(struct entry *e)
{
	if (!e)
		return NULL;
	fetch_cancel(e->call);
	free(e->url);
	free(e->body);
	free(e);
	return NULL;
}

/* One with the key, under way or waiting, other than that one. */
static struct entry *find_key(const struct apiwriter *w, const char *key, bool flying,
			      const struct entry *other_than)
{
	struct entry *e;

	TAILQ_FOREACH(e, &w->queue, link)
		if (e != other_than && (e->call != NULL) == flying && key[0] &&
		    strcmp(e->key, key) == 0)
			return e;
	return NULL;
}

/* Takes it out of the queue and reports what came of it. answer: NULL, or the decision. */
static void end(struct entry *e, enum apiwriter_end how, const struct fetch_result *answer,
		const char *text)
{
	struct apiwriter *w = e->writer;
	struct apiwriter_result result = {
		.end = how,
		.status = e->status,
		.attempts = e->attempts,
		.body = answer ? answer->body : "",
		.len = answer ? answer->len : 0,
		.text = text,
	};

	TAILQ_REMOVE(&w->queue, e, link);
	w->n--;
	w->bytes -= e->body_len;
	if (e->call)
		w->flying--;
	e->call = fetch_cancel(e->call);
	w->state.counts.ended[how]++;
	w->idle_due = w->n == 0;
	wake(w);
	e->done(e->userdata, &result);
	free_entry(e);
}

/* --- answers ------------------------------------------------------------------------------------ */

/* All wait, for retry_s at least where the server asks for that. */
static void back_off(struct apiwriter *w, const char *text, uint32_t retry_s)
{
	uint64_t wait_ns = backoff_ns(w->retry_first_ns, w->retry_last_ns, w->state.failures++);
	uint64_t asked_ns;

	if (retry_s > APIWRITER_RETRY_AFTER_MAX_S)
		retry_s = APIWRITER_RETRY_AFTER_MAX_S;
	asked_ns = retry_s * (uint64_t)NS_PER_S;
	w->state.retry_ns = now_ns(w) + (asked_ns > wait_ns ? asked_ns : wait_ns);
	w->state.counts.failures++;
	snprintf(w->state.text, sizeof(w->state.text), "%s", text);
}

/* To be attempted again, unless a later one with its key waits: there is one at most then. */
static void keep(struct entry *e)
{
	if (find_key(e->writer, e->key, false, e))
		end(e, APIWRITER_SUPERSEDED, NULL, "a later request took its place");
	else
		wake(e->writer);
}

/* There was no decision. It goes to the end of the queue, so that a request that the server cannot
 * serve does not keep others from theirs. */
static void retry(struct entry *e, const char *text, uint32_t retry_s)
{
	back_off(e->writer, text, retry_s);
	TAILQ_REMOVE(&e->writer->queue, e, link);
	TAILQ_INSERT_TAIL(&e->writer->queue, e, link);
	keep(e);
}

static bool is_decision(const struct fetch_result *answer)
{
	return !answer->error && answer->status < 500 && answer->status != 429;
}

static void on_answer(void *userdata, const struct fetch_result *answer)
{
	struct entry *e = userdata;
	struct apiwriter *w = e->writer;

	e->call = NULL;
	e->status = answer->status;
	w->flying--;
	if (!is_decision(answer)) {
		retry(e, answer->text, answer->retry_after_s);
		return;
	}
	w->state.failures = 0;
	w->state.retry_ns = 0;
	if (answer->status == 401 && !e->reread) {
		e->reread = true;
		keep(e);
		return;
	}
	end(e, answer->status >= 200 && answer->status < 300 ? APIWRITER_DONE : APIWRITER_REFUSED,
	    answer, answer->text);
}

/* --- attempts ----------------------------------------------------------------------------------- */

/* 0, or the failure is noted. */
static int attempt(struct entry *e)
{
	struct apiwriter *w = e->writer;
	const char *headers[] = {"Accept: application/json", "Expect:", NULL, NULL};
	char type[APIWRITER_TYPE_MAX + 16];
	struct fetch_request request = {
		.url = e->url,
		.method = e->method,
		.body = e->body,
		.body_len = e->body_len,
		.headers = headers,
		.max_bytes = APIWRITER_REPLY_MAX,
		.timeout_ns = w->timeout_ns,
		.done = on_answer,
		.userdata = e,
	};
	struct source_kubelet_why why;
	int r;

	snprintf(type, sizeof(type), "Content-Type: %s", e->type);
	if (e->body)
		headers[2] = type;
	r = source_kubelet_send(&w->peer, w->fetch, &request, "cannot begin a request", &e->call,
				&w->state.credential, &why);
	if (r < 0) {
		retry(e, why.text, 0);
		return r;
	}
	w->flying++;
	e->attempts++;
	return 0;
}

/* The first that waits and may be attempted. */
static struct entry *next_to_attempt(const struct apiwriter *w)
{
	struct entry *e;

	TAILQ_FOREACH(e, &w->queue, link)
		if (!e->call && !find_key(w, e->key, true, e))
			return e;
	return NULL;
}

static void attempt_all(struct apiwriter *w)
{
	struct entry *e;

	while (w->flying < (w->state.failures ? 1 : w->in_flight) &&
	       now_ns(w) >= w->state.retry_ns && (e = next_to_attempt(w)))
		if (attempt(e) < 0)
			return;
}

/* --- time --------------------------------------------------------------------------------------- */

static struct entry *find_expired(const struct apiwriter *w)
{
	struct entry *e;

	TAILQ_FOREACH(e, &w->queue, link)
		if (e->deadline_ns && e->deadline_ns <= now_ns(w))
			return e;
	return NULL;
}

static void expire(struct apiwriter *w)
{
	char text[320];
	struct entry *e;

	while ((e = find_expired(w))) {
		snprintf(text, sizeof(text), "its deadline passed%s%s",
			 w->state.failures ? "; the last failure: " : "",
			 w->state.failures ? w->state.text : "");
		end(e, APIWRITER_EXPIRED, NULL, text);
	}
}

/* 0: only an answer, or a new request, changes anything. */
static uint64_t next_ns(const struct apiwriter *w)
{
	const struct entry *e;
	uint64_t soonest_ns = w->state.retry_ns > now_ns(w) ? w->state.retry_ns : 0;

	TAILQ_FOREACH(e, &w->queue, link)
		if (e->deadline_ns && (!soonest_ns || e->deadline_ns < soonest_ns))
			soonest_ns = e->deadline_ns;
	return soonest_ns;
}

static void plan(struct apiwriter *w)
{
	timer_at(w->timer, w->n ? next_ns(w) : 0);
}

static int on_work(sd_event_source *source, void *userdata)
{
	struct apiwriter *w = userdata;

	expire(w);
	attempt_all(w);
	plan(w);
	if (!w->idle_due || w->n)
		return 0;
	w->idle_due = false;
	if (w->idle)
		w->idle(w->userdata);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	wake(userdata);
	return 0;
}

/* --- the writer --------------------------------------------------------------------------------- */

static bool is_plain(const char *text, size_t size)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return len > 0 && len < size;
}

static bool is_sound(const struct apiwriter_request *request)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
	bool known = false;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		known |= strcmp(request->method, methods[i]) == 0;
	return known && request->path[0] == '/' && is_plain(request->path, APIWRITER_PATH_MAX) &&
	       (!request->content_type || is_plain(request->content_type, APIWRITER_TYPE_MAX)) &&
	       (!request->key || strlen(request->key) < APIWRITER_KEY_MAX) &&
	       request->body_len <= APIWRITER_BODY_MAX;
}

static int new_entry(struct apiwriter *w, const struct apiwriter_request *request,
		     struct entry **ret)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->writer = w;
	e->deadline_ns = request->deadline_ns;
	e->done = request->done;
	e->userdata = request->userdata;
	snprintf(e->key, sizeof(e->key), "%s", request->key ?: "");
	snprintf(e->method, sizeof(e->method), "%s", request->method);
	snprintf(e->type, sizeof(e->type), "%s", request->content_type ?: "application/json");
	if (asprintf(&e->url, "%s%s", w->url, request->path) < 0)
		e->url = NULL;
	if (request->body) {
		e->body = malloc(request->body_len + 1);
		e->body_len = request->body_len;
	}
	if (!e->url || (request->body && !e->body)) {
		free_entry(e);
		return -ENOMEM;
	}
	if (request->body)
		memcpy(e->body, request->body, request->body_len);
	*ret = e;
	return 0;
}

int apiwriter_add(struct apiwriter *w, const struct apiwriter_request *request)
{
	struct entry *e, *old;
	int r;

	if (!is_sound(request))
		return -EINVAL;
	old = find_key(w, request->key ?: "", false, NULL);
	if ((!old && w->n == w->requests_max) ||
	    w->bytes - (old ? old->body_len : 0) + request->body_len > APIWRITER_BYTES_MAX) {
		w->state.counts.dropped++;
		return -ENOBUFS;
	}
	r = new_entry(w, request, &e);
	if (r < 0)
		return r;
	TAILQ_INSERT_TAIL(&w->queue, e, link);
	w->n++;
	w->bytes += e->body_len;
	w->state.counts.added++;
	if (old)
		end(old, APIWRITER_SUPERSEDED, NULL, "a later request took its place");
	wake(w);
	return 0;
}

bool apiwriter_is_idle(const struct apiwriter *w)
{
	return w->n == 0;
}

void apiwriter_get_state(const struct apiwriter *w, struct apiwriter_state *ret)
{
	*ret = w->state;
	ret->requests = w->n;
}

static int take_peer(struct apiwriter *w, const struct source_kubelet_options *peer)
{
	size_t len = strlen(peer->url);

	w->url = strndup(peer->url, len - (peer->url[len - 1] == '/'));
	return w->url ? source_kubelet_copy(peer, &w->peer) : -ENOMEM;
}

static void take_options(struct apiwriter *w, const struct apiwriter_options *options)
{
	w->requests_max = options->requests_max ?: REQUESTS_MAX;
	w->in_flight = options->in_flight ?: IN_FLIGHT;
	w->timeout_ns = options->timeout_ns ?: TIMEOUT_NS;
	w->retry_first_ns = options->retry_first_ns ?: RETRY_FIRST_NS;
	w->retry_last_ns = options->retry_last_ns ?: RETRY_LAST_NS;
	w->idle = options->idle;
	w->userdata = options->userdata;
}

static int join_loop(struct apiwriter *w)
{
	int r = timer_new(w->event, CLOCK_BOOTTIME, 1000, on_timer, w, &w->timer);

	return r < 0 ? r : defer_open(&w->work, w->event, on_work, w);
}

int apiwriter_new(sd_event *event, struct fetch *fetch, const struct apiwriter_options *options,
		  struct apiwriter **ret, struct source_kubelet_why *ret_why)
{
	_cleanup_(cleanup_apiwriter_free) struct apiwriter *w = NULL;
	int r = source_kubelet_judge(options->peer, ret_why);

	if (r < 0)
		return r;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	TAILQ_INIT(&w->queue);
	w->event = sd_event_ref(event);
	w->fetch = fetch;
	take_options(w, options);
	r = take_peer(w, options->peer);
	if (r == 0)
		r = join_loop(w);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(w);
	return 0;
}

struct apiwriter *apiwriter_free(struct apiwriter *w)
{
	struct entry *e;

	if (!w)
		return NULL;
	while ((e = TAILQ_FIRST(&w->queue))) {
		TAILQ_REMOVE(&w->queue, e, link);
		free_entry(e);
	}
	sd_event_source_disable_unref(w->timer);
	defer_close(&w->work);
	sd_event_unref(w->event);
	free(w->url);
	source_kubelet_drop(&w->peer);
	free(w);
	return NULL;
}
