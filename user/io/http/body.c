// SPDX-License-Identifier: Apache-2.0
/*
 * The bodies: made once for all who ask within keep_ms, compressed once, and counted while anybody
 * is still reading them, so that slow readers cannot pile them up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/http/priv.h"

#define COUNTED_BYTES 4096
#define GZIP_BYTES    1024

/* The response takes data over in any case. */
static struct MHD_Response *make_response(const struct web *web, const struct web_body *body,
					  void *data, size_t len, bool gzip)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, body->type},
		{MHD_HTTP_HEADER_CONTENT_ENCODING, gzip ? "gzip" : NULL},
		{MHD_HTTP_HEADER_LOCATION, body->location},
		{MHD_HTTP_HEADER_ALLOW, body->status == 405 ? "GET, HEAD" : NULL},
		{MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		 body->status == 401 ? "Basic realm=\"graced\"" : NULL},
		{MHD_HTTP_HEADER_RETRY_AFTER, body->status == 429 ? "1" : NULL},
		{MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding"},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"X-Content-Type-Options", "nosniff"},
	};
	struct MHD_Response *response;

	response = web->mhd.create_response_from_buffer(len, data, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(data);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (!headers[i].value)
			continue;
		if (web->mhd.add_response_header(response, headers[i].name, headers[i].value) ==
		    MHD_YES)
			continue;
		web->mhd.destroy_response(response);
		return NULL;
	}
	return response;
}

static void unlink_body(struct web *web, struct web_body *body)
{
	if (body->prev)
		body->prev->next = body->next;
	else
		web->first_body = body->next;
	if (body->next)
		body->next->prev = body->prev;
	else
		web->last_body = body->prev;
}

static void append_body(struct web *web, struct web_body *body)
{
	body->prev = web->last_body;
	if (body->prev)
		body->prev->next = body;
	else
		web->first_body = body;
	web->last_body = body;
}

void web_body_settle(struct web *web, struct web_body *body)
{
	if (body->kept)
		return;
	/* Those who are being sent one of them hold it themselves. */
	if (body->plain)
		web->mhd.destroy_response(body->plain);
	if (body->gzip)
		web->mhd.destroy_response(body->gzip);
	body->plain = body->gzip = NULL;
	if (body->readers)
		return;
	if (body->counted)
		web->stats.bodies--;
	unlink_body(web, body);
	free(body);
}

static void forget(struct web *web, struct web_body *body)
{
	body->kept = false;
	web_body_settle(web, body);
}

/* Its memory comes back when the library has seen its readers gone, in its next run; it counts no
 * longer, so that one reader's leaving is not waited for twice. */
static void give_up(struct web *web, struct web_body *body)
{
	struct web_conn *next;

	for (struct web_conn *conn = web->phases[WEB_SENDING].first; conn; conn = next) {
		next = conn->next;
		if (conn->body != body)
			continue;
		web->stats.evicted++;
		web_conn_close(web, conn);
	}
	body->counted = false;
	web->stats.bodies--;
	forget(web, body);
}

static void make_room(struct web *web)
{
	struct web_body *next;

	for (struct web_body *body = web->first_body; body; body = next) {
		if (web->stats.bodies < web->config.max_bodies)
			return;
		next = body->next;
		if (body->counted)
			give_up(web, body);
	}
}

uint64_t web_body_expire(struct web *web, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;
	struct web_body *next;

	for (struct web_body *body = web->first_body; body; body = next) {
		next = body->next;
		if (!body->kept)
			continue;
		if (body->until_ns <= now_ns)
			forget(web, body);
		else if (body->until_ns < next_ns)
			next_ns = body->until_ns;
	}
	return next_ns;
}

void web_body_drop_all(struct web *web)
{
	web_body_expire(web, UINT64_MAX);
}

/* Takes the text over in any case. */
static struct web_body *make_body(struct web *web, const struct web_reply *reply)
{
	struct web_body *body = calloc(1, sizeof(*body));
	size_t len = reply->body.len;
	char *data = reply->body.data, *shrunk;

	if (!body) {
		free(data);
		return NULL;
	}
	/* The room that doubling left over would be held for as long as a slow reader. */
	shrunk = len ? realloc(data, len) : NULL;
	if (shrunk)
		data = shrunk;
	body->status = reply->status;
	body->type = reply->type;
	body->location = reply->location;
	body->data = data;
	body->len = len;
	body->plain = make_response(web, body, data, len, false);
	if (!body->plain) {
		free(body);
		return NULL;
	}
	body->counted = len > COUNTED_BYTES;
	if (body->counted) {
		make_room(web);
		web->stats.bodies++;
	}
	append_body(web, body);
	return body;
}

struct web_body *web_body_refusal(struct web *web, unsigned int status)
{
	struct web_reply reply = {.status = status, .type = "text/plain; charset=utf-8"};
	const char *text = status == 405   ? "Only GET and HEAD are understood here.\n"
			   : status == 401 ? "A user and the right password are wanted here.\n"
			   : status == 429
				   ? "Too many passwords are to be checked, ask again later.\n"
			   : status == 413 ? "A request must not have a body here.\n"
					   : "This page could not be made.\n";

	buf_adds(&reply.body, text);
	return make_body(web, &reply);
}

static struct web_body *find_kept(struct web *web, const struct web_request *request)
{
	uint64_t now_ns = web_now(web);

	for (struct web_body *body = web->last_body; body; body = body->prev)
		if (body->kept && body->until_ns > now_ns && body->format == request->format &&
		    strcmp(body->path, request->path) == 0)
			return body;
	return NULL;
}

static void keep(struct web *web, struct web_body *body, const struct web_request *request,
		 uint32_t keep_ms)
{
	size_t len = strlen(request->path);

	if (keep_ms == 0 || len >= sizeof(body->path))
		return;
	memcpy(body->path, request->path, len + 1);
	body->format = request->format;
	body->until_ns = web_now(web) + keep_ms * UINT64_C(1000000);
	body->kept = true;
}

struct web_body *web_body_get(struct web *web, const struct web_request *request)
{
	struct web_body *body = find_kept(web, request);
	struct web_reply reply = {};

	if (body)
		return body;
	web->stats.rendered++;
	web->fn(web->userdata, request, &reply);
	if (buf_error(&reply.body) || reply.status < 200 || reply.status > 599) {
		buf_free(&reply.body);
		return web_body_refusal(web, 500);
	}
	body = make_body(web, &reply);
	if (body)
		keep(web, body, request, reply.keep_ms);
	return body;
}

struct MHD_Response *web_body_response(struct web *web, struct web_body *body, bool gzip)
{
	void *data;
	size_t len;

	if (!gzip || body->len <= GZIP_BYTES)
		return body->plain;
	if (!body->tried_gzip) {
		body->tried_gzip = true;
		if (web_gzip(body->data, body->len, &data, &len) == 0)
			body->gzip = make_response(web, body, data, len, true);
	}
	return body->gzip ? body->gzip : body->plain;
}
