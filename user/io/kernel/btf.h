/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to the running kernel's BTF, so that what differs between kernels is probed and never
 * guessed from a version. Holds several MiB while open: ask, then free.
 */
#ifndef IO_KERNEL_BTF_H
#define IO_KERNEL_BTF_H

#include <stdbool.h>

struct kbtf;

/* -ENOENT (or -ESRCH) when the kernel has no BTF; the caller frees with kbtf_free(). */
int kbtf_open(struct kbtf **ret);
struct kbtf *kbtf_free(struct kbtf *kbtf);

/* How many arguments a tracepoint hands to a program; -ENOENT when there is no such tracepoint. */
int kbtf_tracepoint_args(const struct kbtf *kbtf, const char *tracepoint);

/* Whether a tracepoint's argument (from 0) is a pointer to a struct of that name. */
bool kbtf_arg_is_struct(const struct kbtf *kbtf, const char *tracepoint, int arg, const char *name);

/* Whether a tracepoint's argument (from 0) is a bool. */
bool kbtf_arg_is_bool(const struct kbtf *kbtf, const char *tracepoint, int arg);

/* The type's id of a function that a program might be attached to; -ENOENT. */
int kbtf_find_function(const struct kbtf *kbtf, const char *name);

/* -ENOENT when the enum or its member does not exist in this kernel. */
int kbtf_enum_value(const struct kbtf *kbtf, const char *enum_name, const char *member, int *ret);

#endif
