// SPDX-License-Identifier: Apache-2.0
#include "wire/json/why.h"

#include "base/rfc3339.h"
#include "core/stop/audit.h"
#include "wire/json/record.h"
#include "wire/json/rows.h"
#include "wire/json/writer.h"

static void add_lines(struct buf *out, const struct story *s)
{
	jsonw_array(out, "events");
	for (size_t i = 0; i < s->n_lines; i++) {
		jsonw_object(out, NULL);
		if (s->lines[i].at_ns)
			jsonw_u64(out, "at_boot_ns", s->lines[i].at_ns);
		else
			jsonw_null(out, "at_boot_ns");
		jsonw_str(out, "text", buf_str(&s->lines[i].text));
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
	jsonw_u64(out, "events_other", s->more);
}

static void add_remedies(struct buf *out, const struct story *s)
{
	jsonw_array(out, "remedies");
	for (size_t i = 0; i < s->n_remedies; i++) {
		jsonw_object(out, NULL);
		jsonw_str(out, "text", s->remedies[i].text);
		jsonw_str(out, "page", s->remedies[i].page);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

/* Of what goes on nothing is missing yet. */
static void add_gaps(struct buf *out, const struct story *s)
{
	members_write_object(out, "evidence", parts_evidence,
			     s->state == STORY_ENDED ? &s->gaps : NULL);
	if (s->state != STORY_ENDED) {
		jsonw_null(out, "processes_gaps");
		return;
	}
	jsonw_array(out, "processes_gaps");
	for (unsigned int gap = 0; gap < LIST_GAP_COUNT; gap++)
		if (s->processes_gaps >> gap & 1)
			jsonw_str(out, NULL, list_gap_name((enum list_gap)gap));
	jsonw_array_end(out);
}

void why_json_add(struct buf *out, const char *key, const struct story *s)
{
	bool ended = s->state == STORY_ENDED;
	char time[RFC3339_SIZE];

	jsonw_object(out, key);
	jsonw_str(out, "type", "why");
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	jsonw_str(out, "time", s->wall_ns ? rfc3339_format(s->wall_ns, time) : NULL);
	jsonw_str(out, "state", story_state_name(s->state));
	jsonw_str(out, "id", s->id);
	jsonw_str(out, "outcome", ended ? outcome_name(s->outcome) : NULL);
	jsonw_str(out, "cause", ended ? cause_name(s->cause) : NULL);
	jsonw_str(out, "reason", s->state == STORY_RUNNING ? audit_reason_name(s->reason) : NULL);
	members_write_object(out, "pod", parts_pod, s->pod->known ? s->pod : NULL);
	members_write_object(out, "container", parts_container,
			     s->container->known ? s->container : NULL);
	jsonw_str(out, "sentence", buf_str(&s->sentence));
	add_gaps(out, s);
	add_lines(out, s);
	add_remedies(out, s);
	jsonw_object_end(out);
}

int why_json(struct buf *out, const struct story *s)
{
	why_json_add(out, NULL, s);
	buf_addc(out, '\n');
	return buf_error(out) ?: story_error(s);
}
