/* SPDX-License-Identifier: Apache-2.0 */
/* Effects become actions; each answer is fed as an observation of its own. */
#ifndef APP_LIVE_DISPATCH_H
#define APP_LIVE_DISPATCH_H

#include "core/engine/engine.h"

struct manager;

/* Carries out one effect. A live command's manager has it as its carry_out. */
void dispatch_carry_out(struct manager *m, const struct effect *effect);

#endif
