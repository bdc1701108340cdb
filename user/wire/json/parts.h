/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that JSON records are made of: the same pod, container, process and sender in each.
 * Each function adds one member named key, null where the value is not known. */
#ifndef WIRE_JSON_PARTS_H
#define WIRE_JSON_PARTS_H

#include "base/buf.h"
#include "core/stop/record.h"

void record_parts_pod(struct buf *out, const char *key, const struct record_pod *pod);
void record_parts_container(struct buf *out, const char *key,
			    const struct record_container *container);
void record_parts_sender(struct buf *out, const char *key, const struct record_sender *sender);
/* A signal inside a stop record. */
void record_parts_sigref(struct buf *out, const char *key, const struct record_sigref *sigref);

/* The members pid, ns_pid and comm, into an object that is open already. */
void record_parts_process(struct buf *out, const struct record_process *process);

/* The members number, name and result, likewise. */
void record_parts_signal(struct buf *out, uint32_t number, int32_t result);

void record_parts_exit(struct buf *out, const char *key, const struct record_exit *exit);
void record_parts_tri(struct buf *out, const char *key, enum record_tri value);

/* A time of CLOCK_BOOTTIME; 0 is not known. */
void record_parts_time(struct buf *out, const char *key, uint64_t at_ns);

#endif
