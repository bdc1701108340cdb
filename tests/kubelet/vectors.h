/* SPDX-License-Identifier: Apache-2.0 */
/* What a module hands the vector driver: a way from a case's input to the answer of our code. */
#ifndef TESTS_KUBELET_VECTORS_H
#define TESTS_KUBELET_VECTORS_H

#include <jansson.h>

/* Runs one case, an object with at least "input". Returns 0 with the answer in *ret_got, in the
 * form of the case's "expected" and owned by the caller; -ENOTSUP for a kind it does not know;
 * -EINVAL for an input that is not of the kind's form; -ENOMEM. */
typedef int (*vectors_run_fn)(json_t *vector, json_t **ret_got);

/* How a module whose cases have a "kind" answers those of one; NULL ends a table. */
struct vectors_kind {
	const char *kind;
	int (*run)(json_t *input, json_t **ret_got);
};

int vectors_run_kind(const struct vectors_kind *kinds, json_t *vector, json_t **ret_got);

int vectors_run_cgroup_paths(json_t *vector, json_t **ret_got);
int vectors_run_conditions(json_t *vector, json_t **ret_got);
int vectors_run_container_status(json_t *vector, json_t **ret_got);
int vectors_run_grace(json_t *vector, json_t **ret_got);
int vectors_run_node_failure(json_t *vector, json_t **ret_got);
int vectors_run_phase(json_t *vector, json_t **ret_got);
int vectors_run_pod_status(json_t *vector, json_t **ret_got);
int vectors_run_pod_worker(json_t *vector, json_t **ret_got);
int vectors_run_shutdown(json_t *vector, json_t **ret_got);

/* Modules' own rules, as kubelet/compare.h has them. */
void vectors_rule_container_status(json_t *vector, json_t *expected, json_t *got);
void vectors_rule_node_failure(json_t *vector, json_t *expected, json_t *got);
void vectors_rule_phase(json_t *vector, json_t *expected, json_t *got);
void vectors_rule_pod_worker(json_t *vector, json_t *expected, json_t *got);

#endif
