// SPDX-License-Identifier: Apache-2.0
/* Makes the source of deferred work anew each time. */
#include "io/loop/defer.h"

static int add(struct defer *defer, sd_event *event)
{
	sd_event_source *source;
	int r = sd_event_add_defer(event, &source, defer->handler, defer->userdata);

	if (r < 0)
		return r;
	sd_event_source_disable_unref(defer->source);
	defer->source = source;
	return 0;
}

int defer_open(struct defer *defer, sd_event *event, sd_event_handler_t handler, void *userdata)
{
	int r;

	*defer = (struct defer){.handler = handler, .userdata = userdata};
	r = add(defer, event);
	return r < 0 ? r : sd_event_source_set_enabled(defer->source, SD_EVENT_OFF);
}

void defer_close(struct defer *defer)
{
	defer->source = sd_event_source_disable_unref(defer->source);
}

void defer_enable(struct defer *defer)
{
	if (sd_event_source_get_enabled(defer->source, NULL) > 0)
		return;
	/* Without memory the work is done out of turn. */
	if (add(defer, sd_event_source_get_event(defer->source)) < 0)
		sd_event_source_set_enabled(defer->source, SD_EVENT_ONESHOT);
}

void defer_disable(struct defer *defer)
{
	sd_event_source_set_enabled(defer->source, SD_EVENT_OFF);
}
