/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of graced plan. */
#ifndef APP_COMMANDS_PLAN_PLANS_H
#define APP_COMMANDS_PLAN_PLANS_H

#include "app/commands/plan/node_pods.h"
#include "app/config/options.h"
#include "core/shutdown/view.h"

/* What becomes of a silent node's pods. 0 or -errno. */
int plans_dies(const struct options *options, const struct nodepods *pods);

/* What a node shutdown would do. 0 or -errno; 1: it was said why there is no answer. */
int plans_shutdown(const struct options *options, const struct nodepods *pods);

/* Says who of them is deaf, as far as their containers run on this host and may be looked into.
 * 0 or -ENOMEM; what it adds is the arena's. */
int plans_listen(const struct options *options, const struct shutplan *plan,
		 struct shutview_pod *pods, size_t n, struct arena *arena);

#endif
