// SPDX-License-Identifier: Apache-2.0
/* What the kernel half counts, and what it costs. */
#include "io/kernel/kernel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "io/kernel/priv.h"

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

int kern_stats_enable(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

int kern_run_time(const struct kern *kern, uint64_t *ret_ns, uint64_t *ret_runs)
{
	uint64_t ns = 0, runs = 0;

	for (unsigned int i = 0; i < KERN_PROGRAMS; i++) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (!kern->links[i])
			continue;
		if (bpf_obj_get_info_by_fd(kern->program_fds[i], &info, &size) < 0)
			return -errno;
		ns += info.run_time_ns;
		runs += info.run_cnt;
	}
	*ret_ns = ns;
	*ret_runs = runs;
	return 0;
}
