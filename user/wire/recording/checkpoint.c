// SPDX-License-Identifier: Apache-2.0
/* Writes a checkpoint's lines, and reads those that hold together. */
#include "wire/recording/checkpoint.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "wire/recording/recording.h"

#define HEAD	"graced-checkpoint "
#define HEAD_1	HEAD "1 "
#define BOOT_ID 36

_Static_assert(KEEP_VERSION == 1, "HEAD_1 says so");

void keep_add_header(struct buf *out, const char *boot_id, const char *graced_version)
{
	buf_printf(out, HEAD_1 "%s %s\n", boot_id, graced_version);
}

void keep_add_obs(struct buf *out, const struct obs *obs)
{
	size_t before = out->len;

	buf_adds(out, "o ");
	if (rec_write_obs(out, obs) < 0)
		buf_truncate(out, before);
}

void keep_add_record(struct buf *out, const char *line, size_t size)
{
	size_t before = out->len;

	buf_adds(out, "t ");
	buf_add(out, line, size);
	if (buf_error(out))
		buf_truncate(out, before);
}

void keep_add_out(struct buf *out)
{
	buf_adds(out, "f\n");
}

void keep_add_end(struct buf *out)
{
	buf_adds(out, ".\n");
}

struct reading {
	keep_obs_fn fn;
	void *userdata;
	struct buf *records;
	size_t records_before; /* what was in it */
	struct keep_counts counts;
	struct obs obs;
};

/* Behind the last end of an addition; 0: there is none. */
static size_t find_end(const char *data, size_t size)
{
	while (size >= 3) {
		const char *newline = memrchr(data, '\n', size);

		if (!newline || newline - data < 2)
			return 0;
		if (newline[-1] == '.' && newline[-2] == '\n')
			return (size_t)(newline - data) + 1;
		size = (size_t)(newline - data);
	}
	return 0;
}

static int check_header(const char *data, size_t size, const char *boot_id)
{
	const char *newline = memchr(data, '\n', size);
	size_t len = newline ? (size_t)(newline - data) : size;

	if (size == 0)
		return -ENODATA;
	if (len < strlen(HEAD) || memcmp(data, HEAD, strlen(HEAD)) != 0)
		return -ENOMSG;
	if (len < strlen(HEAD_1) || memcmp(data, HEAD_1, strlen(HEAD_1)) != 0)
		return -EPROTONOSUPPORT;
	if (len < strlen(HEAD_1) + BOOT_ID || strlen(boot_id) != BOOT_ID ||
	    memcmp(data + strlen(HEAD_1), boot_id, BOOT_ID) != 0)
		return -ESTALE;
	return 0;
}

static void take_obs(struct reading *r, const char *line, size_t len)
{
	memset(&r->obs, 0, sizeof(r->obs));
	if (rec_read_line(line, len, &r->obs) < 0) {
		r->counts.damaged++;
		return;
	}
	r->counts.observations++;
	r->fn(r->userdata, &r->obs);
}

/* It goes to readers of records as it is: it has to look like one. */
static bool is_record(const char *line, size_t len)
{
	if (len < 2 || line[0] != '{' || line[len - 1] != '}')
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ')
			return false;
	return true;
}

static void take_record(struct reading *r, const char *line, size_t len)
{
	if (!is_record(line, len)) {
		r->counts.damaged++;
		return;
	}
	buf_add(r->records, line, len);
	buf_addc(r->records, '\n');
	r->counts.repeated++;
}

static void take_line(struct reading *r, const char *line, size_t len)
{
	if (len > 2 && line[0] == 'o' && line[1] == ' ') {
		take_obs(r, line + 2, len - 2);
	} else if (len > 2 && line[0] == 't' && line[1] == ' ') {
		take_record(r, line + 2, len - 2);
	} else if (len == 1 && line[0] == 'f') {
		buf_truncate(r->records, r->records_before);
		r->counts.repeated = 0;
	} else if (len != 1 || line[0] != '.') {
		r->counts.damaged++;
	}
}

int keep_read(const char *data, size_t size, const char *boot_id, keep_obs_fn fn, void *userdata,
	      struct buf *ret_records, struct keep_counts *ret)
{
	struct reading r = {.fn = fn,
			    .userdata = userdata,
			    .records = ret_records,
			    .records_before = ret_records->len};
	int error = check_header(data, size, boot_id);
	const char *at, *end, *newline;

	if (error < 0)
		return error;
	end = data + find_end(data, size);
	at = end > data ? (const char *)memchr(data, '\n', size) + 1 : end;
	for (; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		take_line(&r, at, (size_t)(newline - at));
	}
	r.counts.torn = size - (size_t)(end - data);
	*ret = r.counts;
	return buf_error(ret_records);
}
