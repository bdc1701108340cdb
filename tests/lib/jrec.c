// SPDX-License-Identifier: Apache-2.0
// Read and compare JSON records by path.
#include "lib/jrec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const json_t *jrec_get(const json_t *rec, const char *path)
{
	char name[64];

	while (rec && *path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		rec = json_object_get(rec, name);
		path += len + (path[len] == '.');
	}
	return rec;
}

const char *jrec_text(const json_t *rec, const char *path)
{
	const char *text = json_string_value(jrec_get(rec, path));

	return text ? text : "";
}

int64_t jrec_int(const json_t *rec, const char *path, int64_t otherwise)
{
	const json_t *value = jrec_get(rec, path);

	return json_is_integer(value) ? (int64_t)json_integer_value(value) : otherwise;
}

bool jrec_is_null(const json_t *rec, const char *path)
{
	return json_is_null(jrec_get(rec, path));
}

static void explain(const char *path, const json_t *want, const json_t *got, char *why, size_t size)
{
	char *wanted = json_dumps(want, JSON_COMPACT | JSON_ENCODE_ANY);
	char *found = got ? json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	snprintf(why, size, "%s: expected %s, got %s", path, wanted ? wanted : "?",
		 found ? found : "nothing");
	free(wanted);
	free(found);
}

/* Objects hold at least the wanted members; numbers are equal as numbers. */
static int match(const json_t *want, const json_t *got, const char *path, char *why, size_t size)
{
	char below[256];
	const char *key;
	json_t *value;

	if (json_is_number(want) && json_is_number(got) &&
	    json_number_value(want) == json_number_value(got))
		return 0;
	if (!json_is_object(want) || !json_is_object(got)) {
		if (got && json_equal(want, got))
			return 0;
		explain(path, want, got, why, size);
		return 1;
	}
	json_object_foreach((json_t *)(uintptr_t)want, key, value) {
		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
		if (match(value, json_object_get(got, key), below, why, size))
			return 1;
	}
	return 0;
}

int jrec_match(const json_t *rec, const char *expected, char *why, size_t size)
{
	char *text = strdup(expected);
	json_error_t error;
	json_t *want;
	int r;

	for (char *at = text; at && *at; at++)
		if (*at == '\'')
			*at = '"';
	want = text ? json_loads(text, 0, &error) : NULL;
	if (!want) {
		snprintf(why, size, "the expectation is no JSON: %s", expected);
		r = 1;
	} else {
		r = match(want, rec, "", why, size);
	}
	json_decref(want);
	free(text);
	return r;
}

uint64_t jrec_parse_time(const char *text)
{
	struct tm tm = {0};
	unsigned long nanos;
	int used = 0;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%9luZ%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &nanos, &used) != 7 ||
	    strlen(text) != 30 || used != 30)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return (uint64_t)timegm(&tm) * 1000000000u + nanos;
}
