/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a stop signal was not acted on: one vocabulary for records, tables, metrics and the audit.
 * A reason is given only where it was observed; where the signal was acted on, or nothing is known,
 * there is none.
 */
#ifndef CORE_STOP_UNHEARD_H
#define CORE_STOP_UNHEARD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/words/words.h"

/*
 * By what the kernel did with a signal when it was generated: its result (enum of
 * include/trace/events/signal.h) and enum graced_signal_flags. shell: the target is one. A target
 * that is stopped may take the signal later.
 */
enum unheard unheard_by(uint32_t sig, int32_t result, uint32_t flags, bool shell);

/* What an init does instead, with $ for the signal: "ignores $"; and the same as a remark. */
const char *unheard_of_init(enum unheard reason);
const char *unheard_remark(enum unheard reason);

#endif
