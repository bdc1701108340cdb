/* SPDX-License-Identifier: Apache-2.0 */
/* graced try -- COMMAND: runs a command as a container would, stops it, and judges its stop. */
#ifndef APP_TRIAL_COMMAND_H
#define APP_TRIAL_COMMAND_H

#include "app/config/options.h"

/* The exit status where it could not be tried. */
#define TRIAL_IN_VAIN 3

/* argv is NULL-ended. Adds to the report, or says what prevents that. The exit status. */
int trial_command(struct options *options, char **argv, struct trial_report *report);

/* graced try NAME...: has the runtimes of running containers stop them, or waits until somebody
 * does, and judges the stops. names is NULL-ended. Adds to the report, or says what prevents that.
 * The exit status. */
int trial_named(struct options *options, char **names, struct trial_report *report);

#endif
