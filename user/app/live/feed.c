// SPDX-License-Identifier: Apache-2.0
/* Records an observation before the engine sees it, so that a replay sees the same. */
#include "app/live/feed.h"

#include <string.h>

#include "app/live/manager.h"
#include "app/log/say.h"
#include "io/proc/clock.h"
#include "wire/recording/recording.h"

static void record(struct manager *m, const struct obs *obs)
{
	buf_reset(&m->line);
	if (rec_write_obs(&m->line, obs) < 0) {
		say("cannot write an observation down: out of memory");
		manager_end(m, 1);
		return;
	}
	out_add(m->recording, buf_str(&m->line), m->line.len);
}

void feed(struct manager *m, const struct obs *obs)
{
	if (m->recording)
		record(m, obs);
	engine_step(m->engine, obs, dispatch_effect, m);
	dispatch_run(m);
}

void feed_begin(struct obs *ret, enum obs_type type)
{
	memset(ret, 0, sizeof(*ret));
	ret->type = type;
	ret->at_ns = clock_boot_ns();
}
