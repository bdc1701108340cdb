/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about a node's shutdown share; nobody else includes this. */
#ifndef CORE_ENGINE_SHUTDOWN_PRIV_H
#define CORE_ENGINE_SHUTDOWN_PRIV_H

#include "core/engine/given.h"
#include "core/engine/pods_priv.h"
#include "core/shutdown/plan.h"

/* What a source was asked for last. */
struct engine_shutdown_question {
	char uid[META_UID_MAX]; /* of the pod; "": it has answered */
	uint64_t at_ns;
};

/* The sequencer, and what the kubelet's configuration makes of its groups. */
struct engine_shutdown {
	struct engine *engine;
	struct shutdown *sequencer;
	struct arena arena;
	struct shutplan plan;
	/* What a shutdown under way does not go by: the kubelet has read its own before. */
	struct obs_shutdown_plan next;
	bool has_next;
	uint64_t wake_ns;
	struct given given;
	bool going;    /* its facts are told to the sequencer as they change */
	bool unjudged; /* it was told of some and has not decided yet */
	struct engine_shutdown_question questions[META_SOURCE_COUNT];
};

/* engine_shutdown_tell.c */

/* A pod and its containers as they are now. */
void engine_shutdown_tell_pod(struct engine *e, const char *uid);
/* All of them: a shutdown begins. */
void engine_shutdown_tell_all(struct engine *e);
/* A fact for the sequencer, who decides by it when the engine's step ends. */
void engine_shutdown_note(struct engine *e, const struct shutdown_event *event);
/* Hands a record of the sequencer's to the sinks. */
void engine_shutdown_report(struct engine *e, const struct shutdown_record *r);

#endif
