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

#endif
