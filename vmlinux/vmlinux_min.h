/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel types the BPF programs read, with only the members they read. Offsets come from the
 * running kernel's BTF when the object is loaded; `tools/vmlinux-check` holds names and kinds
 * against that BTF in `make check`. A type whose members depend on the kernel gets a flavour
 * (name___suffix) next to it, with the commit that needs it. Never include a libc header with it. */
#ifndef GRACED_VMLINUX_MIN_H
#define GRACED_VMLINUX_MIN_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;

/* Named by libbpf's helper prototypes, used by none of our programs. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* From the kernel's user interface: fixed numbers, not relocated. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
};

enum {
	BPF_RB_AVAIL_DATA = 0,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Numbers vary with the kernel's configuration: use bpf_core_enum_value(). */
enum cgroup_subsys_id {
	cpuset_cgrp_id,
	cpu_cgrp_id,
	cpuacct_cgrp_id,
	io_cgrp_id,
	memory_cgrp_id,
	devices_cgrp_id,
	freezer_cgrp_id,
	perf_event_cgrp_id,
	pids_cgrp_id,
	CGROUP_SUBSYS_COUNT,
};

/* Helpers that not every kernel has: ask bpf_core_enum_value_exists(). */
enum bpf_func_id {
	BPF_FUNC_task_pt_regs = 175,	 /* 5.15 and later */
	BPF_FUNC_ktime_get_tai_ns = 208, /* 6.1 and later */
};

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_PGID,
	PIDTYPE_SID,
	PIDTYPE_MAX,
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	unsigned int val;
} kuid_t;

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct inode {
	long long i_size;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct mm_struct {
	struct file *exe_file;
};

struct cred {
	kuid_t uid;
};

struct ns_common {
	unsigned int inum;
};

struct task_struct;

struct user_namespace {
	int level;
};

struct pid_namespace {
	unsigned int pid_allocated;
	struct task_struct *child_reaper; /* adopts orphans: its PID 1 */
	unsigned int level;
	struct user_namespace *user_ns;
	int reboot; /* the signal that reboot(2) ends it with */
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	unsigned int val;
} kgid_t;

struct kernfs_iattrs {
	kuid_t ia_uid;
	kgid_t ia_gid;
};

struct kernfs_node {
	const char *name;
	__u64 id;
	unsigned short mode;
	struct kernfs_iattrs *iattr;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

/* Between 6.18 and 7.2 it came here from struct cgroup. */
struct cgroup_subsys_state___populated {
	int nr_populated_csets;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	int level;
	int nr_populated_csets, nr_populated_domain_children;
	struct kernfs_node *kn;
	struct cgroup_subsys_state *subsys[CGROUP_SUBSYS_COUNT];
	struct cgroup_root *root;
	struct cgroup *ancestors[1]; /* by level, itself included */
};

/* Until 6.1, commit 7f203bc89eb6: ids in place of pointers. */
struct cgroup___ids {
	__u64 ancestor_ids[1];
};

struct list_head {
	struct list_head *next, *prev;
};

struct css_set {
	struct cgroup_subsys_state *subsys[CGROUP_SUBSYS_COUNT];
	struct cgroup *dfl_cgrp;
	struct list_head tasks; /* by cg_list, in the order they came in */
};

struct sigaction {
	void (*sa_handler)(int);
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

struct sigpending {
	sigset_t signal;
};

struct signal_struct {
	atomic_t live;
	struct list_head thread_head; /* of its threads' thread_node */
	struct sigpending shared_pending;
	int group_exit_code;
	unsigned int flags;
	unsigned int is_child_subreaper : 1;
	struct pid *pids[PIDTYPE_MAX];
	struct mm_struct *oom_mm;
};

struct mnt_namespace;

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

/* What a thread had in its registers when it entered the kernel. */
struct pt_regs {
#ifdef __TARGET_ARCH_arm64
	unsigned long long regs[31];
	unsigned long long pstate;
	unsigned long long orig_x0;
#else
	unsigned long orig_ax;
#endif
};

union __sifields {
	struct {
		int _pid; /* in the target's pid namespace; 0: from outside */
	} _kill;
};

struct kernel_siginfo {
	int si_code;
	union __sifields _sifields;
};

struct task_struct {
	unsigned int flags;
	struct mm_struct *mm;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *parent; /* whom a tracer has is told to the tracer */
	struct list_head children;
	struct list_head sibling;      /* in the parent's children */
	struct completion *vfork_done; /* that the parent waits for in vfork() */
	struct task_struct *group_leader;
	unsigned long jobctl;
	__u64 start_boottime; /* ns of CLOCK_BOOTTIME; 5.5 and later */
	__u64 self_exec_id;   /* how often it exec'd, and those it came from; 64 bits since 5.7 */
	const struct cred *real_cred;
	const struct cred *cred;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	sigset_t blocked;
	sigset_t real_blocked; /* in sigwait(): what was blocked before */
	int pdeath_signal;     /* PR_SET_PDEATHSIG */
	struct list_head thread_node;
	struct css_set *cgroups;
	struct list_head cg_list; /* in the css_set's tasks */
};

/* Since 2f064a59a11f ("sched: Change task_struct::state"), Linux 5.14. */
struct task_struct___state {
	unsigned int __state;
};

/* Before that commit. */
struct task_struct___old_state {
	volatile long state;
};

#pragma clang attribute pop

#endif
