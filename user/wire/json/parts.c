// SPDX-License-Identifier: Apache-2.0
/* The objects that JSON lines are made of. */
#include "wire/json/parts.h"

#include <stdio.h>

#include "base/signame.h"
#include "base/time.h"
#include "core/kubelet/node_failure.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

void record_parts_time(struct buf *out, const char *key, uint64_t at_ns)
{
	if (at_ns)
		jsonw_u64(out, key, at_ns);
	else
		jsonw_null(out, key);
}

void record_parts_pod(struct buf *out, const char *key, const struct record_pod *pod)
{
	if (!pod->known) {
		jsonw_null(out, key);
		return;
	}
	jsonw_object(out, key);
	jsonw_str(out, "namespace", pod->namespace_);
	jsonw_str(out, "name", pod->name);
	jsonw_str(out, "uid", pod->uid);
	jsonw_str(out, "qos", cgpath_qos_name(pod->qos));
	jsonw_bool(out, "static", pod->is_static);
	jsonw_str(out, "workload", pod->workload);
	jsonw_str(out, "workload_kind", pod->workload_kind);
	jsonw_object_end(out);
}

void record_parts_container(struct buf *out, const char *key,
			    const struct record_container *container)
{
	if (!container->known) {
		jsonw_null(out, key);
		return;
	}
	jsonw_object(out, key);
	jsonw_str(out, "name", container->name);
	jsonw_str(out, "id", container->id);
	/* Its name is "unknown" elsewhere; here what is not known is null. */
	jsonw_str(out, "runtime",
		  container->runtime == CGPATH_RT_UNKNOWN
			  ? NULL
			  : cgpath_runtime_name(container->runtime));
	jsonw_str(out, "kind", record_container_kind_name(container->kind));
	jsonw_str(out, "cgroup", container->cgroup);
	jsonw_str(out, "image", container->image);
	if (container->attempt_known)
		jsonw_u64(out, "attempt", container->attempt);
	else
		jsonw_null(out, "attempt");
	jsonw_str(out, "namespace", container->namespace_);
	jsonw_str(out, "workload", container->workload);
	jsonw_str(out, "workload_kind", container->workload_kind);
	jsonw_object_end(out);
}

static void add_pid(struct buf *out, const char *key, uint32_t pid)
{
	if (pid)
		jsonw_u64(out, key, pid);
	else
		jsonw_null(out, key);
}

void record_parts_process(struct buf *out, const struct record_process *process)
{
	add_pid(out, "pid", process->pid);
	add_pid(out, "ns_pid", process->ns_pid);
	jsonw_str(out, "comm", process->comm);
}

void record_parts_sender(struct buf *out, const char *key, const struct record_sender *sender)
{
	if (sender->kind == SENDER_UNKNOWN) {
		jsonw_null(out, key);
		return;
	}
	jsonw_object(out, key);
	/* 0 is a process here: a signal may come from an interrupt on an idle CPU. */
	jsonw_u64(out, "pid", sender->process.pid);
	jsonw_str(out, "comm", sender->process.comm);
	jsonw_array(out, "ancestors");
	for (int i = 0; i < GRACED_ANCESTORS && sender->ancestors[i]; i++)
		jsonw_str(out, NULL, sender->ancestors[i]);
	jsonw_array_end(out);
	record_parts_pod(out, "pod", &sender->pod);
	record_parts_container(out, "container", &sender->container);
	jsonw_str(out, "cgroup", sender->cgroup);
	jsonw_str(out, "kind", sender_kind_name(sender->kind));
	jsonw_object_end(out);
}

void record_parts_signal(struct buf *out, uint32_t number, int32_t result)
{
	char name[SIGNAME_SIZE];

	jsonw_u64(out, "number", number);
	jsonw_str(out, "name", signame_format(number, name));
	jsonw_str(out, "result", record_result_name(result));
}

void record_parts_sigref(struct buf *out, const char *key, const struct record_sigref *sigref)
{
	if (!sigref->known) {
		jsonw_null(out, key);
		return;
	}
	jsonw_object(out, key);
	record_parts_signal(out, sigref->number, sigref->result);
	record_parts_time(out, "at_boot_ns", sigref->at_ns);
	record_parts_sender(out, "sender", &sigref->sender);
	jsonw_object_end(out);
}

/* status is what wait(2) would return: 7 bits of signal, one of core dump, 8 of code. */
void record_parts_exit(struct buf *out, const char *key, const struct record_exit *exit)
{
	uint32_t signal = exit->status & 0x7f;

	jsonw_object(out, key);
	if (exit->reported)
		jsonw_i64(out, "code", exit->code);
	else if (exit->known && !signal)
		jsonw_u64(out, "code", exit->status >> 8 & 0xff);
	else
		jsonw_null(out, "code");
	if (exit->known) {
		jsonw_u64(out, "signal", signal);
		jsonw_bool(out, "core_dumped", signal && exit->status & 0x80);
	} else {
		jsonw_null(out, "signal");
		jsonw_null(out, "core_dumped");
	}
	record_parts_time(out, "at_boot_ns", exit->known ? exit->at_ns : 0);
	jsonw_object_end(out);
}

void record_parts_tri(struct buf *out, const char *key, enum record_tri value)
{
	if (value == TRI_UNKNOWN)
		jsonw_null(out, key);
	else
		jsonw_bool(out, key, value == TRI_TRUE);
}
