/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of container engines say about their containers: names, stop signals, stop
 * timeouts, and which container is a pod's sandbox. No API is queried, and nothing waits. These
 * files are read:
 *
 *	<docker root>/containers/<id>/config.v2.json
 *	<podman root>/<driver>-containers/{containers,volatile-containers}.json
 *	<podman root>/<driver>-containers/<id>/userdata/config.json
 *	<containerd state>/io.containerd.runtime.v2.task/<namespace>/<id>/config.json
 *
 * A file counts only where root alone may write to it and to each directory above it
 * (source_files_open_dir() judges them). For engines that users run (rootless Podman and Docker)
 * see io/sources/files/homes. About the containers of Kubernetes the CRI source knows more.
 */
#ifndef IO_SOURCES_FILES_FILES_H
#define IO_SOURCES_FILES_FILES_H

#include "core/cgroup/path.h"
#include "core/names/meta.h"
#include "core/shutdown/managed.h"
#include "io/sources/source.h"

struct source_files;

/* Directories; NULL: as the distributions have them; "": not asked. None need exist. */
struct source_files_options {
	const char *docker_root;      /* /var/lib/docker */
	const char *podman_root;      /* /var/lib/containers/storage */
	const char *containerd_state; /* /run/containerd */
	/* The rules of shutdown.managed, whose labels are read from Docker's files; borrowed. */
	const struct managed_rule *rules;
	size_t n_rules;
};

/* Opens nothing yet. 0 or -ENOMEM. */
int source_files_new(const struct source_files_options *options, struct source_files **ret);
struct source_files *source_files_free(struct source_files *src);

/*
 * Looks a container up, by its id and the runtime that its cgroup path names: one of Docker, Podman
 * and containerd, or Docker and then containerd for CGPATH_RT_UNKNOWN. META_ABSENT, too, for an id
 * that tasks in two of containerd's namespaces have: by the id alone, neither is it. *ret is
 * written for META_FOUND alone.
 */
enum meta_result source_files_find(struct source_files *src, const char *container_id,
				   enum cgpath_runtime runtime, struct meta_container *ret);

/*
 * The same for a container of the pod with that uid: whether it is the sandbox, else its name.
 * Docker shows by its labels; containerd's CRI and CRI-O by annotations of the tasks in namespace
 * k8s.io, and in Podman's directory.
 */
enum meta_result source_files_find_in_pod(struct source_files *src, const char *container_id,
					  enum cgpath_runtime runtime, const char *pod_uid,
					  struct meta_container *ret);

/*
 * META_FOUND when a cgroup that core/cgroup/path knows nothing of is a container of containerd's:
 * "/<namespace>/<id>" (ctr), or "….slice/<prefix>-<id>.scope" (nerdctl and ctr with systemd), of a
 * task whose own configuration says exactly this cgroup. An id of more than 64 characters is not
 * found. The path is absolute in the hierarchy, without its mount point.
 */
enum meta_result source_files_identify(struct source_files *src, const char *cgroup_path,
				       struct meta_container *ret);

/* How META_DOCKER, META_PODMAN or META_CONTAINERD fares; SOURCE_OFF for any other. */
void source_files_get_state(const struct source_files *src, enum meta_source source,
			    struct source_state *ret);

#endif
