// SPDX-License-Identifier: Apache-2.0
/* The words of graced-records(5) for what a record holds. */
#include "core/stop/record.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

const char *record_namespace(const struct record_pod *pod, const struct record_container *container)
{
	if (pod->known)
		return pod->namespace_;
	return container->known ? container->namespace_ : NULL;
}

const char *record_workload(const struct record_pod *pod, const struct record_container *container)
{
	if (pod->known)
		return pod->workload;
	return container->known ? container->workload : NULL;
}

const char *record_workload_kind(const struct record_pod *pod,
				 const struct record_container *container)
{
	if (pod->known)
		return pod->workload_kind;
	return container->known ? container->workload_kind : NULL;
}

const char *record_group_kind(enum meta_source source)
{
	if (source == META_DOCKER)
		return "compose";
	return source == META_PODMAN ? "quadlet" : NULL;
}

const char *record_before_exec(const struct record_stop *stop, uint64_t *ret_after_ns)
{
	uint64_t at_ns = stop->stop_signal.at_ns, start_ns = stop->process.start_ns;

	if (stop->reason != UNHEARD_BEFORE_EXEC || !start_ns || at_ns < start_ns)
		return NULL;
	for (size_t i = 0; i < RECORD_REQUESTS; i++) {
		const struct record_request *r = &stop->requests[i];

		if (!r->number || r->number != stop->stop_signal.number || r->at_ns != at_ns ||
		    !r->target_comm || !*r->target_comm)
			continue;
		*ret_after_ns = at_ns - start_ns;
		return r->target_comm;
	}
	return NULL;
}

const char *sender_kind_name(enum sender_kind kind)
{
	static const char *const names[] = {
		[SENDER_KERNEL] = "kernel",	  [SENDER_POD] = "pod",
		[SENDER_CONTAINER] = "container", [SENDER_SYSTEMD] = "systemd",
		[SENDER_KUBELET] = "kubelet",	  [SENDER_RUNTIME] = "runtime",
		[SENDER_HOST] = "host",		  [SENDER_GRACED] = "graced",
		[SENDER_UNKNOWN] = NULL,	  [SENDER_UNPLACED] = NULL,
	};

	return (unsigned int)kind < COUNT(names) ? names[kind] : "host";
}

const char *record_container_kind_name(enum record_container_kind kind)
{
	static const char *const names[] = {
		[CONTAINER_KIND_CONTAINER] = "container",
		[CONTAINER_KIND_SANDBOX] = "sandbox",
		[CONTAINER_KIND_SERVICE] = "service",
		[CONTAINER_KIND_PROCESS] = "process",
	};

	return (unsigned int)kind < COUNT(names) ? names[kind] : NULL;
}

const char *pod_trigger_name(enum pod_trigger trigger)
{
	static const char *const names[POD_TRIGGER_COUNT] = {
		[POD_LISTED] = "listed",
		[POD_STARTED] = "started",
		[POD_DELETION] = "deletion",
		[POD_PHASE] = "phase",
		[POD_EVICTED] = "evicted",
		[POD_PREEMPTED] = "preempted",
		[POD_NODE_SHUTDOWN] = "node-shutdown",
		[POD_DEADLINE] = "deadline",
		[POD_REMOVED] = "removed",
		[POD_STOP_SIGNAL] = "stop-signal",
		[POD_LAST_EXIT] = "last-exit",
		[POD_CGROUP_REMOVED] = "cgroup-removed",
		[POD_RESTART] = "restart",
	};

	return (unsigned int)trigger < COUNT(names) ? names[trigger] : NULL;
}

const char *boot_end_name(enum boot_end end)
{
	static const char *const names[BOOT_END_COUNT] = {
		[BOOT_END_UNKNOWN] = "unknown",
		[BOOT_END_CLEAN] = "clean",
		[BOOT_END_UNCLEAN] = "unclean",
	};

	return (unsigned int)end < COUNT(names) ? names[end] : NULL;
}

const char *boot_reason_name(enum boot_reason reason)
{
	static const char *const names[BOOT_REASON_COUNT] = {
		[BOOT_RELEASED] = "released",
		[BOOT_EMPTY] = "empty",
		[BOOT_STOPPED] = "stopped",
		[BOOT_LEFT] = "left",
		[BOOT_NOT_ANNOUNCED] = "not-announced",
		[BOOT_IN_SHUTDOWN] = "in-shutdown",
		[BOOT_AFTER_RELEASE] = "after-release",
		[BOOT_WENT_DOWN] = "went-down",
		[BOOT_GOING_DOWN] = "going-down",
	};

	return (unsigned int)reason < COUNT(names) ? names[reason] : NULL;
}

const char *boot_journal_name(enum boot_journal journal)
{
	static const char *const names[BOOT_JOURNAL_COUNT] = {
		[BOOT_JOURNAL_ABSENT] = "absent",
		[BOOT_JOURNAL_NO_END] = "no-end",
		[BOOT_JOURNAL_GOING_DOWN] = "going-down",
		[BOOT_JOURNAL_WENT_DOWN] = "went-down",
	};

	return (unsigned int)journal < BOOT_JOURNAL_COUNT ? names[journal] : NULL;
}

/* The numbers are the kernel's, include/trace/events/signal.h. */
const char *record_result_name(int32_t result)
{
	static const char *const names[] = {
		"delivered", "ignored", "already_pending", "overflow", "lost_info",
	};

	return result >= 0 && (size_t)result < COUNT(names) ? names[result] : "unknown";
}

enum record_container_kind record_container_kind_of(const struct cgpath *path, const char *name)
{
	if (path->kind == CGPATH_SANDBOX)
		return CONTAINER_KIND_SANDBOX;
	if (name || path->kind == CGPATH_CONTAINER_OUTSIDE)
		return CONTAINER_KIND_CONTAINER;
	return CONTAINER_KIND_UNKNOWN;
}

const char *ended_by_name(enum ended_by by)
{
	static const char *const names[ENDED_COUNT] = {
		[ENDED_ITSELF] = "itself",
		[ENDED_CONTAINER] = "container",
		[ENDED_PID_NAMESPACE] = "pid-namespace",
		[ENDED_OOM] = "oom",
		[ENDED_KERNEL] = "kernel",
		[ENDED_RUNTIME] = "runtime",
		[ENDED_HOST] = "host",
	};

	return by < ENDED_COUNT ? names[by] : NULL;
}

const char *via_name(enum via_how how)
{
	static const char *const names[VIA_COUNT] = {
		[VIA_PASSED_ON] = "status-passed-on",
		[VIA_INFERRED] = "inferred",
	};

	return how < VIA_COUNT ? names[how] : NULL;
}

const char *disposition_name(enum disposition disposition)
{
	static const char *const names[DISPOSITION_COUNT] = {
		[DISPOSITION_HANDLER] = "handler",
		[DISPOSITION_DEFAULT] = "default",
		[DISPOSITION_IGNORED] = "ignored",
		[DISPOSITION_BLOCKED] = "blocked",
	};

	return disposition < DISPOSITION_COUNT ? names[disposition] : NULL;
}
