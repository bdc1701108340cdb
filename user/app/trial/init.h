/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal init in front of a command, for graced try --init: passes signals on to its child,
 * reaps, and exits as its child did. */
#ifndef APP_TRIAL_INIT_H
#define APP_TRIAL_INIT_H

#define TRIAL_INIT "graced-init" /* this program's name as such */

/* argv[0] is that name, the rest the command. The exit status. */
int trial_init(char **argv);

#endif
