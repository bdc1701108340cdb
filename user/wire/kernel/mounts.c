// SPDX-License-Identifier: Apache-2.0
/* Which mounts are the kubelet's, by the paths of pkg/kubelet/kubelet_getters.go and
 * pkg/volume/csi (makeDeviceMountPath(), csi_block.go), and saveVolumeData() there. */
#include "wire/kernel/mounts.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PARTS_MAX 7
#define CSI	  "kubernetes.io~csi"

/* Digits up to end or to the byte that ends them. */
static bool read_number(const char **at, const char *end, uint64_t *ret)
{
	const char *start = *at;
	uint64_t n = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**at - '0'), &n))
			return false;
	*ret = n;
	return *at > start;
}

static bool read_id(struct mountinfo_field f, uint64_t *ret)
{
	const char *at = f.at, *end = f.at + f.len;

	return read_number(&at, end, ret) && at == end && *ret > 0;
}

static bool read_device(struct mountinfo_field f, uint64_t *ret)
{
	const char *at = f.at, *end = f.at + f.len;
	uint64_t major, minor;

	if (!read_number(&at, end, &major) || at == end || *at++ != ':' ||
	    !read_number(&at, end, &minor) || at != end || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	*ret = major << 32 | minor;
	return true;
}

/* --- the path below the root directory --------------------------------------------------------- */

/* Cuts the path at its slashes. How many parts, PARTS_MAX at most. */
static size_t split(char *path, const char *parts[static PARTS_MAX])
{
	size_t n = 0;

	while (n < PARTS_MAX && *path && *path != '/') {
		parts[n++] = path;
		path += strcspn(path, "/");
		if (*path)
			*path++ = '\0';
	}
	return n;
}

static bool copy(char *ret, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len >= size)
		return false;
	memcpy(ret, text, len + 1);
	return true;
}

static bool copy_uid(struct kubemount *m, const char *text)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF-");

	return len > 0 && !text[len] && copy(m->pod_uid, sizeof(m->pod_uid), text);
}

#define COPY(array, text) copy(array, sizeof(array), text)

/* In-tree plugins without a device that the attach/detach controller moves. CSI has no such list:
 * of a driver it is not known here whether its volumes are attached. */
static bool is_attachable(const char *plugin)
{
	static const char *const others[] = {
		"configmap", "secret",	   "projected",	   "downward-api", "empty-dir",
		"git-repo",  "host-path",  "nfs",	   "cephfs",	   "glusterfs",
		"quobyte",   "azure-file", "local-volume", "image",
	};
	static const char prefix[] = "kubernetes.io~";

	if (strncmp(plugin, prefix, sizeof(prefix) - 1) != 0)
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(plugin + sizeof(prefix) - 1, others[i]) == 0)
			return false;
	return true;
}

/* A file system that lives in memory ends with its mount: there is nothing to attach elsewhere. */
static bool is_in_memory(struct mountinfo_field type)
{
	return mountinfo_is(type, "tmpfs") || mountinfo_is(type, "ramfs") ||
	       mountinfo_is(type, "hugetlbfs");
}

/* pods/UID/volumes/PLUGIN/NAME and pods/UID/volumeDevices/PLUGIN/NAME. */
static bool read_pods(const char *const *parts, size_t n, bool in_memory, struct kubemount *m)
{
	bool device;

	if (n < 5)
		return false;
	device = strcmp(parts[2], "volumeDevices") == 0;
	if (!device && (strcmp(parts[2], "volumes") != 0 || in_memory))
		return false;
	return copy_uid(m, parts[1]) && COPY(m->plugin, parts[3]) && COPY(m->volume, parts[4]);
}

/* plugins/kubernetes.io/csi/volumeDevices/publish/NAME/UID, …/staging/NAME, …/NAME/dev/UID. */
static bool read_csi_device(const char *const *parts, size_t n, struct kubemount *m)
{
	if (n >= 7 && strcmp(parts[4], "publish") == 0)
		return COPY(m->volume, parts[5]) && copy_uid(m, parts[6]);
	if (n >= 6 && strcmp(parts[4], "staging") == 0)
		return COPY(m->volume, parts[5]);
	return n >= 7 && strcmp(parts[5], "dev") == 0 && COPY(m->volume, parts[4]) &&
	       copy_uid(m, parts[6]);
}

/* plugins/kubernetes.io/csi/DRIVER/HASH/globalmount, before 1.24 …/csi/pv/NAME/globalmount. */
static bool read_csi(const char *const *parts, size_t n, bool in_memory, struct kubemount *m)
{
	strcpy(m->plugin, CSI);
	if (n >= 6 && strcmp(parts[3], "volumeDevices") == 0)
		return read_csi_device(parts, n, m);
	if (n < 6 || in_memory || strcmp(parts[5], "globalmount") != 0 ||
	    !COPY(m->volume, parts[4]))
		return false;
	return strcmp(parts[3], "pv") == 0 || COPY(m->driver, parts[3]);
}

/* plugins/kubernetes.io/PLUGIN/mounts/NAME, …/PLUGIN/volumeDevices/NAME/UID, or one of its own. */
static bool read_in_tree(const char *const *parts, size_t n, bool in_memory, struct kubemount *m)
{
	char plugin[SHUTDOWN_PLUGIN_MAX] = "kubernetes.io~";

	if (n < 4 || strlen(plugin) + strlen(parts[2]) >= sizeof(plugin))
		return false;
	strcat(plugin, parts[2]);
	strcpy(m->plugin, plugin);
	if (strcmp(parts[3], "volumeDevices") == 0)
		return n >= 6 && COPY(m->volume, parts[4]) && copy_uid(m, parts[5]);
	return !in_memory && COPY(m->volume, parts[n >= 5 ? 4 : 3]);
}

static bool read_path(char *path, bool in_memory, struct kubemount *m)
{
	const char *parts[PARTS_MAX];
	size_t n = split(path, parts);

	if (n < 4)
		return false;
	if (strcmp(parts[0], "pods") == 0)
		return read_pods(parts, n, in_memory, m) && is_attachable(m->plugin);
	if (strcmp(parts[0], "plugins") != 0 || strcmp(parts[1], "kubernetes.io") != 0)
		return false;
	if (strcmp(parts[2], "csi") == 0)
		return read_csi(parts, n, in_memory, m);
	return read_in_tree(parts, n, in_memory, m) && is_attachable(m->plugin);
}

/* id parent major:minor root point options [optional...] - type source super-options */
int kubemount_parse(const char *line, size_t len, const char *root, struct kubemount *ret)
{
	const char *at = line, *end = line + len;
	size_t root_len = strlen(root);
	struct mountinfo_field f, point = {};
	char path[PATH_MAX];

	*ret = (struct kubemount){};
	for (int i = 0; i < 6; i++) {
		if (!mountinfo_next(&at, end, &f) || !f.len)
			return -EBADMSG;
		if ((i == 0 && !read_id(f, &ret->id)) || (i == 2 && !read_device(f, &ret->device)))
			return -EBADMSG;
		if (i == 4)
			point = f;
	}
	do {
		if (!mountinfo_next(&at, end, &f) || !f.len)
			return -EBADMSG;
	} while (!mountinfo_is(f, "-"));
	if (!mountinfo_next(&at, end, &f) || !f.len)
		return -EBADMSG;
	if (!mountinfo_unescape(point, path, sizeof(path)) || strncmp(path, root, root_len) != 0 ||
	    path[root_len] != '/')
		return 0;
	return read_path(path + root_len + 1, is_in_memory(f), ret);
}

/* --- the driver of a CSI volume
 * ------------------------------------------------------------------- */

bool kubemount_file(const struct kubemount *m, unsigned int i, char *ret, size_t size)
{
	int n;

	if (strcmp(m->plugin, CSI) != 0 || *m->driver)
		return false;
	if (i > 0)
		n = snprintf(ret, size,
			     "plugins/kubernetes.io/csi/volumeDevices/%s/data/vol_data.json",
			     m->volume);
	else if (*m->pod_uid)
		n = snprintf(ret, size, "pods/%s/volumes/" CSI "/%s/vol_data.json", m->pod_uid,
			     m->volume);
	else
		n = snprintf(ret, size, "plugins/kubernetes.io/csi/pv/%s/vol_data.json", m->volume);
	return n > 0 && (size_t)n < size;
}

int kubemount_read_driver(const char *text, size_t len, char ret[static SHUTDOWN_DRIVER_MAX])
{
	json_auto_t *root = NULL;
	json_error_t error;
	const char *name;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	name = json_string_value(json_object_get(root, "driverName"));
	return name && *name && copy(ret, SHUTDOWN_DRIVER_MAX, name) ? 0 : -EBADMSG;
}

/* --- fields of a line ------------------------------------------------------------------------- */

bool mountinfo_next(const char **at, const char *end, struct mountinfo_field *ret)
{
	const char *start = *at, *stop;

	if (start >= end)
		return false;
	stop = memchr(start, ' ', (size_t)(end - start));
	if (!stop)
		stop = end;
	*ret = (struct mountinfo_field){start, (size_t)(stop - start)};
	*at = stop < end ? stop + 1 : end;
	return true;
}

bool mountinfo_is(struct mountinfo_field field, const char *word)
{
	return field.len == strlen(word) && memcmp(field.at, word, field.len) == 0;
}

/* The byte that \ooo at the beginning stands for; -1: it is none. */
static int octal(const char *at, const char *end)
{
	int value = 0;

	if (end - at < 4 || at[0] != '\\')
		return -1;
	for (int i = 1; i < 4; i++) {
		if (at[i] < '0' || at[i] > '7')
			return -1;
		value = value * 8 + (at[i] - '0');
	}
	return value > 0 && value < 256 ? value : -1;
}

bool mountinfo_unescape(struct mountinfo_field field, char *ret, size_t size)
{
	const char *end = field.at + field.len;
	size_t n = 0;

	for (const char *at = field.at; at < end; at++) {
		int c = octal(at, end);

		if (n + 1 >= size || !*at)
			return false;
		ret[n++] = c >= 0 ? (char)c : *at;
		at += c >= 0 ? 3 : 0;
	}
	ret[n] = '\0';
	return true;
}
