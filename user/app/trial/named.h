/* SPDX-License-Identifier: Apache-2.0 */
/* graced try NAME...: has the runtimes of running containers stop them, or waits until somebody
 * does, and judges the stops. */
#ifndef APP_TRIAL_NAMED_H
#define APP_TRIAL_NAMED_H

#include "app/config/options.h"

/* names is NULL-ended. Adds to the report, or says what prevents that. The exit status. */
int trial_named(struct options *options, char **names, struct trial_report *report);

#endif
