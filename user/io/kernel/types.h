/* SPDX-License-Identifier: Apache-2.0 */
/* The types of the running kernel, as its BTF has them: they say which programs it can have. */
#ifndef IO_KERNEL_TYPES_H
#define IO_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "base/cleanup.h"

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

/* The types' ids by which a program is loaded for a tracepoint or a function; -ENOENT. */
int types_find_tracepoint(const struct btf *kernel, const char *name);
int types_find_function(const struct btf *kernel, const char *name);

/* -ENOENT when the enum or its member does not exist in this kernel. */
int types_enum_value(const struct btf *kernel, const char *enum_name, const char *member, int *ret);

#endif
