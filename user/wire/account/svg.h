/* SPDX-License-Identifier: Apache-2.0 */
/* An account as a picture: a timeline for each story, one file without references to others. */
#ifndef WIRE_ACCOUNT_SVG_H
#define WIRE_ACCOUNT_SVG_H

#include "base/buf.h"
#include "core/account/account.h"

/* 0 or buf_error(). */
int account_svg(struct buf *out, const struct account *account);

#endif
