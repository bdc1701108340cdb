// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Cgroups coming, going and running empty. A cgroup made below a watched branch is watched before
 * any process can be in it, so that a container that lives for a millisecond is not missed.
 *
 * One of a v1 hierarchy may be renamed, and is what its new name says from then on: both programs,
 * that of a removal and then that of a creation, are at cgroup_rename, too (kern_attach()).
 */
#include "cost.bpf.h"
#include "init.bpf.h"

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

/*
 * What is looked at: the part of the cgroup above, and the name, zeroes behind it. One is enough:
 * TRACE_CGROUP_PATH() (kernel/cgroup/cgroup-internal.h) runs the programs of cgroup_mkdir and
 * cgroup_rename under a lock. The functions that read it are global and have numbers for arguments:
 * the verifier goes through each once, and not once for each way that leads to a call.
 */
struct {
	__u32 align;
	struct graced_step step;
} made __attribute__((aligned(8)));

_Static_assert(__builtin_offsetof(__typeof__(made), step.name) % 8 == 0, "read eight at a time");

#define mkdir_name made.step.name

enum { HEX = 1, DASH = 2 };

static const __u8 char_class[256] = {
	['0'] = HEX, ['1'] = HEX, ['2'] = HEX, ['3'] = HEX, ['4'] = HEX,  ['5'] = HEX,
	['6'] = HEX, ['7'] = HEX, ['8'] = HEX, ['9'] = HEX, ['a'] = HEX,  ['b'] = HEX,
	['c'] = HEX, ['d'] = HEX, ['e'] = HEX, ['f'] = HEX, ['-'] = DASH, ['_'] = DASH,
};

static __always_inline char char_at(__u32 at)
{
	return mkdir_name[at & (GRACED_NAME_LEN - 1)];
}

/* Length of the name without the suffix, when it has it; else len. */
static __always_inline __u32 strip(__u32 len, const char *suffix, __u32 n)
{
	if (len < n || len >= GRACED_NAME_LEN)
		return len;
	for (__u32 i = 0; i < n; i++)
		if (char_at(len - n + i) != suffix[i])
			return len;
	return len - n;
}

/* How many characters before end are of the classes, one more than an id has at most. */
__noinline __u32 run_before(__u32 end, __u32 classes)
{
	__u32 n = 0;

	while (n <= ID_LEN && n < end && char_class[(__u8)char_at(end - n - 1)] & classes)
		n++;
	return n;
}

static __always_inline bool named_as_pod(__u32 len)
{
	__u32 end = strip(len, ".slice", 6);
	__u32 n = run_before(end, HEX | DASH);

	/* The d of "pod" is a hex digit and ends up in the run. */
	if ((n != 33 && n != 37) || end < n + 2)
		return false;
	return char_at(end - n - 2) == 'p' && char_at(end - n - 1) == 'o' &&
	       char_at(end - n) == 'd';
}

/* "<task>-<digits>", a container of Amazon ECS: its task is 32 hex digits. */
static __always_inline bool named_as_ecs(__u32 len)
{
	__u32 digits = run_before(len, HEX);
	__u32 dash = len - digits - 1;

	if (!digits || digits > ID_LEN - ECS_TASK_LEN - 1 || digits >= len)
		return false;
	return char_at(dash) == '-' && run_before(dash, HEX) == ECS_TASK_LEN;
}

/* A UUID, as garden calls its containers. */
static __always_inline bool named_as_uuid(__u32 len)
{
	return len == UUID_LEN && run_before(len, HEX | DASH) == UUID_LEN;
}

/* A first guess by the name, corrected by the daemon, which sees the whole path. */
__noinline __u32 kind_by_name(__u32 len, __u32 in_pod)
{
	if (len >= GRACED_NAME_LEN)
		return GRACED_WATCH_BRANCH;
	if (run_before(strip(len, ".scope", 6), HEX) == ID_LEN)
		return GRACED_WATCH_CONTAINER;
	if (named_as_ecs(len) || (in_pod && named_as_uuid(len)))
		return GRACED_WATCH_CONTAINER;
	if (named_as_pod(len))
		return GRACED_WATCH_POD;
	if (cfg_services && strip(len, ".service", 8) != len)
		return GRACED_WATCH_SERVICE;
	return GRACED_WATCH_BRANCH;
}

/* Its length. */
static __always_inline __u32 name_read(struct cgroup *cg)
{
	long size;

	__builtin_memset(mkdir_name, 0, sizeof(mkdir_name));
	size = bpf_probe_read_kernel_str(mkdir_name, sizeof(mkdir_name),
					 BPF_CORE_READ(cg, kn, name));
	return size > 0 ? size - 1 : 0;
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

#define EACH_BYTE(c) ((c)*0x0101010101010101ULL)

/* Whether the name is a unit's, with a dot; eight characters at a time. */
static __always_inline bool is_unit(void)
{
	const __u64 *eight = (const __u64 *)mkdir_name;
	__u64 found = 0;

	for (__u32 i = 0; i < GRACED_NAME_LEN / sizeof(*eight); i++) {
		__u64 other = eight[i] ^ EACH_BYTE('.');

		found |= (other - EACH_BYTE(1)) & ~other & EACH_BYTE(0x80);
	}
	return found;
}

/*
 * The cgroups of containerd's own tasks may have any name: below their namespace, or as scopes of
 * any slice. Only the daemon can distinguish them from branches (user/core/engine/names.c,
 * may_be_task()).
 */
static __always_inline bool may_be_task(__u32 level, __u32 len, bool in_unit)
{
	if (level == TASK_LEVEL && !in_unit)
		return true;
	return strip(len, ".scope", 6) != len;
}

/* The part of the cgroup whose name was read last, if the cgroup above it is in `part`. */
static __always_inline __u32 part_below(__u32 part)
{
	__u32 *found;

	if (part < GRACED_PART_FIRST)
		return part;
	made.step.part = part;
	found = bpf_map_lookup_elem(&steps, &made.step);
	return found ? *found : cfg_part;
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

static __always_inline enum graced_urgency urgency_of(__u32 kind)
{
	if (kind == GRACED_WATCH_BRANCH)
		return GRACED_LATER;
	return kind >= GRACED_WATCH_CONTAINER ? GRACED_URGENT : GRACED_SOON;
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
	if (!bpf_map_update_elem(&watched, &id, w, BPF_NOEXIST)) {
		__sync_fetch_and_add(&watch_changes, 1);
		if (w->since_ns)
			__sync_fetch_and_add(&outside_changes, 1);
		return true;
	}
	stat_add(GRACED_STAT_WATCH_FULL, 0, 1, 0);
	quota_give(w->owner_id);
	return false;
}

static __always_inline void buckets_fill(struct graced_watch *w)
{
	w->bucket_at_ns = bpf_ktime_get_boot_ns();
	w->bucket_left = BUCKET_BURST;
	w->outside_at_ns = w->bucket_at_ns;
	w->outside_left = BUCKET_BURST;
	w->vain_at_ns = w->bucket_at_ns;
	w->others_at_ns = w->bucket_at_ns;
	w->others_left = BUCKET_BURST;
	w->vain_left = BUCKET_BURST;
}

/* 1 or 0, without a branch. Who is in it was there before: it was renamed. One that is made holds
 * no process. */
static __always_inline __u32 is_empty(struct cgroup *cg)
{
	struct cgroup_subsys_state___populated *self = (void *)&cg->self;
	int n = BPF_CORE_READ(cg, nr_populated_domain_children);

	if (bpf_core_field_exists(cg->nr_populated_csets))
		n |= BPF_CORE_READ(cg, nr_populated_csets);
	else
		n |= BPF_CORE_READ(self, nr_populated_csets);
	return (__u32)(n - 1) >> 31;
}

/*
 * Whether what the cgroup's name says counts. What others than root made is a container below a
 * user's own systemd, and nothing else.
 */
static __always_inline bool is_believed(const struct graced_watch *w)
{
	if (w->part == GRACED_PART_USERS)
		return w->kind == GRACED_WATCH_CONTAINER && w->delegated_level;
	return w->part == GRACED_PART_INSIDE && (!w->delegated_level || cfg_delegated);
}

static __always_inline void watch_add(struct cgroup *cg, struct cgroup *parent,
				      struct graced_watch *up)
{
	struct graced_watch w = {
		.level = up->level + 1,
		.delegated_level = up->delegated_level,
		.populated = GRACED_NEVER_POPULATED,
	};
	__u64 parent_id = BPF_CORE_READ(parent, kn, id);
	__u64 id = BPF_CORE_READ(cg, kn, id);
	struct graced_ev_cgroup *ev;
	bool in_unit = false, foreign;
	__u32 len;

	if (w.level > WATCH_LEVELS) {
		stat_add(GRACED_STAT_TOO_DEEP, 0, 1, 0);
		return;
	}
	if (!w.delegated_level && !is_roots(BPF_CORE_READ(parent, kn)))
		w.delegated_level = w.level;
	w.owner_id = owner_below(up, parent_id);
	if (!quota_take(w.owner_id, up->kind == GRACED_WATCH_POD ? QUOTA_POD : QUOTA_HOST))
		return;
	w.charged = 1;
	buckets_fill(&w);
	w.oom_known = is_empty(cg);
	w.told_at_ns = w.since_ns = w.bucket_at_ns * (w.oom_known ^ 1);
	if (w.level == TASK_LEVEL) {
		name_read(parent);
		in_unit = is_unit();
	}
	len = name_read(cg);
	w.kind = kind_by_name(len, up->kind == GRACED_WATCH_POD);
	w.part = part_below(up->part);
	foreign = !is_believed(&w) && w.kind != GRACED_WATCH_SERVICE;
	if (foreign)
		w.kind = GRACED_WATCH_BRANCH;
	else if (w.kind == GRACED_WATCH_BRANCH && may_be_task(w.level, len, in_unit))
		w.kind = GRACED_WATCH_MAYBE;
	/* Linux 6.1 does not learn from a second test that a record is not NULL: there is one. */
	ev = emit_begin(GRACED_EV_CGROUP_NEW, sizeof(*ev), id, NULL);
	if (!ev) {
		/* Without the record it takes the daemon longer to find out what it is. */
		if (w.kind == GRACED_WATCH_BRANCH && !foreign)
			w.kind = GRACED_WATCH_MAYBE;
		w.counts.lost = 1;
		watch_insert(id, &w);
		return;
	}
	ev->parent_id = parent_id;
	ev->level = w.level;
	ev->delegated_level = w.delegated_level;
	ev->pad = 0;
	__builtin_memcpy(ev->name, mkdir_name, sizeof(ev->name));
	ev->kind = w.kind;
	/* Reserved before the entry is there, so nothing that names it comes earlier. */
	if (watch_insert(id, &w))
		emit_end(ev, urgency_of(w.kind));
	else
		bpf_ringbuf_discard(ev, BPF_RB_NO_WAKEUP);
}

static __always_inline void cgroup_made(const __u64 *ctx)
{
	struct cgroup *cg = (void *)ctx[0], *parent;
	struct graced_watch *up;
	__u64 parent_id;

	if (!in_hierarchy(cg))
		return;
	parent = cgroup_parent(cg);
	if (!parent)
		return;
	parent_id = BPF_CORE_READ(parent, kn, id);
	up = bpf_map_lookup_elem(&watched, &parent_id);
	if (up && !watch_is_whole(up))
		watch_add(cg, parent, up);
}

SEC("raw_tp/cgroup_mkdir")
int on_cgroup_mkdir(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_MKDIR);
	cgroup_made(ctx);
	cost_end(GRACED_HOOK_MKDIR);
	return 0;
}

/* What else there is of a cgroup that is no longer watched. */
static __always_inline void watch_leave(__u64 id, struct graced_watch *w)
{
	reap_forget(id, w);
	doom_end(id);
	bpf_map_delete_elem(&inits, &id);
	bpf_map_delete_elem(&quotas, &id);
	if (noisy_any && !bpf_map_delete_elem(&noisy, &id))
		__sync_fetch_and_add(&noisy_any, -1);
}

/* What was charged for an entry is given back with it. False: it has been deleted elsewhere. */
static __always_inline bool watch_delete(__u64 id, const struct graced_watch *w)
{
	__u64 owner_id = w->charged ? w->owner_id : 0;

	if (bpf_map_delete_elem(&watched, &id))
		return false;
	__sync_fetch_and_add(&watch_changes, 1);
	quota_give(owner_id);
	return true;
}

static __always_inline void cgroup_removed(const __u64 *ctx)
{
	struct cgroup *cg = (void *)ctx[0];
	struct graced_ev_empty *ev;
	struct graced_watch *w;
	__u64 id;

	if (!in_hierarchy(cg))
		return;
	id = BPF_CORE_READ(cg, kn, id);
	w = bpf_map_lookup_elem(&watched, &id);
	if (!w)
		return;
	watch_leave(id, w);
	/* Set before a loss is counted: who sees the loss finds what it was about. */
	w->gone = 1;
	ev = emit_begin(GRACED_EV_CGROUP_GONE, sizeof(*ev), id, w);
	if (!ev)
		return;
	__builtin_memcpy(&ev->counts, &w->counts, sizeof(ev->counts));
	ev->owner_id = w->owner_id;
	ev->kind = w->kind;
	ev->left_pid = 0;
	emit_end(ev, w->kind == GRACED_WATCH_BRANCH ? GRACED_LATER : GRACED_SOON);
	watch_delete(id, w);
}

SEC("raw_tp/cgroup_rmdir")
int on_cgroup_rmdir(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_RMDIR);
	cgroup_removed(ctx);
	cost_end(GRACED_HOOK_RMDIR);
	return 0;
}

/* Attached nowhere, run by the daemon: ctx is a cgroup id. 0: there is no such entry. */
SEC("raw_tp")
int delete_watch(__u64 *ctx)
{
	__u64 id = ctx[0];
	struct graced_watch *w = bpf_map_lookup_elem(&watched, &id);

	if (!w)
		return 0;
	watch_leave(id, w);
	return watch_delete(id, w);
}

/* The kernel holds css_set_lock: there are no two of one cgroup at once. */
static __always_inline void note_populated(struct graced_watch *w, bool populated)
{
	__u32 next = w->populated + 1;

	w->populated = next + ((next & 1) != populated);
}

static __always_inline void populated_seen(const __u64 *ctx)
{
	struct cgroup *cg = (void *)ctx[0];
	struct graced_ev_empty *ev;
	struct graced_init *init;
	struct graced_watch *w;
	bool populated = (int)ctx[2];
	__u32 left_pid = 0;
	__u64 id;

	if (!in_hierarchy(cg))
		return;
	id = BPF_CORE_READ(cg, kn, id);
	w = bpf_map_lookup_elem(&watched, &id);
	if (!w)
		return;
	note_populated(w, populated);
	if (populated || w->kind < GRACED_WATCH_POD)
		return;
	/* The next process that comes in from outside may be the init of a new life of this cgroup.
	 * One that has not exited was moved to another. */
	init = bpf_map_lookup_elem(&inits, &id);
	if (init) {
		left_pid = init->pid;
		bpf_map_delete_elem(&inits, &id);
	}
	w->early_pid = 0;
	ev = emit_begin(GRACED_EV_CGROUP_EMPTY, sizeof(*ev), id, w);
	if (!ev)
		return;
	__builtin_memcpy(&ev->counts, &w->counts, sizeof(ev->counts));
	ev->owner_id = 0;
	ev->kind = 0;
	ev->left_pid = left_pid;
	emit_end(ev, urgency_of(w->kind));
}

SEC("tp_btf/cgroup_notify_populated")
int on_cgroup_populated(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_POPULATED);
	populated_seen(ctx);
	cost_end(GRACED_HOOK_POPULATED);
	return 0;
}

/*
 * Where processes were moved to last: the kernel says only where a move leads. The least recently
 * used is evicted, and what comes back from there is not noticed.
 */
struct moved {
	__u64 start_ns;
	__u64 watch_id; /* 0: to where nothing is watched */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct moved);
} moves SEC(".maps");

/* An init that comes back is recorded once more, as late: signals that it was sent in another
 * cgroup were not seen. */
static __always_inline void moved_in(struct task_struct *t, struct graced_watch *w,
				     const struct place *at)
{
	struct moved now = {
		.start_ns = BPF_CORE_READ(t, start_boottime),
		.watch_id = at->watch_id,
	};
	__u32 pid = BPF_CORE_READ(t, tgid);
	__u64 id = at->watch_id;
	struct graced_init *init;
	struct moved *last;
	bool back;

	last = bpf_map_lookup_elem(&moves, &pid);
	back = last && last->start_ns == now.start_ns && last->watch_id != id;
	bpf_map_update_elem(&moves, &pid, &now, BPF_ANY);
	if (!back || !watch_recorded(w))
		return;
	init = bpf_map_lookup_elem(&inits, &id);
	if (init && init->pid == pid)
		init_tell(t, w, at, init, true);
}

static __always_inline void attached_seen(const __u64 *ctx)
{
	struct task_struct *t = (void *)ctx[2];
	struct cgroup *cg = (void *)ctx[0];
	struct graced_watch *w;
	struct place at;

	/* With its first thread goes the process. */
	if (!in_hierarchy(cg) || BPF_CORE_READ(t, pid) != BPF_CORE_READ(t, tgid))
		return;
	w = watch_of_read(cg, &at);
	moved_in(t, w, &at);
}

SEC("raw_tp/cgroup_attach_task")
int on_cgroup_attach(__u64 *ctx)
{
	cost_begin(GRACED_HOOK_ATTACH);
	attached_seen(ctx);
	cost_end(GRACED_HOOK_ATTACH);
	return 0;
}
