// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Defines what the other files share: the maps, the configuration, the walk to a watched cgroup,
 * and the licence.
 */
#define GRACED_DEFINE_SHARED
#include "cost.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The id of the ancestor at a level, which is no deeper than cg itself. */
static __always_inline __u64 ancestor_id(struct cgroup *cg, __u32 level)
{
	struct cgroup *up = NULL;
	void *slot = cg;
	__u64 id = 0;

	if (bpf_core_field_exists(struct cgroup___ids, ancestor_ids)) {
		slot += bpf_core_field_offset(struct cgroup___ids, ancestor_ids);
		bpf_probe_read_kernel(&id, sizeof(id), slot + level * sizeof(id));
		return id;
	}
	slot += bpf_core_field_offset(struct cgroup, ancestors);
	bpf_probe_read_kernel(&up, sizeof(up), slot + level * sizeof(up));
	return BPF_CORE_READ(up, kn, id);
}

/* Set in the id of a cgroup below which no other has to be looked for; ids are smaller. */
#define LAST (1ULL << 63)

/*
 * One step of walk_down(): the id of the ancestor of a cgroup, a pointer, at a level if there is an
 * entry for it, else the one found above. A global function of numbers: the verifier goes through
 * it once, and not once for each level.
 */
__noinline __u64 walk_step(__u64 cgroup, __u32 level, __u64 found)
{
	__u64 id = ancestor_id((void *)cgroup, level);
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &id);

	if (!w)
		return found ? found | LAST : 0;
	return watch_is_whole(w) ? id | LAST : id;
}

/*
 * From the root downwards, because what is below a container may be as deep as its processes like.
 * There is an entry at each level, until a container is found or nothing more is watched; above the
 * first one nothing may be. cg has no entry.
 */
static __always_inline __u64 walk_down(struct cgroup *cg)
{
	__u32 end = BPF_CORE_READ(cg, level);
	__u64 found = 0;

	for (__u32 level = 0; level <= WATCH_LEVELS; level++) {
		if (level >= end)
			break;
		found = walk_step((__u64)cg, level, found);
		if (found & LAST)
			break;
	}
	return found & ~LAST;
}

/* Few processes are deeper: these are found for less on the way up than all the way down. */
#define NEAR_STEPS 6

__noinline __u64 watch_walk(__u64 css)
{
	struct cgroup *cg = NULL;
	__u64 id = 0;

	for (int i = 0; i < NEAR_STEPS; i++) {
		if (!css)
			return 0;
		cg = (void *)(css - bpf_core_field_offset(struct cgroup, self));
		id = BPF_CORE_READ(cg, kn, id);
		if (bpf_map_lookup_elem(&watched, &id))
			return id;
		css = (__u64)BPF_CORE_READ(cg, self.parent);
	}
	return walk_down(cg);
}

__noinline __u64 watch_id_of(__u64 cgroup)
{
	struct place at;

	watch_of_read((void *)cgroup, &at);
	return at.watch_id;
}

/*
 * A user who lets processes come and go in a cgroup has a record of each life of it. The bucket is
 * that of signals from outside, which the owner, a branch, has no other use for.
 */
__noinline __u32 life_take(__u64 watch_id)
{
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &watch_id), *owner;
	__u64 owner_id;

	if (!w)
		return 0;
	if (!w->delegated_level)
		return 1;
	owner_id = w->owner_id;
	owner = bpf_map_lookup_elem(&watched, &owner_id);
	if (!owner)
		owner = w;
	if (bucket_fill(&owner->outside_at_ns, &owner->outside_left, LIFE_REFILL_NS) &&
	    take_one(&owner->outside_left))
		return 1;
	stat_add(GRACED_EV_INIT, 0, 0, 1);
	return 0;
}

__noinline __u32 others_look(__u64 watch_id)
{
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &watch_id);

	if (!w)
		return 0;
	if (bucket_take(&w->others_at_ns, &w->others_left))
		return 1;
	w->others_tick = bpf_jiffies64();
	return 0;
}

/*
 * What processes of a container may send to the init of another one: a bucket for each two, so that
 * one that floods a neighbour spends its own records. The least recently used bucket is evicted.
 */
struct pair {
	__u64 from, to; /* watched cgroups */
};

struct pair_bucket {
	__u64 at_ns;
	__u32 left;
	__u32 suppressed;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct pair);
	__type(value, struct pair_bucket);
} pairs SEC(".maps");

__noinline __u32 pair_take(__u64 from, __u64 to)
{
	struct pair pair = {.from = from, .to = to};
	struct pair_bucket *b = bpf_map_lookup_elem(&pairs, &pair);

	if (!b) {
		struct pair_bucket full = {.at_ns = bpf_ktime_get_boot_ns(),
					   .left = BUCKET_BURST - 1};

		bpf_map_update_elem(&pairs, &pair, &full, BPF_NOEXIST);
		return 1;
	}
	if (bucket_take(&b->at_ns, &b->left))
		return 1;
	__sync_fetch_and_add(&b->suppressed, 1);
	return 0;
}
