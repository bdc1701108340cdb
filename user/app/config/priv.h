/* SPDX-License-Identifier: Apache-2.0 */
/* The table of settings, and what the parts of app/config share. Nobody else includes it. */
#ifndef APP_CONFIG_PRIV_H
#define APP_CONFIG_PRIV_H

#include "app/config/config.h"

#define CONFIG_NAME_SIZE 64 /* of a flag or variable */

enum config_kind { CONFIG_TEXT, CONFIG_NUMBER, CONFIG_BOOL, CONFIG_LIST };

struct config_setting {
	const char *key;	 /* in the file: web.listenAddress; NULL: not a key of the file */
	const char *flag;	 /* NULL: made of the key */
	const char *argument;	 /* what --help calls its value; NULL: a flag alone */
	const char *fallback;	 /* value when nobody gives one; NULL: nothing is taken */
	const char *fallback_is; /* what --help says instead of it */
	const char *help;
	enum config_kind kind;
	/* Takes a value that the configuration's store owns. index counts those of a list, 0
	 * begins it anew. NULL, or what is wanted instead. */
	const char *(*take)(struct config *config, const char *value, size_t index);
};

extern const struct config_setting config_settings[];
extern const size_t config_n_settings;

/* "web.listen-address" and "GRACED_WEB_LISTEN_ADDRESS"; they return ret. */
const char *config_flag_name(const struct config_setting *setting, char ret[CONFIG_NAME_SIZE]);
const char *config_variable_name(const struct config_setting *setting, char ret[CONFIG_NAME_SIZE]);

/* Who gave a setting the value it has. */
enum config_source { CONFIG_FALLBACK, CONFIG_FILE, CONFIG_VARIABLE, CONFIG_FLAG };

struct config_loader {
	struct config config;
	enum config_source sources[CONFIG_SETTINGS];
	unsigned int lines[CONFIG_LISTEN_MAX]; /* of the addresses, when the file gave them */
};

/* A copy that config_done() frees; NULL when memory is out. */
const char *config_store(struct config *config, const char *text);

/* Gives a setting one value from a source: NULL, or what is wanted instead. */
const char *config_take(struct config_loader *loader, size_t setting, const char *value,
			size_t index, enum config_source source);

/* The index of the setting with this key; config_n_settings when there is none. */
size_t config_find(const char *key);

/* The setting whose key is most like the word; NULL when none is near. */
const struct config_setting *config_near_key(const char *word);

/* What argv gives: settings in order; the strings are argv's. */
struct config_flag {
	size_t setting;
	const char *value;
};
struct config_flags {
	struct config_flag *given; /* owned */
	size_t n;
	const char *file; /* --config */
	bool check;
	bool help;
};
/* 0, or the exit status after wrong use was told; config_flags_done() in any case. */
int config_flags_read(int argc, char **argv, struct config_flags *ret);
void config_flags_done(struct config_flags *flags);
int config_flags_apply(struct config_loader *loader, const struct config_flags *flags);

/* What the environment gives: 0, or the exit status. */
int config_env_apply(struct config_loader *loader);
/* Tells variables that look like one of ours misspelt. */
void config_env_warn(void);

/* What the file gives: 0, or the exit status after everything wrong in it was told. */
int config_file_apply(struct config_loader *loader, const char *path);

void config_help(void);

#endif
