// SPDX-License-Identifier: Apache-2.0
/* Prints single lines to stderr, whatever the arguments in them hold. */
#include "app/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

/* Arguments come from anywhere: what would not be plain text on a terminal is shown escaped. */
static void add_visible(struct buf *line, const char *format, va_list args)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_vprintf(&text, format, args);
	utf8_add_visible(line, buf_str(&text), text.len);
}

static void put(const struct buf *line)
{
	fputs(buf_str(line), stderr);
	fflush(stderr);
}

void say(const char *format, ...)
{
	_cleanup_(buf_free) struct buf line = {};
	va_list args;

	buf_adds(&line, "graced: ");
	va_start(args, format);
	add_visible(&line, format, args);
	va_end(args);
	buf_addc(&line, '\n');
	put(&line);
}

int say_usage(const char *command, const char *format, ...)
{
	_cleanup_(buf_free) struct buf line = {};
	va_list args;

	buf_printf(&line, "graced%s%s: ", *command ? " " : "", command);
	va_start(args, format);
	add_visible(&line, format, args);
	va_end(args);
	buf_printf(&line, "; see graced%s%s --help\n", *command ? " " : "", command);
	put(&line);
	return 2;
}
