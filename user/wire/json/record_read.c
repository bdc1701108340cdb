// SPDX-License-Identifier: Apache-2.0
#include "wire/json/record_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/time.h"
#include "wire/json/record.h"
#include "wire/kernel/event.h"

#define GRACE_MAX_S 1000000000.0
#define CORE_DUMPED 0x80

/* What is read, and the first thing that was wrong with it. */
struct reading {
	struct record *record;
	int error;
};

/* What looks damaged in a record of a newer graced may be its way. */
static void fail(struct reading *r, int error)
{
	if (!r->error || error == -EPROTONOSUPPORT)
		r->error = error;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool number_of(struct reading *r, const json_t *object, const char *key, uint64_t max,
		      uint64_t *ret)
{
	const json_t *member = json_object_get(object, key);
	json_int_t value = json_integer_value(member);

	if (!member || json_is_null(member))
		return false;
	if (!json_is_integer(member) || value < 0 || (uint64_t)value > max) {
		fail(r, -EBADMSG);
		return false;
	}
	*ret = (uint64_t)value;
	return true;
}

/* 0: not known. */
static uint64_t time_of(struct reading *r, const json_t *object, const char *key)
{
	uint64_t value = 0;

	number_of(r, object, key, INT64_MAX, &value);
	return value;
}

static uint32_t small_of(struct reading *r, const json_t *object, const char *key)
{
	uint64_t value = 0;

	number_of(r, object, key, UINT32_MAX, &value);
	return (uint32_t)value;
}

/* --- words --------------------------------------------------------------------------------------
 */

typedef const char *(*word_fn)(unsigned int value);

#define WORD(type, name)                                   \
	static const char *name##_word(unsigned int value) \
	{                                                  \
		return name##_name((type)value);           \
	}

WORD(enum outcome, outcome)
WORD(enum cause, cause)
WORD(enum gap, gap)
WORD(enum unheard, unheard)
WORD(enum sender_kind, sender_kind)
WORD(enum grace_from, grace_from)
WORD(enum cgpath_qos, cgpath_qos)
WORD(enum cgpath_runtime, cgpath_runtime)
WORD(enum record_container_kind, record_container_kind)
WORD(int32_t, record_result)

/* The value of n whose word that is; absent or null: fallback. */
static unsigned int word_of(struct reading *r, const json_t *object, const char *key, word_fn word,
			    unsigned int n, unsigned int fallback)
{
	const json_t *member = json_object_get(object, key);
	const char *text = json_string_value(member);

	if (!member || json_is_null(member))
		return fallback;
	for (unsigned int i = 0; text && i < n; i++)
		if (word(i) && strcmp(word(i), text) == 0)
			return i;
	fail(r, text ? -EPROTONOSUPPORT : -EBADMSG);
	return fallback;
}

/* --- parts --------------------------------------------------------------------------------------
 */

static void read_pod(struct reading *r, const json_t *pod, struct record_pod *ret)
{
	if (!json_is_object(pod))
		return;
	*ret = (struct record_pod){
		.known = true,
		.namespace_ = text_of(pod, "namespace"),
		.name = text_of(pod, "name"),
		.uid = text_of(pod, "uid"),
		.workload = text_of(pod, "workload"),
		.workload_kind = text_of(pod, "workload_kind"),
		.qos = word_of(r, pod, "qos", cgpath_qos_word, CGPATH_QOS_BESTEFFORT + 1,
			       CGPATH_QOS_UNKNOWN),
		.is_static = json_is_true(json_object_get(pod, "static")),
	};
}

static void read_container(struct reading *r, const json_t *container, struct record_container *ret)
{
	uint64_t attempt = 0;
	bool known;

	if (!json_is_object(container))
		return;
	known = number_of(r, container, "attempt", UINT32_MAX, &attempt);
	*ret = (struct record_container){
		.known = true,
		.name = text_of(container, "name"),
		.id = text_of(container, "id"),
		.runtime = word_of(r, container, "runtime", cgpath_runtime_word, CGPATH_RT_ECS + 1,
				   CGPATH_RT_UNKNOWN),
		.kind = word_of(r, container, "kind", record_container_kind_word,
				CONTAINER_KIND_PROCESS + 1, CONTAINER_KIND_UNKNOWN),
		.cgroup = text_of(container, "cgroup"),
		.image = text_of(container, "image"),
		.attempt_known = known,
		.attempt = (uint32_t)attempt,
		.namespace_ = text_of(container, "namespace"),
		.workload = text_of(container, "workload"),
		.workload_kind = text_of(container, "workload_kind"),
	};
}

static struct record_process read_process(struct reading *r, const json_t *process)
{
	return (struct record_process){
		.pid = small_of(r, process, "pid"),
		.ns_pid = small_of(r, process, "ns_pid"),
		.comm = text_of(process, "comm"),
		.start_ns = time_of(r, process, "start_boot_ns"),
	};
}

static void read_sender(struct reading *r, const json_t *sender, struct record_sender *ret)
{
	const json_t *ancestors = json_object_get(sender, "ancestors"), *one;
	size_t i;

	*ret = (struct record_sender){.kind = SENDER_UNKNOWN};
	if (!json_is_object(sender))
		return;
	/* A sender of an unknown kind has no object: null is that of SENDER_UNPLACED. */
	ret->kind = word_of(r, sender, "kind", sender_kind_word, SENDER_UNKNOWN, SENDER_UNPLACED);
	ret->process = read_process(r, sender);
	json_array_foreach(ancestors, i, one) {
		if (i < GRACED_ANCESTORS)
			ret->ancestors[i] = json_string_value(one);
	}
	read_pod(r, json_object_get(sender, "pod"), &ret->pod);
	read_container(r, json_object_get(sender, "container"), &ret->container);
	ret->cgroup = text_of(sender, "cgroup");
}

static uint32_t read_number(struct reading *r, const json_t *signal, int32_t *ret_result)
{
	uint64_t number = 0;

	number_of(r, signal, "number", 64, &number);
	*ret_result = (int32_t)word_of(r, signal, "result", record_result_word, 6, 5);
	return (uint32_t)number;
}

static void read_sigref(struct reading *r, const json_t *signal, struct record_sigref *ret)
{
	if (!json_is_object(signal))
		return;
	ret->known = true;
	ret->number = read_number(r, signal, &ret->result);
	ret->at_ns = time_of(r, signal, "at_boot_ns");
	read_sender(r, json_object_get(signal, "sender"), &ret->sender);
}

static void read_requests(struct reading *r, const json_t *requests, struct record_stop *stop)
{
	const json_t *one, *sender;
	size_t i;

	json_array_foreach(requests, i, one) {
		struct record_request *request = stop->requests + i;

		if (i >= RECORD_REQUESTS)
			break;
		sender = json_object_get(one, "sender");
		request->number = read_number(r, one, &request->result);
		request->at_ns = time_of(r, one, "at_boot_ns");
		request->taken_ns = time_of(r, one, "taken_boot_ns");
		request->dropped_ns = time_of(r, one, "dropped_boot_ns");
		request->reason =
			word_of(r, one, "reason", unheard_word, UNHEARD_COUNT, UNHEARD_NONE);
		request->target_comm = text_of(one, "target_comm");
		request->sender = word_of(r, sender, "kind", sender_kind_word, SENDER_UNKNOWN,
					  SENDER_UNPLACED);
		request->process = read_process(r, sender);
	}
}

static void read_exit(struct reading *r, const json_t *exit, struct record_exit *ret)
{
	uint64_t signal = 0, code = 0;
	bool has_code = number_of(r, exit, "code", UINT32_MAX, &code);

	ret->known = number_of(r, exit, "signal", 0x7f, &signal);
	ret->at_ns = time_of(r, exit, "at_boot_ns");
	if (ret->known) {
		ret->status = (uint32_t)(signal | (code & 0xff) << 8);
		if (json_is_true(json_object_get(exit, "core_dumped")))
			ret->status |= CORE_DUMPED;
	} else if (has_code) {
		ret->reported = true;
		ret->code = (int32_t)code;
	}
}

static void read_grace(struct reading *r, const json_t *grace, struct grace *ret)
{
	double seconds = json_number_value(json_object_get(grace, "seconds"));

	if (!json_is_object(grace))
		return;
	if (!(seconds >= 0 && seconds <= GRACE_MAX_S))
		fail(r, -EBADMSG);
	else
		ret->ns = (uint64_t)(seconds * NS_PER_S + 0.5);
	ret->from = word_of(r, grace, "from", grace_from_word, GRACE_FROM_COUNT, GRACE_UNKNOWN);
}

/* Evidence that is not complete for a reason that is not known here would be taken for complete. */
static uint32_t read_gaps(struct reading *r, const json_t *evidence)
{
	const json_t *gaps = json_object_get(evidence, "gaps"), *one;
	uint32_t bits = 0;
	size_t i;

	json_array_foreach(gaps, i, one) {
		const char *name = json_string_value(one);
		unsigned int gap = 0;

		while (name && gap < GAP_COUNT && strcmp(gap_word(gap), name) != 0)
			gap++;
		if (!name || gap == GAP_COUNT)
			fail(r, name ? -EPROTONOSUPPORT : -EBADMSG);
		else
			bits |= UINT32_C(1) << gap;
	}
	if (!bits && !json_is_true(json_object_get(evidence, "complete")))
		fail(r, -EBADMSG);
	return bits;
}

static enum record_tri tri_of(const json_t *object, const char *key)
{
	const json_t *member = json_object_get(object, key);

	if (!json_is_boolean(member))
		return TRI_UNKNOWN;
	return json_is_true(member) ? TRI_TRUE : TRI_FALSE;
}

static void read_forward(struct reading *r, const json_t *forward, struct record_forward *ret)
{
	if (!json_is_object(forward))
		return;
	ret->count = small_of(r, forward, "count");
	ret->number = read_number(r, forward, &ret->result);
	ret->to = read_process(r, json_object_get(forward, "target"));
	ret->after_ns = time_of(r, forward, "after_ns");
}

static void read_held_by(struct reading *r, const json_t *holder, struct record_holder *ret)
{
	if (!json_is_object(holder))
		return;
	ret->process = read_process(r, holder);
	ret->parent = read_process(r, json_object_get(holder, "parent"));
}

/* The stages are spans; of them the moments are. */
static void read_stages(struct reading *r, const json_t *stages, struct record_stop *stop)
{
	uint64_t asked = stop->stop_signal.known ? stop->stop_signal.at_ns : 0, span;

	if (asked && number_of(r, stages, "deliver_ns", INT64_MAX, &span))
		stop->deliver_ns = asked + span;
	if (stop->exit.known && number_of(r, stages, "reap_ns", INT64_MAX, &span))
		stop->reap_ns = stop->exit.at_ns + span;
}

static void read_stop(struct reading *r, const json_t *line)
{
	struct record_stop *stop = &r->record->stop;
	const char *id = text_of(line, "id");

	snprintf(stop->id, sizeof(stop->id), "%s", id ? id : "");
	read_pod(r, json_object_get(line, "pod"), &stop->pod);
	read_container(r, json_object_get(line, "container"), &stop->container);
	stop->process = read_process(r, json_object_get(line, "process"));
	read_sigref(r, json_object_get(line, "stop_signal"), &stop->stop_signal);
	stop->inferred =
		json_is_true(json_object_get(json_object_get(line, "stop_signal"), "inferred"));
	read_sigref(r, json_object_get(line, "kill_signal"), &stop->kill_signal);
	read_sigref(r, json_object_get(line, "keeper_signal"), &stop->keeper_signal);
	read_requests(r, json_object_get(line, "requests"), stop);
	stop->n_requests = small_of(r, line, "requests_total");
	stop->deaf = json_is_true(json_object_get(line, "deaf"));
	stop->reason = word_of(r, line, "reason", unheard_word, UNHEARD_COUNT, UNHEARD_NONE);
	read_exit(r, json_object_get(line, "exit"), &stop->exit);
	stop->latency_known = number_of(r, line, "latency_ns", INT64_MAX, &stop->latency_ns);
	read_grace(r, json_object_get(line, "grace"), &stop->grace);
	read_forward(r, json_object_get(line, "forwarded"), &stop->forward);
	read_held_by(r, json_object_get(line, "held_by"), &stop->held_by);
	stop->pod_terminating = tri_of(line, "pod_terminating");
	stop->outcome = word_of(r, line, "outcome", outcome_word, OUTCOME_COUNT, OUTCOME_UNKNOWN);
	stop->cause = word_of(r, line, "cause", cause_word, CAUSE_COUNT, CAUSE_UNKNOWN);
	stop->collateral_kills = time_of(r, line, "collateral_kills");
	stop->oom_kills = time_of(r, line, "oom_kills");
	stop->oom_kills_unknown = json_is_null(json_object_get(line, "oom_kills"));
	stop->empty_ns = time_of(r, line, "empty_boot_ns");
	read_stages(r, json_object_get(line, "stages"), stop);
	stop->gaps = read_gaps(r, json_object_get(line, "evidence"));
}

static void read_signal(struct reading *r, const json_t *line)
{
	struct record_signal *signal = &r->record->signal;
	const json_t *sent = json_object_get(line, "signal");
	const json_t *target = json_object_get(line, "target");

	signal->number = read_number(r, sent, &signal->result);
	signal->group = json_is_true(json_object_get(sent, "group"));
	signal->code = (int32_t)json_integer_value(json_object_get(sent, "si_code"));
	signal->blocked = json_is_true(json_object_get(sent, "blocked"));
	signal->deaf = json_is_true(json_object_get(line, "deaf"));
	signal->reason = word_of(r, line, "reason", unheard_word, UNHEARD_COUNT, UNHEARD_NONE);
	read_sender(r, json_object_get(line, "sender"), &signal->sender);
	signal->target = read_process(r, target);
	signal->target_init = json_is_true(json_object_get(target, "init"));
	read_pod(r, json_object_get(target, "pod"), &signal->pod);
	read_container(r, json_object_get(target, "container"), &signal->container);
}

static void read_dropped(struct reading *r, const json_t *line)
{
	r->record->dropped = (struct record_dropped){
		.records = time_of(r, line, "records"),
		.since_ns = time_of(r, line, "since_boot_ns"),
		.until_ns = time_of(r, line, "until_boot_ns"),
	};
}

static void read_head(struct reading *r, const json_t *line)
{
	const char *time = text_of(line, "time");
	uint64_t schema = 0;

	if (!number_of(r, line, "schema", UINT32_MAX, &schema) || !time ||
	    rfc3339_parse(time, &r->record->wall_ns) < 0)
		fail(r, -EBADMSG);
	if (schema > RECORD_SCHEMA)
		fail(r, -EPROTONOSUPPORT);
	r->record->at_ns = time_of(r, line, "boot_ns");
	r->record->node = text_of(line, "node");
}

static enum record_type type_of(const char *name)
{
	static const struct {
		const char *name;
		enum record_type type;
	} types[] = {
		{"attached", RECORD_ATTACHED},
		{"empty", RECORD_EMPTY},
		{"oom", RECORD_OOM},
		{"lost", RECORD_LOST},
		{"runtime_exit", RECORD_RUNTIME_EXIT},
		{"pod", RECORD_POD},
		{"pod_ready", RECORD_POD_READY},
		{"discrepancy", RECORD_DISCREPANCY},
		{"shutdown", RECORD_SHUTDOWN},
		{"boot_end", RECORD_BOOT},
		{"restart", RECORD_RESTART},
	};

	for (size_t i = 0; name && i < sizeof(types) / sizeof(*types); i++)
		if (strcmp(name, types[i].name) == 0)
			return types[i].type;
	return RECORD_NONE;
}

static void read_subject(struct reading *r, const json_t *line)
{
	struct record *record = r->record;
	struct record_container container = {};
	struct record_pod pod = {};

	read_pod(r, json_object_get(line, "pod"), &pod);
	read_container(r, json_object_get(line, "container"), &container);
	if (record->type == RECORD_EMPTY) {
		record->empty.pod = pod;
		record->empty.container = container;
	} else if (record->type == RECORD_OOM) {
		record->oom.pod = pod;
		record->oom.container = container;
	} else if (record->type == RECORD_RUNTIME_EXIT) {
		record->runtime_exit.pod = pod;
		record->runtime_exit.container = container;
	} else if (record->type == RECORD_RESTART) {
		record->restart.pod = pod;
		record->restart.container = container;
	} else if (record->type == RECORD_POD) {
		record->pod_state.pod = pod;
	} else if (record->type == RECORD_POD_READY) {
		record->pod_ready.pod = pod;
	} else if (record->type == RECORD_DISCREPANCY) {
		record->discrepancy.pod = pod;
		record->discrepancy.container = container;
	} else if (record->type == RECORD_SHUTDOWN) {
		record->shutdown.pod = pod;
		record->shutdown.container = container;
	}
}

/* What its time is depends on whether that was seen. */
static void read_reaped(struct reading *r, const json_t *line)
{
	struct record_reaped *reaped = &r->record->reaped;

	read_pod(r, json_object_get(line, "pod"), &reaped->pod);
	read_container(r, json_object_get(line, "container"), &reaped->container);
	read_exit(r, json_object_get(line, "exit"), &reaped->exit);
	reaped->reap_ns = time_of(r, line, "reaped_boot_ns");
}

static void read_totals(struct reading *r, const json_t *counts, struct graced_stat *totals,
			size_t counter)
{
	for (unsigned int type = GRACED_EV_NONE + 1; type < GRACED_EV_COUNT; type++) {
		__u64 count = time_of(r, counts, evname(type));

		memcpy((char *)&totals[type] + counter, &count, sizeof(count));
	}
}

static void read_lost(struct reading *r, const json_t *line)
{
	struct record_lost *lost = &r->record->lost;
	struct graced_stat *totals = lost->totals;

	read_totals(r, json_object_get(line, "emitted"), totals,
		    offsetof(struct graced_stat, emitted));
	read_totals(r, json_object_get(line, "lost"), totals, offsetof(struct graced_stat, lost));
	read_totals(r, json_object_get(line, "suppressed"), totals,
		    offsetof(struct graced_stat, suppressed));
	lost->recursion_misses = time_of(r, line, "recursion_misses");
	totals[GRACED_STAT_WATCH_FULL].lost = time_of(r, line, "watch_full");
	totals[GRACED_STAT_QUOTA].lost = time_of(r, line, "quota");
	totals[GRACED_STAT_TOO_DEEP].lost = time_of(r, line, "too_deep");
}

static int read_other(const json_t *line, struct record *ret)
{
	struct reading r = {.record = ret};

	ret->type = type_of(text_of(line, "type"));
	if (ret->type == RECORD_NONE)
		return -ENOMSG;
	read_head(&r, line);
	if (ret->type == RECORD_LOST)
		read_lost(&r, line);
	else
		read_subject(&r, line);
	return r.error;
}

static int read_line(const json_t *line, struct record *ret)
{
	struct reading r = {.record = ret};
	const char *type = text_of(line, "type");

	if (!type)
		return -EBADMSG;
	if (strcmp(type, "stop") == 0)
		ret->type = RECORD_STOP;
	else if (strcmp(type, "signal") == 0)
		ret->type = RECORD_SIGNAL;
	else if (strcmp(type, "reaped") == 0)
		ret->type = RECORD_REAPED;
	else if (strcmp(type, "dropped") == 0)
		ret->type = RECORD_DROPPED;
	else
		return -ENOMSG;
	read_head(&r, line);
	if (ret->type == RECORD_STOP)
		read_stop(&r, line);
	else if (ret->type == RECORD_SIGNAL)
		read_signal(&r, line);
	else if (ret->type == RECORD_REAPED)
		read_reaped(&r, line);
	else
		read_dropped(&r, line);
	return r.error;
}

static int read_any(const json_t *line, struct record *ret)
{
	int r = read_line(line, ret);

	return r == -ENOMSG ? read_other(line, ret) : r;
}

int record_check(const json_t *line)
{
	struct record record = {};

	return read_any(line, &record);
}

static int read_text(const char *line, size_t len, bool any, struct record_text *ret)
{
	struct record_text text = {};
	int r;

	text.json = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (!text.json)
		return -EBADMSG;
	r = any ? read_any(text.json, &text.record) : read_line(text.json, &text.record);
	if (r < 0) {
		record_text_done(&text);
		return r;
	}
	*ret = text;
	return 0;
}

int record_read(const char *line, size_t len, struct record_text *ret)
{
	return read_text(line, len, false, ret);
}

int record_read_any(const char *line, size_t len, struct record_text *ret)
{
	return read_text(line, len, true, ret);
}

void record_text_done(struct record_text *text)
{
	json_decref(text->json);
	text->json = NULL;
}
