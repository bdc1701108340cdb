/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what container engines outside Kubernetes keep in files about a container: Docker's
 * config.v2.json (daemon/container), the list of Podman's storage (c/storage, containers.json) and
 * the runtime's config.json, which Podman and containerd hand to runc (OCI runtime-spec). Nothing
 * else in these files matters, and nothing else in them is looked at: a number too big or a label
 * of any bytes does no harm.
 *
 * Names and images are cut at a character where they are too long; every function returns 0,
 * -EBADMSG for what is not such a file, or -ENOENT for a file that is about another container.
 */
#ifndef WIRE_RUNTIME_FILES_H
#define WIRE_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names/meta.h"
#include "core/shutdown/managed.h"

#define CTRJSON_PATH_MAX 4096

/*
 * Docker stops by SIGTERM and waits 10 s unless its configuration differs; a timeout below 0 is no
 * timeout. A container that is Kubernetes' (made by cri-dockerd, by its labels) is named as its pod
 * names it, and its grace period is the kubelet's, so it is unknown here; its pod's sandbox has no
 * name. For any other, namespace and workload are the project and the service of docker compose
 * (labels of pkg/api/labels.go); one that does not fit whole is another one, so it is left out.
 */
int ctrjson_docker(const char *text, size_t len, const char *id, struct meta_container *ret);

/* Labels in a file that ctrjson_docker() takes: bit i is set if the container has that of rule
 * i. */
uint32_t ctrjson_docker_labels(const char *text, size_t len, const struct managed_rule *rules,
			       size_t n);

/* The container's name and image out of Podman's list. */
int ctrjson_storage(const char *text, size_t len, const char *id, struct meta_container *ret);

struct ctrjson_bundle {
	char cgroups_path[CTRJSON_PATH_MAX]; /* linux.cgroupsPath; "" where unknown or too long */
	char name[META_NAME_MAX];	     /* nerdctl's, or in its pod; "" for all others */
	uint32_t stop_signal;		     /* 0: unknown */
	bool cri;			     /* a container of Kubernetes, or its sandbox */
	enum meta_container_kind kind;	     /* which of both; unknown for all others */
	char sandbox_id[META_ID_MAX];	     /* its sandbox's; a sandbox's own */
	char pod_uid[POD_UID_MAX];	     /* "" where unknown */
	bool has_grace;
	uint64_t grace_ns;
};

/*
 * A runtime's config.json. Podman writes the stop signal into an annotation
 * (org.opencontainers.image.stopSignal) and, from version 4.4 on, the timeout by the property of
 * its systemd scope (org.systemd.property.TimeoutStopUSec); nerdctl leaves its labels there and
 * waits 10 s where they do not say otherwise; ctr writes nothing. containerd's CRI and CRI-O
 * write whether it is a sandbox, and the container's name. The user who makes a pod may have its
 * annotations copied to here, but does not know ids: a sandbox is one only with its own as
 * sandbox_id.
 */
int ctrjson_bundle(const char *text, size_t len, struct ctrjson_bundle *ret);

/* Podman's container, by its configuration and what the list has of it. -ENOENT: it is another's. */
int ctrjson_podman(const struct ctrjson_bundle *bundle, const struct meta_container *listed,
		   struct meta_container *ret);

/*
 * Whether linux.cgroupsPath means the cgroup at that absolute path of the hierarchy: the path
 * itself, or "slice:prefix:name", systemd's scope, whose slices nest by the dashes in their names.
 */
bool ctrjson_is_cgroup(const char *cgroups_path, const char *path);

#endif
