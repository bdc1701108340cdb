// SPDX-License-Identifier: Apache-2.0
/* Reads a Job's rules for failed pods. */
#include "wire/kubernetes/pod_job.h"

#include <errno.h>
#include <string.h>

#include "core/names/workload.h"
#include "wire/kubernetes/pod_priv.h"
#include "wire/kubernetes/pods_priv.h"

static int read_codes(struct podread *r, const json_t *json, struct jobpolicy_rule *rule)
{
	static const char *const ops[] = {"In", "NotIn", NULL};
	int e = podread_text(r, json, "containerName", PODREAD_NAME_MAX, &rule->container);

	rule->by_codes = true;
	rule->op = podjson_word(podjson_get(json, "operator"), ops);
	if (e == 0 && rule->op == PODOBJ_OP_OTHER)
		return podread_fail(r, "operator", "is none of In, NotIn");
	return e < 0 ? e : podread_int32s(r, json, "values", &rule->codes, &rule->n_codes);
}

/* The status of a pattern is True where none is told. */
static int read_pattern(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_condition *pattern = ret;
	int e;

	*pattern = (struct podobj_condition){
		.type = "", .status = "True", .reason = "", .message = ""};
	e = podread_text(r, json, "type", PODREAD_NAME_MAX, &pattern->type);
	return e < 0 ? e : podread_text(r, json, "status", PODREAD_NAME_MAX, &pattern->status);
}

static int read_rule(struct podread *r, const json_t *json, void *ret)
{
	static const char *const actions[] = {"Count", "FailJob", "FailIndex", "Ignore", NULL};
	struct jobpolicy_rule *rule = ret;
	uint32_t action = podjson_word(podjson_get(json, "action"), actions);
	const json_t *codes;
	int e = podread_object(r, json, "onExitCodes", &codes);

	rule->container = "";
	if (e < 0)
		return e;
	if (!action)
		return podread_fail(r, "action", "is none of Count, FailJob, FailIndex, Ignore");
	rule->action = action - 1;
	if (!codes)
		return podread_items(r, json, "onPodConditions", PODREAD_ITEMS_MAX, read_pattern,
				     sizeof(*rule->conditions), &rule->conditions,
				     &rule->n_conditions);
	podread_enter(r, "onExitCodes", 0);
	e = read_codes(r, codes, rule);
	podread_leave(r);
	return e;
}

static int read_spec(struct podread *r, const json_t *spec, struct jobpolicy *job)
{
	static const char *const failed[] = {"Failed", NULL};
	const json_t *policy;
	int e = podread_integer(r, spec, "backoffLimit", 0, INT32_MAX, &job->backoff_limit);

	job->waits_for_the_failed =
		podjson_word(podjson_get(spec, "podReplacementPolicy"), failed) != 0;
	if (e == 0)
		e = podread_object(r, spec, "podFailurePolicy", &policy);
	if (e < 0 || !policy)
		return e;
	podread_enter(r, "podFailurePolicy", 0);
	e = podread_items(r, policy, "rules", PODREAD_ITEMS_MAX, read_rule, sizeof(*job->rules),
			  &job->rules, &job->n_rules);
	podread_leave(r);
	return e;
}

static int read_metadata(struct podread *r, const json_t *metadata, struct jobpolicy *job)
{
	int e = podread_text(r, metadata, "namespace", PODREAD_NAME_MAX, &job->namespace_);

	if (e == 0)
		e = podread_text(r, metadata, "name", PODREAD_NAME_MAX, &job->name);
	return e < 0 ? e : podread_text(r, metadata, "uid", PODREAD_NAME_MAX, &job->uid);
}

static int read_status(struct podread *r, const json_t *status, struct jobpolicy *job)
{
	return podread_integer(r, status, "failed", 0, INT32_MAX, &job->failed);
}

/* One Job; the items of a JobList need carry no kind. */
static int read_one(struct podread *r, const json_t *json, bool kind_known, struct jobpolicy *job)
{
	static const struct {
		const char *key;
		int (*read)(struct podread *r, const json_t *json, struct jobpolicy *job);
	} parts[] = {{"metadata", read_metadata}, {"spec", read_spec}, {"status", read_status}};
	const char *kind = kind_known ? "Job" : "", *api = "";
	int e;

	if (!json_is_object(json))
		return podread_fail(r, NULL, "is not an object");
	if ((e = podread_text(r, json, "kind", PODREAD_NAME_MAX, &kind)) < 0 ||
	    (e = podread_text(r, json, "apiVersion", PODREAD_NAME_MAX, &api)) < 0)
		return e;
	if (strcmp(kind, "Job") != 0)
		return podread_fail(r, "kind", "is not Job");
	if (!workload_kind_is(kind, api, "Job", "batch"))
		return podread_fail(r, "apiVersion", "is not of the group batch");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *part;

		e = podread_object(r, json, parts[i].key, &part);
		podread_enter(r, parts[i].key, 0);
		if (e == 0)
			e = parts[i].read(r, part, job);
		podread_leave(r);
		if (e < 0)
			return e;
	}
	return 0;
}

static int read_list(struct podread *r, const json_t *json, bool of_jobs, struct jobpolicy *job)
{
	const json_t *items;
	int e = podread_list(r, json, "items", PODREAD_ITEMS_MAX, &items);

	if (e < 0)
		return e;
	if (json_array_size(items) != 1)
		return podread_fail(r, "items", "does not hold one Job alone");
	podread_enter(r, "items", 0);
	podread_enter(r, NULL, 0);
	e = read_one(r, json_array_get(items, 0), of_jobs, job);
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
	struct jobpolicy job = {.namespace_ = "", .name = "", .uid = "", .backoff_limit = 6};
	uint32_t list = podjson_word(podjson_get(json, "kind"), lists);
	int e = list ? read_list(&r, json, list == JOB_LIST, &job)
		     : read_one(&r, json, false, &job);

	if (e == 0)
		*ret = job;
	return e;
}
