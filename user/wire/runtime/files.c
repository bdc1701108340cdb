// SPDX-License-Identifier: Apache-2.0
/* Takes names, stop signals and stop timeouts out of the files of Docker, Podman and containerd. */
#include "wire/runtime/files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "wire/json/walk.h"

#define US_PER_S      1000000ull
#define DEFAULT_GRACE 10	/* s: Docker's and nerdctl's */
#define SECONDS_MAX   INT32_MAX /* more is nonsense */

/* Copies what fits of a string; never half a character. */
static void copy_text(const char *text, char *ret, size_t size)
{
	size_t len = utf8_fit(text, strlen(text), size - 1);

	memcpy(ret, text, len);
	ret[len] = 0;
}

/* False, with ret as it was, for what is no text. */
static bool take_text(struct jsonwalk_value value, char *ret, size_t size)
{
	_cleanup_(cleanup_free) char *text = NULL;

	if (!jsonwalk_string(value, &text))
		return false;
	copy_text(text, ret, size);
	return true;
}

/* True only for what fits whole: a path or an id that was cut is another one. */
static bool take_exact(struct jsonwalk_value value, char *ret, size_t size)
{
	_cleanup_(cleanup_free) char *text = NULL;

	if (!jsonwalk_string(value, &text) || strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

static bool is_text(struct jsonwalk_value value, const char *text)
{
	char got[META_ID_MAX];

	return take_exact(value, got, sizeof(got)) && strcmp(got, text) == 0;
}

/* Go leaves a member out or writes null, as its writer likes. */
static bool is_set(struct jsonwalk_value value)
{
	return value.at && !jsonwalk_is_null(value);
}

static void docker_name(struct jsonwalk_value value, struct meta_container *ret)
{
	char text[META_NAME_MAX + 1];

	if (take_text(value, text, sizeof(text)))
		copy_text(text + (*text == '/'), ret->name, sizeof(ret->name));
}

/* What Docker itself cannot read stays unknown. */
static void docker_signal(struct jsonwalk_value value, struct meta_container *ret)
{
	char text[SIGNAME_SIZE] = "";

	if (!is_set(value) || (take_exact(value, text, sizeof(text)) && !*text))
		ret->stop_signal = SIGTERM;
	else
		signame_parse(text, &ret->stop_signal);
}

static void docker_timeout(struct jsonwalk_value value, struct meta_container *ret)
{
	int64_t seconds = DEFAULT_GRACE;

	if (is_set(value) && !jsonwalk_int(value, &seconds))
		return;
	if (seconds < 0 || seconds > SECONDS_MAX)
		return;
	ret->known |= META_CTR_GRACE;
	ret->grace_ns = (uint64_t)seconds * NS_PER_S;
}

static void docker_labels(struct jsonwalk_value labels, struct meta_container *ret)
{
	enum { UID, NAME, TYPE, N };
	static const char *const keys[N] = {"io.kubernetes.pod.uid", "io.kubernetes.container.name",
					    "io.kubernetes.docker.type"};
	struct jsonwalk_value at[N];

	if (!jsonwalk_members(labels, keys, N, at) ||
	    !take_exact(at[UID], ret->pod_uid, sizeof(ret->pod_uid)))
		return;
	take_text(at[NAME], ret->name, sizeof(ret->name));
	ret->known &= ~(uint32_t)META_CTR_GRACE;
	ret->grace_ns = 0;
	if (!is_text(at[TYPE], "podsandbox"))
		return;
	ret->kind = META_KIND_SANDBOX;
	ret->name[0] = 0; /* "POD" in each of them */
}

/* Ignores a text that is missing, empty, or too long for a compose name. */
static void docker_group(struct jsonwalk_value labels, struct meta_container *ret)
{
	enum { PROJECT, SERVICE, N };
	static const char *const keys[N] = {"com.docker.compose.project",
					    "com.docker.compose.service"};
	struct jsonwalk_value at[N];

	if (ret->pod_uid[0] || !jsonwalk_members(labels, keys, N, at) ||
	    !take_exact(at[PROJECT], ret->namespace_, sizeof(ret->namespace_)) ||
	    !ret->namespace_[0])
		return;
	take_exact(at[SERVICE], ret->workload, sizeof(ret->workload));
}

static bool docker_config(struct jsonwalk_value config, struct meta_container *ret)
{
	enum { IMAGE, SIGNAL, TIMEOUT, LABELS, N };
	static const char *const keys[N] = {"Image", "StopSignal", "StopTimeout", "Labels"};
	struct jsonwalk_value at[N];

	if (!jsonwalk_members(config, keys, N, at))
		return false;
	take_text(at[IMAGE], ret->image, sizeof(ret->image));
	docker_signal(at[SIGNAL], ret);
	docker_timeout(at[TIMEOUT], ret);
	docker_labels(at[LABELS], ret);
	docker_group(at[LABELS], ret);
	return true;
}

int ctrjson_docker(const char *text, size_t len, const char *id, struct meta_container *ret)
{
	enum { ID, NAME, CONFIG, RESTARTS, N };
	static const char *const keys[N] = {"ID", "Name", "Config", "RestartCount"};
	struct meta_container found = {.source = META_DOCKER, .kind = META_KIND_CONTAINER};
	struct jsonwalk_value at[N];
	int64_t restarts;

	if (!jsonwalk_members((struct jsonwalk_value){text, len}, keys, N, at) || !at[ID].at)
		return -EBADMSG;
	if (!is_text(at[ID], id))
		return -ENOENT;
	strcpy(found.id, id);
	docker_name(at[NAME], &found);
	if (!docker_config(at[CONFIG], &found))
		return -EBADMSG;
	if (jsonwalk_int(at[RESTARTS], &restarts) && restarts >= 0 && restarts <= UINT32_MAX) {
		found.known |= META_CTR_ATTEMPT;
		found.attempt = (uint32_t)restarts;
	}
	*ret = found;
	return 0;
}

static bool has_label(struct jsonwalk_value labels, const char *label)
{
	const char *value = strchr(label, '='), *key = label;
	char name[MANAGED_TEXT_MAX], got[MANAGED_TEXT_MAX];
	struct jsonwalk_value at;

	if (value) {
		copy_text(label, name, (size_t)(value - label) + 1);
		key = name;
	}
	return *label && jsonwalk_members(labels, &key, 1, &at) && at.at &&
	       (!value || (take_exact(at, got, sizeof(got)) && strcmp(got, value + 1) == 0));
}

uint32_t ctrjson_docker_labels(const char *text, size_t len, const struct managed_rule *rules,
			       size_t n)
{
	static const char *const config = "Config", *const labels = "Labels";
	struct jsonwalk_value at;
	uint32_t found = 0;

	if (!jsonwalk_members((struct jsonwalk_value){text, len}, &config, 1, &at) || !at.at ||
	    !jsonwalk_members(at, &labels, 1, &at) || !at.at)
		return 0;
	for (size_t i = 0; i < n && i < MANAGED_RULES_MAX; i++)
		found |= (uint32_t)has_label(at, rules[i].label) << i;
	return found;
}

/* The image's name is in a text of JSON of its own. */
static void storage_image(struct jsonwalk_value metadata, struct meta_container *ret)
{
	static const char *const key = "image-name";
	_cleanup_(cleanup_free) char *text = NULL;
	struct jsonwalk_value value;

	if (jsonwalk_string(metadata, &text) &&
	    jsonwalk_members((struct jsonwalk_value){text, strlen(text)}, &key, 1, &value))
		take_text(value, ret->image, sizeof(ret->image));
}

/* 0, or -ENOENT for an item that is not the container's. */
static int storage_item(struct jsonwalk_value item, const char *id, struct meta_container *ret)
{
	enum { ID, NAMES, METADATA, N };
	static const char *const keys[N] = {"id", "names", "metadata"};
	struct meta_container found = {.source = META_PODMAN, .kind = META_KIND_CONTAINER};
	struct jsonwalk_value at[N], name;
	struct jsonwalk names;

	if (!jsonwalk_members(item, keys, N, at) || !is_text(at[ID], id))
		return -ENOENT;
	strcpy(found.id, id);
	if (jsonwalk_enter(at[NAMES], &names) && jsonwalk_element(&names, &name))
		take_text(name, found.name, sizeof(found.name));
	storage_image(at[METADATA], &found);
	*ret = found;
	return 0;
}

/* The id is looked for as text first: most of the list need not be taken apart, and a list that
 * does not have it not at all. */
int ctrjson_storage(const char *text, size_t len, const char *id, struct meta_container *ret)
{
	struct jsonwalk_value item;
	struct jsonwalk rest;
	const char *hit;

	if (!jsonwalk_enter((struct jsonwalk_value){text, len}, &rest))
		return -EBADMSG;
	if (!*id || strlen(id) >= META_ID_MAX)
		return -ENOENT;
	hit = memmem(text, len, id, strlen(id));
	while (hit && jsonwalk_element(&rest, &item)) {
		if (item.at + item.len <= hit)
			continue;
		if (storage_item(item, id, ret) == 0)
			return 0;
		hit = memmem(rest.text + rest.at, rest.size - rest.at, id, strlen(id));
	}
	return hit ? -EBADMSG : -ENOENT;
}

/* Digits alone, at most 18 of them. */
static bool parse_count(const char *text, uint64_t *ret)
{
	size_t len = strspn(text, "0123456789");

	if (!len || len > 18 || text[len])
		return false;
	*ret = strtoull(text, NULL, 10);
	return true;
}

static void set_grace(struct ctrjson_bundle *ret, uint64_t us)
{
	if (us > SECONDS_MAX * US_PER_S)
		return;
	ret->has_grace = true;
	ret->grace_ns = us * NS_PER_US;
}

static void podman_timeout(struct jsonwalk_value value, struct ctrjson_bundle *ret)
{
	static const char type[] = "uint64 ";
	char text[64];
	uint64_t us;

	if (take_exact(value, text, sizeof(text)) && strncmp(text, type, sizeof(type) - 1) == 0 &&
	    parse_count(text + sizeof(type) - 1, &us))
		set_grace(ret, us);
}

static void nerdctl_timeout(struct jsonwalk_value value, struct ctrjson_bundle *ret)
{
	uint64_t seconds = DEFAULT_GRACE;
	char text[64];

	if (value.at && (!take_exact(value, text, sizeof(text)) || !parse_count(text, &seconds)))
		return;
	if (seconds <= SECONDS_MAX)
		set_grace(ret, seconds * US_PER_S);
}

/* Annotations of containerd's CRI (pkg/cri/annotations) or CRI-O (pkg/annotations). */
static void bundle_kind(struct jsonwalk_value annotations, struct ctrjson_bundle *ret)
{
	enum { TYPE, SANDBOX, NAME, UID, CRIO_TYPE, CRIO_SANDBOX, CRIO_NAME, CRIO_UID, N };
	static const char *const keys[N] = {
		"io.kubernetes.cri.container-type",  "io.kubernetes.cri.sandbox-id",
		"io.kubernetes.cri.container-name",  "io.kubernetes.cri.sandbox-uid",
		"io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID",
		"io.kubernetes.container.name",	     "io.kubernetes.pod.uid",
	};
	struct jsonwalk_value all[N], *at = all;
	bool crio, pod;

	if (!jsonwalk_members(annotations, keys, N, all))
		return;
	/* CRI-O copies the annotations of a pod, which any user may write, and writes its labels
	 * later. */
	crio = all[CRIO_TYPE].at || all[CRIO_SANDBOX].at;
	pod = crio && is_text(all[CRIO_NAME], "POD");
	if (crio && all[TYPE].at && !pod)
		return;
	if (crio)
		at += CRIO_TYPE;
	if (pod || is_text(at[TYPE], "sandbox"))
		ret->kind = META_KIND_SANDBOX;
	else if (is_text(at[TYPE], "container"))
		ret->kind = META_KIND_CONTAINER;
	else
		return;
	take_exact(at[SANDBOX], ret->sandbox_id, sizeof(ret->sandbox_id));
	take_exact(at[UID], ret->pod_uid, sizeof(ret->pod_uid));
	if (ret->kind == META_KIND_CONTAINER)
		take_text(at[NAME], ret->name, sizeof(ret->name));
}

static void bundle_annotations(struct jsonwalk_value annotations, struct ctrjson_bundle *ret)
{
	enum {
		CRI_TYPE,
		CRI_SANDBOX,
		CRIO,
		SIGNAL,
		TIMEOUT,
		NERD_SPACE,
		NERD_NAME,
		NERD_TIMEOUT,
		N
	};
	static const char *const keys[N] = {
		"io.kubernetes.cri.container-type",
		"io.kubernetes.cri.sandbox-id",
		"io.kubernetes.cri-o.ContainerID",
		"org.opencontainers.image.stopSignal",
		"org.systemd.property.TimeoutStopUSec",
		"nerdctl/namespace",
		"nerdctl/name",
		"nerdctl/stop-timeout",
	};
	struct jsonwalk_value at[N];
	char text[SIGNAME_SIZE];

	if (!jsonwalk_members(annotations, keys, N, at))
		return;
	ret->cri = at[CRI_TYPE].at || at[CRI_SANDBOX].at || at[CRIO].at;
	if (take_exact(at[SIGNAL], text, sizeof(text)))
		signame_parse(text, &ret->stop_signal);
	podman_timeout(at[TIMEOUT], ret);
	if (!at[NERD_SPACE].at)
		return;
	take_text(at[NERD_NAME], ret->name, sizeof(ret->name));
	nerdctl_timeout(at[NERD_TIMEOUT], ret);
}

int ctrjson_bundle(const char *text, size_t len, struct ctrjson_bundle *ret)
{
	enum { VERSION, LINUX, ANNOTATIONS, N };
	static const char *const keys[N] = {"ociVersion", "linux", "annotations"};
	static const char *const path = "cgroupsPath";
	struct ctrjson_bundle found = {};
	struct jsonwalk_value at[N], value;

	if (!jsonwalk_members((struct jsonwalk_value){text, len}, keys, N, at) || !at[VERSION].at)
		return -EBADMSG;
	if (jsonwalk_members(at[LINUX], &path, 1, &value))
		take_exact(value, found.cgroups_path, sizeof(found.cgroups_path));
	bundle_annotations(at[ANNOTATIONS], &found);
	if (found.cri)
		bundle_kind(at[ANNOTATIONS], &found);
	*ret = found;
	return 0;
}

int ctrjson_podman(const struct ctrjson_bundle *bundle, const struct meta_container *listed,
		   struct meta_container *ret)
{
	/* CRI-O's containers are in the same lists. */
	if (bundle->cri)
		return -ENOENT;
	*ret = *listed;
	ret->stop_signal = bundle->stop_signal;
	if (bundle->has_grace) {
		ret->known |= META_CTR_GRACE;
		ret->grace_ns = bundle->grace_ns;
	}
	return 0;
}

/* Takes text off the front of *at; false where it is not there. */
static bool cut(const char **at, const char *text, size_t len)
{
	if (strncmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Takes "/a.slice/a-b.slice" off the front for "a-b.slice"; nothing for the root, "-.slice". */
static bool cut_slices(const char **at, const char *slice, size_t len)
{
	static const char suffix[] = ".slice";
	const size_t tail = sizeof(suffix) - 1;

	if (len <= tail || memcmp(slice + len - tail, suffix, tail) != 0)
		return false;
	len -= tail;
	if (len == 1 && *slice == '-')
		return true;
	for (size_t n = 1; n <= len; n++)
		if ((n == len || slice[n] == '-') &&
		    (!cut(at, "/", 1) || !cut(at, slice, n) || !cut(at, suffix, tail)))
			return false;
	return true;
}

bool ctrjson_is_cgroup(const char *cgroups_path, const char *path)
{
	static const char fallback[] = "system.slice"; /* runc's and crun's */
	const char *prefix = strchr(cgroups_path, ':'), *name, *slice = cgroups_path;
	size_t len;

	if (*cgroups_path == '/')
		return strcmp(cgroups_path, path) == 0;
	name = prefix ? strchr(prefix + 1, ':') : NULL;
	if (!name)
		return false;
	len = (size_t)(prefix - slice);
	if (!len) {
		slice = fallback;
		len = sizeof(fallback) - 1;
	}
	return cut_slices(&path, slice, len) && cut(&path, "/", 1) &&
	       cut(&path, prefix + 1, (size_t)(name - prefix - 1)) && cut(&path, "-", 1) &&
	       cut(&path, name + 1, strlen(name + 1)) && strcmp(path, ".scope") == 0;
}
