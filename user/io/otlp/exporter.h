/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends spans to a receiver of OTLP/HTTP, one request after the other. It turns the event loop
 * while it waits: for a command that has nothing else to do.
 *
 * Where a peer cannot be reached, or answers that it is busy (429, 502, 503, 504), the request is
 * sent again: after the time that Retry-After asks for, at least a second, twice as long after each
 * failure. It is given up where the next attempt would begin later than patience_ns after the
 * first one, and where an attempt had no whole answer within timeout_ns. Redirects are not followed.
 */
#ifndef IO_OTLP_EXPORTER_H
#define IO_OTLP_EXPORTER_H

#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "io/fetch/fetch.h"
#include "wire/account/otlp.h"

/* Strings are borrowed. Zero stands for the default. */
struct exporter_options {
	const char *url;
	const char *ca_file;			/* PEM; NULL: the system's */
	const char *const *headers;		/* "Name: value", NULL-ended; or NULL */
	uint64_t timeout_ns;			/* 10 s: for one attempt */
	uint64_t patience_ns;			/* 60 s: for all attempts of a request */
	uint64_t retry_first_ns, retry_last_ns; /* 1 s, 16 s: the wait after failures */
};

struct exporter {
	struct exporter_options options;
	sd_event *event; /* borrowed, as is fetch */
	struct fetch *fetch;
	unsigned int attempts; /* of all requests so far */
};

/* 0 with what came of the request in *ret, whose verdict is then OTLPHTTP_DELIVERED or, when it is
 * given up, one of the others. -EINVAL for an invalid URL or header, -ENOMEM, -errno. */
int exporter_send(struct exporter *exporter, const char *body, size_t len, uint64_t spans,
		  struct otlphttp_answer *ret);

#endif
