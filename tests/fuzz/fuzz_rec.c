// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a recording: each line is refused, or is an observation that its own line gives back
 * bit by bit. */
#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/recording/recording.h"

static void check_line(const char *line, size_t len)
{
	static struct obs first, again;
	_cleanup_(buf_free) struct buf own = {};
	_cleanup_(buf_free) struct buf same = {};

	memset(&first, 0, sizeof(first));
	memset(&again, 0, sizeof(again));
	if (rec_read_line(line, len, &first) < 0)
		return;

	assert(rec_write_obs(&own, &first) == 0);
	assert(own.len <= REC_LINE_MAX);
	assert(rec_read_line(own.data, own.len, &again) == 0);
	assert(memcmp(&first, &again, sizeof(first)) == 0);
	assert(rec_write_obs(&same, &again) == 0);
	assert(strcmp(buf_str(&own), buf_str(&same)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	if (size == 0)
		return 0;
	rec_read_header(at, size);
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *next = newline ? newline + 1 : end;

		check_line(at, (size_t)(next - at));
		at = next;
	}
	return 0;
}
