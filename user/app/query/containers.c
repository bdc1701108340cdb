// SPDX-License-Identifier: Apache-2.0
#include "app/query/containers.h"

#include "app/config/options.h"
#include "core/cgroup/map.h"
#include "core/cgroup/trust.h"

bool containers_is(const struct options *options, struct describe *describe,
		   const struct cgfs_dir *dir, struct container_seen *ret)
{
	const struct cgmap_new found = {
		.id = 1, .delegated_level = dir->delegated_level, .name = dir->path};
	struct cgmap map = {.nested_nodes = options->nested, .roots = options->roots};
	struct cgnode *node;
	bool is = cgmap_add_path(&map, &found, &node) == 0 && cgnode_is_container(node);

	*ret = (struct container_seen){};
	if (is) {
		ret->path = node->ident;
		ret->nameless = node->trust != CGTRUST_PODS && !node->user;
	}
	cgmap_done(&map);
	if (is || !describe ||
	    cgtrust_of(options->roots, dir->path, dir->delegated_level) != CGTRUST_PODS)
		return is;
	return describe_identify(describe, dir->path, &ret->path);
}
