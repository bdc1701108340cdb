/* SPDX-License-Identifier: Apache-2.0 */
/* What graced check reports of what is written to the API server. */
#ifndef APP_CHECK_REPORT_H
#define APP_CHECK_REPORT_H

#include "app/check/shutdown.h"

/* Asks the API server, for at most 3 s, whether it lets graced write what config has it write. */
void check_report(const struct config *config, check_line_fn fn, void *userdata);

#endif
