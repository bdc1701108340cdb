// SPDX-License-Identifier: Apache-2.0
/* Reads YAML events into entries, and describes what is refused. */
#include "wire/config/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

struct yamlconf_parse {
	yaml_parser_t parser;
	const char *data;
	size_t size;
	struct yamlconf *conf;
	size_t n_values;
	bool over; /* nothing more can be read, and the error says so */
	int error; /* -ENOMEM */
};

static void free_entry(struct yamlconf_entry *entry)
{
	for (size_t i = 0; i < entry->n_values; i++)
		free(entry->values[i].text);
	free(entry->values);
	free(entry->key);
}

void yamlconf_done(struct yamlconf *conf)
{
	for (size_t i = 0; i < conf->n_entries; i++)
		free_entry(&conf->entries[i]);
	for (size_t i = 0; i < conf->n_errors; i++) {
		free(conf->errors[i].key);
		free(conf->errors[i].text);
	}
	free(conf->entries);
	memset(conf, 0, sizeof(*conf));
}

static char *out_of_memory(struct yamlconf_parse *p)
{
	p->error = -ENOMEM;
	p->over = true;
	return NULL;
}

static char *copy_text(struct yamlconf_parse *p, const char *text)
{
	char *own = strdup(text);

	return own ? own : out_of_memory(p);
}

static __attribute__((format(printf, 4, 5))) void complain(struct yamlconf_parse *p, yaml_mark_t at,
							   const char *key, const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {};
	struct yamlconf_error *error = &p->conf->errors[p->conf->n_errors];
	va_list args;

	if (p->conf->n_errors == YAMLCONF_ERRORS_MAX) {
		p->conf->n_unsaid++;
		return;
	}
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	error->line = (unsigned int)at.line + 1;
	error->column = (unsigned int)at.column + 1;
	error->key = key ? copy_text(p, key) : NULL;
	error->text = copy_text(p, buf_str(&text));
	p->conf->n_errors++;
}

/* Where a byte stands. */
static yaml_mark_t mark_of(const struct yamlconf_parse *p, size_t offset)
{
	yaml_mark_t at = {};

	for (; at.index < offset && at.index < p->size; at.index++) {
		at.column += ((unsigned char)p->data[at.index] & 0xc0) != 0x80;
		if (p->data[at.index] != '\n')
			continue;
		at.line++;
		at.column = 0;
	}
	return at;
}

static bool is_tab_at(const struct yamlconf_parse *p, yaml_mark_t mark)
{
	const char *at = p->data, *end = p->data + p->size;

	for (size_t line = 0; at && line < mark.line; line++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return at && mark.column < (size_t)(end - at) && at[mark.column] == '\t';
}

static void complain_of_syntax(struct yamlconf_parse *p)
{
	const yaml_parser_t *parser = &p->parser;

	p->over = true;
	if (parser->error == YAML_MEMORY_ERROR)
		p->error = -ENOMEM;
	else if (parser->error == YAML_READER_ERROR)
		complain(p, mark_of(p, parser->problem_offset), NULL, "is not YAML: %s",
			 parser->problem);
	else if (is_tab_at(p, parser->problem_mark))
		complain(p, parser->problem_mark, NULL,
			 "is not YAML: a tab, where spaces are wanted");
	else if (parser->context)
		complain(p, parser->problem_mark, NULL, "is not YAML: %s from line %zu on, %s",
			 parser->context, parser->context_mark.line + 1, parser->problem);
	else
		complain(p, parser->problem_mark, NULL, "is not YAML: %s", parser->problem);
}

static bool next_event(struct yamlconf_parse *p, yaml_event_t *ret)
{
	if (p->over)
		return false;
	if (yaml_parser_parse(&p->parser, ret))
		return true;
	complain_of_syntax(p);
	return false;
}

/* Flattens sections into dotted keys. */

#define SKIP_DEPTH_MAX 64

static bool begins(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
}

static bool ends(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
}

static void skip_node(struct yamlconf_parse *p, const yaml_event_t *first)
{
	size_t depth = begins(first);

	while (depth > 0) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		/* libyaml takes quadratic time for brackets in brackets. */
		if (depth > SKIP_DEPTH_MAX)
			p->over = true;
		if (!next_event(p, &event))
			return;
		depth += begins(&event);
		depth -= ends(&event);
	}
}

static bool is_nothing(const yaml_event_t *event)
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

static bool admit(struct yamlconf_parse *p, const yaml_event_t *event, const char *key)
{
	const char *extra = extra_of(event);

	if (!extra)
		return true;
	complain(p, event->start_mark, key, "has %s, which is not read here; write the value out",
		 extra);
	skip_node(p, event);
	return false;
}

/* What keeps an event from being the name of a key; NULL: it is one. */
static const char *refuse_name(const yaml_event_t *event)
{
	const char *name = (const char *)event->data.scalar.value;
	size_t length;

	if (event->type != YAML_SCALAR_EVENT)
		return "a key is a word, not a list or other keys";
	length = event->data.scalar.length;
	if (is_nothing(event) || length == 0)
		return "a key is missing before the colon";
	if (strlen(name) != length)
		return "a key has a NUL character in it";
	if (length > YAMLCONF_NAME_MAX)
		return "a key is far too long";
	if (strcmp(name, "<<") == 0)
		return "a merge key (<<) is not read here; write the keys out";
	return NULL;
}

static bool count_value(struct yamlconf_parse *p, const char *key, yaml_mark_t at)
{
	if (p->n_values++ < YAMLCONF_KEYS_MAX)
		return true;
	complain(p, at, key, "is one value too many: %d are read", YAMLCONF_KEYS_MAX);
	p->over = true;
	return false;
}

/* Takes the text over; NULL: it is wrong, which is noted. */
static void add_value(struct yamlconf_parse *p, struct yamlconf_entry *entry,
		      struct yamlconf_value value, yaml_mark_t at)
{
	struct yamlconf_value *values;

	if (!value.text)
		return;
	values = reallocarray(entry->values, entry->n_values + 1, sizeof(*values));
	if (!values) {
		out_of_memory(p);
		free(value.text);
		return;
	}
	value.line = (unsigned int)at.line + 1;
	value.column = (unsigned int)at.column + 1;
	entry->values = values;
	values[entry->n_values++] = value;
}

/* A scalar without a NUL in it; NULL, with an error noted. */
static const char *text_of(struct yamlconf_parse *p, const yaml_event_t *event, const char *key)
{
	const char *text = (const char *)event->data.scalar.value;

	if (strlen(text) == event->data.scalar.length)
		return text;
	complain(p, event->start_mark, key, "has a NUL character in it");
	return NULL;
}

static void add_scalar(struct yamlconf_parse *p, struct yamlconf_entry *entry,
		       const yaml_event_t *event)
{
	const char *text = text_of(p, event, entry->key);
	bool taken = text && count_value(p, entry->key, event->start_mark);
	const struct yamlconf_value value = {
		.text = taken ? copy_text(p, text) : NULL,
		.quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
		.nothing = is_nothing(event),
	};

	add_value(p, entry, value, event->start_mark);
}

/* --- sections in a list --------------------------------------------------------------------- */

/* Whether the lines have that key. */
static bool has_key(const char *lines, const char *key)
{
	size_t n = strlen(key);

	for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n')
		if (strncmp(lines, key, n) == 0 && lines[n] == '=')
			return true;
	return false;
}

/* What keeps a scalar from being a key of a section in a list; NULL: it is one. */
static const char *refuse_item_key(const char *lines, const char *key)
{
	if (strpbrk(key, "=\n"))
		return "a key of its list has an equals sign or a line break in it";
	return has_key(lines, key) ? "a key is there twice in one entry of its list" : NULL;
}

static const char *refuse_item_value(const yaml_event_t *event)
{
	if (event->type != YAML_SCALAR_EVENT)
		return "wants plain values in the keys of its list";
	if (is_nothing(event))
		return "a key of its list has no value";
	return strchr((const char *)event->data.scalar.value, '\n')
		       ? "a value in its list has a line break in it"
		       : NULL;
}

/* One key with its value. False: it is wrong, which is noted. */
static bool read_item_key(struct yamlconf_parse *p, const char *list, const yaml_event_t *name,
			  const yaml_event_t *value, struct buf *lines)
{
	const char *why, *text;
	yaml_mark_t at = name->start_mark;

	if (!admit(p, name, list)) {
		skip_node(p, value);
		return false;
	}
	if (!admit(p, value, list) || !count_value(p, list, at))
		return false;
	why = refuse_name(name);
	if (!why)
		why = refuse_item_key(buf_str(lines), (const char *)name->data.scalar.value);
	if (!why) {
		at = value->start_mark;
		why = refuse_item_value(value);
	}
	if (why) {
		complain(p, at, list, "%s", why);
		skip_node(p, value);
		return false;
	}
	text = text_of(p, value, list);
	if (text)
		buf_printf(lines, "%s%s=%s", lines->len ? "\n" : "",
			   (const char *)name->data.scalar.value, text);
	return text;
}

static void read_item(struct yamlconf_parse *p, struct yamlconf_entry *entry,
		      const yaml_event_t *first)
{
	_cleanup_(buf_free) struct buf lines = {};
	bool right = true;

	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t name = {};
		_cleanup_(yaml_event_delete) yaml_event_t value = {};

		if (!next_event(p, &name))
			return;
		if (name.type == YAML_MAPPING_END_EVENT)
			break;
		if (begins(&name)) {
			complain(p, name.start_mark, entry->key, "%s", refuse_name(&name));
			skip_node(p, &name);
			right = false;
		}
		if (!next_event(p, &value))
			return;
		if (begins(&name))
			skip_node(p, &value);
		else
			right &= read_item_key(p, entry->key, &name, &value, &lines);
	}
	if (buf_error(&lines))
		out_of_memory(p);
	else if (right)
		add_value(p, entry,
			  (struct yamlconf_value){.text = copy_text(p, buf_str(&lines)),
						  .section = true},
			  first->start_mark);
}

static void read_list(struct yamlconf_parse *p, struct yamlconf_entry *entry)
{
	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		if (!next_event(p, &event) || event.type == YAML_SEQUENCE_END_EVENT)
			return;
		if (!admit(p, &event, entry->key))
			continue;
		if (event.type == YAML_SCALAR_EVENT) {
			add_scalar(p, entry, &event);
		} else if (event.type == YAML_MAPPING_START_EVENT) {
			read_item(p, entry, &event);
		} else {
			complain(p, event.start_mark, entry->key,
				 "wants values in its list, not a list");
			skip_node(p, &event);
		}
	}
}

static void read_section(struct yamlconf_parse *p, const char *prefix, size_t depth);

/* Fills an entry whose key is known from the node that begins with this event. Sections move the
 * entries, so the caller's pointer is stale after one. */
static void read_value(struct yamlconf_parse *p, struct yamlconf_entry *entry,
		       const yaml_event_t *event, size_t depth)
{
	_cleanup_(cleanup_free) char *prefix = NULL;

	if (event->type == YAML_SCALAR_EVENT) {
		entry->kind = is_nothing(event) ? YAMLCONF_NOTHING : YAMLCONF_VALUE;
		if (entry->kind == YAMLCONF_VALUE)
			add_scalar(p, entry, event);
		return;
	}
	if (event->type == YAML_SEQUENCE_START_EVENT) {
		entry->kind = YAMLCONF_LIST;
		read_list(p, entry);
		return;
	}
	entry->kind = YAMLCONF_SECTION;
	if (depth == YAMLCONF_DEPTH_MAX) {
		complain(p, event->start_mark, entry->key, "is nested too deeply: %d levels are",
			 YAMLCONF_DEPTH_MAX);
		p->over = true;
		return;
	}
	prefix = copy_text(p, entry->key);
	if (prefix)
		read_section(p, prefix, depth + 1);
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
		complain(p, at, key, "is one key too many: %d are read", YAMLCONF_KEYS_MAX);
		p->over = true;
		free(key);
		return NULL;
	}
	entries = reallocarray(conf->entries, conf->n_entries + 1, sizeof(*entries));
	if (!entries) {
		out_of_memory(p);
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

/* The dotted key, for the caller to free; NULL when it cannot be used, with an error noted. */
static char *read_key(struct yamlconf_parse *p, const char *prefix, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.scalar.value, *why;
	const struct yamlconf_entry *twin;
	_cleanup_(buf_free) struct buf key = {};

	if (!admit(p, event, *prefix ? prefix : NULL))
		return NULL;
	why = refuse_name(event);
	if (why) {
		complain(p, event->start_mark, *prefix ? prefix : NULL, "%s", why);
		skip_node(p, event);
		return NULL;
	}
	buf_printf(&key, "%s%s%s", prefix, *prefix ? "." : "", name);
	twin = find(p->conf, buf_str(&key));
	if (twin) {
		complain(p, event->start_mark, buf_str(&key),
			 "is there twice, first in line %u; leave one", twin->line);
		return NULL;
	}
	return buf_error(&key) ? out_of_memory(p) : TAKE_PTR(key.data);
}

static void read_section(struct yamlconf_parse *p, const char *prefix, size_t depth)
{
	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t name = {};
		_cleanup_(yaml_event_delete) yaml_event_t value = {};
		struct yamlconf_entry *entry = NULL;
		char *key;

		if (!next_event(p, &name) || name.type == YAML_MAPPING_END_EVENT)
			return;
		key = read_key(p, prefix, &name);
		if (!next_event(p, &value)) {
			free(key);
			return;
		}
		if (!key) {
			skip_node(p, &value);
			continue;
		}
		if (!admit(p, &value, key)) {
			free(key);
			continue;
		}
		entry = add_entry(p, key, name.start_mark);
		if (entry)
			read_value(p, entry, &value, depth);
	}
}

static void read_root(struct yamlconf_parse *p, const yaml_event_t *event)
{
	if (!admit(p, event, NULL))
		return;
	if (event->type == YAML_MAPPING_START_EVENT) {
		read_section(p, "", 1);
		return;
	}
	if (event->type == YAML_SCALAR_EVENT && is_nothing(event))
		return;
	complain(p, event->start_mark, NULL, "is %s; keys with values are wanted",
		 event->type == YAML_SCALAR_EVENT ? "a lone value" : "a list");
	skip_node(p, event);
}

static void read_stream(struct yamlconf_parse *p)
{
	size_t documents = 0;

	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		if (!next_event(p, &event) || event.type == YAML_STREAM_END_EVENT)
			return;
		if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (event.type != YAML_DOCUMENT_START_EVENT) {
			read_root(p, &event);
			continue;
		}
		if (documents++ == 0)
			continue;
		complain(p, event.start_mark, NULL, "a second document begins here; one is wanted");
		p->over = true;
	}
}

/* libyaml refuses these, too, but does not give the line. */
static bool check_characters(struct yamlconf_parse *p)
{
	for (size_t at = 0; at < p->size;) {
		uint32_t code = 0;
		size_t n = utf8_decode(p->data + at, p->size - at, &code);

		if (n == 0) {
			complain(p, mark_of(p, at), NULL, "byte 0x%02x is not UTF-8",
				 (unsigned int)(unsigned char)p->data[at]);
			return false;
		}
		if ((code < 0x20 && !strchr("\t\n\r", (int)code)) || code == 0 ||
		    (code >= 0x7f && code < 0xa0 && code != 0x85)) {
			complain(p, mark_of(p, at), NULL, "control character 0x%02x is no text",
				 (unsigned int)code);
			return false;
		}
		at += n;
	}
	return true;
}

int yamlconf_parse(const char *data, size_t size, struct yamlconf *ret)
{
	struct yamlconf conf = {};
	struct yamlconf_parse p = {.data = data, .size = size, .conf = &conf};

	if (size > YAMLCONF_SIZE_MAX) {
		complain(&p, (yaml_mark_t){}, NULL, "is bigger than 1 MiB");
	} else if (check_characters(&p)) {
		if (!yaml_parser_initialize(&p.parser))
			return -ENOMEM;
		yaml_parser_set_encoding(&p.parser, YAML_UTF8_ENCODING);
		yaml_parser_set_input_string(&p.parser, (const unsigned char *)data, size);
		read_stream(&p);
		yaml_parser_delete(&p.parser);
	}
	if (p.error < 0) {
		yamlconf_done(&conf);
		return p.error;
	}
	*ret = conf;
	return 0;
}

bool yamlconf_is_below(const char *key, const char *section)
{
	size_t n = strlen(section);

	return strncmp(key, section, n) == 0 && key[n] == '.';
}
