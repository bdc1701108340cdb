/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What made a pod, as people call it: the Deployment rather than its ReplicaSet. By its owner where
 * one is provided, else by what controllers leave in labels and names
 * (pkg/controller/deployment/sync.go, pkg/controller/controller_utils.go,
 * pkg/controller/statefulset/stateful_set_utils.go, pkg/controller/job/indexed_job_utils.go).
 */
#ifndef CORE_NAMES_WORKLOAD_H
#define CORE_NAMES_WORKLOAD_H

#include <stdbool.h>

#include "core/names/meta.h"

/* NULL or "": not known. */
struct workload_facts {
	const char *pod;	/* metadata.name */
	const char *node;	/* spec.nodeName */
	const char *owner_kind; /* of the controlling owner reference */
	const char *owner_api;	/* its apiVersion */
	const char *owner;
	bool is_static;		     /* static or mirror: owned by the node, or not owned */
	const char *template_hash;   /* label pod-template-hash */
	const char *statefulset_pod; /* label statefulset.kubernetes.io/pod-name */
	const char *revision_hash;   /* label controller-revision-hash */
	const char *job;	     /* label batch.kubernetes.io/job-name, or job-name */
};

/* Whether a reference is to that kind of an API group ("": the core's), whatever its version. One
 * without an apiVersion (NULL, "") is to Kubernetes' own kind. */
bool workload_kind_is(const char *kind, const char *api_version, const char *wanted,
		      const char *group);

/*
 * A ReplicaSet's name loses "-<template hash>" (or, without the label, a last part that looks like
 * one), a Job's that a CronJob made its "-<minutes since 1970>"; a static pod's loses "-<node>"; a
 * bare pod is its own workload. ret is "" only when the pod has no name.
 */
void workload_name(const struct workload_facts *facts, char ret[static META_NAME_MAX]);

/*
 * The kind of that workload, by facts of a source that provides owners; "" where it is unknown.
 * "Deployment" of a ReplicaSet whose name ends in the label's template hash, "CronJob" of a Job
 * whose name ends in a time, "StaticPod", "Pod" of one without an owner, else the owner's own kind.
 */
void workload_kind(const struct workload_facts *facts, char ret[static META_KIND_MAX]);

#endif
