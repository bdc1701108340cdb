/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of HTTP requests: who requests, and what form of answer a scraper wants. */
#ifndef WIRE_HTTP_HEADERS_H
#define WIRE_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

#define BASICAUTH_SIZE 256 /* of a user and a password together, with the colon and a NUL */

struct basicauth {
	char user[BASICAUTH_SIZE];
	char password[BASICAUTH_SIZE];
};

/* Both are strings. False for any other scheme, what is no base64, has no colon, has a NUL in it,
 * or is too long: then *ret is untouched. */
bool basicauth_parse(const char *header, struct basicauth *ret);

/* Takes as long for bytes that are alike as for any others. */
bool basicauth_same(const void *a, const void *b, size_t size);

/* What a scraper asks for in Accept and Accept-Encoding (RFC 9110, section 12), and what it gets. */

enum negotiate_format {
	NEGOTIATE_TEXT,	       /* Prometheus text 0.0.4 */
	NEGOTIATE_OPENMETRICS, /* OpenMetrics 1.0.0 */
	NEGOTIATE_PROTOBUF,    /* delimited io.prometheus.client.MetricFamily */
	NEGOTIATE_FORMAT_COUNT
};

/*
 * The format with the highest weight; OpenMetrics wins a tie only when it is named, not by a
 * wildcard, so that curl and browsers get plain text. Protobuf must be named with its message and
 * encoding, and wins a tie. What cannot be read is passed over; NULL, and
 * a header that allows none, give text: a scraper can do more with that than with status 406.
 */
enum negotiate_format negotiate_format(const char *accept);

/* For Content-Type; a string that lives for ever. */
const char *negotiate_content_type(enum negotiate_format format);

/* Whether Accept-Encoding (NULL: none) allows gzip and does not prefer identity to it. */
bool negotiate_gzip(const char *accept_encoding);

#endif
