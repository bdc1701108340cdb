/* SPDX-License-Identifier: Apache-2.0 */
/* Pods, containers and processes as records have them. */
#ifndef CORE_ENGINE_SUBJECT_H
#define CORE_ENGINE_SUBJECT_H

#include "core/engine/names.h"
#include "core/stop/sender.h"

/* A pod by what sources provide of it (NULL: nothing). */
struct record_pod subject_of(const struct podtab_pod *meta, const char *uid, enum cgpath_qos qos,
			     bool is_static);
/* A node's pod and its container; ret stays as it is where there is none. */
void subject_pod(const struct names *names, const struct cgnode *node, struct record_pod *ret);
void subject_container(const struct names *names, const struct cgnode *node,
		       struct record_container *ret);
/* A container whose cgroup may be gone: by its entry c. */
void subject_ended(const struct names *names, const struct podtab_container *c,
		   struct record_pod *ret_pod, struct record_container *ret);
struct record_process subject_process(const struct graced_proc *proc);
/* Outside of containers it has no ns_pid: no container's processes know it by that. */
struct record_process subject_sender(const struct sender *sender);

#endif
