// SPDX-License-Identifier: Apache-2.0
// Containers of containerd that are in no pod: ctr makes them, with ids of any kind.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/run.h"
#include "lib/runtime/containerd.h"
#include "lib/runtime/stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NERD_ID "d05e00112233445566778899aabbccddeeff00112233445566778899aabbccdd"
#define HEX_ID	"5eed00112233445566778899aabbccddeeff00112233445566778899aabbccdd"

static struct runtime_stage stage;
static struct runtime_containerd containerd;

/* ctr names the cgroup /<namespace>/<id>: the namespace is what the host's cgroup is called. */
static const char *namespace_(void)
{
	return stage.host->cgroup + 1;
}

static void ctr(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	free(runtime_stage_run(BOX_ARGV("ctr", "-n", namespace_(), a, b, c, d, e)));
}

static void start(const char *id, const char *handler, const char *behaviour)
{
	free(runtime_stage_run(BOX_ARGV("ctr", "-n", namespace_(), "run", "-d", "--snapshotter",
					"native", "--runc-binary", handler, RUNTIME_IMAGE, id,
					"/workload", behaviour)));
	runtime_stage_await(&stage, id, !strcmp(behaviour, "graceful"));
}

static void remove_container(const char *id)
{
	ctr("task", "rm", id, NULL, NULL);
	ctr("container", "rm", id, NULL, NULL);
}

static int setup(void **state)
{
	if (runtime_stage_open(&stage, "ctr"))
		return -1;
	if (!stage.host)
		return 0;
	if (runtime_containerd_start(stage.host, &containerd) ||
	    runtime_containerd_import(namespace_(), stage.image)) {
		runtime_host_logs(stage.host);
		return -1;
	}
	return runtime_stage_trace(&stage, NULL);
}

static int teardown(void **state)
{
	return runtime_stage_close(&stage);
}

static void judge_good(const char *id, const char *handler)
{
	char expected[512];

	runtime_stage_need(&stage);
	start(id, handler, "graceful");
	ctr("task", "kill", "-s", "SIGTERM", id);
	snprintf(expected, sizeof(expected),
		 "{'outcome':'graceful','cause':'stop-signal','pod':null,'deaf':false,"
		 "'exit':{'code':0},'evidence':{'complete':true},"
		 "'container':{'id':'%s','name':'%s','runtime':'containerd'},"
		 "'stop_signal':{'number':15,'result':'delivered','sender':"
		 "{'kind':'runtime','comm':'%s'}},'kill_signal':null}",
		 id, id, handler);
	runtime_stage_stopped(&stage, id, expected);
	remove_container(id);
}

static void judge_deaf(const char *id, const char *handler)
{
	char expected[512];

	runtime_stage_need(&stage);
	start(id, handler, "deaf");
	ctr("task", "kill", "-s", "SIGTERM", id);
	ctr("task", "kill", "-s", "SIGKILL", id);
	snprintf(expected, sizeof(expected),
		 "{'outcome':'killed','cause':'grace-expired','pod':null,'deaf':true,"
		 "'exit':{'code':null,'signal':9},'grace':null,"
		 "'container':{'id':'%s','name':'%s','runtime':'containerd'},"
		 "'stop_signal':{'number':15,'result':'ignored'},"
		 "'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'%s'}}}",
		 id, id, handler);
	runtime_stage_stopped(&stage, id, expected);
	remove_container(id);
}

static void hex_good(void **state)
{
	judge_good(HEX_ID, "runc");
}

static void plain_good(void **state)
{
	judge_good("web1", "runc");
}

static void plain_deaf(void **state)
{
	judge_deaf("web2", "runc");
}

static void crun_good(void **state)
{
	judge_good("web3", "crun");
}

static void crun_deaf(void **state)
{
	judge_deaf("web4", "crun");
}

/* containerd cleans up by runc delete --force. */
static void shim_killed(void **state)
{
	char expected[512], comm[16];
	pid_t init, shim;

	runtime_stage_need(&stage);
	start("web5", "runc", "graceful");
	init = runtime_stage_await(&stage, "web5", true);
	assert_int_equal(peek_parent(init, &shim, comm), 0);
	assert_int_equal(kill(shim, SIGKILL), 0);
	snprintf(expected, sizeof(expected),
		 "{'outcome':'killed','cause':'runtime-lost','stop_signal':null,"
		 "'evidence':{'complete':true},'kill_signal':{'sender':{'kind':'runtime'}},"
		 "'keeper_signal':{'number':9,'sender':{'kind':'host','pid':%d}}}",
		 (int)getpid());
	runtime_stage_stopped(&stage, "web5", expected);
	ctr("container", "rm", "web5", NULL, NULL);
}

/* What nerdctl leaves at a task; in its place stands what has containerd do the same. */
static void named_by_nerdctl(void **state)
{
	struct run_result result;
	char text[256];

	runtime_stage_need(&stage);
	snprintf(
		text, sizeof(text),
		"#!/bin/sh\n[ \"$1 $2\" = 'stop -s' ] && exec ctr -n %s task kill -s \"$3\" \"$4\"\n",
		namespace_());
	assert_int_equal(runtime_host_write(stage.host, "bin/nerdctl", 0755, text), 0);
	free(runtime_stage_run(BOX_ARGV(
		"ctr", "-n", namespace_(), "run", "-d", "--snapshotter", "native", "--annotation",
		"nerdctl/namespace=default", "--annotation", "nerdctl/name=shop", "--annotation",
		"nerdctl/stop-timeout=7", RUNTIME_IMAGE, NERD_ID, "/workload", "graceful")));
	runtime_stage_await(&stage, NERD_ID, true);
	assert_int_equal(
		run(&(struct run_spec){.args = BOX_ARGV("try", "-s", "TERM", "shop")}, &result), 0);
	if (result.status)
		fail_msg("status %d: %s%s", result.status, result.out, result.err);
	run_done(&result);
	runtime_stage_stopped(&stage, NERD_ID,
			      "{'outcome':'graceful','cause':'stop-signal','pod':null,"
			      "'container':{'name':'shop','runtime':'containerd'},"
			      "'grace':{'seconds':7,'from':'runtime'}}");
	remove_container(NERD_ID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container with an id of 64 hex digits that stops when asked is graceful",
		      hex_good),
		CLAIM("so is one with an id that people choose, by its id", plain_good),
		CLAIM("one that does not hear its stop signal is deaf, then killed", plain_deaf),
		CLAIM("a container of crun's that stops when asked is graceful", crun_good),
		CLAIM("one of crun's that does not hear is deaf, then killed", crun_deaf),
		CLAIM("one that containerd ends because its shim was killed lost its runtime",
		      shim_killed),
		CLAIM("one of nerdctl has the name and the grace period that it gave, and graced "
		      "try has nerdctl stop it, by a signal",
		      named_by_nerdctl),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
