// SPDX-License-Identifier: Apache-2.0
/* Finds libmicrohttpd and its functions at run time. */
#include "io/mhd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* The number is the library's promise to fit <microhttpd.h>. */
#define MHD_SONAME "libmicrohttpd.so.12"

static const struct {
	const char *symbol;
	size_t offset;
} functions[] = {
#define MHD_ENTRY(name) {"MHD_" #name, offsetof(struct mhd, name)},
	MHD_FUNCTIONS(MHD_ENTRY)
#undef MHD_ENTRY
};

int mhd_load(struct mhd *ret, const char **ret_error)
{
	void *library = dlopen(MHD_SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	struct mhd mhd;

	if (!library) {
		*ret_error = dlerror();
		return -ELIBACC;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].symbol);

		if (!function) {
			*ret_error = dlerror();
			dlclose(library);
			return -ELIBACC;
		}
		memcpy((char *)&mhd + functions[i].offset, &function, sizeof(function));
	}
	dlclose(library);
	*ret = mhd;
	return 0;
}
