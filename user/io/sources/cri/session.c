// SPDX-License-Identifier: Apache-2.0
/* Finds the runtime, connects to it, and begins again when it fails. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "io/proc/clock.h"
#include "io/sources/cri/priv.h"

/* How often a look-up may look at the socket, or for one. */
#define LOOK_NS	   UINT64_C(100000000)
/* How often it is looked at without one. */
#define WATCH_USEC 2000000
/* How long nobody needs to ask before it is seen whether the runtime is still there. */
#define SILENT_NS  UINT64_C(10000000000)

const char *const podsrc_cri_places[] = {
	"/run/containerd/containerd.sock",
	"/run/crio/crio.sock",
	"/run/k3s/containerd/containerd.sock",
	"/run/k0s/containerd.sock",
	"/var/snap/microk8s/common/run/containerd.sock",
	"/run/cri-dockerd.sock",
	NULL,
};

static void watch(struct podsrc_cri *cri)
{
	sd_event_source_set_time_relative(cri->retry, WATCH_USEC);
	sd_event_source_set_enabled(cri->retry, SD_EVENT_ONESHOT);
}

static void retry_after(struct podsrc_cri *cri, uint64_t delay_ns)
{
	cri->retry_ns = clock_boot_ns() + delay_ns;
	sd_event_source_set_time_relative(cri->retry, delay_ns / 1000);
	sd_event_source_set_enabled(cri->retry, SD_EVENT_ONESHOT);
}

/* Doubling, up to the longest. */
static void back_off(struct podsrc_cri *cri)
{
	uint64_t delay_ns = cri->retry_min_ns;

	for (uint64_t i = 0; i < cri->failures && delay_ns < cri->retry_max_ns; i++)
		delay_ns *= 2;
	cri->failures++;
	retry_after(cri, delay_ns < cri->retry_max_ns ? delay_ns : cri->retry_max_ns);
}

static void drop(struct podsrc_cri *cri, enum podsrc_cri_place place)
{
	podsrc_cri_events_stop(cri);
	podsrc_cri_call_cancel_all(cri, place);
	podsrc_cri_list_abort(cri, place);
}

static void say(struct podsrc_cri *cri, const char *what, const char *text)
{
	snprintf(cri->text, sizeof(cri->text), "%s%s%.120s", what, *what ? ": " : "", text);
}

static void doom_waiting(struct podsrc_cri *cri)
{
	struct podsrc_cri_lookup *lookup;

	while ((lookup = cri->queue.places[PLACE_WAITING].first))
		podsrc_cri_queue_move(&cri->queue, lookup, PLACE_DOOMED);
	while ((lookup = cri->queue.places[PLACE_EXITS].first))
		podsrc_cri_queue_remove(&cri->queue, lookup);
	while ((lookup = cri->queue.places[PLACE_IDLE].first))
		podsrc_cri_queue_remove(&cri->queue, lookup);
	podsrc_cri_list_tell_doomed(cri);
}

static void go_down(struct podsrc_cri *cri)
{
	cri->phase = PHASE_DOWN;
	cri->candidate = 0;
	drop(cri, PLACE_DOOMED);
	doom_waiting(cri);
	back_off(cri);
}

void podsrc_cri_session_fail(struct podsrc_cri *cri, const char *what, const char *text)
{
	say(cri, what, text);
	go_down(cri);
}

/* There is nothing to ask. */
static void turn_off(struct podsrc_cri *cri)
{
	cri->phase = PHASE_OFF;
	cri->candidate = 0;
	cri->path[0] = 0;
	doom_waiting(cri);
	back_off(cri);
}

static void on_version(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer);

static void greet(struct podsrc_cri *cri, enum cri_version version)
{
	cri->phase = PHASE_HELLO;
	cri->version = version;
	if (podsrc_cri_call(cri, CRI_VERSION, NULL, NULL, on_version) < 0)
		podsrc_cri_session_fail(cri, "Version", "out of memory");
}

/* The first that is there, from cri->candidate on. -ENOENT, or what is wrong with the last one that
 * should not be asked. */
static int choose(struct podsrc_cri *cri)
{
	const char *const own[] = {cri->endpoint, NULL};
	const char *const *places = cri->endpoint[0] ? own : cri->search;
	bool all = cri->candidate == 0;
	int result = -ENOENT;

	for (; places[cri->candidate]; cri->candidate++) {
		const char *place = places[cri->candidate];
		char why[160];
		int r = podsrc_cri_sock_check(place, &cri->sock, why);

		if (r == -ENOENT)
			continue;
		snprintf(cri->path, sizeof(cri->path), "%s", place);
		if (r == 0)
			return 0;
		say(cri, "", why);
		result = r;
	}
	if (all && result == -ENOENT)
		say(cri, "", "there is no socket of a runtime");
	return result;
}

static void connect_next(struct podsrc_cri *cri)
{
	int r = choose(cri);

	if (r < 0) {
		/* One that was there is missed. */
		if (r == -ENOENT && !cri->endpoint[0] && !cri->runtime.name[0])
			turn_off(cri);
		else
			go_down(cri);
		return;
	}
	if (!cri->failures)
		cri->text[0] = 0;
	cri->connection = clock_boot_ns();
	cri->retry_ns = 0;
	watch(cri);
	cri->list.useless = cri->stream.refused = false;
	cri->sock_checked_ns = clock_boot_ns();
	greet(cri, CRI_V1);
}

static void begin(struct podsrc_cri *cri)
{
	cri->candidate = 0;
	connect_next(cri);
}

/* Docker brings a containerd whose CRI is off: another runtime may have one. */
static void try_next_candidate(struct podsrc_cri *cri)
{
	snprintf(cri->text, sizeof(cri->text), "%.100s does not speak CRI", cri->path);
	cri->candidate++;
	connect_next(cri);
}

static void on_version(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer)
{
	struct podsrc_cri *cri = call->cri;

	if (answer->verdict == VERDICT_REFUSED && answer->grpc_status == CRI_GRPC_UNIMPLEMENTED) {
		if (cri->version == CRI_V1)
			greet(cri, CRI_V1ALPHA2);
		else
			try_next_candidate(cri);
		return;
	}
	if (answer->verdict != VERDICT_ANSWER) {
		podsrc_cri_session_fail(cri, "Version", answer->text);
		return;
	}
	if (cri_read_version(answer->payload, answer->len, &cri->runtime) < 0) {
		podsrc_cri_session_fail(cri, "Version", "the answer makes no sense");
		return;
	}
	cri->phase = PHASE_LISTING;
	podsrc_cri_list_start(cri, true);
}

void podsrc_cri_session_ready(struct podsrc_cri *cri)
{
	cri->phase = PHASE_READY;
	cri->failures = 0;
	cri->text[0] = 0;
	podsrc_cri_events_start(cri);
}

void podsrc_cri_session_look(struct podsrc_cri *cri)
{
	uint64_t now_ns = clock_boot_ns();

	if (cri->phase == PHASE_DOWN || now_ns - cri->sock_checked_ns < LOOK_NS)
		return;
	cri->sock_checked_ns = now_ns;
	if (cri->phase != PHASE_OFF) {
		if (!podsrc_cri_sock_is_replaced(cri->path, &cri->sock))
			return;
		drop(cri, PLACE_WAITING);
	}
	begin(cri);
}

/* What it says does not matter: that it cannot be asked has ended the session already. */
static void on_probe(struct podsrc_cri_call *call, const struct podsrc_cri_answer *answer)
{
	(void)call;
	(void)answer;
}

void podsrc_cri_session_probe(struct podsrc_cri *cri)
{
	podsrc_cri_session_look(cri);
	if (cri->phase == PHASE_READY)
		podsrc_cri_call(cri, CRI_VERSION, NULL, NULL, on_probe);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct podsrc_cri *cri = userdata;

	(void)source;
	(void)usec;
	if (cri->phase == PHASE_OFF || cri->phase == PHASE_DOWN) {
		begin(cri);
		return 0;
	}
	watch(cri);
	podsrc_cri_session_look(cri);
	if (clock_boot_ns() - cri->answered_ns > SILENT_NS)
		podsrc_cri_session_probe(cri);
	return 0;
}

int podsrc_cri_session_open(struct podsrc_cri *cri)
{
	if (!cri->search)
		cri->search = podsrc_cri_places;
	return sd_event_add_time_relative(cri->event, &cri->retry, CLOCK_MONOTONIC, 0, 1000,
					  on_retry, cri);
}

void podsrc_cri_session_close(struct podsrc_cri *cri)
{
	podsrc_cri_call_cancel_all(cri, PLACE_DOOMED);
	cri->retry = sd_event_source_disable_unref(cri->retry);
}
