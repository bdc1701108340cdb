// SPDX-License-Identifier: Apache-2.0
/* Turns a request into libcurl's options, and refuses what would give a secret away. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "io/fetch/priv.h"

#define URL_MAX 2048

#define set(call, option, value) \
	((call)->fetch->curl.easy_setopt((call)->easy, CURLOPT_##option, value))

/* The URL as it is asked for, and what to connect to instead of its host ("" for the host). */
struct target {
	char url[URL_MAX];
	char connect_to[URL_MAX];
	char host[128]; /* who the certificate must name */
	char peer[256]; /* to be connected to */
	char port[8];
	bool secure;
};

static int url_part(const struct fetch *f, CURLU *url, CURLUPart part, char *ret, size_t size)
{
	char *text;
	int n;

	if (f->curl.url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
		return -EINVAL;
	n = snprintf(ret, size, "%s", text);
	f->curl.free(text);
	return (size_t)n < size ? 0 : -EINVAL;
}

/* Neither a scheme that is not ours nor a password, which would be logged with the URL. */
static int check_url(const struct fetch *f, CURLU *url, bool *ret_secure)
{
	char part[64];

	if (url_part(f, url, CURLUPART_SCHEME, part, sizeof(part)) < 0 ||
	    url_part(f, url, CURLUPART_USER, part + 8, sizeof(part) - 8) == 0)
		return -EINVAL;
	*ret_secure = strcmp(part, "https") == 0;
	return *ret_secure || strcmp(part, "http") == 0 ? 0 : -EINVAL;
}

static int rename_host(const struct fetch *f, CURLU *url, const char *name, struct target *ret)
{
	int n;

	if (f->curl.url_set(url, CURLUPART_HOST, name, 0) != CURLUE_OK)
		return -EINVAL;
	n = snprintf(ret->connect_to, sizeof(ret->connect_to), "::%s:%s", ret->peer, ret->port);
	return (size_t)n < sizeof(ret->connect_to) ? 0 : -EINVAL;
}

static int resolve_target(const struct fetch *f, const struct fetch_request *request,
			  struct target *ret)
{
	CURLU *url = f->curl.url();
	int r;

	if (!url)
		return -ENOMEM;
	ret->connect_to[0] = 0;
	r = f->curl.url_set(url, CURLUPART_URL, request->url, 0) == CURLUE_OK ? 0 : -EINVAL;
	if (r == 0)
		r = check_url(f, url, &ret->secure);
	if (r == 0)
		r = url_part(f, url, CURLUPART_HOST, ret->peer, sizeof(ret->peer));
	if (r == 0)
		r = url_part(f, url, CURLUPART_PORT, ret->port, sizeof(ret->port));
	if (r == 0 && request->server_name)
		r = rename_host(f, url, request->server_name, ret);
	if (r == 0)
		r = url_part(f, url, CURLUPART_HOST, ret->host, sizeof(ret->host));
	if (r == 0)
		r = url_part(f, url, CURLUPART_URL, ret->url, sizeof(ret->url));
	f->curl.url_cleanup(url);
	return r;
}

bool fetch_has_address(const struct fetch *f, const char *text)
{
	struct target target;
	const struct fetch_request request = {.url = text};

	return resolve_target(f, &request, &target) == 0 && fetch_names_has(f, target.peer);
}

/* A line break in a header would begin another one. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static int add_header(struct fetch_call *call, const char *header)
{
	struct curl_slist *list;

	if (!is_printable(header))
		return -EINVAL;
	list = call->fetch->curl.slist_append(call->headers, header);
	if (!list)
		return -ENOMEM;
	call->headers = list;
	return 0;
}

static int add_token(struct fetch_call *call, const char *token)
{
	_cleanup_(buf_free) struct buf header = {};
	int r;

	if (!*token || strchr(token, ' '))
		return -EINVAL;
	buf_printf(&header, "Authorization: Bearer %s", token);
	r = buf_error(&header);
	if (r == 0)
		r = add_header(call, buf_str(&header));
	if (header.data)
		explicit_bzero(header.data, header.len);
	return r;
}

static int add_headers(struct fetch_call *call, const struct fetch_request *request)
{
	int r = 0;

	for (const char *const *header = request->headers; header && *header && r == 0; header++)
		r = add_header(call, *header);
	if (r == 0 && request->token)
		r = add_token(call, request->token);
	if (r == 0 && call->headers)
		set(call, HTTPHEADER, call->headers);
	return r;
}

long fetch_request_ms(uint64_t ns)
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);

	return ms < INT32_MAX ? (long)ms : INT32_MAX;
}

/* Not by the file's name: libcurl goes on with a connection that another certificate was shown on,
 * where the name is the same. */
static int apply_client(struct fetch_call *call, const char *pem)
{
	struct curl_blob blob = {(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY};

	/* Without them the request would be an anonymous one. */
	if (set(call, SSLCERT_BLOB, &blob) != CURLE_OK || set(call, SSLKEY_BLOB, &blob) != CURLE_OK)
		return -ENOMEM;
	/* Else OpenSSL asks a terminal for it, and waits. */
	set(call, KEYPASSWD, "");
	return 0;
}

static void apply_peer(struct fetch_call *call, const struct fetch_request *request)
{
	set(call, PROXY, "");
	set(call, NOSIGNAL, 1L);
	set(call, PATH_AS_IS, 1L);
	set(call, SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (request->ca_file) {
		/* Its authorities alone: the system's are looked for in a directory. */
		set(call, CAINFO, request->ca_file);
		set(call, CAPATH, NULL);
	}
#if LIBCURL_VERSION_NUM >= 0x075700
	/* Else a new CA would not be read for a day. */
	set(call, CA_CACHE_TIMEOUT, 0L);
#endif
	if (request->unix_path)
		set(call, UNIX_SOCKET_PATH, request->unix_path);
	set(call, CONNECTTIMEOUT_MS, fetch_request_ms(request->connect_timeout_ns));
	set(call, TIMEOUT_MS, fetch_request_ms(request->timeout_ns));
}

static int apply_target(struct fetch_call *call, const struct target *target)
{
	if (set(call, URL, target->url) != CURLE_OK)
		return -ENOMEM;
	if (!target->connect_to[0])
		return 0;
	call->connect_to = call->fetch->curl.slist_append(NULL, target->connect_to);
	if (!call->connect_to)
		return -ENOMEM;
	set(call, CONNECT_TO, call->connect_to);
	return 0;
}

static int apply_body(struct fetch_call *call, const struct fetch_request *request)
{
	set(call, USERAGENT, "graced/" GRACED_VERSION);
	if (!request->body)
		return 0;
	set(call, POST, 1L);
	set(call, POSTFIELDSIZE, (long)request->body_len);
	return set(call, COPYPOSTFIELDS, request->body) == CURLE_OK ? 0 : -ENOMEM;
}

static void apply_protocol(struct fetch_call *call, const struct fetch_request *request,
			   const struct target *target)
{
	char key[256];

	call->http2 = request->http2;
	if (!call->http2) {
		set(call, HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
		return;
	}
	snprintf(key, sizeof(key), "%.120s %s",
		 request->unix_path ? request->unix_path : target->connect_to, target->host);
	call->host = fetch_host_get(call->fetch, key);
}

static void apply_callbacks(struct fetch_call *call)
{
	set(call, PRIVATE, call);
	set(call, ERRORBUFFER, call->trouble);
	set(call, HEADERFUNCTION, fetch_answer_header);
	set(call, HEADERDATA, call);
	set(call, WRITEFUNCTION, fetch_answer_body);
	set(call, WRITEDATA, call);
}

int fetch_request_apply(struct fetch_call *call, const struct fetch_request *request)
{
	struct target target;
	int r = resolve_target(call->fetch, request, &target);

	if (r < 0)
		return r;
	if ((request->token || request->client_pem) && !target.secure)
		return -EPERM;
	call->easy = call->fetch->curl.easy_init();
	if (!call->easy)
		return -ENOMEM;
	r = add_headers(call, request);
	if (r == 0)
		r = apply_target(call, &target);
	if (r == 0)
		r = apply_body(call, request);
	if (r == 0 && !request->unix_path)
		r = fetch_names_want(call, target.peer, target.port);
	if (r == 0 && request->client_pem)
		r = apply_client(call, request->client_pem);
	if (r < 0)
		return r;
	apply_protocol(call, request, &target);
	apply_peer(call, request);
	apply_callbacks(call);
	return 0;
}

void fetch_request_done(struct fetch_call *call)
{
	const struct curl *curl = &call->fetch->curl;

	fetch_names_release(call);
	fetch_host_release(call);
	if (call->easy)
		curl->easy_cleanup(call->easy);
	/* One of them may be a token. */
	for (struct curl_slist *header = call->headers; header; header = header->next)
		explicit_bzero(header->data, strlen(header->data));
	curl->slist_free_all(call->headers);
	curl->slist_free_all(call->connect_to);
	curl->slist_free_all(call->resolved);
}
