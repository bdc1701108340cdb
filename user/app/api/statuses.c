// SPDX-License-Identifier: Apache-2.0
/* Reads pods and the node from the API server, and sends what is to be changed in them. */
#include "app/api/statuses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "app/api/taint.h"
#include "app/config/options.h"
#include "app/live/feed.h"
#include "app/live/monitor.h"
#include "app/log/log.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "core/boot/proof.h"
#include "core/engine/engine.h"
#include "core/kubelet/ending.h"
#include "core/shutdown/managed.h"
#include "io/api/writer.h"
#include "io/bus/units.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "wire/kubernetes/patch.h"
#include "wire/kubernetes/pod.h"
#include "wire/kubernetes/pods.h"

/* --- the proof that a boot is dead ------------------------------------------------------------ */

/*
 * The out-of-service taint for an earlier boot that ended uncleanly, while the start of the node is
 * held (core/boot/proof). What has to be asked is asked here: systemd for the kubelet's unit, the
 * API server for the node's pods.
 */

struct apiproof_options {
	const char *dead;	 /* the boot that ended uncleanly */
	const char *node;	 /* its name, checked */
	const char *bus_address; /* NULL: systemd's own socket */
	/* Once, from the loop or from apiproof_turn(): the node may start. */
	void (*over)(void *userdata);
	void *userdata;
};

#define GRAIN_US 10000

struct apiproof {
	struct monitor *monitor;
	struct apiwriter *writer;
	struct taint *taint;
	struct unitorder *order;
	sd_event_source *timer;
	char node[OPTIONS_NODE_SIZE];
	char next[PODPAGE_CONTINUE_MAX]; /* of the list under way */
	void (*over)(void *userdata);
	void *userdata;
	struct proof proof;
};

static void step(struct apiproof *p, const struct proof_event *event);

/* --- commands ----------------------------------------------------------------------------------- */

static void on_page(void *userdata, const struct apiwriter_result *result);

static int list_page(struct apiproof *p)
{
	_cleanup_(buf_free) struct buf path = {};
	struct apiwriter_request request = {
		.method = "GET",
		.key = "proof",
		.deadline_ns = proof_deadline(&p->proof),
		.done = on_page,
		.userdata = p,
	};
	int r = podpage_path(&path, p->node, p->next);

	if (r < 0)
		return r;
	request.path = buf_str(&path);
	return apiwriter_add(p->writer, &request);
}

static void answer_list(struct apiproof *p, int error, size_t waiting)
{
	const struct proof_event event = {
		.type = PROOF_EV_LISTED, .failed = error < 0, .waiting = waiting};

	if (error < 0)
		log_info("api: the node's pods cannot be listed: %s", strerror(-error));
	step(p, &event);
}

/* A page with a pod that waits is answer enough. */
static void on_page(void *userdata, const struct apiwriter_result *result)
{
	struct apiproof *p = userdata;
	size_t waiting = 0;
	int r;

	if (result->end == APIWRITER_SUPERSEDED)
		return;
	if (result->end != APIWRITER_DONE) {
		log_info("api: the node's pods cannot be listed: %s", result->text);
		step(p, &(struct proof_event){.type = PROOF_EV_LISTED, .failed = true});
		return;
	}
	r = podpage_read(result->body, result->len, &waiting, p->next);
	if (r == 0 && waiting == 0 && *p->next) {
		r = list_page(p);
		if (r == 0)
			return;
	}
	answer_list(p, r, waiting);
}

static void list(struct apiproof *p)
{
	int r;

	p->next[0] = '\0';
	r = list_page(p);
	if (r < 0)
		answer_list(p, r, 0);
}

static void on_set(void *userdata, bool failed)
{
	step(userdata, &(struct proof_event){.type = PROOF_EV_SET, .failed = failed});
}

static void on_cleared(void *userdata, bool failed)
{
	step(userdata, &(struct proof_event){.type = PROOF_EV_CLEARED, .failed = failed});
}

static void carry_out(struct apiproof *p, enum proof_command command)
{
	switch (command) {
	case PROOF_LIST:
		list(p);
		break;
	case PROOF_SET:
		taint_set(p->taint, p->proof.dead, proof_deadline(&p->proof), on_set, p);
		break;
	case PROOF_CLEAR:
		taint_remove(p->taint, on_cleared, p);
		break;
	case PROOF_NOTHING:
		break;
	}
}

/* --- the course --------------------------------------------------------------------------------- */

/* Where nothing was set, what an earlier shutdown has set is to be removed all the same. */
static void end_proof(struct apiproof *p)
{
	bool was_set = p->proof.end >= PROOF_NOT_SET;
	void (*over)(void *userdata) = p->over;

	log_info("api: the out-of-service taint for boot %s %s: %s; the node's start goes on",
		 p->proof.dead, was_set ? "is over" : "is not set", proof_end_name(p->proof.end));
	sd_event_source_set_enabled(p->timer, SD_EVENT_OFF);
	p->over = NULL;
	if (!was_set)
		taint_remove(p->taint, NULL, NULL);
	over(p->userdata);
}

static void step(struct apiproof *p, const struct proof_event *event)
{
	enum proof_command command;
	uint64_t wake_ns;

	if (!p->over)
		return;
	command = proof_step(&p->proof, event, clock_boot_ns());
	if (p->proof.stage == PROOF_OVER) {
		end_proof(p);
		return;
	}
	wake_ns = proof_wake(&p->proof);
	timer_at(p->timer, wake_ns);
	carry_out(p, command);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	step(userdata, &(struct proof_event){.type = PROOF_EV_TIMER});
	return 0;
}

static void on_order(void *userdata, const struct proof_order *order, const char *error)
{
	const struct proof_event event = {
		.type = PROOF_EV_ORDER,
		.failed = !order,
		.holds = order && proof_order_holds(order),
	};

	if (error)
		log_info("cannot query systemd for the units that start after graced: %s", error);
	step(userdata, &event);
}

/* What the engine knows may have changed. */
static void apiproof_turn(struct apiproof *p)
{
	struct proof_event event = {.type = PROOF_EV_FACTS};
	struct engine_evidence evidence;

	engine_get_evidence(monitor_engine(p->monitor), &evidence);
	event.facts = (struct proof_facts){
		.complete = evidence.complete,
		.lost = evidence.lost,
		.occupied = evidence.pods,
		.shutdown = engine_in_shutdown(monitor_engine(p->monitor)),
	};
	step(p, &event);
}

/* --- opening and closing ------------------------------------------------------------------------ */

/* As taint_free(). */
static struct apiproof *apiproof_free(struct apiproof *p)
{
	if (!p)
		return NULL;
	unitorder_free(p->order);
	sd_event_source_disable_unref(p->timer);
	free(p);
	return NULL;
}

/* Begins. The others outlive it; strings are copied. -errno, not logged: nothing is begun then. */
static int apiproof_new(struct monitor *m, struct apiwriter *writer, struct taint *taint,
			const struct apiproof_options *options, struct apiproof **ret)
{
	struct apiproof *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->monitor = m;
	p->writer = writer;
	p->taint = taint;
	p->over = options->over;
	p->userdata = options->userdata;
	snprintf(p->node, sizeof(p->node), "%s", options->node);
	proof_begin(&p->proof, BOOT_END_UNCLEAN, options->dead, taint_boot(taint), clock_boot_ns());
	r = sd_event_add_time(monitor_event(m), &p->timer, CLOCK_BOOTTIME,
			      proof_wake(&p->proof) / 1000 + 1, GRAIN_US, on_timer, p);
	if (r >= 0)
		r = unitorder_query(monitor_event(m), options->bus_address, managed_kubelet_units,
				    on_order, p, &p->order);
	if (r < 0) {
		apiproof_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

/* --- statuses --------------------------------------------------------------------------------- */

/* A node that goes down has little time. */
#define RETRY_FIRST_NS 250000000ULL
#define RETRY_LAST_NS  2000000000ULL
#define TIMEOUT_NS     5000000000ULL
#define IN_FLIGHT      4
#define REQUESTS_MAX   8192

/* A pod whose status is being written, until its last answer. */
struct write {
	LIST_ENTRY(write) link;
	struct statuses *statuses;
	char uid[37];
	char path[640]; /* of the pod */
	uint64_t deadline_ns;
	bool left; /* it is wanted no more */
};

struct statuses {
	struct monitor *monitor;
	struct fetch *fetch;
	struct apiwriter *writer;
	struct taint *taint;	/* NULL: it is not configured */
	struct taint *cordon;	/* NULL likewise */
	struct apiproof *proof; /* NULL: no earlier boot has one */
	struct statuses_earlier earlier;
	bool holds; /* the start of the node */
	LIST_HEAD(, write) writes;
};

static void feed_result(struct statuses *s, const char *uid, enum shutdown_write result)
{
	struct obs obs;

	feed_begin(&obs, OBS_SHUTDOWN);
	obs.shutdown.event = SHUTDOWN_EV_STATUS;
	obs.shutdown.result = result;
	snprintf(obs.shutdown.pod_uid, sizeof(obs.shutdown.pod_uid), "%s", uid);
	feed_obs(monitor_feed(s->monitor), &obs);
}

static void drop(struct write *w)
{
	LIST_REMOVE(w, link);
	free(w);
}

static void log_result(const struct write *w, enum shutdown_write result, const char *text)
{
	const char *name = strstr(w->path, "/namespaces/");

	if (result == SHUTDOWN_WRITTEN)
		log_info("api: wrote the last status of pod %s: %s", w->uid, text);
	else if (result == SHUTDOWN_WRITE_REFUSED || result == SHUTDOWN_WRITE_GAVE_UP)
		log_warning("api: the last status of pod %s (%s) is not written: %s", w->uid,
			    name ? name : w->path, text);
	else
		log_info("api: the last status of pod %s: %s", w->uid, shutdown_write_name(result));
}

/* The last of a write. */
static void end(struct write *w, enum shutdown_write result, const char *text)
{
	struct statuses *s = w->statuses;
	char uid[sizeof(w->uid)];

	memcpy(uid, w->uid, sizeof(uid));
	log_result(w, result, text);
	drop(w);
	feed_result(s, uid, result);
}

/* What an answer that is no success means. */
static enum shutdown_write result_of(const struct apiwriter_result *result)
{
	if (result->end == APIWRITER_EXPIRED)
		return SHUTDOWN_WRITE_GAVE_UP;
	if (result->status == 404 || result->status == 410)
		return SHUTDOWN_WRITE_GONE;
	return result->status == 409 ? SHUTDOWN_WRITE_CONFLICT : SHUTDOWN_WRITE_REFUSED;
}

/* Names of the API's objects alone become a path. */
static bool is_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.");

	return n > 0 && n < 254 && !text[n] && text[0] != '.';
}

static int add(struct write *w, const char *suffix, struct apiwriter_request *request)
{
	char path[sizeof(w->path) + 8], key[48];

	snprintf(path, sizeof(path), "%s%s", w->path, suffix);
	snprintf(key, sizeof(key), "status/%s", w->uid);
	request->path = path;
	request->key = key;
	request->deadline_ns = w->deadline_ns;
	request->userdata = w;
	return apiwriter_add(w->statuses->writer, request);
}

static void on_written(void *userdata, const struct apiwriter_result *result)
{
	struct write *w = userdata;

	if (result->end == APIWRITER_SUPERSEDED)
		drop(w);
	else if (result->end == APIWRITER_DONE)
		end(w, SHUTDOWN_WRITTEN, "it has ended");
	else
		end(w, result_of(result), result->text);
}

/* What the patch is, by what the API has now and how the pod ended. An enum podend, or -errno. */
static int make_patch(const struct write *w, const json_t *json, struct buf *out)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podobj_pod_status status;
	struct podread_error error;
	struct kubelet_ending ending;
	struct podobj_pod pod;
	int r;

	if (!engine_get_ending(monitor_engine(w->statuses->monitor), w->uid, &ending))
		return -ENOENT;
	r = podread_pod(json, &arena, &pod, &error);
	if (r == 0)
		r = podend_make(&ending, &pod, w->uid, &arena, &status);
	if (r == PODEND_WRITE)
		r = apipatch_pod_status(json, &status, out);
	return r;
}

static void send_patch(struct write *w, const struct buf *body)
{
	struct apiwriter_request request = {
		.method = "PATCH",
		.content_type = APIPATCH_TYPE,
		.body = body->data,
		.body_len = body->len,
		.done = on_written,
	};
	int r = add(w, "/status", &request);

	if (r < 0)
		end(w, SHUTDOWN_WRITE_REFUSED, strerror(-r));
}

static void answer_read(struct write *w, const struct apiwriter_result *result)
{
	json_auto_t *json = NULL;
	_cleanup_(buf_free) struct buf body = {};
	struct podread_error error;
	int r = podread_parse(result->body, result->len, &json, &error);

	if (r == 0)
		r = make_patch(w, json, &body);
	switch (r) {
	case PODEND_WRITE:
		send_patch(w, &body);
		break;
	case PODEND_THERE:
		end(w, SHUTDOWN_WRITE_THERE, "");
		break;
	case PODEND_OTHER:
		end(w, SHUTDOWN_WRITE_GONE, "");
		break;
	case PODEND_DROP:
		end(w, SHUTDOWN_WRITE_REFUSED,
		    "the API has an end of a container that does not "
		    "fit what was observed");
		break;
	default:
		end(w, SHUTDOWN_WRITE_REFUSED, strerror(-r));
	}
}

static void on_read(void *userdata, const struct apiwriter_result *result)
{
	struct write *w = userdata;

	if (result->end == APIWRITER_SUPERSEDED || w->left)
		drop(w);
	else if (result->end == APIWRITER_DONE)
		answer_read(w, result);
	else
		end(w, result_of(result), result->text);
}

static bool name_path(struct write *w, const struct kubelet_ending *ending)
{
	int n = snprintf(w->path, sizeof(w->path), "/api/v1/namespaces/%s/pods/%s",
			 ending->namespace_, ending->name);

	return n > 0 && (size_t)n < sizeof(w->path) && is_name(ending->namespace_) &&
	       is_name(ending->name);
}

static void begin_write(struct statuses *s, const struct effect *effect)
{
	struct apiwriter_request request = {.method = "GET", .done = on_read};
	struct write *w = calloc(1, sizeof(*w));
	struct kubelet_ending ending;

	if (!w) {
		feed_result(s, effect->pod_uid, SHUTDOWN_WRITE_GAVE_UP);
		return;
	}
	w->statuses = s;
	w->deadline_ns = effect->at_ns;
	memcpy(w->uid, effect->pod_uid, sizeof(w->uid));
	LIST_INSERT_HEAD(&s->writes, w, link);
	if (!engine_get_ending(monitor_engine(s->monitor), w->uid, &ending) ||
	    !name_path(w, &ending))
		end(w, SHUTDOWN_WRITE_REFUSED, "its name is not known, or not a pod's");
	else if (add(w, "", &request) < 0)
		end(w, SHUTDOWN_WRITE_GAVE_UP, "too many requests wait");
}

/* A patch that is on its way is not caught. */
static void leave_write(struct statuses *s, const char *uid)
{
	struct write *w;

	LIST_FOREACH(w, &s->writes, link)
		w->left |= strcmp(w->uid, uid) == 0;
}

void statuses_effect(struct statuses *s, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_WRITE_STATUS:
		begin_write(s, effect);
		break;
	case EFFECT_LEAVE_STATUS:
		leave_write(s, effect->pod_uid);
		break;
	case EFFECT_SET_TAINT:
	case EFFECT_CLEAR_TAINT:
		if (s->taint)
			taint_effect(s->taint, effect);
		break;
	case EFFECT_CORDON:
	case EFFECT_UNCORDON:
		if (s->cordon)
			taint_effect(s->cordon, effect);
		break;
	default:
		break;
	}
}

/* --- opening and closing ------------------------------------------------------------------------ */

static int open_writer(struct statuses *s)
{
	const struct options *options = monitor_options(s->monitor);
	char node[OPTIONS_NODE_SIZE];
	struct source_kubelet_options peer = options_of_lister(options, META_API, node);
	struct apiwriter_options writer = {
		.peer = &peer,
		.requests_max = REQUESTS_MAX,
		.in_flight = IN_FLIGHT,
		.timeout_ns = TIMEOUT_NS,
		.retry_first_ns = RETRY_FIRST_NS,
		.retry_last_ns = RETRY_LAST_NS,
	};
	struct source_kubelet_why why = {};
	struct fetch_why lacks;
	int r = fetch_new(monitor_event(s->monitor), &s->fetch, &lacks);

	if (r < 0) {
		say("cannot write to the API server: %s", lacks.text);
		return r;
	}
	r = apiwriter_new(monitor_event(s->monitor), s->fetch, &writer, &s->writer, &why);
	if (r < 0)
		say("cannot write to the API server: %s", why.text[0] ? why.text : strerror(-r));
	return r;
}

static void on_proof_over(void *userdata)
{
	struct statuses *s = userdata;

	s->holds = false;
	s->earlier.over(s->earlier.userdata);
}

bool statuses_hold_start(const struct statuses *s)
{
	return s->holds;
}

void statuses_turn(struct statuses *s)
{
	if (s->proof)
		apiproof_turn(s->proof);
}

static int begin_proof(struct statuses *s, const struct statuses_earlier *earlier)
{
	char node[OPTIONS_NODE_SIZE];
	const struct apiproof_options options = {
		.dead = earlier->dead,
		.node = options_of_lister(monitor_options(s->monitor), META_API, node).api_node,
		.bus_address = earlier->bus_address,
		.over = on_proof_over,
		.userdata = s,
	};
	int r = apiproof_new(s->monitor, s->writer, s->taint, &options, &s->proof);

	s->earlier = *earlier;
	s->holds = r >= 0;
	if (r < 0)
		log_warning("the out-of-service taint is not set for boot %s, which ended "
			    "uncleanly: systemd cannot be queried: %s",
			    earlier->dead, strerror(-r));
	return r;
}

static int open_taint(struct statuses *s, const struct statuses_earlier *earlier)
{
	int r = taint_new(s->monitor, s->writer, APIPATCH_OUT_OF_SERVICE, &s->taint);

	if (r < 0)
		return r;
	if (!earlier->dead || begin_proof(s, earlier) < 0)
		taint_remove(s->taint, NULL, NULL);
	return 0;
}

/* What a shutdown before has left is removed; one that is under way sets it again. */
static int open_cordon(struct statuses *s)
{
	int r = taint_new(s->monitor, s->writer, APIPATCH_SHUTDOWN, &s->cordon);

	if (r == 0)
		taint_remove(s->cordon, NULL, NULL);
	return r;
}

int statuses_new(struct monitor *m, const struct config_shutdown *what,
		 const struct statuses_earlier *earlier, struct statuses **ret)
{
	struct statuses *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->monitor = m;
	r = open_writer(s);
	if (r >= 0 && what->taint)
		r = open_taint(s, earlier);
	if (r >= 0 && what->unschedulable)
		r = open_cordon(s);
	if (r < 0) {
		statuses_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct statuses *statuses_free(struct statuses *s)
{
	struct write *w;

	if (!s)
		return NULL;
	apiproof_free(s->proof);
	taint_free(s->taint);
	taint_free(s->cordon);
	apiwriter_free(s->writer);
	fetch_free(s->fetch);
	while ((w = LIST_FIRST(&s->writes)))
		drop(w);
	free(s);
	return NULL;
}
