// SPDX-License-Identifier: Apache-2.0
/* What a list of pods says of itself. */
#include <stdlib.h>
#include <string.h>

#include "wire/kubernetes/pods_priv.h"

/* It is a version, a count and, where more is to come, some hundred bytes to ask for that. */
#define METADATA_MAX 16384

/* Servers compare them as numbers, of which ever larger ones are newer (KEP-5504). */
static uint64_t read_version(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);

	/* As many digits as a uint64_t holds in any case. */
	if (!text || len == 0 || len > 19 || strspn(text, "0123456789") != len)
		return 0;
	return strtoull(text, NULL, 10);
}

void podjson_list_read(const char *text, size_t size, struct podjson_list *ret)
{
	const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY;
	json_t *metadata = NULL;

	if (size <= METADATA_MAX)
		metadata = json_loadb(text, size, flags, NULL);
	ret->version = read_version(podjson_get(metadata, "resourceVersion"));
	ret->partial = !metadata || json_string_length(podjson_get(metadata, "continue")) > 0;
	json_decref(metadata);
}
