/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF objects that the kernel holds, so that a test can tell which ones a program left there. */
#ifndef TESTS_LIB_KERNEL_KOBJECTS_H
#define TESTS_LIB_KERNEL_KOBJECTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum kobject_type { KOBJECT_PROGRAM, KOBJECT_MAP, KOBJECT_LINK, KOBJECT_BTF, KOBJECT_TYPES };

struct kobject {
	enum kobject_type type;
	uint32_t id;
	char name[16]; /* of a link, its program's; "" when it has none */
};

struct kobjects {
	struct kobject *list;
	size_t n, room;
};

/* All there are. 0 or -errno; the caller frees. */
int kobjects_all(struct kobjects *ret);

/* Those that a process has descriptors of. 0 or -errno; the caller frees. */
int kobjects_of(pid_t pid, struct kobjects *ret);

/*
 * Those that are new since before, are named as one of ours is, and that no living process has:
 * other people's programs come and go meanwhile, and nobody else's count. BTF has no name: what no
 * program and no map uses. 0 or -errno; the caller frees.
 */
int kobjects_left(const struct kobjects *before, const struct kobjects *ours, struct kobjects *ret);

size_t kobjects_count(const struct kobjects *objects, enum kobject_type type);

void kobjects_free(struct kobjects *objects);

#endif
