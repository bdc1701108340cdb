/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon answers over its control socket. */
#ifndef APP_DAEMON_ANSWERS_H
#define APP_DAEMON_ANSWERS_H

#include "base/buf.h"
#include "core/stop/record.h"
#include "io/control/control.h"

struct daemon;

/* Listens where the configuration says. NULL where there is no socket, which is logged. */
struct control *answers_open(struct daemon *daemon);

/* Whether someone follows such records. */
bool answers_want(const struct daemon *daemon, const struct record *record);
/* Hands them a record that they want, and its line. */
void answers_record(struct daemon *daemon, const struct record *record, const struct buf *line);

#endif
