// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Every struct of event.h as the BPF compiler lays it out. The object is never loaded: test_abi
 * reads its type information. A struct that no variable has is left out of that, hence these. */
#include "vmlinux_min.h"

#include "graced/event.h"

struct graced_hdr abi_hdr;
struct graced_counts abi_counts;
struct graced_proc abi_proc;
struct graced_ev_cgroup abi_ev_cgroup;
struct graced_ev_empty abi_ev_empty;
struct graced_ev_init abi_ev_init;
struct graced_ev_signal abi_ev_signal;
struct graced_ev_signal_full abi_ev_signal_full;
struct graced_ev_exit abi_ev_exit;
struct graced_ev_oom abi_ev_oom;
struct graced_ev_reaped abi_ev_reaped;
struct graced_ev_taken abi_ev_taken;
struct graced_watch abi_watch;
struct graced_init abi_init;
struct graced_reap abi_reap;
struct graced_stat abi_stat;
struct graced_step abi_step;
struct graced_cost abi_cost;
