// SPDX-License-Identifier: Apache-2.0
/* The table of recorded members. Names are for good: a recording outlives the program. Adding a
 * member is free as long as zero means that it is not there. */
#include "wire/recording/recording.h"

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

#define COUNTS_AS(prefix, member)                                                             \
	UINT(prefix "exits", member.exits), UINT(prefix "kills", member.kills),               \
		UINT(prefix "collateral", member.collateral),                                 \
		UINT(prefix "oom_kills", member.oom_kills), UINT(prefix "lost", member.lost), \
		UINT(prefix "suppressed", member.suppressed),                                 \
		UINT(prefix "suppressed_sigs", member.suppressed_sigs)
#define COUNTS(member) COUNTS_AS("", member)

#define STAT(prefix, index)                                    \
	UINT(prefix "_emitted", lost.totals[index].emitted),   \
		UINT(prefix "_lost", lost.totals[index].lost), \
		UINT(prefix "_suppressed", lost.totals[index].suppressed)

static const struct rec_field ATTACHED[] = {
	STRING("boot_id", attached.boot_id),
	STRING("node", attached.node),
	STRING("hierarchy", attached.hierarchy),
	INT("wall_offset_ns", attached.wall_offset_ns),
	UINT("self_pid", attached.self_pid),
	UINT("programs", attached.programs),
	BOOL("reaps", attached.reaps),
	STRING("self_container", attached.self_container),
	STRING("self_cgroup", attached.self_cgroup),
};

static const struct rec_field CGROUP[] = {
	UINT("id", cgroup.id),
	UINT("parent_id", cgroup.parent_id),
	UINT("kind", cgroup.kind),
	UINT("level", cgroup.level),
	UINT("delegated_level", cgroup.delegated_level),
	STRING("path", cgroup.path),
};

static const struct rec_field EMPTY[] = {UINT("id", empty.id), COUNTS(empty.counts),
					 UINT("kind", empty.kind), UINT("owner_id", empty.owner_id),
					 UINT("left_pid", empty.left_pid)};

static const struct rec_field INIT[] = {
	UINT("id", init.id),
	UINT("lost", init.lost),
	UINT("suppressed", init.suppressed),
	UINT("rank", init.rank),
	BOOL("late", init.late),
	PROC("", init.proc),
	UINT("keeper_pid", init.keeper_pid),
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
	UINT("id", exit.id),
	UINT("status", exit.status),
	UINT("flags", exit.flags),
	UINT("stop_at_ns", exit.stop_at_ns),
	UINT("deliver_ns", exit.deliver_ns),
	UINT("exec_ns", exit.exec_ns),
	UINT("looked_at", exit.looked_at),
	UINT("caught", exit.caught),
	UINT("ignored", exit.ignored),
	UINT("blocked", exit.blocked),
	UINT("parent_pid", exit.parent_pid),
	UINT("others_missed", exit.others_missed),
	PROC("", exit.proc),
	COUNTS(exit.counts),
};

static const struct rec_field OOM[] = {
	UINT("id", oom.id),   UINT("level_id", oom.level_id), UINT("flags", oom.flags),
	PROC("", oom.victim), UINT("limit", oom.limit),	      UINT("level_limit", oom.level_limit),
};

static const struct rec_field READ_COUNTS[] = {
	UINT("id", counts.id),	   BOOL("populated", counts.populated),
	BOOL("pid1", counts.pid1), BOOL("looked", counts.looked),
	COUNTS(counts.counts),	   UINT("told_at_ns", counts.told_at_ns),
};

static const struct rec_field PROBE[] = {
	UINT("id", probe.id),
	UINT("pid", probe.pid),
	UINT("start_ns", probe.start_ns),
	BOOL("alive", probe.alive),
	BOOL("held", probe.held),
	PROC("holder_", probe.holder),
	PROC("holder_parent_", probe.holder_parent),
};

static const struct rec_field LOOK[] = {
	UINT("id", look.id),
	UINT("begin_ns", look.begin_ns),
	PROC("", look.proc),
	UINT("tid", look.tid),
	UINT("parent_pid", look.parent_pid),
	UINT("state", look.state),
	UINT("cpu_ns", look.cpu_ns),
	UINT("ignored", look.ignored),
	UINT("caught", look.caught),
	UINT("blocked", look.blocked),
	BOOL("waits", look.waits),
	UINT("call", look.call),
	STRING("wchan", look.wchan),
	STRING("file", look.file),
	UINT("reader_pid", look.reader_pid),
	STRING("reader_comm", look.reader_comm),
	UINT("tracer_pid", look.tracer_pid),
	UINT("clients", look.clients),
	UINT("port", look.port),
};

static const struct rec_field LOOKED[] = {
	UINT("id", looked.id),
	UINT("begin_ns", looked.begin_ns),
	BOOL("failed", looked.failed),
	BOOL("more", looked.more),
	BOOL("waits", looked.waits),
	BOOL("unread", looked.unread),
	BOOL("frozen", looked.frozen),
	UINT("throttled_ns", looked.figures.throttled_ns),
	UINT("forks_failed", looked.figures.forks_failed),
	UINT("memory_stalled_ns", looked.figures.memory_stalled_ns),
	UINT("io_stalled_ns", looked.figures.io_stalled_ns),
	UINT("pids_max", looked.figures.pids_max),
};

static const struct rec_field NO_INIT[] = {
	UINT("id", no_init.id),
};

static const struct rec_field NAMES[] = {
	UINT("id", names.id),
	STRING("pod_uid", names.pod_uid),
	STRING("container_id", names.container_id),
	STRING("namespace", names.namespace_),
	STRING("pod", names.pod),
	STRING("container", names.container),
	BOOL("found", names.found),
	BOOL("more", names.more),
	BOOL("failed", names.failed),
	BOOL("shed", names.shed),
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
	STAT("reaped", GRACED_EV_REAPED),
	STAT("taken", GRACED_EV_TAKEN),
	STAT("watch_full", GRACED_STAT_WATCH_FULL),
	STAT("quota", GRACED_STAT_QUOTA),
	STAT("too_deep", GRACED_STAT_TOO_DEEP),
	UINT("recursion_misses", lost.recursion_misses),
};

static const struct rec_field CLOCK[] = {INT("wall_offset_ns", clock.wall_offset_ns)};

static const struct rec_field SHED[] = {UINT("id", shed.id), BOOL("on", shed.on)};

static const struct rec_field POD[] = {
	UINT("source", pod.source),
	UINT("known", pod.known),
	STRING("uid", pod.uid),
	STRING("namespace", pod.namespace_),
	STRING("name", pod.name),
	STRING("workload", pod.workload),
	UINT("grace_ns", pod.grace_ns),
	UINT("deletion_grace_ns", pod.deletion_grace_ns),
	INT("deleted_wall_ns", pod.deleted_wall_ns),
	INT("priority", pod.priority),
	BOOL("deleting", pod.deleting),
	BOOL("sidecars", pod.sidecars),
	BOOL("static", pod.is_static),
	BOOL("ready", pod.ready),
	UINT("qos", pod.qos),
	UINT("phase", pod.phase),
	UINT("restart_policy", pod.restart_policy),
	BOOL("gone", pod.gone),
	UINT("asked_ns", pod.asked_ns),
	UINT("end", pod.end),
	STRING("workload_kind", pod.workload_kind),
};

static const struct rec_field CONTAINER[] = {
	UINT("source", container.source),
	UINT("known", container.known),
	UINT("kind", container.kind),
	STRING("id", container.id),
	STRING("unit", container.unit),
	STRING("pod_uid", container.pod_uid),
	STRING("name", container.name),
	STRING("image", container.image),
	UINT("attempt", container.attempt),
	UINT("stop_signal", container.stop_signal),
	UINT("main_pid", container.main_pid),
	UINT("grace_ns", container.grace_ns),
	BOOL("prestop", container.prestop),
	BOOL("probe_grace", container.probe_grace),
	UINT("sidecar", container.sidecar),
	UINT("labels", container.labels),
	INT("exit_code", container.exit_code),
	STRING("exit_reason", container.exit_reason),
	INT("finished_wall_ns", container.finished_wall_ns),
	STRING("namespace", container.namespace_),
	STRING("workload", container.workload),
	BOOL("probe", container.probe),
	UINT("user", container.user),
};

static const struct rec_field TAKEN[] = {
	UINT("id", taken.id),	UINT("lost", taken.lost),   UINT("pid", taken.pid),
	UINT("sig", taken.sig), UINT("flags", taken.flags),
};

static const struct rec_field REAPED[] = {
	UINT("id", reaped.id),
	UINT("pid", reaped.pid),
	UINT("start_ns", reaped.start_ns),
};

static const struct rec_field IDENTITY[] = {
	UINT("id", identity.id),
	UINT("runtime", identity.runtime),
	STRING("container_id", identity.container_id),
};

static const struct rec_field LISTED[] = {
	UINT("asked_ns", listed.asked_ns),
	UINT("source", listed.source),
};

static const struct rec_field KEPT[] = {
	UINT("version", kept.version),
	STRING("boot_id", kept.boot_id),
	BOOL("all", kept.all),
};

static const struct rec_field KEPT_CGROUP[] = {
	UINT("id", kept_cgroup.id),
	UINT("runtime", kept_cgroup.runtime),
	BOOL("populated", kept_cgroup.populated),
	BOOL("entered", kept_cgroup.entered),
	STRING("container_id", kept_cgroup.container_id),
	UINT("delegated_level", kept_cgroup.delegated_level),
	STRING("path", kept_cgroup.path),
};

static const struct rec_field KEPT_STOP[] = {
	UINT("id", kept_stop.id),
	BOOL("over", kept_stop.over),
	UINT("state", kept_stop.state),
	UINT("rank", kept_stop.rank),
	PROC("", kept_stop.init),
	BOOL("guessed", kept_stop.guessed),
	BOOL("late", kept_stop.late),
	BOOL("init_unseen", kept_stop.init_unseen),
	BOOL("deaf", kept_stop.deaf),
	UINT("request_sigs", kept_stop.request_sigs),
	UINT("request_suppressed", kept_stop.request_suppressed),
	STRING("last_from", kept_stop.last_from),
	BOOL("oom_victim", kept_stop.oom_victim),
	UINT("oom", kept_stop.oom),
	BOOL("exit_seen", kept_stop.exit_seen),
	UINT("status", kept_stop.status),
	UINT("exit_ns", kept_stop.exit_ns),
	UINT("abort_ns", kept_stop.abort_ns),
	UINT("fault_ns", kept_stop.fault_ns),
#define SEEN(kind, type, name) kind(#name, kept_stop.name),
	STOP_SEEN(SEEN) UINT("unsure_ns", kept_stop.unsure_ns),
	COUNTS_AS("base_", kept_stop.base),
	COUNTS(kept_stop.counts),
	UINT("forwards", kept_stop.forward.count),
	UINT("forward_number", kept_stop.forward.number),
	INT("forward_result", kept_stop.forward.result),
	UINT("forward_ns", kept_stop.forward.at_ns),
	PROC("forward_", kept_stop.forward.to),
	BOOL("takes_others", kept_stop.takes_others),
	BOOL("told_unnamed", kept_stop.reported_unnamed),
	BOOL("record_lost", kept_stop.record_lost),
	BOOL("shed", kept_stop.shed),
	BOOL("restarted", kept_stop.restarted),
	BOOL("blind", kept_stop.blind),
	UINT("hearing", kept_stop.hearing),
	UINT("given_ns", kept_stop.given_ns),
	BOOL("given_unknown", kept_stop.given_unknown),
	UINT("since_ns", kept_stop.since_ns),
	BOOL("not_reaped", kept_stop.not_reaped),
	BOOL("moved", kept_stop.moved),
	BOOL("again", kept_stop.again),
};

static const struct rec_field KEPT_SIGNAL[] = {
	UINT("id", kept_signal.id),
	BOOL("kill", kept_signal.kill),
	BOOL("inside", kept_signal.inside),
	UINT("number", kept_signal.number),
	INT("result", kept_signal.result),
	UINT("flags", kept_signal.flags),
	UINT("signal_ns", kept_signal.at_ns),
	UINT("kind", kept_signal.kind),
	UINT("relation", kept_signal.relation),
	PROC("", kept_signal.sender),
	STRING("parent1_comm", kept_signal.ancestors[0]),
	STRING("parent2_comm", kept_signal.ancestors[1]),
	STRING("parent3_comm", kept_signal.ancestors[2]),
	STRING("parent4_comm", kept_signal.ancestors[3]),
	UINT("numbers", kept_signal.numbers),
	UINT("suppressed", kept_signal.suppressed),
	UINT("hearing", kept_signal.hearing),
	BOOL("deaf", kept_signal.deaf),
	UINT("taken_ns", kept_signal.taken_ns),
	UINT("dropped_ns", kept_signal.dropped_ns),
	BOOL("passed", kept_signal.passed),
	BOOL("inferred", kept_signal.inferred),
	UINT("exec_ns", kept_signal.exec_ns),
	UINT("n_others", kept_signal.n_others),
	STRING("target_comm", kept_signal.target_comm),
	BOOL("other", kept_signal.other),
	UINT("mind_pid", kept_signal.mind_pid),
	UINT("mind_start_ns", kept_signal.mind_start_ns),
};

static const struct rec_field KEPT_POD[] = {
	STRING("uid", kept_pod.uid),
	BOOL("over", kept_pod.over),
	UINT("qos", kept_pod.qos),
	BOOL("static", kept_pod.is_static),
	BOOL("listed", kept_pod.listed),
	BOOL("was_listed", kept_pod.was_listed),
	UINT("known", kept_pod.reported.known),
	UINT("phase", kept_pod.reported.phase),
	UINT("end", kept_pod.reported.end),
	BOOL("deleting", kept_pod.reported.deleting),
	UINT("grace_ns", kept_pod.reported.grace_ns),
	UINT("deletion_grace_ns", kept_pod.reported.deletion_grace_ns),
	INT("deleted_wall_ns", kept_pod.reported.deleted_wall_ns),
	UINT("stage", kept_pod.life.stage),
	UINT("told", kept_pod.published),
	UINT("trigger", kept_pod.trigger),
	UINT("empty_why", kept_pod.empty_why),
	UINT("trigger_ns", kept_pod.trigger_ns),
	UINT("first_ns", kept_pod.first_ns),
	UINT("since_ns", kept_pod.since_ns),
	UINT("terminating_ns", kept_pod.terminating_ns),
	UINT("concluded_ns", kept_pod.concluded_ns),
	BOOL("held", kept_pod.held),
	BOOL("by_kernel", kept_pod.by_kernel),
	BOOL("orphan", kept_pod.is_orphan),
	UINT("stop_ns", kept_pod.stop_ns),
	UINT("exit_ns", kept_pod.exit_ns),
	UINT("empty_ns", kept_pod.empty_ns),
	UINT("removed_ns", kept_pod.removed_ns),
	BOOL("empty_seen", kept_pod.empty_seen),
	BOOL("cgroups_over", kept_pod.cgroups_over),
	UINT("unready_ns", kept_pod.truth.unready_ns),
	UINT("gone_ns", kept_pod.truth.gone_ns),
	UINT("told_stop_ns", kept_pod.truth.stop_ns),
	UINT("ready", kept_pod.truth.ready),
	BOOL("measured", kept_pod.truth.measured),
	UINT("open", kept_pod.truth.open),
	UINT("doubt1_ns", kept_pod.truth.since_ns[0]),
	UINT("doubt2_ns", kept_pod.truth.since_ns[1]),
	UINT("doubt3_ns", kept_pod.truth.since_ns[2]),
	UINT("synced_ns", kept_pod.life.synced_ns),
	UINT("started_ns", kept_pod.life.started_ns),
	UINT("worker_terminating_ns", kept_pod.life.terminating_ns),
	UINT("worker_terminated_ns", kept_pod.life.terminated_ns),
	INT("grace_s", kept_pod.life.grace_s),
	BOOL("deleted", kept_pod.life.deleted),
	BOOL("restart_requested", kept_pod.life.restart_requested),
	UINT("ready_ns", kept_pod.truth.ready_ns),
	UINT("heard_ns", kept_pod.truth.heard_ns),
	BOOL("between", kept_pod.between),
	BOOL("terminating_between", kept_pod.terminating_between),
	BOOL("lost", kept_pod.truth.lost),
	BOOL("seen_in_shutdown", kept_pod.seen_in_shutdown),
	UINT("given_until_ns", kept_pod.given_until_ns),
};

static const struct rec_field KEPT_RUN[] = {
	UINT("announced_ns", kept_run.announced_ns),
	UINT("lost_ns", kept_run.lost_ns),
	BOOL("units_stopped", kept_run.units_stopped),
	BOOL("handed_over", kept_run.handed_over),
	UINT("group", kept_run.group),
	UINT("group_ns", kept_run.group_ns),
	BOOL("kubelet_held", kept_run.kubelet_held),
};

static const struct rec_field KEPT_TURN[] = {
	UINT("id", kept_turn.id),
	UINT("begun_ns", kept_turn.begun_ns),
	INT("grace_s", kept_turn.grace_s),
	UINT("end_ns", kept_turn.end_ns),
	UINT("given_ns", kept_turn.given_ns),
	UINT("stop_ns", kept_turn.stop_ns),
	UINT("hook_ns", kept_turn.hook_ns),
	UINT("asked_ns", kept_turn.asked_ns),
	UINT("killed_ns", kept_turn.killed_ns),
	BOOL("hooked", kept_turn.hooked),
	BOOL("failed", kept_turn.failed),
};

static const struct rec_field KEPT_EXIT[] = {
	STRING("container_id", kept_exit.id),
	STRING("pod_uid", kept_exit.pod_uid),
	BOOL("seen", kept_exit.seen),
	BOOL("static", kept_exit.is_static),
	UINT("status", kept_exit.status),
	UINT("exit_ns", kept_exit.at_ns),
	UINT("start_ns", kept_exit.start_ns),
	INT("wall_ns", kept_exit.wall_ns),
	BOOL("oom_victim", kept_exit.oom_victim),
	BOOL("oom_beside", kept_exit.oom_beside),
	BOOL("oom_sure", kept_exit.oom_sure),
	BOOL("compared", kept_exit.compared),
	BOOL("again", kept_exit.again),
	UINT("runtime", kept_exit.runtime),
	UINT("qos", kept_exit.qos),
	UINT("differs", kept_exit.differs),
};

_Static_assert(KEPT_POD_DOUBTS == 3, "one UINT() for each doubt");

#define RANGE(n)                                                           \
	INT("range" #n "_priority", shutdown_plan.ranges[n - 1].priority), \
		INT("range" #n "_seconds", shutdown_plan.ranges[n - 1].seconds)

static const struct rec_field SHUTDOWN_PLAN[] = {
	UINT("mode", shutdown_plan.mode),
	UINT("overdue_slack_ns", shutdown_plan.overdue_slack_ns),
	UINT("status_wait_ns", shutdown_plan.status_wait_ns),
	UINT("deaf_grace_ns", shutdown_plan.deaf_grace_ns),
	BOOL("two_phases", shutdown_plan.two_phases),
	BOOL("volumes", shutdown_plan.volumes),
	BOOL("statuses", shutdown_plan.statuses),
	BOOL("taint", shutdown_plan.taint),
	BOOL("unschedulable", shutdown_plan.unschedulable),
	BOOL("stops_kubelet", shutdown_plan.stops_kubelet),
	UINT("n_ranges", shutdown_plan.n_ranges),
	RANGE(1),
	RANGE(2),
	RANGE(3),
	RANGE(4),
	RANGE(5),
	RANGE(6),
	RANGE(7),
	RANGE(8),
	RANGE(9),
	RANGE(10),
	RANGE(11),
	RANGE(12),
	RANGE(13),
	RANGE(14),
	RANGE(15),
	RANGE(16),
};

_Static_assert(OBS_RANGES_MAX == 16, "one RANGE() for each group");

#define HOLDER(n)                                                      \
	STRING("holder" #n, shutdown.holders[n - 1].who),              \
		UINT("holder" #n "_uid", shutdown.holders[n - 1].uid), \
		UINT("holder" #n "_pid", shutdown.holders[n - 1].pid)

static const struct rec_field SHUTDOWN[] = {
	UINT("event", shutdown.event),
	UINT("announced_ns", shutdown.announced_ns),
	UINT("limit_ns", shutdown.limit_ns),
	BOOL("no_delay", shutdown.no_delay),
	UINT("action", shutdown.action),
	BOOL("by_hand", shutdown.by_hand),
	UINT("id", shutdown.id),
	STRING("pod_uid", shutdown.pod_uid),
	BOOL("failed", shutdown.failed),
	BOOL("reachable", shutdown.reachable),
	BOOL("static", shutdown.is_static),
	BOOL("absent", shutdown.absent),
	UINT("result", shutdown.result),
	UINT("n_holders", shutdown.n_holders),
	HOLDER(1),
	HOLDER(2),
	HOLDER(3),
	HOLDER(4),
	HOLDER(5),
	HOLDER(6),
	HOLDER(7),
	HOLDER(8),
	HOLDER(9),
	HOLDER(10),
	HOLDER(11),
	HOLDER(12),
	HOLDER(13),
	HOLDER(14),
	HOLDER(15),
	HOLDER(16),
};

_Static_assert(SHUTDOWN_MAX_HOLDERS == 16, "one HOLDER() for each");

static const struct rec_field VOLUME[] = {
	UINT("event", volume.event),	 BOOL("failed", volume.failed),
	BOOL("lives", volume.lives),	 UINT("id", volume.id),
	UINT("device", volume.device),	 STRING("pod_uid", volume.pod_uid),
	STRING("plugin", volume.plugin), STRING("driver", volume.driver),
	STRING("volume", volume.volume),
};

static const struct rec_field SHUTDOWN_RULE[] = {
	UINT("scope", shutdown_rule.scope),
	INT("priority", shutdown_rule.priority),
	STRING("unit", shutdown_rule.unit),
	STRING("label", shutdown_rule.label),
};

#define NAMED(type) .name = "\"" type "\"", .name_len = sizeof("\"" type "\"") - 1

#define LAYOUT(type, table, member)                                        \
	{                                                                  \
		NAMED(type), .fields = table, .count = COUNT(table),       \
			     .blank_offset = offsetof(struct obs, member), \
			     .blank_size = sizeof(MEMBER(member))          \
	}

/* A path is cleared by its first byte: 4 KiB a line would cost more than all the rest. */
#define PATH_LAYOUT(type, table, member, of)                               \
	{                                                                  \
		NAMED(type), .fields = table, .count = COUNT(table),       \
			     .blank_offset = offsetof(struct obs, member), \
			     .blank_size = offsetof(of, path) + 1          \
	}
#define CGROUP_LAYOUT(type) PATH_LAYOUT(type, CGROUP, cgroup, struct obs_cgroup)

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
	[OBS_NO_INIT] = LAYOUT("no_init", NO_INIT, no_init),
	[OBS_NAMES] = LAYOUT("names", NAMES, names),
	[OBS_LOST] = LAYOUT("lost", LOST, lost),
	[OBS_CLOCK] = LAYOUT("clock", CLOCK, clock),
	[OBS_TIMER] = {NAMED("timer")},
	[OBS_END] = {NAMED("end")},
	[OBS_SHED] = LAYOUT("shed", SHED, shed),
	[OBS_POD] = LAYOUT("pod", POD, pod),
	[OBS_CONTAINER] = LAYOUT("container", CONTAINER, container),
	[OBS_REAPED] = LAYOUT("reaped", REAPED, reaped),
	[OBS_TAKEN] = LAYOUT("taken", TAKEN, taken),
	[OBS_IDENTITY] = LAYOUT("identity", IDENTITY, identity),
	[OBS_LISTED] = LAYOUT("listed", LISTED, listed),
	[OBS_SHUTDOWN_PLAN] = LAYOUT("shutdown_plan", SHUTDOWN_PLAN, shutdown_plan),
	[OBS_SHUTDOWN] = LAYOUT("shutdown", SHUTDOWN, shutdown),
	[OBS_VOLUME] = LAYOUT("volume", VOLUME, volume),
	[OBS_SHUTDOWN_RULE] = LAYOUT("shutdown_rule", SHUTDOWN_RULE, shutdown_rule),
	[OBS_LOOK] = LAYOUT("look", LOOK, look),
	[OBS_LOOKED] = LAYOUT("looked", LOOKED, looked),
	[OBS_KEPT] = LAYOUT("kept", KEPT, kept),
	[OBS_KEPT_CGROUP] =
		PATH_LAYOUT("kept_cgroup", KEPT_CGROUP, kept_cgroup, struct kept_cgroup),
	[OBS_KEPT_STOP] = LAYOUT("kept_stop", KEPT_STOP, kept_stop),
	[OBS_KEPT_SIGNAL] = LAYOUT("kept_signal", KEPT_SIGNAL, kept_signal),
	[OBS_KEPT_POD] = LAYOUT("kept_pod", KEPT_POD, kept_pod),
	[OBS_KEPT_RUN] = LAYOUT("kept_run", KEPT_RUN, kept_run),
	[OBS_KEPT_TURN] = LAYOUT("kept_turn", KEPT_TURN, kept_turn),
	[OBS_KEPT_EXIT] = LAYOUT("kept_exit", KEPT_EXIT, kept_exit),
};

_Static_assert(COUNT(SIGNAL) <= REC_FIELDS_MAX && COUNT(LOST) <= REC_FIELDS_MAX &&
		       COUNT(KEPT_STOP) <= REC_FIELDS_MAX && COUNT(KEPT_POD) <= REC_FIELDS_MAX &&
		       COUNT(SHUTDOWN) <= REC_FIELDS_MAX,
	       "a reader marks the fields it has seen in two words");

const struct rec_layout *rec_layout(enum obs_type type)
{
	if ((unsigned int)type >= OBS_TYPE_COUNT || !rec_layouts[type].name)
		return NULL;
	return &rec_layouts[type];
}
