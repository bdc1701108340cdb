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

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "core/kubelet/pod.h"
#include "core/names/meta.h"

/* Limit of one pod: its bytes. Those of what is read of it are in wire/kubernetes/rows. */
#define PODJSON_POD_MAX ((size_t)2 << 20)

/* The longest grace period that is reported, in seconds: 31 years. A longer one is taken for it, so
 * that sums of them do not overflow; a negative one is unknown. */
#define PODJSON_GRACE_MAX 1000000000

/* A pod is reported first, with what it was made of, then its containers: those of its spec, and
 * what its status says of them. A container that ended and was replaced is reported by its id with
 * how it ended. Each has META_KUBELET as its source; a mirror has the static pod's uid. */
struct podjson_sink {
	void *userdata;
	void (*pod)(void *userdata, const struct meta_pod *meta, const struct podobj_pod *pod);
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

/* What the list has and says of itself, as far as the walk has come. */
struct podjson_list {
	uint64_t pods;	  /* reported */
	uint64_t skipped; /* items of the list that were not */
	/* The API server puts these first; without items they are 0. */
	uint64_t version; /* metadata.resourceVersion; 0: none that is a number */
	bool partial;	  /* metadata.continue: there are more pods than these */
};

const struct podjson_list *podjson_list(const struct podjson *walk);

/* One page of the API's list of a node's pods. */

#define PODPAGE_LIMIT	     50 /* pods: about 1 MB, where each has 20 KiB */
#define PODPAGE_CONTINUE_MAX 512

/* The path and query of the page that next names; node and next are as they were checked.
 * buf_error(). */
int podpage_path(struct buf *out, const char *node, const char *next);

/* How many pods of the page the out-of-service taint is to remove, and what names the page after it;
 * "": it is the last. 0; -EBADMSG for what is no such list, or names a next page in a way that no
 * path may have; -E2BIG, -EINVAL, -ENOMEM. A pod that cannot be read is an error, as it may be one
 * that waits. */
int podpage_read(const char *text, size_t size, size_t *ret_waiting,
		 char ret_next[static PODPAGE_CONTINUE_MAX]);

/*
 * Pods as the kubelet's pods API carries them (KEP-4188): the core/v1 Pod in Kubernetes' protobuf,
 * in the events of a stream. It is read by the same rows as its JSON: what holds
 * for that holds here.
 */

/* "/v1alpha1.Pods/WatchPods": in Kubernetes 1.36 and 1.37 alike. */
extern const char podproto_watch_path[];

/* As the stream numbers them. */
enum podproto_type {
	PODPROTO_ADDED = 1, /* also each pod that is there when the stream begins */
	PODPROTO_MODIFIED,
	PODPROTO_DELETED, /* the kubelet has finished with it; only its names and uid are sure */
	PODPROTO_SYNCED,  /* all that were there have come; without a pod */
};

/* Limit of an event: a pod and what is around it. */
#define PODPROTO_EVENT_MAX (PODJSON_POD_MAX + 64)

struct podproto_event {
	unsigned int type; /* enum podproto_type, or another */
	const void *pod;   /* within the message */
	size_t pod_len;
};

struct podproto;

/* Memory that one message after another is read in. 0 or -ENOMEM. */
int podproto_new(struct podproto **ret);
struct podproto *podproto_free(struct podproto *reader);
DEFINE_CLEANUP(struct podproto *, podproto_free);

/* *ret is valid until the next call. -EBADMSG: it is no such message, -EMSGSIZE: too long. */
int podproto_read_event(struct podproto *reader, const void *message, size_t len,
			struct podproto_event *ret);

/* Hands the pod and then its containers to the sink, never to its object(). The bytes may be those
 * of the event read last. 0: reported; 1: passed over, as podjson_next() passes over; -ENOMEM. */
int podproto_read_pod(struct podproto *reader, const void *pod, size_t len,
		      const struct podjson_sink *sink);

/* One pod of a list or a stream, as it was read, to metadata. */

/* Hands it and then its containers to the sink; the arena is for what that takes. 0; 1: it has no
 * uid; -ENOMEM. */
int podmeta_report(const struct podobj_pod *pod, struct arena *arena,
		   const struct podjson_sink *sink);

#endif
