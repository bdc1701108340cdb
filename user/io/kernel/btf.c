// SPDX-License-Identifier: Apache-2.0
/* Looks tracepoints and enums up in the running kernel's BTF. */
#include "io/kernel/btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kbtf {
	struct btf *btf;
};

int kbtf_open(struct kbtf **ret)
{
	struct kbtf *kbtf = calloc(1, sizeof(*kbtf));
	libbpf_print_fn_t print;
	int r;

	if (!kbtf)
		return -ENOMEM;
	/* libbpf would say it in its own words, too. */
	print = libbpf_set_print(NULL);
	kbtf->btf = btf__load_vmlinux_btf();
	r = -errno;
	libbpf_set_print(print);
	if (!kbtf->btf) {
		free(kbtf);
		return r;
	}
	*ret = kbtf;
	return 0;
}

struct kbtf *kbtf_free(struct kbtf *kbtf)
{
	if (kbtf)
		btf__free(kbtf->btf);
	free(kbtf);
	return NULL;
}

static const struct btf_type *skip_names(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* The kernel declares `typedef void (*btf_trace_<name>)(void *data, arguments...)` for each. */
static const struct btf_type *tracepoint_proto(const struct kbtf *kbtf, const char *tracepoint)
{
	const struct btf_type *t;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(kbtf->btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	t = skip_names(kbtf->btf, (__u32)id);
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(kbtf->btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

static const struct btf_type *argument(const struct kbtf *kbtf, const char *tracepoint, int arg)
{
	const struct btf_type *proto = tracepoint_proto(kbtf, tracepoint);

	if (!proto || arg < 0 || arg + 1 >= btf_vlen(proto))
		return NULL;
	return skip_names(kbtf->btf, btf_params(proto)[arg + 1].type);
}

int kbtf_tracepoint_args(const struct kbtf *kbtf, const char *tracepoint)
{
	const struct btf_type *proto = tracepoint_proto(kbtf, tracepoint);

	if (!proto || btf_vlen(proto) < 1)
		return -ENOENT;
	return btf_vlen(proto) - 1;
}

bool kbtf_arg_is_struct(const struct kbtf *kbtf, const char *tracepoint, int arg, const char *name)
{
	const struct btf_type *t = argument(kbtf, tracepoint, arg);
	const char *found;

	if (!t || !btf_is_ptr(t))
		return false;
	t = skip_names(kbtf->btf, t->type);
	if (!t || !btf_is_struct(t))
		return false;
	found = btf__name_by_offset(kbtf->btf, t->name_off);
	return found && strcmp(found, name) == 0;
}

bool kbtf_arg_is_bool(const struct kbtf *kbtf, const char *tracepoint, int arg)
{
	const struct btf_type *t = argument(kbtf, tracepoint, arg);

	return t && btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL;
}

int kbtf_find_function(const struct kbtf *kbtf, const char *name)
{
	int id = btf__find_by_name_kind(kbtf->btf, name, BTF_KIND_FUNC);

	return id < 0 ? -ENOENT : id;
}

int kbtf_enum_value(const struct kbtf *kbtf, const char *enum_name, const char *member, int *ret)
{
	int id = btf__find_by_name_kind(kbtf->btf, enum_name, BTF_KIND_ENUM);
	const struct btf_type *t;

	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(kbtf->btf, (__u32)id);
	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_enum *e = btf_enum(t) + i;
		const char *name = btf__name_by_offset(kbtf->btf, e->name_off);

		if (name && strcmp(name, member) == 0) {
			*ret = e->val;
			return 0;
		}
	}
	return -ENOENT;
}
