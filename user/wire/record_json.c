// SPDX-License-Identifier: Apache-2.0
/* The members of each type of record, in the contract's order. */
#include "wire/record_json.h"

#include <errno.h>
#include <string.h>

#include "base/rfc3339.h"
#include "wire/evnames.h"
#include "wire/jsonw.h"
#include "wire/record_parts.h"

#define NS_DECIMALS    9
#define RATIO_DECIMALS 6

/* type to node, which every record begins with; id stands in some only. */
static void add_head(struct buf *out, const struct record *record, const char *type, const char *id)
{
	char time[RFC3339_SIZE];

	jsonw_str(out, "type", type);
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	if (id)
		jsonw_str(out, "id", id);
	jsonw_str(out, "time", rfc3339_format(record->wall_ns, time));
	jsonw_u64(out, "boot_ns", record->at_ns);
	jsonw_str(out, "node", record->node);
}

static void add_attached(struct buf *out, const struct record *record)
{
	const struct record_attached *attached = &record->attached;

	add_head(out, record, "attached", NULL);
	jsonw_str(out, "hierarchy", attached->hierarchy);
	jsonw_u64(out, "programs", attached->programs);
	jsonw_u64(out, "containers", attached->containers);
}

static void add_signal(struct buf *out, const struct record *record)
{
	const struct record_signal *signal = &record->signal;

	add_head(out, record, "signal", NULL);
	jsonw_object(out, "signal");
	record_parts_signal(out, signal->number, signal->result);
	jsonw_bool(out, "group", signal->group);
	jsonw_i64(out, "si_code", signal->code);
	jsonw_bool(out, "blocked", signal->blocked);
	jsonw_object_end(out);
	jsonw_bool(out, "deaf", signal->deaf);
	record_parts_sender(out, "sender", &signal->sender);
	jsonw_object(out, "target");
	record_parts_process(out, &signal->target);
	jsonw_bool(out, "init", signal->target_init);
	record_parts_pod(out, "pod", &signal->pod);
	record_parts_container(out, "container", &signal->container);
	jsonw_object_end(out);
}

/* status is what wait(2) would tell: 7 bits of signal, one of core dump, 8 of code. */
static void add_exit(struct buf *out, const struct record_exit *exit)
{
	uint32_t signal = exit->status & 0x7f;

	jsonw_object(out, "exit");
	if (exit->known && !signal)
		jsonw_u64(out, "code", exit->status >> 8 & 0xff);
	else
		jsonw_null(out, "code");
	if (exit->known) {
		jsonw_u64(out, "signal", signal);
		jsonw_bool(out, "core_dumped", signal && exit->status & 0x80);
	} else {
		jsonw_null(out, "signal");
		jsonw_null(out, "core_dumped");
	}
	record_parts_time(out, "at_boot_ns", exit->known ? exit->at_ns : 0);
	jsonw_object_end(out);
}

static uint64_t ratio_units(uint64_t part, uint64_t whole)
{
	double units = (double)part / (double)whole * 1e6 + 0.5;

	return units < 0x1p63 ? (uint64_t)units : INT64_MAX;
}

static void add_grace(struct buf *out, const struct record_stop *stop)
{
	if (!stop->grace_known) {
		jsonw_null(out, "grace");
		return;
	}
	jsonw_object(out, "grace");
	jsonw_decimal(out, "seconds", stop->grace_ns, NS_DECIMALS);
	/* Of no time at all no share can be used. */
	if (stop->latency_known && stop->grace_ns)
		jsonw_decimal(out, "used_ratio", ratio_units(stop->latency_ns, stop->grace_ns),
			      RATIO_DECIMALS);
	else
		jsonw_null(out, "used_ratio");
	if (stop->latency_known)
		jsonw_i64(out, "margin_ns", (int64_t)(stop->grace_ns - stop->latency_ns));
	else
		jsonw_null(out, "margin_ns");
	jsonw_object_end(out);
}

static void add_evidence(struct buf *out, uint32_t gaps)
{
	jsonw_object(out, "evidence");
	jsonw_bool(out, "complete", gaps == 0);
	jsonw_array(out, "gaps");
	for (unsigned int gap = 0; gap < GAP_COUNT; gap++) {
		if (gaps >> gap & 1)
			jsonw_str(out, NULL, gap_name((enum gap)gap));
	}
	jsonw_array_end(out);
	jsonw_object_end(out);
}

static void add_stop(struct buf *out, const struct record *record)
{
	const struct record_stop *stop = &record->stop;

	add_head(out, record, "stop", stop->id);
	record_parts_pod(out, "pod", &stop->pod);
	record_parts_container(out, "container", &stop->container);
	jsonw_object(out, "process");
	record_parts_process(out, &stop->process);
	record_parts_time(out, "start_boot_ns", stop->process.start_ns);
	jsonw_object_end(out);
	record_parts_sigref(out, "stop_signal", &stop->stop_signal);
	record_parts_sigref(out, "kill_signal", &stop->kill_signal);
	jsonw_bool(out, "deaf", stop->deaf);
	add_exit(out, &stop->exit);
	if (stop->latency_known)
		jsonw_u64(out, "latency_ns", stop->latency_ns);
	else
		jsonw_null(out, "latency_ns");
	add_grace(out, stop);
	jsonw_str(out, "outcome", outcome_name(stop->outcome));
	jsonw_str(out, "cause", cause_name(stop->cause));
	jsonw_u64(out, "collateral_kills", stop->collateral_kills);
	jsonw_u64(out, "oom_kills", stop->oom_kills);
	/* No source tells it yet. */
	jsonw_null(out, "pod_terminating");
	record_parts_time(out, "empty_boot_ns", stop->empty_ns);
	add_evidence(out, stop->gaps);
}

static void add_empty(struct buf *out, const struct record *record)
{
	const struct record_empty *empty = &record->empty;

	add_head(out, record, "empty", empty->id);
	record_parts_pod(out, "pod", &empty->pod);
	record_parts_container(out, "container", &empty->container);
	record_parts_time(out, "empty_boot_ns", empty->empty_ns);
}

static void add_oom(struct buf *out, const struct record *record)
{
	const struct record_oom *oom = &record->oom;

	add_head(out, record, "oom", NULL);
	record_parts_pod(out, "pod", &oom->pod);
	record_parts_container(out, "container", &oom->container);
	jsonw_object(out, "victim");
	record_parts_process(out, &oom->victim);
	jsonw_object_end(out);
	jsonw_bool(out, "init", oom->init);
	jsonw_str(out, "level", oom_level_name(oom->level));
}

/* counter is the offset of one of the counters in struct graced_stat. */
static void add_totals(struct buf *out, const char *key, const struct graced_stat *totals,
		       size_t counter)
{
	jsonw_object(out, key);
	for (unsigned int type = GRACED_EV_NONE + 1; type < GRACED_EV_COUNT; type++) {
		__u64 count;

		memcpy(&count, (const char *)&totals[type] + counter, sizeof(count));
		jsonw_u64(out, evname(type), count);
	}
	jsonw_object_end(out);
}

static void add_lost(struct buf *out, const struct record *record)
{
	const struct graced_stat *totals = record->lost.totals;

	add_head(out, record, "lost", NULL);
	add_totals(out, "emitted", totals, offsetof(struct graced_stat, emitted));
	add_totals(out, "lost", totals, offsetof(struct graced_stat, lost));
	add_totals(out, "suppressed", totals, offsetof(struct graced_stat, suppressed));
	jsonw_u64(out, "recursion_misses", record->lost.recursion_misses);
	jsonw_u64(out, "watch_full", totals[GRACED_STAT_WATCH_FULL].lost);
	jsonw_u64(out, "quota", totals[GRACED_STAT_QUOTA].lost);
	jsonw_u64(out, "too_deep", totals[GRACED_STAT_TOO_DEEP].lost);
}

typedef void (*add_fn)(struct buf *out, const struct record *record);

static add_fn adder(enum record_type type)
{
	switch (type) {
	case RECORD_ATTACHED:
		return add_attached;
	case RECORD_SIGNAL:
		return add_signal;
	case RECORD_STOP:
		return add_stop;
	case RECORD_EMPTY:
		return add_empty;
	case RECORD_OOM:
		return add_oom;
	case RECORD_LOST:
		return add_lost;
	case RECORD_NONE:
		break;
	}
	return NULL;
}

int record_json(struct buf *out, const struct record *record)
{
	add_fn add = adder(record->type);
	size_t before = out->len;

	if (!add)
		return -EINVAL;
	jsonw_object(out, NULL);
	add(out, record);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}
