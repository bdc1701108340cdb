/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names in one log directory, for io/sources/logs: read again when the directory changed, and
 * bounded. A directory with more names than the bound is not half believed: a name that contradicts
 * another one might be in the other half, so none counts until it has less.
 */
#ifndef IO_SOURCES_LOGS_TABLE_H
#define IO_SOURCES_LOGS_TABLE_H

#include <dirent.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/sources/logs/logs.h"

typedef bool (*source_logs_parse_fn)(const char *name, struct source_logs_name *ret);

struct source_logs_entry {
	char *text; /* owned; name points into it */
	struct source_logs_name name;
};

struct source_logs_table {
	const char *subdir;
	source_logs_parse_fn parse;
	mode_t type; /* of an entry that counts */
	size_t max;
	struct source_logs_entry *list; /* sorted by key, then by text */
	size_t n, room;
	int error;	      /* of the last attempt to open the directory */
	bool overflow;	      /* it holds too much: list is empty */
	int64_t stamp_ns;     /* of the directory when it was read; 0: read it again */
	int64_t credit_ns;    /* CPU time that reading it again may take now */
	uint64_t credited_ns; /* CLOCK_BOOTTIME: when that was so much */
};

void source_logs_table_clear(struct source_logs_table *t);

/* dir: the open directory, or -errno where it could not be opened; then it holds no names. 0 or
 * -ENOMEM. */
int source_logs_table_refresh(struct source_logs_table *t, int dir);

/* The one entry for a key: NULL when there is none, or several (then *ret_several). */
const struct source_logs_entry *source_logs_table_find(const struct source_logs_table *t,
						       const char *key, bool *ret_several);

#endif
