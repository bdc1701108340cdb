/* SPDX-License-Identifier: Apache-2.0 */
/* A node of observations (world.h) whose shutdown is announced: logind's side of it, and its clock.
 */
#ifndef TESTS_LIB_SHUTDOWN_SHUTWORLD_H
#define TESTS_LIB_SHUTDOWN_SHUTWORLD_H

#include "lib/engine/world.h"

#define ANNOUNCED SEC(100)
#define ASKED	  SEC(101)
#define LIMIT	  SEC(60)

/* It holds the lock, and pod A with its sandbox runs: main of default/web-0, 30 s. Its group has
 * 20 s. deaf_grace_ns is shutdown.deafGrace. */
void shutworld_open(struct world *w, enum shutdown_mode mode, uint64_t deaf_grace_ns);
void shutworld_plan(struct world *w, uint64_t at, enum shutdown_mode mode, uint64_t deaf_grace_ns);
void shutworld_set_plan(struct world *w, uint64_t at, const struct obs_shutdown_plan *plan);
void shutworld_tell(struct world *w, uint64_t at, enum shutdown_event_type event);
/* Of that container. */
void shutworld_answer(struct world *w, uint64_t at, enum shutdown_event_type event, uint64_t id);
struct shutdown_status shutworld_status(const struct world *w);
/* As logind and the kubelet begin it: others hold locks, too. */
void shutworld_announce(struct world *w);
/* The clock goes on to that moment; a request for the holders is answered. */
void shutworld_pass(struct world *w, uint64_t until);

/* The first record of that step; NULL when there is none. */
const struct record_shutdown *shutworld_step(const struct world *w, enum shutdown_report what);

#endif
