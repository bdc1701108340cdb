/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that the sentences about stops are made of. A process is written NAME[PID], with the
 * pid that it has in its container, if the record lists it among those of the container; else with
 * the one that it has on the host. Names are made printable.
 */
#ifndef CORE_STORY_PHRASE_H
#define CORE_STORY_PHRASE_H

#include "base/buf.h"
#include "core/stop/record.h"

void phrase_add_comm(struct buf *out, const char *comm);
void phrase_add_process(struct buf *out, const struct record_process *process);
/* ... as it was called then; comm NULL or "": not known. */
void phrase_add_process_then(struct buf *out, const struct record_process *p, const char *comm);
void phrase_add_init(struct buf *out, const struct record_stop *stop);
void phrase_add_signal(struct buf *out, uint32_t number);
/* Whether that is what its default does, signal(7). */
bool phrase_dumps_core(uint32_t number);
/* A request to stop may have come, and not be in the record. */
bool phrase_may_miss_request(const struct record_stop *stop);
/* How long it is from one time to the other; 0 if that is the earlier one. */
void phrase_add_time(struct buf *out, uint64_t from_ns, uint64_t to_ns);

/* A look found that the freezer holds it. */
bool phrase_is_frozen(const struct record_stop *stop);
/* What init passed its signal to is PID 1 of a pid namespace of its own, without a handler. */
bool phrase_child_is_shielded(const struct record_stop *stop);

/* Why the kernel sent a signal to a process, or to init (NULL), whose parent had died. */
void phrase_add_parent_death(struct buf *out, const struct record_member *m);

/* What an init does in place of acting on its stop signal: "ignores SIGTERM". */
void phrase_add_reason(struct buf *out, const struct record_stop *stop);

/* Who sent a signal, and where that is: "bash[4711] (on the host)". */
void phrase_add_sender(struct buf *out, const struct record_stop *stop,
		       const struct record_asked *signal);
/* The same with the ancestors, where these say more: "kill[812] (on the host; parents: bash)". */
void phrase_add_culprit(struct buf *out, const struct record_stop *stop,
			const struct record_sender *sender);

#endif
