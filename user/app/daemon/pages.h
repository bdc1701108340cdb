/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon answers over HTTP: a status page, the metrics, whether it lives and is ready. */
#ifndef APP_DAEMON_PAGES_H
#define APP_DAEMON_PAGES_H

#include "io/http/web.h"

/* userdata is the struct daemon. Fits web_new(). */
void pages_answer(void *userdata, const struct web_request *request, struct web_reply *ret);

#endif
