// SPDX-License-Identifier: Apache-2.0
/* Flattens sections into dotted keys. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "wire/config/yaml_priv.h"

#define SKIP_DEPTH_MAX 64

static bool begins(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
}

static bool ends(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
}

void yamlconf_skip(struct yamlconf_parse *p, const yaml_event_t *first)
{
	size_t depth = begins(first);

	while (depth > 0) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		/* libyaml takes quadratic time for brackets in brackets. */
		if (depth > SKIP_DEPTH_MAX)
			p->over = true;
		if (!yamlconf_next(p, &event))
			return;
		depth += begins(&event);
		depth -= ends(&event);
	}
}

bool yamlconf_is_nothing(const yaml_event_t *event)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp((const char *)event->data.scalar.value, words[i]) == 0)
			return true;
	return false;
}

/* What makes a node more than what is written there. */
static const char *extra_of(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return "an alias (*)";
	case YAML_SCALAR_EVENT:
		return event->data.scalar.anchor ? "an anchor (&)"
		       : event->data.scalar.tag	 ? "a tag (!)"
						 : NULL;
	case YAML_SEQUENCE_START_EVENT:
		return event->data.sequence_start.anchor ? "an anchor (&)"
		       : event->data.sequence_start.tag	 ? "a tag (!)"
							 : NULL;
	case YAML_MAPPING_START_EVENT:
		return event->data.mapping_start.anchor ? "an anchor (&)"
		       : event->data.mapping_start.tag	? "a tag (!)"
							: NULL;
	default:
		return NULL;
	}
}

bool yamlconf_admit(struct yamlconf_parse *p, const yaml_event_t *event, const char *key)
{
	const char *extra = extra_of(event);

	if (!extra)
		return true;
	yamlconf_complain(p, event->start_mark, key,
			  "has %s, which is not read here; write the value out", extra);
	yamlconf_skip(p, event);
	return false;
}

/* Adds a value that is a scalar. */
static void add_value(struct yamlconf_parse *p, struct yamlconf_entry *entry,
		      const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	struct yamlconf_value *values;

	if (strlen(text) != event->data.scalar.length) {
		yamlconf_complain(p, event->start_mark, entry->key, "has a NUL character in it");
		return;
	}
	if (p->n_values++ == YAMLCONF_KEYS_MAX) {
		yamlconf_complain(p, event->start_mark, entry->key,
				  "is one value too many: %d are read", YAMLCONF_KEYS_MAX);
		p->over = true;
		return;
	}
	values = reallocarray(entry->values, entry->n_values + 1, sizeof(*values));
	if (!values) {
		yamlconf_out_of_memory(p);
		return;
	}
	entry->values = values;
	values[entry->n_values] = (struct yamlconf_value){
		.text = yamlconf_copy(p, text),
		.quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
		.nothing = yamlconf_is_nothing(event),
		.line = (unsigned int)event->start_mark.line + 1,
		.column = (unsigned int)event->start_mark.column + 1,
	};
	if (values[entry->n_values].text)
		entry->n_values++;
}

static void read_list(struct yamlconf_parse *p, struct yamlconf_entry *entry)
{
	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		if (!yamlconf_next(p, &event) || event.type == YAML_SEQUENCE_END_EVENT)
			return;
		if (!yamlconf_admit(p, &event, entry->key))
			continue;
		if (event.type == YAML_SCALAR_EVENT) {
			add_value(p, entry, &event);
			continue;
		}
		yamlconf_complain(p, event.start_mark, entry->key,
				  "wants values in its list, not %s",
				  event.type == YAML_MAPPING_START_EVENT ? "keys" : "a list");
		yamlconf_skip(p, &event);
	}
}

/* Fills an entry whose key is known from the node that begins with this event. Sections move the
 * entries, so the caller's pointer is stale after one. */
static void read_value(struct yamlconf_parse *p, struct yamlconf_entry *entry,
		       const yaml_event_t *event, size_t depth)
{
	_cleanup_(cleanup_free) char *prefix = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		entry->kind = yamlconf_is_nothing(event) ? YAMLCONF_NOTHING : YAMLCONF_VALUE;
		if (entry->kind == YAMLCONF_VALUE)
			add_value(p, entry, event);
		return;
	}
	if (event->type == YAML_SEQUENCE_START_EVENT) {
		entry->kind = YAMLCONF_LIST;
		read_list(p, entry);
		return;
	}
	entry->kind = YAMLCONF_SECTION;
	if (depth == YAMLCONF_DEPTH_MAX) {
		yamlconf_complain(p, event->start_mark, entry->key,
				  "is nested too deeply: %d levels are", YAMLCONF_DEPTH_MAX);
		p->over = true;
		return;
	}
	prefix = yamlconf_copy(p, entry->key);
	if (prefix)
		yamlconf_read_section(p, prefix, depth + 1);
}

static const struct yamlconf_entry *find(const struct yamlconf *conf, const char *key)
{
	for (size_t i = 0; i < conf->n_entries; i++)
		if (strcmp(conf->entries[i].key, key) == 0)
			return &conf->entries[i];
	return NULL;
}

/* Takes the key over. NULL when there is no room. */
static struct yamlconf_entry *add_entry(struct yamlconf_parse *p, char *key, yaml_mark_t at)
{
	struct yamlconf *conf = p->conf;
	struct yamlconf_entry *entries;

	if (conf->n_entries == YAMLCONF_KEYS_MAX) {
		yamlconf_complain(p, at, key, "is one key too many: %d are read",
				  YAMLCONF_KEYS_MAX);
		p->over = true;
		free(key);
		return NULL;
	}
	entries = reallocarray(conf->entries, conf->n_entries + 1, sizeof(*entries));
	if (!entries) {
		yamlconf_out_of_memory(p);
		free(key);
		return NULL;
	}
	conf->entries = entries;
	entries += conf->n_entries++;
	*entries = (struct yamlconf_entry){
		.key = key,
		.line = (unsigned int)at.line + 1,
		.column = (unsigned int)at.column + 1,
	};
	return entries;
}

/* What keeps an event from being the name of a key; NULL: it is one. */
static const char *refuse_name(const yaml_event_t *event)
{
	const char *name = (const char *)event->data.scalar.value;
	size_t length;

	if (event->type != YAML_SCALAR_EVENT)
		return "a key is a word, not a list or other keys";
	length = event->data.scalar.length;
	if (yamlconf_is_nothing(event) || length == 0)
		return "a key is missing before the colon";
	if (strlen(name) != length)
		return "a key has a NUL character in it";
	if (length > YAMLCONF_NAME_MAX)
		return "a key is far too long";
	if (strcmp(name, "<<") == 0)
		return "a merge key (<<) is not read here; write the keys out";
	return NULL;
}

/* The dotted key, for the caller to free; NULL when it cannot be used, which has been told. */
static char *read_key(struct yamlconf_parse *p, const char *prefix, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.scalar.value, *why;
	const struct yamlconf_entry *twin;
	_cleanup_(buf_free) struct buf key = {};

	if (!yamlconf_admit(p, event, *prefix ? prefix : NULL))
		return NULL;
	why = refuse_name(event);
	if (why) {
		yamlconf_complain(p, event->start_mark, *prefix ? prefix : NULL, "%s", why);
		yamlconf_skip(p, event);
		return NULL;
	}
	buf_printf(&key, "%s%s%s", prefix, *prefix ? "." : "", name);
	twin = find(p->conf, buf_str(&key));
	if (twin) {
		yamlconf_complain(p, event->start_mark, buf_str(&key),
				  "is there twice, first in line %u; leave one", twin->line);
		return NULL;
	}
	return buf_error(&key) ? yamlconf_out_of_memory(p) : TAKE_PTR(key.data);
}

void yamlconf_read_section(struct yamlconf_parse *p, const char *prefix, size_t depth)
{
	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t name = {};
		_cleanup_(yaml_event_delete) yaml_event_t value = {};
		struct yamlconf_entry *entry = NULL;
		char *key;

		if (!yamlconf_next(p, &name) || name.type == YAML_MAPPING_END_EVENT)
			return;
		key = read_key(p, prefix, &name);
		if (!yamlconf_next(p, &value)) {
			free(key);
			return;
		}
		if (!key) {
			yamlconf_skip(p, &value);
			continue;
		}
		if (!yamlconf_admit(p, &value, key)) {
			free(key);
			continue;
		}
		entry = add_entry(p, key, name.start_mark);
		if (entry)
			read_value(p, entry, &value, depth);
	}
}
