// SPDX-License-Identifier: Apache-2.0
/* Reports the pod itself, and its containers by the names of the spec and the names and ids of the
 * status. */
#include "wire/kubernetes/pods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/cgroup/part.h"
#include "core/names/workload.h"

/* An element of a list by its name. An author may write thousands of them, so they are sorted. */
struct named {
	const char *name;
	const void *element;
};

struct index {
	struct named *items;
	size_t n;
};

/* The containers of one kind. */
struct list {
	const struct podobj_containers *specs;
	const struct podobj_statuses *statuses;
	struct index spec_of, status_of;
	bool inits, ephemerals;
};

enum { LISTS = 3 };

struct report {
	const struct podjson_sink *sink;
	const char *uid;
	struct list lists[LISTS];
};

/* Copies text of 1 to size - 1 bytes; ret stays as it is for anything else. */
static void copy_text(const char *text, char *ret, size_t size)
{
	size_t len = strlen(text);

	if (len > 0 && len < size)
		memcpy(ret, text, len + 1);
}

/* The place of a word in a NULL-terminated list, from 1 on; 0 for anything else. */
static uint32_t word_of(const char *text, const char *const *words)
{
	for (uint32_t i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i + 1;
	}
	return 0;
}

/* As much of the text as fits, up to the end of a character. */
static void copy_image(const char *text, char ret[static META_IMAGE_MAX])
{
	size_t len = utf8_fit(text, strlen(text), META_IMAGE_MAX - 1);

	memcpy(ret, text, len);
	ret[len] = '\0';
}

static bool is_id(const char *id)
{
	size_t len = strlen(id);

	return len > 0 && len < META_ID_MAX &&
	       strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-") ==
		       len;
}

/* "containerd://<id>": the id; NULL for anything else. */
static const char *id_of(const char *text)
{
	const char *id = strstr(text, "://");

	return id && is_id(id + 3) ? id + 3 : NULL;
}

static uint32_t signal_of(const char *text)
{
	uint32_t number;

	return signame_parse(text, &number) == 0 ? number : 0;
}

/* --- elements by name ------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* If two have the same name, the first in the list counts; both are in one array. */
static int compare_all(const void *a, const void *b)
{
	const char *x = ((const struct named *)a)->element;
	const char *y = ((const struct named *)b)->element;
	int order = compare(a, b);

	return order ? order : (x > y) - (x < y);
}

/* Elements without a name are in none. */
static int make_index(struct arena *arena, const void *list, size_t n, size_t size,
		      struct index *ret)
{
	const char *at = list;

	ret->items = arena_array(arena, n, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++, at += size) {
		const char *name;

		/* It is the first member of both kinds. */
		memcpy(&name, at, sizeof(name));
		if (*name)
			ret->items[ret->n++] = (struct named){name, at};
	}
	qsort(ret->items, ret->n, sizeof(*ret->items), compare_all);
	return 0;
}

static const void *find(const struct index *index, const char *name)
{
	const struct named key = {.name = name};
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&index->items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < index->n && compare(&index->items[low], &key) == 0 ? index->items[low].element
									: NULL;
}

static int make_lists(const struct podobj_pod *pod, struct arena *arena, struct list *lists)
{
	const struct list all[LISTS] = {
		{.specs = &pod->inits, .statuses = &pod->status.inits, .inits = true},
		{.specs = &pod->containers, .statuses = &pod->status.containers},
		{.specs = &pod->ephemerals, .statuses = &pod->status.ephemerals, .ephemerals = true},
	};
	int e = 0;

	memcpy(lists, all, sizeof(all));
	for (struct list *l = lists; e == 0 && l < lists + LISTS; l++) {
		e = make_index(arena, l->specs->items, l->specs->n, sizeof(*l->specs->items),
			       &l->spec_of);
		if (e == 0)
			e = make_index(arena, l->statuses->items, l->statuses->n,
				       sizeof(*l->statuses->items), &l->status_of);
	}
	return e;
}

/* --- containers ------------------------------------------------------------------------------- */

static void take_spec(const struct podobj_container *spec, struct meta_container *c)
{
	copy_image(spec->image, c->image);
	if (!spec->prestop_unreadable) {
		c->prestop = spec->prestop;
		c->known |= META_CTR_PRESTOP;
	}
	if (!spec->probes_unreadable) {
		c->probe_grace = spec->probe_grace;
		c->probe = spec->probe;
		c->known |= META_CTR_PROBE_GRACE | META_CTR_PROBE;
	}
	c->stop_signal = signal_of(spec->stop_signal);
}

/*
 * How a container ended, as its runtime reported to the kubelet. What the kubelet makes up for one
 * that the runtime has lost (pkg/kubelet/kubelet_pods.go) is no report: it has no time, or this
 * reason.
 */
static void take_exit(const struct podobj_container_state *end, struct meta_container *c)
{
	if (!end->has_exit_code || !end->has_finished ||
	    strcmp(end->reason, "ContainerStatusUnknown") == 0)
		return;
	c->exit_code = end->exit_code;
	c->finished_wall_ns = end->finished_wall_ns;
	copy_text(end->reason, c->exit_reason, sizeof(c->exit_reason));
	c->known |= META_CTR_EXIT;
}

/* The container that the present one came after, if the status knows it: c as far as it is the
 * same. */
static void report_former(const struct report *r, const struct meta_container *c,
			  const struct podobj_container_state *last)
{
	const char *id = id_of(last->id);
	struct meta_container former = *c;

	if (!id || strcmp(id, c->id) == 0)
		return;
	strcpy(former.id, id);
	former.known &= ~(uint32_t)(META_CTR_ATTEMPT | META_CTR_EXIT);
	former.exit_code = 0;
	former.finished_wall_ns = 0;
	former.exit_reason[0] = '\0';
	former.attempt = 0;
	if ((c->known & META_CTR_ATTEMPT) && c->attempt > 0) {
		former.attempt = c->attempt - 1;
		former.known |= META_CTR_ATTEMPT;
	}
	take_exit(last, &former);
	r->sink->container(r->sink->userdata, &former);
}

/* The status is of the container with the id it gives, or of none yet. While a container waits to
 * be restarted that is still the one that ended, whose end is in lastState then. */
static void take_status(const struct podobj_status *status, struct meta_container *c)
{
	const struct podobj_container_state *const states[] = {&status->state, &status->last};
	const char *id = id_of(status->id);
	uint32_t signal = signal_of(status->stop_signal);

	if (id)
		strcpy(c->id, id);
	if (status->has_restarts && status->restarts >= 0 && status->restarts <= UINT32_MAX) {
		c->attempt = (uint32_t)status->restarts;
		c->known |= META_CTR_ATTEMPT;
	}
	if (!c->image[0])
		copy_image(status->image, c->image);
	if (signal)
		c->stop_signal = signal;
	for (size_t i = 0; id && i < 2 && !(c->known & META_CTR_EXIT); i++) {
		const char *ended = id_of(states[i]->id);

		if (ended && strcmp(ended, id) == 0)
			take_exit(states[i], c);
	}
}

/* sidecar: as struct meta_container has it. spec or status may be NULL. */
static void report_container(const struct report *r, const struct podobj_container *spec,
			     uint32_t sidecar, const struct podobj_status *status)
{
	struct meta_container c = {.source = META_KUBELET, .kind = META_KIND_CONTAINER};

	copy_text(spec ? spec->name : status->name, c.name, sizeof(c.name));
	if (!c.name[0])
		return;
	strcpy(c.pod_uid, r->uid);
	if (spec) {
		take_spec(spec, &c);
		c.sidecar = sidecar;
		c.known |= META_CTR_SIDECAR;
	}
	if (status)
		take_status(status, &c);
	r->sink->container(r->sink->userdata, &c);
	if (status)
		report_former(r, &c, &status->last);
}

static void report_list(const struct report *r, const struct list *list)
{
	const uint32_t none = list->ephemerals ? META_EPHEMERAL : 0;
	uint32_t sidecars = 0;

	for (size_t i = 0; i < list->specs->n; i++) {
		const struct podobj_container *spec = &list->specs->items[i];
		bool sidecar = list->inits && podobj_is_sidecar(spec);

		sidecars += sidecar;
		report_container(r, spec, sidecar ? sidecars : none,
				 find(&list->status_of, spec->name));
	}
	for (size_t i = 0; i < list->statuses->n; i++) {
		const struct podobj_status *status = &list->statuses->items[i];

		if (!find(&list->spec_of, status->name))
			report_container(r, NULL, 0, status);
	}
}

/*
 * Made, and reported with its id, or never made. One that the runtime has lost has no id, but ended
 * (convertToAPIContainerStatuses() in pkg/kubelet/kubelet_pods.go), and its process may live.
 */
static bool is_accounted_for(const struct podobj_status *status)
{
	if (!status || status->id_unreadable)
		return false;
	if (*status->id)
		return id_of(status->id) != NULL;
	return status->restarts == 0 && status->state.kind != PODOBJ_TERMINATED &&
	       status->last.kind != PODOBJ_TERMINATED;
}

/* Whether the status has the ids of all containers of the spec that were ever made. */
static bool has_all_containers(const struct podobj_pod *pod, const struct list *lists)
{
	bool complete = pod->containers.n > 0;

	for (size_t i = 0; i < LISTS; i++)
		for (size_t j = 0; complete && j < lists[i].specs->n; j++)
			complete = is_accounted_for(
				find(&lists[i].status_of, lists[i].specs->items[j].name));
	return complete;
}

/* --- the pod itself --------------------------------------------------------------------------- */

/*
 * The uid a pod's cgroup has: its own, but for a mirror, whose annotations have the static pod's
 * (pkg/kubelet/types/pod_update.go). That must be a hash, so that one who annotates a pod cannot
 * claim to be one that the API made.
 */
static void take_identity(const struct podobj_pod *pod, struct meta_pod *meta)
{
	const char *uid = pod->mirror ? pod->static_uid : pod->uid;

	meta_uid_take(uid, strlen(uid), meta->uid);
	if (pod->mirror && strlen(meta->uid) != CGPART_HASH_UID_LEN)
		meta->uid[0] = '\0';
	copy_text(pod->namespace_, meta->namespace_, sizeof(meta->namespace_));
	copy_text(pod->name, meta->name, sizeof(meta->name));
	if (pod->source_unreadable && !pod->mirror)
		return;
	meta->known |= META_POD_STATIC;
	meta->is_static = pod->is_static;
}

static bool take_grace(struct seconds grace, uint64_t *ret_ns)
{
	if (!grace.set || grace.s < 0)
		return false;
	if (grace.s > PODJSON_GRACE_MAX)
		grace.s = PODJSON_GRACE_MAX;
	*ret_ns = (uint64_t)grace.s * NS_PER_S;
	return true;
}

static void take_deletion(const struct podobj_pod *pod, struct meta_pod *meta)
{
	meta->deleting = pod->deleting;
	meta->deleted_wall_ns = pod->deleted_wall_ns;
	if (!pod->deleted_unreadable)
		meta->known |= META_POD_DELETING;
	if (take_grace(pod->deletion_grace, &meta->deletion_grace_ns))
		meta->known |= META_POD_DELETION_GRACE;
}

/* Sidecars are known where the list of init containers makes sense. */
static void take_pod_spec(const struct podobj_pod *pod, struct meta_pod *meta)
{
	if (take_grace(pod->grace, &meta->grace_ns))
		meta->known |= META_POD_GRACE;
	meta->priority = pod->priority;
	if (pod->has_priority)
		meta->known |= META_POD_PRIORITY;
	if (pod->has_spec && !pod->inits_unreadable)
		meta->known |= META_POD_SIDECARS;
	for (size_t i = 0; i < pod->inits.n; i++)
		meta->sidecars |= podobj_is_sidecar(&pod->inits.items[i]);
	meta->restart_policy = pod->restart_policy;
}

static void take_ready(const struct podobj_conditions *conditions, struct meta_pod *meta)
{
	static const char *const states[] = {"True", "False", "Unknown", NULL};

	for (size_t i = 0; i < conditions->n; i++) {
		const struct podobj_condition *condition = &conditions->items[i];
		uint32_t state = word_of(condition->status, states);

		if (strcmp(condition->type, "Ready") != 0 || state == 0)
			continue;
		meta->known |= META_POD_READY;
		meta->ready = state == 1;
		return;
	}
}

static uint32_t end_of(const char *reason)
{
	static const char *const reasons[] = {"Evicted",  "Preempting",	  "Terminated",
					      "Shutdown", "NodeShutdown", "DeadlineExceeded",
					      NULL};
	static const uint32_t ends[] = {0,
					META_END_EVICTED,
					META_END_PREEMPTED,
					META_END_SHUTDOWN,
					META_END_SHUTDOWN,
					META_END_SHUTDOWN,
					META_END_DEADLINE};

	return ends[word_of(reason, reasons)];
}

static void take_pod_status(const struct podobj_pod_status *status, struct meta_pod *meta)
{
	static const char *const classes[] = {"Guaranteed", "Burstable", "BestEffort", NULL};
	static const char *const phases[] = {"Pending", "Running", "Succeeded",
					     "Failed",	"Unknown", NULL};

	meta->qos = word_of(status->qos, classes);
	meta->phase = word_of(status->phase, phases);
	if (meta->phase == META_PHASE_FAILED)
		meta->end = end_of(status->reason);
	take_ready(&status->conditions, meta);
}

/* NULL when it could be no name. */
static const char *name_of(const char *text)
{
	return strlen(text) < META_NAME_MAX ? text : NULL;
}

static void take_workload(const struct podobj_pod *pod, struct meta_pod *meta)
{
	struct workload_facts facts = {
		.pod = meta->name,
		.node = name_of(pod->node),
		.owner_kind = name_of(pod->owner.kind),
		.owner_api = name_of(pod->owner.api),
		.owner = name_of(pod->owner.name),
		.is_static = meta->is_static,
		.template_hash = name_of(pod->template_hash),
		.statefulset_pod = name_of(pod->statefulset_pod),
		.revision_hash = name_of(pod->revision_hash),
		.job = name_of(pod->job),
	};

	if (!facts.job || !*facts.job)
		facts.job = name_of(pod->old_job);
	workload_name(&facts, meta->workload);
	workload_kind(&facts, meta->workload_kind);
}

int podmeta_report(const struct podobj_pod *pod, struct arena *arena,
		   const struct podjson_sink *sink)
{
	struct meta_pod out = {.source = META_KUBELET};
	struct report report = {.sink = sink, .uid = out.uid};
	int e;

	take_identity(pod, &out);
	if (!pod->has_metadata || !out.uid[0])
		return 1;
	e = make_lists(pod, arena, report.lists);
	if (e < 0)
		return e;
	take_deletion(pod, &out);
	take_pod_spec(pod, &out);
	take_pod_status(&pod->status, &out);
	take_workload(pod, &out);
	if (has_all_containers(pod, report.lists))
		out.known |= META_POD_CONTAINERS;
	sink->pod(sink->userdata, &out, pod);
	for (size_t i = 0; i < LISTS; i++)
		report_list(&report, &report.lists[i]);
	return 0;
}
