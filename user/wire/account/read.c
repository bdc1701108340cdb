// SPDX-License-Identifier: Apache-2.0
#include "wire/account/read.h"

#include <errno.h>

#include "base/cleanup.h"
#include "wire/json/record.h"

void account_read(struct account_log *log, const struct account_query *query, const char *line,
		  size_t size, const char *boot)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	int r = size ? record_read(line, size, RECORDS_ALL, &arena, &record) : -ENOMSG;

	if (r == 0 && account_log_wants(query, &record, boot))
		account_log_add(log, record_copy(&record, log->arena), boot);
	else if (r == -EPROTONOSUPPORT)
		log->newer++;
	else if (r < 0 && r != -ENOMSG)
		log->unreadable++;
}
