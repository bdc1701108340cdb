// SPDX-License-Identifier: Apache-2.0
#include "core/shutdown/managed.h"

#include <fnmatch.h>
#include <string.h>

/* Without a rule that names them, these and what is in them are left alone. */
static const char *const guarded[] = {
	/* systemd, its logind and journald among the rest, and the bus that both are reached by */
	"init.scope",
	"systemd-*.service",
	"dbus.service",
	"dbus-broker.service",
	/* who is logged in */
	"user.slice",
	"user-*.slice",
	"user@*.service",
	"session-*.scope",
	"ssh.service",
	"ssh@*.service",
	"sshd.service",
	"sshd@*.service",
	"getty@*.service",
	"serial-getty@*.service",
	/* what runs containers, and can stop them */
	"containerd.service",
	"cri-docker.service",
	"crio.service",
	"docker.service",
	"podman.service",
	"snap.docker.*.service",
	"snap.microk8s.*.service",
};

/* Likewise. */
const char *const managed_kubelet_units[] = {
	"kubelet.service",
	"k3s.service",
	"k3s-agent.service",
	"rke2-server.service",
	"rke2-agent.service",
	"k0scontroller.service",
	"k0sworker.service",
	"snap.microk8s.daemon-kubelite.service",
	NULL,
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- reading ---------------------------------------------------------------------------------- */

#define WANT_RULE \
	"priority, and at least one of scope, unit and label (priority=100 scope=docker), each once"
#define WANT_SCOPE    "a scope of containers, docker, podman, containerd, ecs or services"
#define WANT_UNIT     "the name of a unit with its end (.service, .scope, .slice), or a pattern of it"
#define WANT_LABEL    "a label as key=value, or as key alone"
#define WANT_PRIORITY "a priority from -2147483648 to 2147483647"
#define WANT_NO_PODS  "no rule for pods: their containers are managed without one"
#define WANT_SERVICE  "unit beside scope=services"
#define WANT_DOCKER   "label without scope, or with scope=docker or containers: labels are Docker's"

static const char *take_scope(const char *value, struct managed_rule *ret)
{
	int scope;

	if (strcmp(value, "pods") == 0 || strcmp(value, "kubepods") == 0)
		return WANT_NO_PODS;
	scope = words_find(&words_managed_scope, value);
	if (scope < 0)
		return WANT_SCOPE;
	ret->scope = (uint32_t)scope;
	return NULL;
}

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n > m && memcmp(text + n - m, end, m) == 0;
}

/* What is a container or holds some; other units have no processes that last. */
static bool is_unit(const char *name, size_t n)
{
	return ends_with(name, n, ".service") || ends_with(name, n, ".scope") ||
	       ends_with(name, n, ".slice");
}

/* A pattern that no unit can match is an error: "nginx". */
static const char *take_unit(const char *value, struct managed_rule *ret)
{
	size_t n = strlen(value);

	if (n >= sizeof(ret->unit) || strchr(value, '/') || n == 0 ||
	    (!is_unit(value, n) && !strchr("*?]", value[n - 1])))
		return WANT_UNIT;
	strcpy(ret->unit, value);
	return NULL;
}

static const char *take_label(const char *value, struct managed_rule *ret)
{
	if (!*value || *value == '=' || strlen(value) >= sizeof(ret->label))
		return WANT_LABEL;
	strcpy(ret->label, value);
	return NULL;
}

static const char *take_priority(const char *value, struct managed_rule *ret)
{
	bool negative = *value == '-';
	int64_t number = 0;
	size_t n;

	value += negative;
	n = strspn(value, "0123456789");
	if (n == 0 || n > 10 || value[n])
		return WANT_PRIORITY;
	for (size_t i = 0; i < n; i++)
		number = number * 10 + (value[i] - '0');
	number = negative ? -number : number;
	if (number < INT32_MIN || number > INT32_MAX)
		return WANT_PRIORITY;
	ret->priority = (int32_t)number;
	return NULL;
}

static const struct key {
	const char *name;
	const char *(*take)(const char *value, struct managed_rule *ret);
} keys[] = {
	{"scope=", take_scope},
	{"unit=", take_unit},
	{"label=", take_label},
	{"priority=", take_priority},
};

/* One "key=value" of n bytes. */
static const char *take_key(const char *at, size_t n, struct managed_rule *ret, bool *seen)
{
	char value[2 * MANAGED_TEXT_MAX];

	for (size_t i = 0; i < COUNT(keys); i++) {
		size_t len = strlen(keys[i].name);

		if (n < len || memcmp(at, keys[i].name, len) != 0)
			continue;
		if (seen[i] || n - len >= sizeof(value))
			return WANT_RULE;
		seen[i] = true;
		memcpy(value, at + len, n - len);
		value[n - len] = '\0';
		return keys[i].take(value, ret);
	}
	return WANT_RULE;
}

const char *managed_parse(const char *text, struct managed_rule *ret)
{
	const char *apart = strchr(text, '\n') ? "\n" : " ", *wants = NULL;
	struct managed_rule rule = {};
	bool seen[COUNT(keys)] = {};

	for (text += strspn(text, apart); *text && !wants; text += strspn(text, apart)) {
		size_t n = strcspn(text, apart);

		wants = take_key(text, n, &rule, seen);
		text += n;
	}
	if (wants)
		return wants;
	if (!seen[3] || !(seen[0] || seen[1] || seen[2]))
		return WANT_RULE;
	if (seen[2] && rule.scope > MANAGED_DOCKER)
		return WANT_DOCKER;
	if (rule.scope == MANAGED_SERVICES && !seen[1])
		return WANT_SERVICE;
	*ret = rule;
	return NULL;
}

/* --- matching --------------------------------------------------------------------------------- */

bool managed_may_be_service(const struct managed_rule *rule)
{
	return rule->scope == MANAGED_SERVICES ||
	       (rule->scope == MANAGED_ANY && rule->unit[0] && !rule->label[0]);
}

bool managed_is_of_services(const struct managed_rule *rule)
{
	return rule->scope == MANAGED_SERVICES;
}

static bool is_in_scope(const struct managed_rule *rule, const struct managed_subject *s)
{
	switch (rule->scope) {
	case MANAGED_ANY:
		return true;
	case MANAGED_SERVICES:
		return s->is_service;
	case MANAGED_CONTAINERS:
		return !s->is_service;
	case MANAGED_DOCKER:
		return !s->is_service && s->runtime == CGPATH_RT_DOCKER;
	case MANAGED_PODMAN:
		return !s->is_service && s->runtime == CGPATH_RT_PODMAN;
	case MANAGED_CONTAINERD:
		return !s->is_service && s->runtime == CGPATH_RT_CONTAINERD;
	case MANAGED_ECS:
		return !s->is_service && s->runtime == CGPATH_RT_ECS;
	default:
		return false;
	}
}

/* A unit that the cgroup is or is in, as systemd calls it; false: there is no further one. A name
 * that the kernel could take for a file of its own has a "_" before it. */
static bool next_unit(const char **path, char ret[static MANAGED_TEXT_MAX])
{
	while (**path) {
		const char *name = *path + strspn(*path, "/");
		size_t n = strcspn(name, "/");

		*path = name + n;
		if (n > 1 && *name == '_') {
			name++;
			n--;
		}
		if (!is_unit(name, n) || n >= MANAGED_TEXT_MAX)
			continue;
		memcpy(ret, name, n);
		ret[n] = '\0';
		return true;
	}
	return false;
}

static bool is_in_unit(const struct managed_rule *rule, const char *path)
{
	char unit[MANAGED_TEXT_MAX];

	while (next_unit(&path, unit))
		if (fnmatch(rule->unit, unit, FNM_NOESCAPE) == 0)
			return true;
	return false;
}

static bool is_guarded(const char *unit)
{
	for (size_t i = 0; i < COUNT(guarded); i++)
		if (fnmatch(guarded[i], unit, 0) == 0)
			return true;
	for (const char *const *kubelet = managed_kubelet_units; *kubelet; kubelet++)
		if (strcmp(*kubelet, unit) == 0)
			return true;
	return false;
}

/* True: none of its units is guarded, or the rule names one of those that are. */
static bool may_match(const struct managed_rule *rule, const char *path)
{
	char unit[MANAGED_TEXT_MAX];
	bool any = false;

	while (next_unit(&path, unit)) {
		if (!is_guarded(unit))
			continue;
		any = true;
		if (strcmp(rule->unit, unit) == 0)
			return true;
	}
	return !any;
}

const struct managed_rule *managed_find(const struct managed_rule *rules, size_t n,
					const struct managed_subject *s)
{
	for (size_t i = 0; i < n && i < MANAGED_RULES_MAX; i++) {
		const struct managed_rule *rule = &rules[i];

		if (!is_in_scope(rule, s) || (rule->label[0] && !(s->labels >> i & 1)) ||
		    (rule->unit[0] && !is_in_unit(rule, s->path)) || !may_match(rule, s->path))
			continue;
		return rule;
	}
	return NULL;
}
