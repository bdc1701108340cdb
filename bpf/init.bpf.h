/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which process of a container is its init.
 *
 * The first process that execs in a container, its parent outside of it, is its init for as long as
 * any process is left in there. A process that is PID 1 of a pid namespace further down never takes
 * its place: a sandbox of the container's own is one, and once its parent has died whoever adopts
 * it may be outside of the container. Only the stages of the runtime, which also come in from
 * outside and exec, are passed over, and they are told by their program.
 */
#ifndef GRACED_INIT_BPF_H
#define GRACED_INIT_BPF_H

#include "task.bpf.h"

static __always_inline bool is_letter(__u64 name)
{
	__u8 c = name;

	return c >= 'a' && c <= 'z';
}

/*
 * Whether a program of that name, its first 15 bytes, is a runtime or a copy that a runtime made of
 * itself in memory: runc, crun, youki and criu, also as in "runc.amd64", ".runc-wrapped" and
 * "memfd:runc_cloned:/proc/self/exe".
 */
static __always_inline bool is_runtime_name(__u64 low, __u64 high)
{
	const __u64 memfd = 0x3a64666d656d; /* "memfd:" */
	const __u32 runc = 0x636e7572, crun = 0x6e757263, criu = 0x75697263;
	const __u64 youki = 0x696b756f79;

	if ((low & 0xffffffffffff) == memfd)
		low = low >> 48 | high << 16;
	if ((low & 0xff) == '.')
		low >>= 8;
	if ((__u32)low == runc || (__u32)low == crun || (__u32)low == criu)
		return !is_letter(low >> 32);
	return (low & 0xffffffffff) == youki && !is_letter(low >> 40);
}

/* The program that a process runs, by reads: whether it is a runtime's, and its size. */
struct program {
	bool is_runtime;
	__s64 size;
};

static __always_inline void program_read(struct task_struct *t, struct program *ret)
{
	struct file *exe = BPF_CORE_READ(t, mm, exe_file);
	__u64 name[2] = {};

	bpf_probe_read_kernel_str(name, sizeof(name),
				  BPF_CORE_READ(exe, f_path.dentry, d_name.name));
	ret->is_runtime = is_runtime_name(name[0], name[1]);
	ret->size = BPF_CORE_READ(exe, f_inode, i_size);
}

/*
 * runc 1.1 executes itself again (libcontainer/nsenter/cloned_binary.c) while its parent, which is
 * runc as well, moves it into the container's cgroup: a stage that may exec in there, too. A
 * container may call its program runc, but that is not the one that its parent runs.
 */
static __always_inline bool is_exec_of_stage(struct task_struct *t)
{
	struct program own, parent;

	program_read(t, &own);
	if (!own.is_runtime)
		return false;
	program_read(BPF_CORE_READ(t, real_parent), &parent);
	return parent.is_runtime && own.size == parent.size;
}

#endif
