// SPDX-License-Identifier: Apache-2.0
/* What columns write of texts, words, numbers, durations and times. */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "base/utf8.h"
#include "wire/text/grid.h"

#define SHORT_ID 12

void grid_text(struct grid_cell *cell, const char *text)
{
	if (text)
		utf8_add_visible(cell->text, text, strlen(text));
}

void grid_add_text(struct grid_cell *cell, const void *value)
{
	grid_text(cell, *(const char *const *)value);
}

void grid_add_id(struct grid_cell *cell, const void *value)
{
	const char *id = *(const char *const *)value;

	if (id)
		utf8_add_visible(cell->text, id, strnlen(id, SHORT_ID));
}

void grid_add_word(struct grid_cell *cell, const void *value)
{
	grid_text(cell, cell->column->word(*(const unsigned int *)value));
}

void grid_add_number(struct grid_cell *cell, const void *value)
{
	uint32_t number = *(const uint32_t *)value;

	if (!number)
		return;
	buf_add_u64(cell->text, number);
	cell->key = number;
}

void grid_add_duration(struct grid_cell *cell, const void *value)
{
	uint64_t ns = *(const uint64_t *)value;
	char text[DURATION_SIZE];

	if (!ns)
		return;
	if (ns % NS_PER_S == 0 && ns < 100ull * NS_PER_S)
		buf_printf(cell->text, "%us", (unsigned int)(ns / NS_PER_S));
	else
		buf_adds(cell->text, duration_format(ns, text));
	cell->key = (int64_t)(ns & INT64_MAX);
}

static int64_t zone_of(const struct grid_view *view, int64_t wall_ns)
{
	return view->zone ? view->zone(wall_ns / NS_PER_S) : 0;
}

static void format_local(const struct grid_cell *cell, int64_t wall_ns,
			 char ret[static RFC3339_SIZE])
{
	int64_t local_ns;

	if (__builtin_add_overflow(wall_ns, zone_of(cell->view, wall_ns) * NS_PER_S, &local_ns))
		local_ns = wall_ns;
	rfc3339_format(local_ns, ret);
}

void grid_add_time(struct grid_cell *cell, const void *value)
{
	int64_t wall_ns = *(const int64_t *)value;
	int64_t zone_s = zone_of(cell->view, wall_ns), minutes = llabs(zone_s) / 60;
	char text[RFC3339_SIZE];

	format_local(cell, wall_ns, text);
	buf_add(cell->text, text + strlen("2026-11-21T"), strlen("15:04:05.123"));
	if (zone_s == 0)
		buf_addc(cell->text, 'Z');
	else
		buf_printf(cell->text, "%c%02u", zone_s < 0 ? '-' : '+',
			   (unsigned int)(minutes / 60));
	if (minutes % 60)
		buf_printf(cell->text, "%02u", (unsigned int)(minutes % 60));
	cell->key = wall_ns;
}

void grid_add_day(struct grid_cell *cell, const void *value)
{
	int64_t wall_ns = *(const int64_t *)value;
	char text[RFC3339_SIZE];

	format_local(cell, wall_ns, text);
	buf_add(cell->text, text, strlen("2026-11-21"));
	cell->key = wall_ns;
}
