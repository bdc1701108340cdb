/* SPDX-License-Identifier: Apache-2.0 */
/* How a process was started: by which arguments, with which variables. It may have changed both. */
#ifndef IO_PROC_ARGS_H
#define IO_PROC_ARGS_H

#include <stddef.h>
#include <sys/types.h>

/* The first bytes of its arguments, each with its NUL: how many. 0: there are none, or they may not
 * be read. */
size_t procfs_args(pid_t pid, char *ret, size_t size);

/* Whether a variable of the environment that it was started with begins with this, or is this where
 * that is a whole "NAME=VALUE". -errno: it may not be read. */
int procfs_has_variable(pid_t pid, const char *variable);

#endif
