// SPDX-License-Identifier: Apache-2.0
/* The names of a setting: as a flag, as a variable, and by its key. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "app/config/settings.h"

const char *setting_flag(const struct setting *setting, char ret[SETTING_NAME_SIZE])
{
	const char *from = setting->flag ? setting->flag : setting->key;
	size_t n = 0;

	for (; *from && n + 2 < SETTING_NAME_SIZE; from++) {
		if (isupper((unsigned char)*from))
			ret[n++] = '-';
		ret[n++] = (char)tolower((unsigned char)*from);
	}
	ret[n] = '\0';
	return ret;
}

const char *setting_variable(const struct setting *setting, char ret[SETTING_NAME_SIZE])
{
	char flag[SETTING_NAME_SIZE];

	snprintf(ret, SETTING_NAME_SIZE, "GRACED_%.*s", SETTING_NAME_SIZE - 8,
		 setting_flag(setting, flag));
	for (char *at = ret; *at; at++)
		*at = *at == '.' || *at == '-' ? '_' : (char)toupper((unsigned char)*at);
	return ret;
}

size_t setting_find(const char *key)
{
	size_t i = 0;

	while (i < n_settings && (!settings[i].key || strcmp(settings[i].key, key) != 0))
		i++;
	return i;
}
