// SPDX-License-Identifier: Apache-2.0
/* Loads libmicrohttpd; makes, keeps and compresses the bodies of its responses. */
#include "io/http/mhd.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* With this defined zlib declares its input const. */
#define ZLIB_CONST
#include <zlib.h>

#include "io/files/library.h"

static const struct dynlib_function functions[] = {
#define MHD_ENTRY(name) {"MHD_" #name, offsetof(struct mhd, name)},
	MHD_FUNCTIONS(MHD_ENTRY)
#undef MHD_ENTRY
};

int mhd_load(struct mhd *ret, const char **ret_error)
{
	return dynlib_load(DYNLIB_MHD, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}

#define COUNTED_BYTES 4096
#define GZIP_BYTES    1024
#define GZIP_HEADER   16 /* added to a window size: the format of gzip, not zlib's own */

/* The response takes data over in any case. */
static struct MHD_Response *make_response(const struct web_bodies *bodies,
					  const struct web_body *body, void *data, size_t len,
					  bool gzip)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, body->type},
		{MHD_HTTP_HEADER_CONTENT_ENCODING, gzip ? "gzip" : NULL},
		{MHD_HTTP_HEADER_LOCATION, body->location},
		{"Content-Security-Policy", body->policy},
		{MHD_HTTP_HEADER_ALLOW, body->status == 405 ? "GET, HEAD" : NULL},
		{MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		 body->status == 401 ? "Basic realm=\"graced\"" : NULL},
		{MHD_HTTP_HEADER_RETRY_AFTER, body->status == 429 ? "1" : NULL},
		{MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding"},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"X-Content-Type-Options", "nosniff"},
	};
	struct MHD_Response *response;

	response = bodies->mhd->create_response_from_buffer(len, data, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(data);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (!headers[i].value)
			continue;
		if (bodies->mhd->add_response_header(response, headers[i].name, headers[i].value) ==
		    MHD_YES)
			continue;
		bodies->mhd->destroy_response(response);
		return NULL;
	}
	return response;
}

void web_body_settle(struct web_bodies *bodies, struct web_body *body)
{
	if (body->kept)
		return;
	/* Those who are being sent one of them hold it themselves. */
	if (body->plain)
		bodies->mhd->destroy_response(body->plain);
	if (body->gzip)
		bodies->mhd->destroy_response(body->gzip);
	body->plain = body->gzip = NULL;
	if (body->readers)
		return;
	if (body->counted)
		bodies->n_counted--;
	TAILQ_REMOVE(&bodies->list, body, link);
	free(body);
}

static void forget(struct web_bodies *bodies, struct web_body *body)
{
	body->kept = false;
	web_body_settle(bodies, body);
}

/* Its memory comes back when the library has seen its readers gone, in its next run; it counts no
 * longer, so that one reader's leaving is not waited for twice. */
static void give_up(struct web_bodies *bodies, struct web_body *body)
{
	bodies->evict(bodies->web, body);
	body->counted = false;
	bodies->n_counted--;
	forget(bodies, body);
}

static void make_room(struct web_bodies *bodies)
{
	struct web_body *next;

	for (struct web_body *body = TAILQ_FIRST(&bodies->list); body; body = next) {
		if (bodies->n_counted < bodies->max)
			return;
		next = TAILQ_NEXT(body, link);
		if (body->counted)
			give_up(bodies, body);
	}
}

uint64_t web_body_expire(struct web_bodies *bodies, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;
	struct web_body *next;

	for (struct web_body *body = TAILQ_FIRST(&bodies->list); body; body = next) {
		next = TAILQ_NEXT(body, link);
		if (!body->kept)
			continue;
		if (body->until_ns <= now_ns)
			forget(bodies, body);
		else if (body->until_ns < next_ns)
			next_ns = body->until_ns;
	}
	return next_ns;
}

void web_body_drop_all(struct web_bodies *bodies)
{
	web_body_expire(bodies, UINT64_MAX);
}

/* Takes the text over in any case. */
static struct web_body *make_body(struct web_bodies *bodies, const struct web_reply *reply)
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
	body->policy = reply->policy;
	body->data = data;
	body->len = len;
	body->plain = make_response(bodies, body, data, len, false);
	if (!body->plain) {
		free(body);
		return NULL;
	}
	body->counted = len > COUNTED_BYTES;
	if (body->counted) {
		make_room(bodies);
		bodies->n_counted++;
	}
	TAILQ_INSERT_TAIL(&bodies->list, body, link);
	return body;
}

struct web_body *web_body_refusal(struct web_bodies *bodies, unsigned int status)
{
	struct web_reply reply = {.status = status, .type = "text/plain; charset=utf-8"};
	const char *text =
		status == 405	? "Only GET and HEAD are understood here.\n"
		: status == 401 ? "A user and the right password are wanted here.\n"
		: status == 429 ? "Too many passwords are to be checked, ask again later.\n"
		: status == 413 ? "A request must not have a body here.\n"
		: status == 400 ? "The request is malformed.\n"
		: status == 421 ? "The name of the host in the request is not one of graced's: "
				  "use an address, or add the name to web.hosts.\n"
				: "This page could not be made.\n";

	buf_adds(&reply.body, text);
	return make_body(bodies, &reply);
}

static struct web_body *find_kept(struct web_bodies *bodies, const struct web_request *request,
				  uint64_t now_ns)
{
	struct web_body *body;

	TAILQ_FOREACH_REVERSE(body, &bodies->list, web_body_list, link)
	if (body->kept && body->until_ns > now_ns && body->format == request->format &&
	    strcmp(body->path, request->path) == 0)
		return body;
	return NULL;
}

static void keep(struct web_body *body, const struct web_request *request, uint32_t keep_ms,
		 uint64_t now_ns)
{
	size_t len = strlen(request->path);

	if (keep_ms == 0 || len >= sizeof(body->path))
		return;
	memcpy(body->path, request->path, len + 1);
	body->format = request->format;
	body->until_ns = now_ns + keep_ms * UINT64_C(1000000);
	body->kept = true;
}

struct web_body *web_body_get(struct web_bodies *bodies, const struct web_request *request,
			      uint64_t now_ns)
{
	struct web_body *body = find_kept(bodies, request, now_ns);
	struct web_reply reply = {};

	if (body)
		return body;
	bodies->rendered++;
	bodies->fn(bodies->userdata, request, &reply);
	if (buf_error(&reply.body) || reply.status < 200 || reply.status > 599) {
		buf_free(&reply.body);
		return web_body_refusal(bodies, 500);
	}
	body = make_body(bodies, &reply);
	if (body)
		keep(body, request, reply.keep_ms, now_ns);
	return body;
}

static void cleanup_deflate(z_stream *stream)
{
	deflateEnd(stream);
}

/* *ret_len bytes that the caller frees; -ENOMEM, or -E2BIG when they are not fewer. */
static int gzip_whole(const void *data, size_t len, void **ret, size_t *ret_len)
{
	_cleanup_(cleanup_free) void *out = NULL;
	void *shrunk;
	size_t room, size;

	if (len > UINT_MAX / 2)
		return -E2BIG;

	/* Metrics shrink to a tenth at the lowest level; higher ones hold the loop up for longer. */
	_cleanup_(cleanup_deflate) z_stream stream = {};
	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, len);
	out = malloc(room);
	if (!out)
		return -ENOMEM;
	stream.next_in = data;
	stream.avail_in = (uInt)len;
	stream.next_out = out;
	stream.avail_out = (uInt)room;
	if (deflate(&stream, Z_FINISH) != Z_STREAM_END || stream.total_out >= len)
		return -E2BIG;

	size = stream.total_out;
	shrunk = realloc(out, size);
	if (shrunk)
		out = shrunk;
	*ret = TAKE_PTR(out);
	*ret_len = size;
	return 0;
}

struct MHD_Response *web_body_response(struct web_bodies *bodies, struct web_body *body, bool gzip)
{
	void *data;
	size_t len;

	if (!gzip || body->len <= GZIP_BYTES)
		return body->plain;
	if (!body->tried_gzip) {
		body->tried_gzip = true;
		if (gzip_whole(body->data, body->len, &data, &len) == 0)
			body->gzip = make_response(bodies, body, data, len, true);
	}
	return body->gzip ? body->gzip : body->plain;
}
