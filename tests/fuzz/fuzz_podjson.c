// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a list of pods in JSON: walked to an end in a bounded number of steps; as an event
 * of the kubelet's stream, and as a pod in protobuf. What is read is text within its limits. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/names/meta.h"
#include "fuzz/fuzz.h"
#include "wire/kubernetes/pods.h"

struct received {
	size_t pods;
	char uid[POD_UID_MAX];
};

static void check_pod(void *userdata, const struct meta_pod *m, const struct podobj_pod *pod)
{
	struct received *received = userdata;
	size_t len = strlen(m->uid);

	assert(m->source == META_KUBELET && !m->gone);
	assert(len == 36 || len == 32);
	assert(!pod->mirror || (len == 32 && m->is_static));
	fuzz_check_text(m->uid, sizeof(m->uid));
	fuzz_check_text(m->namespace_, sizeof(m->namespace_));
	fuzz_check_text(m->name, sizeof(m->name));
	fuzz_check_text(m->workload, sizeof(m->workload));
	assert(m->grace_ns <= PODJSON_GRACE_MAX * 1000000000ull);
	assert(m->deletion_grace_ns <= PODJSON_GRACE_MAX * 1000000000ull);
	assert(!m->deleting || (m->known & META_POD_DELETING));
	assert(!m->sidecars || (m->known & META_POD_SIDECARS));
	assert(!m->is_static || (m->known & META_POD_STATIC));
	assert(!m->ready || (m->known & META_POD_READY));
	assert(m->qos <= CGPATH_QOS_BESTEFFORT && m->phase <= META_PHASE_UNKNOWN);
	assert(m->restart_policy <= META_RESTART_NEVER);
	assert(!m->end || (m->phase == META_PHASE_FAILED && m->end <= META_END_DEADLINE));
	received->pods++;
	memcpy(received->uid, m->uid, sizeof(received->uid));
}

static void check_container(void *userdata, const struct meta_container *c)
{
	const struct received *received = userdata;

	assert(c->source == META_KUBELET && c->kind == META_KIND_CONTAINER);
	assert(received->pods > 0 && strcmp(c->pod_uid, received->uid) == 0);
	fuzz_check_text(c->id, sizeof(c->id));
	fuzz_check_text(c->name, sizeof(c->name));
	fuzz_check_text(c->image, sizeof(c->image));
	fuzz_check_text(c->exit_reason, sizeof(c->exit_reason));
	assert(*c->name && !*c->unit);
	assert(c->stop_signal <= 64);
	assert(!c->prestop || (c->known & META_CTR_PRESTOP));
	assert(!c->probe_grace || (c->known & META_CTR_PROBE_GRACE));
}

static void check_pod_proto(struct podproto *reader, const void *data, size_t size)
{
	struct received received = {};
	struct podjson_sink sink = {&received, check_pod, check_container, NULL};
	int r = podproto_read_pod(reader, data, size, &sink);

	assert(r == 0 || r == 1 || r == -ENOMEM);
	assert(received.pods == (r == 0));
}

static void check_proto(const uint8_t *data, size_t size)
{
	struct podproto_event event;
	struct podproto *reader;

	if (podproto_new(&reader) < 0)
		return;
	check_pod_proto(reader, data, size);
	if (podproto_read_event(reader, data, size, &event) == 0)
		check_pod_proto(reader, event.pod, event.pod_len);
	podproto_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct received received = {};
	struct podjson_sink sink = {&received, check_pod, check_container, NULL};
	struct podjson_list counts;
	struct podjson *walk;
	size_t calls = 0;
	int r;

	check_proto(data, size);
	if (podjson_new((const char *)data, size, &walk) < 0)
		return 0;
	do {
		r = podjson_next(walk, &sink);
		assert(++calls <= size + 2);
	} while (r == 1);
	assert(r == 0 || r == -EBADMSG || r == -ENOMEM);
	counts = *podjson_list(walk);
	assert(counts.pods == received.pods);
	podjson_free(walk);
	return 0;
}
