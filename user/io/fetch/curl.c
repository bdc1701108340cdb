// SPDX-License-Identifier: Apache-2.0
/* The functions of libcurl that are looked for. */
#include "io/fetch/curl.h"

#include <stddef.h>

#include "io/files/library.h"

/* The flavour with OpenSSL: GnuTLS takes 9 MiB more for one request. */
#define CURL_SONAME "libcurl.so.4"

static const struct dynlib_function functions[] = {
#define CURL_ENTRY(name) {"curl_" #name, offsetof(struct curl, name)},
	CURL_FUNCTIONS(CURL_ENTRY)
#undef CURL_ENTRY
};

int curl_load(struct curl *ret, const char **ret_error)
{
	return dynlib_load(CURL_SONAME, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}
