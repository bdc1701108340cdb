// SPDX-License-Identifier: Apache-2.0
/* The members of pods, containers, processes, senders, signals, exits and evidence. */
#include "wire/json/rows.h"

#include <errno.h>

#include "wire/json/writer.h"

#define CORE_DUMPED 0x80

WORDS(gap, gap, enum gap, GAP_COUNT)
WORDS(grace_from, grace_from, enum grace_from, GRACE_FROM_COUNT)
WORDS(qos, cgpath_qos, enum cgpath_qos, CGPATH_QOS_BESTEFFORT + 1)
WORDS(container_kind, record_container_kind, enum record_container_kind, CONTAINER_KIND_PROCESS + 1)
WORDS(sender_kind, sender_kind, enum sender_kind, SENDER_UNKNOWN)
WORDS(result, record_result, int32_t, RESULT_UNKNOWN + 1)
WORDS(wait_for, wait_for, enum wait_for, WAIT_FOR_COUNT)
WORDS(look_call, look_call, enum look_call, LOOK_CALL_COUNT)

/* Its name is "unknown" elsewhere; here what is not known is null. */
static const char *runtime_word(unsigned int runtime)
{
	return runtime == CGPATH_RT_UNKNOWN ? NULL
					    : cgpath_runtime_name((enum cgpath_runtime)runtime);
}

static const struct member_words runtime_words = {runtime_word, CGPATH_RT_ECS + 1};

/* --- pods, containers, processes, senders ------------------------------------------------------ */

const struct member parts_pod[] = {
	TEXT(struct record_pod, "namespace", namespace_),
	TEXT(struct record_pod, "name", name),
	TEXT(struct record_pod, "uid", uid),
	WORD(struct record_pod, "qos", qos, qos),
	BOOL(struct record_pod, "static", is_static),
	TEXT(struct record_pod, "workload", workload),
	TEXT(struct record_pod, "workload_kind", workload_kind),
	MEMBERS_END,
};

const struct member parts_container[] = {
	TEXT(struct record_container, "name", name),
	TEXT(struct record_container, "id", id),
	WORD(struct record_container, "runtime", runtime, runtime, .none = CGPATH_RT_UNKNOWN),
	WORD(struct record_container, "kind", kind, container_kind),
	TEXT(struct record_container, "cgroup", cgroup),
	TEXT(struct record_container, "image", image),
	UINT(struct record_container, "attempt", attempt,
	     KNOWN(struct record_container, attempt_known)),
	TEXT(struct record_container, "namespace", namespace_),
	TEXT(struct record_container, "workload", workload),
	TEXT(struct record_container, "workload_kind", workload_kind),
	MEMBERS_END,
};

const struct member parts_process[] = {
	UINT(struct record_process, "pid", pid, OPTIONAL),
	UINT(struct record_process, "ns_pid", ns_pid, OPTIONAL),
	TEXT(struct record_process, "comm", comm),
	MEMBERS_END,
};

const struct member parts_init[] = {
	INLINE(struct record_process, pid, parts_process),
	UINT(struct record_process, "start_boot_ns", start_ns, OPTIONAL),
	MEMBERS_END,
};

const struct member parts_named[] = {
	UINT(struct record_process, "pid", pid),
	TEXT(struct record_process, "comm", comm),
	MEMBERS_END,
};

/* 0 is a process here: a signal may come from an interrupt on an idle CPU. */
const struct member parts_sending[] = {
	UINT(struct record_process, "pid", pid),
	UINT(struct record_process, "ns_pid", ns_pid, OPTIONAL),
	TEXT(struct record_process, "comm", comm),
	MEMBERS_END,
};

const struct member parts_sender[] = {
	INLINE(struct record_sender, process, parts_sending),
	TEXTS(struct record_sender, "ancestors", ancestors),
	POD(struct record_sender, pod),
	CONTAINER(struct record_sender, container),
	TEXT(struct record_sender, "cgroup", cgroup),
	WORD(struct record_sender, "kind", kind, sender_kind, .none = SENDER_UNPLACED),
	MEMBERS_END,
};

const struct member parts_sigref[] = {
	SIGNAL(struct record_sigref, number),
	RESULT(struct record_sigref, result),
	UINT(struct record_sigref, "at_boot_ns", at_ns, OPTIONAL),
	SENDER(struct record_sigref, sender),
	MEMBERS_END,
};

/* --- exits ------------------------------------------------------------------------------------- */

/* What wait(2) would return: 7 bits of signal, one of core dump, 8 of code. */
static void write_code(struct buf *out, const struct member *m, const void *object)
{
	const struct record_exit *exit = object;

	if (exit->reported)
		jsonw_i64(out, m->key, exit->code);
	else if (exit->known && !(exit->status & 0x7f))
		jsonw_u64(out, m->key, exit->status >> 8 & 0xff);
	else
		jsonw_null(out, m->key);
}

static int read_code(const struct member *m, const json_t *value, void *object)
{
	struct record_exit *exit = object;
	json_int_t code = json_integer_value(value);

	if (!json_is_integer(value) || code < 0 || code > UINT32_MAX)
		return -EBADMSG;
	exit->reported = true;
	exit->code = (int32_t)code;
	return 0;
}

static void write_exit_signal(struct buf *out, const struct member *m, const void *object)
{
	jsonw_u64(out, m->key, ((const struct record_exit *)object)->status & 0x7f);
}

/* An exit that was seen: the code is a part of its status. */
static int read_exit_signal(const struct member *m, const json_t *value, void *object)
{
	struct record_exit *exit = object;
	json_int_t signal = json_integer_value(value);

	if (!json_is_integer(value) || signal < 0 || signal > 0x7f)
		return -EBADMSG;
	exit->status = (uint32_t)signal | ((uint32_t)exit->code & 0xff) << 8;
	exit->known = true;
	exit->reported = false;
	exit->code = 0;
	return 0;
}

static void write_core(struct buf *out, const struct member *m, const void *object)
{
	uint32_t status = ((const struct record_exit *)object)->status;

	jsonw_bool(out, m->key, status & 0x7f && status & CORE_DUMPED);
}

static int read_core(const struct member *m, const json_t *value, void *object)
{
	struct record_exit *exit = object;

	if (exit->known && json_is_true(value))
		exit->status |= CORE_DUMPED;
	return 0;
}

const struct member parts_exited[] = {
	DERIVED(struct record_exit, "code", code, write_code, READ(read_code)),
	DERIVED(struct record_exit, "signal", status, write_exit_signal,
		KNOWN(struct record_exit, known), READ(read_exit_signal)),
	DERIVED(struct record_exit, "core_dumped", status, write_core,
		KNOWN(struct record_exit, known), READ(read_core)),
	UINT(struct record_exit, "at_boot_ns", at_ns, KNOWN(struct record_exit, known), OPTIONAL),
	MEMBERS_END,
};

/* --- grace, evidence --------------------------------------------------------------------------- */

const struct member parts_grace[] = {
	SECONDS(struct grace, "seconds", ns),
	WORD(struct grace, "from", from, grace_from),
	MEMBERS_END,
};

bool parts_has_grace(const struct member *m, const void *object)
{
	return grace_known((const struct grace *)((const char *)object + m->at));
}

static void write_complete(struct buf *out, const struct member *m, const void *object)
{
	jsonw_bool(out, m->key, *(const uint32_t *)object == 0);
}

/* Evidence that is not complete for a reason that is not known would be taken for complete. */
int parts_check_evidence(const struct member *m, const json_t *value, void *object)
{
	uint32_t gaps = *(const uint32_t *)((const char *)object + m->at);

	return gaps || json_is_true(json_object_get(value, "complete")) ? 0 : -EBADMSG;
}

struct evidence {
	uint32_t gaps;
};

const struct member parts_evidence[] = {
	DERIVED(struct evidence, "complete", gaps, write_complete),
	BITS(struct evidence, "gaps", gaps, gap, FIELD("GRACED_GAPS")),
	MEMBERS_END,
};

/* --- what a stop waited for ------------------------------------------------------------------- */

static const struct member peer[] = {
	UINT(struct wait, "pid", peer_pid),
	CHARS(struct wait, "comm", peer_comm, OPTIONAL),
	MEMBERS_END,
};

const struct member parts_wait[] = {
	WORD(struct wait, "what", what, wait_for),
	UINT(struct wait, "at_boot_ns", at_ns, OPTIONAL),
	UINT(struct wait, "looks", looks),
	UINT(struct wait, "pid", pid, OPTIONAL),
	UINT(struct wait, "ns_pid", ns_pid, OPTIONAL),
	CHARS(struct wait, "comm", comm, OPTIONAL),
	WORD(struct wait, "call", call, look_call),
	CHARS(struct wait, "wchan", wchan, OPTIONAL),
	CHARS(struct wait, "file", file, OPTIONAL),
	WITHIN("peer", peer, UNLESS(struct wait, peer_pid, 0)),
	UINT(struct wait, "port", port, OPTIONAL),
	UINT(struct wait, "count", count, OPTIONAL),
	UINT(struct wait, "limit", limit, OPTIONAL),
	UINT(struct wait, "time_ns", time_ns, OPTIONAL),
	MEMBERS_END,
};
