// SPDX-License-Identifier: Apache-2.0
/* Drives core/cgroup/path from cgroup_paths.json: a path in, every member of its identity out. */

#include <errno.h>

#include "core/cgroup/path.h"
#include "kubelet/vectors.h"

/* "s?" packs NULL as null; an empty text is an absent one. */
static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

int vectors_run_cgroup_paths(json_t *vector, json_t **ret_got)
{
	const char *path;
	size_t len;
	struct cgpath id;

	if (json_object_get(vector, "kind"))
		return -ENOTSUP;
	if (json_unpack(vector, "{s:{s:s%!}}", "input", "path", &path, &len) < 0)
		return -EINVAL;
	cgpath_parse(path, len, &id);
	*ret_got =
		json_pack("{s:s?, s:s?, s:s?, s:b, s:s?, s:s?, s:s?}", "kind",
			  cgpath_kind_name(id.kind), "qos", cgpath_qos_name(id.qos), "pod_uid",
			  text_or_null(id.pod_uid), "static_pod_uid", id.static_pod, "container_id",
			  text_or_null(id.container_id), "runtime", cgpath_runtime_name(id.runtime),
			  "driver", cgpath_driver_name(id.driver));
	return *ret_got ? 0 : -ENOMEM;
}
