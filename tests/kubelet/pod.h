/* SPDX-License-Identifier: Apache-2.0 */
/* The form in which the cases of phase, conditions and pod_status write containers and what is
 * known of them: {"name", "state": "terminated", "exit_code", "last_terminated": {...}}. */
#ifndef TESTS_KUBELET_POD_H
#define TESTS_KUBELET_POD_H

#include <jansson.h>

#include "base/arena.h"
#include "core/kubelet/pod.h"

/* Each returns 0, -EINVAL for what is not of the form, a member that is not known included, or
 * -ENOMEM. Text lives as long as the JSON. */
int vectors_read_containers(const json_t *list, struct arena *arena, struct podobj_containers *ret);
/* null or absent: an absent list. */
int vectors_read_statuses(const json_t *list, struct arena *arena, struct podobj_statuses *ret);
int vectors_read_conditions(const json_t *list, struct arena *arena, struct podobj_conditions *ret);
int vectors_read_policy(const json_t *value, enum meta_restart_policy *ret);

/* Each adds one entry for each element; a member that says nothing is left out. */
json_t *vectors_write_statuses(const struct podobj_statuses *statuses);
json_t *vectors_write_conditions(const struct podobj_conditions *conditions);

#endif
