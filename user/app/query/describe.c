// SPDX-License-Identifier: Apache-2.0
/* Runs a loop of its own until every source has answered. */
#include "app/query/describe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/options.h"
#include "app/log/say.h"
#include "core/cgroup/map.h"
#include "core/cgroup/trust.h"
#include "core/names/unit.h"
#include "io/proc/clock.h"

#define PATIENCE_NS 3000000000ULL
#define TURN_US	    50000

struct describe {
	sd_event *event;
	struct sources sources;
	struct namemap pods;
	struct namemap containers;
	struct podtab tab;
	char home_key[SOURCE_HOMES_KEY_SIZE]; /* of the look-up in a home that is waited for; "" */
};

static void on_pod(void *userdata, const struct meta_pod *pod)
{
	struct describe *d = userdata;

	podtab_take_pod(&d->tab, pod, clock_boot_ns());
}

static void on_container(void *userdata, const struct meta_container *container)
{
	struct describe *d = userdata;

	podtab_take_container(&d->tab, container, clock_boot_ns());
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	struct describe *d = userdata;

	if (strcmp(key, d->home_key) == 0)
		d->home_key[0] = '\0';
}

static void warn_failed(const struct describe *d, enum meta_source source)
{
	struct source_state state;

	sources_get_state(&d->sources, source, &state);
	if (state.status == SOURCE_DOWN)
		say("%s: %s", state.where, state.text);
	else if (state.status == SOURCE_STARTING)
		say("%s: no answer within 3 s", state.where);
}

static int wait_for_all(struct describe *d)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;
	int r = 0;

	while (r >= 0 && !sources_settled(&d->sources) && clock_boot_ns() < until_ns)
		r = sd_event_run(d->event, TURN_US);
	return r;
}

void describe_tell_failed(const struct describe *d)
{
	warn_failed(d, META_CRI);
	warn_failed(d, META_KUBELET);
	warn_failed(d, META_API);
}

int describe_new(const struct options *options, struct describe **ret)
{
	struct describe *d = calloc(1, sizeof(*d));
	struct source_sink sink = {d, on_pod, on_container, on_done, NULL};
	int r;

	if (!d)
		return -ENOMEM;
	d->tab.pods = &d->pods;
	d->tab.containers = &d->containers;
	r = sd_event_new(&d->event);
	if (r >= 0)
		r = sources_open(d->event, options, &sink, true, &d->sources);
	if (r >= 0)
		r = wait_for_all(d);
	if (r < 0) {
		describe_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

struct describe *describe_free(struct describe *d)
{
	if (!d)
		return NULL;
	sources_close(&d->sources);
	sd_event_unref(d->event);
	podtab_done(&d->tab);
	podmap_done(&d->pods);
	containermap_done(&d->containers);
	free(d);
	return NULL;
}

/* Reads what a user's engine keeps; bounded in time (io/sources/files/homes). */
static const struct podtab_container *container_of_user(struct describe *d, uint32_t user,
							const struct cgpath *path)
{
	int r = 0;

	if (!podtab_is_named(podtab_user_container(&d->tab, path->container_id, user))) {
		source_homes_key(user, path->container_id, d->home_key);
		source_homes_find(d->sources.homes, user, path->container_id, path->runtime);
	}
	while (r >= 0 && d->home_key[0])
		r = sd_event_run(d->event, TURN_US);
	d->home_key[0] = '\0';
	return podtab_user_container(&d->tab, path->container_id, user);
}

const struct podtab_container *describe_container(struct describe *d, const struct cgpath *path,
						  const char *cgroup)
{
	uint32_t user = path->pod_uid[0] ? 0 : cgtrust_user(cgroup, 0);
	enum meta_result result = META_ABSENT;
	const struct podtab_container *c;
	struct meta_container meta;

	if (!path->container_id[0])
		return NULL;
	if (user)
		return container_of_user(d, user, path);
	if (!path->pod_uid[0])
		result = source_files_find(d->sources.files, path->container_id, path->runtime,
					   &meta);
	else if (!podtab_container(&d->tab, path->container_id))
		result = source_files_find_in_pod(d->sources.files, path->container_id,
						  path->runtime, path->pod_uid, &meta);
	if (result == META_FOUND)
		on_container(d, &meta);
	c = podtab_container(&d->tab, path->container_id);
	return c && (!c->pod_uid[0] || strcmp(c->pod_uid, path->pod_uid) == 0) ? c : NULL;
}

static const struct podtab_pod *pod_of(struct describe *d, const struct cgpath *path)
{
	return path->pod_uid[0] ? podtab_pod(&d->tab, path->pod_uid) : NULL;
}

struct grace describe_grace(struct describe *d, const struct cgpath *path, const char *cgroup)
{
	const struct podtab_container *own = describe_container(d, path, cgroup);
	const struct podtab_pod *pod = pod_of(d, path);
	const struct podtab_container *spec =
		own && own->name ? podtab_spec(&d->tab, path->pod_uid, own->name) : NULL;

	return grace_of(pod, own, spec, 0);
}

void describe_each_pod(const struct describe *d, void (*fn)(void *userdata, const struct pod *pod),
		       void *userdata)
{
	const struct pod *pod;
	size_t pos = 0;

	while ((pod = podmap_next(&d->pods, &pos)))
		fn(userdata, pod);
}

bool describe_identify(struct describe *d, const char *cgroup, struct cgpath *path)
{
	struct meta_container meta;

	if (source_files_identify(d->sources.files, cgroup, &meta) != META_FOUND)
		return false;
	on_container(d, &meta);
	*path = (struct cgpath){.kind = CGPATH_CONTAINER_OUTSIDE, .runtime = CGPATH_RT_CONTAINERD};
	strcpy(path->container_id, meta.id);
	return true;
}

static const char *known(const char *name)
{
	return name[0] ? name : NULL;
}

static void fill_pod(const struct podtab_pod *meta, const struct cgpath *path,
		     const struct obs_names *names, struct record_pod *ret)
{
	bool named = meta && meta->name;

	*ret = (struct record_pod){
		.known = path->pod_uid[0],
		.namespace_ = named ? meta->namespace_ : known(names->namespace_),
		.name = named ? meta->name : known(names->pod),
		.uid = path->pod_uid,
		.workload = meta ? meta->workload : NULL,
		.workload_kind = meta ? meta->workload_kind : NULL,
		.qos = path->qos,
		.is_static = path->static_pod,
	};
}

static void fill_container(const struct podtab_container *meta, const struct cgpath *path,
			   const char *name, const char *cgroup, struct record_container *ret)
{
	*ret = (struct record_container){
		.known = true,
		.name = name,
		.id = known(path->container_id),
		.runtime = podtab_runtime(meta, path->runtime),
		.kind = record_container_kind_of(path, name),
		.cgroup = cgroup,
	};
	if (!meta)
		return;
	if (meta->kind)
		ret->kind = meta->kind == META_KIND_SANDBOX ? CONTAINER_KIND_SANDBOX
							    : CONTAINER_KIND_CONTAINER;
	ret->image = meta->image;
	ret->attempt_known = meta->known & META_CTR_ATTEMPT;
	ret->attempt = meta->attempt;
	if (path->pod_uid[0])
		return;
	ret->namespace_ = meta->namespace_;
	ret->workload = meta->workload;
	if (meta->workload)
		ret->workload_kind = record_group_kind(meta->group_from);
}

static void take_split(struct describe *d, const struct cgpath *path, const char *cgroup)
{
	struct meta_container meta = {.source = META_PODMAN};

	if (path->pod_uid[0] || path->runtime != CGPATH_RT_PODMAN || !path->container_id[0] ||
	    !unitname_of_split(cgroup, meta.workload))
		return;
	strcpy(meta.id, path->container_id);
	meta.user = cgtrust_user(cgroup, 0);
	on_container(d, &meta);
}

void describe_record(struct describe *d, const struct cgpath *path, const struct obs_names *names,
		     const char *cgroup, struct record_pod *ret_pod,
		     struct record_container *ret_container)
{
	const struct podtab_container *own;
	const char *name;

	if (d)
		take_split(d, path, cgroup);
	own = d ? describe_container(d, path, cgroup) : NULL;
	name = own && own->name ? own->name : known(names->container);
	fill_pod(d ? pod_of(d, path) : NULL, path, names, ret_pod);
	fill_container(own, path, name, cgroup, ret_container);
}

void describe_get_state(const struct describe *d, enum meta_source source, struct source_state *ret)
{
	sources_get_state(&d->sources, source, ret);
}

/* --- which cgroups are containers ------------------------------------------------------------- */

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
