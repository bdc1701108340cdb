// SPDX-License-Identifier: Apache-2.0
/* Walks an expectation and makes the n-th of its places wrong. */
#include "kubelet/spoil.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Further than any right answer is from its bound. */
#define FAR_S 1e9

struct spoiler {
	size_t left; /* places to pass by */
	char *what;
	size_t size;
};

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && strcmp(text + len - n, end) == 0;
}

static json_t *other_number(const char *key, json_t *value)
{
	if (ends_in(key, "_min_s"))
		return json_real(json_number_value(value) + FAR_S);
	if (ends_in(key, "_max_s"))
		return json_real(json_number_value(value) - FAR_S);
	if (json_is_integer(value))
		return json_integer(json_integer_value(value) + 1);
	return json_real(json_number_value(value) + 0.5);
}

static json_t *other_value(const char *key, json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		return json_sprintf("%s~", json_string_value(value));
	case JSON_TRUE:
		return json_false();
	case JSON_FALSE:
		return json_true();
	case JSON_NULL:
		return json_integer(0);
	default:
		return other_number(key, value);
	}
}

static bool is_here(struct spoiler *s, const char *key, const char *how)
{
	if (s->left-- > 0)
		return false;
	snprintf(s->what, s->size, "%s %s", key, how);
	return true;
}

static bool spoil(struct spoiler *s, const char *key, json_t *value, json_t **ret_other);

static bool spoil_list(struct spoiler *s, const char *key, json_t *list)
{
	json_t *other;

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (!spoil(s, key, json_array_get(list, i), &other))
			continue;
		if (other)
			json_array_set_new(list, i, other);
		return true;
	}
	if (is_here(s, key, "with an entry more")) {
		json_array_append_new(list, json_string("~"));
		return true;
	}
	/* Fewer parts of errors are expected, and that is as right. */
	if (json_array_size(list) == 0 || strcmp(key, "errors_contain") == 0 ||
	    !is_here(s, key, "with an entry less"))
		return false;
	json_array_remove(list, json_array_size(list) - 1);
	return true;
}

static bool spoil_object(struct spoiler *s, const char *key, json_t *object)
{
	json_t *value, *other;
	const char *member;

	json_object_foreach(object, member, value) {
		if (strcmp(member, "conditions_unordered") == 0 || !spoil(s, member, value, &other))
			continue;
		if (other)
			json_object_set_new(object, member, other);
		return true;
	}
	if (json_object_size(object) > 0 || !is_here(s, key, "with a member"))
		return false;
	json_object_set_new(object, "~", json_string("~"));
	return true;
}

/* Whether the place is in value: it is changed, or *ret_other is to stand for it. */
static bool spoil(struct spoiler *s, const char *key, json_t *value, json_t **ret_other)
{
	*ret_other = NULL;
	if (json_is_array(value))
		return spoil_list(s, key, value);
	if (json_is_object(value))
		return spoil_object(s, key, value);
	if (!is_here(s, key, "of another value"))
		return false;
	*ret_other = other_value(key, value);
	return true;
}

int vectors_spoil(json_t *vector, size_t place, json_t **ret, char *what, size_t size)
{
	struct spoiler s = {.left = place, .what = what, .size = size};
	json_auto_t *expected = json_deep_copy(json_object_get(vector, "expected"));

	*what = '\0';
	*ret = NULL;
	if (!expected)
		return 1;
	if (!spoil_object(&s, "expected", expected))
		return 0;
	*ret = json_copy(vector);
	if (*ret)
		json_object_set(*ret, "expected", expected);
	return 1;
}
