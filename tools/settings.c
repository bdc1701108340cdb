// SPDX-License-Identifier: Apache-2.0
/* Prints a table of the program, a row each, for tools/generate. Between its columns are tabs. Of
 * the settings: key, flag, letter, argument, default, help, commands, words, and "list" where it
 * may be given more than once; a dot where there is nothing. With the argument "verdicts" the pairs
 * of outcome and cause: both, and when. */
#include <stdio.h>

#include "app/config/settings.h"
#include "core/words/words.h"

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

static void print_verdicts(void)
{
	static const struct {
		enum outcome outcome;
		enum cause cause;
		const char *when;
	} rows[] = {
#define ROW(number, condition, outcome, cause, when) {OUTCOME_##outcome, CAUSE_##cause, when},
#include "core/stop/outcome.def"
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].when)
			printf("%s\t%s\t%s\n", outcome_name(rows[i].outcome),
			       cause_name(rows[i].cause), rows[i].when);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		print_verdicts();
		return 0;
	}
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
