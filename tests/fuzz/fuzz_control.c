// SPDX-License-Identifier: Apache-2.0
/* Any bytes as each line of the control socket: refused with a sentence, or read; a pod that was
 * read is written again as the same pod, in one line. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/json/control.h"
#include "wire/json/pods.h"
#include "wire/text/pods.h"

static void check_why(int r, const struct control_why *why)
{
	size_t len = strnlen(why->text, sizeof(why->text));

	assert(r == -EBADMSG || r == -EPROTONOSUPPORT || r == -EOPNOTSUPP || r == -EREMOTEIO);
	assert(len < sizeof(why->text) && (len > 0 || r == -EREMOTEIO));
}

static void check_request(const char *line, size_t size)
{
	struct control_request request = {.command = CONTROL_COMMAND_COUNT};
	struct control_why why;
	int r = control_read_request(line, size, &request, &why);

	if (r < 0)
		check_why(r, &why);
	assert((r == 0) == (request.command < CONTROL_COMMAND_COUNT));
}

static void check_head(const char *line, size_t size)
{
	struct control_why why;
	uint64_t lines;
	int r = control_read_head(line, size, &lines, &why);

	if (r < 0)
		check_why(r, &why);
	else
		assert(lines <= INT64_MAX);
}

static void check_row(const struct podview *record)
{
	_cleanup_(buf_free) struct buf row = {};
	_cleanup_(grid_done) struct grid grid = {};

	grid_init(&grid, &pods_table, &(struct grid_view){.no_titles = true});
	grid_add(&grid, record);
	assert(grid_flush(&grid, &row) == 0);
	assert(memchr(row.data, '\n', row.len) == row.data + row.len - 1);
}

static void check_pod(const char *line, size_t size)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf written = {};
	struct podview record, again;
	int r = pods_json_read(line, size, &arena, &record);

	assert(r == 0 || r == -EBADMSG || r == -ENOMEM);
	if (r < 0)
		return;
	check_row(&record);
	assert(pods_json(&written, &record) == 0);
	assert(memchr(written.data, '\n', written.len) == written.data + written.len - 1);
	assert(pods_json_read(written.data, written.len - 1, &arena, &again) == 0);
	assert(strcmp(record.uid, again.uid) == 0);
	assert(record.stage == again.stage || record.gone);
	assert(record.desired_known == again.desired_known);
	assert(podview_order(&record, &again) == 0 || record.gone);
}

static void check_follow(const char *line, size_t size)
{
	_cleanup_(buf_free) struct buf written = {};
	struct control_follow follow, again;
	struct control_why why = {};
	int r;

	r = control_read_follow(line, size, &follow, &why);
	if (r < 0) {
		check_why(r, &why);
		return;
	}
	control_add_follow(&written, &follow);
	assert(control_read_follow(written.data, written.len, &again, &why) == 0);
	assert(strcmp(follow.terms, again.terms) == 0 && follow.pods == again.pods);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_request((const char *)data, size);
	check_head((const char *)data, size);
	check_follow((const char *)data, size);
	check_pod((const char *)data, size);
	return 0;
}
