/* SPDX-License-Identifier: Apache-2.0 */
/* The options of all commands, by groups of which each command takes some. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/engine.h"
#include "core/filter.h"

#define OPTIONS_NESTED_MAX 64

/* Groups of options; a command takes some of them. */
enum options_group {
	OPTIONS_FORMAT = 1 << 0,  /* -o */
	OPTIONS_FILTER = 1 << 1,  /* which records, how many */
	OPTIONS_ENGINE = 1 << 2,  /* what the engine takes into account */
	OPTIONS_HOST = 1 << 3,	  /* where to look on this host */
	OPTIONS_LIVE = 1 << 4,	  /* what a live trace needs */
	OPTIONS_RECORD = 1 << 5,  /* --record */
	OPTIONS_SUBJECT = 1 << 6, /* which containers, and one signal */
	OPTIONS_AUDIT = 1 << 7,	  /* --exit-zero */
};

struct options {
	const char *command; /* its name, for messages */
	bool json;
	struct filter filter;
	uint64_t count; /* rows to print, 0: no end */

	struct engine_config engine; /* without nested_nodes */
	bool scope_given, grace_given;
	const char *nested[OPTIONS_NESTED_MAX + 1]; /* NULL-ended */
	size_t n_nested;

	uint64_t duration_ns;  /* 0: until a signal comes */
	const char *record;    /* file to write observations to, "-" is stdout; NULL: none */
	const char *node_name; /* NULL: NODE_NAME, then the host name */
	const char *hierarchy;
	size_t ring_bytes;
	const char *log_dir;
	bool no_names;
	bool exit_zero;
	bool no_group_dead;
	bool debug;

	int first; /* index of the first argument that is no option */
};

/*
 * Parses argv for a command that takes these groups; strings point into it. True: go on. False: the
 * command ends with *ret_status, after --help (which prints usage) or wrong use (which is told).
 */
bool options_parse(int argc, char **argv, unsigned int groups, const char *usage,
		   struct options *ret, int *ret_status);

/* As options_parse() leaves them when no argument is given. */
void options_init(struct options *ret, const char *command);

/* Takes one option by its long name; the value stays the caller's. NULL, or what is wanted
 * instead. */
const char *options_take(struct options *o, const char *name, const char *value);

#endif
