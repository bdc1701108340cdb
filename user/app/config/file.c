// SPDX-License-Identifier: Apache-2.0
/* Settings from a file: holds each key against the table, and tells all that is wrong. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/priv.h"
#include "app/log/say.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "io/files/file.h"
#include "wire/config/yaml.h"

#define VALUE_SHOWN 80 /* bytes of a wrong value */

/* What is wrong, until all is known and can be told in the order of the lines. */
struct complaint {
	unsigned int line, column;
	char *text;
};

struct judge {
	struct config_loader *loader;
	const char *path;
	struct complaint complaints[2 * YAMLCONF_ERRORS_MAX];
	size_t n;
	size_t n_unsaid;
	bool broken; /* the document as such: some of it may not have been read */
};

static void judge_done(struct judge *judge)
{
	for (size_t i = 0; i < judge->n; i++)
		free(judge->complaints[i].text);
}

__attribute__((format(printf, 5, 6))) static void complain(struct judge *judge, unsigned int line,
							   unsigned int column, const char *key,
							   const char *format, ...)
{
	struct buf text = {};
	va_list args;

	if (judge->n == sizeof(judge->complaints) / sizeof(*judge->complaints)) {
		judge->n_unsaid++;
		return;
	}
	buf_printf(&text, "%s%s", key ? key : "", key ? ": " : "");
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	judge->complaints[judge->n++] = (struct complaint){line, column, text.data};
}

static int by_place(const void *a, const void *b)
{
	const struct complaint *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static int tell(struct judge *judge)
{
	size_t shown = judge->n < YAMLCONF_ERRORS_MAX ? judge->n : YAMLCONF_ERRORS_MAX;
	size_t unsaid = judge->n_unsaid + judge->n - shown;

	qsort(judge->complaints, judge->n, sizeof(*judge->complaints), by_place);
	for (size_t i = 0; i < shown; i++)
		say_as("run", "%s:%u: %s", judge->path, judge->complaints[i].line,
		       judge->complaints[i].text ? judge->complaints[i].text : "out of memory");
	if (unsaid)
		say_as("run", "%s: and %zu more errors", judge->path, unsaid);
	return judge->n ? 1 : 0;
}

/* Whether settings begin with this key and a dot. */
static bool is_section(const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < config_n_settings; i++)
		if (strncmp(config_settings[i].key, key, n) == 0 &&
		    config_settings[i].key[n] == '.')
			return true;
	return false;
}

/* The section that was meant, as far as it goes; NULL when none is near. */
static const char *find_near_section(const char *key, char ret[CONFIG_NAME_SIZE])
{
	for (size_t i = 0; i < config_n_settings; i++) {
		size_t n = strcspn(config_settings[i].key, ".");

		if (!config_settings[i].key[n] || n >= CONFIG_NAME_SIZE)
			continue;
		memcpy(ret, config_settings[i].key, n);
		ret[n] = '\0';
		if (nearest_find(key, (const char *const[]){ret}, 1) == 0)
			return ret;
	}
	return NULL;
}

static void refuse_key(struct judge *judge, const struct yamlconf_entry *entry)
{
	const struct config_setting *near = config_near_key(entry->key);
	const char *word = near ? near->key : NULL, *section = NULL;
	char name[CONFIG_NAME_SIZE];

	if (entry->kind == YAMLCONF_SECTION)
		section = find_near_section(entry->key, name);
	if (section)
		word = section;
	if (word)
		complain(judge, entry->line, entry->column, entry->key,
			 "there is no such setting (did you mean %s?)", word);
	else
		complain(judge, entry->line, entry->column, entry->key,
			 "there is no such setting; see graced run --help");
}

/* What a setting wants, told by a value that no setting takes. */
static const char *wants_of(size_t setting)
{
	struct config_loader scratch = {};
	const char *wants = config_settings[setting].take(&scratch.config, "", 0);

	return wants ? wants : "a value";
}

static void take_value(struct judge *judge, const struct yamlconf_entry *entry, size_t setting,
		       size_t index)
{
	const struct yamlconf_value *value = &entry->values[index];
	enum config_kind kind = config_settings[setting].kind;
	const char *wants;

	if (value->nothing) {
		complain(judge, value->line, value->column, entry->key,
			 "wants %s in its list, not nothing", wants_of(setting));
		return;
	}
	if (value->quoted && (kind == CONFIG_BOOL || kind == CONFIG_NUMBER)) {
		complain(judge, value->line, value->column, entry->key,
			 "wants %s without quotes, not text", wants_of(setting));
		return;
	}
	wants = config_take(judge->loader, setting, value->text, index, CONFIG_FILE);
	if (kind == CONFIG_LIST && index < CONFIG_LISTEN_MAX &&
	    setting == config_find("web.listenAddress"))
		judge->loader->lines[index] = value->line;
	if (wants)
		complain(judge, value->line, value->column, entry->key, "wants %s, not '%.*s'",
			 wants, VALUE_SHOWN, value->text);
}

static void judge_setting(struct judge *judge, const struct yamlconf_entry *entry, size_t setting)
{
	bool is_list = config_settings[setting].kind == CONFIG_LIST;

	if (entry->kind == YAMLCONF_SECTION || (entry->kind == YAMLCONF_LIST && !is_list))
		complain(judge, entry->line, entry->column, entry->key, "wants %s, not %s",
			 wants_of(setting), entry->kind == YAMLCONF_LIST ? "a list" : "a section");
	else if (entry->kind == YAMLCONF_NOTHING)
		complain(judge, entry->line, entry->column, entry->key, "wants %s, not nothing",
			 wants_of(setting));
	else if (entry->n_values == 0 && config_settings[setting].fallback && !judge->broken)
		complain(judge, entry->line, entry->column, entry->key,
			 "wants %s, not an empty list", wants_of(setting));
	for (size_t i = 0; i < entry->n_values && (is_list || entry->n_values == 1); i++)
		if (entry->kind == YAMLCONF_VALUE || is_list)
			take_value(judge, entry, setting, i);
}

/* False when what is below the key is of no interest. */
static bool judge_entry(struct judge *judge, const struct yamlconf_entry *entry)
{
	size_t setting = config_find(entry->key);

	if (setting < config_n_settings) {
		judge_setting(judge, entry, setting);
		return false;
	}
	if (!is_section(entry->key)) {
		refuse_key(judge, entry);
		return false;
	}
	if (entry->kind == YAMLCONF_SECTION || entry->kind == YAMLCONF_NOTHING)
		return true;
	complain(judge, entry->line, entry->column, entry->key, "wants keys below it, not a %s",
		 entry->kind == YAMLCONF_LIST ? "list" : "value");
	return false;
}

static bool is_below(const char *key, const char *section)
{
	size_t n = strlen(section);

	return strncmp(key, section, n) == 0 && key[n] == '.';
}

static void judge_all(struct judge *judge, const struct yamlconf *conf)
{
	const char *skip = NULL;

	for (size_t i = 0; i < conf->n_errors; i++)
		complain(judge, conf->errors[i].line, conf->errors[i].column, conf->errors[i].key,
			 "%s", conf->errors[i].text);
	judge->n_unsaid += conf->n_unsaid;
	judge->broken = conf->n_errors > 0;
	for (size_t i = 0; i < conf->n_entries; i++) {
		if (skip && is_below(conf->entries[i].key, skip))
			continue;
		skip = judge_entry(judge, &conf->entries[i]) ? NULL : conf->entries[i].key;
	}
}

int config_file_apply(struct config_loader *loader, const char *path)
{
	_cleanup_(judge_done) struct judge judge = {.loader = loader, .path = path};
	_cleanup_(yamlconf_done) struct yamlconf conf = {};
	_cleanup_(buf_free) struct buf data = {};
	struct trusted_why why;

	if (trusted_read(path, false, YAMLCONF_SIZE_MAX, &data, &why) < 0) {
		say_as("run", "%s", why.text);
		return 1;
	}
	if (yamlconf_parse(buf_str(&data), data.len, &conf) < 0) {
		say_as("run", "cannot read %s: out of memory", path);
		return 1;
	}
	judge_all(&judge, &conf);
	return tell(&judge);
}
