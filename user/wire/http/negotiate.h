/* SPDX-License-Identifier: Apache-2.0 */
/* What a scraper asks for in Accept and Accept-Encoding (RFC 9110, section 12), and what it gets. */
#ifndef WIRE_HTTP_NEGOTIATE_H
#define WIRE_HTTP_NEGOTIATE_H

#include <stdbool.h>

enum negotiate_format {
	NEGOTIATE_TEXT,	       /* Prometheus text 0.0.4 */
	NEGOTIATE_OPENMETRICS, /* OpenMetrics 1.0.0 */
	NEGOTIATE_FORMAT_COUNT
};

/*
 * The format with the higher weight; OpenMetrics wins a tie only when it is named, not by a
 * wildcard, so that curl and browsers get plain text. What cannot be read is passed over; NULL, and
 * a header that allows neither, give text: a scraper can do more with that than with status 406.
 */
enum negotiate_format negotiate_format(const char *accept);

/* For Content-Type; a string that lives for ever. */
const char *negotiate_content_type(enum negotiate_format format);

/* Whether Accept-Encoding (NULL: none) allows gzip and does not prefer identity to it. */
bool negotiate_gzip(const char *accept_encoding);

#endif
