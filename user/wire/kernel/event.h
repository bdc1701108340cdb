/* SPDX-License-Identifier: Apache-2.0 */
/* Ring buffer records (include/graced/event.h) to observations, and the names of their types. */
#ifndef WIRE_KERNEL_EVENT_H
#define WIRE_KERNEL_EVENT_H

#include <stddef.h>

#include "core/facts/observation.h"

/* Remembers the ancestors of senders, by the numbers that the kernel half gives them. */
struct evdec;

/* For a kernel half whose CPUs have numbers below cpus. -ENOMEM, or -EINVAL for none. */
int evdec_new(size_t cpus, struct evdec **ret);
struct evdec *evdec_free(struct evdec *dec);

/* Decodes the record in the size bytes at data, which need no alignment and may be anything. The
 * record may be longer than the struct it is known by: a later kernel half appended to it.
 *
 * -EPROTO for another abi, -EBADMSG for an unknown type, a size that cannot be or a signal whose
 * sender's ancestors are not known. Only the members of the type are written to *ret, and only the
 * bytes of a path; every string in it ends. */
int evdec_decode(struct evdec *dec, const void *data, size_t size, struct obs *ret);

/* The names of the kernel half's types of events, as records and metrics have them. */

/* type is an enum graced_ev_type: "cgroup_new", "signal" and so on; NULL for any other number. */
const char *evname(unsigned int type);

#endif
