// SPDX-License-Identifier: Apache-2.0
/* Drives kubelet/model/cgroup_name from cgroup_names.json. */

#include <errno.h>
#include <string.h>

#include "kubelet/model/cgroup_name.h"
#include "kubelet/vectors.h"

struct kind {
	const char *name;
	int (*run)(json_t *input, json_t **ret_got);
};

static int read_name(json_t *json, struct cgname *ret)
{
	struct cgname name = {};
	json_t *part;
	size_t i;

	if (!json_is_array(json))
		return -EINVAL;
	json_array_foreach(json, i, part)
		if (!json_is_string(part) || cgname_append(&name, json_string_value(part)) < 0)
			return -EINVAL;
	*ret = name;
	return 0;
}

static json_t *write_name(const struct cgname *name)
{
	json_t *json = json_array();

	for (size_t i = 0; i < name->n; i++)
		json_array_append_new(json, json_string(name->parts[i]));
	return json;
}

static int read_driver(const char *name, enum cgpath_driver *ret)
{
	for (int i = CGPATH_DRIVER_NONE + 1; cgpath_driver_name(i); i++)
		if (strcmp(cgpath_driver_name(i), name) == 0) {
			*ret = (enum cgpath_driver)i;
			return 0;
		}
	return -EINVAL;
}

static int read_qos(const char *name, enum cgpath_qos *ret)
{
	for (int i = CGPATH_QOS_UNKNOWN + 1; cgpath_qos_name(i); i++)
		if (strcmp(cgpath_qos_name(i), name) == 0) {
			*ret = (enum cgpath_qos)i;
			return 0;
		}
	return -EINVAL;
}

static int answer(json_t *got, json_t **ret_got)
{
	*ret_got = got;
	return got ? 0 : -ENOMEM;
}

static int written(json_t *input, enum cgpath_driver driver, char path[CGNAME_PATH_MAX])
{
	struct cgname name;
	json_t *parts;

	if (json_unpack(input, "{s:o!}", "name", &parts) < 0 || read_name(parts, &name) < 0)
		return -EINVAL;
	return cgname_write(&name, driver, path);
}

static int run_to_systemd(json_t *input, json_t **ret_got)
{
	char path[CGNAME_PATH_MAX];
	int r = written(input, CGPATH_DRIVER_SYSTEMD, path);

	return r < 0 ? r : answer(json_pack("{s:s}", "path", path), ret_got);
}

static int run_to_systemd_basename(json_t *input, json_t **ret_got)
{
	char path[CGNAME_PATH_MAX];
	int r = written(input, CGPATH_DRIVER_SYSTEMD, path);
	const char *base;

	if (r < 0)
		return r;
	base = strcmp(path, "/") == 0 ? path : strrchr(path, '/') + 1;
	return answer(json_pack("{s:s}", "basename", base), ret_got);
}

static int run_to_cgroupfs(json_t *input, json_t **ret_got)
{
	char path[CGNAME_PATH_MAX];
	int r = written(input, CGPATH_DRIVER_CGROUPFS, path);

	return r < 0 ? r : answer(json_pack("{s:s}", "path", path), ret_got);
}

static int parsed(json_t *input, enum cgpath_driver driver, json_t **ret_got)
{
	const char *path;
	struct cgname name;
	int r;

	if (json_unpack(input, "{s:s!}", "path", &path) < 0)
		return -EINVAL;
	r = cgname_parse(path, driver, &name);
	return r < 0 ? r : answer(json_pack("{s:o}", "name", write_name(&name)), ret_got);
}

static int run_parse_systemd(json_t *input, json_t **ret_got)
{
	return parsed(input, CGPATH_DRIVER_SYSTEMD, ret_got);
}

static int run_parse_cgroupfs(json_t *input, json_t **ret_got)
{
	return parsed(input, CGPATH_DRIVER_CGROUPFS, ret_got);
}

static int run_new_name(json_t *input, json_t **ret_got)
{
	json_t *base, *parts, *part;
	struct cgname name;
	size_t i;
	int r = 0;

	if (json_unpack(input, "{s:o, s:o!}", "base", &base, "append", &parts) < 0 ||
	    !json_is_array(parts) || read_name(base, &name) < 0)
		return -EINVAL;
	json_array_foreach(parts, i, part) {
		if (!json_is_string(part))
			return -EINVAL;
		if (r == 0)
			r = cgname_append(&name, json_string_value(part));
	}
	if (r == -EINVAL)
		return answer(json_pack("{s:s}", "error", "invalid character in component"),
			      ret_got);
	return r < 0 ? r : answer(json_pack("{s:o}", "name", write_name(&name)), ret_got);
}

static int run_pod_container_name(json_t *input, json_t **ret_got)
{
	const char *qos_name, *uid, *driver_name;
	char path[CGNAME_PATH_MAX];
	enum cgpath_driver driver;
	struct cgname root, name;
	enum cgpath_qos qos;
	json_t *parts;
	int r;

	if (json_unpack(input, "{s:s, s:s, s:s, s:o!}", "qos", &qos_name, "uid", &uid, "driver",
			&driver_name, "kubepods_root", &parts) < 0 ||
	    read_name(parts, &root) < 0 || read_driver(driver_name, &driver) < 0 ||
	    read_qos(qos_name, &qos) < 0)
		return -EINVAL;
	r = cgname_of_pod(&root, qos, uid, &name);
	if (r == 0)
		r = cgname_write(&name, driver, path);
	return r < 0 ? r
		     : answer(json_pack("{s:o, s:s}", "name", write_name(&name), "path", path),
			      ret_got);
}

static int run_is_pod_cgroup(json_t *input, json_t **ret_got)
{
	const char *path, *driver_name, *uid = "";
	json_t *guaranteed, *burstable, *besteffort;
	struct cgname roots[3], name;
	enum cgpath_driver driver;
	bool is_pod;

	if (json_unpack(input, "{s:s, s:s, s:{s:o, s:o, s:o!}!}", "path", &path, "driver",
			&driver_name, "qos_roots", "Guaranteed", &guaranteed, "Burstable",
			&burstable, "BestEffort", &besteffort) < 0 ||
	    read_driver(driver_name, &driver) < 0 || read_name(guaranteed, &roots[0]) < 0 ||
	    read_name(burstable, &roots[1]) < 0 || read_name(besteffort, &roots[2]) < 0)
		return -EINVAL;
	is_pod = cgname_parse(path, driver, &name) == 0 && cgname_is_pod(&name, roots, 3, &uid);
	return answer(json_pack("{s:b, s:s}", "is_pod", is_pod, "uid", uid), ret_got);
}

static int run_containerd(json_t *input, json_t **ret_got)
{
	char path[CGNAME_PATH_MAX];
	const char *parent, *id;
	int r;

	if (json_unpack(input, "{s:s, s:s!}", "cgroup_parent", &parent, "id", &id) < 0)
		return -EINVAL;
	r = cgname_of_containerd(parent, id, path);
	return r < 0 ? r : answer(json_pack("{s:s}", "cgroupsPath", path), ret_got);
}

static int run_shares(json_t *input, json_t **ret_got)
{
	json_int_t weight;

	if (json_unpack(input, "{s:I!}", "cpu_weight", &weight) < 0 || weight < 0)
		return -EINVAL;
	return answer(json_pack("{s:I}", "cpu_shares",
				(json_int_t)cgname_shares_of_weight((uint64_t)weight)),
		      ret_got);
}

int vectors_run_cgroup_names(json_t *vector, json_t **ret_got)
{
	static const struct kind kinds[] = {
		{"to_systemd", run_to_systemd},
		{"to_systemd_basename", run_to_systemd_basename},
		{"to_cgroupfs", run_to_cgroupfs},
		{"parse_systemd", run_parse_systemd},
		{"parse_cgroupfs", run_parse_cgroupfs},
		{"new_name", run_new_name},
		{"pod_container_name", run_pod_container_name},
		{"is_pod_cgroup", run_is_pod_cgroup},
		{"containerd_cgroups_path", run_containerd},
		{"cpu_weight_to_shares", run_shares},
	};
	const char *kind = json_string_value(json_object_get(vector, "kind"));

	for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			return kinds[i].run(json_object_get(vector, "input"), ret_got);
	return -ENOTSUP;
}
