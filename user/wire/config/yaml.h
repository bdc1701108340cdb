/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML document of settings, from memory, as a flat list: sections become dotted keys, each with
 * its value or list of values and where it stands. Knows nothing of what keys there are.
 *
 * The YAML is what a settings file needs: one document, sections in sections, values, lists of
 * values, and lists of sections with plain values. Anchors, aliases, tags and merge keys are
 * refused, as are keys that are there twice.
 */
#ifndef WIRE_CONFIG_YAML_H
#define WIRE_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>

#define YAMLCONF_SIZE_MAX   ((size_t)1 << 20)
#define YAMLCONF_KEYS_MAX   1000 /* sections included; as many values in all lists together */
#define YAMLCONF_DEPTH_MAX  8
#define YAMLCONF_NAME_MAX   128 /* bytes of one part of a key */
#define YAMLCONF_ERRORS_MAX 20

enum yamlconf_kind {
	YAMLCONF_NOTHING, /* `key:`, `key: ~` or `key: null` */
	YAMLCONF_VALUE,
	YAMLCONF_LIST,
	YAMLCONF_SECTION, /* what is in it follows, as keys of their own */
};

/* Lines and columns count from 1. */
struct yamlconf_value {
	/* UTF-8 without a NUL in it; "" for nothing. For a section in a list: a line "key=value"
	 * for each key, in their order. */
	char *text;
	bool quoted;
	bool nothing;
	bool section;
	unsigned int line, column;
};

struct yamlconf_entry {
	char *key; /* web.listenAddress */
	enum yamlconf_kind kind;
	unsigned int line, column;     /* of the key */
	struct yamlconf_value *values; /* one of a YAMLCONF_VALUE, any number of a LIST, else none */
	size_t n_values;
};

struct yamlconf_error {
	unsigned int line, column;
	char *key;  /* NULL: it is not about one */
	char *text; /* any characters of the document may be in it */
};

/* In the order of the document. */
struct yamlconf {
	struct yamlconf_entry *entries;
	size_t n_entries;
	struct yamlconf_error errors[YAMLCONF_ERRORS_MAX];
	size_t n_errors;
	size_t n_unsaid; /* errors beyond that */
};

/*
 * 0, also when there are errors in it: then the entries are those that could be made out. -ENOMEM.
 * The caller frees *ret by yamlconf_done().
 */
int yamlconf_parse(const char *data, size_t size, struct yamlconf *ret);
void yamlconf_done(struct yamlconf *conf);

/* Whether a key is one of that section. */
bool yamlconf_is_below(const char *key, const char *section);

#endif
