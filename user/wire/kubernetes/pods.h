/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods as the Kubernetes API writes them: what the kubelet answers on /pods (a PodList), what
 * `kubectl get pods -o json` prints (a List), one Pod alone. From JSON in memory to meta_pod and
 * meta_container, one pod at a time.
 *
 * No tree of the whole list is ever built: the list is walked by its brackets, a pod's bytes are
 * sieved down to the few members that are read, and those are parsed. So a pod costs microseconds
 * and a few KiB, whatever else it carries.
 *
 * The bytes are hostile: pods carry what their makers wrote. A member of the wrong type counts as
 * unknown and costs nothing else; text over its limit is dropped, not cut, but for an image. A pod
 * is passed over and counted when it has no uid as cgroups have them, is over its limits, or what
 * is read of it is no JSON: not UTF-8, a NUL inside text, a number beyond 1e308.
 */
#ifndef WIRE_KUBERNETES_PODS_H
#define WIRE_KUBERNETES_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "core/names/meta.h"

/* Limit of one pod: its bytes. Those of what is read of it are in wire/kubernetes/rows. */
#define PODJSON_POD_MAX ((size_t)2 << 20)

/* The longest grace period that is reported, in seconds: 31 years. A longer one is taken for it, so
 * that sums of them do not overflow; a negative one is unknown. */
#define PODJSON_GRACE_MAX 1000000000

struct podjson_pod {
	struct meta_pod meta; /* source is META_KUBELET */
	/* The API's image of a static pod, under the static pod's uid. One who may make pods can
	 * annotate one as such; the kubelet lists static pods themselves and never their mirrors. */
	bool mirror;
	/* The time at which this kubelet process first saw the pod, as the kubelet annotates it,
	 * whatever its source and its maker wrote (recordFirstSeenTime() in
	 * pkg/kubelet/config/config.go); 0: unknown. A kubelet that starts anew writes another. */
	int64_t seen_wall_ns;
};

/* A pod is reported first, then its containers: those of its spec, and what its status says of
 * them. A container that ended and was replaced is reported by its id with how it ended. */
struct podjson_sink {
	void *userdata;
	void (*pod)(void *userdata, const struct podjson_pod *pod);
	void (*container)(void *userdata, const struct meta_container *container);
	/* NULL, or called instead of the two above: each object as it is written, whatever is in it
	 * and however long it is. */
	void (*object)(void *userdata, const char *text, size_t size);
};

struct podjson;

/* text stays the caller's, unchanged until podjson_free(). 0 or -ENOMEM. */
int podjson_new(const char *text, size_t size, struct podjson **ret);
struct podjson *podjson_free(struct podjson *walk);
DEFINE_CLEANUP(struct podjson *, podjson_free);

/*
 * Does a bounded piece of the work: reports at most one pod, or passes over 64 KiB. 1: call again;
 * 0: the text is over, and was whole; -EBADMSG: it is no list of pods from here on, or was cut
 * short; -ENOMEM. After 0 or an error it returns the same again.
 */
int podjson_next(struct podjson *walk, const struct podjson_sink *sink);

struct podjson_counts {
	uint64_t pods;	  /* reported */
	uint64_t skipped; /* items of the list that were not */
};

void podjson_get_counts(const struct podjson *walk, struct podjson_counts *ret);

/* What the list says of itself, as far as the walk has come: the API server puts that first. */
struct podjson_list {
	uint64_t version; /* metadata.resourceVersion; 0: none that is a number */
	bool partial;	  /* metadata.continue: there are more pods than these */
};

void podjson_get_list(const struct podjson *walk, struct podjson_list *ret);

#endif
