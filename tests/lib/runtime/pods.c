// SPDX-License-Identifier: Apache-2.0
// Make and end pods by containerd for the tests that look at what is traced of them.
#include "lib/runtime/pods.h"

#include "lib/claim.h"
#include "lib/patience.h"

#include <stdio.h>
#include <unistd.h>

int runtime_pods_open(struct runtime_pods *pods, const char *what, const char *const *args)
{
	char pause[HIER_PATH_MAX], hup[HIER_PATH_MAX];

	*pods = (struct runtime_pods){0};
	if (runtime_stage_open(&pods->stage, what))
		return -1;
	if (!pods->stage.host)
		return 0;
	if (runtime_host_image(pods->stage.host, CONTAINERD_PAUSE, "",
			       BOX_ARGV("comm", "pause", "deaf"), pause) ||
	    runtime_host_image(pods->stage.host, RUNTIME_IMAGE_HUP, "SIGHUP", BOX_ARGV("graceful"),
			       hup) ||
	    runtime_containerd_start(pods->stage.host, &pods->containerd) ||
	    runtime_containerd_import("k8s.io", hup) ||
	    runtime_containerd_import("k8s.io", pause) ||
	    runtime_containerd_import("k8s.io", pods->stage.image) ||
	    runtime_containerd_import("k8s.io", pods->stage.image_quit) ||
	    runtime_cri_open(CONTAINERD_SOCKET, &pods->cri) || runtime_cri_await(pods->cri)) {
		runtime_host_logs(pods->stage.host);
		runtime_pods_close(pods);
		return -1;
	}
	return runtime_stage_trace(&pods->stage, args);
}

int runtime_pods_close(struct runtime_pods *pods)
{
	pods->cri = runtime_cri_free(pods->cri);
	return runtime_stage_close(&pods->stage);
}

void runtime_pods_need(const struct runtime_pods *pods)
{
	runtime_stage_need(&pods->stage);
}

void runtime_pods_name(struct runtime_pods *pods, struct runtime_pod *pod)
{
	static unsigned int made; /* of this process, whose id is in the uid, too */

	snprintf(pod->uid, sizeof(pod->uid), "%08x-0000-4000-8000-%012x", getpid(),
		 __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED));
	snprintf(pod->cgroup_parent, sizeof(pod->cgroup_parent), "%s/kubepods/burstable/pod%s",
		 pods->stage.host->cgroup, pod->uid);
}

static void expect(struct runtime_pods *pods, int r, const char *what)
{
	if (!r)
		return;
	runtime_host_logs(pods->stage.host);
	fail_msg("%s: %d", what, r);
}

void runtime_pods_start(struct runtime_pods *pods, struct runtime_pod *pod,
			struct runtime_container *container)
{
	container->pod = pod;
	runtime_pods_name(pods, pod);
	expect(pods, runtime_cri_run_pod(pods->cri, pod), "the sandbox does not start");
	expect(pods, runtime_cri_create(pods->cri, container), "no container is created");
	expect(pods, runtime_cri_start(pods->cri, container->id), "the container does not start");
}

/* One that did not end by the runtime's interface is running to that until it has read of its exit,
 * and is not removed before. */
static int remove_ended(struct runtime_cri *cri, const char *id)
{
	int r = runtime_cri_remove(cri, id);

	for (int ms = 0; r && ms < PATIENCE_MS; ms += 100) {
		usleep(100000);
		r = runtime_cri_remove(cri, id);
	}
	return r;
}

void runtime_pods_end(struct runtime_pods *pods, const struct runtime_pod *pod,
		      const struct runtime_container *container, unsigned int grace_s)
{
	expect(pods, runtime_cri_stop(pods->cri, container->id, grace_s), "stop");
	/* A kubelet keeps a container that has ended for longer than graced needs for its names. */
	tracer_await(pods->stage.tracer,
		     &(struct tracer_want){.type = "stop", .id = container->id});
	expect(pods, remove_ended(pods->cri, container->id), "remove");
	expect(pods, runtime_cri_stop_pod(pods->cri, pod->id), "stop the sandbox");
	expect(pods, runtime_cri_remove_pod(pods->cri, pod->id), "remove the sandbox");
}
