// SPDX-License-Identifier: Apache-2.0
// Pods of a real containerd, whose socket nobody asks: what their sandboxes are taken for.
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/judge.h"
#include "lib/runtime/pods.h"

#include <stdio.h>
#include <string.h>

#define GRACE_S 2

static struct runtime_pods pods;
static struct tracer *blind; /* reads no file of a runtime's, either */

static int setup(void **state)
{
	struct tracer_spec spec = {
		.args = BOX_ARGV("--cri.endpoint", "none", "--names.containerd-state", "/none")};

	if (runtime_pods_open(&pods, "sandbox", BOX_ARGV("--cri.endpoint", "none")))
		return -1;
	if (!pods.stage.host)
		return 0;
	spec.root = pods.stage.host->cgroup;
	return tracer_start(&spec, &blind);
}

static int teardown(void **state)
{
	int status = blind ? tracer_stop(blind) : 0;

	tracer_free(blind);
	return runtime_pods_close(&pods) || status ? -1 : 0;
}

static void play(struct runtime_pod *pod, struct runtime_container *container)
{
	runtime_pods_need(&pods);
	*pod = (struct runtime_pod){.namespace_ = "shop", .handler = "runc", .grace_s = GRACE_S};
	*container = (struct runtime_container){
		.name = "main", .image = RUNTIME_IMAGE, .args = BOX_ARGV("graceful")};
	pod->name = "web-0";
	runtime_pods_start(&pods, pod, container);
	runtime_stage_await(&pods.stage, container->id, true);
	runtime_pods_end(&pods, pod, container, GRACE_S);
}

static void by_files(void **state)
{
	struct runtime_container container;
	struct runtime_pod pod;

	play(&pod, &container);
	runtime_stage_stopped(&pods.stage, pod.id,
			      "{'container':{'name':null,'runtime':'containerd','kind':'sandbox'},"
			      "'grace':null,'evidence':{'complete':true}}");
	runtime_stage_stopped(&pods.stage, container.id,
			      "{'container':{'name':'main','kind':'container'},"
			      "'outcome':'graceful','evidence':{'complete':true}}");
}

static const json_t *stop_of(const char *id)
{
	const json_t *rec = tracer_await(blind, &(struct tracer_want){.type = "stop", .id = id});

	assert_non_null(rec);
	return rec;
}

static void by_shape(void **state)
{
	struct runtime_container container;
	struct runtime_pod pod;

	play(&pod, &container);
	judge_match(stop_of(pod.id), "{'container':{'name':null,'kind':'sandbox'},'grace':null,"
				     "'evidence':{'complete':false,'gaps':['sandbox-guessed']}}");
	judge_match(stop_of(container.id), "{'container':{'name':null,'kind':null},"
					   "'outcome':'graceful','evidence':{'complete':true}}");
}

/* An application of its own pod that calls itself as the sandbox does. */
static void pause_application(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "room", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container container = {.name = "main",
					      .image = RUNTIME_IMAGE,
					      .args = BOX_ARGV("comm", "pause", "graceful")};

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &container);
	runtime_stage_await(&pods.stage, container.id, true);
	runtime_pods_end(&pods, &pod, &container, GRACE_S);
	judge_match(stop_of(container.id), "{'process':{'comm':'pause'},'container':{'kind':null},"
					   "'outcome':'graceful','evidence':{'complete':true}}");
	judge_match(stop_of(pod.id), "{'container':{'kind':'sandbox'},"
				     "'evidence':{'gaps':['sandbox-guessed']}}");
	runtime_stage_stopped(&pods.stage, container.id, "{'container':{'kind':'container'}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("containerd's files tell the sandbox and the container's name", by_files),
		CLAIM("without them the sandbox is a guess, which is marked", by_shape),
		CLAIM("an application that calls itself pause is not taken for it",
		      pause_application),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
