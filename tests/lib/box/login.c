// SPDX-License-Identifier: Apache-2.0
/* Does what login, systemd-logind and systemd do for a user. */
#include "lib/box/login.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define UID_FIRST 60000
#define UIDS	  5000

static int add_user(const struct login *login, const char *dir)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/passwd", dir);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fprintf(f, "root:x:0:0::/root:/bin/sh\nuser:x:%u:%u::%s:/bin/sh\n", login->uid, login->uid,
		login->home);
	fclose(f);
	if (chmod(dir, 0711) < 0 || mkdir(login->home, 0700) < 0 ||
	    chown(login->home, login->uid, login->uid) < 0 ||
	    mount(path, "/etc/passwd", NULL, MS_BIND, NULL) < 0)
		return -errno;
	return 0;
}

static int delegate(const struct login *login)
{
	static const char *const files[] = {".", "cgroup.procs", "cgroup.threads",
					    "cgroup.subtree_control"};
	char path[HIER_PATH_MAX + 32];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", login->top, files[i]);
		if (chown(path, login->uid, login->uid) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

int login_open(const struct hier *hier, const char *dir, struct login *ret)
{
	int r;

	*ret = (struct login){.uid = UID_FIRST + (unsigned int)getpid() % UIDS};
	snprintf(ret->home, sizeof(ret->home), "%.50s/home", dir);
	snprintf(ret->users, sizeof(ret->users), "%.400s/user.slice", hier->mount);
	snprintf(ret->slice, sizeof(ret->slice), "%.420s/user-%u.slice", ret->users, ret->uid);
	snprintf(ret->top, sizeof(ret->top), "%.450s/user@%u.service", ret->slice, ret->uid);
	r = add_user(ret, dir);
	if (r == 0)
		r = hier_make(hier, ret->users, true);
	if (r == 0)
		r = hier_make(hier, ret->slice, true);
	if (r == 0)
		r = hier_make(hier, ret->top, false);
	return r ? r : delegate(ret);
}

int login_close(const struct login *login)
{
	char command[128];
	int r = cg_sweep(login->slice);

	/* Another program may have a user of its own there. */
	rmdir(login->users);
	umount2("/etc/passwd", MNT_DETACH);
	snprintf(command, sizeof(command), "rm -rf --one-file-system -- '%s'", login->home);
	return system(command) ? -EBUSY : r;
}

int login_become(const struct login *login)
{
	int r = cg_enter(login->top, getpid());

	if (r < 0)
		return r;
	if (setgroups(0, NULL) < 0 || setgid(login->uid) < 0 || setuid(login->uid) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	return 0;
}

int login_put(const struct login *login, const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%.400s", login->home, path);
	for (char *slash = full + strlen(login->home); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if ((mkdir(full, 0700) < 0 && errno != EEXIST) ||
		    chown(full, login->uid, login->uid) < 0)
			return -errno;
		*slash = '/';
	}
	f = fopen(full, "we");
	if (!f)
		return -errno;
	fputs(text, f);
	fclose(f);
	return chown(full, login->uid, login->uid) < 0 ? -errno : 0;
}
