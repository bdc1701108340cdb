// SPDX-License-Identifier: Apache-2.0
/* What one component of a cgroup path says by its own letters: predicates that cut known text off
 * the ends of a copy and ask whether what is left is a UID, an ID or nothing. */

#include "core/cgroup/part.h"

#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define ECS_TASK_LEN 32

bool cgpart_is(struct cgpart p, const char *word)
{
	size_t n = strlen(word);

	return p.len == n && (n == 0 || memcmp(p.at, word, n) == 0);
}

bool cgpart_cut_prefix(struct cgpart *p, const char *prefix)
{
	size_t n = strlen(prefix);

	if (p->len < n || memcmp(p->at, prefix, n) != 0)
		return false;
	p->at += n;
	p->len -= n;
	return true;
}

bool cgpart_cut_suffix(struct cgpart *p, const char *suffix)
{
	size_t n = strlen(suffix);

	if (p->len < n || memcmp(p->at + p->len - n, suffix, n) != 0)
		return false;
	p->len -= n;
	return true;
}

/* Cuts WORD off the end of P where it is a whole dash-separated word: "a-word" leaves "a-". */
static bool cut_last_word(struct cgpart *p, const char *word)
{
	struct cgpart rest = *p;

	if (!cgpart_cut_suffix(&rest, word) || (rest.len > 0 && rest.at[rest.len - 1] != '-'))
		return false;
	*p = rest;
	return true;
}

/* The kubelet and the runtimes write lower case only: upper case is somebody else's. */
static bool is_hex(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!(at[i] >= '0' && at[i] <= '9') && !(at[i] >= 'a' && at[i] <= 'f'))
			return false;
	return true;
}

static bool is_container_id(struct cgpart p)
{
	return p.len == CGPATH_ID_LEN && is_hex(p.at, p.len);
}

/* 8-4-4-4-12 hex digits. The separators are all alike, because the systemd driver turns every dash
 * of a UID into an underscore and the cgroupfs driver none. */
static bool is_uuid(struct cgpart p)
{
	static const size_t groups[] = {8, 4, 4, 4, 12};
	const char *at = p.at;

	if (p.len != POD_UID_LEN || (at[8] != '-' && at[8] != '_'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		if (i > 0 && *at++ != p.at[8])
			return false;
		if (!is_hex(at, groups[i]))
			return false;
		at += groups[i];
	}
	return true;
}

static bool is_pod_uid(struct cgpart p)
{
	return is_uuid(p) || (p.len == CGPART_HASH_UID_LEN && is_hex(p.at, p.len));
}

/* Cuts "pod<uid>" off the end of P. */
static bool cut_pod_uid(struct cgpart *p, struct cgpart *ret_uid)
{
	static const size_t lengths[] = {POD_UID_LEN, CGPART_HASH_UID_LEN};

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		size_t head = p->len - lengths[i];
		struct cgpart rest = {p->at, head}, uid;

		if (p->len < lengths[i])
			continue;
		uid = (struct cgpart){p->at + head, lengths[i]};
		if (!is_pod_uid(uid) || !cut_last_word(&rest, "pod"))
			continue;
		*p = rest;
		*ret_uid = uid;
		return true;
	}
	return false;
}

static const struct {
	const char *word;
	enum cgpath_runtime runtime;
	bool cri;
} runtimes[] = {
	{"cri-containerd", CGPATH_RT_CONTAINERD, true},
	{"docker", CGPATH_RT_DOCKER, false},
	{"crio", CGPATH_RT_CRIO, true},
	{"libpod", CGPATH_RT_PODMAN, false},
	{"nerdctl", CGPATH_RT_UNKNOWN, false},
	/* Where runc is given no name: rootless Docker without a controller of its own. */
	{"runc", CGPATH_RT_UNKNOWN, false},
};

bool cgpart_runtime_is_cri(enum cgpath_runtime runtime)
{
	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++)
		if (runtimes[i].runtime == runtime)
			return runtimes[i].cri;
	return false;
}

/* Cuts "<runtime><mark>" off the front of P; CGPATH_RT_NONE, with P as it was, where it is not. */
static enum cgpath_runtime cut_runtime(struct cgpart *p, const char *mark)
{
	for (size_t i = 0; i < ARRAY_LEN(runtimes); i++) {
		struct cgpart rest = *p;

		if (!cgpart_cut_prefix(&rest, runtimes[i].word) || !cgpart_cut_prefix(&rest, mark))
			continue;
		*p = rest;
		return runtimes[i].runtime;
	}
	return CGPATH_RT_NONE;
}

static enum cgpath_driver cut_slice(struct cgpart *p)
{
	return cgpart_cut_suffix(p, ".slice") ? CGPATH_DRIVER_SYSTEMD : CGPATH_DRIVER_CGROUPFS;
}

static enum cgpath_qos cut_qos(struct cgpart *p)
{
	if (cut_last_word(p, "burstable"))
		return CGPATH_QOS_BURSTABLE;
	if (cut_last_word(p, "besteffort"))
		return CGPATH_QOS_BESTEFFORT;
	return CGPATH_QOS_UNKNOWN;
}

bool cgpart_is_upper(struct cgpart c, struct cgpart_claim *ret)
{
	enum cgpath_driver driver = cut_slice(&c);
	enum cgpath_qos qos = cut_qos(&c);
	bool plain = driver == CGPATH_DRIVER_CGROUPFS;
	bool named = true;

	if (qos == CGPATH_QOS_UNKNOWN)
		named = cut_last_word(&c, "kubepods");
	else if (!plain)
		named = cgpart_cut_suffix(&c, "-") && cut_last_word(&c, "kubepods");
	if (!named || (plain && c.len > 0))
		return false;
	*ret = (struct cgpart_claim){
		.kind = qos == CGPATH_QOS_UNKNOWN ? CGPATH_KUBEPODS_ROOT : CGPATH_QOS,
		.qos = qos,
		.driver = driver,
	};
	return true;
}

/* Cuts ":runtime:ID" off the end of C; true, with nothing cut, where there is no colon. */
static bool cut_colon_form(struct cgpart *c, struct cgpart_claim *ret)
{
	const char *colon = memchr(c->at, ':', c->len);
	struct cgpart tail;

	if (!colon)
		return true;
	tail = (struct cgpart){colon + 1, c->len - (size_t)(colon + 1 - c->at)};
	ret->runtime = cut_runtime(&tail, ":");
	if (ret->runtime == CGPATH_RT_NONE || !is_container_id(tail))
		return false;
	ret->kind = CGPATH_CONTAINER;
	ret->id = tail;
	c->len = (size_t)(colon - c->at);
	return true;
}

bool cgpart_is_pod(struct cgpart c, struct cgpart_claim *ret)
{
	struct cgpart_claim pod = {.kind = CGPATH_POD};

	if (!cut_colon_form(&c, &pod))
		return false;
	pod.driver = cut_slice(&c);
	if (!cut_pod_uid(&c, &pod.uid))
		return false;
	cgpart_cut_suffix(&c, "-");
	pod.qos = cut_qos(&c);
	if (pod.qos == CGPATH_QOS_UNKNOWN && cut_last_word(&c, "kubepods"))
		pod.qos = CGPATH_QOS_GUARANTEED;
	*ret = pod;
	return true;
}

/* The runtime whose monitor this is, CGPATH_RT_NONE if it is none. */
static enum cgpath_runtime monitor_of(struct cgpart c, struct cgpart parent)
{
	if (cgpart_cut_prefix(&c, "crio-conmon-"))
		return CGPATH_RT_CRIO;
	if (cgpart_cut_prefix(&c, "libpod-conmon-") ||
	    (cgpart_is(parent, "libpod_parent") && cgpart_is(c, "conmon")))
		return CGPATH_RT_PODMAN;
	return CGPATH_RT_NONE;
}

/* Below a slice CRI-O gives its containers scopes; a plain directory is a sandbox without process. */
static bool is_bare_sandbox(enum cgpath_runtime runtime, bool scope, struct cgpart parent)
{
	return runtime == CGPATH_RT_CRIO && !scope && cgpart_cut_suffix(&parent, ".slice");
}

struct cgpart_claim cgpart_leaf(struct cgpart c, struct cgpart parent)
{
	const struct cgpart_claim none = {.kind = CGPATH_NONE};
	struct cgpart_claim leaf = none;
	bool scope = false;

	if (cgpart_cut_suffix(&c, ".mount"))
		return (struct cgpart_claim){.kind = CGPATH_MOUNT};
	leaf.runtime = monitor_of(c, parent);
	if (leaf.runtime != CGPATH_RT_NONE) {
		leaf.kind = CGPATH_CONMON;
		return leaf;
	}
	leaf.runtime = cut_runtime(&c, "-");
	if (leaf.runtime == CGPATH_RT_NONE)
		leaf.runtime = CGPATH_RT_UNKNOWN;
	else
		scope = cgpart_cut_suffix(&c, ".scope");
	/* Podman splits the cgroup of a unit that is a container, as a quadlet is. */
	if (leaf.runtime == CGPATH_RT_PODMAN)
		cgpart_cut_prefix(&c, "payload-");
	if (!is_container_id(c))
		return none;
	leaf.id = c;
	leaf.kind =
		is_bare_sandbox(leaf.runtime, scope, parent) ? CGPATH_SANDBOX : CGPATH_CONTAINER;
	return leaf;
}

struct cgpart_claim cgpart_leaf_ecs(struct cgpart c, struct cgpart parent)
{
	const struct cgpart_claim none = {.kind = CGPATH_NONE};
	struct cgpart number = c;

	if (parent.len != ECS_TASK_LEN || !is_hex(parent.at, parent.len) || c.len > CGPATH_ID_LEN ||
	    c.len < parent.len + 2)
		return none;
	if (memcmp(c.at, parent.at, parent.len) != 0 || c.at[parent.len] != '-')
		return none;
	number.at += parent.len + 1;
	number.len -= parent.len + 1;
	for (size_t i = 0; i < number.len; i++)
		if (number.at[i] < '0' || number.at[i] > '9')
			return none;
	return (struct cgpart_claim){.kind = CGPATH_CONTAINER, .runtime = CGPATH_RT_ECS, .id = c};
}

struct cgpart_claim cgpart_leaf_uuid(struct cgpart c)
{
	if (!is_uuid(c))
		return (struct cgpart_claim){.kind = CGPATH_NONE};
	return (struct cgpart_claim){
		.kind = CGPATH_CONTAINER, .runtime = CGPATH_RT_UNKNOWN, .id = c};
}
