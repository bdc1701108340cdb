// SPDX-License-Identifier: Apache-2.0
/* What a pod's spec asks for. */
#include <errno.h>
#include <string.h>

#include "wire/kubernetes/pod_priv.h"
#include "wire/kubernetes/pods_priv.h"

static int read_policy(struct podread *r, const json_t *object, enum meta_restart_policy *ret)
{
	static const char *const words[] = {"Always", "OnFailure", "Never", NULL};
	const json_t *value = podjson_get(object, "restartPolicy");
	uint32_t word = podjson_word(value, words);

	if (value && !word && json_string_length(value) > 0)
		return podread_fail(r, "restartPolicy", "is none of Always, OnFailure, Never");
	if (value && !json_is_string(value))
		return podread_fail(r, "restartPolicy", "is not a string");
	*ret = word;
	return 0;
}

static int read_rule(struct podread *r, const json_t *json, void *ret)
{
	static const char *const actions[] = {"Restart", "RestartAllContainers", NULL};
	static const char *const ops[] = {"In", "NotIn", NULL};
	struct podobj_rule *rule = ret;
	const json_t *codes;
	int e = podread_object(r, json, "exitCodes", &codes);

	rule->action = podjson_word(podjson_get(json, "action"), actions);
	if (e < 0 || !codes)
		return e;
	rule->op = podjson_word(podjson_get(codes, "operator"), ops);
	podread_enter(r, "exitCodes", 0);
	e = podread_int32s(r, codes, "values", &rule->codes, &rule->n_codes);
	podread_leave(r);
	return e;
}

static int read_container(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_container *container = ret;
	int e;

	container->name = container->image = "";
	if ((e = podread_text(r, json, "name", PODREAD_NAME_MAX, &container->name)) < 0 ||
	    (e = podread_text(r, json, "image", PODREAD_MESSAGE_MAX, &container->image)) < 0 ||
	    (e = read_policy(r, json, &container->restart_policy)) < 0)
		return e;
	return podread_items(r, json, "restartPolicyRules", PODREAD_ITEMS_MAX, read_rule,
			     sizeof(*container->rules), &container->rules, &container->n_rules);
}

static int read_containers(struct podread *r, const json_t *spec, const char *key,
			   struct podobj_containers *ret)
{
	return podread_items(r, spec, key, PODREAD_CONTAINERS_MAX, read_container,
			     sizeof(*ret->items), &ret->items, &ret->n);
}

static int read_gate(struct podread *r, const json_t *json, void *ret)
{
	const char **gate = ret;

	*gate = "";
	return podread_text(r, json, "conditionType", PODREAD_NAME_MAX, gate);
}

static int read_toleration(struct podread *r, const json_t *json, void *ret)
{
	struct podobj_toleration *t = ret;
	int e;

	t->key = t->op = t->value = t->effect = "";
	t->has_seconds = podjson_get(json, "tolerationSeconds") != NULL;
	if ((e = podread_text(r, json, "key", PODREAD_NAME_MAX, &t->key)) < 0 ||
	    (e = podread_text(r, json, "operator", PODREAD_NAME_MAX, &t->op)) < 0 ||
	    (e = podread_text(r, json, "value", PODREAD_NAME_MAX, &t->value)) < 0 ||
	    (e = podread_text(r, json, "effect", PODREAD_NAME_MAX, &t->effect)) < 0)
		return e;
	return podread_integer(r, json, "tolerationSeconds", INT64_MIN, INT64_MAX, &t->seconds);
}

static int read_volumes(struct podread *r, const json_t *spec, uint32_t *ret)
{
	static const struct {
		const char *key;
		uint32_t bit;
	} kinds[] = {
		{"emptyDir", PODOBJ_VOLUME_EMPTY_DIR},
		{"hostPath", PODOBJ_VOLUME_HOST_PATH},
		{"persistentVolumeClaim", PODOBJ_VOLUME_CLAIM},
		{"ephemeral", PODOBJ_VOLUME_CLAIM},
	};
	const json_t *list;
	int e = podread_list(r, spec, "volumes", PODREAD_ITEMS_MAX, &list);

	for (size_t i = 0; e == 0 && i < json_array_size(list); i++) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			if (podjson_get(json_array_get(list, i), kinds[k].key))
				*ret |= kinds[k].bit;
		}
	}
	return e;
}

static int read_numbers(struct podread *r, const json_t *spec, struct podobj_pod *pod)
{
	int e;

	pod->has_deadline = podjson_get(spec, "activeDeadlineSeconds") != NULL;
	pod->has_grace = podjson_get(spec, "terminationGracePeriodSeconds") != NULL;
	pod->has_priority = podjson_get(spec, "priority") != NULL;
	if ((e = podread_integer(r, spec, "activeDeadlineSeconds", INT64_MIN, INT64_MAX,
				 &pod->deadline_s)) < 0 ||
	    (e = podread_integer(r, spec, "terminationGracePeriodSeconds", INT64_MIN, INT64_MAX,
				 &pod->grace_s)) < 0 ||
	    (e = podread_integer(r, spec, "priority", INT32_MIN, INT32_MAX, &pod->priority)) < 0)
		return e;
	return podread_bool(r, spec, "hostNetwork", &pod->host_network);
}

int podread_spec(struct podread *r, const json_t *spec, struct podobj_pod *pod)
{
	int e;

	if ((e = read_policy(r, spec, &pod->restart_policy)) < 0 ||
	    (e = podread_text(r, spec, "nodeName", PODREAD_NAME_MAX, &pod->node)) < 0 ||
	    (e = read_numbers(r, spec, pod)) < 0 ||
	    (e = read_containers(r, spec, "initContainers", &pod->inits)) < 0 ||
	    (e = read_containers(r, spec, "containers", &pod->containers)) < 0 ||
	    (e = read_containers(r, spec, "ephemeralContainers", &pod->ephemerals)) < 0 ||
	    (e = podread_items(r, spec, "readinessGates", PODREAD_ITEMS_MAX, read_gate,
			       sizeof(*pod->gates), &pod->gates, &pod->n_gates)) < 0 ||
	    (e = podread_items(r, spec, "tolerations", PODREAD_ITEMS_MAX, read_toleration,
			       sizeof(*pod->tolerations), &pod->tolerations, &pod->n_tolerations)) <
		    0)
		return e;
	return read_volumes(r, spec, &pod->volumes);
}
