/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of one object, verified two at a time. Most of a start is the kernel's verifier,
 * which takes no lock for all, while libbpf loads one program after the other. So libbpf gets
 * stubs to load, and what it has relocated is loaded from here.
 */
#ifndef IO_KERNEL_PROGRAMS_H
#define IO_KERNEL_PROGRAMS_H

#include <stdarg.h>

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

#endif
