// SPDX-License-Identifier: Apache-2.0
/* The functions of GnuTLS that are looked for. */
#include "io/tls/gnutls.h"

#include <stddef.h>

#include "io/files/library.h"

#define GTLS_SONAME "libgnutls.so.30"

static const struct dynlib_function functions[] = {
#define GTLS_ENTRY(name) {"gnutls_" #name, offsetof(struct gtls, name)},
	GTLS_FUNCTIONS(GTLS_ENTRY)
#undef GTLS_ENTRY
};

int gtls_load(struct gtls *ret, const char **ret_error)
{
	return dynlib_load(GTLS_SONAME, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}
