// SPDX-License-Identifier: Apache-2.0
/* Loads GnuTLS, and has certificates parsed by it. */
#include "io/tls/gnutls.h"

#include <gnutls/x509.h>
#include <stddef.h>

#include "io/files/library.h"

static const struct dynlib_function functions[] = {
#define GTLS_ENTRY(name) {"gnutls_" #name, offsetof(struct gtls, name)},
	GTLS_FUNCTIONS(GTLS_ENTRY)
#undef GTLS_ENTRY
};

int gtls_load(struct gtls *ret, const char **ret_error)
{
	return dynlib_load(DYNLIB_GNUTLS, functions, sizeof(functions) / sizeof(functions[0]), ret,
			   ret_error);
}

bool certificate_read(const char *pem, size_t len, struct credential *ret)
{
	gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned int)len};
	time_t issued = 0, expires = 0;
	gnutls_x509_crt_t certificate;
	struct gtls gtls;
	const char *error;

	*ret = (struct credential){};
	if (gtls_load(&gtls, &error) < 0 || gtls.x509_crt_init(&certificate) < 0)
		return false;
	if (gtls.x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM) >= 0) {
		issued = gtls.x509_crt_get_activation_time(certificate);
		expires = gtls.x509_crt_get_expiration_time(certificate);
	}
	gtls.x509_crt_deinit(certificate);
	return credential_set(CREDENTIAL_CERTIFICATE, issued, expires, ret);
}
