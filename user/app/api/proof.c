// SPDX-License-Identifier: Apache-2.0
/* Carries the commands of core/boot/proof out. */
#include "app/api/proof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/live/monitor.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "core/boot/proof.h"
#include "core/engine/engine.h"
#include "core/shutdown/managed.h"
#include "io/bus/unit_order.h"
#include "io/proc/clock.h"
#include "wire/kubernetes/pod_page.h"

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
	struct podpage page = {};
	int r;

	if (result->end == APIWRITER_SUPERSEDED)
		return;
	if (result->end != APIWRITER_DONE) {
		log_info("api: the node's pods cannot be listed: %s", result->text);
		step(p, &(struct proof_event){.type = PROOF_EV_LISTED, .failed = true});
		return;
	}
	r = podpage_read(result->body, result->len, &page);
	memcpy(p->next, page.next, sizeof(p->next));
	if (r == 0 && page.waiting == 0 && *p->next) {
		r = list_page(p);
		if (r == 0)
			return;
	}
	answer_list(p, r, page.waiting);
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
static void end(struct apiproof *p)
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
		end(p);
		return;
	}
	wake_ns = proof_wake(&p->proof);
	sd_event_source_set_time(p->timer, wake_ns / 1000 + 1);
	sd_event_source_set_enabled(p->timer, SD_EVENT_ONESHOT);
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

void apiproof_turn(struct apiproof *p)
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

int apiproof_new(struct monitor *m, struct apiwriter *writer, struct taint *taint,
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

struct apiproof *apiproof_free(struct apiproof *p)
{
	if (!p)
		return NULL;
	unitorder_free(p->order);
	sd_event_source_disable_unref(p->timer);
	free(p);
	return NULL;
}
