/* SPDX-License-Identifier: Apache-2.0 */
/* The contract's words for the types of events of the kernel half. */
#ifndef WIRE_KERNEL_EVENT_NAMES_H
#define WIRE_KERNEL_EVENT_NAMES_H

/* type is an enum graced_ev_type: "cgroup_new", "signal" and so on; NULL for any other number. */
const char *evname(unsigned int type);

#endif
