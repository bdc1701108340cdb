// SPDX-License-Identifier: Apache-2.0
/* The table of recorded members. Names are for good: a recording outlives the program. Adding a
 * member is free as long as zero means that it is not there. */
#include "wire/rec_fields.h"

#define COUNT(table)   (sizeof(table) / sizeof((table)[0]))
#define MEMBER(member) ((struct obs *)NULL)->member

#define FIELD(name, member, type)                                                             \
	{                                                                                     \
		.key = "\"" name "\":", .key_len = sizeof("\"" name "\":") - 1, .kind = type, \
		.offset = offsetof(struct obs, member), .size = sizeof(MEMBER(member))        \
	}
#define UINT(name, member)   FIELD(name, member, REC_UINT)
#define INT(name, member)    FIELD(name, member, REC_INT)
#define BOOL(name, member)   FIELD(name, member, REC_BOOL)
#define STRING(name, member) FIELD(name, member, REC_STRING)

#define PROC(prefix, member)                                                                  \
	UINT(prefix "pid", member.pid), UINT(prefix "ns_pid", member.ns_pid),                 \
		UINT(prefix "uid", member.uid), UINT(prefix "start_ns", member.start_ns),     \
		UINT(prefix "cgroup_id", member.cgroup_id),                                   \
		UINT(prefix "watch_id", member.watch_id), STRING(prefix "comm", member.comm), \
		STRING(prefix "exe", member.exe)

#define COUNTS(member)                                                                      \
	UINT("exits", member.exits), UINT("kills", member.kills),                           \
		UINT("collateral", member.collateral), UINT("oom_kills", member.oom_kills), \
		UINT("lost", member.lost), UINT("suppressed", member.suppressed),           \
		UINT("suppressed_sigs", member.suppressed_sigs)

#define STAT(prefix, index)                                    \
	UINT(prefix "_emitted", lost.totals[index].emitted),   \
		UINT(prefix "_lost", lost.totals[index].lost), \
		UINT(prefix "_suppressed", lost.totals[index].suppressed)

static const struct rec_field ATTACHED[] = {
	STRING("boot_id", attached.boot_id),	 STRING("node", attached.node),
	STRING("hierarchy", attached.hierarchy), INT("wall_offset_ns", attached.wall_offset_ns),
	UINT("self_pid", attached.self_pid),	 UINT("programs", attached.programs),
};

static const struct rec_field CGROUP[] = {
	UINT("id", cgroup.id),	     UINT("parent_id", cgroup.parent_id), UINT("kind", cgroup.kind),
	UINT("level", cgroup.level), STRING("path", cgroup.path),
};

static const struct rec_field EMPTY[] = {UINT("id", empty.id), COUNTS(empty.counts)};

static const struct rec_field INIT[] = {
	UINT("id", init.id),	 UINT("lost", init.lost), UINT("suppressed", init.suppressed),
	UINT("rank", init.rank), PROC("", init.proc),
};

static const struct rec_field SIGNAL[] = {
	UINT("id", signal.id),
	UINT("lost", signal.lost),
	UINT("suppressed", signal.suppressed),
	UINT("sig", signal.sig),
	INT("result", signal.result),
	INT("code", signal.code),
	UINT("flags", signal.flags),
	UINT("target_pidns", signal.target_pidns),
	UINT("sender_pidns", signal.sender_pidns),
	PROC("target_", signal.target),
	PROC("sender_", signal.sender),
	PROC("parent1_", signal.ancestors[0]),
	PROC("parent2_", signal.ancestors[1]),
	PROC("parent3_", signal.ancestors[2]),
	PROC("parent4_", signal.ancestors[3]),
};

_Static_assert(GRACED_ANCESTORS == 4, "one PROC() for each ancestor");

static const struct rec_field EXIT[] = {
	UINT("id", exit.id), UINT("status", exit.status), UINT("flags", exit.flags),
	PROC("", exit.proc), COUNTS(exit.counts),
};

static const struct rec_field OOM[] = {
	UINT("id", oom.id),
	UINT("level_id", oom.level_id),
	UINT("flags", oom.flags),
	PROC("", oom.victim),
};

static const struct rec_field READ_COUNTS[] = {
	UINT("id", counts.id),
	BOOL("populated", counts.populated),
	COUNTS(counts.counts),
};

static const struct rec_field PROBE[] = {
	UINT("id", probe.id),
	UINT("pid", probe.pid),
	UINT("start_ns", probe.start_ns),
	BOOL("alive", probe.alive),
};

static const struct rec_field NAMES[] = {
	STRING("pod_uid", names.pod_uid),      STRING("container_id", names.container_id),
	STRING("namespace", names.namespace_), STRING("pod", names.pod),
	STRING("container", names.container),  BOOL("found", names.found),
};

static const struct rec_field LOST[] = {
	STAT("none", GRACED_EV_NONE),
	STAT("cgroup_new", GRACED_EV_CGROUP_NEW),
	STAT("cgroup_gone", GRACED_EV_CGROUP_GONE),
	STAT("cgroup_empty", GRACED_EV_CGROUP_EMPTY),
	STAT("init", GRACED_EV_INIT),
	STAT("signal", GRACED_EV_SIGNAL),
	STAT("exit", GRACED_EV_EXIT),
	STAT("oom", GRACED_EV_OOM),
	STAT("watch_full", GRACED_STAT_WATCH_FULL),
	STAT("quota", GRACED_STAT_QUOTA),
	STAT("too_deep", GRACED_STAT_TOO_DEEP),
	UINT("recursion_misses", lost.recursion_misses),
};

static const struct rec_field CLOCK[] = {INT("wall_offset_ns", clock.wall_offset_ns)};

static const struct rec_field SHED[] = {UINT("id", shed.id), BOOL("on", shed.on)};

#define NAMED(type) .name = "\"" type "\"", .name_len = sizeof("\"" type "\"") - 1

#define LAYOUT(type, table, member)                                        \
	{                                                                  \
		NAMED(type), .fields = table, .count = COUNT(table),       \
			     .blank_offset = offsetof(struct obs, member), \
			     .blank_size = sizeof(MEMBER(member))          \
	}

/* A path is cleared by its first byte: 4 KiB a line would cost more than all the rest. */
#define CGROUP_LAYOUT(type)                                                      \
	{                                                                        \
		NAMED(type), .fields = CGROUP, .count = COUNT(CGROUP),           \
			     .blank_offset = offsetof(struct obs, cgroup),       \
			     .blank_size = offsetof(struct obs_cgroup, path) + 1 \
	}

const struct rec_layout rec_layouts[OBS_TYPE_COUNT] = {
	[OBS_ATTACHED] = LAYOUT("attached", ATTACHED, attached),
	[OBS_CGROUP_NEW] = CGROUP_LAYOUT("cgroup_new"),
	[OBS_CGROUP_FOUND] = CGROUP_LAYOUT("cgroup_found"),
	[OBS_CGROUP_GONE] = LAYOUT("cgroup_gone", EMPTY, empty),
	[OBS_CGROUP_EMPTY] = LAYOUT("cgroup_empty", EMPTY, empty),
	[OBS_INIT] = LAYOUT("init", INIT, init),
	[OBS_SIGNAL] = LAYOUT("signal", SIGNAL, signal),
	[OBS_EXIT] = LAYOUT("exit", EXIT, exit),
	[OBS_OOM] = LAYOUT("oom", OOM, oom),
	[OBS_COUNTS] = LAYOUT("counts", READ_COUNTS, counts),
	[OBS_PROBE] = LAYOUT("probe", PROBE, probe),
	[OBS_NAMES] = LAYOUT("names", NAMES, names),
	[OBS_LOST] = LAYOUT("lost", LOST, lost),
	[OBS_CLOCK] = LAYOUT("clock", CLOCK, clock),
	[OBS_TIMER] = {NAMED("timer")},
	[OBS_END] = {NAMED("end")},
	[OBS_SHED] = LAYOUT("shed", SHED, shed),
};

_Static_assert(COUNT(SIGNAL) <= REC_FIELDS_MAX && COUNT(LOST) <= REC_FIELDS_MAX,
	       "a reader marks the fields it has seen in one word");

const struct rec_layout *rec_layout(enum obs_type type)
{
	if ((unsigned int)type >= OBS_TYPE_COUNT || !rec_layouts[type].name)
		return NULL;
	return &rec_layouts[type];
}
