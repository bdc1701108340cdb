/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two outputs of trace, record and replay: records on standard output, filtered, as JSON lines
 * or table rows, and the recording of observations. A slow reader holds nothing up: what it has not
 * read waits in memory, and the caller stops producing while the output is behind.
 */
#ifndef APP_LIVE_OUTPUT_H
#define APP_LIVE_OUTPUT_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "app/config/options.h"
#include "core/facts/observation.h"

struct output;

/* Neither is open yet. options are borrowed. 0 or -ENOMEM. */
int output_new(const struct options *options, struct output **ret);
struct output *output_free(struct output *o);

/* Records go to standard output. live: a slow reader does not block. -errno, logged. */
int output_open_rows(struct output *o, bool live);
/* Begins the recording that the options name, if any. -errno, logged. */
int output_begin_recording(struct output *o, const struct engine_config *config);

/* All are no-ops where that output is not open. */
void output_add_record(struct output *o, const struct record *record);
/* The same of a record that came as this line, with its newline, which JSON output repeats. NULL: a
 * line that no filter is for, and no table has. */
void output_add_line(struct output *o, const struct record *record, const char *line, size_t len);
void output_add_obs(struct output *o, const struct obs *obs);

/* Has the loop notice readers that read again or leave. -errno. */
int output_watch(struct output *o, sd_event *event);

/* Writes what can be written. An error is logged. */
void output_flush(struct output *o);
/* A reader is so slow that nothing more should be produced. */
bool output_is_behind(const struct output *o);
/* The rows asked for are out, a reader has left, or an output failed. */
bool output_has_ended(const struct output *o);
/* Waits a bounded time for readers; logs what was not written. */
void output_finish(struct output *o);
/* The exit status: 1 after an output failed. */
int output_status(const struct output *o);

/* Rows go to standard output, as a table. */
bool output_has_table(const struct output *o);

#endif
