/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of one object, verified two at a time. Most of a start is the kernel's verifier,
 * which takes no lock for all, while libbpf loads one program after the other. So libbpf gets
 * stubs to load, and what it has relocated is loaded from here.
 */
#ifndef IO_KERNEL_PROGRAMS_H
#define IO_KERNEL_PROGRAMS_H

#include <bpf/btf.h>
#include <stdarg.h>
#include <stdbool.h>

#include "base/cleanup.h"

struct btf;
struct programs;

/*
 * From here on each program that libbpf is about to load is taken, until programs_free(); one
 * object at a time. Before the object is opened. The types of the kernel are used until it is
 * loaded.
 */
int programs_new(const struct btf *kernel, struct programs **ret);
struct programs *programs_free(struct programs *programs);
DEFINE_CLEANUP(struct programs *, programs_free);

/* Loads all that were taken. -errno of one that the kernel refuses; debug, which may be NULL, takes
 * what the verifier says of it. */
int programs_load(struct programs *programs, void (*debug)(const char *format, va_list args));

/* A loaded one's descriptor, which the caller closes; -1: it was not taken. */
int programs_take_fd(struct programs *programs, const char *name);

/* The types of the running kernel, as its BTF has them: they say which programs it can have. */

DEFINE_CLEANUP(struct btf *, btf__free);

/* The caller frees by btf__free(), for it holds several MiB. -ENOENT when the kernel has none. */
int types_open(struct btf **ret);

/*
 * Writes those types of the kernel into a file, as BTF, that a program's relocations may look for:
 * the ones that `names` has a type of that name for, and what these hold by value. libbpf looks
 * through all types it is given, once for each name, and the kernel has a hundred thousand. What is
 * written has other ids than the kernel, and no pointers: bpf_core_type_id_kernel() and
 * bpf_core_type_matches() would be wrong.
 */
int types_extract(const struct btf *kernel, const struct btf *names, int fd);

/* Whether a tracepoint's argument (from 0) is a pointer to a struct of that name, or a bool. */
bool types_arg_is_struct(const struct btf *kernel, const char *tracepoint, int arg,
			 const char *name);
bool types_arg_is_bool(const struct btf *kernel, const char *tracepoint, int arg);

/*
 * Whether tracepoints leave preemption on, as from Linux 7.0 on: SRCU protects them. Up to 6.12 it
 * did for some, and these kernels' sched_process_exit has no group_dead.
 */
bool types_preempt_tracepoints(const struct btf *kernel);

/* The types' ids by which a program is loaded for a tracepoint or a function; -ENOENT. */
int types_find_tracepoint(const struct btf *kernel, const char *name);
int types_find_function(const struct btf *kernel, const char *name);

/* -ENOENT when the enum or its member does not exist in this kernel. */
int types_enum_value(const struct btf *kernel, const char *enum_name, const char *member, int *ret);

#endif
