// SPDX-License-Identifier: Apache-2.0
// Docker's containers, by a dockerd with a containerd of its own.
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/runtime/cli.h"
#include "lib/runtime/docker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const command[] = {"docker", NULL};
static const char *const run_options[] = {"--network", "none", NULL};
static struct runtime_cli cli = {
	.runtime = "docker",
	.command = command,
	.run_options = run_options,
};
static pid_t dockerd;
static char pod_cgroup[160]; /* of the pod below */

#define POD_UID "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"

#define SECOND 1000000000

/*
 * Docker promises a SIGKILL no sooner than after one second, and nothing of how soon after that a
 * busy machine gets it done: which verdict is due follows from when it came. The container's own
 * timeout is 10 s.
 */
static void judge_own_timeout(const json_t *rec)
{
	int64_t after = jrec_int(rec, "kill_signal.at_boot_ns", 0) -
			jrec_int(rec, "stop_signal.at_boot_ns", 0),
		whole = (after + SECOND / 2) / SECOND, off = after - whole * SECOND;
	char want[192];

	assert_true(after >= SECOND);
	if (off >= -SECOND / 10 && off <= SECOND / 10 && whole != 10)
		snprintf(want, sizeof(want),
			 "{'cause':'grace-expired','grace':{'seconds':%d,'from':'inferred'},"
			 "'evidence':{'complete':false,'gaps':['grace-uncertain']}}",
			 (int)whole);
	else if (after < 9LL * SECOND)
		snprintf(want, sizeof(want),
			 "{'cause':'killed-early','grace':{'seconds':10,'from':'runtime'},"
			 "'evidence':{'complete':false,'gaps':['grace-uncertain']}}");
	else
		snprintf(want, sizeof(want), "{'cause':'grace-expired'}");
	judge_match(rec, want);
}

static const struct runtime_cli_scene scenes[] = {
	{
		.claim = "a container that stops when asked is graceful, by its name, and is good "
			 "for graced try",
		.name = "good",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "graceful",
		.tried = "0",
		.expected =
			"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},'deaf':false,"
			"'evidence':{'complete':true},'kill_signal':null,'grace':{'seconds':10},"
			"'stop_signal':{'number':15,'result':'delivered'}}",
	},
	{
		.claim = "one that does not hear is deaf, killed when its time is over, and not "
			 "good for graced try",
		.name = "deaf",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "deaf",
		.tried = "1",
		.run = {"--stop-timeout", "3"},
		.expected =
			"{'outcome':'killed','cause':'grace-expired','exit':{'signal':9},'deaf':true,"
			"'grace':{'seconds':3},"
			"'stop_signal':{'number':15,'result':'ignored'},"
			"'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'runc'}}}",
	},
	{
		.claim = "with crun, one that stops when asked is graceful",
		.name = "good-crun",
		.handler = "crun",
		.image = "stops:1",
		.behaviour = "graceful",
		.expected =
			"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},'deaf':false,"
			"'evidence':{'complete':true},'kill_signal':null,"
			"'stop_signal':{'number':15,'result':'delivered'}}",
	},
	{
		.claim = "with crun, one that does not hear is deaf, and killed",
		.name = "deaf-crun",
		.handler = "crun",
		.image = "stops:1",
		.behaviour = "deaf",
		.run = {"--stop-timeout", "1"},
		.expected =
			"{'outcome':'killed','cause':'grace-expired','exit':{'signal':9},'deaf':true,"
			"'stop_signal':{'number':15,'result':'ignored'},"
			"'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'crun'}}}",
	},
	{
		.claim = "a timeout that was given with the stop is inferred from a whole second",
		.name = "early",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "deaf",
		.stop = {"-t", "1"},
		.expected = "{'outcome':'killed','exit':{'signal':9},'deaf':true,"
			    "'stop_signal':{'number':15,'result':'ignored'},"
			    "'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'runc'}}}",
		.judge = judge_own_timeout,
	},
	{
		.claim = "the stop signal is the image's",
		.name = "quits",
		.handler = "runc",
		.image = "quits:1",
		.behaviour = "graceful",
		.expected = "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
			    "'stop_signal':{'number':3,'name':'SIGQUIT','result':'delivered'}}",
	},
	{
		.claim = "the stop signal is what the container was given instead",
		.name = "hangs-up",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "graceful",
		.run = {"--stop-signal", "SIGHUP"},
		.expected = "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
			    "'stop_signal':{'number':1,'name':'SIGHUP','result':'delivered'}}",
	},
	{
		.claim = "SIGSTOP suspends PID 1 and does not end it, and no exec would help",
		.name = "suspended",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "deaf",
		.run = {"--stop-signal", "SIGSTOP", "--stop-timeout", "1"},
		.expected = "{'outcome':'killed','reason':'suspends','deaf':false,"
			    "'stop_signal':{'name':'SIGSTOP','result':'delivered'}}",
	},
	{
		.claim = "SIGTTIN is dropped, and would only suspend it, too",
		.name = "drops-ttin",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "deaf",
		.run = {"--stop-signal", "SIGTTIN", "--stop-timeout", "1"},
		.expected = "{'outcome':'killed','reason':'suspends','deaf':true,"
			    "'stop_signal':{'name':'SIGTTIN','result':'ignored'}}",
	},
	{
		.claim = "an init that passes the stop signal on is heard",
		.name = "with-init",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "graceful",
		.run = {"--init"},
		.expected =
			"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},'deaf':false,"
			"'stop_signal':{'number':15,'result':'delivered'},"
			"'forwarded':{'number':15,'count':1,'target':{'comm':'workload'}}}",
	},
	{
		.claim =
			"one in the host's pid namespace has no shield, and is reported like any other",
		.name = "host-pid",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "deaf",
		.run = {"--pid", "host"},
		.expected = "{'outcome':'terminated','cause':'stop-signal','exit':{'signal':15},"
			    "'deaf':false,'process':{'comm':'workload'},"
			    "'stop_signal':{'number':15,'result':'delivered'}}",
	},
	{
		.claim = "what cri-dockerd labels as one is the sandbox of its pod",
		.name = "k8s_POD_web-0",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "graceful",
		.run = {"--cgroup-parent", pod_cgroup, "--label", "io.kubernetes.pod.uid=" POD_UID,
			"--label", "io.kubernetes.docker.type=podsandbox"},
		.names = "{'pod':{'uid':'" POD_UID "'},"
			 "'container':{'name':null,'runtime':'docker','kind':'sandbox'}}",
		.expected = "{'outcome':'graceful','grace':null,'evidence':{'complete':true}}",
	},
	{
		.claim = "and what it labels as a container is none, whatever it runs",
		.name = "k8s_main_web-0",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "graceful",
		.run = {"--cgroup-parent", pod_cgroup, "--label", "io.kubernetes.pod.uid=" POD_UID,
			"--label", "io.kubernetes.docker.type=container"},
		.names = "{'pod':{'uid':'" POD_UID "'},"
			 "'container':{'name':'k8s_main_web-0','runtime':'docker',"
			 "'kind':'container'}}",
		.expected = "{'outcome':'graceful','evidence':{'complete':true}}",
	},
	{
		.claim = "the labels of compose are its namespace and its workload",
		.name = "shop-web-1",
		.handler = "runc",
		.image = "stops:1",
		.behaviour = "graceful",
		.run = {"--label", "com.docker.compose.project=shop", "--label",
			"com.docker.compose.service=web"},
		.audited = "{'container':{'namespace':'shop','workload':'web'},'verdict':'hears'}",
		.names = "{'pod':null,'container':{'name':'shop-web-1','runtime':'docker',"
			 "'namespace':'shop','workload':'web'}}",
		.expected = "{'outcome':'graceful','evidence':{'complete':true}}",
	},
	{
		.claim = "the audit asks each for its own stop signal, by its name",
		.name = "asked",
		.handler = "runc",
		.image = "quits:1",
		.behaviour = "graceful",
		.audited = "{'container':{'name':'asked'},'signal':{'name':'SIGQUIT'},"
			   "'verdict':'hears','reason':'handler'}",
		.expected = "{'outcome':'graceful'}",
	},
};

static int setup(void **state)
{
	if (runtime_stage_open(&cli.stage, "docker"))
		return -1;
	if (!cli.stage.host)
		return 0;
	snprintf(pod_cgroup, sizeof(pod_cgroup), "%s/kubepods/burstable/pod" POD_UID,
		 cli.stage.host->cgroup);
	if (runtime_docker_start(&cli.stage, &dockerd)) {
		runtime_host_logs(cli.stage.host);
		return -1;
	}
	return runtime_stage_trace(&cli.stage, NULL);
}

static int teardown(void **state)
{
	if (dockerd)
		runtime_host_end(dockerd, SIGTERM);
	return runtime_stage_close(&cli.stage);
}

int main(void)
{
	return runtime_cli_main(&cli, scenes, LEN(scenes), setup, teardown);
}
