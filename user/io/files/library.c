// SPDX-License-Identifier: Apache-2.0
/* Finds a library and its functions at run time. */
#include "io/files/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *soname;
	const char *
		other; /* with another number, and the same functions as far as graced calls them */
} libraries[DYNLIBS] = {
	/* The flavour with OpenSSL: GnuTLS takes 9 MiB more for one request. */
	[DYNLIB_CURL] = {"libcurl.so.4", NULL},
	[DYNLIB_MHD] = {"libmicrohttpd.so.12", NULL},
	[DYNLIB_GNUTLS] = {"libgnutls.so.30", NULL},
	/* .2, of Fedora and Arch, is without what is older than POSIX. */
	[DYNLIB_CRYPT] = {"libcrypt.so.1", "libcrypt.so.2"},
	/* The host's, for the journal: an older one does not read what a newer journald writes. */
	[DYNLIB_SYSTEMD] = {"libsystemd.so.0", NULL},
	[DYNLIB_CURSES] = {"libncursesw.so.6", NULL},
};

const char *dynlib_name(enum dynlib which)
{
	return libraries[which].soname;
}

static void *open_library(const char *soname)
{
	return dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

int dynlib_load(enum dynlib which, const struct dynlib_function *functions, size_t n, void *ret,
		const char **ret_error)
{
	void *library = libraries[which].other ? open_library(libraries[which].other) : NULL;

	if (!library)
		library = open_library(libraries[which].soname);
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
