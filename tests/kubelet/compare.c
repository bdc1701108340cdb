// SPDX-License-Identifier: Apache-2.0
/* Compares an answer with what a case expects, by the cases' own rules. */
#include "kubelet/compare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool same_objects(const json_t *a, const json_t *b)
{
	json_t *value;
	const char *key;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach((json_t *)a, key, value)
		if (!vectors_same(value, json_object_get(b, key)))
			return false;
	return true;
}

static bool same_lists(const json_t *a, const json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++)
		if (!vectors_same(json_array_get(a, i), json_array_get(b, i)))
			return false;
	return true;
}

bool vectors_same(const json_t *a, const json_t *b)
{
	if (json_is_integer(a) != json_is_integer(b) && json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	if (json_is_object(a) && json_is_object(b))
		return same_objects(a, b);
	if (json_is_array(a) && json_is_array(b))
		return same_lists(a, b);
	return json_equal(a, b);
}

bool vectors_any_contains(const json_t *list, const char *part)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (text && part && strstr(text, part))
			return true;
	}
	return false;
}

bool vectors_has(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *entry = json_string_value(json_array_get(list, i));

		if (entry && strcmp(entry, text) == 0)
			return true;
	}
	return false;
}

void vectors_keep_listed(const json_t *expected, json_t *got)
{
	json_t *value;
	const char *key;
	void *next;

	if (json_is_array(expected) && json_is_array(got))
		for (size_t i = 0; i < json_array_size(expected); i++)
			vectors_keep_listed(json_array_get(expected, i), json_array_get(got, i));
	if (!json_is_object(expected) || !json_is_object(got))
		return;
	json_object_foreach_safe(got, next, key, value) {
		if (json_object_get(expected, key))
			vectors_keep_listed(json_object_get(expected, key), value);
		else
			json_object_del(got, key);
	}
}

static void rule_errors(json_t *expected, json_t *got)
{
	json_t *parts = json_object_get(expected, "errors_contain");
	json_t *errors = json_object_get(got, "errors");

	if (!json_is_array(parts) || (json_array_size(parts) == 0 && json_array_size(errors) > 0))
		return;
	for (size_t i = 0; i < json_array_size(parts); i++)
		if (!vectors_any_contains(errors, json_string_value(json_array_get(parts, i))))
			return;
	json_object_del(expected, "errors_contain");
	json_object_del(got, "errors");
}

/* Moves the condition that is WANTED up to place AT, from wherever it is behind. */
static void bring_forward(json_t *conditions, size_t at, const json_t *wanted)
{
	for (size_t i = at; i < json_array_size(conditions); i++) {
		json_t *condition = json_array_get(conditions, i);

		if (!vectors_same(condition, wanted))
			continue;
		json_incref(condition);
		json_array_remove(conditions, i);
		json_array_insert_new(conditions, at, condition);
		return;
	}
}

static void rule_unordered(json_t *expected, json_t *got)
{
	json_t *wanted = json_object_get(expected, "conditions");
	json_t *had = json_object_get(got, "conditions");

	if (!json_is_boolean(json_object_get(expected, "conditions_unordered")))
		return;
	if (json_is_true(json_object_get(expected, "conditions_unordered")))
		for (size_t i = 0; i < json_array_size(wanted); i++)
			bring_forward(had, i, json_array_get(wanted, i));
	json_object_del(expected, "conditions_unordered");
}

/* The answer's name of the value that KEY bounds; false: KEY is no bound. */
static bool bounded_name(const char *key, char *name, size_t size, bool *ret_is_min)
{
	size_t len = strlen(key), suffix = strlen("_min_s");

	if (len <= suffix)
		return false;
	*ret_is_min = !strcmp(key + len - suffix, "_min_s");
	if (!*ret_is_min && strcmp(key + len - suffix, "_max_s") != 0)
		return false;
	return snprintf(name, size, "%.*s_s", (int)(len - suffix), key) < (int)size;
}

static bool bound_holds(const json_t *bound, const json_t *value, bool is_min)
{
	if (!json_is_number(bound) || !json_is_number(value))
		return false;
	if (is_min)
		return json_number_value(bound) <= json_number_value(value);
	return json_number_value(value) <= json_number_value(bound);
}

static void rule_bounds(json_t *expected, json_t *got)
{
	json_auto_t *met = json_object();
	json_t *bound;
	const char *key;
	char name[64];
	void *next;
	bool is_min;

	json_object_foreach_safe(expected, next, key, bound) {
		if (!bounded_name(key, name, sizeof(name), &is_min) || json_object_get(got, key) ||
		    !bound_holds(bound, json_object_get(got, name), is_min))
			continue;
		json_object_set_new(met, name, json_true());
		json_object_del(expected, key);
	}
	/* A value goes only now: two bounds may name it. */
	json_object_foreach(met, key, bound)
		json_object_del(got, key);
}

static void drop_empty_lists(json_t *value)
{
	json_t *member;
	const char *key;
	size_t i;
	void *next;

	json_array_foreach(value, i, member)
		drop_empty_lists(member);
	json_object_foreach_safe(value, next, key, member) {
		if (json_is_array(member) && json_array_size(member) == 0)
			json_object_del(value, key);
		else
			drop_empty_lists(member);
	}
}

/* The members of A that B lacks or has otherwise. */
static json_t *difference(json_t *a, json_t *b)
{
	json_t *diff = json_object(), *value;
	const char *key;

	json_object_foreach(a, key, value)
		if (!vectors_same(value, json_object_get(b, key)))
			json_object_set(diff, key, value);
	return diff;
}

int vectors_compare(json_t *vector, json_t *got, vectors_rule_fn rule, json_t **ret_wanted,
		    json_t **ret_had)
{
	json_auto_t *expected = json_deep_copy(json_object_get(vector, "expected"));
	json_auto_t *answer = json_deep_copy(got);

	if (!expected || !answer)
		return -ENOMEM;
	if (rule)
		rule(vector, expected, answer);
	rule_errors(expected, answer);
	rule_unordered(expected, answer);
	rule_bounds(expected, answer);
	drop_empty_lists(expected);
	drop_empty_lists(answer);
	*ret_wanted = difference(expected, answer);
	*ret_had = difference(answer, expected);
	if (*ret_wanted && *ret_had)
		return 0;
	json_decref(*ret_wanted);
	json_decref(*ret_had);
	return -ENOMEM;
}
