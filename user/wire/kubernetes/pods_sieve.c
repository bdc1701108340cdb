// SPDX-License-Identifier: Apache-2.0
/*
 * Leaves of a pod what is read of it. Most of a pod's bytes are managed fields, environments,
 * volumes and annotations: to parse them costs ten times what passing over them does, and a tree of
 * the worst 2 MiB takes 150 MiB.
 *
 * Names of members are compared as bytes: one written with escapes is another name. The API server
 * and the kubelet escape none of these.
 */
#include <errno.h>
#include <string.h>

#include "wire/kubernetes/pods_priv.h"

/* No text that is read is longer than this, an image that is to be cut included. */
#define SCALAR_MAX 4096

struct pick {
	const char *name; /* NULL ends a list */
	size_t len;
	const struct pick
		*below; /* NULL: the value itself, of objects and arrays only which it is */
};

#define PICK(name)		name, sizeof(name) - 1, NULL
#define PICK_BELOW(name, below) name, sizeof(name) - 1, below

static const struct pick labels[] = {
	{PICK("pod-template-hash")},
	{PICK("statefulset.kubernetes.io/pod-name")},
	{PICK("controller-revision-hash")},
	{PICK("batch.kubernetes.io/job-name")},
	{PICK("job-name")},
	{},
};

static const struct pick annotations[] = {
	{PICK("kubernetes.io/config.hash")},
	{PICK("kubernetes.io/config.mirror")},
	{PICK("kubernetes.io/config.seen")},
	{PICK("kubernetes.io/config.source")},
	{},
};

static const struct pick owner[] = {
	{PICK("apiVersion")}, {PICK("controller")}, {PICK("kind")}, {PICK("name")}, {},
};

static const struct pick metadata[] = {
	{PICK("uid")},
	{PICK("namespace")},
	{PICK("name")},
	{PICK("deletionTimestamp")},
	{PICK("deletionGracePeriodSeconds")},
	{PICK_BELOW("labels", labels)},
	{PICK_BELOW("annotations", annotations)},
	{PICK_BELOW("ownerReferences", owner)},
	{},
};

static const struct pick lifecycle[] = {
	{PICK("preStop")},
	{PICK("stopSignal")},
	{},
};

static const struct pick probe[] = {
	{PICK("terminationGracePeriodSeconds")},
	{},
};

static const struct pick container[] = {
	{PICK("name")},
	{PICK("image")},
	{PICK("restartPolicy")},
	{PICK_BELOW("lifecycle", lifecycle)},
	{PICK_BELOW("livenessProbe", probe)},
	{PICK_BELOW("startupProbe", probe)},
	{},
};

static const struct pick spec[] = {
	{PICK("nodeName")},
	{PICK("priority")},
	{PICK("restartPolicy")},
	{PICK("terminationGracePeriodSeconds")},
	{PICK_BELOW("containers", container)},
	{PICK_BELOW("initContainers", container)},
	{PICK_BELOW("ephemeralContainers", container)},
	{},
};

static const struct pick terminated[] = {
	{PICK("containerID")}, {PICK("exitCode")}, {PICK("reason")}, {PICK("finishedAt")}, {},
};

static const struct pick state[] = {
	{PICK_BELOW("terminated", terminated)},
	{},
};

static const struct pick container_status[] = {
	{PICK("name")},
	{PICK("image")},
	{PICK("containerID")},
	{PICK("restartCount")},
	{PICK("stopSignal")},
	{PICK_BELOW("state", state)},
	{PICK_BELOW("lastState", state)},
	{},
};

static const struct pick condition[] = {
	{PICK("type")},
	{PICK("status")},
	{},
};

static const struct pick status[] = {
	{PICK("phase")},
	{PICK("reason")},
	{PICK("qosClass")},
	{PICK_BELOW("conditions", condition)},
	{PICK_BELOW("containerStatuses", container_status)},
	{PICK_BELOW("initContainerStatuses", container_status)},
	{PICK_BELOW("ephemeralContainerStatuses", container_status)},
	{},
};

static const struct pick pod[] = {
	{PICK("kind")},
	{PICK_BELOW("metadata", metadata)},
	{PICK_BELOW("spec", spec)},
	{PICK_BELOW("status", status)},
	{},
};

struct sieve {
	struct podjson_bytes in;
	struct buf *out;
	unsigned int values;
};

static int sieve_object(struct sieve *s, const struct pick *picks);

/* Passes over a value, whose bytes are those from *ret_from to where the reading is then. */
static int pass(struct sieve *s, size_t *ret_from)
{
	struct podjson_scan scan = {};

	podjson_peek(&s->in);
	*ret_from = s->in.at;
	/* A bare word may end with the bytes. */
	return podjson_scan(&scan, &s->in, s->in.size) > 0 || scan.bare ? 0 : -EBADMSG;
}

/* A value that nothing is picked from: a string, a number or a word as it is. What is in an object
 * or an array does not matter, only that it is one. */
static int sieve_plain(struct sieve *s)
{
	size_t from, len;
	int r = pass(s, &from);

	if (r < 0)
		return r;
	len = s->in.at - from;
	if (s->in.text[from] == '{')
		buf_adds(s->out, "{}");
	else if (s->in.text[from] == '[' || len > SCALAR_MAX)
		buf_adds(s->out, "[]");
	else
		buf_add(s->out, s->in.text + from, len);
	return 0;
}

static int sieve_value(struct sieve *s, const struct pick *picks)
{
	if (++s->values > PODJSON_VALUES_MAX)
		return -E2BIG;
	if (picks && podjson_peek(&s->in) == '{')
		return sieve_object(s, picks);
	return sieve_plain(s);
}

/* Picks from each of its elements; an array in it stays empty, so that the depth has an end. */
static int sieve_array(struct sieve *s, const struct pick *picks)
{
	if (++s->values > PODJSON_VALUES_MAX)
		return -E2BIG;
	s->in.at++;
	buf_addc(s->out, '[');
	for (bool first = true; !podjson_take(&s->in, ']'); first = false) {
		int r;

		if (!first && !podjson_take(&s->in, ','))
			return -EBADMSG;
		if (!first)
			buf_addc(s->out, ',');
		r = sieve_value(s, picks);
		if (r < 0)
			return r;
	}
	buf_addc(s->out, ']');
	return 0;
}

static const struct pick *find(const struct pick *picks, const char *name, size_t len)
{
	for (; picks->name; picks++) {
		if (picks->len == len && memcmp(picks->name, name, len) == 0)
			return picks;
	}
	return NULL;
}

/* One member; *any tells whether one was written before, or is now. */
static int sieve_member(struct sieve *s, const struct pick *picks, bool *any)
{
	const struct pick *picked;
	size_t from, to;
	int r;

	if (podjson_peek(&s->in) != '"')
		return -EBADMSG;
	r = pass(s, &from);
	if (r < 0)
		return r;
	to = s->in.at;
	if (!podjson_take(&s->in, ':'))
		return -EBADMSG;
	picked = find(picks, s->in.text + from + 1, to - from - 2);
	if (!picked)
		return pass(s, &from);
	if (*any)
		buf_addc(s->out, ',');
	*any = true;
	buf_add(s->out, s->in.text + from, to - from);
	buf_addc(s->out, ':');
	if (picked->below && podjson_peek(&s->in) == '[')
		return sieve_array(s, picked->below);
	return sieve_value(s, picked->below);
}

static int sieve_object(struct sieve *s, const struct pick *picks)
{
	bool any = false;

	s->in.at++;
	buf_addc(s->out, '{');
	for (bool first = true; !podjson_take(&s->in, '}'); first = false) {
		int r;

		if (!first && !podjson_take(&s->in, ','))
			return -EBADMSG;
		r = sieve_member(s, picks, &any);
		if (r < 0)
			return r;
	}
	buf_addc(s->out, '}');
	return 0;
}

int podjson_sieve(const char *text, size_t size, struct buf *out)
{
	struct sieve s = {.in = {.text = text, .size = size}, .out = out};
	int r = sieve_value(&s, pod);

	if (r == 0 && buf_error(out) < 0)
		return buf_error(out);
	return r;
}
