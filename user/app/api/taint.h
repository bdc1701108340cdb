/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's out-of-service taint (shutdown.outOfServiceTaint). What sets it is proof of death
 * (core/shutdown/death); an annotation of the node says that it is graced's own, so that the next
 * start removes it.
 */
#ifndef APP_API_TAINT_H
#define APP_API_TAINT_H

#include "core/engine/effect.h"
#include "io/api/writer.h"

struct monitor;
struct taint;

/* What an earlier graced has set is removed. writer outlives it. -errno, logged. */
int taint_new(struct monitor *m, struct apiwriter *writer, struct taint **ret);
/* What waits in the writer must be forgotten with it: the writer is freed next. */
struct taint *taint_free(struct taint *taint);

/* EFFECT_SET_TAINT and EFFECT_CLEAR_TAINT. */
void taint_effect(struct taint *taint, const struct effect *effect);

#endif
