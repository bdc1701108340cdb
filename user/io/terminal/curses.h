/* SPDX-License-Identifier: Apache-2.0 */
/* ncurses, loaded when it is first wanted: only a screen needs it. */
#ifndef IO_TERMINAL_CURSES_H
#define IO_TERMINAL_CURSES_H

#ifdef GRACED_NCURSES

/* Its structures are the library's own; without macros in place of functions. */
#define NCURSES_NOMACROS 1
#include <curses.h>

/* The functions of <curses.h> that io/terminal/terminal calls. */
#define CURSES_FUNCTIONS(X)   \
	X(COLOR_PAIR)         \
	X(curs_set)           \
	X(delscreen)          \
	X(doupdate)           \
	X(endwin)             \
	X(has_colors)         \
	X(init_pair)          \
	X(newterm)            \
	X(newwin)             \
	X(redrawwin)          \
	X(resizeterm)         \
	X(start_color)        \
	X(tigetstr)           \
	X(use_default_colors) \
	X(waddstr)            \
	X(wattrset)           \
	X(werase)             \
	X(wmove)              \
	X(wnoutrefresh)

#define CURSES_MEMBER(name) __typeof__(name) *name;
struct curses {
	CURSES_FUNCTIONS(CURSES_MEMBER)
};
#undef CURSES_MEMBER

/* Loads the library and fills the table. It is never unloaded. -ELIBACC: *ret_error says what the
 * loader misses, and is its until it is called again. */
int curses_load(struct curses *ret, const char **ret_error);

#endif
#endif
