// SPDX-License-Identifier: Apache-2.0
// Start Docker's daemon for the tests that use it.
#include "lib/runtime/docker.h"

#include <stdio.h>
#include <stdlib.h>

#define SOCKET "/run/docker.sock"

static int write_config(const struct runtime_host *host)
{
	char text[4 * HIER_PATH_MAX];

	snprintf(text, sizeof(text),
		 "{\"bridge\":\"none\",\"iptables\":false,\"ip6tables\":false,"
		 "\"ip-masq\":false,\"ip-forward\":false,\"userland-proxy\":false,"
		 "\"storage-driver\":\"vfs\",\"exec-opts\":[\"native.cgroupdriver=cgroupfs\"],"
		 "\"cgroup-parent\":\"%s/docker\","
		 "\"init-path\":\"%s/usr/bin/docker-init\","
		 "\"runtimes\":{\"crun\":{\"path\":\"%s/bin/crun\"}}}",
		 host->cgroup, host->packages, host->dir);
	return runtime_host_write(host, "daemon.json", 0644, text);
}

int runtime_docker_start(const struct runtime_stage *stage, pid_t *ret)
{
	const struct runtime_host *host = stage->host;
	char path[HIER_PATH_MAX];

	if (write_config(host))
		return -1;
	snprintf(path, sizeof(path), "%s/daemon.json", host->dir);
	if (runtime_host_spawn(host,
			       BOX_ARGV("dockerd", "--config-file", path, "-H", "unix://" SOCKET),
			       "dockerd", ret) ||
	    runtime_host_await_socket(SOCKET, *ret))
		return -1;
	setenv("DOCKER_HOST", "unix://" SOCKET, 1);
	if (runtime_host_run(BOX_ARGV("docker", "load", "-i", stage->image), NULL))
		return -1;
	return runtime_host_run(BOX_ARGV("docker", "load", "-i", stage->image_quit), NULL) ? -1 : 0;
}
