// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Cgroups coming, going and running empty. A cgroup made below a watched branch is watched before
 * any process can be in it, so that a container that lives for a millisecond is not missed.
 */
#include "graced.bpf.h"

#define ID_LEN	     64 /* hexadecimal digits of a container id */
#define ECS_TASK_LEN 32 /* hexadecimal digits of a task of Amazon ECS */
#define UUID_LEN     36
#define QUOTA_POD    512
#define QUOTA_HOST   2048
#define OWNER_LEVEL  2 /* branches down to this level answer for what is made below them */
#define TASK_LEVEL   2 /* of "/<namespace>/<task>" */

static __always_inline bool in_hierarchy(struct cgroup *cg)
{
	return BPF_CORE_READ(cg, root, hierarchy_id) == cfg_hierarchy_id;
}

enum { HEX = 1, DASH = 2, DOT = 4 };

/* A table and no branches: the verifier would follow each one for each character. */
static const __u8 char_class[256] = {
	['0'] = HEX, ['1'] = HEX, ['2'] = HEX,	['3'] = HEX,  ['4'] = HEX, ['5'] = HEX, ['6'] = HEX,
	['7'] = HEX, ['8'] = HEX, ['9'] = HEX,	['a'] = HEX,  ['b'] = HEX, ['c'] = HEX, ['d'] = HEX,
	['e'] = HEX, ['f'] = HEX, ['-'] = DASH, ['_'] = DASH, ['.'] = DOT,
};

/* Length of name without the suffix, when it has it; else len. */
static __always_inline __u32 strip(const char *name, __u32 len, const char *suffix, __u32 n)
{
	if (len < n || len >= GRACED_NAME_LEN)
		return len;
	for (__u32 i = 0; i < n; i++)
		if (name[(len - n + i) & (GRACED_NAME_LEN - 1)] != suffix[i])
			return len;
	return len - n;
}

/* How many characters before end are of the classes. */
static __always_inline __u32 run_before(const char *name, __u32 end, __u32 classes)
{
	__u32 n = 0, ok = 1;

	for (__u32 i = 1; i <= ID_LEN + 1; i++) {
		__u8 c = name[(end - i) & (GRACED_NAME_LEN - 1)];
		__u32 in = char_class[c] & classes;

		ok &= (in | in >> 1) & ~((end - i) >> 31);
		n += ok;
	}
	return n;
}

static __always_inline char char_at(const char *name, __u32 at)
{
	return name[at & (GRACED_NAME_LEN - 1)];
}

static __always_inline bool named_as_pod(const char *name, __u32 len)
{
	__u32 end = strip(name, len, ".slice", 6);
	__u32 n = run_before(name, end, HEX | DASH);

	/* The d of "pod" is a hex digit and ends up in the run. */
	if ((n != 33 && n != 37) || end < n + 2)
		return false;
	return char_at(name, end - n - 2) == 'p' && char_at(name, end - n - 1) == 'o' &&
	       char_at(name, end - n) == 'd';
}

/* "<task>-<digits>", a container of Amazon ECS: its task is 32 hex digits. */
static __always_inline bool named_as_ecs(const char *name, __u32 len)
{
	__u32 digits = run_before(name, len, HEX);
	__u32 dash = len - digits - 1;

	if (!digits || digits > ID_LEN - ECS_TASK_LEN - 1 || digits >= len)
		return false;
	return char_at(name, dash) == '-' && run_before(name, dash, HEX) == ECS_TASK_LEN;
}

/* A UUID, as garden calls its containers. */
static __always_inline bool named_as_uuid(const char *name, __u32 len)
{
	return len == UUID_LEN && run_before(name, len, HEX | DASH) == UUID_LEN;
}

/* A first guess by the name, corrected by the daemon, which sees the whole path. */
static __noinline int kind_by_name(struct graced_ev_cgroup *ev, __u32 len, bool in_pod)
{
	if (len >= GRACED_NAME_LEN)
		return GRACED_WATCH_BRANCH;
	if (run_before(ev->name, strip(ev->name, len, ".scope", 6), HEX) == ID_LEN)
		return GRACED_WATCH_CONTAINER;
	if (named_as_ecs(ev->name, len) || (in_pod && named_as_uuid(ev->name, len)))
		return GRACED_WATCH_CONTAINER;
	if (named_as_pod(ev->name, len))
		return GRACED_WATCH_POD;
	if (cfg_services && strip(ev->name, len, ".service", 8) != len)
		return GRACED_WATCH_SERVICE;
	return GRACED_WATCH_BRANCH;
}

static __always_inline long name_read(struct graced_ev_cgroup *ev, struct cgroup *cg)
{
	__builtin_memset(ev->name, 0, sizeof(ev->name));
	return bpf_probe_read_kernel_str(ev->name, sizeof(ev->name), BPF_CORE_READ(cg, kn, name));
}

#define GROUP_WRITES 020
#define OTHERS_WRITE 002

/* Whether only root can make cgroups in that directory. Without attributes it is root's. */
static __always_inline bool is_roots(struct kernfs_node *kn)
{
	struct kernfs_iattrs *attrs = BPF_CORE_READ(kn, iattr);
	__u32 mode = BPF_CORE_READ(kn, mode);

	if (mode & OTHERS_WRITE)
		return false;
	if (!attrs)
		return true;
	if (BPF_CORE_READ(attrs, ia_uid.val))
		return false;
	return !(mode & GROUP_WRITES) || !BPF_CORE_READ(attrs, ia_gid.val);
}

/* Whether cg is called as a unit is, with a dot; that is looked at where the record has a name. */
static __always_inline bool is_unit(struct graced_ev_cgroup *ev, struct cgroup *cg)
{
	__u32 classes = 0;

	name_read(ev, cg);
	for (__u32 i = 0; i < GRACED_NAME_LEN; i++)
		classes |= char_class[(__u8)ev->name[i]];
	return classes & DOT;
}

/*
 * containerd's own tasks are called as people like: below their namespace, or in scopes of any
 * slice. Only the daemon can tell them from branches (user/core/engine_ask.c).
 */
static __always_inline bool may_be_task(const struct graced_ev_cgroup *ev, __u32 len, bool in_unit)
{
	if (ev->level == TASK_LEVEL && !in_unit)
		return true;
	return strip(ev->name, len, ".scope", 6) != len;
}

/* Charges one entry to its owner. False: over quota. */
static __always_inline bool quota_take(__u64 owner_id, __u64 limit)
{
	__u64 zero = 0, *used;

	used = bpf_map_lookup_elem(&quotas, &owner_id);
	if (!used) {
		bpf_map_update_elem(&quotas, &owner_id, &zero, BPF_NOEXIST);
		used = bpf_map_lookup_elem(&quotas, &owner_id);
	}
	if (!used || *used >= limit) {
		stat_add(GRACED_STAT_QUOTA, 0, 1, 0);
		return false;
	}
	__sync_fetch_and_add(used, 1);
	return true;
}

static __always_inline void quota_give(__u64 owner_id)
{
	__u64 *used = bpf_map_lookup_elem(&quotas, &owner_id);

	if (used && *used)
		__sync_fetch_and_add(used, -1);
}

/* The entry that answers for what is made below: pods, and branches near the root. */
static __always_inline __u64 owner_below(const struct graced_watch *w, __u64 id)
{
	if (w->kind == GRACED_WATCH_POD || w->level <= OWNER_LEVEL)
		return id;
	return w->owner_id;
}

/* False: the map is full. */
static __always_inline bool watch_insert(__u64 id, const struct graced_watch *w)
{
	if (!bpf_map_update_elem(&watched, &id, w, BPF_NOEXIST))
		return true;
	stat_add(GRACED_STAT_WATCH_FULL, 0, 1, 0);
	quota_give(w->owner_id);
	return false;
}

static __always_inline void watch_add(struct cgroup *cg, struct cgroup *parent,
				      struct graced_watch *up)
{
	struct graced_watch w = {
		.level = up->level + 1, .oom_known = 1, .delegated_level = up->delegated_level};
	__u64 parent_id = BPF_CORE_READ(parent, kn, id);
	__u64 id = BPF_CORE_READ(cg, kn, id);
	struct graced_ev_cgroup *ev;
	bool in_unit;
	long len;

	if (w.level > WATCH_LEVELS) {
		stat_add(GRACED_STAT_TOO_DEEP, 0, 1, 0);
		return;
	}
	if (!w.delegated_level && !is_roots(BPF_CORE_READ(parent, kn)))
		w.delegated_level = w.level;
	w.owner_id = owner_below(up, parent_id);
	if (!quota_take(w.owner_id, up->kind == GRACED_WATCH_POD ? QUOTA_POD : QUOTA_HOST))
		return;
	w.bucket_at_ns = bpf_ktime_get_boot_ns();
	w.bucket_left = BUCKET_BURST;
	w.outside_at_ns = w.bucket_at_ns;
	w.outside_left = BUCKET_BURST;
	ev = emit_begin(GRACED_EV_CGROUP_NEW, sizeof(*ev), id, NULL);
	if (!ev) {
		/* Its name is lost with the record; the daemon looks it up and corrects this. */
		w.kind = GRACED_WATCH_CONTAINER;
		w.counts.lost = 1;
		watch_insert(id, &w);
		return;
	}
	ev->parent_id = parent_id;
	ev->level = w.level;
	ev->delegated_level = w.delegated_level;
	ev->pad = 0;
	in_unit = w.level == TASK_LEVEL && is_unit(ev, parent);
	len = name_read(ev, cg);
	len = len > 0 ? len - 1 : 0;
	w.kind = kind_by_name(ev, len, up->kind == GRACED_WATCH_POD);
	if (w.delegated_level && !cfg_delegated && w.kind != GRACED_WATCH_SERVICE)
		w.kind = GRACED_WATCH_BRANCH;
	else if (w.kind == GRACED_WATCH_BRANCH && may_be_task(ev, len, in_unit))
		w.kind = GRACED_WATCH_MAYBE;
	ev->kind = w.kind;
	/* Reserved before the entry is there, so nothing that names it comes earlier. */
	if (watch_insert(id, &w))
		emit_end(ev, w.kind == GRACED_WATCH_MAYBE);
	else
		bpf_ringbuf_discard(ev, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/cgroup_mkdir")
int on_cgroup_mkdir(__u64 *ctx)
{
	struct cgroup *cg = (void *)ctx[0], *parent;
	struct graced_watch *up;
	__u64 parent_id;

	if (!in_hierarchy(cg))
		return 0;
	parent = cgroup_parent(cg);
	if (!parent)
		return 0;
	parent_id = BPF_CORE_READ(parent, kn, id);
	up = bpf_map_lookup_elem(&watched, &parent_id);
	if (up && !watch_is_whole(up))
		watch_add(cg, parent, up);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int on_cgroup_rmdir(__u64 *ctx)
{
	struct cgroup *cg = (void *)ctx[0];
	struct graced_ev_empty *ev;
	struct graced_watch *w;
	__u64 id;

	if (!in_hierarchy(cg))
		return 0;
	id = BPF_CORE_READ(cg, kn, id);
	w = bpf_map_lookup_elem(&watched, &id);
	if (!w)
		return 0;
	ev = emit_begin(GRACED_EV_CGROUP_GONE, sizeof(*ev), id, w);
	if (ev) {
		__builtin_memcpy(&ev->counts, &w->counts, sizeof(ev->counts));
		emit_end(ev, false);
	}
	quota_give(w->owner_id);
	reap_forget(id, w);
	doom_end(id);
	bpf_map_delete_elem(&watched, &id);
	bpf_map_delete_elem(&inits, &id);
	bpf_map_delete_elem(&quotas, &id);
	if (noisy_any && !bpf_map_delete_elem(&noisy, &id))
		__sync_fetch_and_add(&noisy_any, -1);
	return 0;
}

SEC("tp_btf/cgroup_notify_populated")
int on_cgroup_populated(__u64 *ctx)
{
	struct cgroup *cg = (void *)ctx[0];
	struct graced_ev_empty *ev;
	struct graced_init *init;
	struct graced_watch *w;
	__u64 id;

	if ((int)ctx[2] || !in_hierarchy(cg))
		return 0;
	id = BPF_CORE_READ(cg, kn, id);
	w = bpf_map_lookup_elem(&watched, &id);
	if (!w || w->kind < GRACED_WATCH_POD)
		return 0;
	/* Whoever comes in from outside next may be the init of a new life of this cgroup. */
	init = bpf_map_lookup_elem(&inits, &id);
	if (init && !init->pid)
		bpf_map_delete_elem(&inits, &id);
	ev = emit_begin(GRACED_EV_CGROUP_EMPTY, sizeof(*ev), id, w);
	if (!ev)
		return 0;
	__builtin_memcpy(&ev->counts, &w->counts, sizeof(ev->counts));
	emit_end(ev, w->kind >= GRACED_WATCH_CONTAINER);
	return 0;
}
