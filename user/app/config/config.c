// SPDX-License-Identifier: Apache-2.0
/* Puts the daemon's configuration together from its four sources, the strongest last: defaults, the
 * file, the environment, flags. */
#include "app/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config/settings.h"
#include "app/config/shutdown.h"
#include "app/config/values.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "io/files/file.h"
#include "wire/config/web.h"
#include "wire/config/yaml.h"

#define VALUE_SHOWN 80 /* bytes of a wrong value */

/* Which source gave a setting the value it has. */
enum config_source { CONFIG_FALLBACK, CONFIG_FILE, CONFIG_VARIABLE, CONFIG_FLAG };

struct config_loader {
	const char *command; /* for messages */
	struct config config;
	enum config_source sources[CONFIG_SETTINGS];
	unsigned int lines[CONFIG_LISTEN_MAX]; /* of the addresses, when the file gave them */
};

/* The strings of a configuration. */
struct store {
	struct store *next;
	char text[];
};

/* A copy that config_done() frees; NULL when memory is out. */
static const char *config_store(struct config *config, const char *text)
{
	size_t size = strlen(text) + 1;
	struct store *item = malloc(sizeof(*item) + size);

	if (!item)
		return NULL;
	memcpy(item->text, text, size);
	item->next = config->store;
	config->store = item;
	return item->text;
}

void config_done(struct config *config)
{
	struct store *next;

	for (struct store *item = config->store; item; item = next) {
		next = item->next;
		free(item);
	}
	webfile_free(config->webfile);
	memset(config, 0, sizeof(*config));
}

static bool keep_given(struct config *config, size_t setting, const char *own, size_t index)
{
	_cleanup_(buf_free) struct buf list = {};
	const char **given = &config->given[setting];

	if (index == 0) {
		*given = own;
	} else {
		buf_printf(&list, "%s,%s", *given, own);
		*given = buf_error(&list) ? NULL : config_store(config, buf_str(&list));
	}
	return *given;
}

/* Gives a setting one value from a source: NULL, or what is wanted instead. */
static const char *take_value_from(struct config_loader *loader, size_t setting, const char *value,
				   size_t index, enum config_source source)
{
	const char *own = config_store(&loader->config, value);

	if (!own || !keep_given(&loader->config, setting, own, index))
		return "memory";
	loader->sources[setting] = source;
	return value_take(&settings[setting], &loader->config, own, index);
}

/* --- the environment -----------------------------------------------------------------------------
 */

static int refuse_variable(const struct setting *setting, const char *wants, const char *value)
{
	char name[SETTING_NAME_SIZE];

	return say_usage("run", "%s wants %s, not '%s'", setting_variable(setting, name), wants,
			 value);
}

/* A list is separated by commas. */
static int apply_list(struct config_loader *loader, size_t setting, const char *value)
{
	_cleanup_(cleanup_free) char *own = strdup(value);
	char *rest = own, *part;
	size_t index = 0;

	while ((part = strsep(&rest, ","))) {
		const char *wants =
			take_value_from(loader, setting, part, index++, CONFIG_VARIABLE);

		if (wants)
			return refuse_variable(&settings[setting], wants, part);
	}
	return own ? 0 : refuse_variable(&settings[setting], "memory", value);
}

static int apply_environment(struct config_loader *loader)
{
	for (size_t i = 0; i < n_settings; i++) {
		const struct setting *setting = &settings[i];
		char name[SETTING_NAME_SIZE];
		const char *value = getenv(setting_variable(setting, name)), *wants;
		int status;

		/* A manifest that leaves a value empty means none. */
		if (!setting->key || !value || !*value)
			continue;
		if (setting->list) {
			status = apply_list(loader, i, value);
			if (status)
				return status;
			continue;
		}
		wants = take_value_from(loader, i, value, 0, CONFIG_VARIABLE);
		if (wants)
			return refuse_variable(setting, wants, value);
	}
	return 0;
}

/* The n first bytes are the name. NULL for one of ours, and for one that is like none. */
static const char *find_near_variable(const char *entry, size_t n, char (*names)[SETTING_NAME_SIZE])
{
	const char *words[CONFIG_SETTINGS + 1] = {};
	char word[SETTING_NAME_SIZE] = "";
	size_t n_words = 0, at;

	if (n >= sizeof(word))
		return NULL;
	memcpy(word, entry, n);
	for (; names[n_words][0]; n_words++) {
		words[n_words] = names[n_words];
		if (strcmp(word, names[n_words]) == 0)
			return NULL;
	}
	at = nearest_find(word, words, n_words);
	return at < n_words ? names[at] : NULL;
}

/* Logs variables that look like a misspelt one of the table, and not every unknown one: for a
 * service called graced, Kubernetes sets GRACED_SERVICE_HOST, GRACED_PORT and more of that kind in
 * every pod of its namespace. */
static void warn_of_variables(void)
{
	char names[CONFIG_SETTINGS + 2][SETTING_NAME_SIZE] = {"GRACED_CONFIG"};
	size_t n_names = 1;

	for (size_t i = 0; i < n_settings; i++)
		if (settings[i].key)
			setting_variable(&settings[i], names[n_names++]);
	for (char **entry = environ; *entry; entry++) {
		size_t n = strcspn(*entry, "=");
		const char *near;

		if (strncmp(*entry, "GRACED_", strlen("GRACED_")) != 0)
			continue;
		near = find_near_variable(*entry, n, names);
		if (near)
			say_as("run", "%.*s is not read here (did you mean %s?)", (int)n, *entry,
			       near);
	}
}

/* --- the file ------------------------------------------------------------------------------------
 */

/* What is wrong, until all is known and can be logged in the order of the lines. */
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

static int log_complaints(struct judge *judge)
{
	size_t shown = judge->n < YAMLCONF_ERRORS_MAX ? judge->n : YAMLCONF_ERRORS_MAX;
	size_t unsaid = judge->n_unsaid + judge->n - shown;

	qsort(judge->complaints, judge->n, sizeof(*judge->complaints), by_place);
	for (size_t i = 0; i < shown; i++)
		say_as(judge->loader->command, "%s:%u: %s", judge->path, judge->complaints[i].line,
		       judge->complaints[i].text ? judge->complaints[i].text : "out of memory");
	if (unsaid)
		say_as(judge->loader->command, "%s: and %zu more errors", judge->path, unsaid);
	return judge->n ? 1 : 0;
}

/* Whether settings begin with this key and a dot. */
static bool is_section(const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < n_settings; i++)
		if (settings[i].key && strncmp(settings[i].key, key, n) == 0 &&
		    settings[i].key[n] == '.')
			return true;
	return false;
}

/* The section that was meant, as far as it goes; NULL when none is near. */
static const char *find_near_section(const char *key, char ret[SETTING_NAME_SIZE])
{
	for (size_t i = 0; i < n_settings; i++) {
		const char *key_of = settings[i].key;
		size_t n = key_of ? strcspn(key_of, ".") : 0;

		if (n == 0 || !key_of[n] || n >= SETTING_NAME_SIZE)
			continue;
		memcpy(ret, key_of, n);
		ret[n] = '\0';
		if (nearest_find(key, (const char *const[]){ret}, 1) == 0)
			return ret;
	}
	return NULL;
}

/* The key that is most like the word; NULL when none is near. */
static const char *find_near_key(const char *word)
{
	const char *keys[CONFIG_SETTINGS] = {};
	size_t n = 0, at;

	for (size_t i = 0; i < n_settings; i++)
		if (settings[i].key)
			keys[n++] = settings[i].key;
	at = nearest_find(word, keys, n);
	return at < n ? keys[at] : NULL;
}

static void refuse_key(struct judge *judge, const struct yamlconf_entry *entry)
{
	const char *word = find_near_key(entry->key), *section = NULL;
	char name[SETTING_NAME_SIZE];

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

/* What a setting wants, found by a value that no setting takes. */
static const char *wants_of(size_t setting)
{
	struct config scratch = {.options.which = OPTIONS_RUN};
	const char *wants = value_take(&settings[setting], &scratch, "", 0);

	return wants ? wants : "a value";
}

/* A section is shown as the file may have it in one line. */
static void refuse_value(struct judge *judge, const char *key, const struct yamlconf_value *value,
			 const char *wants)
{
	_cleanup_(buf_free) struct buf shown = {};

	for (const char *at = value->text; *at; at++)
		if (*at == '\n')
			buf_adds(&shown, ", ");
		else if (*at == '=' && value->section)
			buf_adds(&shown, ": ");
		else
			buf_addc(&shown, *at);
	complain(judge, value->line, value->column, key, "wants %s, not %s%.*s%s", wants,
		 value->section ? "{" : "'", VALUE_SHOWN, buf_str(&shown),
		 value->section ? "}" : "'");
}

static void take_value(struct judge *judge, const struct yamlconf_entry *entry, size_t setting,
		       size_t index)
{
	const struct yamlconf_value *value = &entry->values[index];
	const struct setting *s = &settings[setting];
	const char *wants;

	if (value->nothing) {
		complain(judge, value->line, value->column, entry->key,
			 "wants %s in its list, not nothing", wants_of(setting));
		return;
	}
	if (value->quoted && (!s->argument || s->type == SETTING_COUNT)) {
		complain(judge, value->line, value->column, entry->key,
			 "wants %s without quotes, not text", wants_of(setting));
		return;
	}
	if (value->section && !s->pairs) {
		complain(judge, value->line, value->column, entry->key,
			 "wants values in its list, not keys");
		return;
	}
	wants = take_value_from(judge->loader, setting, value->text, index, CONFIG_FILE);
	if (index < CONFIG_LISTEN_MAX && setting == setting_find("web.listenAddress"))
		judge->loader->lines[index] = value->line;
	if (wants)
		refuse_value(judge, entry->key, value, wants);
}

static void judge_setting(struct judge *judge, const struct yamlconf_entry *entry, size_t setting)
{
	bool is_list = settings[setting].list;

	if (entry->kind == YAMLCONF_SECTION || (entry->kind == YAMLCONF_LIST && !is_list))
		complain(judge, entry->line, entry->column, entry->key, "wants %s, not %s",
			 wants_of(setting), entry->kind == YAMLCONF_LIST ? "a list" : "a section");
	else if (entry->kind == YAMLCONF_NOTHING)
		complain(judge, entry->line, entry->column, entry->key, "wants %s, not nothing",
			 wants_of(setting));
	else if (entry->n_values == 0 && settings[setting].fallback && !judge->broken)
		complain(judge, entry->line, entry->column, entry->key,
			 "wants %s, not an empty list", wants_of(setting));
	for (size_t i = 0; i < entry->n_values && (is_list || entry->n_values == 1); i++)
		if (entry->kind == YAMLCONF_VALUE || is_list)
			take_value(judge, entry, setting, i);
}

/* False when what is below the key is of no interest. */
static bool judge_entry(struct judge *judge, const struct yamlconf_entry *entry)
{
	size_t setting = setting_find(entry->key);

	if (setting < n_settings) {
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

static void judge_all(struct judge *judge, const struct yamlconf *conf)
{
	const char *skip = NULL;

	for (size_t i = 0; i < conf->n_errors; i++)
		complain(judge, conf->errors[i].line, conf->errors[i].column, conf->errors[i].key,
			 "%s", conf->errors[i].text);
	judge->n_unsaid += conf->n_unsaid;
	judge->broken = conf->n_errors > 0;
	for (size_t i = 0; i < conf->n_entries; i++) {
		if (skip && yamlconf_is_below(conf->entries[i].key, skip))
			continue;
		skip = judge_entry(judge, &conf->entries[i]) ? NULL : conf->entries[i].key;
	}
}

static int apply_file(struct config_loader *loader, const char *path)
{
	_cleanup_(judge_done) struct judge judge = {.loader = loader, .path = path};
	_cleanup_(yamlconf_done) struct yamlconf conf = {};
	_cleanup_(buf_free) struct buf data = {};
	struct trusted_why why;

	if (trusted_read(path, false, YAMLCONF_SIZE_MAX, &data, &why) < 0) {
		say_as(loader->command, "%s", why.text);
		return 1;
	}
	if (yamlconf_parse(buf_str(&data), data.len, &conf) < 0) {
		say_as(loader->command, "cannot read %s: out of memory", path);
		return 1;
	}
	judge_all(&judge, &conf);
	return log_complaints(&judge);
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static int apply_flags(struct config_loader *loader, const struct options_flags *flags)
{
	size_t counts[CONFIG_SETTINGS] = {};

	for (size_t i = 0; i < flags->n; i++) {
		const struct options_flag *flag = &flags->given[i];
		const struct setting *setting = &settings[flag->setting];
		char name[SETTING_NAME_SIZE];
		const char *wants;

		wants = take_value_from(loader, flag->setting, flag->value, counts[flag->setting]++,
					CONFIG_FLAG);
		if (wants)
			return say_usage("run", "--%s wants %s, not '%s'",
					 setting_flag(setting, name), wants, flag->value);
	}
	return 0;
}

static int take_fallbacks(struct config_loader *loader)
{
	options_init(&loader->config.options, "run");
	for (size_t i = 0; i < n_settings; i++) {
		const char *value = settings[i].key ? settings[i].fallback : NULL;

		if (value && take_value_from(loader, i, value, 0, CONFIG_FALLBACK)) {
			say_as("run", "cannot take the settings: out of memory");
			return 1;
		}
	}
	return 0;
}

/* Logs what is wrong with an address, and which source gave it. */
static int refuse_address(const struct config_loader *loader, size_t setting, size_t index)
{
	const char *why = loader->config.webfile
				  ? "can be reached from other hosts, but the file of "
				    "--web.config.file has neither TLS nor users"
				  : "can be reached from other hosts, which takes "
				    "--web.config.file (TLS, authentication) or --web.insecure";
	const struct setting *s = &settings[setting];
	const char *address = loader->config.listen[index];
	char name[SETTING_NAME_SIZE];

	switch (loader->sources[setting]) {
	case CONFIG_FLAG:
		return say_usage("run", "--%s: %s %s", setting_flag(s, name), address, why);
	case CONFIG_VARIABLE:
		return say_usage("run", "%s: %s %s", setting_variable(s, name), address, why);
	default:
		say_as("run", "%s:%u: %s: %s %s", loader->config.file, loader->lines[index], s->key,
		       address, why);
		return 1;
	}
}

/* The web configuration is read here, so that what is wrong with it is known before all starts. */
static int take_web(struct config_loader *loader)
{
	struct config *c = &loader->config;

	if (c->web_config_file && webfile_load(c->web_config_file, &c->webfile) < 0)
		return 1;
	if (c->web_insecure || (c->webfile && webfile_protects(c->webfile)))
		return 0;
	for (size_t i = 0; i < c->n_listen; i++) {
		struct listen listen;

		if (listen_parse(c->listen[i], &listen) == 0 && !listen.loopback)
			return refuse_address(loader, setting_find("web.listenAddress"), i);
	}
	return 0;
}

/* Settings may be right each and wrong together: logs why, with the one that it is about. */
static int refuse_together(const struct config_loader *loader, const char *key, const char *why)
{
	size_t setting = setting_find(key);
	const struct setting *s = &settings[setting];
	char name[SETTING_NAME_SIZE];

	switch (loader->sources[setting]) {
	case CONFIG_FLAG:
		return say_usage("run", "--%s: %s", setting_flag(s, name), why);
	case CONFIG_VARIABLE:
		return say_usage("run", "%s: %s", setting_variable(s, name), why);
	case CONFIG_FILE:
		say_as(loader->command, "%s: %s: %s", loader->config.file, s->key, why);
		return 1;
	default:
		return say_usage(loader->command, "%s: %s", s->key, why);
	}
}

static int take_peer(struct config_loader *loader, enum meta_source source, const char *url)
{
	struct source_kubelet_why buffer;
	const char *why = options_refuse_lister(&loader->config.options, source, &buffer);

	return why ? refuse_together(loader, url, why) : 0;
}

static int take_report(struct config_loader *loader)
{
	static const char why[] = "wants an API server, as api.url names it";
	const struct config *c = &loader->config;

	if (c->options.sources.api.url)
		return 0;
	if (c->report_events || c->shutdown.statuses || c->shutdown.unschedulable)
		return refuse_together(loader, "api.report", why);
	return c->shutdown.taint ? refuse_together(loader, "shutdown.outOfServiceTaint", why) : 0;
}

/* The strongest source of them is what was changed last. */
static const char *find_groups_key(const struct config_loader *loader)
{
	static const char *const keys[] = {"shutdown.gracePeriod",
					   "shutdown.gracePeriodCriticalPods",
					   "shutdown.gracePeriodByPodPriority"};
	const char *key = keys[0];

	for (size_t i = 1; i < sizeof(keys) / sizeof(*keys); i++)
		if (loader->sources[setting_find(keys[i])] > loader->sources[setting_find(key)])
			key = keys[i];
	return key;
}

static int take_groups(struct config_loader *loader)
{
	_cleanup_(buf_free) struct buf why = {};

	if (groups_refuse(&loader->config.shutdown.groups, &why))
		return refuse_together(loader, find_groups_key(loader), buf_str(&why));
	return 0;
}

/* The file is read before flags are applied. */
static int name_file(struct config_loader *loader, const struct options_flags *flags)
{
	const char *variable = getenv("GRACED_CONFIG"), *file = NULL;

	for (size_t i = 0; i < flags->n; i++) {
		const struct setting *s = &settings[flags->given[i].setting];

		if (!s->key && strcmp(s->flag, "config") == 0)
			file = flags->given[i].value;
	}
	if (file && !*file)
		return say_usage("run", "--config wants a file, not ''");
	if (!file)
		file = variable && *variable ? variable : NULL;
	if (!file)
		return 0;
	loader->config.file = config_store(&loader->config, file);
	return loader->config.file ? 0 : 1;
}

static int take_all(struct config_loader *loader, const struct options_flags *flags)
{
	int status;

	status = take_fallbacks(loader);
	if (!status)
		status = name_file(loader, flags);
	if (!status && loader->config.file)
		status = apply_file(loader, loader->config.file);
	if (!status)
		status = apply_environment(loader);
	if (!status)
		status = apply_flags(loader, flags);
	if (!status)
		status = take_peer(loader, META_KUBELET, "kubelet.url");
	if (!status)
		status = take_peer(loader, META_API, "api.url");
	if (!status)
		status = take_report(loader);
	if (!status)
		status = take_groups(loader);
	return status ? status : take_web(loader);
}

/* 0 with *ret, or the exit status. */
static int load(char **argv, const struct options_flags *flags, struct config *ret)
{
	struct config_loader loader = {.command = "run"};
	int status;

	status = take_all(&loader, flags);
	loader.config.options.command = argv[0];
	if (status)
		config_done(&loader.config);
	else
		*ret = loader.config;
	return status;
}

int config_read(const char *command, const char *file, struct config *ret)
{
	struct config_loader loader = {.command = command};
	int status = take_fallbacks(&loader);

	if (!status && file) {
		loader.config.file = config_store(&loader.config, file);
		status = loader.config.file ? apply_file(&loader, file) : 1;
	}
	if (!status)
		status = take_groups(&loader);
	if (status)
		config_done(&loader.config);
	else
		*ret = loader.config;
	return status;
}

static bool set_part(struct config *config, size_t setting, const char *value, size_t index)
{
	const char *own = config_store(config, value);

	return own && keep_given(config, setting, own, index) &&
	       !value_take(&settings[setting], config, own, index);
}

bool config_set(struct config *config, const char *key, const char *value)
{
	_cleanup_(cleanup_free) char *own = strdup(value);
	size_t setting = setting_find(key), index = 0;
	char *rest = own, *part;
	bool taken = own && setting < n_settings;

	if (taken && !settings[setting].list)
		return set_part(config, setting, own, 0);
	while (taken && (part = strsep(&rest, ",")))
		taken = set_part(config, setting, part, index++);
	return taken;
}

static const struct options_help help = {
	.head = "usage: graced run [OPTIONS]\n"
		"\n"
		"Runs the daemon, which reports how every container on this host stops, as metrics and\n"
		"records.\n"
		"\n"
		"Each setting is a flag, a variable of the environment and a key of the configuration\n"
		"file: --web.listen-address, GRACED_WEB_LISTEN_ADDRESS (a list is separated by commas)\n"
		"and web.listenAddress. Flags win over the environment, which wins over the file.\n",
	.tail = "A flag without an argument may be turned off: --no-sinks.stdout.\n"
		"\n"
		"EXAMPLES\n"
		"  graced run --config /etc/graced/graced.yaml\n"
		"  graced run --sinks.stdout --web.listen-address 127.0.0.1:9753\n"
		"  graced run --config graced.yaml --config.check    is it sound?\n",
};

static void print_help(void)
{
	_cleanup_(buf_free) struct buf out = {};

	options_add_help(&out, OPTIONS_RUN, &help);
	fputs(buf_str(&out), stdout);
}

static int read_flags(int argc, char **argv, struct options_flags *ret)
{
	int status = options_read_flags(argc, argv, OPTIONS_RUN, ret);

	if (!status && !ret->help && ret->first < argc)
		return say_usage("run", "'%s' is one argument too many", argv[ret->first]);
	return status;
}

static void say_right(const struct config *config)
{
	if (config->file)
		printf("%s: right\n", config->file);
	else
		printf("no file is named, flags and environment are right\n");
}

bool config_load(int argc, char **argv, struct config *ret, int *ret_status)
{
	_cleanup_(options_flags_done) struct options_flags flags = {};
	int status;

	status = read_flags(argc, argv, &flags);
	if (!status && flags.help) {
		print_help();
		*ret_status = 0;
		return false;
	}
	if (!status)
		status = load(argv, &flags, ret);
	if (status) {
		*ret_status = status;
		return false;
	}
	warn_of_variables();
	if (!ret->check)
		return true;
	say_right(ret);
	config_done(ret);
	*ret_status = 0;
	return false;
}

int config_reload(int argc, char **argv, struct config *ret)
{
	_cleanup_(options_flags_done) struct options_flags flags = {};

	if (read_flags(argc, argv, &flags) || load(argv, &flags, ret))
		return -EINVAL;
	return 0;
}

/* --- reload --------------------------------------------------------------------------------------
 */

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void config_compare(const struct config *now, const struct config *next, struct buf *ret_keys,
		    struct buf *ret_values)
{
	for (size_t i = 0; i < n_settings; i++) {
		const char *key = settings[i].key, *value = next->given[i];

		if (!key || settings[i].live || same(now->given[i], value))
			continue;
		buf_printf(ret_keys, "%s%s", ret_keys->len ? ", " : "", key);
		buf_printf(ret_values, "%s=%s\n", key, value ? value : "");
	}
}
