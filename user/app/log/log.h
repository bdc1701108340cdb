/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of the daemon: lines on stderr that never make it wait. What a full pipe does not take is
 * dropped and counted; the count is logged as soon as the pipe takes lines again.
 */
#ifndef APP_LOG_LOG_H
#define APP_LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG */

/*
 * From here on say() and log_at() write lines of the log, of this level and worse; called again, it
 * changes them. Before, they write `graced: <text>`, warnings and worse.
 */
void log_setup(int level, bool json, bool prefixed);

/* Whether log_setup() was called. */
bool log_is_set_up(void);

/* Whether stderr is journald's stream (JOURNAL_STREAM), which reads levels from `<N>` prefixes. */
bool log_to_journal(void);

/* A sentence without a newline at its end. */
void log_at(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)	 log_at(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_info(...)	 log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	 log_at(LOG_DEBUG, __VA_ARGS__)

/* Lines that could not be written since the start. */
uint64_t log_lost(void);

#endif
