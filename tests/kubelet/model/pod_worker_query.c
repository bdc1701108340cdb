// SPDX-License-Identifier: Apache-2.0
/* What others ask the pod worker (tests/kubelet/README.md, "Pod worker queries"), and the words of
 * its enums. */
#include <string.h>

#include "kubelet/model/pod_worker_priv.h"

/* What is not known is, once the worker has heard of all pods, known not to be there. */
static bool has_synced(const struct podworker *pw)
{
	return pw->epoch > 0;
}

const struct podworker_status *podworker_status(const struct podworker *pw, const char *uid)
{
	const struct podworker_record *rec = podworker_find(pw, uid);

	return rec ? &rec->status : NULL;
}

enum podworker_state podworker_state(const struct podworker_status *status)
{
	if (status->terminated_ns)
		return PODWORKER_STATE_TERMINATED;
	return status->terminating_ns ? PODWORKER_STATE_TERMINATING : PODWORKER_STATE_SYNC;
}

bool podworker_is_known_terminated(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s && s->terminated_ns;
}

bool podworker_could_have_running_containers(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s ? !s->terminated_ns : !has_synced(pw);
}

bool podworker_should_be_finished(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s ? s->finished : has_synced(pw);
}

bool podworker_is_termination_requested(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s && s->terminating_ns;
}

bool podworker_should_containers_be_terminating(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s ? s->started_terminating : has_synced(pw);
}

bool podworker_should_runtime_be_removed(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s ? s->terminated_ns != 0 : has_synced(pw);
}

bool podworker_should_content_be_removed(const struct podworker *pw, const char *uid)
{
	const struct podworker_status *s = podworker_status(pw, uid);

	return s ? s->evicted || (s->deleted && s->terminated_ns) : has_synced(pw);
}

bool podworker_is_mirror_terminating(const struct podworker *pw, const char *fullname)
{
	const struct podworker_name *name = podworker_name_find(pw, fullname);
	const struct podworker_status *s =
		name && name->started[0] ? podworker_status(pw, name->started) : NULL;

	return s && s->terminating_ns && !s->terminated_ns;
}

const char *podworker_type_name(enum podworker_type type)
{
	static const char *const names[] = {
		[PODWORKER_SYNC] = "sync",
		[PODWORKER_UPDATE] = "update",
		[PODWORKER_CREATE] = "create",
		[PODWORKER_KILL] = "kill",
	};

	return (unsigned int)type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}

const char *podworker_state_name(enum podworker_state state)
{
	static const char *const names[PODWORKER_STATE_COUNT] = {
		[PODWORKER_STATE_SYNC] = "sync",
		[PODWORKER_STATE_TERMINATING] = "terminating",
		[PODWORKER_STATE_TERMINATED] = "terminated",
	};

	return (unsigned int)state < PODWORKER_STATE_COUNT ? names[state] : NULL;
}

const char *podworker_call_name(enum podworker_call_kind kind)
{
	static const char *const names[PODWORKER_CALL_COUNT] = {
		[PODWORKER_CALL_SYNC_POD] = "SyncPod",
		[PODWORKER_CALL_TERMINATING_POD] = "SyncTerminatingPod",
		[PODWORKER_CALL_TERMINATING_RUNTIME_POD] = "SyncTerminatingRuntimePod",
		[PODWORKER_CALL_TERMINATED_POD] = "SyncTerminatedPod",
	};

	return (unsigned int)kind < PODWORKER_CALL_COUNT ? names[kind] : NULL;
}
