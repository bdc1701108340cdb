/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the kernel half's types of events, as records and metrics have them. */
#ifndef WIRE_KERNEL_EVENT_NAMES_H
#define WIRE_KERNEL_EVENT_NAMES_H

/* type is an enum graced_ev_type: "cgroup_new", "signal" and so on; NULL for any other number. */
const char *evname(unsigned int type);

#endif
