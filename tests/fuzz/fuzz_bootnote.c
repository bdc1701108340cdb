// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the note of a boot: refused, or judged, shown, and written again as the same. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/json/record.h"
#include "wire/prometheus/metrics.h"
#include "wire/recording/boot_note.h"
#include "wire/text/journal.h"

static void show(const struct bootnote *note)
{
	_cleanup_(buf_free) struct buf json = {}, entry = {}, page = {};
	struct record record;
	struct expo expo;

	bootlog_record(&note->boot, &record);
	assert(record_json(&json, &record) == 0);
	assert(strchr(buf_str(&json), '\n') == json.data + json.len - 1);
	assert(journal_write(&entry, &record, &json) == 0);
	expo_begin(&expo, &page, EXPO_TEXT);
	metrics_boot_write(&expo, &(struct metrics_boot){true, note->unclean, &note->boot});
	assert(expo_end(&expo) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_free) struct buf out = {}, twice = {};
	struct bootnote note = {}, again = {};
	int r = bootnote_read((const char *)data, size, &note);

	assert(r == 0 || r == -EBADMSG || r == -EPROTONOSUPPORT || r == -EFBIG || r == -ENOMEM);
	if (r == 0) {
		show(&note);
		assert(bootnote_write(&out, &note) == 0);
		assert(bootnote_read(out.data, out.len, &again) == 0);
		assert(bootnote_write(&twice, &again) == 0);
		assert(strcmp(buf_str(&out), buf_str(&twice)) == 0);
	}
	bootnote_done(&note);
	bootnote_done(&again);
	return 0;
}
