// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about core/engine: what it keeps lets another engine go on, wherever the first is ended.
 */
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/relay.h"
#include "lib/engine/relay_plays.h"

struct check {
	const struct relay_play *play;
	const struct relay *relay;
	const struct relay_leg *leg;
	const struct relay_run *run;
};

#define FAIL(c, format, ...)                                                                  \
	fail_msg("%s: %zu of %zu, then %zu lost%s: " format, (c)->play->name, (c)->leg->at,   \
		 (c)->relay->fed.n, (c)->leg->lost, (c)->leg->incremental ? ", by bits" : "", \
		 __VA_ARGS__)

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_sender(const struct record_sender *a, const struct record_sender *b)
{
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		if (!same_text(a->ancestors[i], b->ancestors[i]))
			return false;
	return a->kind == b->kind && a->process.pid == b->process.pid &&
	       same_text(a->process.comm, b->process.comm) && same_text(a->cgroup, b->cgroup) &&
	       same_text(a->pod.name, b->pod.name) && same_text(a->container.id, b->container.id);
}

static bool same_signal(const struct record_sigref *a, const struct record_sigref *b)
{
	if (!a->known || !b->known)
		return a->known == b->known;
	return a->number == b->number && a->result == b->result && a->at_ns == b->at_ns &&
	       same_sender(&a->sender, &b->sender);
}

/* After a restart, a crash without a known cause is no longer called the process's own. */
static bool same_cause(const struct record_stop *want, const struct record_stop *got)
{
	if (want->cause == got->cause)
		return true;
	return want->outcome == OUTCOME_CRASHED && want->cause == CAUSE_SELF &&
	       got->cause == CAUSE_UNKNOWN && got->gaps & GAP(DAEMON_DOWN);
}

static bool same_request(const struct record_request *a, const struct record_request *b)
{
	return a->number == b->number && a->result == b->result && a->at_ns == b->at_ns &&
	       a->taken_ns == b->taken_ns && a->dropped_ns == b->dropped_ns &&
	       a->reason == b->reason && same_text(a->target_comm, b->target_comm) &&
	       a->sender == b->sender && a->process.pid == b->process.pid;
}

static bool same_requests(const struct record_stop *a, const struct record_stop *b)
{
	for (size_t i = 0; i < RECORD_REQUESTS; i++)
		if (!same_request(a->requests + i, b->requests + i))
			return false;
	return a->n_requests == b->n_requests && a->inferred == b->inferred;
}

/* gaps: what it has besides that of the restart. */
static const char *difference(const struct record_stop *want, uint32_t gaps,
			      const struct record_stop *got)
{
	if (want->outcome != got->outcome || !same_cause(want, got))
		return "outcome";
	if (gaps != (got->gaps & ~GAP(DAEMON_DOWN)))
		return "gaps";
	if (!same_signal(&want->stop_signal, &got->stop_signal) ||
	    !same_signal(&want->kill_signal, &got->kill_signal) ||
	    !same_signal(&want->keeper_signal, &got->keeper_signal) || want->deaf != got->deaf ||
	    want->reason != got->reason)
		return "signals";
	if (!same_requests(want, got))
		return "requests";
	if (want->exit.known != got->exit.known || want->exit.status != got->exit.status ||
	    want->exit.at_ns != got->exit.at_ns || want->latency_ns != got->latency_ns ||
	    want->empty_ns != got->empty_ns)
		return "exit";
	if (want->grace.ns != got->grace.ns || want->grace.from != got->grace.from)
		return "grace";
	if (want->collateral_kills != got->collateral_kills || want->oom_kills != got->oom_kills)
		return "counts";
	if (!same_text(want->pod.name, got->pod.name) || !same_text(want->pod.uid, got->pod.uid) ||
	    !same_text(want->container.name, got->container.name) ||
	    !same_text(want->container.cgroup, got->container.cgroup) ||
	    !same_text(want->container.namespace_, got->container.namespace_) ||
	    !same_text(want->container.workload, got->container.workload) ||
	    !same_text(want->process.comm, got->process.comm))
		return "names";
	return NULL;
}

static size_t stops(const struct world *w)
{
	return world_count(w, RECORD_STOP);
}

/* Where the record of that process's begin, or end, is. */
static size_t place(const struct relay *relay, enum obs_type type, const struct record_stop *stop)
{
	for (size_t i = 0; i < relay->fed.n; i++) {
		const struct obs *obs = &relay->fed.list[i];
		const struct graced_proc *proc =
			type == OBS_INIT ? &obs->init.proc : &obs->exit.proc;

		if (obs->type == type && proc->pid == stop->process.pid &&
		    proc->start_ns == stop->process.start_ns)
			return i;
	}
	return SIZE_MAX;
}

static bool is_made(const struct relay *relay, uint64_t id, size_t before)
{
	for (size_t i = 0; i < before; i++) {
		const struct obs *obs = &relay->fed.list[i];

		if ((obs->type == OBS_CGROUP_NEW || obs->type == OBS_CGROUP_FOUND) &&
		    obs->cgroup.id == id)
			return true;
	}
	return false;
}

/* It became init after the second engine was attached, and ran before that: the cgroup was there. */
static uint32_t late(const struct check *c, const struct record_stop *stop)
{
	const struct relay *relay = c->relay;
	size_t begin = place(relay, OBS_INIT, stop), at = c->leg->at;

	if (at < relay->attached || begin < at || begin == SIZE_MAX ||
	    stop->process.start_ns > relay->fed.list[at - 1].at_ns ||
	    !is_made(relay, relay->fed.list[begin].init.id, at))
		return 0;
	return GAP(ATTACHED_LATE);
}

static void check_stops(const struct check *c)
{
	for (size_t i = 0; i < stops(&c->relay->whole); i++) {
		const struct record_stop *want =
			&world_record(&c->relay->whole, RECORD_STOP, i)->stop;
		const struct record_stop *got = NULL;
		const char *why;

		if (relay_count_stops(c->run, want->id, &got) != 1)
			FAIL(c, "%s reported %zu times", want->id,
			     relay_count_stops(c->run, want->id, &got));
		why = difference(want, want->gaps | late(c, want), got);
		if (why)
			FAIL(c, "%s: %s: %s/%s, gaps %x", want->id, why, outcome_name(got->outcome),
			     cause_name(got->cause), got->gaps);
	}
	if (stops(&c->run->first) + stops(&c->run->second) != stops(&c->relay->whole))
		FAIL(c, "%zu and %zu stops", stops(&c->run->first), stops(&c->run->second));
}

/* The n-th record of that type, of one world or of two in a row. */
static const struct record *nth(const struct world *a, const struct world *b, enum record_type type,
				size_t n)
{
	size_t of_a = world_count(a, type);

	return n < of_a ? world_record(a, type, n) : world_record(b, type, n - of_a);
}

/* Its cgroups are found empty: the record of that may be on its way in a play, and is lost on a
 * node.
 */
static bool is_found_so(const struct check *c, const struct record_pod_state *want,
			const struct record_pod_state *got)
{
	uint64_t at = c->leg->at ? c->relay->fed.list[c->leg->at - 1].at_ns : 0;

	return want->state == got->state && got->trigger == POD_RESTART && got->at_ns > at &&
	       want->at_ns <= at + SEC(1);
}

static void check_pods(const struct check *c)
{
	const struct relay_run *run = c->run;
	size_t n = world_count(&c->relay->whole, RECORD_POD);
	size_t got = world_count(&run->first, RECORD_POD) + world_count(&run->second, RECORD_POD);
	bool found = false;

	for (size_t i = 0; i < n && i < got; i++) {
		const struct record_pod_state *want =
			&world_record(&c->relay->whole, RECORD_POD, i)->pod_state;
		const struct record_pod_state *is =
			&nth(&run->first, &run->second, RECORD_POD, i)->pod_state;

		if (is_found_so(c, want, is)) {
			found = true;
			continue;
		}
		if (strcmp(want->id, is->id) != 0 || want->trigger != is->trigger ||
		    want->previous != is->previous || want->deadline_ns != is->deadline_ns ||
		    want->exit_ns != is->exit_ns || (want->empty_ns != is->empty_ns && !found) ||
		    want->removed_ns != is->removed_ns || !same_text(want->pod.name, is->pod.name))
			FAIL(c, "pod record %zu: %s by %s, not %s by %s", i, is->id,
			     pod_trigger_name(is->trigger), want->id,
			     pod_trigger_name(want->trigger));
	}
	if (n != got)
		FAIL(c, "%zu pod records, not %zu", got, n);
}

static void check_count(const struct check *c, enum record_type type)
{
	size_t want = world_count(&c->relay->whole, type);
	size_t got = world_count(&c->run->first, type) + world_count(&c->run->second, type);

	if (want != got)
		FAIL(c, "%zu records of type %d, not %zu", got, type, want);
}

static void each_split(void (*check)(const struct check *c))
{
	for (size_t i = 0; i < relay_n_plays; i++) {
		const struct relay_play *play = &relay_plays[i];
		struct relay relay;

		relay_open(&relay, play->config, play->play);
		for (size_t n = 0; n < 2 * relay.fed.n; n++) {
			const struct relay_leg leg = {.at = n / 2, .incremental = n % 2};
			struct relay_run run;

			relay_run(&relay, &leg, &run);
			check(&(struct check){play, &relay, &leg, &run});
			relay_run_close(&run);
		}
		relay_close(&relay);
	}
}

static void check_same(const struct check *c)
{
	check_stops(c);
	check_pods(c);
	check_count(c, RECORD_DISCREPANCY);
	check_count(c, RECORD_POD_READY);
}

static void test_nothing_lost(void **state)
{
	each_split(check_same);
}

static void check_partial(const struct check *c, const struct record_stop *want)
{
	size_t begin = place(c->relay, OBS_INIT, want), end = place(c->relay, OBS_EXIT, want);
	size_t until = c->leg->at + c->leg->lost;
	const struct record_stop *got = NULL;
	size_t n = relay_count_stops(c->run, want->id, &got);
	bool known = begin < c->leg->at || begin >= until;

	/* One that came and went while nobody watched nobody can know of. */
	if (n > 1 || (known && !n))
		FAIL(c, "%s reported %zu times", want->id, n);
	if (!n || begin >= c->leg->at)
		return;
	/* Unless that was so long ago that the verdict does not depend on it. */
	if (end >= c->leg->at && !(got->gaps & GAP(DAEMON_DOWN)) && !got->oom_kills_unknown &&
	    end != SIZE_MAX)
		FAIL(c, "%s: gaps %x", want->id, got->gaps);
	if (end >= c->leg->at && end < until &&
	    (got->exit.known || got->exit.at_ns || !(got->gaps & GAP(EXIT_UNSEEN))))
		FAIL(c, "%s: its exit is known, gaps %x", want->id, got->gaps);
	if (begin < c->leg->at && !same_text(want->container.name, got->container.name) &&
	    got->container.name)
		FAIL(c, "%s is called %s", want->id, got->container.name);
}

/* One that is over without ever having been listed is forgotten, and listed then it is another. */
static bool is_listed(const struct check *c)
{
	const struct engine_config *config = c->relay->config;

	if (!config || !(config->sources >> META_KUBELET & 1))
		return true;
	for (size_t i = 0; i < c->leg->at; i++)
		if (c->relay->fed.list[i].type == OBS_LISTED)
			return true;
	return false;
}

/* A pod that was followed goes through its states one after the other, and ends if it does. */
static void check_chain(const struct check *c)
{
	const struct relay_run *run = c->run;
	size_t n = world_count(&run->first, RECORD_POD) + world_count(&run->second, RECORD_POD);
	size_t all = world_count(&c->relay->whole, RECORD_POD);
	enum pod_stage last = POD_STAGE_NONE;

	if (!world_count(&run->first, RECORD_POD) || !is_listed(c))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct record_pod_state *p =
			&nth(&run->first, &run->second, RECORD_POD, i)->pod_state;

		if (p->previous != last || p->state <= last)
			FAIL(c, "%s after %s", p->id, pod_stage_name(last));
		last = p->state;
	}
	if (n && all &&
	    last != world_record(&c->relay->whole, RECORD_POD, all - 1)->pod_state.state)
		FAIL(c, "%s is the last state", pod_stage_name(last));
}

static void check_lost(const struct check *c)
{
	for (size_t i = 0; i < stops(&c->relay->whole); i++)
		check_partial(c, &world_record(&c->relay->whole, RECORD_STOP, i)->stop);
	check_chain(c);
}

static void test_lost(void **state)
{
	for (size_t i = 0; i < relay_n_plays; i++) {
		const struct relay_play *play = &relay_plays[i];
		struct relay_leg leg = {};
		struct relay relay;

		relay_open(&relay, play->config, play->play);
		for (leg.at = relay.attached; leg.at < relay.fed.n; leg.at++) {
			for (leg.lost = 1; leg.at + leg.lost <= relay.fed.n; leg.lost++) {
				struct relay_run run;

				leg.incremental = leg.lost % 2;
				relay_run(&relay, &leg, &run);
				check_lost(&(struct check){play, &relay, &leg, &run});
				relay_run_close(&run);
			}
		}
		relay_close(&relay);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("wherever it is ended, another goes on, and each thing is reported once as it was",
		      test_nothing_lost),
		CLAIM("whatever is lost in between, each is reported once, and what is not known as such",
		      test_lost),
	};

	return cmocka_run_group_tests_name("core/engine: what it keeps", tests, NULL, NULL);
}
