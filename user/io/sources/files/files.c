// SPDX-License-Identifier: Apache-2.0
/* Asks the files of Docker, Podman and containerd for one container at a time; Docker's half is
 * here. */
#include "io/sources/files/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/fd.h"
#include "io/sources/files/priv.h"

int podsrc_files_new(const struct podsrc_files_options *options, struct podsrc_files **ret)
{
	struct podsrc_files *src = calloc(1, sizeof(*src));

	if (!src)
		return -ENOMEM;
	src->docker.root = strdup(options->docker_root ?: "/var/lib/docker");
	src->podman.root = strdup(options->podman_root ?: "/var/lib/containers/storage");
	src->containerd.root = strdup(options->containerd_state ?: "/run/containerd");
	if (!src->docker.root || !src->podman.root || !src->containerd.root) {
		podsrc_files_free(src);
		return -ENOMEM;
	}
	*ret = src;
	return 0;
}

struct podsrc_files *podsrc_files_free(struct podsrc_files *src)
{
	if (src) {
		podsrc_files_forget_lists(src);
		free(src->docker.root);
		free(src->podman.root);
		free(src->containerd.root);
	}
	free(src);
	return NULL;
}

int podsrc_files_open_part(const struct podsrc_files_part *part, int *ret_fd)
{
	int r = *part->root ? podsrc_files_open_root(part->root, ret_fd) : -ENOENT;

	return r == -ENOENT ? -ENXIO : r;
}

const char *podsrc_files_reason(int r)
{
	switch (-r) {
	case EPERM:
		return "others than root may write to it";
	case ELOOP:
		return "it is a link";
	case ENOTDIR:
		return "what should be a directory is none";
	case EINVAL:
		return "it is no regular file";
	case EFBIG:
		return "it is too big";
	case EBADMSG:
		return "it makes no sense";
	default:
		return strerror(-r);
	}
}

int podsrc_files_complain(struct podsrc_files_part *part, const char *what, const char *id, int r)
{
	if (r < 0 && r != -ENOENT && r != -ENXIO)
		snprintf(part->text, sizeof(part->text), "%s of %.64s: %s", what, id,
			 podsrc_files_reason(r));
	return r;
}

static enum meta_result settle(struct podsrc_files_part *part, int r)
{
	enum meta_result result = META_FAILED;

	if (r == -ENXIO)
		return META_ABSENT;
	if (r == 0 || r == -ENOENT)
		result = r == 0 ? META_FOUND : META_ABSENT;
	part->lookups[result]++;
	part->failures = result == META_FAILED ? part->failures + 1 : 0;
	return result;
}

static int read_file(int dirfd, const char *name, char **ret, size_t *ret_len)
{
	_cleanup_(cleanup_close) int fd = -1;
	struct podsrc_files_stamp stamp;
	int r = podsrc_files_open(dirfd, name, &stamp, &fd);

	return r < 0 ? r : podsrc_files_read(fd, &stamp, PODSRC_FILES_CONFIG_MAX, ret, ret_len);
}

int podsrc_files_bundle(int dirfd, struct ctrjson_bundle *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r = read_file(dirfd, "config.json", &text, &len);

	return r < 0 ? r : ctrjson_bundle(text, len, ret);
}

static int ask_docker(struct podsrc_files *src, const char *id, struct meta_container *ret)
{
	_cleanup_(cleanup_close) int root = -1, containers = -1, dir = -1;
	_cleanup_(cleanup_free) char *text = NULL;
	size_t len;
	int r;

	r = podsrc_files_open_part(&src->docker, &root);
	if (r >= 0)
		r = podsrc_files_open_dir(root, "containers", &containers);
	if (r >= 0)
		r = podsrc_files_open_dir(containers, id, &dir);
	if (r >= 0)
		r = read_file(dir, "config.v2.json", &text, &len);
	if (r < 0)
		return podsrc_files_complain(&src->docker, "config.v2.json", id, r);
	r = ctrjson_docker(text, len, id, ret);
	/* Another container's file in this one's place is a lie. */
	return podsrc_files_complain(&src->docker, "config.v2.json", id, r < 0 ? -EBADMSG : 0);
}

static bool is_container_id(const char *id)
{
	return strlen(id) == CGPATH_ID_LEN && strspn(id, "0123456789abcdef") == CGPATH_ID_LEN;
}

enum meta_result podsrc_files_find(struct podsrc_files *src, const char *container_id,
				   enum cgpath_runtime runtime, struct meta_container *ret)
{
	bool hex = is_container_id(container_id);
	enum meta_result result = META_ABSENT, second;

	if (strlen(container_id) >= META_ID_MAX || !podsrc_files_is_identifier(container_id))
		return META_ABSENT;
	if (runtime == CGPATH_RT_PODMAN && hex)
		return settle(&src->podman, podsrc_files_ask_podman(src, container_id, ret));
	if (runtime != CGPATH_RT_DOCKER && runtime != CGPATH_RT_CONTAINERD &&
	    runtime != CGPATH_RT_UNKNOWN)
		return META_ABSENT;
	if (hex && runtime != CGPATH_RT_CONTAINERD)
		result = settle(&src->docker, ask_docker(src, container_id, ret));
	if (result == META_FOUND || runtime == CGPATH_RT_DOCKER)
		return result;
	second = settle(&src->containerd, podsrc_files_ask_tasks(src, container_id, ret));
	return second == META_ABSENT ? result : second;
}

/* 0, or -ENOENT: the bundle says nothing of it. */
static int take_in_pod(const struct ctrjson_bundle *bundle, const char *id, const char *pod_uid,
		       struct meta_container *ret)
{
	bool is_sandbox = bundle->kind == META_KIND_SANDBOX;

	if (!bundle->kind || (is_sandbox && strcmp(bundle->sandbox_id, id) != 0))
		return -ENOENT;
	if (bundle->pod_uid[0] && strcmp(bundle->pod_uid, pod_uid) != 0)
		return -ENOENT;
	*ret = (struct meta_container){.kind = bundle->kind, .stop_signal = bundle->stop_signal};
	snprintf(ret->id, sizeof(ret->id), "%s", id);
	snprintf(ret->pod_uid, sizeof(ret->pod_uid), "%s", pod_uid);
	snprintf(ret->name, sizeof(ret->name), "%s", bundle->name);
	return 0;
}

static enum meta_result ask_bundle(struct podsrc_files *src, enum meta_source source,
				   const char *id, const char *pod_uid, struct meta_container *ret)
{
	bool crio = source == META_PODMAN;
	struct ctrjson_bundle bundle;
	int r;

	r = crio ? podsrc_files_ask_crio(src, id, &bundle)
		 : podsrc_files_ask_cri_task(src, id, &bundle);
	if (r >= 0)
		r = take_in_pod(&bundle, id, pod_uid, ret);
	if (r >= 0)
		ret->source = source;
	return settle(crio ? &src->podman : &src->containerd, r);
}

enum meta_result podsrc_files_find_in_pod(struct podsrc_files *src, const char *container_id,
					  enum cgpath_runtime runtime, const char *pod_uid,
					  struct meta_container *ret)
{
	enum meta_result result = META_ABSENT;
	bool any = runtime == CGPATH_RT_UNKNOWN;

	if (!is_container_id(container_id))
		return META_ABSENT;
	if (any || runtime == CGPATH_RT_DOCKER)
		result = settle(&src->docker, ask_docker(src, container_id, ret));
	if (result != META_FOUND && (any || runtime == CGPATH_RT_CONTAINERD))
		result = ask_bundle(src, META_CONTAINERD, container_id, pod_uid, ret);
	if (result != META_FOUND && runtime == CGPATH_RT_CRIO)
		result = ask_bundle(src, META_PODMAN, container_id, pod_uid, ret);
	return result;
}

enum meta_result podsrc_files_identify(struct podsrc_files *src, const char *cgroup_path,
				       struct meta_container *ret)
{
	int r = podsrc_files_ask_cgroup(src, cgroup_path, ret);

	/* Most cgroups are nobody's container: not worth counting. */
	return r == -ENOENT ? META_ABSENT : settle(&src->containerd, r);
}

static const struct podsrc_files_part *part_of(const struct podsrc_files *src,
					       enum meta_source source)
{
	switch (source) {
	case META_DOCKER:
		return &src->docker;
	case META_PODMAN:
		return &src->podman;
	case META_CONTAINERD:
		return &src->containerd;
	default:
		return NULL;
	}
}

void podsrc_files_get_state(const struct podsrc_files *src, enum meta_source source,
			    struct podsrc_state *ret)
{
	const struct podsrc_files_part *part = part_of(src, source);
	_cleanup_(cleanup_close) int fd = -1;
	const char *text = "files can be read";
	int r;

	*ret = (struct podsrc_state){.status = PODSRC_OFF};
	if (!part)
		return;
	snprintf(ret->where, sizeof(ret->where), "%s", part->root);
	memcpy(ret->lookups, part->lookups, sizeof(ret->lookups));
	r = podsrc_files_open_part(part, &fd);
	if (r == -ENXIO)
		return;
	ret->failures = part->failures;
	ret->status = r < 0 || part->failures ? PODSRC_DOWN : PODSRC_UP;
	if (r < 0)
		text = podsrc_files_reason(r);
	else if (part->failures)
		text = part->text;
	snprintf(ret->text, sizeof(ret->text), "%s", text);
}
