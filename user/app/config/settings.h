/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of settings: one row for each key of the daemon's configuration and each option of a
 * command. Flags, environment variables, the file, --help and what SIGHUP takes come from it.
 */
#ifndef APP_CONFIG_SETTINGS_H
#define APP_CONFIG_SETTINGS_H

#include "app/config/config.h"

#define SETTING_NAME_SIZE 64 /* of a flag or variable */

enum setting_type {
	SETTING_OTHER,	  /* by take() */
	SETTING_FLAG,	  /* bool */
	SETTING_TEXT,	  /* const char *: any but "" */
	SETTING_PATH,	  /* const char *: absolute */
	SETTING_FILE,	  /* const char *: absolute for the daemon, any for the other commands */
	SETTING_URL,	  /* const char *: of http or https */
	SETTING_ENDPOINT, /* const char *: of a socket, or "none" */
	SETTING_DURATION, /* uint64_t, ns; from min to max, max 0: no bound */
	SETTING_SECONDS,  /* the same, in whole seconds */
	SETTING_COUNT,	  /* uint64_t; likewise */
	SETTING_VERSION,  /* unsigned int: the minor of a Kubernetes version */
};

struct setting {
	const char *key;  /* in the file: web.listenAddress; NULL: an option of commands alone */
	const char *flag; /* NULL: made of the key */
	char letter;	  /* of the short option; 0: none */
	const char *argument;	 /* what --help calls its value; NULL: a flag alone */
	const char *words;	 /* values to offer, with | between: all, or examples */
	const char *fallback;	 /* value when none is given; NULL: nothing is taken */
	const char *fallback_is; /* what --help says instead of it; NULL: nothing */
	const char *help;
	uint32_t commands; /* bits of enum options_command */
	enum setting_type type;
	bool list;    /* may be given more than once */
	bool pairs;   /* ... and in the file as a section with keys of its own: value_each_pair() */
	bool live;    /* SIGHUP takes it */
	size_t place; /* offset in struct config, which begins with its struct options */
	uint64_t min, max;
	const char *wants; /* what is wanted instead of a wrong value; NULL: as its type has it */
	/* Takes a value that stays there. index counts those of a list; 0 begins it anew. NULL, or
	 * what is wanted instead. For SETTING_OTHER alone. */
	const char *(*take)(struct config *config, const char *value, size_t index);
};

extern const struct setting settings[];
extern const size_t n_settings;

/* "web.listen-address" and "GRACED_WEB_LISTEN_ADDRESS"; they return ret. */
const char *setting_flag(const struct setting *setting, char ret[SETTING_NAME_SIZE]);
const char *setting_variable(const struct setting *setting, char ret[SETTING_NAME_SIZE]);

static inline bool setting_is_for(const struct setting *setting, enum options_command command)
{
	return setting->commands & 1u << command;
}

/* The index of the setting with this key; n_settings when there is none. */
size_t setting_find(const char *key);

#endif
