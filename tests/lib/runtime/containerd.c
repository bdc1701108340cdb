// SPDX-License-Identifier: Apache-2.0
// Run a containerd of the test's own.
#include "lib/runtime/containerd.h"

#include "lib/box/box.h"
#include "lib/claim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static const char config[] =
	"version = 2\n"
	"[grpc]\n"
	"  address = \"" CONTAINERD_SOCKET "\"\n"
	"[plugins.\"io.containerd.grpc.v1.cri\"]\n"
	"  sandbox_image = \"" CONTAINERD_PAUSE "\"\n"
	"  restrict_oom_score_adj = true\n"
	"  disable_apparmor = true\n"
	"  [plugins.\"io.containerd.grpc.v1.cri\".containerd]\n"
	"    snapshotter = \"native\"\n"
	"    default_runtime_name = \"runc\"\n"
	"    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\n"
	"      runtime_type = \"io.containerd.runc.v2\"\n"
	"    [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun]\n"
	"      runtime_type = \"io.containerd.runc.v2\"\n"
	"      [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun.options]\n"
	"        BinaryName = \"crun\"\n";

int runtime_containerd_start(const struct runtime_host *host, struct runtime_containerd *ret)
{
	struct runtime_containerd containerd = {.host = host};
	char path[128];
	int r;

	r = runtime_host_write(host, "containerd.toml", 0644, config);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/containerd.toml", host->dir);
	r = runtime_host_spawn(host, BOX_ARGV("containerd", "-c", path), "containerd",
			       &containerd.pid);
	if (r)
		return r;
	r = runtime_host_await_socket(CONTAINERD_SOCKET, containerd.pid);
	if (r && r != -ECHILD)
		runtime_containerd_kill(&containerd);
	if (!r)
		*ret = containerd;
	return r;
}

void runtime_containerd_kill(struct runtime_containerd *containerd)
{
	if (containerd->pid > 0)
		runtime_host_end(containerd->pid, SIGKILL);
	containerd->pid = 0;
}

/* One thread takes the signal and stops the others; until it is scheduled they go on. */
void runtime_containerd_hold(const struct runtime_containerd *containerd)
{
	siginfo_t info;

	assert_int_equal(kill(containerd->pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)containerd->pid, &info, WSTOPPED), 0);
	assert_int_equal(info.si_code, CLD_STOPPED);
}

int runtime_containerd_import(const char *namespace_, const char *archive)
{
	return runtime_host_run(BOX_ARGV("ctr", "-n", namespace_, "images", "import",
					 "--snapshotter", "native", archive),
				NULL)
		       ? -1
		       : 0;
}
