// SPDX-License-Identifier: Apache-2.0
/* Settings as environment variables, made from the table. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config/priv.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/nearest.h"

static int refuse(const struct config_setting *setting, const char *wants, const char *value)
{
	char name[CONFIG_NAME_SIZE];

	return say_usage("run", "%s wants %s, not '%s'", config_variable_name(setting, name), wants,
			 value);
}

/* A list is separated by commas. */
static int apply_list(struct config_loader *loader, size_t setting, const char *value)
{
	_cleanup_(cleanup_free) char *own = strdup(value);
	char *rest = own, *part;
	size_t index = 0;

	while ((part = strsep(&rest, ","))) {
		const char *wants = config_take(loader, setting, part, index++, CONFIG_VARIABLE);

		if (wants)
			return refuse(&config_settings[setting], wants, part);
	}
	return own ? 0 : refuse(&config_settings[setting], "memory", value);
}

int config_env_apply(struct config_loader *loader)
{
	for (size_t i = 0; i < config_n_settings; i++) {
		const struct config_setting *setting = &config_settings[i];
		char name[CONFIG_NAME_SIZE];
		const char *value = getenv(config_variable_name(setting, name)), *wants;
		int status;

		/* A manifest that leaves a value empty means none. */
		if (!value || !*value)
			continue;
		if (setting->kind == CONFIG_LIST) {
			status = apply_list(loader, i, value);
			if (status)
				return status;
			continue;
		}
		wants = config_take(loader, i, value, 0, CONFIG_VARIABLE);
		if (wants)
			return refuse(setting, wants, value);
	}
	return 0;
}

/* The n first bytes are the name. NULL for one of ours, and for one that is like none. */
static const char *find_near(const char *entry, size_t n, char (*names)[CONFIG_NAME_SIZE])
{
	const char *words[CONFIG_SETTINGS + 1] = {};
	char word[CONFIG_NAME_SIZE] = "";
	size_t at;

	if (n >= sizeof(word))
		return NULL;
	memcpy(word, entry, n);
	for (size_t i = 0; i <= config_n_settings; i++) {
		words[i] = names[i];
		if (strcmp(word, names[i]) == 0)
			return NULL;
	}
	at = nearest_find(word, words, config_n_settings + 1);
	return at <= config_n_settings ? names[at] : NULL;
}

/* Not every unknown one: for a service called graced, Kubernetes sets GRACED_SERVICE_HOST,
 * GRACED_PORT and more of that kind in every pod of its namespace. */
void config_env_warn(void)
{
	char names[CONFIG_SETTINGS + 1][CONFIG_NAME_SIZE] = {"GRACED_CONFIG"};

	for (size_t i = 0; i < config_n_settings; i++)
		config_variable_name(&config_settings[i], names[i + 1]);
	for (char **entry = environ; *entry; entry++) {
		size_t n = strcspn(*entry, "=");
		const char *near;

		if (strncmp(*entry, "GRACED_", strlen("GRACED_")) != 0)
			continue;
		near = find_near(*entry, n, names);
		if (near)
			say_as("run", "%.*s is not read here (did you mean %s?)", (int)n, *entry,
			       near);
	}
}
