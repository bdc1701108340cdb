// SPDX-License-Identifier: Apache-2.0
/* Claims about app/live/place, in cgroups as the kubelet makes them. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/live/place.h"
#include "lib/box/box.h"
#include "lib/claim.h"

#define IN_POD	  1
#define CONTAINER 2 /* and its id is found */

struct stage {
	struct box_tree tree;
	struct box box;
};

static int setup(void **state)
{
	static struct stage s;
	const char *why = box_unavailable();

	*state = NULL;
	if (why) {
		print_message("%s\n", why);
		return 0;
	}
	*state = &s;
	if (box_tree_open(&s.tree, "own") < 0)
		return -1;
	return box_start(&s.tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &s.box);
}

static int teardown(void **state)
{
	struct stage *s = *state;

	return s ? box_tree_close(&s->tree) : 0;
}

static int look(const struct stage *s)
{
	struct cgfs *cgfs;
	struct cgpath own;
	int found = own_is_in_pod(NULL) ? IN_POD : 0;

	if (cgfs_open(s->tree.hier.mount, s->tree.hier.unified, &cgfs) < 0)
		return -1;
	if (own_path(cgfs, &own) >= 0 && strcmp(own.container_id, s->box.id) == 0)
		found |= CONTAINER;
	cgfs_free(cgfs);
	return found;
}

/* What a process in that cgroup finds; namespace: one of its own, as a runtime gives it. */
static int found_in(const struct stage *s, const char *dir, bool namespace)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (dir && cg_enter(dir, getpid()) < 0)
			_exit(99);
		if (namespace && unshare(CLONE_NEWCGROUP) < 0)
			_exit(98);
		_exit(look(s));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_own(void **state)
{
	struct stage *s = *state;

	if (!s)
		skip();
	assert_int_equal(found_in(s, NULL, false), 0);
	assert_int_equal(found_in(s, NULL, true), 0);
	assert_int_equal(found_in(s, s->box.dir, false), IN_POD | CONTAINER);
	assert_int_equal(found_in(s, s->box.dir, true), IN_POD | CONTAINER);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"who runs in a pod knows it and its container, in a cgroup namespace, too",
		 test_own, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("app/live/place", tests, NULL, NULL);
}
