/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon answers over its control socket, and where that is. */
#ifndef APP_DAEMON_ANSWERS_H
#define APP_DAEMON_ANSWERS_H

#include "app/config/run_dir.h"
#include "io/control/control.h"

struct daemon;

/* Where a client looks when nobody says otherwise. */
#define ANSWERS_SOCKET RUNDIR "/" ANSWERS_NAME
#define ANSWERS_NAME   "control.sock"

/* Listens where the configuration says. A socket that cannot be had is told, and NULL. */
struct control *answers_open(struct daemon *daemon);

#endif
