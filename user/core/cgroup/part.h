/* SPDX-License-Identifier: Apache-2.0 */
/* What one component of a cgroup path says by its own letters, whatever its place; core/cgroup/path
 * adds what the place means. Parts point into the caller's bytes and are not terminated; predicates
 * leave *ret alone when they answer false. */
#ifndef CORE_CGROUP_PART_H
#define CORE_CGROUP_PART_H

#include "core/cgroup/path.h"

/* The UID of a static pod: the hash of its manifest, in hex. */
#define CGPART_HASH_UID_LEN 32

struct cgpart {
	const char *at;
	size_t len;
};

bool cgpart_is(struct cgpart p, const char *word);

/* Take the text off P's front or end; false, with P as it was, where it is not there. */
bool cgpart_cut_prefix(struct cgpart *p, const char *prefix);
bool cgpart_cut_suffix(struct cgpart *p, const char *suffix);

/* What a component claims to be; what it says nothing of is zero. */
struct cgpart_claim {
	enum cgpath_kind kind;
	enum cgpath_qos qos;
	enum cgpath_runtime runtime;
	enum cgpath_driver driver;
	struct cgpart uid; /* as written: dashes or underscores or a hash */
	struct cgpart id;  /* of a container or a sandbox */
};

/* A component above the pods, kubepods itself or a QoS class: "kubepods", "burstable", or a slice,
 * which carries the names of its parents: "[…-]kubepods[-burstable].slice"; besteffort alike. */
bool cgpart_is_upper(struct cgpart c, struct cgpart_claim *ret);

/* "[…-][burstable-|besteffort-]pod<uid>[.slice][:runtime:ID]". The colon form is what containerd
 * makes of a systemd triple under the cgroupfs driver: the container shares the pod's component. */
bool cgpart_is_pod(struct cgpart c, struct cgpart_claim *ret);

/* A component that a runtime or systemd made for one container: "ID", "<runtime>-ID[.scope]",
 * "<runtime>-conmon-…", "….mount"; CGPATH_NONE for any other. PARENT, empty at the top, decides
 * between a container and a sandbox of CRI-O. */
struct cgpart_claim cgpart_leaf(struct cgpart c, struct cgpart parent);

/* "<task>-<digits>" in a cgroup named "<task>", a task's id of 32 hex digits: what the agent of
 * Amazon ECS makes (ecs-agent, agent/api/task/task_linux.go). CGPATH_NONE for anything else. */
struct cgpart_claim cgpart_leaf_ecs(struct cgpart c, struct cgpart parent);

/* A UUID, as garden names its containers; it counts only directly below a pod. */
struct cgpart_claim cgpart_leaf_uuid(struct cgpart c);

/* Whether only the container runtimes of Kubernetes use this runtime's names. */
bool cgpart_runtime_is_cri(enum cgpath_runtime runtime);

#endif
