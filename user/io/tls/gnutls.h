/* SPDX-License-Identifier: Apache-2.0 */
/* GnuTLS beside what libmicrohttpd, which brings it along, does with it; dates of certificates. */
#ifndef IO_TLS_GNUTLS_H
#define IO_TLS_GNUTLS_H

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stddef.h>

#include "core/names/credential.h"

/* gnutls_<name>() as its headers declare it. */
#define GTLS_FUNCTIONS(X)                   \
	X(strerror)                         \
	X(priority_init)                    \
	X(priority_deinit)                  \
	X(certificate_allocate_credentials) \
	X(certificate_free_credentials)     \
	X(certificate_set_x509_key_mem2)    \
	X(certificate_set_x509_trust_mem)   \
	X(certificate_server_set_request)   \
	X(session_set_verify_cert2)         \
	X(hmac_fast)                        \
	X(x509_crt_init)                    \
	X(x509_crt_deinit)                  \
	X(x509_crt_import)                  \
	X(x509_crt_get_activation_time)     \
	X(x509_crt_get_expiration_time)

#define GTLS_MEMBER(name) __typeof__(gnutls_##name) *name;
struct gtls {
	GTLS_FUNCTIONS(GTLS_MEMBER)
};
#undef GTLS_MEMBER

/* As dynlib_load(). */
int gtls_load(struct gtls *ret, const char **ret_error);

/* When a certificate expires, by GnuTLS, which libmicrohttpd has loaded in the daemon anyway. */

/*
 * Reads the first certificate in a PEM text, the one that a client shows, and ignores the rest,
 * such as a key. False, and *ret is all zero, if none can be read, if it does not expire, or
 * without GnuTLS.
 */
bool certificate_read(const char *pem, size_t len, struct credential *ret);

#endif
