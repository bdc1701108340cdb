/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of wire/config/yaml share. Nobody else includes it. */
#ifndef WIRE_CONFIG_YAML_PRIV_H
#define WIRE_CONFIG_YAML_PRIV_H

#include <yaml.h>

#include "wire/config/yaml.h"

struct yamlconf_parse {
	yaml_parser_t parser;
	const char *data;
	size_t size;
	struct yamlconf *conf;
	size_t n_values;
	bool over; /* nothing more can be read, which has been told */
	int error; /* -ENOMEM */
};

/* False at the end of what can be read; else the caller deletes the event. */
bool yamlconf_next(struct yamlconf_parse *p, yaml_event_t *ret);

/* key may be NULL; lines and columns of the mark count from 0. */
void yamlconf_complain(struct yamlconf_parse *p, yaml_mark_t at, const char *key,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A copy for the caller to free; NULL when memory is out, which ends the reading. */
char *yamlconf_copy(struct yamlconf_parse *p, const char *text);
char *yamlconf_out_of_memory(struct yamlconf_parse *p);

/* Whether a node is a value of its own: not an alias, without anchor and tag. False: it has been
 * told, and is skipped. */
bool yamlconf_admit(struct yamlconf_parse *p, const yaml_event_t *event, const char *key);

/* Reads to the end of the node that begins with this event, about which something was told; ends
 * the reading when that goes deep. */
void yamlconf_skip(struct yamlconf_parse *p, const yaml_event_t *first);

/* True for what YAML takes for null. */
bool yamlconf_is_nothing(const yaml_event_t *event);

/* Reads the keys of a section to its end. */
void yamlconf_read_section(struct yamlconf_parse *p, const char *prefix, size_t depth);

#endif
