/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a cgroup path says of itself: pod, container, runtime, QoS class, cgroup driver.
 *
 * The names follow the kubelet (pkg/kubelet/cm/cgroup_manager_linux.go), containerd
 * (internal/cri/server/helpers.go), CRI-O (internal/config/cgmgr), cri-dockerd, podman, the agent
 * of Amazon ECS and garden. A path is a claim, not a proof: a user who may create cgroups can
 * choose any name below their own. So the caller must not parse below a container that it knows
 * already. */
#ifndef CORE_CGROUP_PATH_H
#define CORE_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/model/pod.h"
#include "core/words/words.h"

#define CGPATH_MAX    4096 /* bytes of a path with its NUL */
#define CGPATH_ID_LEN 64

struct cgpath {
	enum cgpath_kind kind;
	enum cgpath_qos qos;
	enum cgpath_runtime runtime;
	enum cgpath_driver driver;
	bool static_pod; /* the UID is a hash, 32 hex digits without dashes */
	/* Bytes of the path in front of the kubelet's own part, which begins with "/kubepods…"; 0
	 * for a pod that is not below one, and where there is no pod. */
	size_t root_len;
	char pod_uid[POD_UID_MAX];	      /* lower case, with dashes; "" where there is none */
	char container_id[CGPATH_ID_LEN + 1]; /* the sandbox's ID for a sandbox; "" where none */
};

/* Parses the LEN bytes at PATH, which is an absolute path ("/kubepods/…", also below
 * /sys/fs/cgroup) or a line of /proc/PID/cgroup ("N:controllers:/path", its end of line and the
 * kernel's " (deleted)" allowed). It need not be NUL-terminated; a NUL is a byte like any other and
 * belongs to no known name. Never fails: what is not recognised is CGPATH_NONE with all else empty.
 * Takes time linear in LEN and allocates nothing. *ret is written whole. */
void cgpath_parse(const char *path, size_t len, struct cgpath *ret);

/* Whether it is a container's id: so many digits, in lower case. */
bool cgpath_is_id(const char *id);

#endif
