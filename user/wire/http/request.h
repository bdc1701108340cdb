/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which requests are refused before they are answered: those that two readers could take for
 * different ones (RFC 9112), and those for another host (RFC 9110, section 7.4). A web page can
 * make a browser on this host, or near it, ask for a name of the page's own that stands for an
 * address of graced (DNS rebinding), and read the answer. The name is then in the request.
 */
#ifndef WIRE_HTTP_REQUEST_H
#define WIRE_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/prometheus/exposition.h"

/* What the headers of one request say; all zero before the first. */
struct reqhead {
	unsigned int hosts, lengths, codings; /* how many there are of each */
	const char *host;		      /* the last one; borrowed */
	size_t host_len;
	bool body;	/* a Content-Length that is not 0 */
	bool malformed; /* a header is not legal, or could be read in two ways */
};

/* The next header. value may be NULL. */
void reqhead_add(struct reqhead *head, const char *name, size_t name_len, const char *value,
		 size_t value_len);

/*
 * 0, or the status to refuse the request with: 400, 405, 413 or 421. target is what is between
 * method and version. Addresses and localhost are always accepted as hosts, with any port. Besides,
 * names: each a name, "*." with the end of names, or "*" for all.
 */
unsigned int reqhead_judge(const struct reqhead *head, const char *method, const char *target,
			   const char *version, const char *const *names, size_t n_names);

/* The path in a target; a server must take "GET http://host/path", too (RFC 9112, section 3.2.2). */
const char *reqhead_path(const char *target);

/* Whether it can be one of the names. */
bool reqhead_is_name(const char *text);

/* Headers of HTTP requests: who requests, and what form of answer a scraper wants. */

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

/*
 * The format with the highest weight; OpenMetrics wins a tie only when it is named, not by a
 * wildcard, so that curl and browsers get plain text. Protobuf must be named with its message and
 * encoding, and wins a tie. What cannot be read is passed over; NULL, and
 * a header that allows none, give text: a scraper can do more with that than with status 406.
 */
enum expo_format negotiate_format(const char *accept);

/* For Content-Type; a string that lives for ever. */
const char *negotiate_content_type(enum expo_format format);

/* Whether Accept-Encoding (NULL: none) allows gzip and does not prefer identity to it. */
bool negotiate_gzip(const char *accept_encoding);

#endif
