// SPDX-License-Identifier: Apache-2.0
/* Entries about pods, and about what is told of them and is not so. */
#include <stdio.h>

#include "base/duration.h"
#include "base/rfc3339.h"
#include "core/kubelet/pod.h"
#include "wire/text/journal_priv.h"

#define ID_POD	       "3d0c9b7e51f8456ab6f2e14c8a90d7b3"
#define ID_READY       "ce4c2ba75aeb4b86a9119f0512899d50"
#define ID_DISCREPANCY "8f0b22df2095461796d913207e9b9048"

static void add_known(struct buf *out, const char *text)
{
	if (text)
		journal_add_text(out, text);
}

static void say_pod(struct buf *out, const struct record_pod *pod)
{
	if (pod->name) {
		add_known(out, pod->namespace_);
		buf_addc(out, '/');
	}
	add_known(out, pod->name ? pod->name : pod->uid);
}

void journal_add_pod_state(struct buf *out, const struct record *record)
{
	const struct record_pod_state *state = &record->pod_state;

	journal_add_head(out, record, ID_POD, "pod", JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_pod(out, &state->pod);
	buf_adds(out, ": ");
	add_known(out, podworker_stage_name(state->state));
	buf_adds(out, " (");
	add_known(out, pod_trigger_name(state->trigger));
	buf_adds(out, ")\n");
	journal_add_subject(out, &state->pod, &(struct record_container){});
	journal_add_field(out, "GRACED_STATE", podworker_stage_name(state->state));
	journal_add_field(out, "GRACED_PREVIOUS", podworker_stage_name(state->previous));
	journal_add_field(out, "GRACED_TRIGGER", pod_trigger_name(state->trigger));
	if (state->deadline_ns)
		journal_add_number(out, "GRACED_DEADLINE_BOOT_NS", state->deadline_ns);
	journal_add_gaps(out, state->gaps);
}

static void add_ready(struct buf *out, const struct record_pod_ready *r)
{
	char from[DURATION_SIZE], to[DURATION_SIZE];

	buf_adds(out, ": told to be Ready for ");
	if (r->gaps)
		buf_printf(out, "%s to %s", duration_format(record_ready_min_ns(r), from),
			   duration_format(r->heard_ns - r->stop_ns, to));
	else
		buf_adds(out, duration_format(r->until_ns - r->stop_ns, to));
	buf_printf(out, " after its stop signal%s\n", r->gone ? ", and then not at all" : "");
}

void journal_add_pod_ready(struct buf *out, const struct record *record)
{
	const struct record_pod_ready *r = &record->pod_ready;

	journal_add_head(out, record, ID_READY, "pod_ready", JOURNAL_INFO);
	buf_adds(out, "MESSAGE=");
	say_pod(out, &r->pod);
	add_ready(out, r);
	journal_add_field(out, "GRACED_ID", r->id);
	journal_add_subject(out, &r->pod, &(struct record_container){});
	journal_add_number(out, "GRACED_STOP_BOOT_NS", r->stop_ns);
	journal_add_number(out, "GRACED_UNTIL_BOOT_NS", r->until_ns);
	if (!r->gaps)
		journal_add_number(out, "GRACED_READY_NS", r->until_ns - r->stop_ns);
	journal_add_number(out, "GRACED_GONE", r->gone);
	journal_add_gaps(out, r->gaps);
}

/* --- discrepancies --------------------------------------------------------------------------- */

static void add_tri(struct buf *out, const char *name, enum record_tri value)
{
	if (value != TRI_UNKNOWN)
		journal_add_number(out, name, value == TRI_TRUE);
}

static void add_time(struct buf *out, const char *name, int64_t wall_ns)
{
	char time[RFC3339_SIZE];

	if (wall_ns)
		journal_add_field(out, name, rfc3339_format(wall_ns, time));
}

/* "kubelet tells Failed, Ready; 0 of its containers run" */
static void say_state(struct buf *out, const struct record_discrepancy *r)
{
	if (!r->told.listed) {
		buf_adds(out, "does not list it");
	} else {
		buf_adds(out, "tells ");
		add_known(out, podobj_phase_name(r->told.phase));
		buf_adds(out, r->told.ready == TRI_TRUE ? ", Ready" : "");
	}
	buf_printf(out, "; %s, containers that run: %u",
		   r->kernel.populated ? "it has processes" : "it has no process",
		   r->kernel.running);
}

/* "cri tells 0, Completed; it was 137" */
static void say_exit(struct buf *out, const struct record_discrepancy *r)
{
	buf_printf(out, "tells %d", r->told.exit_code);
	if (r->told.reason && r->told.reason[0]) {
		buf_adds(out, ", ");
		journal_add_text(out, r->told.reason);
	}
	buf_printf(out, "; it was %d", discrepancy_code_of(r->kernel.exit.status));
}

static void add_state(struct buf *out, const struct record_discrepancy *r)
{
	journal_add_number(out, "GRACED_TOLD_LISTED", r->told.listed);
	journal_add_field(out, "GRACED_TOLD_PHASE", podobj_phase_name(r->told.phase));
	add_tri(out, "GRACED_TOLD_READY", r->told.ready);
	journal_add_number(out, "GRACED_POPULATED", r->kernel.populated);
	journal_add_number(out, "GRACED_RUNNING", r->kernel.running);
}

static void add_exit(struct buf *out, const struct record_discrepancy *r)
{
	uint32_t status = r->kernel.exit.status, signal = status & 0x7f;
	char code[16];

	snprintf(code, sizeof(code), "%d", r->told.exit_code);
	journal_add_field(out, "GRACED_TOLD_EXIT_CODE", code);
	journal_add_field(out, "GRACED_TOLD_REASON", r->told.reason);
	add_time(out, "GRACED_TOLD_FINISHED_AT", r->told.finished_wall_ns);
	if (!signal)
		journal_add_number(out, "GRACED_EXIT_CODE", status >> 8 & 0xff);
	journal_add_number(out, "GRACED_EXIT_SIGNAL", signal);
	add_time(out, "GRACED_FINISHED_AT", r->kernel.exit_wall_ns);
	add_tri(out, "GRACED_OOM_KILLED", r->kernel.oom);
}

void journal_add_discrepancy(struct buf *out, const struct record *record)
{
	const struct record_discrepancy *r = &record->discrepancy;
	bool exit = r->kind >= DISCREPANCY_STATES;

	journal_add_head(out, record, ID_DISCREPANCY, "discrepancy", JOURNAL_WARNING);
	buf_adds(out, "MESSAGE=");
	if (r->container.known)
		journal_say_subject(out, &r->pod, &r->container);
	else
		say_pod(out, &r->pod);
	buf_adds(out, ": ");
	add_known(out, discrepancy_name(r->kind));
	buf_adds(out, ": ");
	add_known(out, meta_source_name(r->told.source));
	buf_addc(out, ' ');
	(exit ? say_exit : say_state)(out, r);
	buf_addc(out, '\n');
	journal_add_field(out, "GRACED_ID", r->id);
	journal_add_subject(out, &r->pod, &r->container);
	journal_add_field(out, "GRACED_KIND", discrepancy_name(r->kind));
	journal_add_field(out, "GRACED_SOURCE", meta_source_name(r->told.source));
	journal_add_number(out, "GRACED_SINCE_BOOT_NS", r->since_ns);
	(exit ? add_exit : add_state)(out, r);
}
