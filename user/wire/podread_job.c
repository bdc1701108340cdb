// SPDX-License-Identifier: Apache-2.0
/* Reads a Job's rules for failed pods. */
#include "wire/podread_job.h"

#include <errno.h>
#include <string.h>

#include "wire/podjson_priv.h"
#include "wire/podread_priv.h"

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

int podread_job(const json_t *json, struct arena *arena, struct jobpolicy *ret,
		struct podread_error *ret_error)
{
	static const char *const kinds[] = {"Job", NULL};
	struct podread r = {.arena = arena, .error = ret_error};
	struct jobpolicy job = {.backoff_limit = 6};
	const json_t *spec, *status;
	int e;

	if (!json_is_object(json))
		return podread_fail(&r, NULL, "is not an object");
	if (!podjson_word(podjson_get(json, "kind"), kinds))
		return podread_fail(&r, "kind", "is not Job");
	if ((e = podread_object(&r, json, "spec", &spec)) < 0 ||
	    (e = podread_object(&r, json, "status", &status)) < 0)
		return e;
	podread_enter(&r, "status", 0);
	e = podread_integer(&r, status, "failed", 0, INT32_MAX, &job.failed);
	podread_leave(&r);
	if (e < 0)
		return e;
	podread_enter(&r, "spec", 0);
	e = read_spec(&r, spec, &job);
	podread_leave(&r);
	if (e == 0)
		*ret = job;
	return e;
}
