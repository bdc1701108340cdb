// SPDX-License-Identifier: Apache-2.0
/* Puts the words of metadata sources into observations. */
#include "lib/engine/world_meta.h"

#include <string.h>

#define SRC(name) (1u << META_##name)

const struct engine_config WORLD_ALL = {
	.scope = SCOPE_CONTAINERS,
	.sources = SRC(CRI) | SRC(KUBELET) | SRC(DOCKER) | SRC(CONTAINERD),
};

void world_say_pod(struct world *w, uint64_t at, const struct meta_pod *pod)
{
	struct obs obs = {.type = OBS_POD, .at_ns = at, .pod = *pod};

	world_tell(w, &obs);
}

void world_say_container(struct world *w, uint64_t at, const struct meta_container *c)
{
	struct obs obs = {.type = OBS_CONTAINER, .at_ns = at, .container = *c};

	world_tell(w, &obs);
}

struct meta_pod world_pod_a(void)
{
	return (struct meta_pod){
		.source = META_KUBELET,
		.uid = WORLD_UID_A,
		.namespace_ = "default",
		.name = "web-0",
		.workload = "web",
		.known = META_POD_GRACE | META_POD_DELETING,
		.grace_ns = SEC(30),
	};
}

struct meta_container world_main_a1(void)
{
	return (struct meta_container){
		.source = META_CRI,
		.id = WORLD_ID_A1,
		.pod_uid = WORLD_UID_A,
		.name = "main",
		.kind = META_KIND_CONTAINER,
		.image = "docker.io/library/nginx:1",
		.known = META_CTR_ATTEMPT,
		.attempt = 2,
	};
}

void world_answer(struct world *w, uint64_t at, uint64_t id, const char *uid, const char *cid)
{
	struct obs obs = {.type = OBS_NAMES, .at_ns = at};

	obs.names.id = id;
	strcpy(obs.names.pod_uid, uid);
	strcpy(obs.names.container_id, cid);
	world_tell(w, &obs);
}

void world_open_described(struct world *w, const struct meta_pod *pod,
			  const struct meta_container *c)
{
	world_open(w, &WORLD_ALL);
	world_init(w, SEC(10), CG_A1, &P_A1);
	world_say_container(w, SEC(12), c);
	world_say_pod(w, SEC(12), pod);
	world_answer(w, SEC(12), CG_A1, WORLD_UID_A, WORLD_ID_A1);
	world_answer(w, SEC(12), CG_A1, WORLD_UID_A, "");
}

void world_ends(struct world *w, uint64_t at, uint32_t status)
{
	world_exit(w, at, CG_A1, &P_A1, status);
	world_empty(w, at + 1000, CG_A1);
	world_timer(w, at + MSEC(250));
}
