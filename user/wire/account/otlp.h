/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OTLP/HTTP as its specification has it (opentelemetry.io, "OTLP/HTTP"): where spans are sent,
 * which headers the environment adds, and what an answer means.
 */
#ifndef WIRE_ACCOUNT_OTLP_H
#define WIRE_ACCOUNT_OTLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The URL of an endpoint: without a path, that of traces. */
void otlphttp_add_url(struct buf *out, const char *endpoint);

#define OTLPHTTP_HEADERS_MAX  32
#define OTLPHTTP_HEADERS_SIZE 8192

struct otlphttp_headers {
	const char *list[OTLPHTTP_HEADERS_MAX + 1]; /* "Name: value", NULL-ended; in text */
	size_t n;
	bool secret; /* one of them is Authorization */
	char text[OTLPHTTP_HEADERS_SIZE];
};

/*
 * Reads OTEL_EXPORTER_OTLP_HEADERS: "name=value,name=value", values percent-encoded. Names that
 * describe the request itself (Content-Type and the like) are left out. -EINVAL for any other text,
 * -E2BIG for too many or too long ones; *ret is then of no use.
 */
int otlphttp_read_headers(const char *text, struct otlphttp_headers *ret);

enum otlphttp_verdict {
	OTLPHTTP_DELIVERED,
	OTLPHTTP_AGAIN, /* not now: the same request may be sent later */
	OTLPHTTP_REFUSED,
};

#define OTLPHTTP_TEXT_MAX 320

struct otlphttp_answer {
	enum otlphttp_verdict verdict;
	uint64_t rejected; /* spans of a request that was delivered; sent at most */
	/* Printable ASCII: why it was not delivered, or what the peer has to say; "": nothing. */
	char text[OTLPHTTP_TEXT_MAX];
};

/* What the peer answers to a request with that many spans: an ExportTraceServiceResponse, or a
 * Status of a failure, both as JSON. */
void otlphttp_judge(long status, const char *body, size_t len, uint64_t sent,
		    struct otlphttp_answer *ret);

#endif
