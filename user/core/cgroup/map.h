/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live map of cgroups: which id is which branch, pod or container, and what they are called.
 *
 * Names below a known container are never read: whatever is made there *is* that container. Nor
 * are those that core/cgroup/trust does not believe: such a cgroup is a branch.
 * Nodes and pods are counted references, because a verdict may outlive the cgroup it is about.
 */
#ifndef CORE_CGROUP_MAP_H
#define CORE_CGROUP_MAP_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/map.h"
#include "core/cgroup/path.h"
#include "core/cgroup/trust.h"
#include "core/model/container.h"
#include "core/model/pod.h"
#include "graced/event.h"

struct stop;
struct shutdown_container_rec;

LIST_HEAD(cgnode_list, cgnode);

/* Why what sources could provide is missing, by how the last query ended. */
enum names_lapse {
	LAPSE_FAILED = 1 << 0, /* a source did not answer, or what it said made no sense */
	LAPSE_SHED = 1 << 1,   /* it was not queried: the budget, or its queue, was full */
	LAPSE_LATE = 1 << 2,   /* the answer has not come yet; never stored */
};

/*
 * Two kubelets, one of them in a node inside a container, could have pods of one uid: a pod's
 * cgroups are known by the root of its kubelet's cgroups and its uid. What sources say of a uid is
 * about those with the shortest root, since who makes cgroups in a nested node may forge any uid
 * there; and never about others, even when those are gone.
 */
struct pod_cgroups {
	unsigned refs;
	struct pod *pod;
	struct pod_cgroups *next; /* of the same uid below another root */
	char *root;		  /* path above the kubelet's own part; "" at the top */
	bool is_double;		  /* others had a shorter root, or were there before */
	/* Those included that are gone and that something still refers to. */
	struct cgnode_list nodes;
	enum cgpath_qos qos;
	bool is_static;
	unsigned queries;  /* queries of a source that have no answer yet */
	uint64_t asked_ns; /* of the last one */
	/* enum names_lapse, of the last answer about the pod, and about a container in it. */
	uint8_t lapse, names_lapse;
	bool answered; /* a source has, once */
	bool entered;  /* a container was in one of them */
};

enum names_state {
	NAMES_UNASKED,
	NAMES_QUERIED,
	NAMES_KNOWN,
	NAMES_ABSENT, /* the source does not know it (yet) */
};

/* Whose units a cgroup is in: core/stop/sender reads its path once and notes it here. */
enum cgnode_units {
	UNITS_ASKED = 1 << 0,
	UNITS_RUNTIME = 1 << 1,
	UNITS_KUBELET = 1 << 2,
	UNITS_OOM = 1 << 3,
};

struct cgnode {
	unsigned refs;
	uint64_t id;
	uint32_t kind; /* enum graced_watch_kind */
	char *path;    /* NULL: not known; once known it stays */
	enum cgtrust trust;
	uint32_t delegated_level; /* as core/cgroup/trust has it */
	uint32_t units;		  /* enum cgnode_units */
	struct cgpath ident;
	uint32_t user;		     /* of a container: cgtrust_user() of its path */
	struct container *container; /* that has its container's id; NULL: it has none */
	struct pod *pod;	     /* NULL: in none */
	struct pod_cgroups *cgroups; /* ... of that pod, with the same kubelet */
	LIST_ENTRY(cgnode) in_pod;
	bool populated;	 /* by the kernel's last event a process may be in it */
	bool entered;	 /* a pod's own: a container was in it */
	bool removed;	 /* the cgroup is gone */
	bool restored;	 /* known from an earlier engine, and not settled yet */
	bool kept;	 /* ... and not found since */
	bool inhabited;	 /* ... and found with a process in it */
	bool changed;	 /* since it was kept last */
	bool is_sandbox; /* its pod's list left nothing else, when another was removed */
	bool is_missing; /* of core/engine/sandbox.c, while it looks at its pod */
	enum names_state names;
	uint8_t lapse;	      /* enum names_lapse, of the last answer */
	uint64_t asked_ns;    /* when its names were asked for last */
	uint32_t stop_signal; /* its own, as written to the kernel half; 0: not written */
	/* Containers and services; NULL: none. */
	struct stop *stop;		     /* owned by core/engine/stops */
	struct shutdown_container_rec *turn; /* in a shutdown; owned by core/shutdown */
};

struct cgmap {
	struct map nodes;	   /* by cgroup id */
	struct namemap pods;	   /* all that anything is known of */
	size_t n_pods;		   /* ... that have a cgroup */
	struct namemap containers; /* likewise */
	uint32_t max_nodes;
	uint64_t refused;		 /* nodes that did not fit */
	bool services;			 /* units are containers of a kind (scope services) */
	const char *const *nested_nodes; /* paths that hold a node, not a container; NULL-ended */
	const char *const *roots;	 /* as core/cgroup/trust has them */
};

void cgmap_done(struct cgmap *map);

struct cgnode *cgmap_get(const struct cgmap *map, uint64_t id);

/* The container of that id; NULL when none is known. */
struct cgnode *cgmap_by_container_id(const struct cgmap *map, const char *container_id);
/* The same of a user's containers; 0: root's. */
struct cgnode *cgmap_user_container(const struct cgmap *map, const char *container_id,
				    uint32_t user);

/* What is known of a cgroup that turns up. */
struct cgmap_new {
	uint64_t id, parent_id;	  /* parent_id 0: not known */
	uint32_t delegated_level; /* as core/cgroup/trust has it; its parent's counts, too */
	const char *name;	  /* last component, or the whole path */
};

/*
 * A cgroup was made under parent_id. 0 with the node in *ret (new, or known before);
 * -ENOENT when the parent is unknown, -EEXIST when it is below a container and so is no node of
 * its own, -ENOSPC when the map is full or the path would exceed CGPATH_MAX, -EINVAL for id 0,
 * -ENOMEM.
 */
int cgmap_add_child(struct cgmap *map, const struct cgmap_new *cg, struct cgnode **ret);

/* The same for a cgroup whose whole path is known; fills in a node that was unknown so far. */
int cgmap_add_path(struct cgmap *map, const struct cgmap_new *cg, struct cgnode **ret);

/* A container that something names before its record came: its path is not known yet. */
int cgmap_add_unknown(struct cgmap *map, uint64_t id, struct cgnode **ret);

/* Whether a cgroup of unknown path whose name the kernel half took for that kind is a container or a
 * service. Where containers are nodes it may be one of these: their paths tell, not their names. */
bool cgmap_trusts_name(const struct cgmap *map, uint32_t kind);

/* One that is unknown, and was made directly below that cgroup of a pod; no-op below any other. */
void cgmap_join_pod(struct cgnode *node, const struct cgnode *below);

/* The cgroup is gone: the map forgets it; references keep the node alive. */
void cgmap_remove(struct cgmap *map, uint64_t id);

struct cgnode *cgnode_ref(struct cgnode *node);
/* Always returns NULL. */
struct cgnode *cgnode_unref(struct cgmap *map, struct cgnode *node);

static inline bool cgnode_is_container(const struct cgnode *node)
{
	return node && node->kind >= GRACED_WATCH_CONTAINER;
}

/* Those of the pod that sources mean by that uid; NULL when nothing is in it. */
struct pod_cgroups *cgmap_pod(const struct cgmap *map, const char *uid);

/* Those of a node's own pod; of a branch the pod below whose cgroup it is, as that of CRI-O's
 * conmon. NULL: none. */
struct pod_cgroups *cgmap_pod_around(const struct cgmap *map, const struct cgnode *node);

/* The same, NULL where sources mean another pod of that uid. */
struct pod_cgroups *cgmap_pod_of(const struct cgmap *map, const struct cgnode *node);

/*
 * A branch turned out to be a container of that id, though its path does not say so. 0, -EINVAL for
 * a node that is no branch or an id that is too long, -ENOMEM.
 */
int cgmap_identify(struct cgmap *map, struct cgnode *node, const char *container_id,
		   enum cgpath_runtime runtime);

#endif
