// SPDX-License-Identifier: Apache-2.0
/* Remembers of each container the last look and the verdict that was reported. */
#include "core/stop/audit_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

struct audit_change {
	char *cgroup;
	uint32_t pid;
	uint64_t start_ns;
	uint32_t looks;
	struct audit last, reported;
	bool is_reported, in_round;
};

/* A signal that is pending for a moment, while it is delivered, is no other verdict. */
static bool is_same(const struct audit *a, const struct audit *b)
{
	return a->verdict == b->verdict && a->reason == b->reason &&
	       !((a->warnings ^ b->warnings) & ~(1u << AUDIT_PENDING));
}

static struct audit_change *find(const struct audit_changes *changes, const struct audit_subject *s)
{
	for (size_t i = 0; i < changes->n; i++) {
		struct audit_change *c = changes->list + i;

		if (c->pid == s->pid && c->start_ns == s->start_ns &&
		    strcmp(c->cgroup, s->cgroup) == 0)
			return c;
	}
	return NULL;
}

static struct audit_change *add(struct audit_changes *changes, const struct audit_subject *s)
{
	struct audit_change *c;

	if (!ROOM_FOR_ONE(changes->list, changes->n, changes->room, 64))
		return NULL;
	c = changes->list + changes->n;
	*c = (struct audit_change){
		.cgroup = strdup(s->cgroup), .pid = s->pid, .start_ns = s->start_ns};
	changes->n += c->cgroup != NULL;
	return c->cgroup ? c : NULL;
}

int audit_changes_take(struct audit_changes *changes, const struct audit_subject *subject,
		       const struct audit *audit, bool *ret_new)
{
	struct audit_change *c = find(changes, subject);
	bool counts;

	if (!c)
		c = add(changes, subject);
	if (!c)
		return -ENOMEM;
	counts = c->looks && audit->reason != AUDIT_STARTING && is_same(&c->last, audit);
	c->last = *audit;
	c->looks++;
	c->in_round = true;
	*ret_new = counts && !(c->is_reported && is_same(&c->reported, audit));
	if (*ret_new) {
		c->reported = *audit;
		c->is_reported = true;
	}
	return 0;
}

bool audit_changes_is_young(const struct audit_changes *changes,
			    const struct audit_subject *subject, uint32_t looks)
{
	const struct audit_change *c = find(changes, subject);

	return !c || c->looks < looks;
}

void audit_changes_end_round(struct audit_changes *changes)
{
	size_t n = 0;

	for (size_t i = 0; i < changes->n; i++) {
		struct audit_change *c = changes->list + i;

		if (!c->in_round) {
			free(c->cgroup);
			continue;
		}
		c->in_round = false;
		changes->list[n++] = *c;
	}
	changes->n = n;
}

void audit_changes_done(struct audit_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		free(changes->list[i].cgroup);
	free(changes->list);
	*changes = (struct audit_changes){};
}
