// SPDX-License-Identifier: Apache-2.0
/* Holds the hand-kept kernel types against a kernel's own BTF: every struct, member and enumerator
 * the programs count on must be there under that name, of a kind and size that reads the same.
 * libbpf would say so too, but at load time, one program at a time, and only for what it relocates.
 *
 *   vmlinux-check [-k BTF] HEADER_OBJECT [BPF_OBJECT...]
 *
 * HEADER_OBJECT has one variable of each type of vmlinux_min.h, all of which must exist. In a
 * BPF_OBJECT, types the kernel does not know are taken for our own. A flavour (name___suffix) is
 * there for kernels that differ, so that it may be absent; what is there of it must agree. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(struct btf *, btf__free);

struct check {
	const struct btf *kernel;
	const struct btf *local;
	const char *object;  /* path, for the messages */
	bool all_must_exist; /* the object is the header's */
	int mismatches;
};

static void __attribute__((format(printf, 2, 3))) mismatch(struct check *c, const char *format, ...)
{
	va_list ap;

	c->mismatches++;
	printf("%s: ", c->object);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

static bool is_flavour(const char *name)
{
	return strstr(name, "___") != NULL;
}

/* Whether name is base, or a flavour of base. */
static bool names_agree(const char *name, const char *base)
{
	const char *suffix = strstr(name, "___");
	size_t len = suffix ? (size_t)(suffix - name) : strlen(name);

	return strlen(base) == len && memcmp(name, base, len) == 0;
}

/* Follows const, volatile and typedef. */
static const struct btf_type *resolve(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool types_agree(const struct check *c, __u32 local_id, __u32 kernel_id, int depth);

/* A pointer's target is compared by name only: its members have an entry of their own. */
static bool targets_agree(const struct check *c, const struct btf_type *l, const struct btf_type *k)
{
	const char *lname, *kname;

	l = resolve(c->local, l->type);
	k = resolve(c->kernel, k->type);
	if (!l || !k)
		return true;
	lname = btf__name_by_offset(c->local, l->name_off);
	kname = btf__name_by_offset(c->kernel, k->name_off);
	if (!(btf_is_composite(l) || btf_is_fwd(l)) || !(btf_is_composite(k) || btf_is_fwd(k)))
		return true;
	return names_agree(lname, kname);
}

static bool arrays_agree(const struct check *c, const struct btf_type *l, const struct btf_type *k,
			 int depth)
{
	const struct btf_array *la = btf_array(l), *ka = btf_array(k);

	/* Arrays at the end of a struct have 0 or 1 elements, by the kernel's age. */
	if (ka->nelems > 1 && la->nelems > ka->nelems)
		return false;
	return types_agree(c, la->type, ka->type, depth + 1);
}

/* The rules of libbpf's relocation, and in addition the sizes of integers and the names of structs.
 */
static bool types_agree(const struct check *c, __u32 local_id, __u32 kernel_id, int depth)
{
	const struct btf_type *l = resolve(c->local, local_id);
	const struct btf_type *k = resolve(c->kernel, kernel_id);

	if (!l || !k)
		return l == k;
	if (depth > 8)
		return false;
	if (btf_is_composite(l) && btf_is_composite(k)) {
		const char *lname = btf__name_by_offset(c->local, l->name_off);
		const char *kname = btf__name_by_offset(c->kernel, k->name_off);

		return !*lname || !*kname || names_agree(lname, kname);
	}
	if (btf_is_any_enum(l) && btf_is_any_enum(k))
		return true;
	if (btf_kind(l) != btf_kind(k))
		return false;
	if (btf_is_ptr(l))
		return targets_agree(c, l, k);
	if (btf_is_array(l))
		return arrays_agree(c, l, k, depth);
	return l->size == k->size;
}

/* Looks name up in a kernel struct and in the anonymous members within it. */
static const struct btf_member *find_member(const struct check *c, const struct btf_type *t,
					    const char *name, int depth)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; depth < 8 && i < btf_vlen(t); i++, m++) {
		const char *found = btf__name_by_offset(c->kernel, m->name_off);
		const struct btf_type *inner;
		const struct btf_member *deeper;

		if (*found) {
			if (strcmp(found, name) == 0)
				return m;
			continue;
		}
		inner = resolve(c->kernel, m->type);
		deeper = inner && btf_is_composite(inner) ? find_member(c, inner, name, depth + 1)
							  : NULL;
		if (deeper)
			return deeper;
	}
	return NULL;
}

static void check_members(struct check *c, const char *name, const struct btf_type *local,
			  const struct btf_type *kernel)
{
	const struct btf_member *m = btf_members(local);

	for (int i = 0; i < btf_vlen(local); i++, m++) {
		const char *member = btf__name_by_offset(c->local, m->name_off);
		const struct btf_member *k;

		if (!*member)
			continue;
		k = find_member(c, kernel, member, 0);
		if (k && !types_agree(c, m->type, k->type, 0))
			mismatch(c, "%s.%s is of another kind or size in this kernel", name,
				 member);
		else if (!k && !is_flavour(name))
			mismatch(c, "%s.%s is not in this kernel", name, member);
	}
}

static bool enum_has(const struct check *c, const struct btf_type *t, const char *name, __s32 value)
{
	const struct btf_enum *e = btf_enum(t);

	for (int i = 0; i < btf_vlen(t); i++, e++)
		if (strcmp(btf__name_by_offset(c->kernel, e->name_off), name) == 0)
			return e->val == value;
	return false;
}

static void check_enumerators(struct check *c, const char *name, const struct btf_type *local,
			      const struct btf_type *kernel)
{
	const struct btf_enum *e = btf_enum(local);

	/* Its numbers depend on the kernel's configuration and are asked for when loading. */
	if (names_agree(name, "cgroup_subsys_id"))
		return;
	for (int i = 0; i < btf_vlen(local); i++, e++) {
		const char *constant = btf__name_by_offset(c->local, e->name_off);

		if (!enum_has(c, kernel, constant, e->val) && !is_flavour(name))
			mismatch(c, "%s = %d of enum %s is not so in this kernel", constant, e->val,
				 name);
	}
}

/* Returns the kernel's type of that name and kind, flavour aside, or NULL. */
static const struct btf_type *find_type(const struct check *c, const char *name, __u32 kind)
{
	char base[128];
	const char *suffix = strstr(name, "___");
	int len = suffix ? (int)(suffix - name) : (int)strlen(name);
	__s32 id;

	if (len >= (int)sizeof(base))
		return NULL;
	snprintf(base, sizeof(base), "%.*s", len, name);
	id = btf__find_by_name_kind(c->kernel, base, kind);
	return id < 0 ? NULL : btf__type_by_id(c->kernel, (__u32)id);
}

static void check_type(struct check *c, const struct btf_type *local)
{
	const char *name = btf__name_by_offset(c->local, local->name_off);
	const struct btf_type *kernel;
	bool typedef_of_struct = false;

	if (btf_is_typedef(local)) {
		const struct btf_type *target = resolve(c->local, local->type);

		typedef_of_struct = target && btf_is_composite(target) && target->name_off == 0;
	}
	if (!*name || !(btf_is_composite(local) || btf_is_enum(local) || typedef_of_struct))
		return;
	kernel = find_type(c, name, btf_kind(local));
	if (!kernel) {
		if (c->all_must_exist && !is_flavour(name))
			mismatch(c, "%s is not in this kernel", name);
		return;
	}
	if (typedef_of_struct) {
		local = resolve(c->local, local->type);
		kernel = resolve(c->kernel, kernel->type);
	}
	if (btf_is_enum(local))
		check_enumerators(c, name, local, kernel);
	else if (kernel && btf_is_composite(kernel))
		check_members(c, name, local, kernel);
	else
		mismatch(c, "%s is no struct in this kernel", name);
}

static int check_object(struct check *c, const char *path)
{
	_cleanup_(cleanup_btf__free) struct btf *local = btf__parse(path, NULL);

	if (!local) {
		int r = -errno;

		fprintf(stderr, "%s has no BTF to check: %s\n", path, strerror(-r));
		return r;
	}
	c->local = local;
	c->object = path;
	for (__u32 id = 1; id < btf__type_cnt(local); id++)
		check_type(c, btf__type_by_id(local, id));
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_(cleanup_btf__free) struct btf *kernel = NULL;
	const char *path = "/sys/kernel/btf/vmlinux";
	struct check c = {0};
	int opt;

	while ((opt = getopt(argc, argv, "k:")) == 'k')
		path = optarg;
	if (opt != -1 || optind == argc) {
		fprintf(stderr, "usage: vmlinux-check [-k BTF] HEADER_OBJECT [BPF_OBJECT...]\n");
		return 2;
	}
	kernel = btf__parse(path, NULL);
	if (!kernel) {
		fprintf(stderr, "Cannot read the kernel's types from %s: %s\n", path,
			strerror(errno));
		return 1;
	}
	c.kernel = kernel;
	for (int i = optind; i < argc; i++) {
		c.all_must_exist = i == optind;
		if (check_object(&c, argv[i]) < 0)
			return 1;
	}
	return c.mismatches ? 1 : 0;
}
