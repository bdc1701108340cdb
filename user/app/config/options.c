// SPDX-License-Identifier: Apache-2.0
/* Parses the options of each command by the table of settings, and writes its --help. */
#include "app/config/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/config/settings.h"
#include "app/config/values.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "io/proc/clock.h"
#include "wire/text/wrap.h"

/* What getopt_long() returns: setting n as FLAG_BASE + n, turned off as FLAG_NO + n. */
enum { FLAG_BASE = 256, FLAG_NO = FLAG_BASE + CONFIG_SETTINGS };

#define FLAGS_MAX (2 * CONFIG_SETTINGS + 2)

#define COLUMNS	    100
#define HELP_COLUMN 34

static const struct sources_peer *peer_of(const struct options *o, enum meta_source source)
{
	return source == META_API ? &o->sources.api : &o->sources.kubelet;
}

bool options_want_kubelet_socket(const struct options *o)
{
	return !o->sources.kubelet_socket || strcmp(o->sources.kubelet_socket, "none") != 0;
}

struct source_kubelet_options options_of_lister(const struct options *o, enum meta_source source,
						char node[static OPTIONS_NODE_SIZE])
{
	const struct sources_peer *peer = peer_of(o, source);
	struct source_kubelet_options ret = {
		.url = peer->url,
		.ca_file = peer->ca,
		.server_name = peer->server_name,
		.token_file = peer->token_file,
		.client_file = peer->client_file,
		.interval_ns = peer->interval_ns,
	};

	if (source != META_API) {
		if (options_want_kubelet_socket(o)) {
			ret.socket = o->sources.kubelet_socket;
			ret.sockets = source_kubelet_places;
		}
		return ret;
	}
	clock_node_name(node, OPTIONS_NODE_SIZE);
	ret.api_node = o->node_name ? o->node_name : node;
	return ret;
}

const char *options_refuse_lister(const struct options *o, enum meta_source source,
				  struct source_kubelet_why *ret_why)
{
	const struct sources_peer *peer = peer_of(o, source);
	char node[OPTIONS_NODE_SIZE];
	struct source_kubelet_options options = options_of_lister(o, source, node);

	if (!peer->url && (peer->ca || peer->server_name || peer->token_file || peer->client_file))
		return "a CA, a server's name, a token or a client certificate is given, and no URL";
	if (!peer->url || source_kubelet_judge(&options, ret_why) != -EINVAL)
		return NULL;
	return ret_why->text;
}

/* --- flags ---------------------------------------------------------------------------------------
 */

struct flag_table {
	struct option options[FLAGS_MAX];
	char names[CONFIG_SETTINGS][SETTING_NAME_SIZE + 3]; /* with "no-" before them */
	char letters[2 * CONFIG_SETTINGS + 3];
};

/* A flag of a key may be given a value, --sinks.stdout=false, and be turned off. */
static void add_flag(struct flag_table *table, size_t *n, size_t setting)
{
	const struct setting *s = &settings[setting];
	bool turns_off = s->key && !s->argument;
	int has = s->argument ? required_argument : s->key ? optional_argument : no_argument;
	char *name = table->names[setting];

	memcpy(name, "no-", 3);
	setting_flag(s, name + 3);
	table->options[(*n)++] = (struct option){name + 3, has, NULL, FLAG_BASE + (int)setting};
	if (turns_off)
		table->options[(*n)++] =
			(struct option){name, no_argument, NULL, FLAG_NO + (int)setting};
}

static void build_table(enum options_command command, struct flag_table *ret)
{
	size_t n = 0, letters = 0;

	memset(ret, 0, sizeof(*ret));
	ret->options[n++] = (struct option){"help", no_argument, NULL, 'h'};
	ret->letters[letters++] = ':';
	ret->letters[letters++] = 'h';
	for (size_t i = 0; i < n_settings; i++) {
		if (!setting_is_for(&settings[i], command))
			continue;
		add_flag(ret, &n, i);
		if (!settings[i].letter)
			continue;
		ret->letters[letters++] = settings[i].letter;
		if (settings[i].argument)
			ret->letters[letters++] = ':';
	}
}

static const char *find_near(const struct flag_table *table, const char *word)
{
	const char *names[FLAGS_MAX];
	size_t n = 0, at;

	for (; table->options[n].name; n++)
		names[n] = table->options[n].name;
	at = nearest_find(word, names, n);
	return at < n ? names[at] : NULL;
}

/* The word of the command line that getopt_long() stumbled over. */
static int refuse(const struct flag_table *table, const char *command, char **argv, int c)
{
	const char *word = argv[optind - 1], *near = NULL;
	char name[SETTING_NAME_SIZE] = "";
	size_t n;

	if (c == ':')
		return say_usage(command, "%s needs an argument", word);
	if (optopt >= FLAG_BASE || optopt == 'h')
		return say_usage(command, "%s takes no argument", word);
	if (optopt > 0)
		return say_usage(command, "there is no option -%c here", optopt);
	n = strcspn(word, "=");
	if (n > 2 && n < sizeof(name)) {
		memcpy(name, word + 2, n - 2);
		near = find_near(table, name);
	}
	if (near)
		return say_usage(command, "there is no option %.*s here (did you mean --%s?)",
				 (int)n, word, near);
	return say_usage(command, "there is no option %.*s here", (int)n, word);
}

/* The index of the setting that getopt_long() returned. */
static size_t setting_of(enum options_command command, int c)
{
	size_t i = 0;

	if (c >= FLAG_BASE)
		return (size_t)(c >= FLAG_NO ? c - FLAG_NO : c - FLAG_BASE);
	while (settings[i].letter != c || !setting_is_for(&settings[i], command))
		i++;
	return i;
}

int options_read_flags(int argc, char **argv, enum options_command command,
		       struct options_flags *ret)
{
	struct flag_table table;
	int c;

	ret->given = calloc((size_t)argc + 1, sizeof(*ret->given));
	if (!ret->given) {
		say_as(argv[0], "cannot read the options: out of memory");
		return 1;
	}
	build_table(command, &table);
	opterr = 0;
	optind = 0; /* begins anew, also after a scan that was broken off */
	while ((c = getopt_long(argc, argv, table.letters, table.options, NULL)) != -1) {
		if (c == 'h') {
			ret->help = true;
			return 0;
		}
		if (c == ':' || c == '?')
			return refuse(&table, argv[0], argv, c);
		ret->given[ret->n++] = (struct options_flag){
			.setting = setting_of(command, c),
			.value = optarg		? optarg
				 : c >= FLAG_NO ? "false"
						: "true",
		};
	}
	ret->first = optind;
	return 0;
}

void options_flags_done(struct options_flags *flags)
{
	free(flags->given);
	flags->given = NULL;
}

/* --- options of commands -------------------------------------------------------------------------
 */

const char *const options_commands[OPTIONS_COMMANDS] = {
	[OPTIONS_TRACE] = "trace",     [OPTIONS_TOP] = "top",
	[OPTIONS_RUN] = "run",	       [OPTIONS_AUDIT] = "audit",
	[OPTIONS_PODS] = "pods",       [OPTIONS_EXPLAIN] = "explain",
	[OPTIONS_PLAN] = "plan",       [OPTIONS_REPORT] = "report",
	[OPTIONS_LOG] = "log",	       [OPTIONS_WHY] = "why",
	[OPTIONS_RESOLVE] = "resolve", [OPTIONS_RECORD] = "record",
	[OPTIONS_REPLAY] = "replay",   [OPTIONS_WAIT] = "wait",
	[OPTIONS_CHECK] = "check",     [OPTIONS_SHUTDOWN] = "shutdown",
	[OPTIONS_TRY] = "try",	       [OPTIONS_VERSION] = "version",
};

static enum options_command command_of(const char *name)
{
	unsigned int i = 0;

	while (i < OPTIONS_VERSION && strcmp(options_commands[i], name) != 0)
		i++;
	return i;
}

void options_init(struct options *ret, const char *command)
{
	struct config config = {};

	config.options.command = command;
	config.options.which = command_of(command);
	config.options.engine.scope = SCOPE_CONTAINERS;
	for (size_t i = 0; i < n_settings && config.options.which != OPTIONS_RUN; i++)
		if (settings[i].fallback && setting_is_for(&settings[i], config.options.which))
			value_take(&settings[i], &config, settings[i].fallback, 0);
	config.options.scope_given = config.options.grace_given = false;
	*ret = config.options;
}

static int take_flags(struct config *config, const struct options_flags *flags)
{
	size_t counts[CONFIG_SETTINGS] = {};

	for (size_t i = 0; i < flags->n; i++) {
		size_t n = flags->given[i].setting;
		const char *value = flags->given[i].value;
		const char *wants = value_take(&settings[n], config, value, counts[n]++);
		char name[SETTING_NAME_SIZE];

		if (wants)
			return say_usage(config->options.command, "--%s wants %s, not '%s'",
					 setting_flag(&settings[n], name), wants, value);
	}
	return 0;
}

static void print_help(enum options_command command, const struct options_help *help)
{
	_cleanup_(buf_free) struct buf out = {};

	options_add_help(&out, command, help);
	fputs(buf_str(&out), stdout);
}

bool options_parse(int argc, char **argv, const struct options_help *help, struct options *ret,
		   int *ret_status)
{
	_cleanup_(options_flags_done) struct options_flags flags = {};
	struct source_kubelet_why buffer;
	struct config config = {};
	const char *why;

	options_init(&config.options, argv[0]);
	*ret_status = options_read_flags(argc, argv, config.options.which, &flags);
	if (*ret_status)
		return false;
	if (flags.help) {
		print_help(config.options.which, help);
		return false;
	}
	*ret_status = take_flags(&config, &flags);
	if (*ret_status)
		return false;
	config.options.first = flags.first;
	why = options_refuse_lister(&config.options, META_KUBELET, &buffer);
	if (why)
		*ret_status = say_usage(argv[0], "--kubelet.url: %s", why);
	*ret = config.options;
	return !why;
}

int options_take_sources(int argc, char **argv, struct config *config, struct options *ret)
{
	_cleanup_(options_flags_done) struct options_flags flags = {};
	struct options *all = &config->options;
	int status = options_read_flags(argc, argv, ret->which, &flags);

	all->kubernetes_minor = config->shutdown.kubelet_minor;
	/* A token is sent to no other server than that which it was configured with. */
	if (ret->sources.kubelet.url)
		all->sources.kubelet = (struct sources_peer){};
	if (!status)
		status = take_flags(config, &flags);
	if (status)
		return status;
	ret->sources = all->sources;
	ret->log_dir = all->log_dir;
	ret->no_names = all->no_names;
	ret->hierarchy = all->hierarchy;
	ret->kubernetes_minor = all->kubernetes_minor;
	return 0;
}

/* --- help ----------------------------------------------------------------------------------------
 */

/* A narrower terminal's, unless it is too narrow for two columns. */
static unsigned int help_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ||
	    size.ws_col < 2 * HELP_COLUMN || size.ws_col > COLUMNS)
		return COLUMNS;
	return size.ws_col;
}

/* What is indented or in columns, and how a command is called, stays as it is. */
static bool is_prose(const char *line)
{
	size_t n = strcspn(line, "\n");

	return n && *line != ' ' && strncmp(line, "usage:", 6) != 0 && !memmem(line, n, "  ", 2);
}

static void add_prose(struct buf *out, const char *text, unsigned int width)
{
	_cleanup_(buf_free) struct buf paragraph = {};

	for (size_t n; *text; text += n) {
		n = strcspn(text, "\n") + 1;
		if (width == COLUMNS || !is_prose(text)) {
			buf_add(out, text, n);
			continue;
		}
		buf_add(&paragraph, text, n - 1);
		buf_addc(&paragraph, ' ');
		if (is_prose(text + n))
			continue;
		wrap_text(out, buf_str(&paragraph), 0, 0, width);
		buf_truncate(&paragraph, 0);
	}
}

static void add_setting(struct buf *out, const struct setting *setting, unsigned int width)
{
	const char *fallback = setting->fallback ? setting->fallback : setting->fallback_is;
	_cleanup_(buf_free) struct buf text = {};
	size_t begin = out->len, n;
	char name[SETTING_NAME_SIZE];

	if (setting->letter)
		buf_printf(out, "  -%c, ", setting->letter);
	else
		buf_adds(out, "      ");
	buf_printf(out, "--%s%s%s", setting_flag(setting, name), setting->argument ? " " : "",
		   setting->argument ? setting->argument : "");
	n = out->len - begin;
	if (n + 2 > HELP_COLUMN)
		buf_printf(out, "\n%*s", HELP_COLUMN, "");
	else
		buf_printf(out, "%*s", (int)(HELP_COLUMN - n), "");
	buf_adds(&text, setting->help);
	if (fallback)
		buf_printf(&text, " (default: %s)", fallback);
	wrap_text(out, buf_str(&text), HELP_COLUMN, HELP_COLUMN, width);
}

/* The part of the flag's name before the dot; settings of one section follow each other. */
static size_t section_length(const char *flag)
{
	return strchr(flag, '.') ? strcspn(flag, ".") : 0;
}

void options_add_help(struct buf *out, enum options_command command,
		      const struct options_help *help)
{
	char section[SETTING_NAME_SIZE] = "", flag[SETTING_NAME_SIZE];
	unsigned int width = help_width();

	add_prose(out, help->head, width);
	buf_printf(out, "\n  -h, --help%*sprint this text\n", HELP_COLUMN - 12, "");
	for (size_t i = 0; i < n_settings; i++) {
		size_t n;

		if (!setting_is_for(&settings[i], command))
			continue;
		n = section_length(setting_flag(&settings[i], flag));
		if (n ? strncmp(section, flag, n) != 0 : section_length(section) != 0)
			buf_addc(out, '\n');
		memcpy(section, flag, sizeof(section));
		add_setting(out, &settings[i], width);
	}
	buf_addc(out, '\n');
	add_prose(out, help->tail, width);
	buf_addc(out, '\n');
	if (command == OPTIONS_VERSION)
		buf_adds(out, "MANUAL PAGE\n  graced(8)\n");
	else
		buf_printf(out, "MANUAL PAGE\n  graced-%s(8)\n", options_commands[command]);
}
