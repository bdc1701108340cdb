/* SPDX-License-Identifier: Apache-2.0 */
/* When a certificate expires, by GnuTLS, which libmicrohttpd has loaded in the daemon anyway. */
#ifndef IO_TLS_CERTIFICATE_H
#define IO_TLS_CERTIFICATE_H

#include <stddef.h>

#include "core/names/credential.h"

/*
 * Of the first certificate in a PEM text, which is the one that a client shows; what else is in it,
 * as a key, is passed over. False, and *ret is all zero, when there is none that can be read, when
 * it does not expire, or without GnuTLS.
 */
bool certificate_read(const char *pem, size_t len, struct credential *ret);

#endif
