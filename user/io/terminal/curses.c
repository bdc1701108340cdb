// SPDX-License-Identifier: Apache-2.0
/* Loads ncurses. */
#include "io/terminal/curses.h"

#ifdef GRACED_NCURSES

#include <stddef.h>

#include "io/files/library.h"

static const struct dynlib_function functions[] = {
#define CURSES_ENTRY(name) {#name, offsetof(struct curses, name)},
	CURSES_FUNCTIONS(CURSES_ENTRY)
#undef CURSES_ENTRY
};

int curses_load(struct curses *ret, const char **ret_error)
{
	return dynlib_load(DYNLIB_CURSES, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}

#endif
