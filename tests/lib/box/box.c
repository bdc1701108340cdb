// SPDX-License-Identifier: Apache-2.0
// Make one test container and remove it again.
#include "lib/box/box.h"

#include "lib/box/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static int fits(int length)
{
	return length < HIER_PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void draw_uid(struct box_tree *tree, char uid[40])
{
	uint64_t a = box_tree_random(tree), b = box_tree_random(tree);

	snprintf(uid, 40, "%08x-%04x-4%03x-8%03x-%04x%08x", (unsigned int)(a >> 32),
		 (unsigned int)(a >> 16) & 0xffff, (unsigned int)a & 0xfff,
		 (unsigned int)(b >> 48) & 0xfff, (unsigned int)(b >> 32) & 0xffff,
		 (unsigned int)b);
}

static void draw_id(struct box_tree *tree, char id[65])
{
	for (int i = 0; i < 4; i++)
		snprintf(id + 16 * i, 17, "%016llx", (unsigned long long)box_tree_random(tree));
}

static int name_box(struct box_tree *tree, const struct box_spec *spec, struct box *box)
{
	const char *base = spec->as ? spec->as : spec->prog ? spec->prog : "workload";
	int r;

	box->owns_pod = !spec->pod_of;
	if (spec->pod_of)
		memcpy(box->uid, spec->pod_of->uid, sizeof(box->uid));
	else
		draw_uid(tree, box->uid);
	if (!spec->leaf)
		draw_id(tree, box->id);
	if (spec->run)
		prctl(PR_GET_NAME, box->comm);
	else
		snprintf(box->comm, sizeof(box->comm), "%s", base);
	if (spec->slice)
		r = fits(snprintf(box->pod_dir, HIER_PATH_MAX, "%s/%s", tree->root, spec->slice));
	else
		r = fits(snprintf(box->pod_dir, HIER_PATH_MAX, "%s/kubepods/burstable/pod%s",
				  tree->root, box->uid));
	if (!r)
		r = fits(snprintf(box->dir, HIER_PATH_MAX, "%s/%s", box->pod_dir,
				  spec->leaf ? spec->leaf : box->id));
	if (!r && spec->nested)
		r = fits(snprintf(box->nested_dir, HIER_PATH_MAX, "%s/%s", box->dir, spec->nested));
	if (!r && spec->twin && tree->hier.unified)
		memcpy(box->kill_dir, box->dir, HIER_PATH_MAX);
	else if (!r && spec->twin)
		r = tree->twin_root[0] ? fits(snprintf(box->kill_dir, HIER_PATH_MAX, "%s/%s",
						       tree->twin_root, box->id))
				       : -ENOENT;
	memcpy(box->path, box_tree_relative(tree, box->dir),
	       HIER_PATH_MAX - strlen(tree->hier.mount));
	return r;
}

static int make_cgroups(struct box_tree *tree, const struct box_spec *spec, struct box *box)
{
	int r = hier_make(&tree->hier, box->pod_dir, true);

	if (!r && spec->pod_memory)
		r = hier_limit_memory(&tree->hier, box->pod_dir, spec->pod_memory);
	if (!r)
		r = hier_make(&tree->hier, box->dir, false);
	if (!r && spec->memory)
		r = hier_limit_memory(&tree->hier, box->dir, spec->memory);
	if (!r && box->nested_dir[0])
		r = hier_make(&tree->hier, box->nested_dir, false);
	if (!r && box->kill_dir[0] && mkdir(box->kill_dir, 0755) < 0 && errno != EEXIST)
		r = -errno;
	return r;
}

/* Into ret, the program's path; a copy is made if it is to have another name. */
static int find_program(const struct box_tree *tree, const struct box_spec *spec,
			char ret[static HIER_PATH_MAX + 32])
{
	const char *prog = spec->prog ? spec->prog : "workload";
	char from[HIER_PATH_MAX + 32];
	struct stat st;
	int in, out, r;

	snprintf(from, sizeof(from), "%s/%s", tree->helpers, prog);
	snprintf(ret, sizeof(from), "%s/%s", spec->as ? tree->tmp : tree->helpers,
		 spec->as ? spec->as : prog);
	if (!spec->as || access(ret, X_OK) == 0)
		return 0;
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(ret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	r = in < 0 || out < 0 || fstat(in, &st) < 0 ||
			    sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size
		    ? -errno
		    : 0;
	close(in);
	close(out);
	return r;
}

int box_start(struct box_tree *tree, const struct box_spec *spec, struct box *ret)
{
	struct proc_spec proc = {
		.argv = spec->argv,
		.cwd = tree->tmp,
		.new_pidns = !spec->host_pidns && !spec->pidns_of,
		.pidns_of = spec->pidns_of ? spec->pidns_of->proc.pid : 0,
		.stages = spec->stages,
		.want_pid = spec->want_pid,
		.core = spec->core,
		.run = spec->run,
		.no_wait = spec->no_wait,
	};
	struct box box = {.made_ns = page_clock_ns()};
	char exe[HIER_PATH_MAX + 32];
	int r = name_box(tree, spec, &box);

	if (!r && spec->named)
		r = spec->named(spec->userdata, &box);
	if (r)
		return r;
	r = find_program(tree, spec, exe);
	proc.exe = exe;
	proc.cgroups[0] = box.nested_dir[0] ? box.nested_dir : box.dir;
	proc.cgroups[1] = box.kill_dir[0] && !tree->hier.unified ? box.kill_dir : NULL;
	box.pidns = proc.new_pidns;
	if (!r)
		r = make_cgroups(tree, spec, &box);
	if (!r)
		r = proc_start(&proc, &box.proc);
	if (r) {
		box_remove(&box);
		return r;
	}
	box.init_pid = box.proc.pid;
	box.init_ns_pid = box.proc.ns_pid;
	box.start_ticks = peek_start_ticks(box.proc.pid);
	*ret = box;
	return 0;
}

int box_exec(struct box_tree *tree, const struct box *box, const char *prog, bool in_pidns,
	     const char *const *argv, struct proc *ret)
{
	char exe[HIER_PATH_MAX + 32];
	struct proc_spec proc = {
		.exe = exe,
		.argv = argv,
		.cwd = tree->tmp,
		.cgroups = {box->nested_dir[0] ? box->nested_dir : box->dir},
		.pidns_of = in_pidns ? box->proc.pid : 0,
	};

	snprintf(exe, sizeof(exe), "%s/%s", tree->helpers, prog);
	return proc_start(&proc, ret);
}

int box_remove(struct box *box)
{
	int r = 0, s = 0;

	proc_free(&box->proc);
	if (box->kill_dir[0] && strcmp(box->kill_dir, box->dir))
		s = cg_remove(box->kill_dir);
	if (box->nested_dir[0])
		r = cg_remove(box->nested_dir);
	if (!r)
		r = cg_remove(box->dir);
	box->removed_ns = page_clock_ns();
	if (box->owns_pod && rmdir(box->pod_dir) < 0 && errno != EBUSY && errno != ENOENT)
		s = -errno;
	return r ? r : s;
}
