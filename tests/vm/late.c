// SPDX-License-Identifier: Apache-2.0
/*
 * Makes a pod of one container by the runtime alone, as a kubelet does that has begun to when it is
 * stopped. Prints the container's id.
 *   late NAME IMAGE [ARGUMENT...]
 */
#include <stdio.h>
#include <string.h>

#include "lib/runtime/cri.h"

#define SOCKET "/run/containerd/containerd.sock"
#define UID    "1a7e0000-0000-4000-8000-000000000000"
#define SLICE  "kubepods-besteffort-pod1a7e0000_0000_4000_8000_000000000000.slice"

static int make(struct runtime_cri *cri, struct runtime_pod *pod,
		struct runtime_container *container)
{
	int r = runtime_cri_run_pod(cri, pod);

	if (r == 0)
		r = runtime_cri_create(cri, container);
	if (r == 0)
		r = runtime_cri_start(cri, container->id);
	return r;
}

int main(int argc, char **argv)
{
	struct runtime_pod pod = {
		.namespace_ = "default",
		.handler = "runc",
		.grace_s = 60,
		.uid = UID,
		.cgroup_parent = "/kubepods.slice/kubepods-besteffort.slice/" SLICE,
	};
	struct runtime_container container = {.pod = &pod, .name = "main"};
	struct runtime_cri *cri = NULL;
	int r;

	if (argc < 3) {
		fprintf(stderr, "usage: late NAME IMAGE [ARGUMENT...]\n");
		return 2;
	}
	pod.name = argv[1];
	container.image = argv[2];
	container.args = (const char *const *)argv + 3;
	r = runtime_cri_open(SOCKET, &cri);
	if (r == 0)
		r = make(cri, &pod, &container);
	runtime_cri_free(cri);
	if (r < 0) {
		fprintf(stderr, "late: %s\n", strerror(-r));
		return 1;
	}
	puts(container.id);
	return 0;
}
