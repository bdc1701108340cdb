// SPDX-License-Identifier: Apache-2.0
/* Prints single lines to stderr, whatever the arguments in them hold. */
#include "app/log/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "io/proc/self.h"

/* Arguments come from anywhere: what would not be plain text on a terminal is shown escaped. The
 * log escapes by itself. */
static void put(const char *command, const struct buf *text, const char *tail)
{
	_cleanup_(buf_free) struct buf line = {};

	if (log_is_set_up()) {
		log_error("%s%s", buf_str(text), tail);
		return;
	}
	buf_printf(&line, "graced%s%s: ", *command ? " " : "", command);
	utf8_add_visible(&line, buf_str(text), text->len);
	buf_printf(&line, "%s\n", tail);
	fputs(buf_str(&line), stderr);
	fflush(stderr);
}

void say(const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {};
	va_list args;

	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	put("", &text, "");
}

void say_as(const char *command, const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {};
	va_list args;

	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	put(command, &text, "");
}

int say_usage(const char *command, const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {}, tail = {};
	va_list args;

	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	buf_printf(&tail, "; see graced%s%s --help", *command ? " " : "", command);
	put(command, &text, buf_str(&tail));
	return 2;
}

void say_debug(const char *format, va_list args)
{
	_cleanup_(buf_free) struct buf text = {};
	const char *at, *end;

	if (!log_is_set_up()) {
		vfprintf(stderr, format, args);
		return;
	}
	buf_vprintf(&text, format, args);
	for (at = buf_str(&text); *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		if (end > at)
			log_debug("%.*s", (int)(end - at), at);
	}
}

bool say_host_pids(const char *command)
{
	if (host_in_initial_pidns())
		return true;
	say_as(command, "this is not the host's pid namespace, where the processes of containers "
			"can be seen; run it on the host, or with hostPID (docker run --pid=host)");
	return false;
}
