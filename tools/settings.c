// SPDX-License-Identifier: Apache-2.0
/* Prints the table of settings, a row each, for tools/generate. Between its columns are tabs: key,
 * flag, letter, argument, default, help, commands, words, and "list" where it may be given more
 * than once; a dot where there is nothing. */
#include <stdio.h>

#include "app/config/settings.h"

static const char *or_dot(const char *text)
{
	return text ? text : ".";
}

static void print_commands(const struct setting *setting)
{
	const char *before = "";

	for (unsigned int i = 0; i < OPTIONS_COMMANDS; i++) {
		if (!setting_is_for(setting, i))
			continue;
		printf("%s%s", before, options_commands[i]);
		before = " ";
	}
}

int main(void)
{
	for (size_t i = 0; i < n_settings; i++) {
		const struct setting *s = &settings[i];
		char flag[SETTING_NAME_SIZE];

		printf("%s\t%s\t%c\t%s\t%s\t%s\t%s\t", or_dot(s->key), setting_flag(s, flag),
		       s->letter ? s->letter : '.', or_dot(s->argument), or_dot(s->fallback),
		       or_dot(s->fallback_is), s->help);
		print_commands(s);
		printf("\t%s\t%s\n", or_dot(s->words), s->list ? "list" : ".");
	}
	return 0;
}
