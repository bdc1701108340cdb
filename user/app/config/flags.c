// SPDX-License-Identifier: Apache-2.0
/* Settings as flags, made from the table. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/priv.h"
#include "app/log/say.h"
#include "base/nearest.h"

/* What getopt_long() returns: setting n as FLAG_BASE + n, turned off as FLAG_NO + n. */
enum { FLAG_CONFIG = 256, FLAG_CHECK, FLAG_BASE, FLAG_NO = FLAG_BASE + CONFIG_SETTINGS };

#define FLAGS_MAX (2 * CONFIG_SETTINGS + 4)

struct flag_table {
	struct option options[FLAGS_MAX];
	char names[CONFIG_SETTINGS][CONFIG_NAME_SIZE + 3]; /* with "no-" before them */
};

static void build_table(struct flag_table *ret)
{
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	ret->options[n++] = (struct option){"help", no_argument, NULL, 'h'};
	ret->options[n++] = (struct option){"config", required_argument, NULL, FLAG_CONFIG};
	ret->options[n++] = (struct option){"config.check", no_argument, NULL, FLAG_CHECK};
	for (size_t i = 0; i < config_n_settings; i++) {
		bool is_bool = config_settings[i].kind == CONFIG_BOOL;
		char *name = ret->names[i];

		memcpy(name, "no-", 3);
		config_flag_name(&config_settings[i], name + 3);
		ret->options[n++] =
			(struct option){name + 3, is_bool ? optional_argument : required_argument,
					NULL, FLAG_BASE + (int)i};
		if (is_bool)
			ret->options[n++] =
				(struct option){name, no_argument, NULL, FLAG_NO + (int)i};
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
static int refuse(const struct flag_table *table, char **argv, int c)
{
	const char *word = argv[optind - 1], *near;
	char name[CONFIG_NAME_SIZE] = "";
	size_t n;

	if (c == ':')
		return say_usage("run", "%s needs an argument", word);
	if (optopt >= FLAG_CONFIG || optopt == 'h')
		return say_usage("run", "%s takes no argument", word);
	if (optopt > 0)
		return say_usage("run", "there is no option -%c here", optopt);
	n = strcspn(word, "=");
	near = NULL;
	if (n > 2 && n < sizeof(name)) {
		memcpy(name, word + 2, n - 2);
		near = find_near(table, name);
	}
	if (near)
		return say_usage("run", "there is no option %.*s here (did you mean --%s?)", (int)n,
				 word, near);
	return say_usage("run", "there is no option %.*s here", (int)n, word);
}

static void add(struct config_flags *flags, int c, const char *value)
{
	bool off = c >= FLAG_NO;

	flags->given[flags->n++] = (struct config_flag){
		.setting = (size_t)(c - (off ? FLAG_NO : FLAG_BASE)),
		.value = value ? value
			 : off ? "false"
			       : "true",
	};
}

int config_flags_read(int argc, char **argv, struct config_flags *ret)
{
	struct flag_table table;
	int c;

	ret->given = calloc((size_t)argc + 1, sizeof(*ret->given));
	if (!ret->given) {
		say_as("run", "cannot read the flags: out of memory");
		return 1;
	}
	build_table(&table);
	opterr = 0;
	optind = 0; /* begins anew, also after a scan that was broken off */
	while ((c = getopt_long(argc, argv, ":h", table.options, NULL)) != -1) {
		if (c == 'h') {
			ret->help = true;
			return 0;
		}
		if (c < FLAG_CONFIG)
			return refuse(&table, argv, c);
		if (c == FLAG_CONFIG)
			ret->file = optarg;
		else if (c == FLAG_CHECK)
			ret->check = true;
		else
			add(ret, c, optarg);
	}
	if (optind < argc)
		return say_usage("run", "'%s' is one argument too many", argv[optind]);
	return 0;
}

void config_flags_done(struct config_flags *flags)
{
	free(flags->given);
	flags->given = NULL;
}

int config_flags_apply(struct config_loader *loader, const struct config_flags *flags)
{
	size_t counts[CONFIG_SETTINGS] = {};

	for (size_t i = 0; i < flags->n; i++) {
		const struct config_flag *flag = &flags->given[i];
		const struct config_setting *setting = &config_settings[flag->setting];
		char name[CONFIG_NAME_SIZE];
		const char *wants;

		wants = config_take(loader, flag->setting, flag->value, counts[flag->setting]++,
				    CONFIG_FLAG);
		if (wants)
			return say_usage("run", "--%s wants %s, not '%s'",
					 config_flag_name(setting, name), wants, flag->value);
	}
	return 0;
}
