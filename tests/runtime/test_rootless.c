// SPDX-License-Identifier: Apache-2.0
// A user's own systemd, and below it a real rootless Podman and a real rootless Docker, which have
// it make the cgroups of their containers. The tree is cgroup2, as it is mounted on its own where
// the host has others beside it; there it may have no controllers, and Docker leaves the name of
// the cgroup to runc then.
#include "lib/box/login.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/run.h"
#include "lib/runtime/stage.h"
#include "io/proc/proc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLICY "{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}"
#define ARGS   40
#define SUBIDS "user:7000000:65536\n"

static struct {
	struct runtime_stage of;
	struct login user;
	bool logged_in;
	int guard; /* a pipe: its end is that of the user's processes */
	char session[HIER_PATH_MAX + 64];
	char packages[96], policy[96], runtime_dir[64], docker[128];
} stage;

/* --- as the user ------------------------------------------------------------------------------ */

/* Runs a program as the user, in a cgroup of theirs. */
static const char as_user[] =
	"echo $$ >\"$1/cgroup.procs\" || exit 1; uid=$2 home=$3 packages=$4 run=$5; shift 5; cd /;"
	"libs=$(echo \"$packages\"/usr/lib/*-linux-gnu*);"
	"exec setpriv --reuid \"$uid\" --regid \"$uid\" --clear-groups env -i"
	" PATH=\"$packages/usr/bin:$packages/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin\""
	" LD_LIBRARY_PATH=\"$libs\" HOME=\"$home\" USER=user XDG_RUNTIME_DIR=\"$run\""
	" DBUS_SESSION_BUS_ADDRESS=\"unix:path=$run/bus\""
	" CONTAINERS_CONF=\"$home/containers.conf\" \"$@\"";

static void as_user_args(const char *const *words, const char *argv[static ARGS], char *uid)
{
	const char *const head[] = {"sh",
				    "-c",
				    as_user,
				    "-",
				    stage.session,
				    uid,
				    stage.user.home,
				    stage.packages,
				    stage.runtime_dir};
	size_t n = LEN(head);

	sprintf(uid, "%u", stage.user.uid);
	memcpy(argv, head, sizeof(head));
	while (*words && n < ARGS - 1)
		argv[n++] = *words++;
	argv[n] = NULL;
}

static char *run_as_user(const char *const *words)
{
	const char *argv[ARGS];
	char uid[16];

	as_user_args(words, argv, uid);
	return runtime_stage_run(argv);
}

static int spawn_as_user(const char *const *words, const char *name, pid_t *ret)
{
	const char *argv[ARGS];
	char uid[16];

	as_user_args(words, argv, uid);
	return runtime_host_spawn(stage.of.host, argv, name, ret);
}

static char *last_line(char *text)
{
	char *newline = strrchr(text, '\n'), *line = strdup(newline ? newline + 1 : text);

	free(text);
	assert_non_null(line);
	return line;
}

/* Until it has come as far as its handlers. */
static void await_handlers(char *pid)
{
	struct procsig_status status = {.caught = 0};

	for (int ms = 0; !status.caught && ms < PATIENCE_MS; ms += 10) {
		procfs_sig_status(atoi(pid), &status);
		usleep(10000);
	}
	free(pid);
	assert_true(status.caught != 0);
}

/* The tracer began to look for the name before this does. */
static void await_name(const char *name)
{
	struct run_result result;

	assert_int_equal(
		run(&(struct run_spec){.args = BOX_ARGV("audit", "-o", "json", "-c", name)},
		    &result),
		0);
	if (!strstr(result.out, name))
		fail_msg("%s is not found: %s%s", name, result.out, result.err);
	run_done(&result);
}

/* --- the session ------------------------------------------------------------------------------ */

/* Ends what runs as the user where this program dies before it does. */
static int start_guard(void)
{
	int fds[2];
	char byte;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	fflush(NULL);
	switch (fork()) {
	case -1:
		return -1;
	case 0:
		setsid();
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) != 0 || cg_sweep(stage.user.slice) != 0);
	default:
		close(fds[0]);
		stage.guard = fds[1];
		return 0;
	}
}

/* The namespace that the host is in has this tree alone. */
static int mount_unified(struct runtime_host *host)
{
	char dir[HIER_PATH_MAX];

	unsetenv("GRACED_TEST_HIERARCHY");
	umount2("/sys/fs/cgroup", MNT_DETACH);
	if (mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) < 0 || hier_detect(&host->hier))
		return -1;
	snprintf(dir, sizeof(dir), "%.400s%s", host->hier.mount, host->cgroup);
	snprintf(host->daemons, sizeof(host->daemons), "%.400s%s/daemons", host->hier.mount,
		 host->cgroup);
	return hier_make(&host->hier, dir, false) || hier_make(&host->hier, host->daemons, false);
}

static int add_subids(const struct runtime_host *host)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/subids", host->dir);
	if (runtime_host_write(host, "subids", 0644, SUBIDS) ||
	    mount(path, "/etc/subuid", NULL, MS_BIND, NULL) < 0)
		return -1;
	return mount(path, "/etc/subgid", NULL, MS_BIND, NULL);
}

static int make_dir(const char *path, unsigned int uid)
{
	return mkdir(path, 0700) < 0 || chown(path, uid, uid) < 0 ? -1 : 0;
}

static int log_in(struct runtime_host *host)
{
	char bus[96], procs[sizeof(stage.session) + 16];
	pid_t pid;

	snprintf(stage.packages, sizeof(stage.packages), "%s/packages", host->dir);
	if (mkdir(stage.packages, 0755) < 0 ||
	    mount(host->packages, stage.packages, NULL, MS_BIND, NULL) < 0 ||
	    login_open(&host->hier, host->dir, &stage.user) < 0)
		return -1;
	stage.logged_in = true;
	snprintf(stage.session, sizeof(stage.session), "%s/init.scope", stage.user.top);
	snprintf(stage.runtime_dir, sizeof(stage.runtime_dir), "/run/user/%u", stage.user.uid);
	snprintf(bus, sizeof(bus), "%s/bus", stage.runtime_dir);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", stage.session);
	/* Without the first there is no systemd that a user's could belong to. */
	if (start_guard() || mkdir("/run/systemd", 0755) < 0 ||
	    mkdir("/run/systemd/system", 0755) < 0 || mkdir("/run/user", 0755) < 0 ||
	    make_dir(stage.runtime_dir, stage.user.uid) || add_subids(host) ||
	    make_dir(stage.session, stage.user.uid) ||
	    chown(procs, stage.user.uid, stage.user.uid) < 0 ||
	    spawn_as_user(BOX_ARGV("/lib/systemd/systemd", "--user"), "systemd", &pid))
		return -1;
	return runtime_host_await_socket(bus, pid);
}

/* crun wants a library that podman does not let it know of. A hybrid host's cgroup2 tree has no
 * controller that could limit pids. */
static int configure_podman(void)
{
	char text[1024], path[128];

	snprintf(text, sizeof(text),
		 "#!/bin/sh\nexport LD_LIBRARY_PATH=\"$(echo %s/usr/lib/*-linux-gnu*)\"\n"
		 "exec %s/usr/bin/crun \"$@\"\n",
		 stage.packages, stage.packages);
	snprintf(path, sizeof(path), "%s/crun", stage.user.home);
	if (login_put(&stage.user, "crun", text) || chmod(path, 0755) < 0)
		return -1;
	snprintf(text, sizeof(text),
		 "[containers]\n"
		 "default_ulimits = []\n"
		 "pids_limit = 0\n"
		 "[engine]\n"
		 "cgroup_manager = \"systemd\"\n"
		 "events_logger = \"file\"\n"
		 "conmon_path = [\"%s/usr/bin/conmon\"]\n"
		 "[engine.runtimes]\n"
		 "crun = [\"%s/crun\"]\n"
		 "[network]\n"
		 "network_backend = \"cni\"\n",
		 stage.packages, stage.user.home);
	snprintf(stage.policy, sizeof(stage.policy), "%s/policy.json", stage.user.home);
	return login_put(&stage.user, "containers.conf", text) ||
	       login_put(&stage.user, "policy.json", POLICY);
}

static int setup(void **state)
{
	struct runtime_host *host;

	stage.guard = -1;
	if (access("/usr/lib/systemd/user/dbus.socket", F_OK) < 0) {
		fprintf(stderr, "SKIP rootless: there is no D-Bus for users' sessions\n");
		return 0;
	}
	if (runtime_stage_open(&stage.of, "rootless"))
		return -1;
	host = stage.of.host;
	if (!host)
		return 0;
	if (chmod(stage.of.image, 0644) < 0 || chmod(stage.of.image_quit, 0644) < 0 ||
	    mount_unified(host) || log_in(host) || configure_podman()) {
		runtime_host_logs(host);
		return -1;
	}
	return tracer_start(&(struct tracer_spec){.args = BOX_ARGV("--names.wait", "20s")},
			    &stage.of.tracer);
}

static int teardown(void **state)
{
	int r = stage.logged_in ? login_close(&stage.user) : 0;

	if (stage.guard >= 0)
		close(stage.guard);
	return runtime_stage_close(&stage.of) || r ? -1 : 0;
}

/* --- what is claimed -------------------------------------------------------------------------- */

static void expect(const char *runtime, const char *name, const char *id, const char *image,
		   const char *more)
{
	char expected[512];

	snprintf(expected, sizeof(expected),
		 "{'pod':null,'container':{'name':'%s','id':'%s','image':'%s','runtime':'%s',"
		 "'kind':'container'}}",
		 name, id, image, runtime);
	runtime_stage_stopped(&stage.of, id, expected);
	runtime_stage_stopped(&stage.of, id, more);
}

#define PODMAN(...) \
	run_as_user(BOX_ARGV("podman", "--storage-driver", "vfs", "--runtime", "crun", __VA_ARGS__))
#define DOCKER(...) run_as_user(BOX_ARGV("docker", "-H", stage.docker, __VA_ARGS__))

static void play_podman(const char *name, const char *archive, const char *image, const char *more)
{
	char *id;

	runtime_stage_need(&stage.of);
	free(PODMAN("load", "--signature-policy", stage.policy, "-i", archive));
	id = last_line(PODMAN("run", "-d", "--name", name, "--network", "none", image));
	await_handlers(last_line(PODMAN("inspect", "-f", "{{.State.Pid}}", name)));
	await_name(name);
	free(PODMAN("stop", name));
	expect("podman", name, id, image, more);
	free(PODMAN("rm", "-f", name));
	free(id);
}

static void podman_named(void **state)
{
	play_podman("web", stage.of.image, RUNTIME_IMAGE,
		    "{'outcome':'graceful','exit':{'code':0},'stop_signal':{'number':15}}");
}

static void podman_quits(void **state)
{
	play_podman("quits", stage.of.image_quit, RUNTIME_IMAGE_QUIT,
		    "{'outcome':'graceful','exit':{'code':0},'stop_signal':{'number':3}}");
}

/* Without a network: the user's would need devices that a host may keep for itself. */
static void start_docker(void)
{
	char script[96], config[96], socket[96], path[256];
	pid_t pid;

	if (stage.docker[0])
		return;
	assert_int_equal(login_put(&stage.user, "daemon.json",
				   "{\"bridge\":\"none\",\"iptables\":false,\"ip6tables\":false,"
				   "\"ip-forward\":false,\"storage-driver\":\"vfs\","
				   "\"exec-opts\":[\"native.cgroupdriver=systemd\"]}"),
			 0);
	snprintf(path, sizeof(path),
		 "install -m 755 %s/usr/share/docker.io/contrib/dockerd-rootless.sh %s/",
		 stage.packages, stage.user.home);
	assert_int_equal(system(path), 0);
	snprintf(script, sizeof(script), "%s/dockerd-rootless.sh", stage.user.home);
	snprintf(config, sizeof(config), "%s/daemon.json", stage.user.home);
	snprintf(socket, sizeof(socket), "%s/docker.sock", stage.runtime_dir);
	assert_int_equal(spawn_as_user(BOX_ARGV("systemd-run", "--user", "--pipe", "--wait", "-p",
						"Delegate=yes", "-E", "PATH", "-E",
						"LD_LIBRARY_PATH", "-E",
						"DOCKERD_ROOTLESS_ROOTLESSKIT_NET=host", "-E",
						"DOCKERD_ROOTLESS_ROOTLESSKIT_PORT_DRIVER=none",
						script, "--config-file", config),
				       "dockerd", &pid),
			 0);
	if (runtime_host_await_socket(socket, pid)) {
		runtime_host_logs(stage.of.host);
		fail_msg("a rootless Docker does not start");
	}
	snprintf(stage.docker, sizeof(stage.docker), "unix://%s", socket);
}

/* As the stage has it, without the registry that Docker leaves out. */
static const char *short_name(const char *image)
{
	return strrchr(image, '/') + 1;
}

static char *run_docker(const char *name, const char *archive, const char *image,
			const char *behaviour)
{
	char *id;

	runtime_stage_need(&stage.of);
	start_docker();
	free(DOCKER("load", "-i", archive));
	id = last_line(DOCKER("run", "-d", "--name", name, "--network", "none", "--stop-timeout",
			      "30", short_name(image), behaviour));
	await_handlers(last_line(DOCKER("inspect", "-f", "{{.State.Pid}}", name)));
	return id;
}

static void play_docker(const char *name, const char *archive, const char *image, const char *more)
{
	char *id = run_docker(name, archive, image, "graceful");

	await_name(name);
	free(DOCKER("stop", name));
	expect("docker", name, id, short_name(image), more);
	free(DOCKER("rm", name));
	free(id);
}

static void docker_named(void **state)
{
	play_docker("shop", stage.of.image, RUNTIME_IMAGE,
		    "{'outcome':'graceful','exit':{'code':0},'stop_signal':{'number':15},"
		    "'grace':{'seconds':30,'from':'runtime'}}");
}

static void docker_quits(void **state)
{
	play_docker("shop-quits", stage.of.image_quit, RUNTIME_IMAGE_QUIT,
		    "{'outcome':'graceful','exit':{'code':0},'stop_signal':{'number':3},"
		    "'grace':{'seconds':30,'from':'runtime'}}");
}

/* Root's Docker knows no such container: nothing is asked of it. */
static void not_tried(void **state)
{
	struct run_result result;
	char *id = run_docker("tried", stage.of.image, RUNTIME_IMAGE, "graceful");
	char want[96];

	snprintf(want, sizeof(want), "tried: It could not be tried: it is of the user with uid %u",
		 stage.user.uid);
	assert_int_equal(run(&(struct run_spec){.args = BOX_ARGV("try", "tried")}, &result), 0);
	if (result.status != 3 || !strstr(result.out, want))
		fail_msg("status %d: %s%s", result.status, result.out, result.err);
	run_done(&result);
	free(DOCKER("rm", "-f", "tried"));
	free(id);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a user's container has the name and the image that their Podman gave it",
		      podman_named),
		CLAIM("... and the stop signal of its image", podman_quits),
		CLAIM("a container of a user's Docker has its name, image and grace period",
		      docker_named),
		CLAIM("... and the stop signal of its image", docker_quits),
		CLAIM("graced try says whose engine stops a user's container", not_tried),
	};

	return _cmocka_run_group_tests("rootless", tests, LEN(tests), setup, teardown);
}
