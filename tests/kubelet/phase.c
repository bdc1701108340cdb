// SPDX-License-Identifier: Apache-2.0
/* Drives core/kubelet/phase from phase.json: what containers are and do in, the phase out, by the
 * rules of today, of 1.26 and with the gate ContainerRestartRules off. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/phase.h"
#include "kubelet/vectors.h"
#include "kubelet/pod.h"
#include "lib/pods/podmake.h"

static const char older[] = "phase_kubelet_1_26";
static const char gate_off[] = "phase_gate_ContainerRestartRules_off";

struct parts {
	json_t *policy, *inits, *containers, *statuses, *gates;
	int killed, initialized, is_static;
};

static int unpack(json_t *input, struct parts *parts)
{
	*parts = (struct parts){};
	return json_unpack(input, "{s:o, s:o, s:o, s:o, s:b, s:b, s?b, s?o!}", "restartPolicy",
			   &parts->policy, "initContainers", &parts->inits, "containers",
			   &parts->containers, "statuses", &parts->statuses, "podIsTerminal",
			   &parts->killed, "podHasInitialized", &parts->initialized, "static",
			   &parts->is_static, "gates", &parts->gates) < 0
		       ? -EINVAL
		       : 0;
}

static int read_gates(json_t *json, struct podphase_rules *rules)
{
	int container_rules = rules->container_rules, restart_all = rules->restart_all;

	if (json && json_unpack(json, "{s?b, s?b!}", "ContainerRestartRules", &container_rules,
				"RestartAllContainersOnContainerExits", &restart_all) < 0)
		return -EINVAL;
	rules->container_rules = container_rules;
	rules->restart_all = restart_all;
	return 0;
}

static const char *answer(struct kubelet_in *in, struct podphase_rules rules)
{
	in->rules = rules;
	return meta_phase_name(podphase_of(in).phase);
}

static json_t *answers(struct kubelet_in *in, struct podphase_rules today)
{
	struct podphase_rules off = podphase_rules_of(36);

	off.container_rules = false;
	off.restart_all = false;
	return json_pack("{s:s, s:s, s:s}", "phase", answer(in, today), older,
			 answer(in, podphase_rules_of(26)), gate_off, answer(in, off));
}

int vectors_run_phase(json_t *vector, json_t **ret_got)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct podphase_rules today = podphase_rules_of(36);
	struct podobj_pod pod;
	struct kubelet_in in = {.pod = &pod};
	struct parts parts;
	int r;

	if (json_object_get(vector, "kind"))
		return -ENOTSUP;
	podobj_init(&pod);
	if ((r = unpack(json_object_get(vector, "input"), &parts)) < 0 ||
	    (r = read_gates(parts.gates, &today)) < 0 ||
	    (r = vectors_read_policy(parts.policy, &pod.restart_policy)) < 0 ||
	    (r = vectors_read_containers(parts.inits, &arena, &pod.inits)) < 0 ||
	    (r = vectors_read_containers(parts.containers, &arena, &pod.containers)) < 0 ||
	    (r = vectors_read_statuses(parts.statuses, &arena, &in.containers)) < 0)
		return r;
	pod.is_static = parts.is_static;
	in.inits = in.containers;
	in.killed = parts.killed;
	in.initialized = parts.initialized;
	*ret_got = answers(&in, today);
	return *ret_got ? 0 : -ENOMEM;
}

/* Cases about what an older kubelet does not know have no answer of its. */
void vectors_rule_phase(json_t *vector, json_t *expected, json_t *got)
{
	if (!json_object_get(expected, older))
		json_object_del(got, older);
	if (!json_object_get(expected, gate_off))
		json_object_del(got, gate_off);
}
