/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that the event loop does when it turns next, and that takes its turn.
 *
 * Among sources of the same priority, sd-event calls the one that has been ready longest. A defer
 * source is ready from when it is made, whether it is enabled or not. So one that enables itself
 * again and again is always called first, and a socket or timer never. Here each call is a source
 * of its own.
 */
#ifndef IO_LOOP_DEFER_H
#define IO_LOOP_DEFER_H

#include <systemd/sd-event.h>

/* All zero is one that is not open. */
struct defer {
	sd_event_source *source;
	sd_event_handler_t handler;
	void *userdata;
};

/* Not enabled at first. -errno. */
int defer_open(struct defer *defer, sd_event *event, sd_event_handler_t handler, void *userdata);
void defer_close(struct defer *defer);

/* The handler is called once, behind what is ready now. Without effect while it waits for that. */
void defer_enable(struct defer *defer);
void defer_disable(struct defer *defer);

#endif
