// SPDX-License-Identifier: Apache-2.0
/* Collects pods, and refuses those that cannot be one node's. */
#include "app/commands/plan/node_pods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/pod_input.h"
#include "app/log/say.h"

/* More than any node has. */
#define PODS_MAX   16384
#define MEMORY_MAX ((size_t)256 << 20)

void nodepods_free(struct nodepods *pods)
{
	free(pods->list);
	arena_free(&pods->arena);
	*pods = (struct nodepods){};
}

static int make_room(struct nodepods *p)
{
	size_t room = p->room ? 2 * p->room : 64;
	const struct podobj_pod **list;

	if (p->n < p->room)
		return 0;
	list = reallocarray(p->list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	p->list = list;
	p->room = room;
	return 0;
}

/* The pods of a cluster do not all lose their node at once. */
static const char *why_not(const struct nodepods *p, const struct podobj_pod *pod)
{
	if (p->n == PODS_MAX)
		return "these are more pods than a node has";
	if (*pod->node && *p->node && strcmp(pod->node, p->node) != 0)
		return "these are pods of several nodes";
	return NULL;
}

static int take_pod(void *userdata, const struct podobj_pod *pod)
{
	struct nodepods *p = userdata;
	struct podobj_pod *copy;
	int r;

	if (!p->refused)
		p->refused = why_not(p, pod);
	if (p->refused)
		return 0;
	if (!*pod->node) {
		p->left_out++;
		return 0;
	}
	r = make_room(p);
	copy = r < 0 ? NULL : arena_alloc(&p->arena, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*copy = *pod;
	if (!*p->node)
		p->node = pod->node;
	p->list[p->n++] = copy;
	return 0;
}

int nodepods_read(const char *path, struct nodepods *ret)
{
	const struct podinput input = {.verb = "plan", .path = path};
	int status;

	*ret = (struct nodepods){.arena.limit = MEMORY_MAX, .node = ""};
	status = podinput_each(&input, &ret->arena, take_pod, ret);
	if (!ret->refused && ret->left_out > 0)
		say("%zu of the pods in %s %s on no node (no spec.nodeName): left out",
		    ret->left_out, path, ret->left_out == 1 ? "is" : "are");
	if (!ret->refused)
		return status;
	say("cannot plan %s: %s; kubectl get pods --field-selector spec.nodeName=NODE tells those "
	    "of one",
	    path, ret->refused);
	ret->n = 0;
	return 1;
}
