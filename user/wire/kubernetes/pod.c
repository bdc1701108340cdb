// SPDX-License-Identifier: Apache-2.0
/* Reads one pod, and a Job's rules for failed pods; writes a pod's status. */
#include "wire/kubernetes/pod.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names/workload.h"
#include "wire/json/walk.h"
#include "wire/json/writer.h"
#include "wire/kubernetes/pod_rows.h"

static const char *problem_of(const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_duplicate_key:
		return "is there twice";
	case json_error_numeric_overflow:
		return "a number is too large";
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return "a text has a NUL in it";
	case json_error_stack_overflow:
		return "it is nested too deep";
	default:
		return "it is no JSON";
	}
}

/* Jansson has the name at the end of its own words, `... near '"kind"'`. */
static void name_twice(const json_error_t *error, struct podread_error *ret)
{
	const char *near = strstr(error->text, " near '");
	size_t n;

	near = near ? near + strlen(" near '") : "a name";
	n = strlen(near);
	if (n > 0 && near[n - 1] == '\'')
		n--;
	snprintf(ret->member, sizeof(ret->member), "%.*s", (int)n, near);
}

static bool is_blank(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && strchr(" \t\r\n", text[n]) && text[n])
		n++;
	return n == size;
}

int podread_parse(const char *text, size_t size, json_t **ret, struct podread_error *ret_error)
{
	json_error_t error;
	json_t *json;

	*ret_error = (struct podread_error){.problem = "is longer than a pod can be"};
	if (size > PODREAD_TEXT_MAX)
		return -E2BIG;
	ret_error->problem = "it is empty";
	if (is_blank(text, size))
		return -EBADMSG;
	ret_error->problem = "it has more values than a pod can have";
	if (jsonwalk_count(text, size) > PODREAD_VALUES_MAX)
		return -EBADMSG;
	json = json_loadb(text, size,
			  JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
			  &error);
	if (!json) {
		ret_error->problem = problem_of(&error);
		ret_error->line = error.line;
		ret_error->column = error.column;
		if (json_error_code(&error) == json_error_duplicate_key)
			name_twice(&error, ret_error);
		return json_error_code(&error) == json_error_out_of_memory ? -ENOMEM : -EBADMSG;
	}
	*ret = json;
	return 0;
}

int podread_pod(const json_t *json, struct arena *arena, struct podobj_pod *ret,
		struct podread_error *ret_error)
{
	struct podread r = {.arena = arena, .error = ret_error};
	struct podobj_pod pod = {};
	int e;

	if (!json_is_object(json))
		return podread_fail(&r, NULL, "is not an object");
	if (!podrows_is_pod(json))
		return podread_fail(&r, "kind",
				    "is not Pod; of a Deployment or its like, pass the pods");
	apirows_init(podrows, &pod);
	e = apirows_read(&r, json, podrows, &pod);
	if (e < 0)
		return e;
	podrows_conclude(&pod);
	*ret = pod;
	return 0;
}

/* One Job; the items of a JobList need carry no kind. */
static int read_job(struct podread *r, const json_t *json, bool kind_known, struct jobpolicy *job)
{
	static const char *const failed[] = {"Failed", NULL};
	struct podrows_kind is = {};
	int e;

	if (!json_is_object(json))
		return podread_fail(r, NULL, "is not an object");
	apirows_init(podrows_kind, &is);
	e = apirows_read(r, json, podrows_kind, &is);
	if (e < 0)
		return e;
	if ((is.has_kind || !kind_known) && strcmp(is.kind, "Job") != 0)
		return podread_fail(r, "kind", "is not Job");
	if (!workload_kind_is("Job", is.api, "Job", "batch"))
		return podread_fail(r, "apiVersion", "is not of the group batch");
	apirows_init(podrows_job, job);
	job->backoff_limit = 6;
	job->waits_for_the_failed =
		apijson_word(apijson_get(apijson_get(json, "spec"), "podReplacementPolicy"),
			     failed) != 0;
	return apirows_read(r, json, podrows_job, job);
}

static int read_job_list(struct podread *r, const json_t *json, bool of_jobs, struct jobpolicy *job)
{
	const json_t *items = apijson_get(json, "items");
	int e;

	if (items && !json_is_array(items))
		return podread_fail(r, "items", "is not a list");
	if (json_array_size(items) != 1)
		return podread_fail(r, "items", "does not hold one Job alone");
	podread_enter(r, "items", 0);
	podread_enter(r, NULL, 0);
	e = read_job(r, json_array_get(items, 0), of_jobs, job);
	podread_leave(r);
	podread_leave(r);
	return e;
}

int podread_job(const json_t *json, struct arena *arena, struct jobpolicy *ret,
		struct podread_error *ret_error)
{
	enum { JOB_LIST = 2 };
	static const char *const lists[] = {"List", "JobList", NULL};
	struct podread r = {.arena = arena, .error = ret_error};
	struct jobpolicy job = {};
	uint32_t list = apijson_word(apijson_get(json, "kind"), lists);
	int e = list ? read_job_list(&r, json, list == JOB_LIST, &job)
		     : read_job(&r, json, false, &job);

	if (e == 0)
		*ret = job;
	return e;
}

void podwrite_status(struct buf *out, const char *key, const struct podobj_pod_status *status)
{
	jsonw_object(out, key);
	apirows_write(out, podrows_status, status);
	jsonw_object_end(out);
}
