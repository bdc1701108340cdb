/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names' room: what sources provide about the cgroups of the map, and what they are asked.
 */
#ifndef CORE_ENGINE_NAMES_H
#define CORE_ENGINE_NAMES_H

#include "core/cgroup/map.h"
#include "core/engine/output.h"
#include "core/names/table.h"

/* All zero but for map, out and sources is one that knows nothing. */
struct names {
	struct podtab tab;
	struct cgmap *map;
	struct output *out;
	uint32_t sources; /* that answer: bits 1 << enum meta_source */
};

/* What sources provide about a node's pod, and about its container or service; NULL when nothing,
 * or for NULL. */
struct podtab_pod *names_pod(const struct names *names, const struct cgnode *node);
struct podtab_container *names_container(const struct names *names, const struct cgnode *node);
/* What its pod's spec says about a container; own: names_container() of node. NULL: nothing. */
struct podtab_container *names_spec(const struct names *names, const struct cgnode *node,
				    const struct podtab_container *own);
/* The last part of a path; NULL of NULL. */
const char *names_base_name(const char *path);
/* Whether node is a unit of the host's systemd. */
bool names_is_unit(const struct cgnode *node);
/* What systemctl calls the service that node is; NULL while its path is not known. */
const char *names_unit_name(const struct cgnode *node);
/* The cgroup that a source describes; NULL: none that is there. */
struct cgnode *names_described(const struct names *names, const struct meta_container *meta);
/* The service that systemd calls so; NULL when there is none. */
struct cgnode *names_unit_node(const struct names *names, const char *unit);
/* Its stop signal as a source provides it; 0: unknown. */
uint32_t names_stop_signal(const struct names *names, const struct cgnode *node);

/* Whether a source of that kind is asked at all. */
static inline bool names_has_source(const struct names *names, enum meta_source source)
{
	return names->sources >> source & 1;
}

/* Asks for the names of node's container unless they are known. */
void names_query(struct names *names, struct cgnode *node);
/* Whether a source has been queried about node or its pod, and has yet to answer. */
bool names_is_querying(const struct names *names, const struct cgnode *node);
/*
 * Why names of node or what its pod's spec says are missing, although a source could provide them:
 * bits of enum names_lapse, 0 where nothing is missing, or each source has answered. A sandbox
 * needs no name of its own, and no grace period.
 */
uint32_t names_lapse(const struct names *names, const struct cgnode *node, bool is_sandbox);
/* Why what a pod's spec says may be missing; and why its names may be, which come with those of its
 * containers, too. */
uint32_t names_lapse_of_spec(const struct pod_cgroups *pod);
uint32_t names_lapse_of_pod(const struct pod_cgroups *pod);
/* What an answer says of why something is missing. */
uint8_t names_lapse_of(const struct obs_names *answer);
/* The gaps in the evidence that follow from it, bits 1 << enum gap. */
uint32_t names_gaps(uint32_t lapse);
/* A source has listed all its pods, asked at asked_ns: a query that failed before is no gap any
 * more. */
void names_listed(struct names *names, enum meta_source source, uint64_t asked_ns);
/* Asks for those in its pod that no source knew: a runtime lists a sandbox once it is ready, as it
 * is when a container begins beside it. */
void names_query_beside(struct names *names, const struct cgnode *node);
/* Asks again what the unit of a service says. */
void names_query_unit(struct names *names, struct cgnode *node);
/* Asks what a pod is about to do, unless that was asked since then. Nothing for NULL. */
void names_query_pod(struct names *names, struct pod_cgroups *pod, uint64_t since_ns);
/* Asks source for the status of a pod, whose cgroups may be gone. False: it is not asked. */
bool names_query_status(struct names *names, const char *uid, enum meta_source source);
/* Asks the runtime how a container exited. False: no source could say. */
bool names_query_exit(struct names *names, const struct cgnode *node);
/* Asks whether a branch is a container that does not look like one; taken_for is what the kernel
 * half takes it for, 0: for a branch. False: there is nothing to query. */
bool names_query_identity(struct names *names, const struct cgnode *node, uint32_t taken_for);

/* Take what a source provides; 0, or why podtab did not. */
int names_take_pod(struct names *names, const struct meta_pod *meta, uint64_t at_ns);
int names_take_container(struct names *names, const struct meta_container *meta, uint64_t at_ns);
/* The same of the names in an answer itself. 0 or -ENOMEM. */
int names_take_answer(struct names *names, const struct obs_names *answer, uint64_t at_ns);
/* Drops what has not been touched for long, and has no cgroup. */
void names_age(struct names *names);

/* Receives the observations that a checkpoint consists of. */
struct saver {
	uint64_t at_ns; /* when they were so */
	void (*fn)(void *userdata, const struct obs *obs);
	void *userdata;
};

/* Write what each source provided about a pod, and about node's container, as if it did so now. */
void names_save_pod(const struct names *names, const char *uid, const struct saver *to);
void names_save_container(const struct names *names, const struct cgnode *node,
			  const struct saver *to);
/* The same of a container whose cgroup may be gone, and how the kernel saw it exit. */
void names_save_exit(const struct podtab_container *container, const struct saver *to);
/* Takes what names_save_exit() has written of the latter. -EINVAL, -ENOSPC. */
int names_load_exit(struct names *names, const struct kept_exit *exit, uint64_t at_ns);

#endif
