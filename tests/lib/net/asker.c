// SPDX-License-Identifier: Apache-2.0
/* Turns a loop, asks by io/fetch and counts descriptors. */
#include "lib/net/asker.h"

#include <dirent.h>
#include <time.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/claim.h"

#define TICK_USEC   10000
#define PATIENCE_NS (60000 * ASKER_MS)

unsigned int asker_count_fds(void)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	return n;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct asker *asker = userdata;

	asker->ticks++;
	sd_event_source_set_time_relative(source, TICK_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int asker_set_up(void **state)
{
	static struct asker asker;
	struct fetch_why why;

	asker = (struct asker){.end_ns = clock_monotonic_ns() + PATIENCE_NS};
	/* What the library opens for good when it comes in is no leak. */
	if (sd_event_new(&asker.event) < 0 || fetch_new(asker.event, &asker.fetch, &why) < 0)
		return -1;
	asker.fetch = fetch_free(asker.fetch);
	asker.fds = asker_count_fds();
	if (fetch_new(asker.event, &asker.fetch, &why) < 0 ||
	    sd_event_add_time_relative(asker.event, &asker.ticker, CLOCK_MONOTONIC, TICK_USEC, 1,
				       on_tick, &asker) < 0)
		return -1;
	*state = &asker;
	return 0;
}

int asker_tear_down(void **state)
{
	struct asker *asker = *state;
	unsigned int fds;

	fetch_free(asker->fetch);
	fds = asker_count_fds();
	sd_event_source_disable_unref(asker->ticker);
	sd_event_unref(asker->event);
	if (fds > asker->fds + 1)
		print_message("%u descriptors were open, now %u\n", asker->fds, fds);
	/* The loop's own for timers came meanwhile. */
	return fds > asker->fds + 1 ? -1 : 0;
}

void asker_turn(struct asker *asker)
{
	assert_true(sd_event_run(asker->event, TICK_USEC) >= 0);
	if (clock_monotonic_ns() > asker->end_ns)
		fail_msg("what is waited for does not come");
}

void asker_done(void *userdata, const struct fetch_result *result)
{
	struct asker_reply *reply = userdata;

	reply->done++;
	reply->result = *result;
	if (result->len)
		buf_add(&reply->body, result->body, result->len);
	reply->result.body = NULL;
}

void asker_ask(struct asker *asker, struct fetch_request *request, struct asker_reply *ret)
{
	struct fetch_call *call;

	*ret = (struct asker_reply){};
	request->userdata = ret;
	request->done = asker_done;
	assert_int_equal(fetch_start(asker->fetch, request, &call), 0);
	while (!ret->done)
		asker_turn(asker);
}
