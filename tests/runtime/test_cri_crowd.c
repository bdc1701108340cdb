// SPDX-License-Identifier: Apache-2.0
// Containers that live for no longer than it takes to make them, as many at once as containerd can.
// containerd has them until their records are out, as the kubelet removes none at once: it has no
// name to give of one that was removed before graced asked.
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/runtime/pods.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PODS	      4
#define CONTAINERS    50 /* in each pod */
#define CROWD	      (PODS * CONTAINERS)
#define EMPTY_WAIT_NS 250000000

static struct runtime_pods pods;

/* One pod's containers, one after another, by a thread of its own. */
struct maker {
	pthread_t thread;
	struct runtime_pod pod;
	char pod_name[16];
	struct runtime_container containers[CONTAINERS];
	char names[CONTAINERS][16];
	int error; /* 0, or what went wrong at first */
};

static struct maker makers[PODS];

static int setup(void **state)
{
	/* A busy containerd answers when it can. */
	return runtime_pods_open(&pods, "crowd", BOX_ARGV("--names.wait", "20s"));
}

static int teardown(void **state)
{
	return runtime_pods_close(&pods);
}

/* Its exit code is its number: no two of a pod have the same. */
static int make_one(struct runtime_cri *cri, struct maker *maker, int i)
{
	struct runtime_container *container = &maker->containers[i];
	char code[8];
	int r;

	snprintf(maker->names[i], sizeof(maker->names[i]), "c-%d", i);
	snprintf(code, sizeof(code), "%d", i);
	*container = (struct runtime_container){
		.pod = &maker->pod,
		.name = maker->names[i],
		.image = RUNTIME_IMAGE,
		.args = (const char *const[]){"exit", code, NULL},
	};
	r = runtime_cri_create(cri, container);
	if (!r)
		r = runtime_cri_start(cri, container->id);
	container->args = NULL;
	if (r)
		return r;
	r = runtime_cri_wait(cri, container->id);
	if (r != i)
		return r < 0 ? r : -1000 - r;
	return 0;
}

static void *make_all(void *arg)
{
	struct maker *maker = arg;
	struct runtime_cri *cri = NULL;
	int r = runtime_cri_open(CONTAINERD_SOCKET, &cri);

	if (!r)
		r = runtime_cri_run_pod(cri, &maker->pod);
	for (int i = 0; !r && i < CONTAINERS; i++)
		r = make_one(cri, maker, i);
	runtime_cri_free(cri);
	maker->error = r;
	return NULL;
}

static void *remove_all(void *arg)
{
	struct maker *maker = arg;
	struct runtime_cri *cri = NULL;
	int r = runtime_cri_open(CONTAINERD_SOCKET, &cri);

	for (int i = 0; !r && i < CONTAINERS; i++)
		r = runtime_cri_remove(cri, maker->containers[i].id);
	if (!r)
		r = runtime_cri_stop_pod(cri, maker->pod.id);
	if (!r)
		r = runtime_cri_remove_pod(cri, maker->pod.id);
	runtime_cri_free(cri);
	maker->error = r;
	return NULL;
}

/* For all pods at once. */
static void run(void *(*step)(void *))
{
	for (int i = 0; i < PODS; i++)
		assert_int_equal(pthread_create(&makers[i].thread, NULL, step, &makers[i]), 0);
	for (int i = 0; i < PODS; i++)
		pthread_join(makers[i].thread, NULL);
	for (int i = 0; i < PODS; i++)
		if (makers[i].error) {
			runtime_host_logs(pods.stage.host);
			fail_msg("pod %d: %d", i, makers[i].error);
		}
}

static void make_crowd(void)
{
	for (int i = 0; i < PODS; i++) {
		struct maker *maker = &makers[i];

		snprintf(maker->pod_name, sizeof(maker->pod_name), "crowd-%d", i);
		maker->pod = (struct runtime_pod){.namespace_ = "many",
						  .name = maker->pod_name,
						  .handler = i % 2 ? "crun" : "runc",
						  .grace_s = 1};
		runtime_pods_name(&pods, &maker->pod);
	}
	run(make_all);
}

/* A record waits 250 ms at most for its cgroup to become empty, which the runtime sees to. When
 * that took longer the record has to say so, and only then. */
static void expect_evidence(const json_t *stop, const char *id)
{
	const struct tracer_want want = {.type = "empty", .id = id};
	const json_t *empty;
	char why[256];

	if (!jrec_match(stop, "{'evidence':{'complete':true}}", why, sizeof(why)))
		return;
	if (jrec_match(stop, "{'evidence':{'complete':false,'gaps':['not-empty']}}", why,
		       sizeof(why)))
		fail_msg("%s", why);
	empty = tracer_await(pods.stage.tracer, &want);
	assert_non_null(empty);
	assert_true(jrec_int(empty, "empty_boot_ns", 0) - jrec_int(stop, "exit.at_boot_ns", 0) >=
		    EMPTY_WAIT_NS);
}

static void expect(const struct maker *maker, int i)
{
	const struct runtime_container *container = &maker->containers[i];
	char expected[512];

	snprintf(expected, sizeof(expected),
		 "{'outcome':'%s','cause':'self','exit':{'code':%d},'stop_signal':null,"
		 "'kill_signal':null,"
		 "'pod':{'namespace':'many','name':'%s','uid':'%s'},"
		 "'container':{'name':'%s','runtime':'containerd','kind':'container'}}",
		 i ? "failed" : "completed", i, maker->pod.name, maker->pod.uid, container->name);
	expect_evidence(runtime_stage_stopped(&pods.stage, container->id, expected), container->id);
}

static void all_reported(void **state)
{
	runtime_pods_need(&pods);
	make_crowd();
	for (int i = 0; i < CROWD; i++)
		expect(&makers[i / CONTAINERS], i % CONTAINERS);
}

static void sandboxes_reported(void **state)
{
	char expected[256];

	runtime_pods_need(&pods);
	run(remove_all);
	for (int i = 0; i < PODS; i++) {
		snprintf(expected, sizeof(expected),
			 "{'pod':{'namespace':'many','name':'%s','uid':'%s'},"
			 "'container':{'kind':'sandbox'},'outcome':'killed'}",
			 makers[i].pod.name, makers[i].pod.uid);
		runtime_stage_stopped(&pods.stage, makers[i].pod.id, expected);
	}
}

static void once_each(void **state)
{
	runtime_pods_need(&pods);
	runtime_stage_expect_stops(&pods.stage, CROWD + PODS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("200 containers that live for a moment are all reported, with their names",
		      all_reported),
		CLAIM("so are the sandboxes of their pods", sandboxes_reported),
		CLAIM("each of them is reported once, and nothing else is", once_each),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
