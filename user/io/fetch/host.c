// SPDX-License-Identifier: Apache-2.0
/*
 * Connections that speak HTTP/2, each for one request at a time: libcurl 7.88 loses trailers where
 * several share one. It also takes prior knowledge for an order to begin HTTP/2, on a connection
 * that speaks it already, too, and fails (fixed in 8.0): there a request merely allows HTTP/2, and
 * must not connect anew, since it would begin with HTTP/1.1.
 */
#include <stdio.h>
#include <string.h>

#include "io/fetch/priv.h"

#define set(call, option, value) \
	((call)->fetch->curl.easy_setopt((call)->easy, CURLOPT_##option, value))

static curl_socket_t open_none(void *userdata, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct fetch_call *call = userdata;

	(void)purpose;
	(void)address;
	call->unconnected = true;
	return CURL_SOCKET_BAD;
}

struct fetch_host *fetch_host_get(struct fetch *f, const char *key)
{
	struct fetch_host *host = NULL;

	for (size_t i = 0; i < FETCH_HOSTS; i++) {
		struct fetch_host *at = f->hosts + i;

		if (strcmp(at->key, key) == 0) {
			at->users++;
			return at;
		}
		if (!at->users && (!host || at->used < host->used))
			host = at;
	}
	if (!host)
		return NULL;
	*host = (struct fetch_host){.users = 1, .used = ++f->hosts_used};
	snprintf(host->key, sizeof(host->key), "%s", key);
	return host;
}

bool fetch_host_admit(struct fetch_call *call)
{
	struct fetch_host *host = call->host;
	bool open = host && host->is_open;

	if (host && host->user)
		return false;
	if (host)
		host->user = call;
	call->unconnected = false;
	set(call, HTTP_VERSION,
	    (long)(open ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
	set(call, FRESH_CONNECT, open ? 0L : 1L);
	set(call, OPENSOCKETFUNCTION, open ? open_none : NULL);
	set(call, OPENSOCKETDATA, call);
	return true;
}

void fetch_host_answered(struct fetch_call *call)
{
	if (call->host)
		call->host->is_open = true;
}

bool fetch_host_ended(struct fetch_call *call)
{
	struct fetch_host *host = call->host;

	if (!host || host->user != call)
		return false;
	host->user = NULL;
	if (call->unconnected)
		host->is_open = false;
	fetch_wake(call->fetch);
	return call->unconnected;
}

void fetch_host_release(struct fetch_call *call)
{
	fetch_host_ended(call);
	if (call->host)
		call->host->users--;
	call->host = NULL;
}
