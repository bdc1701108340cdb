// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's part that asks how it is with pods that a shutdown has ended. Whose word counts is
 * meta_lister()'s matter: of the API's pods the API server's where it is asked, else the kubelet's,
 * which lists them as the API has them; of static pods the kubelet's own.
 */
#include <string.h>

#include "core/engine/shutdown_priv.h"

/* Longer than a source takes to answer or to give up: the question was lost. */
#define LOST_NS 15000000000ULL

bool engine_shutdown_is_listed(const struct engine *e, bool is_static)
{
	return e->names.sources >> meta_lister(e->names.sources, is_static) & 1;
}

static enum meta_source source_of(const struct engine *e, const char *uid)
{
	const struct epod *p = engine_pods_find(e, uid);

	return meta_lister(e->names.sources, p ? p->is_static : meta_is_static_uid(uid));
}

void engine_shutdown_ask(struct engine *e, const char *uid)
{
	enum meta_source source = source_of(e, uid);
	struct engine_shutdown_question *q = &e->shutdown->questions[source];

	if (strlen(uid) >= sizeof(q->uid) || (q->uid[0] && e->out.now_ns < q->at_ns + LOST_NS))
		return;
	if (!names_ask_status(&e->names, uid, source))
		return;
	strcpy(q->uid, uid);
	q->at_ns = e->out.now_ns;
}

void engine_shutdown_answered(struct engine *e, const char *uid)
{
	for (int source = 0; source < META_SOURCE_COUNT; source++)
		if (strcmp(e->shutdown->questions[source].uid, uid) == 0)
			e->shutdown->questions[source].uid[0] = '\0';
}
