// SPDX-License-Identifier: Apache-2.0
// A real rootless Podman, by a user with one uid. Its container is placed as the user's systemd
// would, of which there is none: Podman runs it in its own cgroup then.
#include "lib/box/login.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/runtime/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLICY "{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}"
#define ARGS   24

static struct {
	struct runtime_stage of;
	struct login user;
	bool logged_in;
	char cgroup[HIER_PATH_MAX + 64]; /* that podman runs in */
	char packages[96], policy[96];
} stage;

/* Runs podman as the user. */
static char *podman(const char *const *words)
{
	static const char script[] =
		"echo $$ >\"$1/cgroup.procs\" || exit 1; uid=$2 home=$3 packages=$4; shift 4;"
		"export HOME=$home XDG_RUNTIME_DIR=$home/run CONTAINERS_CONF=$home/containers.conf;"
		"export DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent; cd /;"
		"PATH=$packages/usr/bin:$packages/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin;"
		"LD_LIBRARY_PATH=$(echo \"$packages\"/usr/lib/*-linux-gnu*); export LD_LIBRARY_PATH;"
		"exec setpriv --reuid \"$uid\" --regid \"$uid\" --clear-groups"
		" podman --storage-driver vfs --cgroup-manager cgroupfs --runtime crun \"$@\"";
	const char *argv[ARGS] = {"sh", "-c", script, "-"};
	char uid[16];
	size_t n = 4;

	snprintf(uid, sizeof(uid), "%u", stage.user.uid);
	argv[n++] = stage.cgroup;
	argv[n++] = uid;
	argv[n++] = stage.user.home;
	argv[n++] = stage.packages;
	while (*words && n < ARGS - 1)
		argv[n++] = *words++;
	return runtime_stage_run(argv);
}

static char *last_line(char *text)
{
	char *newline = strrchr(text, '\n'), *line = strdup(newline ? newline + 1 : text);

	free(text);
	assert_non_null(line);
	return line;
}

/* crun does not start while the cgroup2 tree of a hybrid host has controllers, and wants a library
 * that podman does not let it know of. */
static void configure(void)
{
	char text[1024], path[128];

	snprintf(text, sizeof(text),
		 "#!/bin/sh\nexport LD_LIBRARY_PATH=\"$(echo %s/usr/lib/*-linux-gnu*)\"\n"
		 "exec %s/usr/bin/crun \"$@\"\n",
		 stage.packages, stage.packages);
	assert_int_equal(login_put(&stage.user, "crun", text), 0);
	snprintf(path, sizeof(path), "%s/crun", stage.user.home);
	assert_int_equal(chmod(path, 0755), 0);
	snprintf(text, sizeof(text),
		 "[containers]\n"
		 "default_ulimits = []\n"
		 "[engine]\n"
		 "events_logger = \"file\"\n"
		 "conmon_path = [\"%s/usr/bin/conmon\"]\n"
		 "[engine.runtimes]\n"
		 "crun = [\"%s/crun\"]\n"
		 "[network]\n"
		 "network_backend = \"cni\"\n",
		 stage.packages, stage.user.home);
	assert_int_equal(login_put(&stage.user, "containers.conf", text), 0);
	assert_int_equal(login_put(&stage.user, "policy.json", POLICY), 0);
	assert_int_equal(login_put(&stage.user, "run/keep", ""), 0);
	snprintf(stage.policy, sizeof(stage.policy), "%s/policy.json", stage.user.home);
}

static int setup(void **state)
{
	struct runtime_host *host;

	if (runtime_stage_open(&stage.of, "rootless"))
		return -1;
	host = stage.of.host;
	if (!host)
		return 0;
	umount2("/sys/fs/cgroup/unified", MNT_DETACH);
	snprintf(stage.packages, sizeof(stage.packages), "%s/packages", host->dir);
	if (mkdir(stage.packages, 0755) < 0 ||
	    mount(host->packages, stage.packages, NULL, MS_BIND, NULL) < 0 ||
	    login_open(&host->hier, host->dir, &stage.user) < 0)
		return -1;
	stage.logged_in = true;
	snprintf(stage.cgroup, sizeof(stage.cgroup), "%s/podman-1.scope", stage.user.top);
	if (hier_make(&host->hier, stage.cgroup, false) < 0 || chmod(stage.of.image, 0644) < 0 ||
	    chmod(stage.of.image_quit, 0644) < 0)
		return -1;
	configure();
	return tracer_start(&(struct tracer_spec){}, &stage.of.tracer);
}

static int teardown(void **state)
{
	int r = stage.logged_in ? login_close(&stage.user) : 0;

	return runtime_stage_close(&stage.of) || r ? -1 : 0;
}

static void load(const char *archive)
{
	free(podman(BOX_ARGV("load", "--signature-policy", stage.policy, "-i", archive)));
}

/* Until it has come as far as its handlers. */
static void await_handlers(const char *pid)
{
	unsigned long long caught = 0;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	for (int ms = 0; !caught && ms < PATIENCE_MS; ms += 10) {
		FILE *in = fopen(path, "re");

		while (in && fgets(line, sizeof(line), in))
			if (sscanf(line, "SigCgt: %llx", &caught) == 1)
				break;
		if (in)
			fclose(in);
		usleep(10000);
	}
	assert_true(caught != 0);
}

/* As crun does by the user's systemd. */
static void place(const char *name, const char *id)
{
	char *pid = last_line(podman(BOX_ARGV("inspect", "-f", "{{.State.Pid}}", name)));
	char dir[HIER_PATH_MAX + 256];

	await_handlers(pid);
	snprintf(dir, sizeof(dir), "%s/user.slice", stage.user.top);
	assert_int_equal(hier_make(&stage.of.host->hier, dir, false), 0);
	snprintf(dir + strlen(dir), 128, "/libpod-%s.scope", id);
	assert_int_equal(hier_make(&stage.of.host->hier, dir, false), 0);
	strcat(dir, "/container");
	assert_int_equal(hier_make(&stage.of.host->hier, dir, false), 0);
	assert_int_equal(cg_enter(dir, atoi(pid)), 0);
	free(pid);
}

struct scene {
	const char *name, *archive, *image;
	const char *option, *value; /* of podman run */
	const char *expected;
};

static void play(const struct scene *scene)
{
	const char *run[] = {"run",  "-d",	    "--name",	  scene->name,	"--network",
			     "none", scene->option, scene->value, scene->image, NULL};
	char expected[512], *id;

	load(scene->archive);
	id = last_line(podman(run));
	place(scene->name, id);
	free(podman(BOX_ARGV("stop", scene->name)));
	snprintf(expected, sizeof(expected),
		 "{'pod':null,'container':{'name':'%s','id':'%s','image':'%s','runtime':'podman',"
		 "'kind':'container'}}",
		 scene->name, id, scene->image);
	runtime_stage_stopped(&stage.of, id, expected);
	runtime_stage_stopped(&stage.of, id, scene->expected);
	free(podman(BOX_ARGV("rm", "-f", scene->name)));
	free(id);
}

static void named(void **state)
{
	runtime_stage_need(&stage.of);
	play(&(struct scene){
		.name = "web",
		.archive = stage.of.image,
		.image = RUNTIME_IMAGE,
		.option = "--stop-timeout",
		.value = "30",
		.expected = "{'outcome':'graceful','exit':{'code':0},'stop_signal':{'number':15}}",
	});
}

static void stopped_by_its_own_signal(void **state)
{
	runtime_stage_need(&stage.of);
	play(&(struct scene){
		.name = "quits",
		.archive = stage.of.image_quit,
		.image = RUNTIME_IMAGE_QUIT,
		.option = "--stop-timeout",
		.value = "30",
		.expected = "{'outcome':'graceful','exit':{'code':0},'stop_signal':{'number':3}}",
	});
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a user's container has the name and the image that their Podman gave it",
		      named),
		CLAIM("... and the stop signal of its image", stopped_by_its_own_signal),
	};

	return _cmocka_run_group_tests("rootless", tests, LEN(tests), setup, teardown);
}
