/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half by itself, without the daemon: attached to a private subtree of boxes, its maps
 * and its records within a test's reach.
 */
#ifndef TESTS_LIB_KERNEL_KERNHALF_H
#define TESTS_LIB_KERNEL_KERNHALF_H

#include "lib/box/box.h"

#include "io/kernel/kernel.h"

#include <bpf/libbpf.h>

#define KERNHALF_SEEN 64

struct kernhalf {
	struct box_tree tree;
	struct kern *kern;
	struct ring_buffer *ring;
	struct graced_ev_signal signals[KERNHALF_SEEN]; /* the first ones, as they came */
	struct graced_ev_exit exits[KERNHALF_SEEN];
	struct graced_ev_reaped reaps[KERNHALF_SEEN];
	struct graced_ev_oom ooms[KERNHALF_SEEN];
	struct graced_ev_init inits[KERNHALF_SEEN];
	unsigned int n_signals, n_exits, n_reaps, n_ooms, n_inits; /* how many came */
};

/*
 * Attach and watch the tree, for cmocka's setup. Where that cannot work here, say why on stderr,
 * leave *state NULL and return 0. -1 when it should have worked.
 */
int kernhalf_open(void **state, const char *what);
/* The same with scope all: processes of the whole host are recorded, too. */
int kernhalf_open_all(void **state, const char *what);
/* The same as kernhalf_open() with a ring of so many bytes. */
int kernhalf_open_ring(void **state, const char *what, size_t ring_bytes);
int kernhalf_close(void **state);

/* The open one, or skip the test. */
struct kernhalf *kernhalf_need(void **state);

/* The id of a cgroup. */
uint64_t kernhalf_id(const char *dir);

/* What the kernel half has counted in a watched cgroup. */
struct graced_counts kernhalf_counts(const struct kernhalf *k, const char *dir);
/* ... and how many SIGKILLs its init ignored that were not recorded. */
uint32_t kernhalf_vain_kills(const struct kernhalf *k, const char *dir);
/* ... and how many records of its other processes found no room. */
uint32_t kernhalf_others_missed(const struct kernhalf *k, const char *dir);

/* The map of that name, which the caller closes. */
int kernhalf_map(const struct kernhalf *k, const char *name);
/* How many entries the map of that name has. */
unsigned int kernhalf_entries(const struct kernhalf *k, const char *map);

/* Waits until a box has taken so many notes of a kind and one more. */
void kernhalf_await_note(const struct box *box, uint32_t kind, unsigned int nth);

/* Read what is in the ring; see signals, exits, reaps, ooms and inits. */
void kernhalf_drain(struct kernhalf *k);

/*
 * In a cgroup, by a process that comes in and leaves again: let n children end, killing them if
 * sig is not 0. n + 1 processes have ended there when it returns.
 */
void kernhalf_end_children(const char *dir, unsigned int n, int sig);

#endif
