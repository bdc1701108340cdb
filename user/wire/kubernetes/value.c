// SPDX-License-Identifier: Apache-2.0
/* Reads single values of the API's JSON. */
#include "wire/kubernetes/value.h"

#include <math.h>
#include <string.h>

#include "base/rfc3339.h"

#define EXACT_REAL 9007199254740992.0 /* 2^53 */

const json_t *apijson_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

bool apijson_integer(const json_t *value, int64_t *ret)
{
	double real = json_real_value(value);

	if (json_is_integer(value)) {
		*ret = json_integer_value(value);
		return true;
	}
	if (!json_is_real(value) || real != floor(real))
		return false;
	if (real > EXACT_REAL)
		real = EXACT_REAL;
	if (real < -EXACT_REAL)
		real = -EXACT_REAL;
	*ret = (int64_t)real;
	return true;
}

uint32_t apijson_word(const json_t *value, const char *const *words)
{
	const char *text = json_string_value(value);

	for (uint32_t i = 0; text && words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i + 1;
	}
	return 0;
}

bool apijson_time(const json_t *value, int64_t *ret_wall_ns)
{
	const char *text = json_string_value(value);

	return text && rfc3339_parse(text, ret_wall_ns) == 0;
}
