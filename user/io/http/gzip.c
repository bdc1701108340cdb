// SPDX-License-Identifier: Apache-2.0
/* Compresses a body in one go. */
#include <errno.h>
#include <limits.h>

/* Input is const where zlib is told that it may be. */
#define ZLIB_CONST
#include <zlib.h>

#include "io/http/priv.h"

#define GZIP_HEADER 16 /* added to a window size: the format of gzip, not zlib's own */

static void cleanup_deflate(z_stream *stream)
{
	deflateEnd(stream);
}

int web_gzip(const void *data, size_t len, void **ret, size_t *ret_len)
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
