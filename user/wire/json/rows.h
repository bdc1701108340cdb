/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each type of record as rows, in the order of graced-records(5). */
#ifndef WIRE_JSON_ROWS_H
#define WIRE_JSON_ROWS_H

#include "wire/json/members.h"
#include "core/stop/record.h"

struct record_rows {
	const char *name; /* of the type; NULL: there is no such record */
	const struct member *members;
	size_t at;   /* of what they are of, in struct record */
	size_t size; /* of that */
	bool has_id; /* which it begins with */
};

extern const struct record_rows record_rows[RECORD_TYPE_COUNT];

#endif
