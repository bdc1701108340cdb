// SPDX-License-Identifier: Apache-2.0
/* Walks the slices above a service by systemd's rules for the names of units. */
#include "core/names/unit_name.h"

#include <string.h>

/* Without its type and its dot. */
struct name {
	const char *at;
	size_t len;
};

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr(":-_.\\@", c));
}

static bool cut_type(struct name *name, const char *type)
{
	size_t n = strlen(type);

	if (name->len <= n || memcmp(name->at + name->len - n, type, n) != 0)
		return false;
	name->len -= n;
	for (size_t i = 0; i < name->len; i++)
		if (!is_name_char(name->at[i]))
			return false;
	return true;
}

/* The dashes of a slice's name stand for the slices above it. */
static bool is_slice(struct name name)
{
	if (!cut_type(&name, ".slice") || memchr(name.at, '@', name.len))
		return false;
	if (name.at[0] == '-' || name.at[name.len - 1] == '-')
		return false;
	for (size_t i = 1; i < name.len; i++)
		if (name.at[i] == '-' && name.at[i - 1] == '-')
			return false;
	return true;
}

/* A template, which has nothing after its "@", is never started. */
static bool is_service(struct name name)
{
	return cut_type(&name, ".service") && name.at[0] != '@' && name.at[name.len - 1] != '@';
}

static const char *below_root(const char *root, const char *path)
{
	size_t n = strlen(root);

	while (n > 0 && root[n - 1] == '/')
		n--;
	if (strncmp(path, root, n) != 0 || path[n] != '/')
		return NULL;
	return path + n + 1;
}

bool unitname_service(const char *root, const char *path, char ret[static META_NAME_MAX])
{
	const char *at = below_root(root, path), *slash;
	struct name name;

	if (!at)
		return false;
	for (; (slash = strchr(at, '/')); at = slash + 1) {
		name = (struct name){at, (size_t)(slash - at)};
		if (name.len > 0 && *name.at == '_')
			name = (struct name){name.at + 1, name.len - 1};
		if (!is_slice(name))
			return false;
	}
	if (*at == '_')
		at++;
	name = (struct name){at, strlen(at)};
	if (name.len >= META_NAME_MAX || !is_service(name))
		return false;
	memcpy(ret, at, name.len + 1);
	return true;
}
