// SPDX-License-Identifier: Apache-2.0
/* Matches tolerations with a taint, as k8s.io/component-helpers does. */
#include "core/kubelet/toleration.h"

#include <string.h>

static bool fits(const struct podobj_toleration *t, const char *key, const char *value,
		 const char *effect)
{
	if (*t->effect && strcmp(t->effect, effect) != 0)
		return false;
	if (*t->key && strcmp(t->key, key) != 0)
		return false;
	if (strcmp(t->op, "Exists") == 0)
		return true;
	return (!*t->op || strcmp(t->op, "Equal") == 0) && *t->key && strcmp(t->value, value) == 0;
}

struct toleration toleration_of(const struct podobj_pod *pod, const char *key, const char *value,
				const char *effect)
{
	for (size_t i = 0; i < pod->n_tolerations; i++) {
		const struct podobj_toleration *t = &pod->tolerations[i];

		if (!fits(t, key, value, effect))
			continue;
		if (!t->has_seconds)
			return (struct toleration){.kind = TOLERATION_FOREVER};
		return (struct toleration){
			.kind = TOLERATION_SECONDS,
			.seconds = t->seconds > 0 ? t->seconds : 0,
		};
	}
	return (struct toleration){.kind = TOLERATION_NONE};
}
