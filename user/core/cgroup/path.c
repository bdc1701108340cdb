// SPDX-License-Identifier: Apache-2.0
/* Walks a cgroup path from the root to the leaf and adds to what each component says
 * (core/cgroup/part) what its place means. Every component is looked at once, and only its parent
 * is remembered. */

#include "core/cgroup/path.h"

#include <string.h>

#include "core/cgroup/part.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Where the walk stands. Once a component has decided, deeper ones belong to it, unless one of them
 * is a pod: that is a node inside a container (kind, minikube), and the innermost pod counts. */
enum place {
	OUTSIDE,
	BELOW_KUBEPODS,
	BELOW_POD,
	DECIDED,
};

struct walk {
	enum place place;
	struct cgpart parent; /* empty at the top */
	bool hidden;	      /* a ".." was met: what is above is in another namespace */
	enum cgpath_qos qos; /* as the nearest ancestor has it; guaranteed directly below kubepods */
	const char *start;   /* of the path */
	size_t root_len;     /* in front of the innermost kubepods; 0: there is none */
	struct cgpath found;
};

static void set_text(char *dst, struct cgpart src)
{
	memcpy(dst, src.at, src.len);
	dst[src.len] = '\0';
}

static void set_uid(struct cgpath *found, struct cgpart uid)
{
	set_text(found->pod_uid, uid);
	for (char *c = found->pod_uid; *c; c++)
		if (*c == '_')
			*c = '-';
	found->static_pod = uid.len == CGPART_HASH_UID_LEN;
}

static void set_found(struct walk *w, const struct cgpart_claim *claim)
{
	w->found = (struct cgpath){
		.kind = claim->kind,
		.qos = claim->qos,
		.runtime = claim->runtime,
		.driver = claim->driver,
	};
	if (claim->id.len > 0)
		set_text(w->found.container_id, claim->id);
}

static void enter_pod(struct walk *w, const struct cgpart_claim *pod)
{
	set_found(w, pod);
	if (pod->qos == CGPATH_QOS_UNKNOWN)
		w->found.qos = w->qos;
	w->found.root_len = w->root_len;
	set_uid(&w->found, pod->uid);
	w->place = pod->kind == CGPATH_POD ? BELOW_POD : DECIDED;
}

static void step_outside(struct walk *w, struct cgpart c)
{
	struct cgpart_claim leaf = cgpart_leaf(c, w->parent);

	if (leaf.kind == CGPATH_NONE)
		leaf = cgpart_leaf_ecs(c, w->parent);
	/* crun puts the container into a child of its scope. */
	if (w->found.kind == CGPATH_CONTAINER_OUTSIDE && cgpart_is(c, "container") &&
	    !cgpart_is(w->parent, "container"))
		return;
	set_found(w, &leaf);
	if (leaf.kind != CGPATH_CONTAINER)
		return;
	/* Seen from another cgroup namespace the pod is cut off, but the name is enough. */
	if (w->hidden && w->parent.len == 0 && cgpart_runtime_is_cri(leaf.runtime))
		w->place = DECIDED;
	else
		w->found.kind = CGPATH_CONTAINER_OUTSIDE;
}

static void step_below_kubepods(struct walk *w, struct cgpart c)
{
	struct cgpart_claim leaf = cgpart_leaf(c, w->parent);

	set_found(w, &leaf);
	if (leaf.kind == CGPATH_CONTAINER || leaf.kind == CGPATH_SANDBOX)
		w->place = DECIDED;
}

/* A stranger or a mount unit in a pod's cgroup has no part in the pod's identity. */
static void step_below_pod(struct walk *w, struct cgpart c)
{
	struct cgpart_claim leaf = cgpart_leaf(c, w->parent);
	struct cgpath pod = w->found;

	if (leaf.kind == CGPATH_NONE)
		leaf = cgpart_leaf_uuid(c);
	set_found(w, &leaf);
	if (leaf.kind != CGPATH_NONE && leaf.kind != CGPATH_MOUNT) {
		w->found.qos = pod.qos;
		w->found.driver = pod.driver;
		w->found.static_pod = pod.static_pod;
		w->found.root_len = pod.root_len;
		memcpy(w->found.pod_uid, pod.pod_uid, sizeof(pod.pod_uid));
	}
	w->place = DECIDED;
}

/* A plain "burstable" is a QoS class only as a child of kubepods. */
static bool enter_upper(struct walk *w, const struct cgpart_claim *upper)
{
	if (w->place != OUTSIDE && w->place != BELOW_KUBEPODS)
		return false;
	if (upper->kind == CGPATH_QOS && upper->driver == CGPATH_DRIVER_CGROUPFS &&
	    w->found.kind != CGPATH_KUBEPODS_ROOT)
		return false;
	set_found(w, upper);
	w->place = BELOW_KUBEPODS;
	return true;
}

static void step(struct walk *w, struct cgpart c)
{
	struct cgpart_claim claim;

	if (cgpart_is_pod(c, &claim)) {
		enter_pod(w, &claim);
		return;
	}
	if (cgpart_is_upper(c, &claim)) {
		/* Kept below a decided component too, for a pod that may follow. */
		w->qos = claim.kind == CGPATH_QOS ? claim.qos : CGPATH_QOS_GUARANTEED;
		if (claim.kind == CGPATH_KUBEPODS_ROOT)
			w->root_len = (size_t)(c.at - w->start) - 1;
		if (enter_upper(w, &claim))
			return;
	}
	switch (w->place) {
	case OUTSIDE:
		step_outside(w, c);
		break;
	case BELOW_KUBEPODS:
		step_below_kubepods(w, c);
		break;
	case BELOW_POD:
		step_below_pod(w, c);
		break;
	case DECIDED:
		break;
	}
}

/* Takes the next component off the front of REST; false at the end. */
static bool next_component(struct cgpart *rest, struct cgpart *ret)
{
	const char *slash;

	while (cgpart_cut_prefix(rest, "/"))
		;
	if (rest->len == 0)
		return false;
	slash = memchr(rest->at, '/', rest->len);
	*ret = (struct cgpart){rest->at, slash ? (size_t)(slash - rest->at) : rest->len};
	rest->at += ret->len;
	rest->len -= ret->len;
	return true;
}

/* Leaves the path of a "N:controllers:/path" line; anything else stays as it is. The kernel appends
 * " (deleted)" once the cgroup is gone, which a dying process sees. */
static void cut_line(struct cgpart *line)
{
	struct cgpart p = *line;
	const char *path;

	cgpart_cut_suffix(&p, "\n");
	while (p.len > 0 && *p.at >= '0' && *p.at <= '9')
		p = (struct cgpart){p.at + 1, p.len - 1};
	if (p.at == line->at || !cgpart_cut_prefix(&p, ":"))
		return;
	path = memchr(p.at, '/', p.len);
	if (!path || path == p.at || path[-1] != ':')
		return;
	p = (struct cgpart){path, p.len - (size_t)(path - p.at)};
	cgpart_cut_suffix(&p, " (deleted)");
	*line = p;
}

void cgpath_parse(const char *path, size_t len, struct cgpath *ret)
{
	struct cgpart rest = {path, len}, c;
	struct walk w = {.place = OUTSIDE};

	cut_line(&rest);
	w.start = rest.at;
	if (rest.len > 0 && *rest.at == '/') {
		while (next_component(&rest, &c)) {
			if (cgpart_is(c, "..")) {
				w.hidden = true;
				continue;
			}
			step(&w, c);
			w.parent = c;
		}
	}
	*ret = w.found;
}

bool cgpath_is_id(const char *id)
{
	return strlen(id) == CGPATH_ID_LEN && strspn(id, "0123456789abcdef") == CGPATH_ID_LEN;
}
