// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Defines what the other files share: the maps, the configuration, the walk to a watched cgroup,
 * and the licence.
 */
#define GRACED_DEFINE_SHARED
#include "graced.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__noinline __u64 watch_walk(__u64 css)
{
	__u32 deep = GRACED_STAT_TOO_DEEP;
	struct graced_stat *s;
	struct cgroup *cg;
	__u64 id;

	for (int i = 0; i < WALK_MAX; i++) {
		if (!css)
			return 0;
		cg = (void *)(css - bpf_core_field_offset(struct cgroup, self));
		id = BPF_CORE_READ(cg, kn, id);
		if (bpf_map_lookup_elem(&watched, &id))
			return id;
		css = (__u64)BPF_CORE_READ(cg, self.parent);
	}
	s = bpf_map_lookup_elem(&stats, &deep);
	if (s)
		s->lost++;
	return 0;
}
