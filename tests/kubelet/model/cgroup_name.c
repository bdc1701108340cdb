// SPDX-License-Identifier: Apache-2.0
/* Names of pods' cgroups, for both drivers of the kubelet. */
#include "kubelet/model/cgroup_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SLICE	   ".slice"
#define POD_PREFIX "pod"

/* Takes the component as it is. */
static int add(struct cgname *name, const char *part, size_t len)
{
	if (len == 0)
		return -EINVAL;
	if (len >= CGNAME_PART_MAX)
		return -ENAMETOOLONG;
	if (name->n >= CGNAME_MAX_PARTS)
		return -ENOSPC;
	memcpy(name->parts[name->n], part, len);
	name->parts[name->n++][len] = '\0';
	return 0;
}

int cgname_append(struct cgname *name, const char *part)
{
	return strpbrk(part, "/_") ? -EINVAL : add(name, part, strlen(part));
}

int cgname_of_pod(const struct cgname *root, enum cgpath_qos qos, const char *uid,
		  struct cgname *ret)
{
	struct cgname name = *root;
	char pod[CGNAME_PART_MAX];
	int r = 0;

	if (qos != CGPATH_QOS_GUARANTEED) {
		if (!cgpath_qos_name(qos))
			return -EINVAL;
		r = cgname_append(&name, cgpath_qos_name(qos));
	}
	if (r < 0)
		return r;
	if (snprintf(pod, sizeof(pod), POD_PREFIX "%s", uid) >= (int)sizeof(pod))
		return -ENAMETOOLONG;
	r = *uid ? cgname_append(&name, pod) : -EINVAL;
	if (r < 0)
		return r;
	*ret = name;
	return 0;
}

struct writer {
	char *text;
	size_t len;
};

static int put(struct writer *w, const char *text, size_t len)
{
	if (len >= CGNAME_PATH_MAX - w->len)
		return -ENAMETOOLONG;
	memcpy(w->text + w->len, text, len);
	w->len += len;
	w->text[w->len] = '\0';
	return 0;
}

static int put_text(struct writer *w, const char *text)
{
	return put(w, text, strlen(text));
}

static void replace(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

static int write_cgroupfs(const struct cgname *name, struct writer *w)
{
	int r = 0;

	for (size_t i = 0; i < name->n && r == 0; i++) {
		r = put_text(w, "/");
		if (r == 0)
			r = put_text(w, name->parts[i]);
	}
	return r;
}

/* Every prefix is a slice of its own: a-b is /a.slice/a-b.slice. */
static int write_systemd(const struct cgname *name, struct writer *w)
{
	char slice[CGNAME_PATH_MAX] = "", part[CGNAME_PART_MAX];
	struct writer prefix = {slice, 0};
	int r = 0;

	for (size_t i = 0; i < name->n && r == 0; i++) {
		snprintf(part, sizeof(part), "%s", name->parts[i]);
		replace(part, '-', '_');
		r = i > 0 ? put_text(&prefix, "-") : 0;
		if (r == 0)
			r = put_text(&prefix, part);
		if (r == 0)
			r = put_text(w, "/");
		if (r == 0)
			r = put(w, slice, prefix.len);
		if (r == 0)
			r = put_text(w, SLICE);
	}
	return r;
}

int cgname_write(const struct cgname *name, enum cgpath_driver driver, char ret[CGNAME_PATH_MAX])
{
	char text[CGNAME_PATH_MAX] = "/";
	struct writer w = {text, 0};
	int r;

	for (size_t i = 0; i < name->n; i++)
		if (!name->parts[i][0] || strchr(name->parts[i], '/'))
			return -EINVAL;
	if (driver == CGPATH_DRIVER_CGROUPFS)
		r = write_cgroupfs(name, &w);
	else
		r = driver == CGPATH_DRIVER_SYSTEMD ? write_systemd(name, &w) : -EINVAL;
	if (r == 0)
		memcpy(ret, text, strlen(text) + 1);
	return r;
}

/* Splits the LEN bytes at TEXT. */
static int split(const char *text, size_t len, char at, struct cgname *ret)
{
	const char *end = text + len;
	int r;

	while (true) {
		const char *part_end = memchr(text, at, (size_t)(end - text));
		size_t part = (size_t)((part_end ? part_end : end) - text);

		r = add(ret, text, part);
		if (r < 0 || !part_end)
			return r;
		text = part_end + 1;
	}
}

static bool ends_in_slice(const char *text, size_t len)
{
	return len >= strlen(SLICE) && !memcmp(text + len - strlen(SLICE), SLICE, strlen(SLICE));
}

/* The last component of a path of LEN bytes, which does not end in "/". */
static const char *basename_of(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);

	return slash ? slash + 1 : path;
}

static size_t length_without_slashes(const char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/')
		len--;
	return len;
}

static int parse_systemd(const char *path, size_t len, struct cgname *name)
{
	const char *base = basename_of(path, len);
	int r;

	len -= (size_t)(base - path);
	if (ends_in_slice(base, len))
		len -= strlen(SLICE);
	r = split(base, len, '-', name);
	for (size_t i = 0; i < name->n; i++)
		replace(name->parts[i], '_', '-');
	return r;
}

int cgname_parse(const char *path, enum cgpath_driver driver, struct cgname *ret)
{
	size_t len = length_without_slashes(path), skip = *path == '/';
	struct cgname name = {};
	int r = 0;

	if (!*path || !cgpath_driver_name(driver))
		return -EINVAL;
	if (len > 0 && driver == CGPATH_DRIVER_SYSTEMD)
		r = parse_systemd(path, len, &name);
	else if (len > 0)
		r = split(path + skip, len - skip, '/', &name);
	if (r == 0)
		*ret = name;
	return r;
}

static bool is_child(const struct cgname *name, const struct cgname *root)
{
	if (name->n != root->n + 1)
		return false;
	for (size_t i = 0; i < root->n; i++)
		if (strcmp(name->parts[i], root->parts[i]) != 0)
			return false;
	return true;
}

bool cgname_is_pod(const struct cgname *name, const struct cgname *roots, size_t n_roots,
		   const char **ret_uid)
{
	const char *uid;

	for (size_t i = 0; i < n_roots; i++) {
		if (!is_child(name, &roots[i]))
			continue;
		if (strncmp(name->parts[name->n - 1], POD_PREFIX, strlen(POD_PREFIX)) != 0)
			return false;
		uid = name->parts[name->n - 1] + strlen(POD_PREFIX);
		if (!*uid || strstr(uid, POD_PREFIX))
			return false;
		*ret_uid = uid;
		return true;
	}
	return false;
}

/* PARENT without what means nothing in a path. */
static int put_clean(struct writer *w, const char *parent)
{
	int r = *parent == '/' ? put_text(w, "/") : 0;

	while (*parent && r == 0) {
		size_t len = strcspn(parent, "/");

		if (len == 2 && !memcmp(parent, "..", 2))
			return -EINVAL;
		if (len > 0 && !(len == 1 && *parent == '.')) {
			r = put(w, parent, len);
			if (r == 0)
				r = put_text(w, "/");
		}
		parent += len + (parent[len] == '/');
	}
	return r;
}

int cgname_of_containerd(const char *parent, const char *id, char ret[CGNAME_PATH_MAX])
{
	char text[CGNAME_PATH_MAX] = "";
	size_t len = length_without_slashes(parent);
	const char *base = basename_of(parent, len);
	struct writer w = {text, 0};
	int r;

	len -= (size_t)(base - parent);
	if (ends_in_slice(base, len)) {
		r = put(&w, base, len);
		if (r == 0)
			r = put_text(&w, ":cri-containerd:");
	} else {
		r = put_clean(&w, parent);
	}
	if (r == 0)
		r = put_text(&w, id);
	if (r == 0)
		memcpy(ret, text, w.len + 1);
	return r;
}

uint64_t cgname_shares_of_weight(uint64_t weight)
{
	if (weight < 1 || weight > 10000)
		return 0;
	return (weight - 1) * 262142 / 9999 + 2;
}
