// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a request's Accept and Accept-Encoding and as an address: each has an answer, and a
 * header without the word gets neither OpenMetrics nor gzip unless a wildcard allows it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/config/web.h"
#include "wire/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_free) char *text = malloc(size + 1);
	enum expo_format format;
	struct listen listen;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';

	format = negotiate_format(text);
	assert(format < EXPO_FORMAT_COUNT);
	assert(format != EXPO_OPENMETRICS || strcasestr(text, "openmetrics-text") ||
	       strchr(text, '*'));
	assert(format != EXPO_PROTOBUF || strcasestr(text, "vnd.google.protobuf"));
	assert(!negotiate_gzip(text) || strcasestr(text, "gzip") || strchr(text, '*'));
	if (listen_parse(text, &listen) == 0)
		assert(listen.n_addr == 1 || listen.n_addr == 2);
	return 0;
}
