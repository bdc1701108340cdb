// SPDX-License-Identifier: Apache-2.0
// containerd dies and comes back with another socket while pods live, stop and start.
#include "lib/box/page.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/runtime/pods.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAMED_WITHIN_NS 40000000000ull

static struct runtime_pods pods;
static size_t made; /* containers and sandboxes that ended */
static struct runtime_pod early = {.namespace_ = "shop",
				   .name = "early",
				   .handler = "runc",
				   .grace_s = 2};
static struct runtime_container early_main = {.name = "main", .image = RUNTIME_IMAGE};
static struct runtime_container early_side = {.name = "side", .image = RUNTIME_IMAGE_QUIT};

static int setup(void **state)
{
	return runtime_pods_open(&pods, "restart", NULL);
}

static int teardown(void **state)
{
	return runtime_pods_close(&pods);
}

/* When the socket was made, in ns. */
static int64_t socket_made(void)
{
	struct stat st;

	return stat(CONTAINERD_SOCKET, &st) == 0
		       ? st.st_ctim.tv_sec * 1000000000ll + st.st_ctim.tv_nsec
		       : 0;
}

static void expect_named(const struct runtime_container *container, const char *also)
{
	char expected[512];

	snprintf(expected, sizeof(expected),
		 "{'pod':{'namespace':'shop','name':'%s','uid':'%s'},"
		 "'container':{'name':'%s','kind':'container'}}",
		 container->pod->name, container->pod->uid, container->name);
	runtime_stage_stopped(&pods.stage, container->id, expected);
	runtime_stage_stopped(&pods.stage, container->id, also);
}

static void stopped_while_down(void **state)
{
	pid_t pid;

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &early, &early_main);
	early_side.pod = &early;
	assert_int_equal(runtime_cri_create(pods.cri, &early_side), 0);
	assert_int_equal(runtime_cri_start(pods.cri, early_side.id), 0);
	pid = runtime_stage_await(&pods.stage, early_main.id, true);
	runtime_stage_await(&pods.stage, early_side.id, true);
	runtime_containerd_kill(&pods.containerd);
	assert_int_equal(kill(pid, SIGTERM), 0);
	made++;
	expect_named(&early_main, "{'outcome':'graceful','cause':'stop-signal',"
				  "'stop_signal':{'number':15,'sender':{'kind':'host'}},"
				  "'evidence':{'complete':true}}");
}

/* A pod that lives no longer than it takes: whether its container was reported with its names. */
static bool is_named(int nth)
{
	struct runtime_container container = {.name = "main", .image = RUNTIME_IMAGE};
	struct runtime_pod late = early;
	const json_t *stop;
	char name[16];

	snprintf(name, sizeof(name), "late-%d", nth);
	late.name = name;
	runtime_pods_start(&pods, &late, &container);
	runtime_stage_await(&pods.stage, container.id, true);
	runtime_pods_end(&pods, &late, &container, 2);
	stop = runtime_stage_stopped(&pods.stage, container.id,
				     "{'outcome':'graceful',"
				     "'stop_signal':{'sender':{'kind':'runtime'}}}");
	made += 2;
	return !strcmp(jrec_text(stop, "pod.name"), name) &&
	       !strcmp(jrec_text(stop, "container.name"), "main");
}

/* The runtime is asked again after a while, which is longer the longer it was away. */
static void await_names(void)
{
	static int nth;
	uint64_t until = page_clock_ns() + NAMED_WITHIN_NS;

	while (!is_named(nth++))
		if (page_clock_ns() > until)
			fail_msg("the names do not come back");
}

static void named_again(void **state)
{
	int64_t before = socket_made();

	runtime_pods_need(&pods);
	assert_int_equal(pods.containerd.pid, 0);
	assert_int_equal(runtime_containerd_start(pods.stage.host, &pods.containerd), 0);
	assert_int_equal(runtime_cri_await(pods.cri), 0);
	assert_true(socket_made() > before);
	await_names();
}

static void survivor(void **state)
{
	runtime_pods_need(&pods);
	runtime_pods_end(&pods, &early, &early_side, 2);
	made += 2;
	expect_named(&early_side, "{'outcome':'graceful','cause':'stop-signal',"
				  "'stop_signal':{'number':3,'sender':{'kind':'runtime'}}}");
}

/* As fast as it can: each time the socket is another one. */
static void again_and_again(void **state)
{
	struct runtime_container containers[5];
	struct runtime_pod again[5];
	char names[5][16];

	runtime_pods_need(&pods);
	for (int i = 0; i < 5; i++) {
		snprintf(names[i], sizeof(names[i]), "again-%d", i);
		again[i] = (struct runtime_pod){
			.namespace_ = "shop", .name = names[i], .handler = "crun", .grace_s = 2};
		containers[i] = (struct runtime_container){.name = "main", .image = RUNTIME_IMAGE};
		runtime_pods_start(&pods, &again[i], &containers[i]);
		runtime_stage_await(&pods.stage, containers[i].id, true);
		runtime_containerd_kill(&pods.containerd);
		assert_int_equal(runtime_containerd_start(pods.stage.host, &pods.containerd), 0);
		assert_int_equal(runtime_cri_await(pods.cri), 0);
	}
	await_names();
	for (int i = 0; i < 5; i++)
		runtime_pods_end(&pods, &again[i], &containers[i], 2);
	made += 10;
	for (int i = 0; i < 5; i++)
		expect_named(&containers[i], "{'outcome':'graceful','evidence':{'complete':true}}");
}

static void nothing_lost(void **state)
{
	runtime_pods_need(&pods);
	runtime_stage_expect_stops(&pods.stage, made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container that stops while containerd is dead has its names",
		      stopped_while_down),
		CLAIM("once containerd is back on another socket, new containers have theirs",
		      named_again),
		CLAIM("so has a container that lived through it", survivor),
		CLAIM("five more deaths of containerd cost no stop its names", again_and_again),
		CLAIM("no stop is lost or reported twice", nothing_lost),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
