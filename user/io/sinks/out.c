// SPDX-License-Identifier: Apache-2.0
#include "io/sinks/out.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "io/proc/clock.h"
#include "io/sinks/end.h"

#define MS_NS 1000000ULL

/* Above this much the caller is asked to pause; it may still add what it has begun. */
#define BEHIND_BYTES (1u << 20)

/* Without a reader to wait for, a bigger write is a cheaper one. */
#define BATCH_BYTES (64u << 10)

struct out {
	struct end end;
	struct buf buf;
	size_t done; /* bytes of buf that are out */
	int error;
};

int out_new(int fd, bool owned, bool live, struct out **ret)
{
	struct out *out = calloc(1, sizeof(*out));
	int r;

	if (!out)
		return -ENOMEM;
	r = end_open(fd, owned, live, &out->end);
	if (r < 0) {
		free(out);
		return r;
	}
	*ret = out;
	return 0;
}

struct out *out_free(struct out *out)
{
	if (!out)
		return NULL;
	end_close(&out->end);
	buf_free(&out->buf);
	free(out);
	return NULL;
}

static void fail_out(struct out *out, int error)
{
	size_t partial = 0;

	while (partial < out->done && out->buf.data[out->done - partial - 1] != '\n')
		partial++;
	end_cut(&out->end, partial);
	out->error = error;
}

int out_flush(struct out *out)
{
	if (out->error)
		return out->error;
	while (out->done < out->buf.len) {
		ssize_t n =
			end_write(&out->end, out->buf.data + out->done, out->buf.len - out->done);

		if (n == -EAGAIN)
			return 1;
		if (n < 0) {
			fail_out(out, (int)n);
			return out->error;
		}
		out->done += (size_t)n;
	}
	/* What a burst took is not held for the next one. */
	if (out->buf.room > 2 * BATCH_BYTES)
		buf_free(&out->buf);
	else
		buf_reset(&out->buf);
	out->done = 0;
	return 0;
}

int out_finish(struct out *out, int timeout_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * MS_NS;
	struct pollfd p = {.fd = out->end.fd, .events = POLLOUT};
	int r;

	while ((r = out_flush(out)) > 0) {
		int left_ms = clock_left_ms(until_ns), n = poll(&p, 1, left_ms);

		if (n == 0 || !left_ms)
			return 1;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return r;
}

/* Keeps the memory in proportion to what is still waiting. */
static void drop_done(struct out *out)
{
	size_t left = out->buf.len - out->done;

	if (out->done < BEHIND_BYTES)
		return;
	memmove(out->buf.data, out->buf.data + out->done, left);
	buf_truncate(&out->buf, left);
	out->done = 0;
}

int out_add(struct out *out, const char *data, size_t size)
{
	if (out->error)
		return out->error;
	drop_done(out);
	buf_add(&out->buf, data, size);
	if (buf_error(&out->buf)) {
		out->error = buf_error(&out->buf);
		return out->error;
	}
	if (!out->end.live && out->buf.len >= BATCH_BYTES)
		return out_flush(out);
	return 0;
}

bool out_is_behind(const struct out *out)
{
	return !out->error && out->buf.len - out->done >= BEHIND_BYTES;
}

int out_fd(const struct out *out)
{
	return out->end.fd;
}
