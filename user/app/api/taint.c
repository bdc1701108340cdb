// SPDX-License-Identifier: Apache-2.0
/* Reads the node, and sets or removes the taint, until the node has it as it is wanted. */
#include "app/api/taint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/live/feed.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "core/shutdown/death.h"
#include "io/proc/clock.h"
#include "wire/kubernetes/patch.h"
#include "wire/kubernetes/pod.h"

#define GRAIN_US      1000000
#define CONFLICTS_MAX 8
/* Removing is tried again and again: nothing is scheduled to a node that has the taint. */
#define AGAIN_US      10000000

struct taint {
	struct monitor *monitor;
	struct apiwriter *writer;
	sd_event_source *timer; /* when removing it is tried again */
	char path[320];
	char boot[DEATH_BOOT_SIZE]; /* this one */
	bool wanted;		    /* set; else removed */
	bool busy;		    /* a request is under way */
	bool owed;		    /* the engine waits for an answer */
	bool sought;		    /* what is wanted now */
	uint64_t deadline_ns;
	unsigned int conflicts;
};

DEFINE_CLEANUP(json_t *, json_decref);

static void look(struct taint *t);

static void answer_engine(struct taint *t, bool failed)
{
	struct obs obs;

	if (!t->owed)
		return;
	t->owed = false;
	feed_begin(&obs, OBS_SHUTDOWN);
	obs.shutdown.event = SHUTDOWN_EV_TAINT;
	obs.shutdown.failed = failed;
	feed_obs(monitor_feed(t->monitor), &obs);
}

/* The node has it as it was sought. */
static void settle(struct taint *t, bool changed)
{
	t->conflicts = 0;
	if (changed && t->sought)
		log_info("api: the node has the taint " APIPATCH_TAINT_KEY
			 "=nodeshutdown:NoExecute, as nothing of any pod is left");
	else if (changed)
		log_info("api: the taint " APIPATCH_TAINT_KEY " is removed");
	answer_engine(t, false);
}

static void fail(struct taint *t, const char *text)
{
	log_warning("api: cannot %s the taint " APIPATCH_TAINT_KEY ": %s%s",
		    t->sought ? "set" : "remove", text,
		    t->sought ? "" : "; where it stands, remove it by kubectl taint");
	if (!t->sought) {
		sd_event_source_set_time_relative(t->timer, AGAIN_US);
		sd_event_source_set_enabled(t->timer, SD_EVENT_ONESHOT);
	}
	answer_engine(t, true);
}

/* After each request: what is wanted may be another by now. */
static bool goes_on(struct taint *t)
{
	t->busy = false;
	if (t->sought == t->wanted)
		return false;
	look(t);
	return true;
}

static void on_patched(void *userdata, const struct apiwriter_result *result)
{
	struct taint *t = userdata;

	if (result->end == APIWRITER_SUPERSEDED || goes_on(t))
		return;
	if (result->end == APIWRITER_DONE)
		settle(t, true);
	else if (result->status == 409 && ++t->conflicts < CONFLICTS_MAX)
		look(t);
	else
		fail(t, result->text);
}

static int add(struct taint *t, struct apiwriter_request *request)
{
	int r;

	request->path = t->path;
	request->key = "taint";
	request->deadline_ns = t->deadline_ns;
	request->userdata = t;
	r = apiwriter_add(t->writer, request);
	t->busy = r == 0;
	return r;
}

/* 0: there is nothing to do; 1: it is under way. */
static int change(struct taint *t, const struct apiwriter_result *result)
{
	_cleanup_(cleanup_json_decref) json_t *node = NULL;
	_cleanup_(buf_free) struct buf body = {};
	struct podread_error error;
	struct apiwriter_request request = {
		.method = "PATCH", .content_type = APIPATCH_TYPE, .done = on_patched};
	int r = podread_parse(result->body, result->len, &node, &error);

	if (r == 0)
		r = apipatch_node_taint(node, t->sought ? t->boot : NULL, &body);
	if (r <= 0)
		return r;
	request.body = body.data;
	request.body_len = body.len;
	r = add(t, &request);
	return r < 0 ? r : 1;
}

static void on_read(void *userdata, const struct apiwriter_result *result)
{
	struct taint *t = userdata;
	int r;

	if (result->end == APIWRITER_SUPERSEDED || goes_on(t))
		return;
	if (result->end != APIWRITER_DONE) {
		fail(t, result->text);
		return;
	}
	r = change(t, result);
	if (r < 0)
		fail(t, strerror(-r));
	else if (r == 0)
		settle(t, false);
}

/* Reads the node: what it is then decides. */
static void look(struct taint *t)
{
	struct apiwriter_request request = {.method = "GET", .done = on_read};
	int r;

	t->sought = t->wanted;
	r = add(t, &request);
	if (r < 0)
		fail(t, strerror(-r));
}

static void want(struct taint *t, bool set, uint64_t deadline_ns)
{
	t->wanted = set;
	t->deadline_ns = deadline_ns;
	sd_event_source_set_enabled(t->timer, SD_EVENT_OFF);
	if (!t->busy)
		look(t);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	want(userdata, false, 0);
	return 0;
}

void taint_effect(struct taint *t, const struct effect *effect)
{
	t->owed = effect->type == EFFECT_SET_TAINT;
	want(t, t->owed, t->owed ? effect->at_ns : 0);
}

/* --- opening and closing ------------------------------------------------------------------------ */

static int name_path(struct taint *t)
{
	const char *name = monitor_options(t->monitor)->node_name;
	char node[OPTIONS_NODE_SIZE];
	int n;

	if (!name) {
		clock_node_name(node, sizeof(node));
		name = node;
	}
	if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.")])
		return -EINVAL;
	n = snprintf(t->path, sizeof(t->path), "/api/v1/nodes/%s", name);
	return n < (int)sizeof(t->path) ? 0 : -EINVAL;
}

int taint_new(struct monitor *m, struct apiwriter *writer, struct taint **ret)
{
	struct taint *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->monitor = m;
	t->writer = writer;
	r = name_path(t);
	if (r >= 0)
		r = clock_boot_id(t->boot);
	if (r >= 0)
		r = sd_event_add_time_relative(monitor_event(m), &t->timer, CLOCK_BOOTTIME,
					       AGAIN_US, GRAIN_US, on_timer, t);
	if (r < 0) {
		log_error("cannot set or remove the out-of-service taint: %s", strerror(-r));
		taint_free(t);
		return r;
	}
	want(t, false, 0);
	*ret = t;
	return 0;
}

struct taint *taint_free(struct taint *t)
{
	if (!t)
		return NULL;
	sd_event_source_disable_unref(t->timer);
	free(t);
	return NULL;
}
