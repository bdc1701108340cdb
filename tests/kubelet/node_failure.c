// SPDX-License-Identifier: Apache-2.0
/* Drives core/kubelet/node_failure from node_failure.json: nodes and pods in, what pod gc does with
 * them out. */
#include <errno.h>
#include <string.h>

#include "core/kubelet/node_failure.h"
#include "kubelet/vectors.h"
#include "lib/pods/podmake.h"

/* What pod gc does with a pod because of the out-of-service taint. */
enum gc {
	GC_LEAVES,
	GC_DELETES,
	GC_FAILS, /* sets the phase to Failed first, then deletes */
};

static enum gc gc_of(const struct podobj_pod *pod, bool node_ready, bool out_of_service)
{
	if (!pod->deleting || node_ready || !out_of_service)
		return GC_LEAVES;
	return podobj_phase_is_terminal(pod->status.phase) ? GC_DELETES : GC_FAILS;
}

static const json_t *node_of(const json_t *nodes, const char *name)
{
	for (size_t i = 0; i < json_array_size(nodes); i++) {
		const json_t *node = json_array_get(nodes, i);
		const char *its = json_string_value(json_object_get(node, "name"));

		if (its && strcmp(its, name) == 0)
			return node;
	}
	return NULL;
}

static bool is_out_of_service(const json_t *node)
{
	const json_t *taints = json_object_get(node, "taints");

	for (size_t i = 0; i < json_array_size(taints); i++) {
		const char *key =
			json_string_value(json_object_get(json_array_get(taints, i), "key"));

		if (key && strcmp(key, NODEFAIL_OUT_OF_SERVICE) == 0)
			return true;
	}
	return false;
}

static int ask_pod(json_t *json, const json_t *nodes, json_t *deleted, json_t *failed)
{
	struct podobj_toleration taint = {
		.key = NODEFAIL_OUT_OF_SERVICE, .op = "Exists", .value = "", .effect = "NoExecute"};
	struct podobj_pod pod;
	const json_t *node;
	const char *ready;
	enum gc gc;
	int deleting = 0, tolerates = 0;

	podobj_init(&pod);
	if (json_unpack(json, "{s:s, s:s, s?b, s?s, s?b!}", "name", &pod.name, "node", &pod.node,
			"deletion", &deleting, "phase", &pod.status.phase,
			"tolerates_out_of_service", &tolerates) < 0)
		return -EINVAL;
	node = node_of(nodes, pod.node);
	ready = json_string_value(json_object_get(node, "ready"));
	if (!ready)
		return -EINVAL;
	pod.deleting = deleting;
	if (tolerates) {
		pod.tolerations = &taint;
		pod.n_tolerations = 1;
	}
	gc = gc_of(&pod, strcmp(ready, "True") == 0, is_out_of_service(node));
	if (gc == GC_FAILS)
		json_array_append_new(failed, json_string(pod.name));
	if (gc != GC_LEAVES)
		json_array_append_new(deleted, json_string(pod.name));
	return 0;
}

static int run_podgc(json_t *input, json_t **ret_got)
{
	json_auto_t *deleted = json_array(), *failed = json_array();
	json_t *nodes, *pods;

	if (json_unpack(input, "{s:o, s:o!}", "nodes", &nodes, "pods", &pods) < 0)
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(pods); i++) {
		int r = ask_pod(json_array_get(pods, i), nodes, deleted, failed);

		if (r < 0)
			return r;
	}
	*ret_got = json_pack("{s:O, s:O, s:i}", "force_deleted", deleted,
			     "phase_patched_to_Failed_first", failed, "delete_grace_s",
			     NODEFAIL_GC_GRACE_S);
	return *ret_got ? 0 : -ENOMEM;
}

int vectors_run_node_failure(json_t *vector, json_t **ret_got)
{
	const char *kind = json_string_value(json_object_get(vector, "kind"));

	if (kind && strcmp(kind, "podgc_out_of_service") == 0)
		return run_podgc(json_object_get(vector, "input"), ret_got);
	return -ENOTSUP;
}

/* Where nothing is deleted a case need not say how. */
void vectors_rule_node_failure(json_t *vector, json_t *expected, json_t *got)
{
	if (json_array_size(json_object_get(got, "force_deleted")) == 0 &&
	    !json_object_get(expected, "delete_grace_s"))
		json_object_del(got, "delete_grace_s");
}
