// SPDX-License-Identifier: Apache-2.0
#include "wire/json/discrepancy.h"

#include "base/rfc3339.h"
#include "core/kubelet/pod.h"
#include "wire/json/parts.h"
#include "wire/json/writer.h"

static void add_text(struct buf *out, const char *key, const char *text)
{
	jsonw_str(out, key, text && text[0] ? text : NULL);
}

static void add_told_exit(struct buf *out, const struct record_discrepancy *r)
{
	int64_t at_ns = r->told.finished_wall_ns;
	char time[RFC3339_SIZE];

	jsonw_object(out, "exit");
	jsonw_i64(out, "code", r->told.exit_code);
	add_text(out, "reason", r->told.reason);
	jsonw_str(out, "finished_at", at_ns ? rfc3339_format(at_ns, time) : NULL);
	jsonw_object_end(out);
}

static void add_told(struct buf *out, const struct record_discrepancy *r, bool exit)
{
	jsonw_object(out, "told");
	jsonw_str(out, "source", meta_source_name(r->told.source));
	if (exit) {
		add_told_exit(out, r);
	} else {
		jsonw_bool(out, "listed", r->told.listed);
		add_text(out, "phase", podobj_phase_name(r->told.phase));
		record_parts_tri(out, "ready", r->told.ready);
	}
	jsonw_object_end(out);
}

static void add_kernel_exit(struct buf *out, const struct record_discrepancy *r)
{
	uint64_t finished = (uint64_t)r->told.finished_wall_ns;
	char time[RFC3339_SIZE];

	record_parts_exit(out, "exit", &r->kernel.exit);
	jsonw_str(out, "finished_at", rfc3339_format(r->kernel.exit_wall_ns, time));
	if (finished)
		jsonw_i64(out, "told_behind_ns",
			  (int64_t)(finished - (uint64_t)r->kernel.exit_wall_ns));
	else
		jsonw_null(out, "told_behind_ns");
	record_parts_tri(out, "oom_killed", r->kernel.oom);
}

static void add_kernel(struct buf *out, const struct record_discrepancy *r, bool exit)
{
	jsonw_object(out, "kernel");
	if (exit) {
		add_kernel_exit(out, r);
	} else {
		jsonw_bool(out, "populated", r->kernel.populated);
		jsonw_u64(out, "running", r->kernel.running);
	}
	jsonw_object_end(out);
}

void discrepancy_json(struct buf *out, const struct record_discrepancy *r)
{
	bool exit = r->kind >= DISCREPANCY_STATES;

	record_parts_pod(out, "pod", &r->pod);
	record_parts_container(out, "container", &r->container);
	jsonw_str(out, "kind", discrepancy_name(r->kind));
	record_parts_time(out, "since_boot_ns", r->since_ns);
	add_told(out, r, exit);
	add_kernel(out, r, exit);
}

void discrepancy_json_names(struct buf *out, const char *key, uint32_t bits)
{
	jsonw_array(out, key);
	for (int kind = 0; kind < DISCREPANCY_COUNT; kind++)
		if (bits & DISCREPANCY_BIT(kind))
			jsonw_str(out, NULL, discrepancy_name((enum discrepancy)kind));
	jsonw_array_end(out);
}
