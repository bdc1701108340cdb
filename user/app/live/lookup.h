/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of metadata together: each query of the engine goes to those that may know, their
 * answers are fed as they come, and the last answer of each query is marked as the last.
 */
#ifndef APP_LIVE_LOOKUP_H
#define APP_LIVE_LOOKUP_H

#include "app/live/feed.h"
#include "app/live/sources.h"
#include "core/load/budget.h"

struct lookup;

/* Both are borrowed. With --no-names.enabled each query is concluded at once. -errno. */
int lookup_new(const struct options *options, struct feed *feed, struct lookup **ret);
/* Opens what is configured; a source that is down is no error. -errno, logged. */
int lookup_open(struct lookup *l, sd_event *event);
struct lookup *lookup_free(struct lookup *l);

/* Carry out the engine's effects of these names. */
void lookup_names(struct lookup *l, const struct effect *effect);
void lookup_pod(struct lookup *l, const struct effect *effect);
void lookup_exit(struct lookup *l, const struct effect *effect);
void lookup_identify(struct lookup *l, const struct effect *effect);

/* Queries names once more that the engine has concluded without: nothing waits for the answer.
 * lookup_effect_of() makes the effect of a container that runs. */
void lookup_again(struct lookup *l, const struct effect *effect);
void lookup_effect_of(const struct engine_running *running, struct effect *ret);
/* About once a second: makes up for some of the look-ups of containers that run which were shed,
 * while names are not shed. */
void lookup_make_up(struct lookup *l);

/* Feeds all names that the log directories provide. */
void lookup_feed_logs(struct lookup *l);

/* source_cri_stop(); -ENOTCONN also where no runtime is queried. */
int lookup_stop(struct lookup *l, const struct source_cri_stop *stop);

/* The next query to the sources that list pods does not wait because they are slow or down. */
void lookup_hurry(struct lookup *l);

/* The level of load shedding: from SHED_NAMES on queries are concluded at once. */
void lookup_set_shed(struct lookup *l, enum shed level);

/* Whether each source that is there has answered, or failed, and no query waits. */
bool lookup_is_settled(const struct lookup *l);

/* Logs which source is down since the last call, which answers again, and which token or client
 * certificate expires soon. */
void lookup_log_changes(struct lookup *l);

/* The state of a source; SOURCE_OFF for one that is not used. */
void lookup_get_state(const struct lookup *l, enum meta_source source, struct source_state *ret);

#endif
