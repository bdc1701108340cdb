/* SPDX-License-Identifier: Apache-2.0 */
/* graced report --otlp-endpoint: the spans of an account go to a receiver of OTLP/HTTP. */
#ifndef APP_COMMANDS_REPORT_EXPORT_H
#define APP_COMMANDS_REPORT_EXPORT_H

#include "core/account/account.h"

/* ca_file: NULL for the system's authorities. Returns the exit status, after a line on stdout of
 * what was delivered or one on stderr of what was not, and why. */
int report_export(const struct account *account, const char *endpoint, const char *ca_file);

#endif
