// SPDX-License-Identifier: Apache-2.0
/* Any bytes as each of a container runtime's answers: what is read is whole, bounded, and text. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/grpc/message.h"
#include "wire/runtime/cri.h"

static void check_id(const char *id, bool may_be_empty)
{
	size_t len = strnlen(id, META_ID_MAX);

	assert(len < META_ID_MAX && (len > 0 || may_be_empty));
	assert(strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.-") ==
	       len);
}

static void check_pod(const struct meta_pod *pod)
{
	size_t len = strnlen(pod->uid, sizeof(pod->uid));

	assert(pod->source == META_CRI);
	assert(len == 0 || len == 32 || len == 36);
	assert(strspn(pod->uid, "0123456789abcdef-") == len);
	fuzz_check_text(pod->namespace_, sizeof(pod->namespace_));
	fuzz_check_text(pod->name, sizeof(pod->name));
	fuzz_check_text(pod->workload, sizeof(pod->workload));
	assert(len > 0 || (!pod->namespace_[0] && !pod->name[0] && !pod->workload[0]));
	assert(len > 0 || pod->known == 0);
	assert(pod->grace_ns == 0 || (pod->known & META_POD_GRACE));
	assert(!pod->is_static || (pod->known & META_POD_STATIC));
	assert(pod->grace_ns <= INT64_MAX && pod->grace_ns % 1000000000 == 0);
}

static void check_item(const struct cri_item *item)
{
	const struct meta_container *c = &item->container;

	check_pod(&item->pod);
	assert(c->source == META_CRI);
	assert(c->kind == META_KIND_CONTAINER || c->kind == META_KIND_SANDBOX);
	check_id(c->id, false);
	check_id(item->sandbox_id, true);
	assert(strcmp(c->pod_uid, item->pod.uid) == 0);
	fuzz_check_text(c->name, sizeof(c->name));
	fuzz_check_text(c->image, sizeof(c->image));
	fuzz_check_text(c->exit_reason, sizeof(c->exit_reason));
	fuzz_check_text(item->image_key, sizeof(item->image_key));
	assert(!c->unit[0] && c->stop_signal <= 64 && c->finished_wall_ns >= 0);
	assert((c->known & META_CTR_EXIT) || (!c->exit_code && !c->exit_reason[0]));
	assert(item->state <= CRI_STATE_UNKNOWN);
}

static void check_walk(enum cri_method method, const uint8_t *data, size_t size)
{
	struct cri_walk walk;
	struct cri_item item;
	size_t before;
	int r;

	cri_walk_start(&walk, method, "node-1", data, size);
	do {
		before = walk.at;
		r = cri_walk_next(&walk, &item);
		if (r == CRI_WALK_ITEM)
			check_item(&item);
		assert(r > 0 ? walk.at > before : walk.at == before);
		assert(walk.at <= size);
	} while (r > 0);
	assert(r == -EBADMSG || walk.at == size);
}

static void check_hook(const uint8_t *data, size_t size)
{
	struct cri_hook hook = {};
	int32_t code;
	size_t n = 0;

	if (cri_read_hook(data, size, &hook) == 0) {
		assert(hook.type <= CRI_HOOK_TCP && hook.args.len <= CRI_HOOK_TEXT_MAX);
		for (size_t i = 0; i < hook.args.len; i++)
			n += hook.args.data[i] == 0;
		assert(n == hook.n_args && n <= CRI_HOOK_ARGS_MAX);
		assert((n > 0) == (hook.type == CRI_HOOK_EXEC));
	}
	cri_hook_done(&hook);
	(void)cri_read_exec(data, size, &code);
}

static void check_answers(const uint8_t *data, size_t size)
{
	struct cri_runtime runtime;
	struct cri_event event;
	struct cri_item item;
	uint32_t stop_signal;

	if (cri_read_version(data, size, &runtime) == 0) {
		fuzz_check_text(runtime.name, sizeof(runtime.name));
		fuzz_check_text(runtime.version, sizeof(runtime.version));
		fuzz_check_text(runtime.api, sizeof(runtime.api));
	}
	if (cri_read_status(data, size, &item) == 0)
		check_item(&item);
	if (cri_read_image(data, size, &stop_signal) == 0)
		assert(stop_signal <= 64);
	check_hook(data, size);
	if (cri_read_event(data, size, NULL, &event) == 0) {
		check_id(event.id, false);
		assert(event.type <= CRI_EVENT_DELETED && event.wall_ns >= 0);
		if (event.has_container)
			check_item(&event.container);
		if (event.has_sandbox)
			check_item(&event.sandbox);
		assert(!event.has_container || !strcmp(event.container.container.id, event.id));
	}
}

static void check_grpc(const uint8_t *data, size_t size)
{
	const void *payload;
	size_t at = 0, len, consumed;
	char text[64];

	while (grpc_unframe(data + at, size - at, 1 << 20, &payload, &len, &consumed) == 0) {
		if (consumed == 0)
			break;
		assert(consumed == len + 5 && consumed <= size - at);
		at += consumed;
	}
	grpc_read_message((const char *)data, size, text, sizeof(text));
	fuzz_check_text(text, sizeof(text));
	assert(grpc_read_status((const char *)data, size) <= 999);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_walk(CRI_SANDBOXES, data, size);
	check_walk(CRI_CONTAINERS, data, size);
	check_answers(data, size);
	check_grpc(data, size);
	return 0;
}
