/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that only some commands need, loaded when they are first wanted. */
#ifndef IO_FILES_LIBRARY_H
#define IO_FILES_LIBRARY_H

#include <stddef.h>

/* Any of them may be missing; app/commands/check says what is disabled then. */
enum dynlib {
	DYNLIB_CURL,
	DYNLIB_MHD,
	DYNLIB_GNUTLS,
	DYNLIB_CRYPT,
	DYNLIB_SYSTEMD,
	DYNLIB_CURSES,
	DYNLIBS,
};

/* Its soname, whose number is its promise to fit the headers. */
const char *dynlib_name(enum dynlib which);

/* Where in the caller's table of functions a symbol's address goes. */
struct dynlib_function {
	const char *symbol;
	size_t offset;
};

/*
 * Loads a library and fills the table at ret. It is never unloaded. -ELIBACC: *ret_error says what
 * the loader misses, and is its until it is called again.
 */
int dynlib_load(enum dynlib which, const struct dynlib_function *functions, size_t n, void *ret,
		const char **ret_error);

#endif
