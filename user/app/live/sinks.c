// SPDX-License-Identifier: Apache-2.0
/* Filters records, encodes them and counts the rows. */
#include "app/live/sinks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "wire/json/record.h"
#include "wire/text/table.h"

struct sinks {
	struct sinks_config config;
	struct out *out;
	struct buf text; /* scratch */
	uint64_t rows;
	bool failed;
};

int sinks_new(const struct sinks_config *config, struct out *out, struct sinks **ret)
{
	struct sinks *sinks = calloc(1, sizeof(*sinks));

	if (!sinks)
		return -ENOMEM;
	sinks->config = *config;
	sinks->out = out;
	*ret = sinks;
	return 0;
}

struct sinks *sinks_free(struct sinks *sinks)
{
	if (sinks)
		buf_free(&sinks->text);
	free(sinks);
	return NULL;
}

/* What --count counts: something happened to a container, told for the first time. */
static bool is_row(const struct record *record)
{
	return record->type == RECORD_SIGNAL || record->type == RECORD_STOP ||
	       record->type == RECORD_OOM;
}

static void encode(struct sinks *sinks, const struct record *record)
{
	buf_reset(&sinks->text);
	if (sinks->config.json)
		record_json(&sinks->text, record);
	else if (record->type == RECORD_ATTACHED)
		table_header(&sinks->text, sinks->config.colour);
	else
		table_row(&sinks->text, record, sinks->config.colour);
}

void sinks_record(struct sinks *sinks, const struct record *record)
{
	if (sinks_full(sinks) || !filter_matches(sinks->config.filter, record))
		return;
	encode(sinks, record);
	if (!sinks->text.len)
		return;
	sinks->rows += is_row(record);
	if (out_add(sinks->out, buf_str(&sinks->text), sinks->text.len) < 0)
		sinks->failed = true;
}

bool sinks_full(const struct sinks *sinks)
{
	return sinks->failed || (sinks->config.count && sinks->rows >= sinks->config.count);
}

struct out *sinks_out(const struct sinks *sinks)
{
	return sinks->out;
}
