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

/* By hand, as printf() takes longer for it than all else of a record. */
void output_id(const struct output *out, const char *of, const char *what, uint64_t ns,
	       char ret[static RECORD_ID_SIZE])
{
	char digits[sizeof("18446744073709551615")], *number = digits + sizeof(digits) - 1;
	const char *parts[] = {out->host.boot_id, of, what, NULL};
	size_t n = 0;

	*number = '\0';
	do
		*--number = (char)('0' + ns % 10);
	while (ns /= 10);
	parts[3] = number;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		size_t room = RECORD_ID_SIZE - 1 - n, len = parts[i] ? strlen(parts[i]) : 0;

		if (!parts[i] || room < len + 1)
			continue;
		if (i > 0)
			ret[n++] = '/';
		memcpy(ret + n, parts[i], len);
		n += len;
	}
	ret[n] = '\0';
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
