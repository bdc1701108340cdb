/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of metadata together: each question of the engine goes to those that may know, what
 * they say is fed as they say it, and the last answer of each question is told to be the last.
 */
#ifndef APP_LIVE_LOOKUP_H
#define APP_LIVE_LOOKUP_H

#include "app/live/sources.h"
#include "core/engine/engine.h"

struct lookup;
struct manager;

/* Opens what is configured; a source that is down is no error. -errno, told. */
int lookup_open(struct manager *m, struct lookup **ret);
struct lookup *lookup_free(struct lookup *lookup);

/* Carry out the engine's effects of these names. */
void lookup_names(struct manager *m, const struct effect *effect);
void lookup_pod(struct manager *m, const struct effect *effect);
void lookup_exit(struct manager *m, const struct effect *effect);
void lookup_identify(struct manager *m, const struct effect *effect);

/* Somebody waits for what those that list pods will say: the next question to them does not wait
 * because they are slow or down. */
void lookup_hurry(struct manager *m);

/* Logs who is down since the last call, who is back, and which token or client certificate expires
 * soon. */
void lookup_tell_changes(struct manager *m);

/* How a source fares. */
void lookup_get_state(const struct manager *m, enum meta_source source, struct podsrc_state *ret);
#endif
