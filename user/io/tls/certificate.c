// SPDX-License-Identifier: Apache-2.0
/* Has a certificate parsed for its two dates. */
#include "io/tls/certificate.h"

#include <gnutls/x509.h>

#include "io/tls/gnutls.h"

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
