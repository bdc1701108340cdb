// SPDX-License-Identifier: Apache-2.0
#include "wire/json/why.h"

#include "base/cleanup.h"
#include "core/stop/story.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

static void add_events(struct buf *out, const struct record_stop *stop)
{
	struct story_event events[STORY_EVENTS];
	size_t more, n = story_events(stop, events, &more);

	jsonw_array(out, "events");
	for (size_t i = 0; i < n; i++) {
		_cleanup_(buf_free) struct buf text = {};

		story_add_event(&text, stop, events + i);
		jsonw_object(out, NULL);
		jsonw_u64(out, "at_boot_ns", events[i].at_ns);
		jsonw_str(out, "text", buf_str(&text));
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
	jsonw_u64(out, "events_other", more);
}

static void add_remedies(struct buf *out, const struct record_stop *stop)
{
	const char *text, *page;

	jsonw_array(out, "remedies");
	for (size_t i = 0; story_remedy(stop, i, &text, &page); i++) {
		jsonw_object(out, NULL);
		jsonw_str(out, "text", text);
		jsonw_str(out, "page", page);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

void why_json_add(struct buf *out, const char *key, const struct record *record)
{
	_cleanup_(buf_free) struct buf text = {};

	story_add_why(&text, &record->stop);
	jsonw_object(out, key);
	jsonw_str(out, "type", "why");
	jsonw_u64(out, "schema", 1);
	jsonw_str(out, "id", record->stop.id);
	jsonw_str(out, "outcome", outcome_name(record->stop.outcome));
	jsonw_str(out, "cause", cause_name(record->stop.cause));
	jsonw_str(out, "sentence", buf_str(&text));
	add_events(out, &record->stop);
	add_remedies(out, &record->stop);
	jsonw_object_end(out);
}

int why_json(struct buf *out, const struct record *record)
{
	why_json_add(out, NULL, record);
	buf_addc(out, '\n');
	return buf_error(out);
}
