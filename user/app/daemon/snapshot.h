/* SPDX-License-Identifier: Apache-2.0 */
/* All that the daemon's metrics tell, gathered from who knows it. */
#ifndef APP_DAEMON_SNAPSHOT_H
#define APP_DAEMON_SNAPSHOT_H

#include "base/buf.h"
#include "wire/prometheus/exposition.h"

struct daemon;

/* Adds the exposition. 0 or -ENOMEM. */
int snapshot_write(struct daemon *daemon, enum expo_format format, struct buf *out);

#endif
