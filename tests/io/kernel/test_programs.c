// SPDX-License-Identifier: Apache-2.0
/* Claims about io/kernel/programs: what programs' relocations find in the types that it extracts. */
#include "io/kernel/programs.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/claim.h"

/* A kernel of a few types. */
struct stage {
	struct btf *kernel, *names, *extracted;
};

static int add_kernel(struct btf *k)
{
	int u32 = btf__add_int(k, "unsigned int", 4, 0),
	    truth = btf__add_int(k, "bool", 1, BTF_INT_BOOL);
	int inner, outer, array, alias, ptr, args;

	inner = btf__add_struct(k, "inner", 8);
	btf__add_field(k, "low", u32, 0, 0);
	btf__add_field(k, "high", u32, 32, 0);
	btf__add_struct(k, "other", 4);
	btf__add_field(k, "only", u32, 0, 0);
	outer = btf__add_struct(k, "outer", 64);
	ptr = btf__add_ptr(k, outer);
	array = btf__add_array(k, u32, inner, 5);
	alias = btf__add_typedef(k, "inner_t", btf__add_const(k, inner));
	/* As a struct that refers to types which come after it. */
	btf__add_struct(k, "asked", 64);
	btf__add_field(k, "self", ptr, 0, 0);
	btf__add_field(k, "five", array, 64, 0);
	btf__add_field(k, "named", alias, 64 + 320, 0);
	btf__add_enum(k, "colour", 4);
	btf__add_enum_value(k, "RED", 7);
	args = btf__add_func_proto(k, 0);
	btf__add_func_param(k, "data", ptr);
	btf__add_func_param(k, "who", ptr);
	btf__add_func_param(k, "last", truth);
	btf__add_typedef(k, "btf_trace_happened", btf__add_ptr(k, args));
	return btf__add_func(k, "function", BTF_FUNC_STATIC, args);
}

static int open_stage(void **state)
{
	static struct stage s;
	char path[64];
	int fd = memfd_create("types", 0);

	s = (struct stage){.kernel = btf__new_empty(), .names = btf__new_empty()};
	assert_true(add_kernel(s.kernel) > 0);
	btf__add_struct(s.names, "asked___as_before", 8);
	btf__add_enum(s.names, "colour", 4);
	btf__add_struct(s.names, "ours", 8);
	assert_int_equal(types_extract(s.kernel, s.names, fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	s.extracted = btf__parse(path, NULL);
	assert_non_null(s.extracted);
	close(fd);
	*state = &s;
	return 0;
}

static int close_stage(void **state)
{
	struct stage *s = *state;

	btf__free(s->kernel);
	btf__free(s->names);
	btf__free(s->extracted);
	return 0;
}

static const struct btf_type *found(const struct btf *btf, const char *name, __u32 kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
}

static void what_is_asked_for_has_all_that_it_holds(void **state)
{
	const struct stage *s = *state;
	const struct btf_type *t = found(s->extracted, "asked", BTF_KIND_STRUCT);
	const struct btf_member *m;

	assert_non_null(t);
	assert_int_equal(btf_vlen(t), 3);
	m = btf_members(t);
	assert_string_equal(btf__name_by_offset(s->extracted, m[2].name_off), "named");
	assert_int_equal(m[2].offset, 64 + 320);
	assert_int_equal(btf__resolve_size(s->extracted, m[1].type), 40);
	assert_int_equal(btf__resolve_size(s->extracted, m[2].type), 8);
	t = btf__type_by_id(s->extracted, (__u32)btf__resolve_type(s->extracted, m[2].type));
	assert_string_equal(btf__name_by_offset(s->extracted, t->name_off), "inner");
	assert_string_equal(btf__name_by_offset(s->extracted, btf_members(t)[1].name_off), "high");
	t = found(s->extracted, "colour", BTF_KIND_ENUM);
	assert_non_null(t);
	assert_int_equal(btf_enum(t)[0].val, 7);
}

static void what_it_points_to_is_left_out(void **state)
{
	const struct stage *s = *state;
	const struct btf_type *t = found(s->extracted, "asked", BTF_KIND_STRUCT);

	t = btf__type_by_id(s->extracted, btf_members(t)[0].type);
	assert_true(btf_is_ptr(t));
	assert_int_equal(t->type, 0);
	assert_null(found(s->extracted, "outer", BTF_KIND_STRUCT));
	assert_null(found(s->extracted, "other", BTF_KIND_STRUCT));
	assert_null(found(s->extracted, "function", BTF_KIND_FUNC));
}

static void tracepoints_are_known_by_their_arguments(void **state)
{
	const struct stage *s = *state;

	assert_true(types_find_tracepoint(s->kernel, "happened") > 0);
	assert_int_equal(types_find_tracepoint(s->kernel, "happens"), -ENOENT);
	assert_true(types_arg_is_struct(s->kernel, "happened", 0, "outer"));
	assert_false(types_arg_is_struct(s->kernel, "happened", 0, "inner"));
	assert_false(types_arg_is_struct(s->kernel, "happened", 1, "outer"));
	assert_true(types_arg_is_bool(s->kernel, "happened", 1));
	assert_false(types_arg_is_bool(s->kernel, "happened", 0));
	assert_false(types_arg_is_bool(s->kernel, "happened", 2));
	assert_true(types_find_function(s->kernel, "function") > 0);
	assert_int_equal(types_find_function(s->kernel, "happened"), -ENOENT);
}

static void members_of_an_enum_have_their_values(void **state)
{
	const struct stage *s = *state;
	int value = 0;

	assert_int_equal(types_enum_value(s->kernel, "colour", "RED", &value), 0);
	assert_int_equal(value, 7);
	assert_int_equal(types_enum_value(s->kernel, "colour", "BLUE", &value), -ENOENT);
	assert_int_equal(types_enum_value(s->kernel, "colours", "RED", &value), -ENOENT);
	assert_int_equal(value, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what is asked for, by whatever flavour, has all that it holds by value",
		      what_is_asked_for_has_all_that_it_holds),
		CLAIM("what it points to is left out, and so is all else",
		      what_it_points_to_is_left_out),
		CLAIM("tracepoints are known by their arguments, functions by name",
		      tracepoints_are_known_by_their_arguments),
		CLAIM("members of an enum have their values, and an unknown one changes nothing",
		      members_of_an_enum_have_their_values),
	};

	return cmocka_run_group_tests_name("io/kernel/programs", tests, open_stage, close_stage);
}
