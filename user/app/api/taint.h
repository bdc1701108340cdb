/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's out-of-service taint (shutdown.outOfServiceTaint). What sets it is proof of death
 * (core/shutdown/death); an annotation of the node says that it is graced's own, so that the next
 * start removes it. Likewise the taint of a node in a shutdown that mode manage drives
 * (api.report: unschedulable), which graced sets when that is announced.
 */
#ifndef APP_API_TAINT_H
#define APP_API_TAINT_H

#include "core/model/effect.h"
#include "io/api/writer.h"
#include "wire/kubernetes/patch.h"

struct monitor;
struct taint;

/* Once, when the node has it as it is wanted; failed: it does not, or that is not known. */
typedef void (*taint_fn)(void *userdata, bool failed);

/* Nothing is requested yet. writer outlives it. -errno, logged. */
int taint_new(struct monitor *m, struct apiwriter *writer, enum apipatch_taint which,
	      struct taint **ret);
/* What waits in the writer must be forgotten with it: the writer is freed next. */
struct taint *taint_free(struct taint *taint);

/* EFFECT_SET_TAINT and EFFECT_CLEAR_TAINT, or EFFECT_CORDON and EFFECT_UNCORDON. */
void taint_effect(struct taint *taint, const struct effect *effect);

/*
 * Sets it for the earlier boot that is dead, until the deadline. Removes what graced has set: that
 * goes on until it is done, whatever done hears. Each replaces the one before, whose done is then
 * never called. done: NULL for none; it may call these.
 */
void taint_set(struct taint *taint, const char *boot, uint64_t deadline_ns, taint_fn done,
	       void *userdata);
void taint_remove(struct taint *taint, taint_fn done, void *userdata);

/* The id of this boot, valid as long as taint is. */
const char *taint_boot(const struct taint *taint);

#endif
