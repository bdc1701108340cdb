// SPDX-License-Identifier: Apache-2.0
/* Reads a YAML document by libyaml, and says what is wrong with it and where. */
#include "wire/config/yaml_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

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

char *yamlconf_out_of_memory(struct yamlconf_parse *p)
{
	p->error = -ENOMEM;
	p->over = true;
	return NULL;
}

char *yamlconf_copy(struct yamlconf_parse *p, const char *text)
{
	char *own = strdup(text);

	return own ? own : yamlconf_out_of_memory(p);
}

__attribute__((format(printf, 4, 5))) void yamlconf_complain(struct yamlconf_parse *p,
							     yaml_mark_t at, const char *key,
							     const char *format, ...)
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
	error->key = key ? yamlconf_copy(p, key) : NULL;
	error->text = yamlconf_copy(p, buf_str(&text));
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
		yamlconf_complain(p, mark_of(p, parser->problem_offset), NULL, "is not YAML: %s",
				  parser->problem);
	else if (is_tab_at(p, parser->problem_mark))
		yamlconf_complain(p, parser->problem_mark, NULL,
				  "is not YAML: a tab, where spaces are wanted");
	else if (parser->context)
		yamlconf_complain(p, parser->problem_mark, NULL,
				  "is not YAML: %s from line %zu on, %s", parser->context,
				  parser->context_mark.line + 1, parser->problem);
	else
		yamlconf_complain(p, parser->problem_mark, NULL, "is not YAML: %s",
				  parser->problem);
}

bool yamlconf_next(struct yamlconf_parse *p, yaml_event_t *ret)
{
	if (p->over)
		return false;
	if (yaml_parser_parse(&p->parser, ret))
		return true;
	complain_of_syntax(p);
	return false;
}

static void read_root(struct yamlconf_parse *p, const yaml_event_t *event)
{
	if (!yamlconf_admit(p, event, NULL))
		return;
	if (event->type == YAML_MAPPING_START_EVENT) {
		yamlconf_read_section(p, "", 1);
		return;
	}
	if (event->type == YAML_SCALAR_EVENT && yamlconf_is_nothing(event))
		return;
	yamlconf_complain(p, event->start_mark, NULL, "is %s; keys with values are wanted",
			  event->type == YAML_SCALAR_EVENT ? "a lone value" : "a list");
	yamlconf_skip(p, event);
}

static void read_stream(struct yamlconf_parse *p)
{
	size_t documents = 0;

	while (true) {
		_cleanup_(yaml_event_delete) yaml_event_t event = {};

		if (!yamlconf_next(p, &event) || event.type == YAML_STREAM_END_EVENT)
			return;
		if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT)
			continue;
		if (event.type != YAML_DOCUMENT_START_EVENT) {
			read_root(p, &event);
			continue;
		}
		if (documents++ == 0)
			continue;
		yamlconf_complain(p, event.start_mark, NULL,
				  "a second document begins here; one is wanted");
		p->over = true;
	}
}

/* libyaml refuses these, too, but cannot tell the line. */
static bool check_characters(struct yamlconf_parse *p)
{
	for (size_t at = 0; at < p->size;) {
		uint32_t code = 0;
		size_t n = utf8_decode(p->data + at, p->size - at, &code);

		if (n == 0) {
			yamlconf_complain(p, mark_of(p, at), NULL, "byte 0x%02x is not UTF-8",
					  (unsigned int)(unsigned char)p->data[at]);
			return false;
		}
		if ((code < 0x20 && !strchr("\t\n\r", (int)code)) || code == 0 ||
		    (code >= 0x7f && code < 0xa0 && code != 0x85)) {
			yamlconf_complain(p, mark_of(p, at), NULL,
					  "control character 0x%02x is no text",
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
		yamlconf_complain(&p, (yaml_mark_t){}, NULL, "is bigger than 1 MiB");
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
