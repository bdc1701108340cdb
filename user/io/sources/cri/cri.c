// SPDX-License-Identifier: Apache-2.0
/* What is asked of the source, and how it fares. */
#include "io/sources/cri/cri.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/sources/cri/priv.h"

#define TIMEOUT_NS   UINT64_C(2000000000)
#define RETRY_MIN_NS UINT64_C(100000000)
#define RETRY_MAX_NS UINT64_C(30000000000)

static int take_endpoint(struct podsrc_cri *cri, const char *endpoint)
{
	static const char scheme[] = "unix://";

	if (strncmp(endpoint, scheme, strlen(scheme)) == 0)
		endpoint += strlen(scheme);
	if (endpoint[0] != '/' || strlen(endpoint) >= sizeof(cri->endpoint))
		return -EINVAL;
	strcpy(cri->endpoint, endpoint);
	return 0;
}

static int take_options(struct podsrc_cri *cri, const struct podsrc_cri_options *options)
{
	cri->search = options->search;
	cri->timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
	cri->retry_min_ns = options->retry_min_ns ? options->retry_min_ns : RETRY_MIN_NS;
	cri->retry_max_ns = options->retry_max_ns ? options->retry_max_ns : RETRY_MAX_NS;
	snprintf(cri->node, sizeof(cri->node), "%s", options->node ? options->node : "");
	return options->endpoint ? take_endpoint(cri, options->endpoint) : 0;
}

int podsrc_cri_new(sd_event *event, struct fetch *fetch, const struct podsrc_cri_options *options,
		   const struct podsrc_sink *sink, struct podsrc_cri **ret)
{
	struct podsrc_cri *cri = calloc(1, sizeof(*cri));
	int r;

	if (!cri)
		return -ENOMEM;
	cri->event = sd_event_ref(event);
	cri->fetch = fetch;
	cri->sink = *sink;
	cri->phase = PHASE_HELLO;
	r = take_options(cri, options);
	if (r == 0)
		r = podsrc_cri_list_open(cri);
	if (r >= 0)
		r = podsrc_cri_look_open(cri);
	if (r >= 0)
		r = podsrc_cri_events_open(cri);
	if (r >= 0)
		r = podsrc_cri_session_open(cri);
	if (r < 0) {
		podsrc_cri_free(cri);
		return r;
	}
	*ret = cri;
	return 0;
}

struct podsrc_cri *podsrc_cri_free(struct podsrc_cri *cri)
{
	if (!cri)
		return NULL;
	podsrc_cri_session_close(cri);
	podsrc_cri_events_close(cri);
	podsrc_cri_look_close(cri);
	podsrc_cri_list_close(cri);
	podsrc_cri_queue_done(&cri->queue);
	podsrc_cri_images_done(&cri->images);
	sd_event_unref(cri->event);
	free(cri);
	return NULL;
}

/* As runtimes make them; in a question it could be a prefix of others. */
static bool is_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-");

	return n > 0 && n < META_ID_MAX && !id[n];
}

static void refuse(struct podsrc_cri *cri, const char *id, bool exit, enum meta_result result)
{
	if (!exit)
		podsrc_cri_look_done(cri, id, result);
}

static void look_up(struct podsrc_cri *cri, const char *id, bool exit)
{
	struct podsrc_cri_lookup *lookup;

	if (is_id(id))
		podsrc_cri_session_look(cri);
	if (!is_id(id) || cri->phase == PHASE_OFF || cri->phase == PHASE_DOWN) {
		refuse(cri, id, exit, cri->phase == PHASE_DOWN ? META_FAILED : META_ABSENT);
		return;
	}
	lookup = podsrc_cri_queue_get(&cri->queue, id, exit);
	if (!lookup)
		lookup = podsrc_cri_queue_add(&cri->queue, id, exit, PLACE_WAITING);
	else if (lookup->place == PLACE_IDLE)
		podsrc_cri_queue_move(&cri->queue, lookup, PLACE_WAITING);
	if (!lookup) {
		refuse(cri, id, exit, META_SHED);
		return;
	}
	lookup->asked += !exit;
	podsrc_cri_look_pump(cri);
}

void podsrc_cri_find(struct podsrc_cri *cri, const char *container_id)
{
	look_up(cri, container_id, false);
}

void podsrc_cri_exit(struct podsrc_cri *cri, const char *container_id)
{
	look_up(cri, container_id, true);
}

static enum podsrc_status status_of(const struct podsrc_cri *cri)
{
	switch (cri->phase) {
	case PHASE_OFF:
		return PODSRC_OFF;
	case PHASE_DOWN:
		return PODSRC_DOWN;
	case PHASE_READY:
		return PODSRC_UP;
	case PHASE_HELLO:
	case PHASE_LISTING:
		break;
	}
	return cri->failures && cri->runtime.name[0] ? PODSRC_DOWN : PODSRC_STARTING;
}

void podsrc_cri_get_state(const struct podsrc_cri *cri, struct podsrc_state *ret)
{
	*ret = (struct podsrc_state){
		.status = status_of(cri),
		.failures = cri->phase == PHASE_OFF ? 0 : cri->failures,
		.retry_ns = cri->retry_ns,
		.waiting = cri->queue.n,
	};
	memcpy(ret->lookups, cri->lookups, sizeof(ret->lookups));
	snprintf(ret->where, sizeof(ret->where), "%s", cri->path[0] ? cri->path : cri->endpoint);
	if (cri->phase != PHASE_READY)
		snprintf(ret->text, sizeof(ret->text), "%s", cri->text);
	else
		snprintf(ret->text, sizeof(ret->text), "%.48s %.48s, CRI %s%s", cri->runtime.name,
			 cri->runtime.version, cri_version_name(cri->version),
			 cri->stream.open ? ", with events" : "");
}
