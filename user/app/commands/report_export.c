// SPDX-License-Identifier: Apache-2.0
/* Sends the requests, and stops at the first that is not delivered. */
#include "app/commands/report_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/log/say.h"
#include "base/cleanup.h"
#include "io/otlp/exporter.h"
#include "wire/account/otlp.h"

#define HEADERS_VARIABLE "OTEL_EXPORTER_OTLP_HEADERS"

DEFINE_CLEANUP(sd_event *, sd_event_unref);
DEFINE_CLEANUP(struct fetch *, fetch_free);

struct export
{
	struct exporter exporter;
	const char *endpoint;
	uint64_t delivered, rejected; /* spans */
	bool failed;		      /* a line says so */
};

/* What may be shown of a URL: its query may hold a key. */
static int shown(const char *url)
{
	return (int)strcspn(url, "?#");
}

static void say_undelivered(struct export *x, const char *why)
{
	x->failed = true;
	say("cannot deliver the spans to %.*s: %s; %" PRIu64 " were delivered before",
	    shown(x->endpoint), x->endpoint, why, x->delivered);
}

static int send_request(void *userdata, const char *body, size_t len, size_t spans)
{
	struct export *x = userdata;
	struct otlphttp_answer answer = {};
	int r = exporter_send(&x->exporter, body, len, spans, &answer);

	if (r < 0) {
		say_undelivered(x, r == -EINVAL ? "it is not an http or https URL, or names a user"
						: strerror(-r));
		return r;
	}
	if (answer.verdict != OTLPHTTP_DELIVERED) {
		say_undelivered(x, answer.text);
		return -EIO;
	}
	x->delivered += spans - answer.rejected;
	x->rejected += answer.rejected;
	if (answer.rejected)
		say("%.*s rejected %" PRIu64 " of %zu spans%s%s", shown(x->endpoint), x->endpoint,
		    answer.rejected, spans, answer.text[0] ? ": " : "", answer.text);
	else if (answer.text[0])
		say("%.*s took the spans, and warns: %s", shown(x->endpoint), x->endpoint,
		    answer.text);
	return 0;
}

/* 0, or the exit status. A secret is never sent in the clear. */
static int read_headers(struct otlphttp_headers *ret, const char *url)
{
	const char *text = getenv(HEADERS_VARIABLE);
	int r = otlphttp_read_headers(text ? text : "", ret);

	if (r < 0) {
		say("cannot read " HEADERS_VARIABLE ": %s",
		    r == -E2BIG ? "it is too long" : "it is not NAME=VALUE[,NAME=VALUE...]");
		return 1;
	}
	if (ret->secret && strncasecmp(url, "https:", 6) != 0) {
		say("the header Authorization of " HEADERS_VARIABLE " is sent by https alone");
		return 1;
	}
	return 0;
}

static int open_exporter(sd_event **ret_event, struct fetch **ret_fetch)
{
	struct fetch_why lacks;
	int r = sd_event_new(ret_event);

	if (r < 0) {
		say("cannot set up the event loop: %s", strerror(-r));
		return 1;
	}
	if (fetch_new(*ret_event, ret_fetch, &lacks) < 0) {
		say("%s", lacks.text);
		return 1;
	}
	return 0;
}

int report_export(const struct account *account, const char *endpoint, const char *ca_file)
{
	_cleanup_(cleanup_sd_event_unref) sd_event *event = NULL;
	_cleanup_(cleanup_fetch_free) struct fetch *fetch = NULL;
	_cleanup_(buf_free) struct buf url = {};
	struct otlphttp_headers headers;
	struct export x;
	int r;

	otlphttp_add_url(&url, endpoint);
	if (read_headers(&headers, buf_str(&url)) || open_exporter(&event, &fetch))
		return 1;
	x = (struct export){
		.endpoint = buf_str(&url),
		.exporter = {.options = {.url = buf_str(&url),
					 .ca_file = ca_file,
					 .headers = headers.list},
			     .event = event,
			     .fetch = fetch},
	};
	r = account_otlp_requests(account, send_request, &x);
	if (r < 0 && !x.failed)
		say_undelivered(&x, strerror(-r));
	if (r < 0)
		return 1;
	printf("%" PRIu64 " spans delivered to %.*s\n", x.delivered, shown(x.endpoint), x.endpoint);
	return x.rejected ? 1 : 0;
}
