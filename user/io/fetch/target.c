// SPDX-License-Identifier: Apache-2.0
/* Reads a URL by libcurl, as libcurl will understand it. */
#include "io/fetch/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int url_part(const struct curl *curl, CURLU *url, CURLUPart part, char *ret, size_t size)
{
	char *text;
	int n;

	if (curl->url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
		return -EINVAL;
	n = snprintf(ret, size, "%s", text);
	curl->free(text);
	return (size_t)n < size ? 0 : -EINVAL;
}

/* Neither a scheme that is not ours nor a password, which would be logged with the URL. */
static int check_url(const struct curl *curl, CURLU *url, bool *ret_secure)
{
	char part[64];

	if (url_part(curl, url, CURLUPART_SCHEME, part, sizeof(part)) < 0 ||
	    url_part(curl, url, CURLUPART_USER, part + 8, sizeof(part) - 8) == 0)
		return -EINVAL;
	*ret_secure = strcmp(part, "https") == 0;
	return *ret_secure || strcmp(part, "http") == 0 ? 0 : -EINVAL;
}

static int rename_host(const struct curl *curl, CURLU *url, const char *name,
		       struct fetch_target *ret)
{
	int n;

	if (curl->url_set(url, CURLUPART_HOST, name, 0) != CURLUE_OK)
		return -EINVAL;
	n = snprintf(ret->connect_to, sizeof(ret->connect_to), "::%s:%s", ret->peer, ret->port);
	return (size_t)n < sizeof(ret->connect_to) ? 0 : -EINVAL;
}

int fetch_target_read(const struct curl *curl, const char *text, const char *server_name,
		      struct fetch_target *ret)
{
	CURLU *url = curl->url();
	int r;

	if (!url)
		return -ENOMEM;
	ret->connect_to[0] = 0;
	r = curl->url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK ? 0 : -EINVAL;
	if (r == 0)
		r = check_url(curl, url, &ret->secure);
	if (r == 0)
		r = url_part(curl, url, CURLUPART_HOST, ret->peer, sizeof(ret->peer));
	if (r == 0)
		r = url_part(curl, url, CURLUPART_PORT, ret->port, sizeof(ret->port));
	if (r == 0 && server_name)
		r = rename_host(curl, url, server_name, ret);
	if (r == 0)
		r = url_part(curl, url, CURLUPART_HOST, ret->host, sizeof(ret->host));
	if (r == 0)
		r = url_part(curl, url, CURLUPART_URL, ret->url, sizeof(ret->url));
	curl->url_cleanup(url);
	return r;
}
