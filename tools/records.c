// SPDX-License-Identifier: Apache-2.0
/* Prints the fields that the journal's entries have by the rows of records, for tools/generate: a
 * line for each type of record, its name, a tab and the fields. */
#include <stdio.h>

#include "wire/json/rows.h"

static void print_fields(const struct member *members)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		if (m->field && m->members == parts_exited)
			printf(" %s_CODE %s_SIGNAL", m->field, m->field);
		else if (m->field && m->members == parts_sender)
			printf(" %s %s_KIND", m->field, m->field);
		else if (m->field)
			printf(" %s", m->field);
		if (m->members)
			print_fields(m->members);
	}
}

int main(void)
{
	for (int i = RECORD_NONE + 1; i < RECORD_TYPE_COUNT; i++) {
		printf("%s\t", record_rows[i].name);
		print_fields(record_rows[i].members);
		putchar('\n');
	}
	return 0;
}
