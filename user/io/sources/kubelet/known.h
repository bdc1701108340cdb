/* SPDX-License-Identifier: Apache-2.0 */
/* The pods that a source has listed, so that one that it does not list any more can be reported. */
#ifndef IO_SOURCES_KUBELET_KNOWN_H
#define IO_SOURCES_KUBELET_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names/meta.h"

struct podsrc_known_pod {
	char uid[POD_UID_MAX]; /* first, to be compared with a text */
	int64_t seen_wall_ns;  /* when its kubelet first saw it; 0: unknown */
};

/* In the order they came, or sorted. */
struct podsrc_known_pods {
	struct podsrc_known_pod *list;
	size_t n, room;
	bool full;   /* there were more */
	bool by_api; /* some of them are pods of the API, not static ones */
};

/* Which process made a list, by the times at which it first saw the pods that the list before has
 * too: each is the same as there, or each is another. */
enum podsrc_known_process {
	PODSRC_PROCESS_UNKNOWN, /* no such pod */
	PODSRC_PROCESS_SAME,
	PODSRC_PROCESS_RESTARTED,
};

/* How many of the pods that left are remembered, the newest. */
#define PODSRC_KNOWN_LEFT 128

/* All zeros, but for kubelet. */
struct podsrc_known {
	bool kubelet; /* it is the kubelet's lists, not the API server's */
	struct podsrc_known_pods before, now;
	char left[PODSRC_KNOWN_LEFT][POD_UID_MAX]; /* "": none */
	size_t n_left;				   /* ever; the next replaces the oldest */
	enum podsrc_known_process process;	   /* that made the list of now; after judge */
	bool ignorant;				   /* that list; after judge */
};

void podsrc_known_done(struct podsrc_known *known);

/* A new list, its pods one by one, and its end. */
void podsrc_known_begin(struct podsrc_known *known);
void podsrc_known_add(struct podsrc_known *known, const struct meta_pod *pod, int64_t seen_wall_ns);
/* same: the same kubelet process made the list before, whatever their pods say. */
void podsrc_known_judge(struct podsrc_known *known, bool same);
/*
 * Whether the list judged last says nothing of the pods that it lacks (docs/kubelet-rules.md,
 * "Sources of pods"): a kubelet that has started since lists no pod until the runtime is up, then
 * static pods alone until the API has answered, then for a moment some of those that the API has.
 */
bool podsrc_known_is_ignorant(const struct podsrc_known *known);
/* Calls gone for the pods that were listed before and are not now: for those from *at up to limit
 * more, of before. True: that was the last. With more pods than are held, one that is not among
 * those held may still be there. */
bool podsrc_known_compare(struct podsrc_known *known, size_t *at, size_t limit,
			  void (*gone)(void *userdata, const char *uid), void *userdata);
/* The list is the one that the next is compared with. */
void podsrc_known_finish(struct podsrc_known *known);

/*
 * Whether a list of this kubelet process lacked the pod, and none has had it since. Events of such
 * a pod come until it has ended: its status is set when its manifest is gone already, even as that
 * of a new pod (SetPodStatus() and RemoveOrphanedStatuses() in pkg/kubelet/status).
 */
bool podsrc_known_has_left(const struct podsrc_known *known, const char *uid);
/* Between two lists: one more. */
void podsrc_known_insert(struct podsrc_known *known, const struct meta_pod *pod,
			 int64_t seen_wall_ns);

#endif
