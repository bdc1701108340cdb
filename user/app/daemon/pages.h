/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon answers over HTTP: a status page, the metrics, whether it lives and is ready. */
#ifndef APP_DAEMON_PAGES_H
#define APP_DAEMON_PAGES_H

#include "core/stop/record.h"
#include "io/http/web.h"
#include "wire/html/status.h"

/* userdata is the struct daemon. Fits web_new(). */
void pages_answer(void *userdata, const struct web_request *request, struct web_reply *ret);

/* The last stops, and the containers that did not act on their stop signal, for the status page. */

#define HISTORY_STOPS 50
#define HISTORY_DEAF  50 /* the one that was stopped last longest ago makes room */

/* Both with the last one first; all zero is an empty one. */
struct history {
	struct htmlstop *stops, *deaf; /* owned */
	size_t n_stops, n_deaf;
};

/* Takes each record; ignores all but stops, and those of sandboxes and single processes. */
void history_record(struct history *history, const struct record *record);

void history_done(struct history *history);

#endif
