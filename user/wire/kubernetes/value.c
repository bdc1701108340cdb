// SPDX-License-Identifier: Apache-2.0
/* Reads single values of the API's JSON, and members with a name for what is wrong. */
#include "wire/kubernetes/value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rfc3339.h"

#define EXACT_REAL 9007199254740992.0 /* 2^53 */

const json_t *apijson_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

void apijson_copy(const json_t *value, char *ret, size_t size)
{
	size_t len = json_string_length(value);

	if (len > 0 && len < size)
		memcpy(ret, json_string_value(value), len + 1);
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

const json_t *apijson_controller(const json_t *metadata)
{
	const json_t *owners = apijson_get(metadata, "ownerReferences");

	for (size_t i = 0; i < json_array_size(owners); i++) {
		const json_t *owner = json_array_get(owners, i);

		if (json_is_true(apijson_get(owner, "controller")))
			return owner;
	}
	return NULL;
}

void podread_enter(struct podread *r, const char *key, size_t index)
{
	if (r->depth < PODREAD_DEPTH_MAX) {
		r->path[r->depth].key = key;
		r->path[r->depth].index = index;
	}
	r->depth++;
}

void podread_leave(struct podread *r)
{
	r->depth--;
}

static void add_key(char *text, size_t size, const char *key)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len > 0 ? "." : "", key);
}

int podread_fail(struct podread *r, const char *key, const char *problem)
{
	char *text = r->error->member;
	size_t size = sizeof(r->error->member);

	*text = '\0';
	for (size_t i = 0; i < r->depth && i < PODREAD_DEPTH_MAX; i++) {
		size_t len = strlen(text);

		if (r->path[i].key)
			add_key(text, size, r->path[i].key);
		else
			snprintf(text + len, size - len, "[%zu]", r->path[i].index);
	}
	if (key)
		add_key(text, size, key);
	r->error->problem = problem;
	r->error->line = 0;
	return -EINVAL;
}

int podread_text(struct podread *r, const json_t *object, const char *key, size_t max,
		 const char **ret)
{
	const json_t *value = apijson_get(object, key);
	size_t len = json_string_length(value);
	const char *copy;

	if (!value)
		return 0;
	if (!json_is_string(value))
		return podread_fail(r, key, "is not a string");
	if (len > max)
		return podread_fail(r, key, "is too long");
	if (strlen(json_string_value(value)) != len)
		return podread_fail(r, key, "has a NUL in it");
	copy = arena_strndup(r->arena, json_string_value(value), len);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

int podread_bool(struct podread *r, const json_t *object, const char *key, bool *ret)
{
	const json_t *value = apijson_get(object, key);

	if (value && !json_is_boolean(value))
		return podread_fail(r, key, "is neither true nor false");
	if (value)
		*ret = json_is_true(value);
	return 0;
}

int podread_integer(struct podread *r, const json_t *object, const char *key, int64_t min,
		    int64_t max, int64_t *ret)
{
	const json_t *value = apijson_get(object, key);
	int64_t number;

	if (!value)
		return 0;
	if (!apijson_integer(value, &number))
		return podread_fail(r, key, "is not a whole number");
	if (number < min || number > max)
		return podread_fail(r, key, "is out of range");
	*ret = number;
	return 0;
}

int podread_int32(struct podread *r, const json_t *object, const char *key, int32_t *ret)
{
	int64_t number = *ret;
	int e = podread_integer(r, object, key, INT32_MIN, INT32_MAX, &number);

	*ret = (int32_t)number;
	return e;
}

int podread_time(struct podread *r, const json_t *object, const char *key, int64_t *ret_wall_ns)
{
	const json_t *value = apijson_get(object, key);

	if (value && !apijson_time(value, ret_wall_ns))
		return podread_fail(r, key, "is not a time as in RFC 3339");
	return 0;
}

int podread_object(struct podread *r, const json_t *object, const char *key, const json_t **ret)
{
	const json_t *value = apijson_get(object, key);

	if (value && !json_is_object(value))
		return podread_fail(r, key, "is not an object");
	*ret = value;
	return 0;
}

int podread_list(struct podread *r, const json_t *object, const char *key, size_t max,
		 const json_t **ret)
{
	const json_t *value = apijson_get(object, key);

	if (value && !json_is_array(value))
		return podread_fail(r, key, "is not a list");
	if (json_array_size(value) > max)
		return podread_fail(r, key, "has too many elements");
	*ret = value;
	return 0;
}

int podread_int32s(struct podread *r, const json_t *object, const char *key, const int32_t **ret,
		   size_t *ret_n)
{
	const json_t *list;
	int32_t *numbers;
	int e = podread_list(r, object, key, PODREAD_ITEMS_MAX, &list);

	if (e < 0 || !list)
		return e;
	numbers = arena_array(r->arena, json_array_size(list), sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *value = json_array_get(list, i);
		int64_t number;

		if (!apijson_integer(value, &number))
			return podread_fail(r, key, "has what is not a whole number");
		if (number < INT32_MIN || number > INT32_MAX)
			return podread_fail(r, key, "has a number that is out of range");
		numbers[i] = (int32_t)number;
	}
	*ret = numbers;
	*ret_n = json_array_size(list);
	return 0;
}

int podread_items(struct podread *r, const json_t *object, const char *key, size_t max,
		  podread_item_fn read, size_t item_size, void *ret, size_t *ret_n)
{
	const json_t *list;
	char *items;
	size_t n;
	int e = podread_list(r, object, key, max, &list);

	if (e < 0 || !list)
		return e;
	n = json_array_size(list);
	items = arena_array(r->arena, n, item_size);
	if (!items)
		return -ENOMEM;
	podread_enter(r, key, 0);
	for (size_t i = 0; i < n && e == 0; i++) {
		const json_t *item = json_array_get(list, i);

		podread_enter(r, NULL, i);
		e = json_is_object(item) ? read(r, item, items + i * item_size)
					 : podread_fail(r, NULL, "is not an object");
		podread_leave(r);
	}
	podread_leave(r);
	if (e < 0)
		return e;
	memcpy(ret, &items, sizeof(items));
	*ret_n = n;
	return 0;
}
