/* SPDX-License-Identifier: Apache-2.0 */
/* What core/kubelet/explain found, as a JSON line and in sentences for people. Names in sentences
 * are as the pod has them: the caller makes them safe to print. */
#ifndef WIRE_JSON_EXPLAIN_H
#define WIRE_JSON_EXPLAIN_H

#include "base/buf.h"
#include "core/kubelet/explain.h"

/* Adds the line with its newline; input is what the pod was read from. 0 or buf_error(). */
int explain_json(struct buf *out, const char *input, const struct explain *e);

/* Why the rule holds of this pod, if it is the one that decided, else why it does not. */
void explain_words_rule(struct buf *out, const struct explain *e, enum podphase_rule rule);

/* "waiting CrashLoopBackOff (exit 1 Error)", how it ended last in brackets; "no status". */
void explain_words_state(struct buf *out, const struct explain_container *c);

/* "init", "sidecar", "container" or "ephemeral". */
const char *explain_words_kind(const struct explain_container *c);

/* What its controller does, and why. */
void explain_words_next(struct buf *out, const struct explain *e);

/* Which rule of the Job matched, or that the Job is not the pod's; nothing where there is no Job or
 * the pod has not failed. */
void explain_words_match(struct buf *out, const struct explain *e);

/* What the note says, and what ends it. */
void explain_words_note(struct buf *out, const struct explain *e, const struct explain_note *note);

#endif
