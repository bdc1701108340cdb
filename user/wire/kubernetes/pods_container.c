// SPDX-License-Identifier: Apache-2.0
/* What a pod's JSON says of its containers: the spec by name, the status by name and id. */
#include <string.h>

#include "base/signame.h"
#include "base/utf8.h"
#include "wire/kubernetes/pods_priv.h"

/* The parts of a pod that hold containers of one kind, and the same by their names: an author may
 * write thousands of them. */
struct lists {
	const json_t *specs, *statuses;
	json_t *spec_of, *status_of;
	const char *uid;
	const struct podjson_sink *sink;
};

/* As much of the text as fits, up to the end of a character. jansson lets only UTF-8 through. */
static void read_image(const json_t *value, char ret[static META_IMAGE_MAX])
{
	size_t len = json_string_length(value);
	const char *text = json_string_value(value);

	if (len == 0)
		return;
	len = utf8_fit(text, len, META_IMAGE_MAX - 1);
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

/* "containerd://<id>": the id, for as long as the JSON lives; NULL for anything else. */
static const char *id_of(const json_t *value)
{
	const char *text = json_string_value(value);
	const char *id = text ? strstr(text, "://") : NULL;

	return id && is_id(id + 3) ? id + 3 : NULL;
}

/* The first element of each name; without memory for it there is none. */
static json_t *by_name(const json_t *list)
{
	json_t *names = json_object();

	for (size_t i = 0; names && i < json_array_size(list); i++) {
		json_t *element = json_array_get(list, i);
		const char *name = json_string_value(podjson_get(element, "name"));

		if (name && !json_object_get(names, name))
			json_object_set(names, name, element);
	}
	return names;
}

static const json_t *find(const json_t *names, const json_t *element)
{
	const char *name = json_string_value(podjson_get(element, "name"));

	return name ? json_object_get(names, name) : NULL;
}

/* Whether an optional member is there as an object; false, with *ret as it was, for what is
 * neither absent nor one. */
static bool read_presence(const json_t *object, const char *key, bool *ret)
{
	const json_t *value = podjson_get(object, key);

	if (value && !json_is_object(value))
		return false;
	*ret = value != NULL;
	return true;
}

static void read_prestop(const json_t *spec, struct meta_container *c)
{
	bool any = false;

	if (!read_presence(spec, "lifecycle", &any))
		return;
	if (any && !read_presence(podjson_get(spec, "lifecycle"), "preStop", &any))
		return;
	c->prestop = any;
	c->known |= META_CTR_PRESTOP;
}

static void read_probe_grace(const json_t *spec, struct meta_container *c)
{
	static const char *const probes[] = {"livenessProbe", "startupProbe"};
	bool grace = false;

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		const json_t *own;
		bool any;

		if (!read_presence(spec, probes[i], &any))
			return;
		own = podjson_get(podjson_get(spec, probes[i]), "terminationGracePeriodSeconds");
		if (own && !json_is_number(own))
			return;
		grace |= own != NULL;
	}
	c->probe_grace = grace;
	c->known |= META_CTR_PROBE_GRACE;
}

static uint32_t read_signal(const json_t *value)
{
	const char *text = json_string_value(value);
	uint32_t number;

	return text && signame_parse(text, &number) == 0 ? number : 0;
}

static void read_spec(const json_t *spec, struct meta_container *c)
{
	if (!json_is_object(spec))
		return;
	read_image(podjson_get(spec, "image"), c->image);
	read_prestop(spec, c);
	read_probe_grace(spec, c);
	c->stop_signal = read_signal(podjson_get(podjson_get(spec, "lifecycle"), "stopSignal"));
}

/*
 * How a container ended, as its runtime told the kubelet. What the kubelet makes up for one that
 * the runtime has lost (pkg/kubelet/kubelet_pods.go) tells nothing: it has no time, or this reason.
 */
static void read_exit(const json_t *terminated, struct meta_container *c)
{
	static const char *const lost[] = {"ContainerStatusUnknown", NULL};
	const json_t *reason = podjson_get(terminated, "reason");
	int64_t code, finished;

	if (!podjson_integer(podjson_get(terminated, "exitCode"), &code) || code < INT32_MIN ||
	    code > INT32_MAX || podjson_word(reason, lost) ||
	    !podjson_time(podjson_get(terminated, "finishedAt"), &finished))
		return;
	c->exit_code = (int32_t)code;
	c->finished_wall_ns = finished;
	podjson_copy(reason, c->exit_reason, sizeof(c->exit_reason));
	c->known |= META_CTR_EXIT;
}

static const json_t *terminated_of(const json_t *status, const char *state)
{
	return podjson_get(podjson_get(status, state), "terminated");
}

static void tell(const struct lists *lists, const struct meta_container *c)
{
	lists->sink->container(lists->sink->userdata, c);
}

/* The container that the present one came after, if the status knows it: c as far as it is the
 * same. */
static void tell_former(const struct lists *lists, const struct meta_container *c,
			const json_t *last)
{
	const char *id = id_of(podjson_get(last, "containerID"));
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
	read_exit(last, &former);
	tell(lists, &former);
}

/* The status is of the container with the id it gives, or of none yet. While a container waits to
 * be restarted that is still the one that ended, whose end is in lastState then. */
static void read_status(const json_t *status, struct meta_container *c)
{
	static const char *const states[] = {"state", "lastState"};
	uint32_t in_spec = c->stop_signal;
	const char *id = id_of(podjson_get(status, "containerID"));
	int64_t restarts;

	if (id)
		strcpy(c->id, id);
	if (podjson_integer(podjson_get(status, "restartCount"), &restarts) && restarts >= 0 &&
	    restarts <= UINT32_MAX) {
		c->attempt = (uint32_t)restarts;
		c->known |= META_CTR_ATTEMPT;
	}
	if (!c->image[0])
		read_image(podjson_get(status, "image"), c->image);
	c->stop_signal = read_signal(podjson_get(status, "stopSignal")) ?: in_spec;
	for (size_t i = 0; id && i < 2 && !(c->known & META_CTR_EXIT); i++) {
		const json_t *end = terminated_of(status, states[i]);
		const char *ended = id_of(podjson_get(end, "containerID"));

		if (ended && strcmp(ended, id) == 0)
			read_exit(end, c);
	}
}

/* Either may be NULL. */
static void tell_container(const struct lists *lists, const json_t *spec, const json_t *status)
{
	struct meta_container c = {.source = META_KUBELET, .kind = META_KIND_CONTAINER};

	podjson_copy(podjson_get(spec ?: status, "name"), c.name, sizeof(c.name));
	if (!c.name[0])
		return;
	strcpy(c.pod_uid, lists->uid);
	read_spec(spec, &c);
	if (!json_is_object(status)) {
		tell(lists, &c);
		return;
	}
	read_status(status, &c);
	tell(lists, &c);
	tell_former(lists, &c, terminated_of(status, "lastState"));
}

static void tell_lists(const struct lists *lists)
{
	for (size_t i = 0; i < json_array_size(lists->specs); i++) {
		const json_t *spec = json_array_get(lists->specs, i);

		tell_container(lists, spec, find(lists->status_of, spec));
	}
	for (size_t i = 0; i < json_array_size(lists->statuses); i++) {
		const json_t *status = json_array_get(lists->statuses, i);

		if (!find(lists->spec_of, status))
			tell_container(lists, NULL, status);
	}
}

static const char *const kinds[][2] = {
	{"initContainers", "initContainerStatuses"},
	{"containers", "containerStatuses"},
	{"ephemeralContainers", "ephemeralContainerStatuses"},
};

/*
 * Made, and told by its id, or never made. One that the runtime has lost has no id, but ended
 * (convertToAPIContainerStatuses() in pkg/kubelet/kubelet_pods.go), and its process may live.
 */
static bool is_accounted_for(const json_t *status)
{
	const json_t *id = podjson_get(status, "containerID");
	int64_t restarts = 0;

	if (!json_is_object(status))
		return false;
	if (id && !(json_is_string(id) && json_string_length(id) == 0))
		return id_of(id) != NULL;
	podjson_integer(podjson_get(status, "restartCount"), &restarts);
	return restarts == 0 && !terminated_of(status, "state") &&
	       !terminated_of(status, "lastState");
}

bool podjson_containers_complete(const json_t *pod)
{
	const json_t *spec = podjson_get(pod, "spec"), *status = podjson_get(pod, "status");
	bool complete = json_array_size(podjson_get(spec, "containers")) > 0;

	for (size_t i = 0; complete && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const json_t *specs = podjson_get(spec, kinds[i][0]);
		json_t *status_of = by_name(podjson_get(status, kinds[i][1]));

		for (size_t j = 0; complete && j < json_array_size(specs); j++)
			complete = is_accounted_for(find(status_of, json_array_get(specs, j)));
		json_decref(status_of);
	}
	return complete;
}

void podjson_containers_tell(const json_t *pod, const char *uid, const struct podjson_sink *sink)
{
	const json_t *spec = podjson_get(pod, "spec"), *status = podjson_get(pod, "status");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct lists lists = {
			.specs = podjson_get(spec, kinds[i][0]),
			.statuses = podjson_get(status, kinds[i][1]),
			.uid = uid,
			.sink = sink,
		};

		lists.spec_of = by_name(lists.specs);
		lists.status_of = by_name(lists.statuses);
		tell_lists(&lists);
		json_decref(lists.spec_of);
		json_decref(lists.status_of);
	}
}
