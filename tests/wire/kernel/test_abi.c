// SPDX-License-Identifier: Apache-2.0
/* Claims about include/graced/event.h: both halves lay it out alike. The kernel half's layout is
 * read from the type information of abi.bpf.o, which lies beside this program or where ABI_OBJECT
 * says. */
#include <bpf/btf.h>
#include <errno.h>
#include <libgen.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graced/event.h"
#include "lib/claim.h"

struct member {
	const char *of;
	const char *name;
	size_t offset;
	size_t size;
};

#define MEMBER(type, member)                                   \
	{                                                      \
#type, #member, offsetof(struct type, member), \
			sizeof(((struct type *)NULL)->member)  \
	}

static const struct {
	const char *name;
	size_t size;
} STRUCTS[] = {
#define STRUCT(type)                       \
	{                                  \
#type, sizeof(struct type) \
	}
	STRUCT(graced_hdr),	  STRUCT(graced_counts),   STRUCT(graced_proc),
	STRUCT(graced_ev_cgroup), STRUCT(graced_ev_empty), STRUCT(graced_ev_init),
	STRUCT(graced_ev_signal), STRUCT(graced_ev_exit),  STRUCT(graced_ev_oom),
	STRUCT(graced_ev_reaped), STRUCT(graced_watch),	   STRUCT(graced_init),
	STRUCT(graced_reap),	  STRUCT(graced_stat),	   STRUCT(graced_ev_signal_full),
	STRUCT(graced_step),	  STRUCT(graced_cost),	   STRUCT(graced_ev_taken),
};

static const struct member MEMBERS[] = {
	MEMBER(graced_hdr, abi),
	MEMBER(graced_hdr, type),
	MEMBER(graced_hdr, size),
	MEMBER(graced_hdr, at_ns),
	MEMBER(graced_hdr, watch_id),
	MEMBER(graced_hdr, lost),
	MEMBER(graced_hdr, suppressed),
	MEMBER(graced_counts, exits),
	MEMBER(graced_counts, kills),
	MEMBER(graced_counts, collateral),
	MEMBER(graced_counts, oom_kills),
	MEMBER(graced_counts, lost),
	MEMBER(graced_counts, suppressed),
	MEMBER(graced_counts, suppressed_sigs),
	MEMBER(graced_proc, start_ns),
	MEMBER(graced_proc, cgroup_id),
	MEMBER(graced_proc, watch_id),
	MEMBER(graced_proc, pid),
	MEMBER(graced_proc, ns_pid),
	MEMBER(graced_proc, uid),
	MEMBER(graced_proc, pad),
	MEMBER(graced_proc, comm),
	MEMBER(graced_proc, exe),
	MEMBER(graced_ev_cgroup, hdr),
	MEMBER(graced_ev_cgroup, parent_id),
	MEMBER(graced_ev_cgroup, kind),
	MEMBER(graced_ev_cgroup, level),
	MEMBER(graced_ev_cgroup, name),
	MEMBER(graced_ev_cgroup, delegated_level),
	MEMBER(graced_ev_cgroup, pad),
	MEMBER(graced_ev_empty, hdr),
	MEMBER(graced_ev_empty, counts),
	MEMBER(graced_ev_empty, owner_id),
	MEMBER(graced_ev_empty, kind),
	MEMBER(graced_ev_empty, left_pid),
	MEMBER(graced_ev_init, hdr),
	MEMBER(graced_ev_init, proc),
	MEMBER(graced_ev_init, rank),
	MEMBER(graced_ev_init, flags),
	MEMBER(graced_ev_init, keeper_pid),
	MEMBER(graced_ev_init, pad),
	MEMBER(graced_ev_signal, hdr),
	MEMBER(graced_ev_signal, sig),
	MEMBER(graced_ev_signal, result),
	MEMBER(graced_ev_signal, code),
	MEMBER(graced_ev_signal, flags),
	MEMBER(graced_ev_signal, target_pidns),
	MEMBER(graced_ev_signal, sender_pidns),
	MEMBER(graced_ev_signal, target),
	MEMBER(graced_ev_signal, sender),
	MEMBER(graced_ev_signal, lineage),
	MEMBER(graced_ev_signal, turn),
	MEMBER(graced_ev_signal, full),
	MEMBER(graced_ev_signal, pad),
	MEMBER(graced_ev_signal_full, signal),
	MEMBER(graced_ev_signal_full, ancestors),
	MEMBER(graced_ev_exit, hdr),
	MEMBER(graced_ev_exit, status),
	MEMBER(graced_ev_exit, flags),
	MEMBER(graced_ev_exit, proc),
	MEMBER(graced_ev_exit, counts),
	MEMBER(graced_ev_exit, deliver_ns),
	MEMBER(graced_ev_exit, stop_at_ns),
	MEMBER(graced_ev_exit, exec_ns),
	MEMBER(graced_ev_exit, parent_pid),
	MEMBER(graced_ev_exit, others_missed),
	MEMBER(graced_ev_exit, looked_at),
	MEMBER(graced_ev_exit, caught),
	MEMBER(graced_ev_exit, ignored),
	MEMBER(graced_ev_exit, blocked),
	MEMBER(graced_ev_taken, hdr),
	MEMBER(graced_ev_taken, sig),
	MEMBER(graced_ev_taken, flags),
	MEMBER(graced_ev_taken, pid),
	MEMBER(graced_ev_taken, pad),
	MEMBER(graced_ev_reaped, hdr),
	MEMBER(graced_ev_reaped, start_ns),
	MEMBER(graced_ev_reaped, pid),
	MEMBER(graced_ev_reaped, pad),
	MEMBER(graced_ev_oom, hdr),
	MEMBER(graced_ev_oom, level_id),
	MEMBER(graced_ev_oom, flags),
	MEMBER(graced_ev_oom, pad),
	MEMBER(graced_ev_oom, victim),
	MEMBER(graced_ev_oom, limit),
	MEMBER(graced_ev_oom, level_limit),
	MEMBER(graced_watch, kind),
	MEMBER(graced_watch, level),
	MEMBER(graced_watch, owner_id),
	MEMBER(graced_watch, sigmask),
	MEMBER(graced_watch, oom_seen),
	MEMBER(graced_watch, oom_below),
	MEMBER(graced_watch, bucket_at_ns),
	MEMBER(graced_watch, bucket_left),
	MEMBER(graced_watch, oom_known),
	MEMBER(graced_watch, others_at_ns),
	MEMBER(graced_watch, others_left),
	MEMBER(graced_watch, others_missed),
	MEMBER(graced_watch, others_tick),
	MEMBER(graced_watch, counts),
	MEMBER(graced_watch, outside_at_ns),
	MEMBER(graced_watch, outside_left),
	MEMBER(graced_watch, stop_sig),
	MEMBER(graced_watch, reap_pid),
	MEMBER(graced_watch, delegated_level),
	MEMBER(graced_watch, told_at_ns),
	MEMBER(graced_watch, vain_at_ns),
	MEMBER(graced_watch, vain_left),
	MEMBER(graced_watch, vain_kills),
	MEMBER(graced_watch, since_ns),
	MEMBER(graced_watch, gone),
	MEMBER(graced_watch, charged),
	MEMBER(graced_watch, early_pid),
	MEMBER(graced_watch, populated),
	MEMBER(graced_watch, part),
	MEMBER(graced_watch, ending_pid),
	MEMBER(graced_init, start_ns),
	MEMBER(graced_init, pid),
	MEMBER(graced_init, rank),
	MEMBER(graced_init, stop_at_ns),
	MEMBER(graced_init, deliver_ns),
	MEMBER(graced_init, stop_sig),
	MEMBER(graced_init, await_sig),
	MEMBER(graced_init, forwards),
	MEMBER(graced_init, stop_inside),
	MEMBER(graced_init, recent_tick),
	MEMBER(graced_init, stage_pid),
	MEMBER(graced_init, takes),
	MEMBER(graced_init, until_ns),
	MEMBER(graced_init, exec_ns),
	MEMBER(graced_init, joined),
	MEMBER(graced_init, keeper_pid),
	MEMBER(graced_init, queued_own),
	MEMBER(graced_init, pidns),
	MEMBER(graced_init, pad),
	MEMBER(graced_reap, watch_id),
	MEMBER(graced_reap, start_ns),
	MEMBER(graced_stat, emitted),
	MEMBER(graced_stat, lost),
	MEMBER(graced_stat, suppressed),
	MEMBER(graced_step, part),
	MEMBER(graced_step, name),
	MEMBER(graced_cost, runs),
	MEMBER(graced_cost, run_ns),
	MEMBER(graced_cost, tick),
	MEMBER(graced_cost, began_ns),
	MEMBER(graced_cost, clock_ns),
};

static struct btf *BTF;

static int load(void **state)
{
	char path[4096] = "";
	const char *object = getenv("ABI_OBJECT");

	if (!object) {
		if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
			return -errno;
		dirname(path);
		strncat(path, "/kernel/abi.bpf.o", sizeof(path) - strlen(path) - 1);
		object = path;
	}
	BTF = btf__parse(object, NULL);
	if (!BTF)
		printf("# %s: %s\n", object, strerror(errno));
	return BTF ? 0 : -1;
}

static int unload(void **state)
{
	btf__free(BTF);
	return 0;
}

static const char *name_at(__u32 offset)
{
	return btf__name_by_offset(BTF, offset);
}

/* The next struct graced_* after id, 0 at the end. */
static __u32 next_struct(__u32 id)
{
	while (++id < btf__type_cnt(BTF)) {
		const struct btf_type *type = btf__type_by_id(BTF, id);

		if (btf_is_struct(type) && strncmp(name_at(type->name_off), "graced_", 7) == 0)
			return id;
	}
	return 0;
}

static const struct member *find_member(const char *of, const char *name)
{
	for (size_t i = 0; i < LEN(MEMBERS); i++) {
		if (strcmp(MEMBERS[i].of, of) == 0 && strcmp(MEMBERS[i].name, name) == 0)
			return &MEMBERS[i];
	}
	return NULL;
}

static void test_structs(void **state)
{
	size_t seen = 0;

	for (__u32 id = next_struct(0); id; id = next_struct(id)) {
		const struct btf_type *type = btf__type_by_id(BTF, id);
		const char *name = name_at(type->name_off);
		size_t i = 0;

		while (i < LEN(STRUCTS) && strcmp(STRUCTS[i].name, name) != 0)
			i++;
		if (i == LEN(STRUCTS))
			fail_msg("%s is not in this test", name);
		if (STRUCTS[i].size != type->size)
			fail_msg("%s: %zu bytes here, %u there", name, STRUCTS[i].size, type->size);
		seen++;
	}
	assert_int_equal(seen, LEN(STRUCTS));
}

static void check_member(const struct btf_type *type, unsigned int index)
{
	const struct btf_member *there = &btf_members(type)[index];
	const char *of = name_at(type->name_off), *name = name_at(there->name_off);
	const struct member *here = find_member(of, name);

	if (!here)
		fail_msg("%s.%s is not in this test", of, name);
	if (here->offset * 8 != btf_member_bit_offset(type, index))
		fail_msg("%s.%s: at %zu here, at %u there", of, name, here->offset,
			 btf_member_bit_offset(type, index) / 8);
	if (here->size != (size_t)btf__resolve_size(BTF, there->type))
		fail_msg("%s.%s: %zu bytes here, %lld there", of, name, here->size,
			 (long long)btf__resolve_size(BTF, there->type));
}

static void test_members(void **state)
{
	size_t seen = 0;

	for (__u32 id = next_struct(0); id; id = next_struct(id)) {
		const struct btf_type *type = btf__type_by_id(BTF, id);

		for (unsigned int i = 0; i < btf_vlen(type); i++)
			check_member(type, i);
		seen += btf_vlen(type);
	}
	assert_int_equal(seen, LEN(MEMBERS));
}

/* Padding that the compiler chose is padding that another compiler may choose otherwise. */
static void test_no_hidden_padding(void **state)
{
	for (__u32 id = next_struct(0); id; id = next_struct(id)) {
		const struct btf_type *type = btf__type_by_id(BTF, id);
		size_t end = 0;

		for (unsigned int i = 0; i < btf_vlen(type); i++) {
			const struct btf_member *member = &btf_members(type)[i];

			if (btf_member_bit_offset(type, i) != end * 8)
				fail_msg("%s: a hole before %s", name_at(type->name_off),
					 name_at(member->name_off));
			end += (size_t)btf__resolve_size(BTF, member->type);
		}
		if (end != type->size)
			fail_msg("%s: a hole at its end", name_at(type->name_off));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the kernel half has the structs of the user half, of the same size",
		      test_structs),
		CLAIM("every member is at the same place and of the same size in both",
		      test_members),
		CLAIM("no struct has padding that is not written down", test_no_hidden_padding),
	};

	return cmocka_run_group_tests_name("wire/kernel", tests, load, unload);
}
