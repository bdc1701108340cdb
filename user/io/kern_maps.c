// SPDX-License-Identifier: Apache-2.0
/* Reads and writes the maps that the BPF programs and the daemon share. */
#include "io/kern.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "io/kern_priv.h"

#define BATCH 512

int kern_ring_fd(const struct kern *kern)
{
	return kern->ring_fd;
}

int kern_watch_add(struct kern *kern, uint64_t id, const struct graced_watch *watch)
{
	return bpf_map_update_elem(kern->watched_fd, &id, watch, BPF_NOEXIST) < 0 ? -errno : 0;
}

int kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret)
{
	struct graced_watch watch;

	if (bpf_map_lookup_elem(kern->watched_fd, &id, &watch) < 0)
		return -errno;
	*ret = watch;
	return 0;
}

int kern_watch_delete(struct kern *kern, uint64_t id)
{
	int r = bpf_map_delete_elem(kern->watched_fd, &id) < 0 ? -errno : 0;

	bpf_map_delete_elem(kern->inits_fd, &id);
	return r;
}

int kern_watch_set_kind(struct kern *kern, uint64_t id, uint32_t kind)
{
	struct graced_watch watch;

	if (bpf_map_lookup_elem(kern->watched_fd, &id, &watch) < 0)
		return -errno;
	if (watch.kind == kind)
		return 0;
	watch.kind = kind;
	return bpf_map_update_elem(kern->watched_fd, &id, &watch, BPF_EXIST) < 0 ? -errno : 0;
}

int kern_watch_each(const struct kern *kern, kern_watch_fn fn, void *userdata)
{
	_cleanup_(cleanup_free) struct graced_watch *values = calloc(BATCH, sizeof(*values));
	_cleanup_(cleanup_free) uint64_t *keys = calloc(BATCH, sizeof(*keys));
	uint64_t in, out, *from = NULL;
	bool last = false;
	int r = 0;

	if (!values || !keys)
		return -ENOMEM;
	while (r >= 0 && !last) {
		__u32 n = BATCH;

		if (bpf_map_lookup_batch(kern->watched_fd, from, &out, keys, values, &n, NULL) <
		    0) {
			if (errno != ENOENT)
				return -errno;
			last = true;
		}
		for (__u32 i = 0; r >= 0 && i < n; i++)
			r = fn(userdata, keys[i], values + i);
		in = out;
		from = &in;
	}
	return r < 0 ? r : 0;
}

int kern_init_add(struct kern *kern, uint64_t id, const struct graced_init *init)
{
	return bpf_map_update_elem(kern->inits_fd, &id, init, BPF_NOEXIST) < 0 ? -errno : 0;
}

int kern_init_delete(struct kern *kern, uint64_t id, uint32_t pid)
{
	struct graced_init init;

	if (bpf_map_lookup_elem(kern->inits_fd, &id, &init) < 0)
		return -errno;
	if (init.pid != pid)
		return -ESTALE;
	return bpf_map_delete_elem(kern->inits_fd, &id) < 0 ? -errno : 0;
}

int kern_read_stats(const struct kern *kern, struct graced_stat *ret)
{
	_cleanup_(cleanup_free) struct graced_stat *cpu = NULL;
	struct graced_stat totals[GRACED_STAT_COUNT] = {};

	if (kern->cpus <= 0)
		return -EINVAL;
	cpu = calloc((size_t)kern->cpus, sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	for (__u32 i = 0; i < GRACED_STAT_COUNT; i++) {
		if (bpf_map_lookup_elem(kern->stats_fd, &i, cpu) < 0)
			return -errno;
		for (int c = 0; c < kern->cpus; c++) {
			totals[i].emitted += cpu[c].emitted;
			totals[i].lost += cpu[c].lost;
			totals[i].suppressed += cpu[c].suppressed;
		}
	}
	for (__u32 i = 0; i < GRACED_STAT_COUNT; i++)
		ret[i] = totals[i];
	return 0;
}

uint64_t kern_recursion_misses(const struct kern *kern)
{
	struct kern_program program;
	uint64_t misses = 0;

	for (unsigned int i = 0; kern_get_program(kern, i, &program) >= 0; i++)
		misses += program.misses;
	return misses;
}
