// SPDX-License-Identifier: Apache-2.0
/* Any bytes as what a daemon left: refused, or fed to an engine; the records to repeat are
 * lines that look like records. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/engine/engine.h"
#include "fuzz/fuzz.h"
#include "wire/recording/checkpoint.h"

#define BOOT "955c3660-4947-4219-8e21-46199c513870"

struct feeding {
	struct engine *engine;
	uint64_t n;
};

static void on_effect(void *userdata, const struct effect *effect)
{
}

static void feed(void *userdata, const struct obs *obs)
{
	struct feeding *f = userdata;

	f->n++;
	engine_step(f->engine, obs, on_effect, NULL);
}

static void check_records(const struct buf *records, const struct keep_counts *counts)
{
	const char *at = buf_str(records), *end = at + records->len, *newline;
	uint64_t lines = 0;

	for (; at < end; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		assert(newline && newline > at + 1 && at[0] == '{' && newline[-1] == '}');
		lines++;
	}
	assert(lines == counts->repeated);
}

static void add_obs(void *userdata, const struct obs *obs)
{
	keep_add_obs(userdata, obs);
}

/* What the engine then keeps is read without a doubt. */
static void check_again(struct feeding *f)
{
	_cleanup_(buf_free) struct buf again = {}, records = {};
	struct keep_counts counts;

	keep_add_header(&again, BOOT, "0");
	engine_keep(f->engine, true, add_obs, &again);
	keep_add_end(&again);
	assert(keep_read(buf_str(&again), again.len, BOOT, feed, f, &records, &counts) == 0);
	assert(counts.damaged == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct engine_config config = {.scope = SCOPE_ALL};
	_cleanup_(buf_free) struct buf records = {};
	struct keep_counts counts = {};
	struct feeding f = {};
	int r;

	if (engine_new(&config, &f.engine) < 0)
		return 0;
	r = keep_read((const char *)data, size, BOOT, feed, &f, &records, &counts);
	assert(r == 0 || r == -ENODATA || r == -ENOMSG || r == -EPROTONOSUPPORT || r == -ESTALE);
	assert(r == 0 || (f.n == 0 && records.len == 0));
	assert(f.n == counts.observations);
	check_records(&records, &counts);
	check_again(&f);
	engine_free(f.engine);
	return 0;
}
