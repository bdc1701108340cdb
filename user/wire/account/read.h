/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the JSON lines of records (graced-records(5)) for an account. */
#ifndef WIRE_ACCOUNT_READ_H
#define WIRE_ACCOUNT_READ_H

#include <stddef.h>

#include "core/account/account.h"

#define ACCOUNT_LINE_MAX ((size_t)256 << 10)

/* Adds the record of a line without its newline; a line that is no record is counted as unreadable,
 * an empty one is not. boot: that of a record that does not name its own, as account_boot() writes
 * it; NULL: not known. */
void account_read(struct account_log *log, const struct account_query *query, const char *line,
		  size_t size, const char *boot);

#endif
