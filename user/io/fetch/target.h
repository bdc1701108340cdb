/* SPDX-License-Identifier: Apache-2.0 */
/* Where a request goes: its URL, taken apart. */
#ifndef IO_FETCH_TARGET_H
#define IO_FETCH_TARGET_H

#include <stdbool.h>

#include "io/fetch/curl.h"

#define FETCH_URL_MAX 2048

/* The URL as it is asked for, and what to connect to instead of its host ("" for the host). */
struct fetch_target {
	char url[FETCH_URL_MAX];
	char connect_to[FETCH_URL_MAX];
	char host[128]; /* who the certificate must name */
	char peer[256]; /* to be connected to */
	char port[8];
	bool secure;
};

/* server_name: as in a request. -EINVAL for a URL that is none, or not one of HTTP; -ENOMEM. */
int fetch_target_read(const struct curl *curl, const char *url, const char *server_name,
		      struct fetch_target *ret);

#endif
