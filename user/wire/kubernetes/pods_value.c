// SPDX-License-Identifier: Apache-2.0
/* Single values of a pod's JSON, of any type, as C has them. */
#include <math.h>
#include <string.h>

#include "base/rfc3339.h"
#include "wire/kubernetes/pods_priv.h"

#define EXACT_REAL 9007199254740992.0 /* 2^53 */

const json_t *podjson_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

void podjson_copy(const json_t *value, char *ret, size_t size)
{
	size_t len = json_string_length(value);

	if (len > 0 && len < size)
		memcpy(ret, json_string_value(value), len + 1);
}

bool podjson_integer(const json_t *value, int64_t *ret)
{
	double real = json_real_value(value);

	if (!json_is_real(value) || real != floor(real))
		return false;
	if (real > EXACT_REAL)
		real = EXACT_REAL;
	if (real < -EXACT_REAL)
		real = -EXACT_REAL;
	*ret = (int64_t)real;
	return true;
}

uint32_t podjson_word(const json_t *value, const char *const *words)
{
	const char *text = json_string_value(value);

	for (uint32_t i = 0; text && words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i + 1;
	}
	return 0;
}

bool podjson_time(const json_t *value, int64_t *ret_wall_ns)
{
	const char *text = json_string_value(value);

	return text && rfc3339_parse(text, ret_wall_ns) == 0;
}
