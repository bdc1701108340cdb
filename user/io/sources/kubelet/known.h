/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that a source has listed, so that one that it does not list any more can be reported. */
#ifndef IO_SOURCES_KUBELET_KNOWN_H
#define IO_SOURCES_KUBELET_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names/meta.h"

struct source_known_pod {
	char uid[POD_UID_MAX]; /* first, to be compared with a text */
	int64_t seen_wall_ns;  /* when its kubelet first saw it; 0: unknown */
};

/* In the order they came, or sorted. */
struct source_known_pods {
	struct source_known_pod *list;
	size_t n, room;
	bool full;   /* there were more */
	bool by_api; /* some of them are pods of the API, not static ones */
};

/* Which process made a list, by the times at which it first saw the pods that the list before has
 * too: each is the same as there, or each is another. */
enum source_known_process {
	SOURCE_PROCESS_UNKNOWN, /* no such pod */
	SOURCE_PROCESS_SAME,
	SOURCE_PROCESS_RESTARTED,
};

/* How many of the pods that left are remembered, the newest. */
#define SOURCE_KNOWN_LEFT 128

/* All zeros, but for kubelet. */
struct source_known {
	bool kubelet; /* it is the kubelet's lists, not the API server's */
	struct source_known_pods before, now;
	char left[SOURCE_KNOWN_LEFT][POD_UID_MAX]; /* "": none */
	size_t n_left;				   /* ever; the next replaces the oldest */
	enum source_known_process process;	   /* that made the list of now; after judge */
	bool ignorant;				   /* that list; after judge */
};

void source_known_done(struct source_known *known);

/* A new list, its pods one by one, and its end. */
void source_known_begin(struct source_known *known);
void source_known_add(struct source_known *known, const struct meta_pod *pod, int64_t seen_wall_ns);
/* same: the same kubelet process made the list before, whatever their pods say. */
void source_known_judge(struct source_known *known, bool same);
/*
 * Whether the list judged last says nothing of the pods that it lacks (docs/kubelet-rules.md,
 * "Sources of pods"): a kubelet that has started since lists no pod until the runtime is up, then
 * static pods alone until the API has answered, then for a moment some of those that the API has.
 */
bool source_known_is_ignorant(const struct source_known *known);
/* Calls gone for the pods that were listed before and are not now: for those from *at up to limit
 * more, of before. True: that was the last. With more pods than are held, one that is not among
 * those held may still be there. */
bool source_known_compare(struct source_known *known, size_t *at, size_t limit,
			  void (*gone)(void *userdata, const char *uid), void *userdata);
/* The list is the one that the next is compared with. */
void source_known_finish(struct source_known *known);

/*
 * Whether a list of this kubelet process lacked the pod, and none has had it since. Events of such
 * a pod come until it has ended: its status is set when its manifest is gone already, even as that
 * of a new pod (SetPodStatus() and RemoveOrphanedStatuses() in pkg/kubelet/status).
 */
bool source_known_has_left(const struct source_known *known, const char *uid);
/* Between two lists: one more. */
void source_known_insert(struct source_known *known, const struct meta_pod *pod,
			 int64_t seen_wall_ns);

#endif
