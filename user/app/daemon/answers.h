/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon answers over its control socket. */
#ifndef APP_DAEMON_ANSWERS_H
#define APP_DAEMON_ANSWERS_H

#include "io/control/control.h"

struct daemon;

/* Listens where the configuration says. NULL where there is no socket, which is logged. */
struct control *answers_open(struct daemon *daemon);

#endif
