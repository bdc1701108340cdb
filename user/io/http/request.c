// SPDX-License-Identifier: Apache-2.0
/* From a request's headers to the response that is queued for it. */
#include <string.h>

#include "io/http/priv.h"

static const char *header(const struct web *web, struct MHD_Connection *handle, const char *name)
{
	return web->mhd.lookup_connection_value(handle, MHD_HEADER_KIND, name);
}

/* The status to turn a request away with once its headers are there; 0 for none. */
static unsigned int objection(const struct web *web, struct MHD_Connection *handle,
			      const char *method)
{
	const char *length = header(web, handle, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return 405;
	if (header(web, handle, MHD_HTTP_HEADER_TRANSFER_ENCODING))
		return 413;
	return length && length[strspn(length, "0")] ? 413 : 0;
}

/* A server must take "GET http://host/path", too (RFC 9112, section 3.2.2). */
static const char *path_of(const char *url)
{
	const char *slash;
	size_t scheme = strncasecmp(url, "http://", 7) == 0    ? 7
			: strncasecmp(url, "https://", 8) == 0 ? 8
							       : 0;

	if (!scheme)
		return url;
	slash = strchr(url + scheme, '/');
	return slash ? slash : "/";
}

static enum MHD_Result queue(struct web *web, struct web_conn *conn, struct MHD_Connection *handle,
			     struct web_body *body)
{
	bool gzip = negotiate_gzip(header(web, handle, MHD_HTTP_HEADER_ACCEPT_ENCODING));
	struct MHD_Response *response = web_body_response(web, body, gzip);
	enum MHD_Result r = web->mhd.queue_response(handle, body->status, response);

	if (r == MHD_YES) {
		web->stats.requests[body->status / 100]++;
		conn->body = body;
		body->readers++;
		web_conn_enter(web, conn, WEB_SENDING);
	}
	web_body_settle(web, body);
	return r;
}

static enum MHD_Result refuse(struct web *web, struct web_conn *conn, struct MHD_Connection *handle,
			      unsigned int status)
{
	struct web_body *body = web_body_refusal(web, status);

	return body ? queue(web, conn, handle, body) : MHD_NO;
}

/* The page that was asked for, or why it is not shown. When a password is to be checked before, the
 * request waits: the library asks again once it is resumed. */
static enum MHD_Result answer(struct web *web, struct web_conn *conn, struct MHD_Connection *handle,
			      const char *url)
{
	enum webauth_verdict verdict = WEBAUTH_YES;
	struct web_request wanted;
	struct web_body *body;

	if (web->auth)
		verdict = webauth_ask(web->auth, header(web, handle, MHD_HTTP_HEADER_AUTHORIZATION),
				      web_now(web));
	if (verdict == WEBAUTH_WAIT) {
		web_conn_enter(web, conn, WEB_CHECKING);
		if (conn->phase == WEB_CHECKING)
			web->mhd.suspend_connection(handle);
		return MHD_YES;
	}
	if (verdict != WEBAUTH_YES)
		return refuse(web, conn, handle, verdict == WEBAUTH_NO ? 401 : 429);
	wanted.path = path_of(url);
	wanted.format = negotiate_format(header(web, handle, MHD_HTTP_HEADER_ACCEPT));
	body = web_body_get(web, &wanted);
	return body ? queue(web, conn, handle, body) : MHD_NO;
}

enum MHD_Result web_request_handle(void *userdata, struct MHD_Connection *handle, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request)
{
	struct web *web = userdata;
	struct web_conn *conn = web_conn_of(web, handle);
	enum MHD_Result r;
	unsigned int status;
	uint64_t began_ns;

	(void)version;
	(void)upload;
	/* One that was closed while its password was checked would wait for an answer for ever. */
	if (!conn || conn->phase == WEB_CLOSING)
		return MHD_NO;
	/* First it calls when the headers are there: an answer then means that what follows is not
	 * read, and costs the connection. */
	if (!*request) {
		*request = conn;
		status = objection(web, handle, method);
		return status ? refuse(web, conn, handle, status) : MHD_YES;
	}
	if (*upload_size)
		return MHD_NO;
	began_ns = web_tls_begin_page(&web->tls);
	r = answer(web, conn, handle, url);
	web_tls_end_page(&web->tls, began_ns);
	return r;
}

void *web_request_begin(void *userdata, const char *uri, struct MHD_Connection *handle)
{
	struct web *web = userdata;
	struct web_conn *conn = web_conn_of(web, handle);

	(void)uri;
	if (conn && conn->phase == WEB_IDLE)
		web_conn_enter(web, conn, WEB_RECEIVING);
	return NULL;
}

void web_request_end(void *userdata, struct MHD_Connection *handle, void **request,
		     enum MHD_RequestTerminationCode code)
{
	struct web *web = userdata;
	struct web_conn *conn = web_conn_of(web, handle);
	char byte;

	(void)request;
	(void)code;
	if (!conn)
		return;
	web_conn_release_body(web, conn);
	web_conn_enter(web, conn, WEB_IDLE);
	/* The library hears of an end that came along with the request only once, and then it was
	 * reading the request. */
	if (recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		web_conn_close(web, conn);
}
