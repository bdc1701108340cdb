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

/* A component above the pods: kubepods itself, or a QoS class. */
struct cgpart_upper {
	enum cgpath_kind kind; /* CGPATH_KUBEPODS_ROOT or CGPATH_QOS */
	enum cgpath_qos qos;   /* unknown for kubepods itself */
	enum cgpath_driver driver;
};

/* "kubepods", "burstable", or a slice, which carries the names of its parents:
 * "[…-]kubepods[-burstable].slice"; besteffort alike. */
bool cgpart_is_upper(struct cgpart c, struct cgpart_upper *ret);

/* A pod's component. The colon form is what containerd makes of a systemd triple under the cgroupfs
 * driver: the container then shares the pod's component. */
struct cgpart_pod {
	struct cgpart uid; /* as written: dashes or underscores or a hash */
	enum cgpath_qos qos;
	enum cgpath_driver driver;
	enum cgpath_runtime runtime; /* CGPATH_RT_NONE unless in the colon form */
	struct cgpart id;	     /* likewise empty */
};

/* "[…-][burstable-|besteffort-]pod<uid>[.slice][:runtime:ID]" */
bool cgpart_is_pod(struct cgpart c, struct cgpart_pod *ret);

/* A component that a runtime or systemd made for one container. */
struct cgpart_leaf {
	enum cgpath_kind kind; /* CGPATH_NONE, CONTAINER, SANDBOX, CONMON or MOUNT */
	enum cgpath_runtime runtime;
	struct cgpart id; /* empty unless a container or a sandbox */
};

/* "ID", "<runtime>-ID[.scope]", "<runtime>-conmon-…", "….mount". PARENT, empty at the top, decides
 * between a container and a sandbox of CRI-O. */
struct cgpart_leaf cgpart_leaf(struct cgpart c, struct cgpart parent);

/* "<task>-<digits>" in a cgroup named "<task>", a task's id of 32 hex digits: what the agent of
 * Amazon ECS makes (ecs-agent, agent/api/task/task_linux.go). CGPATH_NONE for anything else. */
struct cgpart_leaf cgpart_leaf_ecs(struct cgpart c, struct cgpart parent);

/* A UUID, as garden names its containers; it counts only directly below a pod. */
struct cgpart_leaf cgpart_leaf_uuid(struct cgpart c);

/* Whether only the container runtimes of Kubernetes use this runtime's names. */
bool cgpart_runtime_is_cri(enum cgpath_runtime runtime);

#endif
