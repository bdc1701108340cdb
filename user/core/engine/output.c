// SPDX-License-Identifier: Apache-2.0
#include "core/engine/output.h"

#include <string.h>

#include "core/cgroup/map.h"

void output_effect(struct output *out, const struct effect *effect)
{
	out->fn(out->userdata, effect);
}

/* What is not of the type is not cleared. */
struct record *output_record(struct output *out, enum record_type type, size_t size, uint64_t at_ns)
{
	struct record *rec = &out->record;

	memset(rec, 0, offsetof(struct record, stop) + size);
	rec->type = type;
	rec->at_ns = at_ns;
	rec->wall_ns = (int64_t)(at_ns + (uint64_t)out->host.wall_offset_ns);
	rec->node = out->host.node[0] ? out->host.node : NULL;
	return rec;
}

void output_report(struct output *out)
{
	output_effect(out, &(struct effect){.type = EFFECT_REPORT, .record = &out->record});
}

void output_find_cgroup(struct output *out, uint64_t id)
{
	output_effect(out, &(struct effect){.type = EFFECT_FIND_CGROUP, .id = id});
}

void output_read_counts(struct output *out, uint64_t id)
{
	output_effect(out, &(struct effect){.type = EFFECT_READ_COUNTS, .id = id});
}

void output_set_watch(struct output *out, const struct cgnode *node)
{
	output_effect(out, &(struct effect){
				   .type = EFFECT_SET_WATCH, .id = node->id, .kind = node->kind});
}
