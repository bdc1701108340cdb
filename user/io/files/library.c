// SPDX-License-Identifier: Apache-2.0
/* Finds a library and its functions at run time. */
#include "io/files/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int dynlib_load(const char *soname, const struct dynlib_function *functions, size_t n, void *ret,
		const char **ret_error)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!library) {
		*ret_error = dlerror();
		return -ELIBACC;
	}
	for (size_t i = 0; i < n; i++) {
		void *function = dlsym(library, functions[i].symbol);

		if (!function) {
			*ret_error = dlerror();
			dlclose(library);
			return -ELIBACC;
		}
		memcpy((char *)ret + functions[i].offset, &function, sizeof(function));
	}
	dlclose(library);
	return 0;
}
