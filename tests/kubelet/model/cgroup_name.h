/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup names that the kubelet gives its pods: made, and read back (docs/kubelet-rules.md,
 * "Pod cgroup names"; pkg/kubelet/cm/cgroup_manager_linux.go,
 * pkg/kubelet/cm/pod_container_manager_linux.go).
 *
 * Inside, a name is a list of components, the root an empty one. A driver writes it as a path below
 * the cgroup file system: cgroupfs as it is; systemd as slices within slices, where "-" is the
 * separator and a component's own is written "_". What paths of containers say, whoever made them,
 * is core/cgroup/path's.
 */
#ifndef TESTS_KUBELET_MODEL_CGROUP_NAME_H
#define TESTS_KUBELET_MODEL_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cgroup/path.h"

#define CGNAME_MAX_PARTS 16
#define CGNAME_PART_MAX	 256 /* with its NUL, as a file's name */
#define CGNAME_PATH_MAX	 4096

struct cgname {
	size_t n;
	char parts[CGNAME_MAX_PARTS][CGNAME_PART_MAX];
};

/* 0; -EINVAL for a component that is empty or has "/" or "_" in it, -ENAMETOOLONG, -ENOSPC
 * when there are too many. */
int cgname_append(struct cgname *name, const char *part);

/* The pod's name below root, which is --cgroup-root and "kubepods". Errors as above, and -EINVAL
 * for an unknown class. */
int cgname_of_pod(const struct cgname *root, enum cgpath_qos qos, const char *uid,
		  struct cgname *ret);

/* Its path. -EINVAL without a driver, or for a name that the driver cannot write; -ENAMETOOLONG. */
int cgname_write(const struct cgname *name, enum cgpath_driver driver, char ret[CGNAME_PATH_MAX]);

/* The name of a path that driver wrote. -EINVAL for what it does not write, -ENAMETOOLONG,
 * -ENOSPC. */
int cgname_parse(const char *path, enum cgpath_driver driver, struct cgname *ret);

/* Whether name is a pod's: a direct child of one of the roots of the QoS classes, "pod" and a UID
 * that has no other "pod" in it. *ret_uid is valid as long as name. */
bool cgname_is_pod(const struct cgname *name, const struct cgname *roots, size_t n_roots,
		   const char **ret_uid);

/* The cgroupsPath that containerd hands the runtime for a container: below a slice
 * slice:cri-containerd:ID, elsewhere the parent and ID (docs/kubelet-rules.md, "Container cgroup
 * names"). -EINVAL for a parent with "..", -ENAMETOOLONG. */
int cgname_of_containerd(const char *parent, const char *id, char ret[CGNAME_PATH_MAX]);

/* cpu.shares for what cpu.weight says, 1 to 10000; 0 for what is no weight. */
uint64_t cgname_shares_of_weight(uint64_t weight);

#endif
