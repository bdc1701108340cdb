// SPDX-License-Identifier: Apache-2.0
/* Claims about app/config/settings: the table is one for all commands. */
#include "app/config/settings.h"

#include <ctype.h>
#include <string.h>

#include "app/config/values.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"

static const char *last_part(const char *flag)
{
	return strrchr(flag, '.') ? strrchr(flag, '.') + 1 : flag;
}

/* Without dots and dashes. */
static void fold(const char *flag, char ret[SETTING_NAME_SIZE])
{
	size_t n = 0;

	for (; *flag; flag++)
		if (isalnum((unsigned char)*flag))
			ret[n++] = *flag;
	ret[n] = '\0';
}

/* One is about records in the sinks, the other about rows of a table; what graced report reads is
 * no setting of the daemon. */
static bool are_two_options(const char *a, const char *b)
{
	return (strcmp(a, "sinks.signals") == 0 && strcmp(b, "signals") == 0) ||
	       (strchr(a, '.') && strcmp(b, "file") == 0);
}

/* The commands of all rows with that flag. */
static uint32_t commands_of(const char *flag)
{
	uint32_t commands = 0;

	for (size_t i = 0; i < n_settings; i++) {
		char name[SETTING_NAME_SIZE];

		if (strcmp(setting_flag(&settings[i], name), flag) == 0)
			commands |= settings[i].commands;
	}
	return commands;
}

static void test_names(void **state)
{
	for (size_t i = 0; i < n_settings; i++) {
		char a[SETTING_NAME_SIZE], a_folded[SETTING_NAME_SIZE];
		const struct setting *one = &settings[i];

		fold(setting_flag(one, a), a_folded);
		for (size_t k = 0; k < n_settings; k++) {
			char b[SETTING_NAME_SIZE], b_folded[SETTING_NAME_SIZE];
			const struct setting *other = &settings[k];

			fold(setting_flag(other, b), b_folded);
			if (i == k || are_two_options(a, b))
				continue;
			if (strcmp(a, b) == 0 &&
			    (one->commands & other->commands || one->letter != other->letter ||
			     !one->argument != !other->argument))
				fail_msg("--%s is two options", a);
			if (strcmp(a, b) != 0 &&
			    (strcmp(a_folded, b_folded) == 0 ||
			     (strcmp(last_part(a), b) == 0 && !(commands_of(a) & commands_of(b)))))
				fail_msg("--%s and --%s are one option with two names", a, b);
		}
	}
}

static void test_letters(void **state)
{
	for (unsigned int command = 0; command < OPTIONS_COMMANDS; command++) {
		bool taken[128] = {['h'] = true};

		for (size_t i = 0; i < n_settings; i++) {
			unsigned char letter = (unsigned char)settings[i].letter;

			if (!letter || !setting_is_for(&settings[i], command))
				continue;
			assert_false(taken[letter]);
			taken[letter] = true;
		}
	}
}

static void test_rows(void **state)
{
	for (size_t i = 0; i < n_settings; i++) {
		const struct setting *s = &settings[i];
		struct config config = {};

		print_message("# %s\n", s->key ? s->key : s->flag);
		assert_true(s->commands);
		assert_true(s->key || s->flag);
		assert_true(!s->key || setting_is_for(s, OPTIONS_RUN));
		assert_true(!s->key || s->fallback || s->fallback_is);
		assert_true(!s->live || s->key);
		assert_true(s->take ? s->type == SETTING_OTHER : s->type != SETTING_OTHER);
		assert_true(s->help && *s->help && s->help[strlen(s->help) - 1] != '.');
		config.options.which = setting_is_for(s, OPTIONS_RUN) ? OPTIONS_RUN : OPTIONS_TRACE;
		if (s->fallback)
			assert_null(value_take(s, &config, s->fallback, 0));
	}
}

static void test_words(void **state)
{
	for (size_t i = 0; i < n_settings; i++) {
		const struct setting *s = &settings[i];
		_cleanup_(cleanup_free) char *words = s->words ? strdup(s->words) : NULL;
		char *rest = words, *word;

		while ((word = strsep(&rest, "|"))) {
			struct config config = {};

			print_message("# %s: %s\n", s->key ? s->key : s->flag, word);
			config.options.which =
				setting_is_for(s, OPTIONS_RUN) ? OPTIONS_RUN : OPTIONS_TRACE;
			assert_null(value_take(s, &config, word, 0));
		}
	}
}

static bool is_live(const char *key)
{
	static const char *const sections[] = {"log.", "sinks.", "budget."};

	for (size_t i = 0; i < LEN(sections); i++)
		if (strncmp(key, sections[i], strlen(sections[i])) == 0)
			return true;
	return false;
}

static void test_reload(void **state)
{
	for (size_t i = 0; i < n_settings; i++) {
		_cleanup_(buf_free) struct buf keys = {}, values = {};
		struct config now = {}, next = {};

		if (!settings[i].key)
			continue;
		now.given[i] = "a";
		next.given[i] = "b";
		config_compare(&now, &next, &keys, &values);
		assert_string_equal(buf_str(&keys),
				    is_live(settings[i].key) ? "" : settings[i].key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an option is called the same everywhere, and no name is two options",
		      test_names),
		CLAIM("no letter is two options of a command", test_letters),
		CLAIM("SIGHUP takes log, sinks and budget, and names each other setting that changed",
		      test_reload),
		CLAIM("each row is whole, and takes its own default", test_rows),
		CLAIM("each row takes the words that it offers", test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
