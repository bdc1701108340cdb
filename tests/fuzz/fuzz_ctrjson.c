// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a file of a container engine: what comes out is text, and within its limits. */
#include <assert.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/runtime/files.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void check_container(const struct meta_container *got, enum meta_source source)
{
	assert(got->source == source);
	assert(strcmp(got->id, ID) == 0);
	fuzz_check_text(got->name, sizeof(got->name));
	fuzz_check_text(got->image, sizeof(got->image));
	fuzz_check_text(got->pod_uid, sizeof(got->pod_uid));
	assert(got->stop_signal <= 64);
	assert(got->known & META_CTR_GRACE || got->grace_ns == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct meta_container container;
	static struct ctrjson_bundle bundle;
	const char *text = (const char *)data;

	if (ctrjson_docker(text, size, ID, &container) == 0)
		check_container(&container, META_DOCKER);
	if (ctrjson_storage(text, size, ID, &container) == 0)
		check_container(&container, META_PODMAN);
	if (ctrjson_bundle(text, size, &bundle) == 0) {
		fuzz_check_text(bundle.cgroups_path, sizeof(bundle.cgroups_path));
		fuzz_check_text(bundle.name, sizeof(bundle.name));
		assert(bundle.stop_signal <= 64);
		assert(bundle.has_grace || bundle.grace_ns == 0);
		ctrjson_is_cgroup(bundle.cgroups_path, "/a.slice/a-b.slice/p-n.scope");
		ctrjson_is_cgroup(bundle.cgroups_path, bundle.name);
	}
	return 0;
}
