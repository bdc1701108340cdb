/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about a node's shutdown share; nobody else includes this. */
#ifndef CORE_ENGINE_SHUTDOWN_PRIV_H
#define CORE_ENGINE_SHUTDOWN_PRIV_H

#include "core/engine_pods_priv.h"
#include "core/shutplan.h"

/* The sequencer, and what the kubelet's configuration makes of its groups. */
struct engine_shutdown {
	struct engine *engine;
	struct shutdown *sequencer;
	struct arena arena;
	struct shutplan plan;
	uint64_t wake_ns;
	bool going; /* its facts are told to the sequencer as they change */
};

/* engine_shutdown_tell.c */

/* A pod and its containers as they are now. */
void engine_shutdown_tell_pod(struct engine *e, const char *uid);
/* All of them: a shutdown begins. */
void engine_shutdown_tell_all(struct engine *e);
/* Hands a record of the sequencer's to the sinks. */
void engine_shutdown_report(struct engine *e, const struct shutdown_record *r);

#endif
