// SPDX-License-Identifier: Apache-2.0
/* The functions of libmicrohttpd that are looked for. */
#include "io/http/mhd.h"

#include <stddef.h>

#include "io/files/library.h"

#define MHD_SONAME "libmicrohttpd.so.12"

static const struct dynlib_function functions[] = {
#define MHD_ENTRY(name) {"MHD_" #name, offsetof(struct mhd, name)},
	MHD_FUNCTIONS(MHD_ENTRY)
#undef MHD_ENTRY
};

int mhd_load(struct mhd *ret, const char **ret_error)
{
	return dynlib_load(MHD_SONAME, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}
