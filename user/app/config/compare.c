// SPDX-License-Identifier: Apache-2.0
/* Tells which settings are others than those at work, by what was given for them. */
#include <string.h>

#include "app/config/priv.h"

/* The others are taken over by a process that runs. */
static bool takes_restart(const char *key)
{
	static const char *const live[] = {"log.", "sinks.", "budget."};

	for (size_t i = 0; i < sizeof(live) / sizeof(*live); i++)
		if (strncmp(key, live[i], strlen(live[i])) == 0)
			return false;
	return true;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

void config_compare(const struct config *now, const struct config *next, struct buf *ret_keys,
		    struct buf *ret_values)
{
	for (size_t i = 0; i < config_n_settings; i++) {
		const char *key = config_settings[i].key, *value = next->given[i];

		if (!takes_restart(key) || same(now->given[i], value))
			continue;
		buf_printf(ret_keys, "%s%s", ret_keys->len ? ", " : "", key);
		buf_printf(ret_values, "%s=%s\n", key, value ? value : "");
	}
}
