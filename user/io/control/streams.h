/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that follow the daemon's records over the control socket. None of them is waited for: the
 * lines of each wait in a queue of its own, and what finds no room there is counted, which the next
 * line that the client receives says. A client may send the request CONTROL_STOPPING; it is
 * answered when nothing else waits for the client, and once however often it was sent meanwhile.
 * Anything else that it sends is ignored.
 */
#ifndef IO_CONTROL_STREAMS_H
#define IO_CONTROL_STREAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "base/line_queue.h"
#include "wire/json/control.h"

#define STREAMS_MAX	  8
#define STREAMS_QUEUE_MAX ((size_t)1 << 20) /* bytes that wait for one client */

struct streams;

struct streams_config {
	/* Adds the line that stands for records that were dropped. */
	void (*add_dropped)(void *userdata, struct buf *out, const struct line_gap *gap);
	/* Adds the reply to CONTROL_STOPPING, of whole lines; may be larger than a queue. */
	void (*add_stopping)(void *userdata, struct buf *out);
	void *userdata;
};

/* 0 or -ENOMEM. The caller frees, which writes what can be written and closes all. */
int streams_new(sd_event *event, const struct streams_config *config, struct streams **ret);
struct streams *streams_free(struct streams *streams);

/*
 * A connected socket, which is taken over, and what is sent first (more than a queue holds, if it
 * has to be). signals: it wants records of signals, too. -EUSERS: there are STREAMS_MAX; else
 * -errno. The socket stays the caller's then.
 */
int streams_add(struct streams *streams, int fd, bool signals, const struct buf *first);

/* Whether a client wants such a record. */
bool streams_want(const struct streams *streams, bool signal);
/* Queues a line, with its newline, for those that want it. now_ns: for a gap. */
void streams_put(struct streams *streams, bool signal, const char *line, size_t size,
		 uint64_t now_ns);
/* Writes what can be written, at the end of each turn of the loop. */
void streams_flush(struct streams *streams);

#endif
