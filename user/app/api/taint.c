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
#include "core/shutdown/death.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "wire/kubernetes/patch.h"
#include "wire/kubernetes/pod.h"

#define GRAIN_US      1000000
#define CONFLICTS_MAX 8
/* Removing is tried again and again: nothing is scheduled to a node that has the taint. */
#define AGAIN_US      10000000
/* The API server ends a request after a minute (--request-timeout). */
#define DOUBT_NS      90000000000ULL

struct taint {
	struct monitor *monitor;
	struct apiwriter *writer;
	enum apipatch_taint which;
	sd_event_source *timer; /* when removing it is tried again */
	char path[320];
	char boot[DEATH_BOOT_SIZE];   /* this one */
	char wanted[DEATH_BOOT_SIZE]; /* set, for the boot that is dead; "": removed */
	char sought[DEATH_BOOT_SIZE]; /* the same, of the request under way */
	bool busy;		      /* a request is under way */
	bool owed;		      /* the engine waits for an answer */
	taint_fn done;		      /* NULL: nobody else waits for one */
	void *userdata;
	uint64_t deadline_ns;
	uint64_t doubt_ns; /* until then a patch whose answer was lost may be carried out */
	unsigned int conflicts;
	char failed[FETCH_TEXT_MAX]; /* why, as logged last; "": it did not */
};

static void look(struct taint *t);

static void answer(struct taint *t, bool failed)
{
	taint_fn done = t->done;
	struct obs obs;

	t->done = NULL;
	if (done)
		done(t->userdata, failed);
	if (!t->owed)
		return;
	t->owed = false;
	feed_begin(&obs, OBS_SHUTDOWN);
	obs.shutdown.event = SHUTDOWN_EV_TAINT;
	obs.shutdown.failed = failed;
	feed_obs(monitor_feed(t->monitor), &obs);
}

static void look_again(struct taint *t)
{
	timer_after(t->timer, AGAIN_US);
}

/* The node has it as it was sought. */
static void settle(struct taint *t, bool changed)
{
	const struct apipatch_taint_kind *kind = &apipatch_taints[t->which];

	t->failed[0] = '\0';
	if (changed && *t->sought)
		log_info("api: the node has the taint %s%s%s:%s, %s %s%s", kind->key,
			 kind->value ? "=" : "", kind->value ?: "", kind->effect,
			 t->which == APIPATCH_SHUTDOWN ? "as boot"
						       : "as nothing of any pod of boot",
			 t->sought,
			 t->which == APIPATCH_SHUTDOWN ? " is in a shutdown" : " is left");
	else if (changed)
		log_info("api: the taint %s is removed", kind->key);
	if (!*t->sought && clock_boot_ns() < t->doubt_ns)
		look_again(t);
	answer(t, false);
}

/* Another attempt may end otherwise: a right that is missing is granted by a person. */
static void fail(struct taint *t, const char *text)
{
	bool again = strcmp(text, t->failed) != 0;

	snprintf(t->failed, sizeof(t->failed), "%s", text);
	if (again)
		log_warning("api: cannot %s the taint %s: %s%s", *t->sought ? "set" : "remove",
			    apipatch_taints[t->which].key, text,
			    *t->sought
				    ? ""
				    : "; if the node still has it, remove it with kubectl taint");
	if (!*t->sought)
		look_again(t);
	answer(t, true);
}

/* After each request: what is wanted may be another by now. */
static bool goes_on(struct taint *t)
{
	t->busy = false;
	if (strcmp(t->sought, t->wanted) == 0)
		return false;
	look(t);
	return true;
}

static void on_patched(void *userdata, const struct apiwriter_result *result)
{
	struct taint *t = userdata;

	/* No answer is not a no: who removes it now may be faster than the server that sets it. */
	if (*t->sought && result->end != APIWRITER_DONE && result->end != APIWRITER_REFUSED)
		t->doubt_ns = clock_boot_ns() + DOUBT_NS;
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
	request->key = apipatch_taints[t->which].key;
	request->deadline_ns = t->deadline_ns;
	request->userdata = t;
	r = apiwriter_add(t->writer, request);
	t->busy = r == 0;
	return r;
}

static int patch(struct taint *t, const json_t *node)
{
	_cleanup_(buf_free) struct buf body = {};
	struct apiwriter_request request = {
		.method = "PATCH", .content_type = APIPATCH_TYPE, .done = on_patched};
	int r = apipatch_node_taint(node, t->which, *t->sought ? t->sought : NULL, &body);

	if (r <= 0)
		return r;
	request.body = body.data;
	request.body_len = body.len;
	r = add(t, &request);
	return r < 0 ? r : 1;
}

static void change(struct taint *t, const struct apiwriter_result *result)
{
	json_auto_t *json = NULL;
	struct podread_error error;
	struct death_node node;
	const char *refused = NULL;
	int r = podread_parse(result->body, result->len, &json, &error);

	if (r == 0 && *t->sought && t->which == APIPATCH_OUT_OF_SERVICE) {
		apipatch_read_node(json, &node);
		refused = death_refuses(&node, t->sought, t->boot);
	}
	if (r == 0 && !refused)
		r = patch(t, json);
	if (refused || r < 0)
		fail(t, refused ? refused : strerror(-r));
	else if (r == 0)
		settle(t, false);
}

static void on_read(void *userdata, const struct apiwriter_result *result)
{
	struct taint *t = userdata;

	if (result->end == APIWRITER_SUPERSEDED || goes_on(t))
		return;
	if (result->end == APIWRITER_DONE)
		change(t, result);
	else
		fail(t, result->text);
}

/* Reads the node: what it is then decides. */
static void look(struct taint *t)
{
	struct apiwriter_request request = {.method = "GET", .done = on_read};
	int r;

	memcpy(t->sought, t->wanted, sizeof(t->sought));
	r = add(t, &request);
	if (r < 0)
		fail(t, strerror(-r));
}

static void want(struct taint *t, const char *boot, uint64_t deadline_ns)
{
	snprintf(t->wanted, sizeof(t->wanted), "%s", boot);
	t->deadline_ns = deadline_ns;
	t->conflicts = 0;
	sd_event_source_set_enabled(t->timer, SD_EVENT_OFF);
	if (!t->busy)
		look(t);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	want(userdata, "", 0);
	return 0;
}

void taint_effect(struct taint *t, const struct effect *effect)
{
	bool set = effect->type == EFFECT_SET_TAINT || effect->type == EFFECT_CORDON;

	t->owed = effect->type == EFFECT_SET_TAINT;
	t->failed[0] = '\0';
	want(t, set ? t->boot : "", set ? effect->at_ns : 0);
}

void taint_set(struct taint *t, const char *boot, uint64_t deadline_ns, taint_fn done,
	       void *userdata)
{
	t->done = done;
	t->userdata = userdata;
	want(t, boot, deadline_ns);
}

void taint_remove(struct taint *t, taint_fn done, void *userdata)
{
	t->done = done;
	t->userdata = userdata;
	want(t, "", 0);
}

const char *taint_boot(const struct taint *t)
{
	return t->boot;
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

int taint_new(struct monitor *m, struct apiwriter *writer, enum apipatch_taint which,
	      struct taint **ret)
{
	struct taint *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->monitor = m;
	t->writer = writer;
	t->which = which;
	r = name_path(t);
	if (r >= 0)
		r = clock_boot_id(t->boot);
	if (r >= 0)
		r = sd_event_add_time_relative(monitor_event(m), &t->timer, CLOCK_BOOTTIME,
					       AGAIN_US, GRAIN_US, on_timer, t);
	if (r < 0) {
		log_error("cannot set or remove the taint %s: %s", apipatch_taints[which].key,
			  strerror(-r));
		taint_free(t);
		return r;
	}
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
