/* SPDX-License-Identifier: Apache-2.0 */
/* Which cgroups of this host are containers, for a command that looks once and ends. */
#ifndef APP_QUERY_CONTAINERS_H
#define APP_QUERY_CONTAINERS_H

#include "app/query/describe.h"
#include "io/cgroup/fs.h"

struct options;

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
