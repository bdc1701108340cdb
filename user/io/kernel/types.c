// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the kernel's BTF once for all who want it. libbpf would read it anew for each object, and
 * copies it on the way; since Linux 6.16 it can be mapped.
 */
#include "io/kernel/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/map.h"
#include "io/files/fd.h"

/* --- opening -------------------------------------------------------------------------------- */

static int read_btf(int fd, size_t size, struct btf **ret)
{
	_cleanup_(cleanup_free) char *data = malloc(size);
	ssize_t n = data ? fd_read_full(fd, data, size) : -ENOMEM;

	if (n < 0)
		return (int)n;
	*ret = btf__new(data, (__u32)n);
	return *ret ? 0 : -errno;
}

int types_open(struct btf **ret)
{
	_cleanup_(cleanup_close) int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct btf *btf;
	struct stat st;
	void *data;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return read_btf(fd, (size_t)st.st_size, ret);
	btf = btf__new(data, (__u32)st.st_size);
	r = -errno;
	munmap(data, (size_t)st.st_size);
	if (!btf)
		return r;
	*ret = btf;
	return 0;
}

/* --- looking up ----------------------------------------------------------------------------- */

static const struct btf_type *skip_names(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* The kernel declares `typedef void (*btf_trace_<name>)(void *data, arguments...)` for each. */
int types_find_tracepoint(const struct btf *kernel, const char *name)
{
	char full[128];
	int id;

	snprintf(full, sizeof(full), "btf_trace_%s", name);
	id = btf__find_by_name_kind(kernel, full, BTF_KIND_TYPEDEF);
	return id < 0 ? -ENOENT : id;
}

int types_find_function(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC);

	return id < 0 ? -ENOENT : id;
}

static const struct btf_type *tracepoint_proto(const struct btf *btf, const char *tracepoint)
{
	int id = types_find_tracepoint(btf, tracepoint);
	const struct btf_type *t;

	if (id < 0)
		return NULL;
	t = skip_names(btf, (__u32)id);
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

static const struct btf_type *argument(const struct btf *btf, const char *tracepoint, int arg)
{
	const struct btf_type *proto = tracepoint_proto(btf, tracepoint);

	if (!proto || arg < 0 || arg + 1 >= btf_vlen(proto))
		return NULL;
	return skip_names(btf, btf_params(proto)[arg + 1].type);
}

bool types_arg_is_struct(const struct btf *kernel, const char *tracepoint, int arg,
			 const char *name)
{
	const struct btf_type *t = argument(kernel, tracepoint, arg);
	const char *found;

	if (!t || !btf_is_ptr(t))
		return false;
	t = skip_names(kernel, t->type);
	if (!t || !btf_is_struct(t))
		return false;
	found = btf__name_by_offset(kernel, t->name_off);
	return found && strcmp(found, name) == 0;
}

bool types_arg_is_bool(const struct btf *kernel, const char *tracepoint, int arg)
{
	const struct btf_type *t = argument(kernel, tracepoint, arg);

	return t && btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL;
}

int types_enum_value(const struct btf *kernel, const char *enum_name, const char *member, int *ret)
{
	int id = btf__find_by_name_kind(kernel, enum_name, BTF_KIND_ENUM);
	const struct btf_type *t;

	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(kernel, (__u32)id);
	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_enum *e = btf_enum(t) + i;
		const char *name = btf__name_by_offset(kernel, e->name_off);

		if (name && strcmp(name, member) == 0) {
			*ret = e->val;
			return 0;
		}
	}
	return -ENOENT;
}

/* --- extracting ----------------------------------------------------------------------------- */

struct extract {
	const struct btf *from;
	struct btf *to;
	uint32_t *ids; /* in `to`, by those in `from`; 0: not there */
	int pointer;   /* to void: stands for all, since no relocation follows one */
};

/* What is a root of relocations. */
static bool is_root(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t);
}

static int copy_type(struct extract *x, uint32_t id);

/* `to` moves when a type is added. */
static struct btf_type *copied(const struct extract *x, uint32_t id)
{
	return (struct btf_type *)btf__type_by_id(x->to, x->ids[id]);
}

static int copy_members(struct extract *x, uint32_t id, const struct btf_type *t)
{
	for (int i = 0; i < btf_vlen(t); i++) {
		int type = copy_type(x, btf_members(t)[i].type);

		if (type < 0)
			return type;
		btf_members(copied(x, id))[i].type = (uint32_t)type;
	}
	return 0;
}

static int copy_array(struct extract *x, uint32_t id, const struct btf_type *t)
{
	int element = copy_type(x, btf_array(t)->type);
	int index = element < 0 ? element : copy_type(x, btf_array(t)->index_type);

	if (index < 0)
		return index;
	btf_array(copied(x, id))->type = (uint32_t)element;
	btf_array(copied(x, id))->index_type = (uint32_t)index;
	return 0;
}

static int copy_named(struct extract *x, uint32_t id, const struct btf_type *t)
{
	int type = copy_type(x, t->type);

	if (type < 0)
		return type;
	copied(x, id)->type = (uint32_t)type;
	return 0;
}

/* With all that it holds by value. Its id in `to`, 0 for void, or -errno. */
static int copy_type(struct extract *x, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(x->from, id);
	int r;

	if (!id || !t || btf_is_func_proto(t))
		return 0;
	if (btf_is_ptr(t))
		return x->pointer;
	if (x->ids[id])
		return (int)x->ids[id];
	r = btf__add_type(x->to, x->from, t);
	if (r < 0)
		return r;
	x->ids[id] = (uint32_t)r;
	if (btf_is_composite(t))
		r = copy_members(x, id, t);
	else if (btf_is_array(t))
		r = copy_array(x, id, t);
	else if (btf_is_mod(t) || btf_is_typedef(t))
		r = copy_named(x, id, t);
	return r < 0 ? r : (int)x->ids[id];
}

/* As CO-RE has it, the name of struct a___b is a. */
static uint64_t name_key(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off), *end;
	char plain[128];

	if (!name || !*name)
		return 0;
	end = strstr(name, "___");
	if (!end)
		return map_key(name);
	snprintf(plain, sizeof(plain), "%.*s", (int)(end - name), name);
	return map_key(plain);
}

static int note_roots(const struct btf *btf, struct map *roots)
{
	int r = 0;

	for (uint32_t id = 1; r >= 0 && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		uint64_t key = is_root(t) ? name_key(btf, t) : 0;

		if (key)
			r = map_put(roots, key, roots);
	}
	return r;
}

static int copy_roots(struct extract *x, const struct map *roots)
{
	int r = 0;

	for (uint32_t id = 1; r >= 0 && id < btf__type_cnt(x->from); id++) {
		const struct btf_type *t = btf__type_by_id(x->from, id);
		uint64_t key = is_root(t) ? name_key(x->from, t) : 0;

		if (key && map_get(roots, key))
			r = copy_type(x, id);
	}
	return r < 0 ? r : 0;
}

static int write_btf(const struct btf *btf, int fd)
{
	uint32_t size;
	const void *data = btf__raw_data(btf, &size);

	return data ? fd_write_full(fd, data, size, 0) : -ENOMEM;
}

int types_extract(const struct btf *kernel, const struct btf *names, int fd)
{
	_cleanup_(cleanup_free) uint32_t *ids = calloc(btf__type_cnt(kernel), sizeof(*ids));
	_cleanup_(cleanup_btf__free) struct btf *to = btf__new_empty();
	_cleanup_(map_done) struct map roots = {};
	struct extract x = {.from = kernel, .to = to, .ids = ids};
	int r;

	if (!ids || !to)
		return -ENOMEM;
	x.pointer = btf__add_ptr(to, 0);
	r = x.pointer < 0 ? x.pointer : note_roots(names, &roots);
	if (r >= 0)
		r = copy_roots(&x, &roots);
	return r < 0 ? r : write_btf(to, fd);
}
