/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of metadata say now, for a command that queries once and ends. */
#ifndef APP_QUERY_DESCRIBE_H
#define APP_QUERY_DESCRIBE_H

#include "app/live/sources.h"
#include "core/cgroup/path.h"
#include "core/names/table.h"
#include "core/stop/grace.h"
#include "core/stop/record.h"
#include "io/cgroup/fs.h"

struct options;
struct describe;

/*
 * Asks the runtime and, where one is configured, the kubelet for all they have, for 3 s at most:
 * a slower one is left out. -errno, logged.
 */
int describe_new(const struct options *options, struct describe **ret);
/* Says who did not answer, and why. */
void describe_tell_failed(const struct describe *d);
struct describe *describe_free(struct describe *d);

/* What is known of a container by what its cgroup, an absolute path, says; NULL: nothing. Valid
 * until describe_free(). */
const struct podtab_container *describe_container(struct describe *d, const struct cgpath *path,
						  const char *cgroup);

/* The grace period that a stop of it would have now. */
struct grace describe_grace(struct describe *d, const struct cgpath *path, const char *cgroup);

/* Calls fn for each pod that a source provided, in no order. */
void describe_each_pod(const struct describe *d, void (*fn)(void *userdata, const struct pod *pod),
		       void *userdata);

/* Whether a cgroup that does not look like one is a container: fills in id and runtime. */
bool describe_identify(struct describe *d, const char *cgroup, struct cgpath *path);

/*
 * Pod and container as records have them: what sources say (d NULL: nothing), else what names, the
 * log directories' word, does. Strings are those of d, path, names and cgroup.
 */
void describe_record(struct describe *d, const struct cgpath *path, const struct obs_names *names,
		     const char *cgroup, struct record_pod *ret_pod,
		     struct record_container *ret_container);

/* How a source fares, as sources_get_state(). */
void describe_get_state(const struct describe *d, enum meta_source source,
			struct source_state *ret);

/* Which cgroups of this host are containers. */
struct container_seen {
	struct cgpath path;
	bool nameless; /* who named its cgroup is not trusted: what sources say of it is not about
			  it */
};

/*
 * Whether a directory that is visited is a container, as the engine's own map has it. describe
 * provides what engines know of cgroups that do not look like one; NULL: nothing does.
 */
bool containers_is(const struct options *options, struct describe *describe,
		   const struct cgfs_dir *dir, struct container_seen *ret);

#endif
