// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a pod: refused with what is wrong, or read, explained by the rules of any version,
 * planned for and written again; a status that was written is read as it was. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/explain.h"
#include "core/kubelet/status.h"
#include "fuzz/fuzz.h"
#include "wire/json/explain.h"
#include "wire/json/plan.h"
#include "wire/kubernetes/pod.h"
#include "wire/text/explain.h"
#include "wire/text/plan.h"

static void check_error(int r, const struct podread_error *error)
{
	assert(r == -EINVAL || r == -ENOMEM);
	assert(r != -EINVAL || error->problem);
	assert(strnlen(error->member, sizeof(error->member)) < sizeof(error->member));
}

static void check_not_ready(const struct podobj_pod_status *status)
{
	if (!podobj_phase_is_terminal(status->phase))
		return;
	assert(!podobj_condition_is_true(&status->conditions, PODCOND_READY));
	assert(!podobj_condition_is_true(&status->conditions, PODCOND_CONTAINERS_READY));
}

static void check_explained(const struct podobj_pod *pod, const struct jobpolicy *job,
			    unsigned int minor, struct arena *arena)
{
	_cleanup_(buf_free) struct buf line = {}, table = {};
	struct explain_in in = {.minor = minor, .pod = pod, .job = job, .now_wall_ns = INT64_MAX};
	struct explain e;
	json_t *json;

	if (explain_pod(&in, arena, &e) < 0)
		return;
	assert(podphase_rule_name(e.by_containers.rule) && podnext_name(e.next));
	assert(explain_json(&line, "-", &e) == 0 &&
	       explain_table(&table, &e, &(struct grid_view){.width = 80}) == 0);
	json = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, NULL);
	assert(json);
	json_decref(json);
	if (e.from != EXPLAIN_NO_NODE)
		check_not_ready(&e.status);
}

static void check_planned(const struct podobj_pod *pod)
{
	_cleanup_(buf_free) struct buf line = {}, table = {};
	struct nodeplan_rules rules = {
		.minor = 36,
		.nodefail = nodefail_rules_of(36),
		.taint = NODEFAIL_TAINT_NO_EXECUTE,
		.taint_s = INT64_MAX,
	};
	struct nodeplan_pod planned = nodeplan_of(&rules, pod);
	json_t *json;

	assert(plan_json(&line, "-", &rules, &planned) == 0);
	assert(plan_table(&table, &rules, &planned, 1, &(struct grid_view){.width = 80}) == 0);
	json = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, NULL);
	assert(json);
	json_decref(json);
}

static void check_written(const struct podobj_pod *pod, struct arena *arena)
{
	_cleanup_(buf_free) struct buf first = {}, second = {};
	struct podobj_pod_status ended;
	struct podread_error error;
	struct podobj_pod again;
	json_t *json, *around;

	if (podstatus_terminate(pod, NULL, arena, &ended) < 0)
		return;
	check_not_ready(&ended);
	podwrite_status(&first, NULL, &ended);
	json = json_loadb(first.data, first.len, JSON_REJECT_DUPLICATES, NULL);
	assert(json);
	around = json_pack("{s:{}, s:{}, s:O}", "metadata", "spec", "status", json);
	if (podread_pod(around, arena, &again, &error) == 0) {
		podwrite_status(&second, NULL, &again.status);
		assert(strcmp(buf_str(&first), buf_str(&second)) == 0);
	}
	json_decref(around);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podread_error error = {};
	struct podobj_pod pod;
	struct jobpolicy job;
	json_t *json = NULL;
	bool has_job;
	int r;

	if (podread_parse((const char *)data, size, &json, &error) < 0) {
		assert(error.problem && !json);
		return 0;
	}
	r = podread_job(json_object_get(json, "job"), &arena, &job, &error);
	has_job = r == 0;
	if (r < 0)
		check_error(r, &error);
	r = podread_pod(json, &arena, &pod, &error);
	json_decref(json);
	if (r < 0) {
		check_error(r, &error);
		return 0;
	}
	check_explained(&pod, has_job ? &job : NULL, EXPLAIN_MINOR_MAX, &arena);
	check_explained(&pod, NULL, 26, &arena);
	check_planned(&pod);
	check_written(&pod, &arena);
	return 0;
}
