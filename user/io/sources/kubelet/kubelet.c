// SPDX-License-Identifier: Apache-2.0
/* Decides when the kubelet, or the API server, is asked, reports what its answer has, and ends the
 * look-ups that wait for it. */
#include "io/sources/kubelet/kubelet.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/backoff.h"
#include "base/duration.h"
#include "base/time.h"
#include "io/proc/clock.h"
#include "io/sources/kubelet/access.h"
#include "wire/kubernetes/pods.h"

#define INTERVAL_NS (30 * NS_PER_S)
#define TIMEOUT_NS  (10 * NS_PER_S)
#define GAP_NS	    NS_PER_S

#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LAST_NS  (300 * NS_PER_S)

/* One question may begin when the last one has been over for so many times what it took. */
#define REST_SHARE 3

#define SLICE_NS   500000
#define SLICE_GONE 64

/* Answers in a row. */
#define BEHIND_MAX 3

struct uid {
	char text[META_UID_MAX]; /* first, for by_text() */
	int64_t seen_wall_ns;	 /* when its kubelet first saw it; 0: unknown */
};

/* Uids in the order they came, or sorted. */
struct uids {
	struct uid *list;
	size_t n, room;
	bool full;   /* there were more */
	bool by_api; /* some of them are pods of the API, not static ones */
};

/* Which process made a list, by the times at which it first saw the pods that the list before has
 * too: each is the same as there, or each is another. */
enum process {
	PROCESS_UNKNOWN, /* no such pod */
	PROCESS_SAME,
	PROCESS_RESTARTED,
};

/* A caller waits for an answer to question number `question`, or a later one. */
struct lookup {
	struct uid uid;
	uint64_t question; /* the number of the one whose answer counts; 0: it is over */
	bool found;
};

struct podsrc_kubelet {
	sd_event *event;
	struct fetch *fetch;
	struct podsrc_sink sink;
	enum meta_source source; /* the kubelet or the API server */
	char *url;		 /* with its query */

	char *ca_file, *server_name, *token_file, *client_file;
	uint64_t interval_ns, timeout_ns, gap_ns;

	struct podsrc_state state; /* its where is the URL without the query */
	bool addressed;		   /* an address of its host was known once */
	sd_event_source *timer;	   /* asks */
	sd_event_source *work;	   /* takes the answer apart */

	struct fetch_call *call;     /* NULL: nothing is asked */
	uint64_t questions;	     /* asked so far */
	uint64_t asked_ns, ended_ns; /* the last one; CLOCK_BOOTTIME */
	bool hurried;		     /* the next one is to come soon */
	char *reply;		     /* mapped; NULL: nothing came */
	size_t reply_len;

	uint64_t version;     /* of the last one that was taken; 0: it has none */
	unsigned int behind;  /* answers in a row that were older */
	struct podjson *walk; /* NULL: none is taken apart */
	bool leaving_out;     /* the pod whose containers come now */
	struct uids before, now;
	size_t gone_at; /* of before: the next to be looked for in now; valid without a walk */
	enum process process; /* that made the list of now; valid without a walk */
	bool comparing;

	struct lookup lookups[PODSRC_KUBELET_LOOKUPS_MAX];
	size_t n_lookups;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool is_busy(const struct podsrc_kubelet *k)
{
	return k->call || k->walk || k->comparing;
}

static uint64_t due_ns(const struct podsrc_kubelet *k)
{
	uint64_t rest_ns = k->hurried ? 0 : (k->ended_ns - k->asked_ns) * REST_SHARE;

	if (k->questions == 0)
		return 0;
	if (k->state.failures)
		return k->state.retry_ns;
	if (k->n_lookups == 0 || rest_ns > k->interval_ns)
		return k->ended_ns + k->interval_ns;
	return later(k->asked_ns + k->gap_ns, k->ended_ns + rest_ns);
}

static void plan(struct podsrc_kubelet *k)
{
	if (is_busy(k))
		return;
	sd_event_source_set_time(k->timer, due_ns(k) / 1000);
	sd_event_source_set_enabled(k->timer, SD_EVENT_ONESHOT);
}

static void report_done(struct podsrc_kubelet *k, const char *uid, enum meta_result result)
{
	k->state.lookups[result]++;
	k->sink.done(k->sink.userdata, k->source, uid, result);
}

/* Ends the look-ups that the last question was to answer; all of them when there is no answer. The
 * sink may ask anew meanwhile: those are behind the ones that are looked at. */
static void answer(struct podsrc_kubelet *k, enum meta_result unless_found, bool all)
{
	size_t n = k->n_lookups, kept = 0, added;

	for (size_t i = 0; i < n; i++) {
		struct lookup one = k->lookups[i];

		if (!all && one.question > k->questions) {
			k->lookups[kept++] = one;
			continue;
		}
		k->lookups[i].question = 0;
		report_done(k, one.uid.text, one.found ? META_FOUND : unless_found);
	}
	added = k->n_lookups - n;
	memmove(k->lookups + kept, k->lookups + n, added * sizeof(k->lookups[0]));
	k->n_lookups = kept + added;
}

/* Forgets the answer's bytes. */
static void forget_reply(struct podsrc_kubelet *k)
{
	if (k->reply)
		munmap(k->reply, PODSRC_KUBELET_REPLY_MAX);
	k->reply = NULL;
	k->reply_len = 0;
}

static void end(struct podsrc_kubelet *k)
{
	forget_reply(k);
	/* The answer's pods were taken apart in many small blocks. */
	malloc_trim(0);
	k->ended_ns = clock_boot_ns();
}

/* The question is over. Sets why, and when the next one is due. */
__attribute__((format(printf, 2, 3))) static void go_down(struct podsrc_kubelet *k,
							  const char *format, ...)
{
	va_list args;

	end(k);
	k->state.status = PODSRC_DOWN;
	k->state.retry_ns =
		k->ended_ns + backoff_ns(RETRY_FIRST_NS, RETRY_LAST_NS, k->state.failures++);
	va_start(args, format);
	vsnprintf(k->state.text, sizeof(k->state.text), format, args);
	va_end(args);
	answer(k, META_FAILED, true);
	plan(k);
}

static void go_up(struct podsrc_kubelet *k, const struct podjson_counts *counts)
{
	int n;

	end(k);
	k->state.status = PODSRC_UP;
	k->state.failures = 0;
	n = snprintf(k->state.text, sizeof(k->state.text), "%llu pods",
		     (unsigned long long)counts->pods);
	if (counts->skipped)
		snprintf(k->state.text + n, sizeof(k->state.text) - (size_t)n,
			 ", and %llu that make no sense", (unsigned long long)counts->skipped);
	answer(k, META_ABSENT, false);
	plan(k);
}

/* Marks the look-ups that wait for this pod. */
static void mark_found(struct podsrc_kubelet *k, const char *uid)
{
	for (size_t i = 0; i < k->n_lookups; i++)
		if (k->lookups[i].question <= k->questions &&
		    strcmp(k->lookups[i].uid.text, uid) == 0)
			k->lookups[i].found = true;
}

/* --- the answer --------------------------------------------------------------------------------- */

static void add_uid(struct uids *uids, const char *uid, int64_t seen_wall_ns)
{
	struct uid *added;
	size_t room = uids->room ? uids->room * 2 : 128;

	if (uids->n == PODSRC_KUBELET_PODS_MAX) {
		uids->full = true;
		return;
	}
	if (uids->n == uids->room) {
		void *list = reallocarray(uids->list, room, sizeof(uids->list[0]));

		if (!list) {
			uids->full = true;
			return;
		}
		uids->list = list;
		uids->room = room;
	}
	added = uids->list + uids->n++;
	strcpy(added->text, uid);
	added->seen_wall_ns = seen_wall_ns;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void sort(struct uids *uids)
{
	if (uids->n)
		qsort(uids->list, uids->n, sizeof(uids->list[0]), by_text);
}

/* Among the first n, which are sorted; NULL: it is not there. */
static const struct uid *find_uid(const struct uids *uids, size_t n, const char *uid)
{
	return n ? bsearch(uid, uids->list, n, sizeof(uids->list[0]), by_text) : NULL;
}

/* Older than what was reported: from a server that is behind. After three of them that is how it
 * is, as where the database was restored. */
static bool is_behind(const struct podsrc_kubelet *k)
{
	struct podjson_list list;

	podjson_get_list(k->walk, &list);
	return list.version && list.version < k->version && k->behind < BEHIND_MAX;
}

static void on_pod(void *userdata, const struct podjson_pod *pod)
{
	struct podsrc_kubelet *k = userdata;
	struct meta_pod meta = pod->meta;

	/* The kubelet lists static pods as such, never by their mirrors (pkg/kubelet/pod, GetPods):
	 * one that says it is a mirror was made by a user as a pretended static pod. The API's are
	 * images, which come and go without the pods. */
	k->leaving_out = pod->mirror || is_behind(k);
	if (k->leaving_out)
		return;
	/* Any user can write the annotation that a kubelet puts on its static pods. */
	if (k->source == META_API)
		meta.is_static = false;
	add_uid(&k->now, meta.uid, pod->seen_wall_ns);
	k->now.by_api |= !meta.is_static;
	mark_found(k, meta.uid);
	meta.source = k->source;
	meta.asked_ns = k->asked_ns;
	k->sink.pod(k->sink.userdata, &meta);
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct podsrc_kubelet *k = userdata;
	struct meta_container meta = *container;

	meta.source = k->source;
	if (!k->leaving_out)
		k->sink.container(k->sink.userdata, &meta);
}

/* Begins to take the answer apart. */
static void take_reply(struct podsrc_kubelet *k)
{
	k->now.n = 0;
	k->now.full = k->now.by_api = false;
	if (podjson_new(k->reply ?: "", k->reply_len, &k->walk) < 0) {
		go_down(k, "there is no memory for its answer");
		return;
	}
	sd_event_source_set_enabled(k->work, SD_EVENT_ON);
}

static enum process process_of(const struct podsrc_kubelet *k)
{
	enum process process = PROCESS_UNKNOWN;

	for (size_t i = 0; i < k->now.n; i++) {
		const struct uid *now = k->now.list + i;
		const struct uid *before = find_uid(&k->before, k->before.n, now->text);

		if (!before || !before->seen_wall_ns || !now->seen_wall_ns)
			continue;
		if (before->seen_wall_ns == now->seen_wall_ns)
			return PROCESS_SAME;
		process = PROCESS_RESTARTED;
	}
	return process;
}

/*
 * Whether the list says nothing of the pods that it lacks (docs/kubelet-rules.md, "Sources of
 * pods"): a kubelet that has started since lists no pod until the runtime is up, then static pods
 * alone until the API has answered, then for a moment some of those that the API has.
 */
static bool is_ignorant(const struct podsrc_kubelet *k)
{
	if (k->source != META_KUBELET || k->process == PROCESS_SAME)
		return false;
	return k->process == PROCESS_RESTARTED || (k->before.n && !k->now.n) ||
	       (k->before.by_api && !k->now.by_api);
}

/* Whether the next list is compared with this one: not where pods of the API are still to come. */
static bool is_base(const struct podsrc_kubelet *k)
{
	return !is_ignorant(k) || k->now.by_api || !k->before.by_api;
}

/* Keeps the pods of the list before that this one lacks, for the lists to come. */
static void keep_lacking(struct podsrc_kubelet *k)
{
	size_t n = k->now.n;

	for (size_t i = 0; i < k->before.n; i++)
		if (!find_uid(&k->now, n, k->before.list[i].text))
			add_uid(&k->now, k->before.list[i].text, k->before.list[i].seen_wall_ns);
	k->now.by_api |= k->before.by_api;
	sort(&k->now);
}

static void end_walk(struct podsrc_kubelet *k)
{
	k->walk = podjson_free(k->walk);
	sd_event_source_set_enabled(k->work, SD_EVENT_OFF);
}

/* The walk went to the end of a whole answer. */
static void begin_comparing(struct podsrc_kubelet *k)
{
	bool behind = is_behind(k);
	struct podjson_list list;

	podjson_get_list(k->walk, &list);
	k->behind = behind ? k->behind + 1 : 0;
	if (behind || list.partial) {
		end_walk(k);
		go_down(k, "%s",
			behind ? "its list is older than the one before"
			       : "its list goes on elsewhere (continue)");
		return;
	}
	k->version = list.version;
	sort(&k->now);
	k->process = process_of(k);
	k->comparing = true;
	k->gone_at = 0;
}

static void finish(struct podsrc_kubelet *k)
{
	struct uids before = k->before;
	bool ignorant = is_ignorant(k), whole = !k->now.full && !ignorant, base = is_base(k);
	struct podjson_counts counts;

	podjson_get_counts(k->walk, &counts);
	end_walk(k);
	k->comparing = false;
	if (ignorant && base)
		keep_lacking(k);
	if (base) {
		k->before = k->now;
		k->now = before;
	}
	if (whole && k->sink.listed)
		k->sink.listed(k->sink.userdata, k->source, k->asked_ns);
	go_up(k, &counts);
}

/* Reports the pods that were listed before and are not now. With more pods than are kept, one that
 * is not among those kept may still be there. */
static void compare(struct podsrc_kubelet *k)
{
	size_t limit = k->gone_at + SLICE_GONE;

	if (k->now.full || is_ignorant(k))
		k->gone_at = k->before.n;
	for (; k->gone_at < k->before.n && k->gone_at < limit; k->gone_at++) {
		const char *uid = k->before.list[k->gone_at].text;
		struct meta_pod gone = {.source = k->source, .gone = true, .asked_ns = k->asked_ns};

		if (find_uid(&k->now, k->now.n, uid))
			continue;
		strcpy(gone.uid, uid);
		k->sink.pod(k->sink.userdata, &gone);
	}
	if (k->gone_at == k->before.n)
		finish(k);
}

static void give_up(struct podsrc_kubelet *k, int error)
{
	struct podjson_counts counts;
	size_t len = k->reply_len;

	podjson_get_counts(k->walk, &counts);
	end_walk(k);
	if (error == -ENOMEM)
		go_down(k, "there is no memory for its answer");
	else if (counts.pods == 0)
		go_down(k, "its answer of %zu bytes is no list of pods", len);
	else
		go_down(k, "its list of pods breaks off after %llu of them",
			(unsigned long long)counts.pods);
}

/* A turn of the loop's worth of the answer. */
static int on_work(sd_event_source *source, void *userdata)
{
	struct podsrc_kubelet *k = userdata;
	const struct podjson_sink sink = {k, on_pod, on_container, NULL};
	uint64_t end_ns = clock_monotonic_ns() + SLICE_NS;
	int r;

	if (k->comparing) {
		compare(k);
		return 0;
	}
	do
		r = podjson_next(k->walk, &sink);
	while (r > 0 && clock_monotonic_ns() < end_ns);
	if (r < 0)
		give_up(k, r);
	else if (r == 0)
		begin_comparing(k);
	return 0;
}

/* --- the question ------------------------------------------------------------------------------- */

/* The answer has a mapping of its own, of which only what is written takes memory: it does not
 * tear holes into the heap, nor is it moved while it grows. */
static int on_data(void *userdata, const void *data, size_t len)
{
	struct podsrc_kubelet *k = userdata;
	void *at;

	if (!k->reply) {
		at = mmap(NULL, PODSRC_KUBELET_REPLY_MAX, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			return -ENOMEM;
		k->reply = at;
	}
	if (len > PODSRC_KUBELET_REPLY_MAX - k->reply_len)
		return -EMSGSIZE;
	memcpy(k->reply + k->reply_len, data, len);
	k->reply_len += len;
	return 0;
}

static void down_by_status(struct podsrc_kubelet *k, long status)
{
	bool is_api = k->source == META_API;

	if (status == 401 && k->token_file)
		go_down(k, "it refuses the token in %s (401)", k->token_file);
	else if (status == 401 && k->client_file)
		go_down(k, "it refuses the client certificate in %s (401)", k->client_file);
	else if (status == 401)
		go_down(k, "it wants a token (401): none is configured");
	else if (status == 403)
		go_down(
			k, "not allowed to see pods (403): needs %s for the user that %s names",
			is_api ? "list pods" : "get nodes/pods, nodes/proxy before Kubernetes 1.33",
			k->token_file ?: k->client_file ?: "no file");
	else if (status == 404)
		go_down(k, "there is nothing here (404)%s",
			is_api ? "" : ": the path should be /pods");
	else if (status >= 300 && status < 400)
		go_down(k, "it sends elsewhere (%ld), which is not followed", status);
	else
		go_down(k, "it answers with an error (%ld)", status);
}

static void down_by_error(struct podsrc_kubelet *k, const struct fetch_result *result)
{
	char patience[DURATION_SIZE];

	if (result->error == -EKEYREJECTED)
		go_down(k, "the CA in %s does not vouch for it%s%s: %s", k->ca_file,
			k->server_name ? " as " : "", k->server_name ?: "", result->text);
	else if (result->error == -EACCES && k->client_file)
		go_down(k, "the client certificate in %s cannot be used: %s", k->client_file,
			result->text);
	else if (result->error == -ETIMEDOUT)
		go_down(k, "no whole answer came within %s",
			duration_format(k->timeout_ns, patience));
	else if (result->error == -EMSGSIZE)
		go_down(k, "its answer is longer than %zu MiB", PODSRC_KUBELET_REPLY_MAX >> 20);
	else
		go_down(k, "%s", result->text);
}

static void on_done(void *userdata, const struct fetch_result *result)
{
	struct podsrc_kubelet *k = userdata;

	k->call = NULL;
	if (result->error)
		down_by_error(k, result);
	else if (result->status != 200)
		down_by_status(k, result->status);
	else
		take_reply(k);
}

static int start(struct podsrc_kubelet *k, const struct podsrc_kubelet_secrets *secrets)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	struct fetch_request request = {
		.url = k->url,
		.headers = headers,
		.ca_file = k->ca_file,
		.server_name = k->server_name,
		.client_pem = secrets->client,
		.token = secrets->token,
		.max_bytes = PODSRC_KUBELET_REPLY_MAX,
		.timeout_ns = k->timeout_ns,
		.data = on_data,
		.done = on_done,
		.userdata = k,
	};

	return fetch_start(k->fetch, &request, &k->call);
}

/* Sends the question. What comes of it ends in go_down() or take_reply(). */
static void ask(struct podsrc_kubelet *k)
{
	struct podsrc_kubelet_secrets secrets;
	struct podsrc_kubelet_why why;
	int r = podsrc_kubelet_secrets_read(k->token_file, k->client_file, &secrets, &why);
	int start_error = 0;

	podsrc_kubelet_secrets_expiry(&secrets, &k->state.credential);
	if (r >= 0 && k->ca_file)
		r = podsrc_kubelet_file("CA", k->ca_file, &why);
	if (r >= 0)
		start_error = start(k, &secrets);
	podsrc_kubelet_secrets_done(&secrets);
	if (r < 0)
		go_down(k, "%s", why.text);
	else if (start_error < 0)
		go_down(k, "cannot ask it: %s", strerror(-start_error));
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_kubelet *k = userdata;

	if (is_busy(k))
		return 0;
	k->questions++;
	k->asked_ns = clock_boot_ns();
	k->state.retry_ns = 0;
	k->hurried = false;
	ask(k);
	return 0;
}

/* --- the source --------------------------------------------------------------------------------- */

void podsrc_kubelet_refresh(struct podsrc_kubelet *k, const char *pod_uid)
{
	struct lookup lookup = {.question = k->questions + 1};

	if (strlen(pod_uid) >= sizeof(lookup.uid.text)) {
		report_done(k, pod_uid, META_ABSENT);
		return;
	}
	if (k->state.failures) {
		report_done(k, pod_uid, META_FAILED);
		return;
	}
	/* Who asks again wants an answer to this question, and receives one. */
	for (size_t i = 0; i < k->n_lookups; i++)
		if (k->lookups[i].question && strcmp(k->lookups[i].uid.text, pod_uid) == 0) {
			k->lookups[i].question = lookup.question;
			k->lookups[i].found = false;
			plan(k);
			return;
		}
	if (k->n_lookups == PODSRC_KUBELET_LOOKUPS_MAX) {
		report_done(k, pod_uid, META_SHED);
		return;
	}
	strcpy(lookup.uid.text, pod_uid);
	k->lookups[k->n_lookups++] = lookup;
	plan(k);
}

void podsrc_kubelet_hurry(struct podsrc_kubelet *k)
{
	uint64_t soon_ns = k->ended_ns + k->gap_ns;

	k->hurried = true;
	if (k->state.failures && k->state.retry_ns > soon_ns)
		k->state.retry_ns = soon_ns;
	plan(k);
}

void podsrc_kubelet_get_state(struct podsrc_kubelet *k, struct podsrc_state *ret)
{
	*ret = k->state;
	ret->addressless = !k->addressed && !fetch_has_address(k->fetch, k->url);
	k->addressed = !ret->addressless;
}

static int copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static int take_options(struct podsrc_kubelet *k, const struct podsrc_kubelet_options *options)
{
	k->source = options->api_node ? META_API : META_KUBELET;
	k->interval_ns = options->interval_ns ?: INTERVAL_NS;
	k->timeout_ns = options->timeout_ns ?: TIMEOUT_NS;
	k->gap_ns = options->gap_ns ?: GAP_NS;
	if (copy(options->ca_file, &k->ca_file) < 0 ||
	    copy(options->server_name, &k->server_name) < 0 ||
	    copy(options->token_file, &k->token_file) < 0 ||
	    copy(options->client_file, &k->client_file) < 0)
		return -ENOMEM;
	return 0;
}

static int join_loop(struct podsrc_kubelet *k)
{
	int r = sd_event_add_time(k->event, &k->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, k);

	if (r < 0)
		return r;
	r = sd_event_add_defer(k->event, &k->work, on_work, k);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(k->work, SD_EVENT_OFF);
	return sd_event_source_set_priority(k->work, SD_EVENT_PRIORITY_IDLE);
}

int podsrc_kubelet_new(sd_event *event, struct fetch *fetch,
		       const struct podsrc_kubelet_options *options, const struct podsrc_sink *sink,
		       struct podsrc_kubelet **ret, struct podsrc_kubelet_why *ret_why)
{
	_cleanup_(cleanup_podsrc_kubelet_free) struct podsrc_kubelet *k = NULL;
	_cleanup_(cleanup_free) char *url = NULL;
	int r = podsrc_kubelet_check(options, &url, ret_why);

	if (r < 0)
		return r;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->event = sd_event_ref(event);
	k->fetch = fetch;
	k->sink = *sink;
	k->state.status = PODSRC_STARTING;
	memcpy(k->state.where, url, strcspn(url, "?"));
	k->url = TAKE_PTR(url);
	r = take_options(k, options);
	if (r == 0)
		r = join_loop(k);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(k);
	return 0;
}

struct podsrc_kubelet *podsrc_kubelet_free(struct podsrc_kubelet *k)
{
	if (!k)
		return NULL;
	fetch_cancel(k->call);
	forget_reply(k);
	podjson_free(k->walk);
	sd_event_source_disable_unref(k->timer);
	sd_event_source_disable_unref(k->work);
	sd_event_unref(k->event);
	free(k->before.list);
	free(k->now.list);
	free(k->url);
	free(k->ca_file);
	free(k->server_name);
	free(k->token_file);
	free(k->client_file);
	free(k);
	return NULL;
}
