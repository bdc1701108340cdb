// SPDX-License-Identifier: Apache-2.0
// Make up the names of logs: pods/<namespace>_<pod>_<uid> and
// containers/<pod>_<namespace>_<container>-<id>.log.
#include "lib/daemon/lognames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/run.h"

static int make_dir(const struct lognames *names, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", names->dir, name);
	return mkdir(path, 0755) < 0 ? -errno : 0;
}

int lognames_open(struct lognames *ret)
{
	int r;

	strcpy(ret->dir, "/tmp/graced-logs-XXXXXX");
	if (!mkdtemp(ret->dir)) {
		ret->dir[0] = 0;
		return -errno;
	}
	r = make_dir(ret, "pods");
	return r ? r : make_dir(ret, "containers");
}

int lognames_add(const struct lognames *names, const struct box *box, const char *namespace,
		 const char *pod, const char *container)
{
	char pod_log[256], link[320], target[512];

	snprintf(pod_log, sizeof(pod_log), "%s/pods/%s_%s_%s", names->dir, namespace, pod,
		 box->uid);
	snprintf(link, sizeof(link), "%s/containers/%s_%s_%s-%s.log", names->dir, pod, namespace,
		 container, box->id);
	snprintf(target, sizeof(target), "%s/%s/0.log", pod_log, container);
	if (mkdir(pod_log, 0755) < 0 && errno != EEXIST)
		return -errno;
	return symlink(target, link) < 0 ? -errno : 0;
}

void lognames_close(struct lognames *names)
{
	struct run_result result;

	if (!names->dir[0])
		return;
	if (run(&(struct run_spec){.exe = "/bin/rm", .args = BOX_ARGV("-r", names->dir)},
		&result) == 0)
		run_done(&result);
	names->dir[0] = 0;
}

int lognames_of(void *userdata, const struct box *box)
{
	const struct lognames_of *of = userdata;

	return lognames_add(of->names, box, of->namespace, of->pod, of->container);
}
