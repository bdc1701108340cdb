/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that only some commands need, loaded when they are first wanted. */
#ifndef IO_FILES_LIBRARY_H
#define IO_FILES_LIBRARY_H

#include <stddef.h>

/* Where in the caller's table of functions a symbol's address goes. */
struct dynlib_function {
	const char *symbol;
	size_t offset;
};

/*
 * Loads a library by its soname, whose number is its promise to fit the headers, and fills the
 * table at ret. It is never unloaded. -ELIBACC: *ret_error says what the loader misses, and is its
 * until it is called again.
 */
int dynlib_load(const char *soname, const struct dynlib_function *functions, size_t n, void *ret,
		const char **ret_error);

#endif
