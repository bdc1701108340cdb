// SPDX-License-Identifier: Apache-2.0
/* Looks at standard output, the environment and the time zone. */
#include "app/live/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#define WIDTH_UNKNOWN 80

static struct winsize screen_size(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return (struct winsize){};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return (struct winsize){.ws_col = WIDTH_UNKNOWN};
	return size;
}

unsigned int screen_width(void)
{
	return screen_size().ws_col;
}

/* What the environment says; this program's own locale stays "C". */
static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;

	if (locale)
		freelocale(locale);
	return utf8;
}

void screen_add(struct buf *out, const struct buf *text)
{
	if (isatty(STDOUT_FILENO) && !is_utf8())
		utf8_add_without_letters(out, buf_str(text), text->len);
	else
		buf_add(out, buf_str(text), text->len);
}

void screen_print(const struct buf *text)
{
	_cleanup_(buf_free) struct buf shown = {};

	screen_add(&shown, text);
	fputs(buf_str(&shown), stdout);
}

/* https://no-color.org: any value but an empty one. */
static bool wants_colour(enum table_color color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != TABLE_COLOR_AUTO)
		return color == TABLE_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && (!no || !*no) && (!term || strcmp(term, "dumb"));
}

static int32_t local_offset(int64_t wall_s)
{
	time_t at = (time_t)wall_s;
	struct tm tm;

	return localtime_r(&at, &tm) ? (int32_t)tm.tm_gmtoff : 0;
}

struct grid_view screen_view(const struct options *options)
{
	const struct table_options *t = &options->table;
	bool live = options->which == OPTIONS_TRACE || options->which == OPTIONS_WHY ||
		    options->which == OPTIONS_TRY;

	return (struct grid_view){
		.width = screen_size().ws_col,
		.lines = screen_size().ws_row,
		.colour = wants_colour(t->color),
		.no_titles = t->no_titles,
		.wide = t->wide,
		.columns = t->columns,
		.sort = t->sort,
		/* The same recording gives the same bytes everywhere. */
		.zone = live && !t->utc ? local_offset : NULL,
	};
}

static int refuse(const struct options *options, const struct grid_table *table, const char *flag,
		  const char *name, size_t len)
{
	_cleanup_(buf_free) struct buf names = {};

	for (size_t i = 0; i < table->n; i++)
		buf_printf(&names, "%s%s", i ? "," : "", table->columns[i].name);
	return say_usage(options->command, "%s wants columns of %s, each once, not '%.*s'", flag,
			 buf_str(&names), (int)len, name);
}

int screen_check(const struct options *options, const struct grid_table *table)
{
	const struct table_options *t = &options->table;
	const char *name;
	size_t len;

	if (!grid_knows(table, t->columns, false, &name, &len))
		return refuse(options, table, "--output columns=", name, len);
	if (!grid_knows(table, t->sort, true, &name, &len))
		return refuse(options, table, "--sort", name, len);
	if (t->sort && (options->json || options->report_format != REPORT_TABLE))
		return say_usage(options->command, "--sort is for tables, not for this format");
	return 0;
}
