// SPDX-License-Identifier: Apache-2.0
/* Any lines as records: what they are read as makes an account that every format can write, with
 * JSON that is JSON; and each stop has a story. */
#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/account/account.h"
#include "wire/json/record.h"
#include "wire/json/why.h"
#include "wire/text/why.h"

static void check_json(int (*write)(struct buf *out, const struct account *account),
		       const struct account *account)
{
	_cleanup_(buf_free) struct buf out = {};
	const char *at, *end;

	assert(write(&out, account) == 0);
	for (at = buf_str(&out); *at; at = end + 1) {
		json_t *json;

		end = strchr(at, '\n');
		assert(end);
		json = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
		assert(json);
		json_decref(json);
	}
}

static void check_story(const char *line, size_t len)
{
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	const struct grid_view view = {.width = 80};
	struct story story;
	struct record record;

	if (record_read(line, len, RECORDS_STOPS, &arena, &record) < 0 ||
	    record.type != RECORD_STOP)
		return;
	story_of_stop(&story, &record);
	assert(why_story(&out, &story, &view) == 0);
	assert(why_line(&out, &record, 0, &view) == 0);
	assert(why_json(&out, &story) == 0);
	story_done(&story);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct account_query all = {};
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf table = {}, svg = {};
	struct account_log log = {.arena = &arena};
	const char *at = (const char *)data, *end = at + size;
	struct account account;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);

		account_read(&log, &all, at, n, NULL);
		check_story(at, n);
		at += n + 1;
	}
	assert(account_build(&log, &all, &account) == 0);
	assert(account_table(&table, &account, &(struct grid_view){.width = 80, .colour = true}) ==
	       0);
	assert(account_svg(&svg, &account) == 0);
	check_json(account_json, &account);
	check_json(account_trace_event, &account);
	check_json(account_otlp, &account);
	return 0;
}
