// SPDX-License-Identifier: Apache-2.0
/* Looks at containers, sandboxes and gates and says what a pod's conditions are. */
#include "core/kubelet/condition.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

static struct podobj_condition condition(const char *type, bool status, const char *reason)
{
	return (struct podobj_condition){
		.type = type,
		.status = status ? "True" : "False",
		.reason = reason,
		.message = "",
	};
}

static bool is_phase(const char *phase, enum meta_phase is)
{
	return strcmp(phase, meta_phase_name(is)) == 0;
}

struct podobj_condition podcond_over(const char *type, const char *phase)
{
	return condition(type, false,
			 is_phase(phase, META_PHASE_FAILED) ? "PodFailed" : "PodCompleted");
}

struct names {
	struct buf text;
	size_t n;
};

/* Those with no status, and those whose status says no. */
struct lists {
	struct names unknown, lacking;
};

static void add_name(struct names *names, const char *name)
{
	if (names->n++ > 0)
		buf_addc(&names->text, ' ');
	buf_adds(&names->text, name);
}

/* "containers with unknown status: [a b], containers with unready status: [c]", and a condition
 * that says so; *ret stays as it is when both lists are empty. */
static int say_lists(struct lists *lists, const char *lacking, const char *reason,
		     struct arena *arena, struct podobj_condition *ret)
{
	_cleanup_(buf_free) struct buf text = {};

	if (lists->unknown.n > 0)
		buf_printf(&text, "containers with unknown status: [%s]",
			   buf_str(&lists->unknown.text));
	if (lists->lacking.n > 0)
		buf_printf(&text, "%scontainers with %s status: [%s]", text.len > 0 ? ", " : "",
			   lacking, buf_str(&lists->lacking.text));
	if (buf_error(&lists->unknown.text) || buf_error(&lists->lacking.text) || buf_error(&text))
		return -ENOMEM;
	if (text.len == 0)
		return 0;
	*ret = condition(ret->type, false, reason);
	ret->message = arena_strndup(arena, text.data, text.len);
	return ret->message ? 0 : -ENOMEM;
}

static void free_lists(struct lists *lists)
{
	buf_free(&lists->unknown.text);
	buf_free(&lists->lacking.text);
}

static void check_ready(const struct podobj_statuses *statuses, const char *name,
			struct lists *lists)
{
	const struct podobj_status *status = podobj_status_of(statuses, name);

	if (!status)
		add_name(&lists->unknown, name);
	else if (!status->ready)
		add_name(&lists->lacking, name);
}

int podcond_containers_ready(const struct kubelet_in *in, struct arena *arena,
			     struct podobj_condition *ret)
{
	_cleanup_(free_lists) struct lists lists = {};
	const struct podobj_pod *pod = in->pod;

	*ret = condition(PODCOND_CONTAINERS_READY, true, "");
	if (in->inits.absent && in->containers.absent) {
		*ret = condition(ret->type, false, "UnknownContainerStatuses");
		return 0;
	}
	for (size_t i = 0; i < pod->inits.n; i++) {
		if (podobj_is_sidecar(&pod->inits.items[i]))
			check_ready(&in->inits, pod->inits.items[i].name, &lists);
	}
	for (size_t i = 0; i < pod->containers.n; i++)
		check_ready(&in->containers, pod->containers.items[i].name, &lists);
	if ((is_phase(in->phase, META_PHASE_FAILED) && in->rules.failed_unready) ||
	    (is_phase(in->phase, META_PHASE_SUCCEEDED) && lists.unknown.n == 0)) {
		*ret = podcond_over(ret->type, in->phase);
		return 0;
	}
	return say_lists(&lists, "unready", "ContainersNotReady", arena, ret);
}

static void check_gate(const struct kubelet_in *in, const char *gate, struct buf *text)
{
	const struct podobj_condition *found = podobj_condition_of(&in->gates, gate);

	if (found && strcmp(found->status, "True") == 0)
		return;
	if (text->len > 0)
		buf_adds(text, ", ");
	if (found)
		buf_printf(text, "the status of pod readiness gate \"%s\" is not \"True\", but %s",
			   gate, found->status);
	else
		buf_printf(text,
			   "corresponding condition of pod readiness gate \"%s\" does not exist.",
			   gate);
}

int podcond_ready(const struct kubelet_in *in, struct arena *arena, struct podobj_condition *ret)
{
	_cleanup_(buf_free) struct buf text = {};
	int r = podcond_containers_ready(in, arena, ret);

	ret->type = PODCOND_READY;
	if (r < 0 || strcmp(ret->status, "True") != 0)
		return r;
	for (size_t i = 0; i < in->pod->n_gates; i++)
		check_gate(in, in->pod->gates[i], &text);
	if (buf_error(&text))
		return -ENOMEM;
	if (text.len == 0)
		return 0;
	*ret = condition(ret->type, false, "ReadinessGatesNotReady");
	ret->message = arena_strndup(arena, text.data, text.len);
	return ret->message ? 0 : -ENOMEM;
}

static bool any_started(const struct kubelet_in *in)
{
	for (size_t i = 0; i < in->pod->containers.n; i++) {
		const struct podobj_status *status =
			podobj_status_of(&in->containers, in->pod->containers.items[i].name);

		if (status && (status->state.kind == PODOBJ_RUNNING ||
			       status->state.kind == PODOBJ_TERMINATED))
			return true;
	}
	return false;
}

static void check_complete(const struct kubelet_in *in, struct lists *lists)
{
	for (size_t i = 0; i < in->pod->inits.n; i++) {
		const struct podobj_container *init = &in->pod->inits.items[i];
		const struct podobj_status *status = podobj_status_of(&in->inits, init->name);
		bool sidecar = podobj_is_sidecar(init);

		if (!status)
			add_name(&lists->unknown, init->name);
		else if (sidecar ? !podobj_is_started(status) : !status->ready)
			add_name(&lists->lacking, init->name);
	}
}

/* A pod that is restarted in place stays initialized. */
int podcond_initialized(const struct kubelet_in *in, struct arena *arena,
			struct podobj_condition *ret)
{
	_cleanup_(free_lists) struct lists lists = {};

	*ret = condition(PODCOND_INITIALIZED, true, "");
	if (in->inits.absent && in->containers.absent && in->pod->inits.n > 0) {
		*ret = condition(ret->type, false, "UnknownContainerStatuses");
		return 0;
	}
	check_complete(in, &lists);
	if (is_phase(in->phase, META_PHASE_SUCCEEDED) && lists.unknown.n == 0) {
		ret->reason = "PodCompleted";
		return 0;
	}
	if (any_started(in))
		return 0;
	if (in->rules.restart_all && podobj_condition_is_true(&in->former, ret->type))
		return 0;
	return say_lists(&lists, "incomplete", "ContainersNotInitialized", arena, ret);
}

/* As for PodSandboxChanged in pkg/kubelet/kuberuntime/util/util.go: a second ready sandbox is one
 * too many, and both go. */
struct podobj_condition podcond_ready_to_start(const struct podcond_sandbox *sandboxes, size_t n,
					       bool host_network)
{
	const struct podcond_sandbox *latest = NULL;
	size_t ready = 0;

	for (size_t i = 0; i < n; i++) {
		ready += sandboxes[i].ready;
		if (!latest || sandboxes[i].attempt > latest->attempt)
			latest = &sandboxes[i];
	}
	return condition(PODCOND_READY_TO_START,
			 latest && latest->ready && ready == 1 && (host_network || latest->has_ip),
			 "");
}

static bool list_may_restart_all(const struct podobj_containers *list)
{
	for (size_t i = 0; i < list->n; i++) {
		for (size_t j = 0; j < list->items[i].n_rules; j++) {
			if (list->items[i].rules[j].action == PODOBJ_RESTART_ALL)
				return true;
		}
	}
	return false;
}

bool podcond_may_restart_all(const struct podobj_pod *pod)
{
	return list_may_restart_all(&pod->inits) || list_may_restart_all(&pod->containers);
}

/* Adds what the runtime has of these containers: whether one exited so that all are to be
 * restarted, and whether any is there still. */
static void check_records(const struct podobj_containers *list,
			  const struct ctrstatus_record *records, size_t n, bool *asked, bool *any)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct ctrstatus_record *record =
			ctrstatus_newest(records, n, list->items[i].name);
		const struct podobj_rule *rule;

		if (!record)
			continue;
		*any = true;
		if (record->state != CTRSTATUS_EXITED)
			continue;
		rule = podphase_rule_for(&list->items[i], record->exit_code);
		*asked |= rule && rule->action == PODOBJ_RESTART_ALL;
	}
}

struct podobj_condition podcond_restarting_all(const struct kubelet_in *in,
					       const struct ctrstatus_record *records, size_t n)
{
	struct podobj_condition ret = condition(PODCOND_RESTARTING_ALL, false, "");
	bool asked = podobj_condition_is_true(&in->former, PODCOND_RESTARTING_ALL), any = false;

	if (podobj_phase_is_terminal(in->phase))
		return podcond_over(PODCOND_RESTARTING_ALL, in->phase);
	check_records(&in->pod->inits, records, n, &asked, &any);
	check_records(&in->pod->containers, records, n, &asked, &any);
	if (!asked || !any)
		return ret;
	ret = condition(PODCOND_RESTARTING_ALL, true, "RestartAllContainersStarted");
	ret.message = "container exited with restart policy rule";
	return ret;
}

bool podcond_is_kubelets(const char *type)
{
	static const char *const types[] = {
		PODCOND_READY,	       PODCOND_CONTAINERS_READY, PODCOND_INITIALIZED,
		PODCOND_SCHEDULED,     PODCOND_READY_TO_START,	 PODCOND_RESTARTING_ALL,
		"PodResizeInProgress", "PodResizePending",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i], type) == 0)
			return true;
	}
	return false;
}
