/* SPDX-License-Identifier: Apache-2.0 */
/* A client of io/fetch on a loop of its own, which is seen to turn while it waits. */
#ifndef TESTS_LIB_NET_ASKER_H
#define TESTS_LIB_NET_ASKER_H

#include <systemd/sd-event.h>

#include "base/buf.h"
#include "io/fetch/fetch.h"

#define ASKER_MS UINT64_C(1000000)

struct asker {
	sd_event *event;
	struct fetch *fetch;
	sd_event_source *ticker;
	unsigned int ticks; /* of 10 ms, while the loop turns */
	uint64_t end_ns;    /* of the test's patience */
	unsigned int fds;   /* open before */
};

/* What came of one request. */
struct asker_reply {
	unsigned int done;	    /* how often done was called */
	struct fetch_result result; /* without its body */
	struct buf body;
};

/* For cmocka: *state is the asker. The second fails when a descriptor is left open. */
int asker_set_up(void **state);
int asker_tear_down(void **state);

/* One turn of the loop, of at most 10 ms. Fails the test after a minute. */
void asker_turn(struct asker *asker);
/* Starts it with the reply as its userdata, and awaits the end. */
void asker_ask(struct asker *asker, struct fetch_request *request, struct asker_reply *ret);
/* A fetch_done_fn whose userdata is a struct asker_reply. */
void asker_done(void *userdata, const struct fetch_result *result);
/* Open descriptors of this process. */
unsigned int asker_count_fds(void);

#endif
