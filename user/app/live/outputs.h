/* SPDX-License-Identifier: Apache-2.0 */
/* The two outputs of a live command, rows and recording: set up, flushed at the end of each turn of
 * the loop, finished. A slow reader is waited for by leaving the ring alone. */
#ifndef APP_LIVE_OUTPUTS_H
#define APP_LIVE_OUTPUTS_H

struct engine_config;
struct manager;

/* Begins the recording that the options ask for, if any. -errno, told. */
int outputs_record(struct manager *m, const struct engine_config *config);

/* Has the loop notice readers that come back or leave. -errno. */
int outputs_watch(struct manager *m);

/* Writes what can be written; ends the loop when a reader is gone, or the rows asked for are out. */
void outputs_flush(struct manager *m);

/* Waits a bounded time for readers, tells what did not get out, sets the exit status. */
void outputs_finish(struct manager *m);

/* Before the outputs themselves are freed. */
void outputs_unwatch(struct manager *m);

#endif
