// SPDX-License-Identifier: Apache-2.0
/* Why a pod has its phase and conditions, in sentences and as a JSON line. */
#include "wire/json/explain.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "core/kubelet/node_failure.h"
#include "wire/json/plan.h"
#include "wire/json/writer.h"

static const char *restart_words(enum podphase_restart by)
{
	switch (by) {
	case PODPHASE_BY_CONTAINER:
		return "its own restartPolicy";
	case PODPHASE_BY_RULE:
		return "its restartPolicyRules";
	case PODPHASE_BY_RESTARTED_ALL:
		return "the restart of all containers";
	default:
		return "the pod's restartPolicy";
	}
}

static void add_end(struct buf *out, const struct podobj_container_state *end)
{
	buf_printf(out, "exit %d%s%s", end->exit_code, *end->reason ? " " : "", end->reason);
}

/* Why each rule does not hold, while rules are tried one after another, unless why_not() knows of
 * another reason. */
static const char *const misses[PODPHASE_RULE_COUNT] = {
	[PODPHASE_RULE_INIT_FAILED] = "no init container failed for good",
	[PODPHASE_RULE_INIT_PENDING] = "no init container is still to be done",
	[PODPHASE_RULE_SIDECAR_PENDING] = "no sidecar is starting",
	[PODPHASE_RULE_WAITING] = "no container waits that never ran",
	[PODPHASE_RULE_RUNNING] = "no container runs",
	[PODPHASE_RULE_KILLED_SUCCEEDED] = "not all containers ended with 0",
	[PODPHASE_RULE_KILLED_FAILED] = "no container ended otherwise than with 0",
	[PODPHASE_RULE_RESTARTS] = "no container that ended is started again",
	[PODPHASE_RULE_SUCCEEDED] = "not all containers ended with 0",
	[PODPHASE_RULE_FAILED] = "no container ended otherwise than with 0",
	[PODPHASE_RULE_UNKNOWN] = "",
};

/* Why the rules of pods that were killed are passed over; NULL: they are not. */
static const char *why_not_killed(const struct explain *e)
{
	if (!e->killed)
		return "the pod was not killed";
	if (e->pod->is_static)
		return "a static pod stays as it is when it is killed";
	return podphase_rules_of(e->minor).terminal
		       ? NULL
		       : "a kubelet before 1.27 does not ask whether the pod was killed";
}

static const char *why_not(const struct explain *e, enum podphase_rule rule)
{
	const size_t *counts = e->by_containers.counts;
	const char *why = NULL;

	if (rule == PODPHASE_RULE_SIDECAR_PENDING && counts[PODPHASE_SIDECAR_PENDING])
		why = "a sidecar is starting, but a regular container has been started";
	else if (rule >= PODPHASE_RULE_RUNNING && counts[PODPHASE_UNKNOWN])
		why = "a container is unknown";
	else if (rule > PODPHASE_RULE_RUNNING && !counts[PODPHASE_STOPPED])
		why = "no container ended";
	else if (rule == PODPHASE_RULE_KILLED_SUCCEEDED || rule == PODPHASE_RULE_KILLED_FAILED)
		why = why_not_killed(e);
	return why ? why : misses[rule];
}

static void add_ended(struct buf *out, const struct explain_container *c, const char *then)
{
	buf_printf(out, "container %s ended (", c->container->name);
	if (c->view.end)
		add_end(out, c->view.end);
	buf_printf(out, ")%s", then);
}

/* The rule holds even of a pod that is being deleted or is over, where nothing is started. */
static void add_restart(struct buf *out, const struct explain *e, const struct explain_container *c)
{
	const char *is = e->pod->deleting ? "is being deleted" : "is over";
	bool restarts = false;

	if (c)
		add_ended(out, c, "");
	else
		buf_adds(out, "containers ended");
	if (e->pod->deleting || (c && explain_restart(e, c, &restarts) && !restarts))
		buf_printf(out, " and would be started again, but the pod %s", is);
	else
		buf_printf(out, " and %s started again by %s", c ? "is" : "are",
			   restart_words(c ? c->view.by : PODPHASE_BY_POD));
}

static void add_hit(struct buf *out, enum podphase_rule rule, const struct explain_container *c)
{
	const char *name = c->container->name;

	switch (rule) {
	case PODPHASE_RULE_INIT_FAILED:
		buf_adds(out, "init ");
		add_ended(out, c, " and is not started again");
		break;
	case PODPHASE_RULE_INIT_PENDING:
		buf_printf(out, "init container %s is still to be done", name);
		break;
	case PODPHASE_RULE_SIDECAR_PENDING:
		buf_printf(out, "sidecar %s is starting, and no regular container was started",
			   name);
		break;
	case PODPHASE_RULE_WAITING:
		buf_printf(out, "container %s waits and never ran", name);
		break;
	case PODPHASE_RULE_RUNNING:
		buf_printf(out, "container %s runs, and none is unknown", name);
		break;
	case PODPHASE_RULE_KILLED_FAILED:
		buf_adds(out, "the pod was killed, and ");
		add_ended(out, c, "");
		break;
	case PODPHASE_RULE_FAILED:
		add_ended(out, c, ", and none is started again");
		break;
	default:
		buf_printf(out, "nothing is known of container %s", name);
	}
}

void explain_words_rule(struct buf *out, const struct explain *e, enum podphase_rule rule)
{
	const struct explain_container *c = explain_because(e);

	if (rule != e->by_containers.rule)
		buf_adds(out, why_not(e, rule));
	else if (rule == PODPHASE_RULE_KILLED_SUCCEEDED)
		buf_adds(out, "the pod was killed, and all containers ended with 0");
	else if (rule == PODPHASE_RULE_SUCCEEDED)
		buf_adds(out, "all containers ended with 0, and none is started again");
	else if (rule == PODPHASE_RULE_RESTARTS)
		add_restart(out, e, c);
	else if (c)
		add_hit(out, rule, c);
	else
		buf_adds(out, "no container is known of");
}

void explain_words_state(struct buf *out, const struct explain_container *c)
{
	const struct podobj_status *status = c->status;

	if (!status) {
		buf_adds(out, "no status");
		return;
	}
	switch (status->state.kind) {
	case PODOBJ_WAITING:
		buf_printf(out, "waiting%s%s", *status->state.reason ? " " : "",
			   status->state.reason);
		break;
	case PODOBJ_RUNNING:
		buf_adds(out, "running");
		break;
	case PODOBJ_TERMINATED:
		add_end(out, &status->state);
		return;
	case PODOBJ_NONE:
		buf_adds(out, "no state");
		break;
	}
	if (status->last.kind == PODOBJ_TERMINATED) {
		buf_adds(out, " (");
		add_end(out, &status->last);
		buf_addc(out, ')');
	}
}

const char *explain_words_kind(const struct explain_container *c)
{
	if (c->ref.list == PODOBJ_EPHEMERALS)
		return "ephemeral";
	if (c->ref.list == PODOBJ_CONTAINERS)
		return "container";
	return c->sidecar ? "sidecar" : "init";
}

void explain_words_next(struct buf *out, const struct explain *e)
{
	static const char *const words[PODNEXT_COUNT] = {
		[PODNEXT_NOBODY] = "it has no controller: no other is made",
		[PODNEXT_KUBELET] = "a static pod: its node's kubelet alone starts it again",
		[PODNEXT_KEEPS] = "keeps it: it is neither over nor being deleted",
		[PODNEXT_REPLACES] = "makes another at once, and leaves this one alone",
		[PODNEXT_DELETES] = "deletes it, and makes another when it is gone",
		[PODNEXT_WAITS] = "makes another when this object is gone, not before",
		[PODNEXT_WAITS_ENDED] = "waits until it has failed, then makes another",
		[PODNEXT_SUCCEEDS] = "counts a completion",
		[PODNEXT_RETRIES] = "counts a failure, and makes another while backoffLimit allows",
		[PODNEXT_IGNORES] = "does not count it, and makes another",
		[PODNEXT_FAILS_INDEX] = "fails the pod's index for good",
		[PODNEXT_FAILS_JOB] = "fails the Job, and ends its other pods",
		[PODNEXT_UNKNOWN] = "not a controller of Kubernetes: not known",
	};

	if (*e->pod->owner.kind)
		buf_printf(out, "%s %s: ", e->pod->owner.kind, e->pod->owner.name);
	buf_adds(out, words[e->next]);
	if (e->next == PODNEXT_RETRIES && e->job)
		buf_printf(out, " (%lld, %lld failed so far)", (long long)e->job->backoff_limit,
			   (long long)e->job->failed);
}

void explain_words_match(struct buf *out, const struct explain *e)
{
	if (e->other_job) {
		const char *name = e->other_job->name;

		buf_printf(out, "none: the Job%s%s is not the pod's controller",
			   name && *name ? " " : "", name ? name : "");
		return;
	}
	if (!e->job || strcmp(e->status.phase, "Failed") != 0)
		return;
	if (!e->match.any) {
		buf_adds(out, "no rule matches");
		return;
	}
	buf_printf(out, "rules[%zu], %s: ", e->match.rule, jobpolicy_action_name(e->match.action));
	if (e->match.status)
		buf_printf(out, "container %s ended with %d", e->match.status->name,
			   e->match.status->state.exit_code);
	else
		buf_printf(out, "condition %s is %s", e->match.condition->type,
			   e->match.condition->status);
}

static const char *remover_of(const char *finalizer)
{
	static const struct {
		const char *finalizer, *remover;
	} known[] = {
		{"batch.kubernetes.io/job-tracking",
		 "the Job controller, once it has counted the pod"},
		{"foregroundDeletion", "the garbage collector, once what the pod owns is gone"},
		{"orphan", "the garbage collector, once what the pod owns has no owner"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].finalizer, finalizer) == 0)
			return known[i].remover;
	return "the controller that set it";
}

static void add_finalizer(struct buf *out, const struct explain *e, const char *finalizer)
{
	bool runs = explain_runs(e);

	buf_printf(out, "the finalizer %s %s until it is removed by %s", finalizer,
		   runs ? "will hold this object, when its containers have ended,"
			: "holds this object",
		   remover_of(finalizer));
	buf_adds(out, "; no kubelet and no grace period ends that. If that controller is gone, "
		      "remove it from metadata.finalizers by hand");
}

/* What confirms a deletion in place of the kubelet. */
static void add_ways_out(struct buf *out, const struct explain *e)
{
	buf_adds(out, "it ends when the kubelet answers again, when the Node object is deleted");
	if (nodefail_rules_of(e->minor).out_of_service)
		buf_adds(out, ", when a node that is off for good gets the taint "
			      "node.kubernetes.io/out-of-service");
	buf_adds(out, ", or by kubectl delete --force, which asks no node");
}

static void add_overdue(struct buf *out, const struct explain *e, bool silent)
{
	const char *node = e->pod->node;
	char late[DURATION_SIZE];

	duration_format((uint64_t)(e->overdue_ns - e->overdue_ns % NS_PER_S), late);
	buf_printf(out,
		   "the grace period has been over for %s, and the kubelet of %s has not "
		   "confirmed the deletion",
		   late, node);
	if (silent) {
		buf_adds(out,
			 ": the pod is marked unready as those of a node that does not answer; ");
		add_ways_out(out, e);
		return;
	}
	buf_printf(out,
		   ". This object does not show whether the node answers. If kubectl get node %s "
		   "shows NotReady, or the taint node.kubernetes.io/unreachable, ",
		   node);
	add_ways_out(out, e);
	buf_adds(out, ". If it shows Ready, graced pods shows on the node what still runs");
}

static void add_beside(struct buf *out, const struct explain *e, const struct explain_note *note)
{
	bool job = strcmp(e->pod->owner.kind, "Job") == 0;

	buf_printf(out, "container %s runs on, though container %s has ended for good (",
		   note->about, note->done);
	add_end(out, note->end);
	buf_printf(out, "): the pod%s is not over until each of its containers has ended",
		   job ? ", and with it the Job," : "");
	if (e->pod->deadline.set)
		buf_adds(out, ", or activeDeadlineSeconds have passed");
	buf_printf(out,
		   ". If %s only serves the others, it has to end by itself when they have, or be "
		   "an init container with restartPolicy Always (since 1.29), which the kubelet "
		   "ends",
		   note->about);
}

static void add_oom_child(struct buf *out, const struct explain_note *note)
{
	buf_printf(out,
		   "OOMKilled says that the OOM killer killed a process of container %s; exit %d "
		   "is that of PID 1",
		   note->about, note->end->exit_code);
	if (note->end->exit_code == 143)
		buf_adds(out, ", which SIGTERM ended or which passed the 143 of its child on");
	buf_adds(out,
		 ": the OOM killer, whose victims end by SIGKILL (137), did not end PID 1, but "
		 "another process, at any time of the container's life. Raise the memory limit, or "
		 "have that process use less; graced log names it");
}

static void add_scheduled(struct buf *out, const struct explain *e)
{
	buf_printf(out,
		   "PodScheduled is True as the kubelet writes it, of each pod that it has: no "
		   "scheduler has to have placed this one (%s). It stays as long as a kubelet "
		   "writes the pod's status",
		   e->pod->is_static ? "a static pod" : "spec.nodeName may have been set by hand");
}

void explain_words_note(struct buf *out, const struct explain *e, const struct explain_note *note)
{
	switch (note->topic) {
	case EXPLAIN_FINALIZER:
		add_finalizer(out, e, note->about);
		break;
	case EXPLAIN_BESIDE:
		add_beside(out, e, note);
		break;
	case EXPLAIN_OOM_CHILD:
		add_oom_child(out, note);
		break;
	case EXPLAIN_SCHEDULED:
		add_scheduled(out, e);
		break;
	default:
		add_overdue(out, e, note->topic == EXPLAIN_SILENT);
	}
}

/* The members of an explanation: the pod, its phase and the rules, containers, conditions, and what
 * comes next. */

static void add_rules(struct buf *out, const struct explain *e)
{
	jsonw_array(out, "rules");
	for (enum podphase_rule rule = 0; rule <= e->by_containers.rule; rule++) {
		_cleanup_(buf_free) struct buf why = {};

		explain_words_rule(&why, e, rule);
		jsonw_object(out, NULL);
		jsonw_str(out, "rule", podphase_rule_name(rule));
		jsonw_bool(out, "holds", rule == e->by_containers.rule);
		jsonw_str(out, "why", buf_str(&why));
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void add_phase(struct buf *out, const struct explain *e)
{
	const struct explain_container *because = explain_because(e);

	jsonw_object(out, "phase");
	jsonw_str(out, "value", e->status.phase);
	podobj_json_text(out, "reason", e->status.reason);
	podobj_json_text(out, "message", e->status.message);
	podobj_json_text(out, "api", e->pod->status.phase);
	jsonw_str(out, "from", explain_from_name(e->from));
	jsonw_str(out, "by_containers", meta_phase_name(e->by_containers.phase));
	jsonw_str(out, "rule", podphase_rule_name(e->by_containers.rule));
	jsonw_str(out, "container", because ? because->container->name : NULL);
	add_rules(out, e);
	jsonw_object_end(out);
}

static void add_counts(struct buf *out, uint32_t counts)
{
	jsonw_array(out, "counts_as");
	for (unsigned int i = 0; i < PODPHASE_COUNT_COUNT; i++) {
		if (counts >> i & 1)
			jsonw_str(out, NULL, podphase_count_name(i));
	}
	jsonw_array_end(out);
}

static void add_container(struct buf *out, const struct explain *e,
			  const struct explain_container *c)
{
	_cleanup_(buf_free) struct buf state = {};
	bool restarts = false;
	const char *by = explain_restart(e, c, &restarts);

	explain_words_state(&state, c);
	jsonw_object(out, NULL);
	jsonw_str(out, "name", c->container->name);
	jsonw_str(out, "kind", explain_words_kind(c));
	jsonw_str(out, "state", buf_str(&state));
	jsonw_i64_if(out, "exit_code", c->view.end, c->view.end ? c->view.end->exit_code : 0);
	add_counts(out, c->view.counts);
	jsonw_bool_if(out, "restarts", by, restarts);
	jsonw_str(out, "restarts_by", by);
	jsonw_object_end(out);
}

static void add_condition(struct buf *out, const struct explain *e,
			  const struct podobj_condition *condition)
{
	const struct podobj_condition *api =
		podobj_condition_of(&e->pod->status.conditions, condition->type);

	jsonw_object(out, NULL);
	jsonw_str(out, "type", condition->type);
	jsonw_str(out, "status", condition->status);
	podobj_json_text(out, "reason", condition->reason);
	podobj_json_text(out, "message", condition->message);
	jsonw_str(out, "api", api ? api->status : NULL);
	jsonw_object_end(out);
}

static void add_next(struct buf *out, const struct explain *e)
{
	_cleanup_(buf_free) struct buf does = {};

	explain_words_next(&does, e);
	jsonw_object(out, "next");
	podobj_json_owner(out, e->pod);
	jsonw_str(out, "action", podnext_name(e->next));
	jsonw_str(out, "what", buf_str(&does));
	jsonw_object_end(out);
}

static void add_match(struct buf *out, const struct explain *e)
{
	if (!jsonw_object_if(out, "job_rule", e->match.any))
		return;
	jsonw_u64(out, "index", e->match.rule);
	jsonw_str(out, "action", jobpolicy_action_name(e->match.action));
	jsonw_str(out, "container", e->match.status ? e->match.status->name : NULL);
	jsonw_str(out, "condition", e->match.condition ? e->match.condition->type : NULL);
	jsonw_object_end(out);
}

static void add_notes(struct buf *out, const struct explain *e)
{
	jsonw_array(out, "notes");
	for (size_t i = 0; i < e->n_notes; i++) {
		const struct explain_note *note = &e->notes[i];
		_cleanup_(buf_free) struct buf what = {};

		explain_words_note(&what, e, note);
		jsonw_object(out, NULL);
		jsonw_str(out, "note", explain_topic_name(note->topic));
		podobj_json_text(out, "about", note->about);
		jsonw_str(out, "what", buf_str(&what));
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

int explain_json(struct buf *out, const char *input, const struct explain *e)
{
	podobj_json_begin(out, "explain", input, e->minor, e->pod);
	add_phase(out, e);
	jsonw_array(out, "containers");
	for (size_t i = 0; i < e->n_containers; i++)
		add_container(out, e, &e->containers[i]);
	jsonw_array_end(out);
	jsonw_array(out, "conditions");
	for (size_t i = 0; i < e->status.conditions.n; i++)
		add_condition(out, e, &e->status.conditions.items[i]);
	jsonw_array_end(out);
	add_next(out, e);
	jsonw_bool_if(out, "job_applies", e->job || e->other_job, e->job != NULL);
	add_match(out, e);
	add_notes(out, e);
	return podobj_json_end(out);
}
