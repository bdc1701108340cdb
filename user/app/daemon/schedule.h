/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that a shutdown of the node takes: what the kubelet will do in one, by its configuration
 * as it is at the moment, is fed to the engine, and logind is made to wait as long as that needs.
 */
#ifndef APP_DAEMON_SCHEDULE_H
#define APP_DAEMON_SCHEDULE_H

#include "app/config/config.h"
#include "core/facts/observation.h"
#include "io/logind/delay.h"

struct monitor;
struct schedule;

/* What the kubelet will do in a shutdown, by its configuration. */
struct schedule_plan {
	struct obs obs;	    /* OBS_SHUTDOWN_PLAN; without groups where they are not known */
	uint64_t need_ns;   /* how long logind has to wait */
	bool kubelet_there; /* it has a configuration */
	bool kubelet_bad;   /* which cannot be used; logged */
};

/* Reads the kubelet's configuration as it is now. */
void schedule_read(const struct config_shutdown *options, struct schedule_plan *ret);

/* Removes the drop-in that assist and manage add to logind's configuration. Whether there was one.
 */
bool schedule_remove_drop_in(void);

/* Feeds the plan to the engine. options and the monitor are borrowed. -ENOMEM. */
int schedule_new(struct monitor *m, const struct config_shutdown *options, struct schedule **ret);
/* A drop-in stays. */
struct schedule *schedule_free(struct schedule *s);
/* From then on changes of the kubelet's configuration are seen, and logind, which is borrowed, is
 * made to wait long enough unless shutdown.mode is observe. What fails is logged. */
void schedule_open(struct schedule *s, struct logind *logind);

/* logind answers; what it reported of its limit, and of the reload of its configuration. */
void schedule_up(struct schedule *s);
void schedule_limit(struct schedule *s, uint64_t limit_ns);
void schedule_reloaded(struct schedule *s, const char *error);

/* As fed last; valid until the loop turns. */
const struct schedule_plan *schedule_get_plan(const struct schedule *s);
/* False: logind's limit is left as it is. */
bool schedule_get_delay(const struct schedule *s, struct delaykeep_state *ret);

#endif
