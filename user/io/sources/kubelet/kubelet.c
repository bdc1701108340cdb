// SPDX-License-Identifier: Apache-2.0
/* Decides when the kubelet, or the API server, is asked, and keeps who waits for what. */
#include "io/sources/kubelet/kubelet.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/proc/clock.h"
#include "io/sources/kubelet/priv.h"

#define NS_PER_S 1000000000ull

#define INTERVAL_NS (30 * NS_PER_S)
#define TIMEOUT_NS  (10 * NS_PER_S)
#define GAP_NS	    NS_PER_S

#define RETRY_FIRST_NS NS_PER_S
#define RETRY_LAST_NS  (300 * NS_PER_S)

/* One question may begin when the last one has been over for so many times what it took. */
#define REST_SHARE 3

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

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_kubelet *k = userdata;

	(void)source;
	(void)usec;
	if (is_busy(k))
		return 0;
	k->questions++;
	k->asked_ns = clock_boot_ns();
	k->state.retry_ns = 0;
	k->hurried = false;
	podsrc_kubelet_ask(k);
	return 0;
}

static void tell(struct podsrc_kubelet *k, const char *uid, enum meta_result result)
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
		struct podsrc_kubelet_lookup one = k->lookups[i];

		if (!all && one.question > k->questions) {
			k->lookups[kept++] = one;
			continue;
		}
		k->lookups[i].question = 0;
		tell(k, one.uid.text, one.found ? META_FOUND : unless_found);
	}
	added = k->n_lookups - n;
	memmove(k->lookups + kept, k->lookups + n, added * sizeof(k->lookups[0]));
	k->n_lookups = kept + added;
}

static void end(struct podsrc_kubelet *k)
{
	podsrc_kubelet_forget(k);
	/* The answer's pods were taken apart in many small blocks. */
	malloc_trim(0);
	k->ended_ns = clock_boot_ns();
}

void podsrc_kubelet_down(struct podsrc_kubelet *k, const char *format, ...)
{
	uint64_t wait_ns = RETRY_LAST_NS;
	va_list args;

	end(k);
	if (k->state.failures < 16 && RETRY_FIRST_NS << k->state.failures < RETRY_LAST_NS)
		wait_ns = RETRY_FIRST_NS << k->state.failures;
	k->state.failures++;
	k->state.status = PODSRC_DOWN;
	k->state.retry_ns = k->ended_ns + wait_ns;
	va_start(args, format);
	vsnprintf(k->state.text, sizeof(k->state.text), format, args);
	va_end(args);
	answer(k, META_FAILED, true);
	plan(k);
}

void podsrc_kubelet_up(struct podsrc_kubelet *k, const struct podjson_counts *counts)
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

void podsrc_kubelet_found(struct podsrc_kubelet *k, const char *uid)
{
	for (size_t i = 0; i < k->n_lookups; i++)
		if (k->lookups[i].question <= k->questions &&
		    strcmp(k->lookups[i].uid.text, uid) == 0)
			k->lookups[i].found = true;
}

void podsrc_kubelet_refresh(struct podsrc_kubelet *k, const char *pod_uid)
{
	struct podsrc_kubelet_lookup lookup = {.question = k->questions + 1};

	if (strlen(pod_uid) >= sizeof(lookup.uid.text)) {
		tell(k, pod_uid, META_ABSENT);
		return;
	}
	if (k->state.failures) {
		tell(k, pod_uid, META_FAILED);
		return;
	}
	/* Who asks again wants an answer to this question, and is told once. */
	for (size_t i = 0; i < k->n_lookups; i++)
		if (k->lookups[i].question && strcmp(k->lookups[i].uid.text, pod_uid) == 0) {
			k->lookups[i].question = lookup.question;
			k->lookups[i].found = false;
			plan(k);
			return;
		}
	if (k->n_lookups == PODSRC_KUBELET_LOOKUPS_MAX) {
		tell(k, pod_uid, META_SHED);
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
	r = sd_event_add_defer(k->event, &k->work, podsrc_kubelet_on_work, k);
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
	podsrc_kubelet_forget(k);
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
