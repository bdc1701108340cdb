// SPDX-License-Identifier: Apache-2.0
/*
 * The families about pods, the kubelet's own under another prefix (docs/kubelet-rules.md, "Pod
 * metrics"): static is "true" or empty there, and "unknown" of pods that only their cgroups tell of.
 */
#include "wire/prometheus/metrics_priv.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static const char *const is_static[] = {"", "true"};

static void add_working(struct expo *expo, const struct podworker_house *pods)
{
	static const struct expo_family family = {
		"graced_working_pods", EXPO_GAUGE, NULL,
		"Pods that are followed, by where they are in their life, whether the kubelet lists "
		"them, and whether they are static."};
	static const char *const configs[] = {
		[PODWORKER_DESIRED] = "desired",
		[PODWORKER_ORPHAN] = "orphan",
		[PODWORKER_RUNTIME_ONLY] = "runtime_only",
	};

	expo_family(expo, &family);
	for (int state = 0; state < PODWORKER_STATE_COUNT; state++) {
		for (int i = 0; i < 2 * PODWORKER_CONFIG_COUNT - 1; i++) {
			bool runtime = i / 2 == PODWORKER_RUNTIME_ONLY;
			struct expo_label labels[] = {
				{"lifecycle", podworker_state_name((enum podworker_state)state)},
				{"config", configs[i / 2]},
				{"static", runtime ? "unknown" : is_static[i % 2]},
			};

			expo_u64(expo, labels, LEN(labels), pods->working[state][i / 2][i % 2]);
		}
	}
}

static void add_split(struct expo *expo, const struct expo_family *family, const uint64_t *values)
{
	expo_family(expo, family);
	for (int i = 0; i < 2; i++)
		expo_u64(expo, &(struct expo_label){"static", is_static[i]}, 1, values[i]);
}

static void add_one(struct expo *expo, const struct expo_family *family, uint64_t value)
{
	expo_family(expo, family);
	expo_u64(expo, NULL, 0, value);
}

static void add_transitions(struct expo *expo, const uint64_t *states)
{
	static const struct expo_family family = {"graced_pod_transitions", EXPO_COUNTER, NULL,
						  "Pods that entered a state, by state."};

	expo_family(expo, &family);
	for (int state = PODWORKER_STAGE_SYNC; state <= PODWORKER_STAGE_FINISHED; state++)
		expo_u64(expo,
			 &(struct expo_label){"state",
					      podworker_stage_name((enum podworker_stage)state)},
			 1, states[state]);
}

static void add_discrepancies(struct expo *expo, const uint64_t *told)
{
	static const struct expo_family family = {
		"graced_discrepancies", EXPO_COUNTER, NULL,
		"Reports of the kubelet, the API or the runtime about pods and exits that contradict what "
		"the kernel observed, by kind."};

	expo_family(expo, &family);
	for (int kind = 0; kind < DISCREPANCY_COUNT; kind++) {
		struct expo_label label = {"kind", discrepancy_name((enum discrepancy)kind)};

		expo_u64(expo, &label, 1, told[kind]);
	}
}

void metrics_add_pods(struct expo *expo, const struct metrics *metrics)
{
	static const struct expo_family
		desired = {"graced_desired_pods", EXPO_GAUGE, NULL,
			   "Pods that the kubelet lists, those at their end included."},
		active = {"graced_active_pods", EXPO_GAUGE, NULL,
			  "Pods that the kubelet lists and that have processes, or are to have."},
		mirror = {"graced_mirror_pods", EXPO_GAUGE, NULL,
			  "Mirror pods that the kubelet is to have in the API: one for each static "
			  "pod that it lists."},
		restarted = {"graced_restarted_pods", EXPO_COUNTER, NULL,
			     "Pods that began again under the uid of one that was over."},
		orphaned = {"graced_orphaned_runtime_pods", EXPO_COUNTER, NULL,
			    "Pods with processes that the kubelet did not list when it was asked."},
		refused = {"graced_pods_refused", EXPO_COUNTER, NULL,
			   "Pods that are not followed because there is no room."};
	const struct podworker_house *pods = &metrics->pods;

	add_working(expo, pods);
	add_split(expo, &desired, pods->desired);
	add_split(expo, &active, pods->active);
	add_one(expo, &mirror, pods->desired[true]);
	add_split(expo, &restarted, pods->restarted);
	add_one(expo, &orphaned, pods->orphaned);
	add_one(expo, &refused, metrics->engine.pods_refused);
	add_transitions(expo, metrics->engine.pod_states);
	add_discrepancies(expo, metrics->engine.discrepancies);
}
