// SPDX-License-Identifier: Apache-2.0
// What a stop waits for, seen by looks at real processes: clients, children, locks, pipes, limits.
#include "io/files/fd.h"
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two looks, at a second and at 1.8. */
#define GRACE "2s"
#define LOOKS 2

struct row {
	const char *manner, *argument;
	const char *what;  /* NULL: nothing is found */
	const char *first; /* members of the first of waited_for */
	void (*hold)(struct fixture *f, const struct box *box);
	void (*let_go)(struct fixture *f, const struct box *box);
};

static char recording[128], lock_path[128];

static int setup(void **state)
{
	static const char *const args[] = {"--assume-grace", GRACE, "--record", recording, NULL};

	snprintf(recording, sizeof(recording), "/tmp/graced-waits-%d.rec", (int)getpid());
	snprintf(lock_path, sizeof(lock_path), "/tmp/graced-waits-%d.lock", (int)getpid());
	return fixture_open(state, "waits", args);
}

static int teardown(void **state)
{
	unlink(recording);
	unlink(lock_path);
	return fixture_close(state);
}

/* --- what holds it from outside ---------------------------------------------------------------- */

static void stop_it(struct fixture *f, const struct box *box)
{
	assert_int_equal(kill(box->init_pid, SIGSTOP), 0);
}

static void trace_it(struct fixture *f, const struct box *box)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, box->init_pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, box->init_pid, NULL, NULL), 0);
	assert_int_equal(waitpid(box->init_pid, &status, __WALL), box->init_pid);
}

static void leave_it(struct fixture *f, const struct box *box)
{
	ptrace(PTRACE_DETACH, box->init_pid, NULL, NULL);
}

static void freeze_it(struct fixture *f, const struct box *box)
{
	if (f->tree.hier.unified)
		assert_int_equal(cg_write(box->dir, "cgroup.freeze", "1"), 0);
	else
		assert_int_equal(v1freezer_hold(box->dir), 0);
}

static void thaw_it(struct fixture *f, const struct box *box)
{
	if (f->tree.hier.unified)
		cg_write(box->dir, "cgroup.freeze", "0");
	else
		v1freezer_let_out(getpid());
}

static const char *below_of(const struct box *box)
{
	static char dir[HIER_PATH_MAX + 32];

	snprintf(dir, sizeof(dir), "%s/below", box->kill_dir);
	return dir;
}

/* Init alone, in a cgroup below the container's, as of a systemd there: where the containers are in
 * a hierarchy v1, too. */
static void freeze_below(struct fixture *f, const struct box *box)
{
	const char *dir = below_of(box);

	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(cg_enter(dir, box->init_pid), 0);
	assert_int_equal(cg_write(dir, "cgroup.freeze", "1"), 0);
}

static void thaw_below(struct fixture *f, const struct box *box)
{
	cg_write(below_of(box), "cgroup.freeze", "0");
	cg_enter(box->kill_dir, box->init_pid);
	rmdir(below_of(box));
}

/* By the freezer of the other hierarchy than the one that the containers are in. */
static void freeze_twin(struct fixture *f, const struct box *box)
{
	assert_int_equal(cg_write(box->kill_dir, "cgroup.freeze", "1"), 0);
}

static void thaw_twin(struct fixture *f, const struct box *box)
{
	cg_write(box->kill_dir, "cgroup.freeze", "0");
}

/* There it has its name below a cgroup of that name, and init is in one further below. */
static const char *nested_of(const struct box *box, const char *below)
{
	static char dir[2 * HIER_PATH_MAX];

	snprintf(dir, sizeof(dir), "%s%s%s", box->kill_dir, strrchr(box->kill_dir, '/'), below);
	return dir;
}

static void freeze_nested(struct fixture *f, const struct box *box)
{
	assert_int_equal(mkdir(nested_of(box, ""), 0755), 0);
	assert_int_equal(mkdir(nested_of(box, "/below"), 0755), 0);
	assert_int_equal(cg_enter(nested_of(box, "/below"), box->init_pid), 0);
	assert_int_equal(cg_write(nested_of(box, ""), "cgroup.freeze", "1"), 0);
}

static void thaw_nested(struct fixture *f, const struct box *box)
{
	cg_write(nested_of(box, ""), "cgroup.freeze", "0");
	cg_enter(box->kill_dir, box->init_pid);
	rmdir(nested_of(box, "/below"));
	rmdir(nested_of(box, ""));
}

/* A cgroup of its name in the hierarchy v1 of a controller, with a limit. */
static void limit_it(const struct box *box, const char *controller, const char *const files[][2])
{
	char dir[256];
	int n = snprintf(dir, sizeof(dir), "/sys/fs/cgroup/%s/graced-waits-%d", controller,
			 (int)getpid());

	assert_int_equal(mkdir(dir, 0755), 0);
	snprintf(dir + n, sizeof(dir) - (size_t)n, "%s", strrchr(box->dir, '/'));
	assert_int_equal(mkdir(dir, 0755), 0);
	for (size_t i = 0; files[i][0]; i++)
		assert_int_equal(cg_write(dir, files[i][0], files[i][1]), 0);
	assert_int_equal(cg_enter(dir, box->init_pid), 0);
}

/* In the one hierarchy, whose cgroups above the container hand the controller on. */
static void limit_unified(const struct fixture *f, const struct box *box, const char *controller,
			  const char *file, const char *limit)
{
	char dir[HIER_PATH_MAX], on[16];
	size_t end = strlen(f->tree.hier.mount);

	snprintf(dir, sizeof(dir), "%s", box->dir);
	snprintf(on, sizeof(on), "+%s", controller);
	for (char *at = dir + end; at; at = strchr(at + 1, '/')) {
		char was = *at;

		*at = '\0';
		assert_int_equal(cg_write(dir, "cgroup.subtree_control", on), 0);
		*at = was;
	}
	assert_int_equal(cg_write(box->dir, file, limit), 0);
}

static void limit_pids(struct fixture *f, const struct box *box)
{
	static const char *const files[][2] = {{"pids.max", "1"}, {}};

	if (f->tree.hier.unified)
		limit_unified(f, box, "pids", "pids.max", "1");
	else
		limit_it(box, "pids", files);
}

static void limit_cpu(struct fixture *f, const struct box *box)
{
	static const char *const files[][2] = {
		{"cpu.cfs_period_us", "100000"}, {"cpu.cfs_quota_us", "2000"}, {}};

	if (f->tree.hier.unified)
		limit_unified(f, box, "cpu", "cpu.max", "2000 100000");
	else
		limit_it(box, "cpu", files);
}

static void remove_limit(const char *controller)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "/sys/fs/cgroup/%s/graced-waits-%d", controller, (int)getpid());
	cg_sweep(dir);
}

static bool has(const struct fixture *f, const char *controller)
{
	char path[HIER_PATH_MAX + 32], text[256] = "";

	if (f->tree.hier.unified) {
		snprintf(path, sizeof(path), "%s/cgroup.controllers", f->tree.hier.mount);
		return fd_read_into(AT_FDCWD, path, text, sizeof(text)) > 0 &&
		       strstr(text, controller);
	}
	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/tasks", controller);
	return access(path, W_OK) == 0;
}

static const struct row rows[] = {
	{"tcp", "18731", "client-connections", "{'port':18731,'count':1}", .let_go = NULL},
	{"unix", "@", "client-connections", "{'port':null,'count':1}", .let_go = NULL},
	{"pipe", NULL, "write-blocked", "{'call':'write','ns_pid':1,'peer':{'comm':'waiter'}}",
	 .let_go = NULL},
	{"thread", NULL, "write-blocked", "{'call':'write','ns_pid':1}", .let_go = NULL},
	{"flock", lock_path, "lock", "{'call':'lock'}", .let_go = NULL},
	{"fcntl", lock_path, "lock", "{'call':'lock'}", .let_go = NULL},
	{"child", NULL, "child-alive", "{'ns_pid':1,'count':1,'call':'wait'}", .let_go = NULL},
	{"vfork", NULL, "child-alive", "{'ns_pid':1,'count':1,'wchan':'kernel_clone'}",
	 .let_go = NULL},
	{"spin", NULL, "handler-runs", "{'ns_pid':1,'call':null}", .let_go = NULL},
	{"sleep", NULL, "sleeps", "{'ns_pid':1,'call':'nanosleep','looks':2}", .let_go = NULL},
	{"sleep", NULL, "stopped", "{'ns_pid':1}", stop_it, .let_go = NULL},
	{"sleep", NULL, "traced", "{'ns_pid':1}", trace_it, leave_it},
	{"sleep", NULL, "frozen", "{'pid':null}", freeze_it, thaw_it},
	{"sleep", NULL, "frozen", "{'ns_pid':1}", freeze_below, thaw_below},
	{"sleep", NULL, "frozen", "{'pid':null}", freeze_twin, thaw_twin},
	{"sleep", NULL, "frozen", "{'pid':null}", freeze_nested, thaw_nested},
	{"fork", NULL, "fork-failed", "{'pid':null,'limit':1}", limit_pids, .let_go = NULL},
	{"spin", NULL, "throttled", "{'pid':null}", limit_cpu, .let_go = NULL},
};

static bool can_be_had(const struct fixture *f, const struct row *row)
{
	if (row->hold == limit_pids)
		return has(f, "pids");
	if (row->hold == limit_cpu)
		return has(f, "cpu");
	if (row->hold == freeze_below)
		return f->tree.hier.unified || f->tree.twin_root[0];
	if (row->hold == freeze_twin || row->hold == freeze_nested)
		return !f->tree.hier.unified && f->tree.twin_root[0];
	return row->hold != freeze_it || f->tree.hier.unified || v1freezer_is_here(&f->tree.hier);
}

/* How many looks of a box ended, at what it waits for. */
static int count_looks(const struct box *box)
{
	char line[4096], id[64];
	FILE *file = fopen(recording, "re");
	struct stat st;
	int n = 0;

	assert_non_null(file);
	assert_int_equal(stat(box->dir, &st), 0);
	snprintf(id, sizeof(id), "\"id\":%llu,", (unsigned long long)st.st_ino);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, "\"looked\"") && strstr(line, id) && strstr(line, "\"waits\"");
	fclose(file);
	return n;
}

static void await_looks(const struct box *box)
{
	for (int i = 0; i < PATIENCE_S * 20; i++) {
		if (count_looks(box) >= LOOKS)
			return;
		usleep(50000);
	}
	fail_msg("%s was not looked at", box->path);
}

static void start(struct fixture *f, const struct row *row, struct box *ret)
{
	const char *argv[] = {row->manner, row->argument, NULL};
	static char socket_path[128];
	struct sent sent;

	if (row->argument && row->argument[0] == '@') {
		snprintf(socket_path, sizeof(socket_path), "%s/waits.socket", f->tree.tmp);
		argv[1] = socket_path;
	}
	print_message("%s: %s\n", row->manner, row->what);
	judge_start(f,
		    &(struct box_spec){.prog = "waiter",
				       .argv = argv,
				       .twin = row->hold == freeze_twin ||
					       row->hold == freeze_nested ||
					       row->hold == freeze_below},
		    ret);
	judge_send(f, SEND_RUNTIME, ret, SIGTERM, &sent);
	if (row->hold)
		row->hold(f, ret);
}

static void end(struct fixture *f, const struct row *row, struct box *box)
{
	const json_t *rec, *list, *first;
	struct proc_end ended;
	struct sent sent;

	await_looks(box);
	judge_send(f, SEND_RUNTIME, box, SIGKILL, &sent);
	if (row->let_go)
		row->let_go(f, box);
	assert_int_equal(proc_wait(&box->proc, &ended), 0);
	rec = tracer_await_stop(f->tracer, box);
	assert_true(jrec_int(rec, "looks", 0) >= LOOKS);
	list = jrec_get(rec, "waited_for");
	first = json_array_get(list, 0);
	if (!first)
		fail_msg("%s waited for nothing: %s", row->manner, json_dumps(rec, 0));
	assert_string_equal(jrec_text(first, "what"), row->what);
	judge_match(first, row->first);
	if (row->argument == lock_path)
		assert_int_equal(jrec_int(first, "peer.pid", 0), getpid());
	assert_int_equal(box_remove(box), 0);
}

static void a_look_finds_what_it_waits_for(void **state)
{
	struct fixture *f = judge_need(state);
	int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct flock lock = {.l_type = F_WRLCK};
	struct box boxes[LEN(rows)];

	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
	for (size_t i = 0; i < LEN(rows); i++)
		if (can_be_had(f, rows + i))
			start(f, rows + i, boxes + i);
	for (size_t i = 0; i < LEN(rows); i++)
		if (can_be_had(f, rows + i))
			end(f, rows + i, boxes + i);
	remove_limit("pids");
	remove_limit("cpu");
	close(fd);
}

/* One that did not hear waits for nothing; what lives beside it is listed. */
static void of_a_deaf_init_only_its_processes_are_seen(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_end ended;
	struct sent sent;
	const json_t *rec;
	struct box box;

	judge_start(f, &(struct box_spec){.prog = "waiter", .argv = BOX_ARGV("deaf")}, &box);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	await_looks(&box);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	assert_int_equal(proc_wait(&box.proc, &ended), 0);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'reason':'no-handler','looks':2,'waited_for':[],'processes_gaps':[]}");
	judge_match(json_array_get(jrec_get(rec, "processes"), 1),
		    "{'disposition':'default','asked':null,'ended_by':'pid-namespace','cut':true}");
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a look finds what a stop waits for", a_look_finds_what_it_waits_for),
		CLAIM("of a deaf init only its processes are seen",
		      of_a_deaf_init_only_its_processes_are_seen),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
