// SPDX-License-Identifier: Apache-2.0
// Podman's containers, which no daemon keeps: by crun and by runc, with cgroups by cgroupfs.
#include "lib/claim.h"
#include "lib/runtime/cli.h"

#include <stdio.h>
#include <stdlib.h>

#define POLICY "{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}"

static char parent[HIER_PATH_MAX];
static const char *const command[] = {
	"podman", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", NULL,
};
static const char *const run_options[] = {
	"--network", "none", "--cgroup-parent", parent, NULL,
};
static struct runtime_cli cli = {
	.runtime = "podman",
	.command = command,
	.run_options = run_options,
	.handler_first = true,
};

static const struct runtime_cli_scene scenes[] = {
	{
		.claim = "a container that stops when asked is graceful, by its name, and is good "
			 "for graced try",
		.tried = "0",
		.name = "good",
		.handler = "crun",
		.image = RUNTIME_IMAGE,
		.behaviour = "graceful",
		.expected =
			"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},'deaf':false,"
			"'evidence':{'complete':true},'kill_signal':null,'grace':null,"
			"'stop_signal':{'number':15,'result':'delivered'}}",
	},
	{
		.claim = "one that does not hear is deaf, killed when its time is over, and not "
			 "good for graced try",
		.tried = "1",
		.name = "deaf",
		.handler = "crun",
		.image = RUNTIME_IMAGE,
		.behaviour = "deaf",
		.run = {"--stop-timeout", "1"},
		.expected =
			"{'outcome':'killed','cause':'grace-expired','exit':{'signal':9},'deaf':true,"
			"'stop_signal':{'number':15,'result':'ignored'},"
			"'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'crun'}}}",
	},
	{
		.claim = "with runc, one that stops when asked is graceful",
		.name = "good-runc",
		.handler = "runc",
		.image = RUNTIME_IMAGE,
		.behaviour = "graceful",
		.expected =
			"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},'deaf':false,"
			"'evidence':{'complete':true},'kill_signal':null,"
			"'stop_signal':{'number':15,'result':'delivered'}}",
	},
	{
		.claim = "with runc, one that does not hear is deaf, and killed",
		.name = "deaf-runc",
		.handler = "runc",
		.image = RUNTIME_IMAGE,
		.behaviour = "deaf",
		.run = {"--stop-timeout", "1"},
		.expected =
			"{'outcome':'killed','cause':'grace-expired','exit':{'signal':9},'deaf':true,"
			"'stop_signal':{'number':15,'result':'ignored'},"
			"'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'runc'}}}",
	},
	{
		.claim = "one that is given another time for once is killed when that is over",
		.name = "sooner",
		.handler = "crun",
		.image = RUNTIME_IMAGE,
		.behaviour = "deaf",
		.stop = {"-t", "1"},
		.expected = "{'outcome':'killed','cause':'grace-expired','exit':{'signal':9},"
			    "'grace':null,'deaf':true}",
	},
	{
		.claim = "the stop signal is the image's",
		.name = "quits",
		.handler = "crun",
		.image = RUNTIME_IMAGE_QUIT,
		.behaviour = "graceful",
		.expected = "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
			    "'stop_signal':{'number':3,'name':'SIGQUIT','result':'delivered'}}",
	},
	{
		.claim = "the stop signal is what the container was given instead",
		.name = "hangs-up",
		.handler = "crun",
		.image = RUNTIME_IMAGE,
		.behaviour = "graceful",
		.run = {"--stop-signal", "SIGHUP"},
		.expected = "{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},"
			    "'stop_signal':{'number':1,'name':'SIGHUP','result':'delivered'}}",
	},
	{
		.claim = "an init that passes the stop signal on is heard",
		.name = "with-init",
		.handler = "crun",
		.image = RUNTIME_IMAGE,
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
		.image = RUNTIME_IMAGE,
		.behaviour = "deaf",
		.run = {"--pid", "host"},
		.expected = "{'outcome':'terminated','cause':'stop-signal','exit':{'signal':15},"
			    "'deaf':false,'process':{'comm':'workload'},"
			    "'stop_signal':{'number':15,'result':'delivered'}}",
	},
	{
		.claim = "the audit asks each for its own stop signal, by its name",
		.name = "asked",
		.handler = "crun",
		.image = RUNTIME_IMAGE_QUIT,
		.behaviour = "graceful",
		.audited = "{'container':{'name':'asked'},'signal':{'name':'SIGQUIT'},"
			   "'verdict':'hears','reason':'handler'}",
		.expected = "{'outcome':'graceful'}",
	},
};

static int configure(void)
{
	char text[4 * HIER_PATH_MAX], path[HIER_PATH_MAX], policy[HIER_PATH_MAX];
	const struct runtime_host *host = cli.stage.host;

	snprintf(text, sizeof(text),
		 "[containers]\n"
		 "default_ulimits = []\n"
		 "[engine]\n"
		 "events_logger = \"file\"\n"
		 "conmon_path = [\"%s/usr/bin/conmon\"]\n"
		 "init_path = \"%s/usr/bin/tini-static\"\n"
		 "[engine.runtimes]\n"
		 "crun = [\"%s/bin/crun\"]\n"
		 "runc = [\"%s/usr/sbin/runc\"]\n"
		 "[network]\n"
		 "network_backend = \"cni\"\n",
		 host->packages, host->packages, host->dir, host->packages);
	if (runtime_host_write(host, "containers.conf", 0644, text) ||
	    runtime_host_write(host, "policy.json", 0644, POLICY))
		return -1;
	snprintf(path, sizeof(path), "%s/containers.conf", host->dir);
	setenv("CONTAINERS_CONF", path, 1);
	snprintf(policy, sizeof(policy), "%s/policy.json", host->dir);
	snprintf(parent, sizeof(parent), "%s/podman", host->cgroup);
	free(runtime_cli_do(&cli,
			    BOX_ARGV("load", "--signature-policy", policy, "-i", cli.stage.image)));
	free(runtime_cli_do(&cli, BOX_ARGV("load", "--signature-policy", policy, "-i",
					   cli.stage.image_quit)));
	return 0;
}

static int setup(void **state)
{
	if (runtime_stage_open(&cli.stage, "podman"))
		return -1;
	if (!cli.stage.host)
		return 0;
	return configure() ? -1 : runtime_stage_trace(&cli.stage, NULL);
}

static int teardown(void **state)
{
	return runtime_stage_close(&cli.stage);
}

int main(void)
{
	return runtime_cli_main(&cli, scenes, LEN(scenes), setup, teardown);
}
