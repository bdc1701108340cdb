// SPDX-License-Identifier: Apache-2.0
/* Walks the slices above a service by systemd's rules for the names of units, and turns its
 * properties into what the engine wants to know of a container. */
#include "core/names/unit.h"

#include <stdio.h>
#include <string.h>

/* --- the name ---------------------------------------------------------------------------------- */

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

bool unitname_of_split(const char *path, char ret[static META_NAME_MAX])
{
	static const char payload[] = "libpod-payload-";
	const char *end = strrchr(path, '/'), *at = end;
	struct name name;

	if (!end || strncmp(end + 1, payload, sizeof(payload) - 1) != 0)
		return false;
	while (at > path && at[-1] != '/')
		at--;
	at += at < end && *at == '_';
	name = (struct name){at, (size_t)(end - at)};
	if (!is_service(name) || !cut_type(&name, ".service") || name.len >= META_NAME_MAX)
		return false;
	memcpy(ret, name.at, name.len);
	ret[name.len] = '\0';
	return true;
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

/* --- the properties ---------------------------------------------------------------------------- */

#define SIGNAL_MAX 64
#define PID_MAX	   4194304 /* PID_MAX_LIMIT in include/linux/threads.h */
#define US	   1000ull

static bool is_known(const struct unitfacts *facts, uint32_t bits)
{
	return (facts->known & bits) == bits;
}

static bool is_its_cgroup(const struct unitfacts *facts, const char *cgroup)
{
	if (facts->cgroup[0])
		return strcmp(facts->cgroup, cgroup) == 0;
	return is_known(facts, UNITFACTS_STARTED) && facts->started_us != 0;
}

static void judge_signal(const struct unitfacts *facts, struct meta_container *ret)
{
	uint64_t us = facts->stop_timeout_us;

	if (!is_known(facts, UNITFACTS_KILL_MODE) || strcmp(facts->kill_mode, "none") == 0)
		return;
	if (is_known(facts, UNITFACTS_KILL_SIGNAL) && facts->kill_signal > 0 &&
	    facts->kill_signal <= SIGNAL_MAX)
		ret->stop_signal = (uint32_t)facts->kill_signal;
	if (!is_known(facts, UNITFACTS_STOP_TIMEOUT | UNITFACTS_SEND_SIGKILL) ||
	    !facts->send_sigkill)
		return;
	/* 0 is how "infinity" was written once. */
	if (us == 0 || us > UINT64_MAX / US)
		return;
	ret->grace_ns = us * US;
	ret->known |= META_CTR_GRACE;
}

enum meta_result unitfacts_judge(const struct unitfacts *facts, const char *unit,
				 const char *cgroup, struct meta_container *ret)
{
	if (!is_known(facts, UNITFACTS_CGROUP))
		return META_FAILED;
	if (!is_its_cgroup(facts, cgroup))
		return META_ABSENT;
	*ret = (struct meta_container){.source = META_SYSTEMD, .kind = META_KIND_CONTAINER};
	snprintf(ret->unit, sizeof(ret->unit), "%s", unit);
	snprintf(ret->name, sizeof(ret->name), "%s", unit);
	if (is_known(facts, UNITFACTS_MAIN_PID) && facts->cgroup[0] && facts->main_pid > 0 &&
	    facts->main_pid <= PID_MAX) {
		ret->main_pid = facts->main_pid;
		ret->known |= META_CTR_MAIN_PID;
	}
	judge_signal(facts, ret);
	return META_FOUND;
}
