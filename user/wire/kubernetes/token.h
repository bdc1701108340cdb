/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lifetime that a JSON web token (RFC 7519) claims. Its signature is not verified, which only
 * those can who issue it: what is read here is fit for a warning, never for trust.
 */
#ifndef WIRE_KUBERNETES_TOKEN_H
#define WIRE_KUBERNETES_TOKEN_H

#include <stdbool.h>

#include "core/names/credential.h"

/* False, and *ret is all zero, for what is no signed JSON web token (encrypted ones have five
 * parts), for one without `exp`, or with one that credential_set() does not take. The beginning is
 * `iat`, else `nbf`. */
bool jwt_read(const char *token, struct credential *ret);

#endif
