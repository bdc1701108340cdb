/* SPDX-License-Identifier: Apache-2.0 */
/* A control socket in a directory of its own under /tmp, on the test's own loop, and peers of it. */
#ifndef TESTS_LIB_DAEMON_CTLSITE_H
#define TESTS_LIB_DAEMON_CTLSITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/control/control.h"

struct ctlsite {
	char dir[64], path[96];
	sd_event *event;
	struct control *control;
	uint64_t timeout_ns; /* of a connection; 0: the default */
	uint64_t lines;	     /* of the answer, 64 bytes each */
	int error;	     /* instead of an answer */
	const char *why;     /* its reason; NULL: what the error says */
	bool admits;
	pid_t asked_by; /* the last one */
};

/* Make one with a socket that listens, and end it; for cmocka. *state is the struct ctlsite. */
int ctlsite_setup(void **state);
int ctlsite_teardown(void **state);

#define CTLSITE_CLAIM(sentence, function)                                 \
	{                                                                 \
		sentence, function, ctlsite_setup, ctlsite_teardown, NULL \
	}

/* Listens by what the site says now; as control_new(). */
int ctlsite_listen(struct ctlsite *site, struct control_why *why);

struct control_stats ctlsite_stats(const struct ctlsite *site);

uint64_t ctlsite_now_ms(void);

/* Lets the loop do what there is to do now. */
void ctlsite_settle(struct ctlsite *site);

/* A connection that does not block; the caller closes it. */
int ctlsite_join(const struct ctlsite *site);
void ctlsite_say(int fd, const char *text);

/* Adds what is sent until the other side closes, while the loop runs, for 5 seconds at most. */
void ctlsite_hear(struct ctlsite *site, int fd, struct buf *ret);
/* Hears exactly that, and closes. */
void ctlsite_hears(struct ctlsite *site, int fd, const char *expected);

/* control_query() by another process, of another user where uid is not 0: its result, or -255 for
 * another answer than that of the site. */
int ctlsite_query(struct ctlsite *site, uid_t uid);

#endif
