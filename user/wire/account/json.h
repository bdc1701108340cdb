/* SPDX-License-Identifier: Apache-2.0 */
/* An account as JSON, one object a line for each story: type "report" of graced-records(5). */
#ifndef WIRE_ACCOUNT_JSON_H
#define WIRE_ACCOUNT_JSON_H

#include "base/buf.h"
#include "core/account/account.h"

/* 0 or buf_error(). */
int account_json(struct buf *out, const struct account *account);

#endif
