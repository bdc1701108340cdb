// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a file of logind's and as a span of time; what is decided from it holds. */
#include "wire/config/logind.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

/* Our own drop-in reads back as what was written. */
static void check_text(uint64_t us)
{
	struct logindconf_value back = {};
	char text[DELAYLIMIT_TEXT_MAX];

	delaylimit_text(us, text);
	assert(logindconf_read(text, strlen(text), &back) == 0);
	assert(back.said && !back.broken && back.us == us);
}

static void check_decision(const struct logindconf_value *value)
{
	struct delaylimit_file files[] = {
		{"10-a.conf", value->said, value->broken, value->us},
		{"zz-graced.conf", true, false, 7000000},
	};
	struct delaylimit_answer answer;

	delaylimit_decide(&(struct delaylimit_query){files, 2, files[1].name, 5000000, 9000000},
			  &answer);
	assert(answer.write && answer.us >= 9000000);
	assert(!value->said || answer.us >= value->us);
	assert(value->broken == (answer.pinned_by != NULL));
	check_text(answer.us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_free) char *text = malloc(size + 1);
	struct logindconf_value value;
	uint64_t us;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	(void)logindconf_span(text, &us);
	assert(logindconf_read((const char *)data, size, &value) == 0);
	assert(!value.said || memmem(data, size, "InhibitDelayMaxSec", 18));
	check_decision(&value);
	return 0;
}
