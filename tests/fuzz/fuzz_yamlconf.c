// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a document of settings: within the limits, in order, and text. */
#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "wire/config/yaml.h"

static void check_text(const char *text)
{
	size_t left = strlen(text), n;
	uint32_t code;

	for (; left > 0; text += n, left -= n) {
		n = utf8_decode(text, left, &code);
		assert(n > 0);
	}
}

static void check_entry(const struct yamlconf *conf, size_t at, unsigned int lines)
{
	const struct yamlconf_entry *e = &conf->entries[at];

	assert(e->key && *e->key);
	assert(strlen(e->key) <= YAMLCONF_DEPTH_MAX * (YAMLCONF_NAME_MAX + 1));
	check_text(e->key);
	assert(e->line >= 1 && e->line <= lines);
	assert(at == 0 || e->line >= e[-1].line);
	for (size_t i = 0; i < at; i++)
		assert(strcmp(conf->entries[i].key, e->key) != 0);
	assert(e->kind != YAMLCONF_VALUE || e->n_values <= 1);
	assert(e->n_values == 0 || e->kind == YAMLCONF_VALUE || e->kind == YAMLCONF_LIST);
	for (size_t i = 0; i < e->n_values; i++) {
		check_text(e->values[i].text);
		assert(e->values[i].line >= e->line && e->values[i].line <= lines);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yamlconf conf = {};
	unsigned int lines = 2;

	/* A lone CR, NEL, LS and PS are line breaks to YAML, too. */
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
	if (yamlconf_parse((const char *)data, size, &conf) < 0)
		return 0;
	assert(conf.n_entries <= YAMLCONF_KEYS_MAX && conf.n_errors <= YAMLCONF_ERRORS_MAX);
	assert(conf.n_unsaid == 0 || conf.n_errors == YAMLCONF_ERRORS_MAX);
	for (size_t i = 0; i < conf.n_entries; i++)
		check_entry(&conf, i, lines);
	for (size_t i = 0; i < conf.n_errors; i++) {
		assert(conf.errors[i].text && *conf.errors[i].text);
		assert(conf.errors[i].line >= 1 && conf.errors[i].line <= lines);
	}
	yamlconf_done(&conf);
	return 0;
}
