// SPDX-License-Identifier: Apache-2.0
/* Writes --help from the table of settings. */
#include <stdio.h>
#include <string.h>

#include "app/config/priv.h"
#include "base/buf.h"
#include "base/cleanup.h"

#define COLUMNS	    100
#define HELP_COLUMN 34

static const char head[] =
	"usage: graced run [OPTIONS]\n"
	"\n"
	"The daemon: tells how every container on this host stops, as metrics and records.\n"
	"\n"
	"Each setting is a flag, a variable of the environment and a key of the configuration\n"
	"file: --web.listen-address, GRACED_WEB_LISTEN_ADDRESS (a list is separated by commas)\n"
	"and web.listenAddress. Flags win over the environment, which wins over the file.\n"
	"\n"
	"  -h, --help                      this text\n"
	"      --config FILE               settings as YAML, see graced.yaml(5) (default: none;\n"
	"                                  variable: GRACED_CONFIG)\n"
	"      --config.check              tell whether the settings are right, and end\n";

/* Adds words behind what is there, and new lines where they would leave the screen. */
static void add_wrapped(struct buf *out, size_t column, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (column + 1 + n > COLUMNS) {
			buf_printf(out, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		} else if (column > HELP_COLUMN) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, n);
		column += n;
		text += n + (text[n] == ' ');
	}
	buf_addc(out, '\n');
}

static void add_setting(struct buf *out, const struct config_setting *setting)
{
	const char *fallback = setting->fallback ? setting->fallback : setting->fallback_is;
	_cleanup_(buf_free) struct buf text = {};
	size_t begin = out->len, n;
	char name[CONFIG_NAME_SIZE];

	buf_printf(out, "      --%s%s%s", config_flag_name(setting, name),
		   setting->argument ? " " : "", setting->argument ? setting->argument : "");
	n = out->len - begin;
	if (n + 2 > HELP_COLUMN)
		buf_printf(out, "\n%*s", HELP_COLUMN, "");
	else
		buf_printf(out, "%*s", (int)(HELP_COLUMN - n), "");
	buf_printf(&text, "%s (default: %s)", setting->help, fallback);
	add_wrapped(out, HELP_COLUMN, buf_str(&text));
}

/* The part before the dot; settings of one section follow each other. */
static size_t section_length(const char *key)
{
	return strchr(key, '.') ? strcspn(key, ".") : 0;
}

void config_help(void)
{
	_cleanup_(buf_free) struct buf out = {};
	const char *section = "";

	buf_adds(&out, head);
	for (size_t i = 0; i < config_n_settings; i++) {
		const char *key = config_settings[i].key;
		size_t n = section_length(key);

		if (i == 0 || n != section_length(section) || strncmp(section, key, n) != 0)
			buf_addc(&out, '\n');
		section = key;
		add_setting(&out, &config_settings[i]);
	}
	buf_adds(&out, "\nA flag without an argument may be turned off: --no-sinks.stdout.\n");
	fputs(buf_str(&out), stdout);
}
