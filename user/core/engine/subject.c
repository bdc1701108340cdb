// SPDX-License-Identifier: Apache-2.0
#include "core/engine/subject.h"

#include "core/engine/sandbox.h"

struct record_pod subject_of(const struct podtab_pod *meta, const char *uid, enum cgpath_qos qos,
			     bool is_static)
{
	return (struct record_pod){
		.known = true,
		.namespace_ = meta ? meta->namespace_ : NULL,
		.name = meta ? meta->name : NULL,
		.workload = meta ? meta->workload : NULL,
		.workload_kind = meta ? meta->workload_kind : NULL,
		.uid = uid,
		.qos = qos,
		.is_static = is_static,
	};
}

void subject_pod(const struct names *names, const struct cgnode *node, struct record_pod *ret)
{
	const struct pod_cgroups *pod = cgmap_pod_around(names->map, node);

	if (pod)
		*ret = subject_of(names_pod(names, node), pod->pod->uid, pod->qos, pod->is_static);
}

/* Only a stop has evidence that can mark a guess. */
static enum record_container_kind kind_of(const struct names *names, const struct cgnode *node,
					  const struct podtab_container *meta)
{
	if (node->kind == GRACED_WATCH_SERVICE)
		return CONTAINER_KIND_SERVICE;
	if (sandbox_of(names, node) == SANDBOX_KNOWN)
		return CONTAINER_KIND_SANDBOX;
	if (meta && meta->kind)
		return CONTAINER_KIND_CONTAINER;
	return record_container_kind_of(&node->ident, meta ? meta->name : NULL);
}

void subject_container(const struct names *names, const struct cgnode *node,
		       struct record_container *ret)
{
	const struct podtab_container *meta = names_container(names, node), *spec;

	if (!cgnode_is_container(node))
		return;
	*ret = (struct record_container){
		.known = true,
		.name = meta ? meta->name : NULL,
		.id = node->ident.container_id[0] ? node->ident.container_id : NULL,
		.runtime = podtab_runtime(meta, node->ident.runtime),
		.kind = kind_of(names, node, meta),
		.cgroup = node->path,
		.user = node->user,
		.image = meta ? meta->image : NULL,
		.attempt_known = meta && meta->known & META_CTR_ATTEMPT,
		.attempt = meta ? meta->attempt : 0,
	};
	spec = names_spec(names, node, meta);
	ret->ephemeral = spec && spec->sidecar == META_EPHEMERAL;
	if (ret->kind == CONTAINER_KIND_SERVICE)
		ret->name = names_unit_name(node);
	if (meta && !node->pod) {
		ret->namespace_ = meta->namespace_;
		ret->workload = meta->workload;
		if (meta->workload)
			ret->workload_kind = record_group_kind(meta->group_from);
	}
}

void subject_ended(const struct names *names, const struct podtab_container *c,
		   struct record_pod *ret_pod, struct record_container *ret)
{
	*ret_pod = subject_of(podtab_pod(&names->tab, c->pod_uid), c->pod_uid, c->exit.qos,
			      c->exit.is_static);
	ret_pod->known = c->pod_uid[0];
	*ret = (struct record_container){
		.known = true,
		.name = c->name,
		.id = c->of->name.first,
		.runtime = c->exit.runtime,
		.kind = c->kind == META_KIND_SANDBOX ? CONTAINER_KIND_SANDBOX
						     : CONTAINER_KIND_CONTAINER,
		.image = c->image,
		.attempt_known = c->known & META_CTR_ATTEMPT,
		.attempt = c->attempt,
	};
}

struct record_process subject_process(const struct graced_proc *p)
{
	return (struct record_process){
		.pid = p->pid,
		.ns_pid = p->ns_pid,
		.comm = p->comm,
		.start_ns = p->start_ns,
	};
}

struct record_process subject_sender(const struct sender *sender)
{
	struct record_process ret = subject_process(&sender->proc);

	if (sender->kind != SENDER_POD && sender->kind != SENDER_CONTAINER)
		ret.ns_pid = 0;
	return ret;
}
