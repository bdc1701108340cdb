/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod's status on its way from the kubelet to the API (docs/kubelet-rules.md, "Status
 * composition" to "Container transitions"; pkg/kubelet/kubelet_pods.go, generateAPIPodStatus, and
 * pkg/kubelet/status/status_manager.go): composed from its containers', compared with what the API
 * has, and made final when the pod is over. A status that is returned with a terminal phase never
 * has Ready or ContainersReady True.
 *
 * Results share strings and lists with what they were made from; what is new is in the arena.
 */
#ifndef CORE_KUBELET_STATUS_H
#define CORE_KUBELET_STATUS_H

#include "base/arena.h"
#include "core/kubelet/condition.h"
#include "core/kubelet/phase.h"
#include "core/kubelet/pod.h"

/* 0, -ENOMEM. ret_phase (may be NULL) says how the containers alone would have it. */
int podstatus_compose(const struct kubelet_in *in, struct arena *arena,
		      struct podobj_pod_status *ret, struct podphase *ret_phase);

/* The API's object says nothing of sandboxes: the condition about them, in a list that
 * podstatus_compose() has made, becomes the one that the API has. */
void podstatus_keep_sandbox(const struct podobj_pod *pod, struct podobj_conditions *made);

/* Whether spec.activeDeadlineSeconds have passed since the pod started. */
bool podstatus_deadline_passed(const struct podobj_pod *pod, int64_t now_wall_ns);

/* What the kubelet sends: its new status with what is the API's own. may_run: containers of the pod
 * may run still, so that a phase that ends it has to wait (docs/kubelet-rules.md, "Status merge").
 * 0, -ENOMEM. */
int podstatus_merge(const struct podobj_pod_status *api, const struct podobj_pod_status *kubelet,
		    bool may_run, int64_t now_wall_ns, struct arena *arena,
		    struct podobj_pod_status *ret);

/*
 * What is made of the last status once all of the pod's containers have stopped
 * (docs/kubelet-rules.md, "Terminated pods"): those without an end get ContainerStatusUnknown, and
 * the phase becomes terminal. cached NULL: the API's. 0, -ENOMEM.
 */
int podstatus_terminate(const struct podobj_pod *pod, const struct podobj_pod_status *cached,
			struct arena *arena, struct podobj_pod_status *ret);

/*
 * Whether a status may follow another: no container comes back from its end that its policy does
 * not start again (docs/kubelet-rules.md, "Container transitions"). If not, the update is dropped
 * whole, because of *ret_because.
 */
bool podstatus_may_follow(const struct podphase_rules *rules, const struct podobj_pod *pod,
			  const struct podobj_pod_status *former,
			  const struct podobj_pod_status *next, struct podobj_ref *ret_because);

#endif
