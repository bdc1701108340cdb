// SPDX-License-Identifier: Apache-2.0
// graced wait --empty by real containers: never before the last process has ended, and what it
// says when it cannot know or the time is over.
#include "lib/claim.h"
#include "lib/box/ends.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"
#include "lib/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/cgroup/fs.h"

#define CONTAINERS 500
#define WITHIN_MS  2000
#define LEAD_MS	   1500
#define DEEP	   70 /* more levels than are watched */
#define MOVES	   20000

static int setup(void **state)
{
	return attach_open(state, "wait-empty");
}

static struct fixture *need(void **state)
{
	if (!*state)
		skip();
	return *state;
}

#define ARGS_MAX 16

struct args {
	const char *list[ARGS_MAX];
};

/* wait --empty of the tree alone, then more. */
static struct args args_of(const struct fixture *f, const char *const *more)
{
	struct args args = {{"wait", "--empty", "--cri.endpoint", "none", "--hierarchy",
			     f->tree.hier.name, "--container-roots",
			     box_tree_relative(&f->tree, f->tree.root)}};
	size_t n = 8;

	for (; more && *more && n < ARGS_MAX - 1; more++)
		args.list[n++] = *more;
	return args;
}

static struct run_result wait_empty(const struct fixture *f, const char *const *more)
{
	struct args args = args_of(f, more);
	struct run_result result;

	assert_int_equal(run(&(struct run_spec){.args = args.list}, &result), 0);
	return result;
}

/* What it ends with and, in the only line of its own, has to have; NULL: no line. Where the tracer
 * cannot watch cgroups of others on this host, it says that, too. */
static void expect(struct run_result result, int status, const char *text)
{
	const char *line = strstr(result.err, "graced wait: ");
	const char *end = line ? strchr(line, '\n') : NULL;

	if (result.status != status || *result.out || !text != !line ||
	    (text && (!strstr(line, text) || !end || end[1])))
		fail_msg("status %d, expected %d with %s; printed: %s%s", result.status, status,
			 text ? text : "no line", result.out, result.err);
	run_done(&result);
}

static pid_t begin(const struct fixture *f, const char *const *more)
{
	struct args args = args_of(f, more);
	char *argv[ARGS_MAX + 1] = {(char *)"graced"};
	pid_t pid;

	for (size_t i = 0; args.list[i]; i++)
		argv[i + 1] = (char *)args.list[i];
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execv(getenv("GRACED"), argv);
		_exit(127);
	}
	return pid;
}

static void it_returns_after_the_last_of_500_and_never_before(void **state)
{
	struct fixture *f = need(state);
	uint64_t last_ns, returned_ns;
	size_t running;
	struct ends ends;
	int status;
	pid_t pid;

	assert_int_equal(ends_start(&f->tree, CONTAINERS, WITHIN_MS, &ends), 0);
	pid = begin(f, NULL);
	ends_go(&ends, LEAD_MS);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	returned_ns = page_clock_ns();
	last_ns = ends_last_ns(&ends, &running);
	print_message("# %s: returned %.1f ms after the last of %d\n", f->tree.hier.name,
		      ((double)returned_ns - (double)last_ns) / 1e6, CONTAINERS);
	ends_free(&ends);
	assert_int_equal(status, 0);
	assert_int_equal(running, 0);
	assert_true(last_ns <= returned_ns);
}

/* As fast as it can, between two cgroups below. */
static void move_about(const char *dir, unsigned int *moves) __attribute__((noreturn));
static void move_about(const char *dir, unsigned int *moves)
{
	char dirs[2][HIER_PATH_MAX + 16];

	for (int i = 0; i < 2; i++) {
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%c", dir, 'a' + i);
		mkdir(dirs[i], 0755);
	}
	while (cg_enter(dirs[*moves % 2], getpid()) == 0)
		__atomic_add_fetch(moves, 1, __ATOMIC_RELAXED);
	_exit(1);
}

static void a_process_that_moves_about_is_found(void **state)
{
	struct fixture *f = need(state);
	char dir[HIER_PATH_MAX + 8];
	unsigned int *moves = mmap(NULL, sizeof(*moves), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct cgfs *cgfs;
	pid_t pid;

	assert_true(moves != MAP_FAILED);
	assert_int_equal(cgfs_open(f->tree.hier.mount, f->tree.hier.unified, &cgfs), 0);
	snprintf(dir, sizeof(dir), "%s/moves", f->tree.root);
	assert_int_equal(hier_make(&f->tree.hier, dir, false), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		move_about(dir, moves);
	while (__atomic_load_n(moves, __ATOMIC_RELAXED) == 0)
		usleep(1000);
	while (__atomic_load_n(moves, __ATOMIC_RELAXED) < MOVES)
		if (!cgfs_populated(cgfs, box_tree_relative(&f->tree, dir)))
			fail_msg("it is not found after %u moves", *moves);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	cgfs_free(cgfs);
	munmap(moves, sizeof(*moves));
	assert_int_equal(cg_sweep(dir), 0);
}

static void a_node_without_containers_is_empty(void **state)
{
	expect(wait_empty(need(state), NULL), 0, NULL);
}

static void a_container_that_has_a_process_is_named_when_the_time_is_over(void **state)
{
	struct fixture *f = need(state);
	char text[128];
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	snprintf(text, sizeof(text), "1 container is not empty after 500ms: %.12s\n", box.id);
	expect(wait_empty(f, BOX_ARGV("--timeout", "500ms")), 1, text);
	assert_int_equal(box_remove(&box), 0);
}

static void a_process_deep_in_a_container_is_one_of_it(void **state)
{
	struct fixture *f = need(state);
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf"), .nested = "below"}, &box);
	expect(wait_empty(f, BOX_ARGV("--timeout", "500ms")), 1, "1 container is not empty");
	assert_int_equal(box_remove(&box), 0);
}

/* Whether it takes the signal in its event loop, and is not ended by it. */
static bool blocks(pid_t pid, int sig)
{
	unsigned long long blocked = 0;
	char path[32], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (!blocked && fgets(line, sizeof(line), file))
		if (strncmp(line, "SigBlk:", 7) == 0)
			blocked = strtoull(line + 7, NULL, 16);
	fclose(file);
	return blocked >> (sig - 1) & 1;
}

static void an_interrupted_wait_has_proven_nothing(void **state)
{
	struct fixture *f = need(state);
	struct box box;
	int status;
	pid_t pid;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	pid = begin(f, NULL);
	while (!blocks(pid, SIGTERM))
		usleep(1000);
	usleep(200000);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(box_remove(&box), 0);
}

static void cgroups_that_are_not_watched_prove_nothing(void **state)
{
	struct fixture *f = need(state);
	struct run_result result;
	char dir[HIER_PATH_MAX];
	size_t len = (size_t)snprintf(dir, sizeof(dir), "%s", f->tree.root);

	for (int i = 0; i < DEEP; i++) {
		memcpy(dir + len, "/d", 3);
		len += 2;
		assert_int_equal(mkdir(dir, 0755), 0);
	}
	result = wait_empty(f, BOX_ARGV("--timeout", "10s"));
	dir[strlen(f->tree.root) + 2] = 0;
	assert_int_equal(cg_sweep(dir), 0);
	expect(result, 1, "1 cgroup is not watched");
}

static void a_root_that_is_not_there_proves_nothing(void **state)
{
	expect(wait_empty(need(state), BOX_ARGV("--container-roots", "/graced-no-such")), 1,
	       "/graced-no-such: No such file");
}

static void without_privilege_nothing_is_proven(void **state)
{
	struct args args = args_of(need(state), NULL);
	struct run_result result;

	assert_int_equal(run(&(struct run_spec){.args = args.list, .uid = 65534}, &result), 0);
	assert_int_equal(result.status, 1);
	assert_string_not_equal(result.err, "");
	run_done(&result);
}

static void write_pods(const struct fixture *f, const char *uid, const char *kind, char path[96])
{
	FILE *file;

	snprintf(path, 96, "%s/pods.json", f->tree.tmp);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file,
		"{\"kind\":\"List\",\"items\":[{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
		"\"namespace\":\"b\",\"uid\":\"%s\",\"ownerReferences\":[{\"kind\":\"%s\","
		"\"apiVersion\":\"apps/v1\",\"name\":\"c\",\"uid\":\"d\",\"controller\":true}]},"
		"\"spec\":{\"nodeName\":\"n\",\"containers\":[]}}]}\n",
		uid, kind);
	assert_int_equal(fclose(file), 0);
}

static void what_a_drain_leaves_counts_unless_it_is_to_be_ignored(void **state)
{
	struct fixture *f = need(state);
	char path[96];
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	write_pods(f, box.uid, "ReplicaSet", path);
	expect(wait_empty(f, BOX_ARGV("--timeout", "500ms", "--ignore-daemonsets", "--pods", path)),
	       1, "1 container is not empty");
	write_pods(f, box.uid, "DaemonSet", path);
	expect(wait_empty(f, BOX_ARGV("--timeout", "20s", "--ignore-daemonsets", "--pods", path)),
	       0, NULL);
	assert_int_equal(box_remove(&box), 0);
}

static void a_static_pod_counts_unless_it_is_to_be_ignored(void **state)
{
	static const char hash[] = "0123456789abcdef0123456789abcdef";
	struct fixture *f = need(state);
	char pod[HIER_PATH_MAX], dir[HIER_PATH_MAX], path[96];
	pid_t pid;

	assert_true(snprintf(pod, sizeof(pod), "%s/kubepods/burstable/pod%s", f->tree.root, hash) <
		    (int)sizeof(pod));
	assert_true(snprintf(dir, sizeof(dir), "%s/%s%s", pod, hash, hash) < (int)sizeof(dir));
	assert_int_equal(hier_make(&f->tree.hier, pod, true), 0);
	assert_int_equal(hier_make(&f->tree.hier, dir, false), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(cg_enter(dir, pid), 0);
	write_pods(f, "94dc9966-1b2c-4d5e-8f90-a1b2c3d4e5f6", "DaemonSet", path);
	expect(wait_empty(f, BOX_ARGV("--timeout", "500ms")), 1, "1 container is not empty");
	expect(wait_empty(f, BOX_ARGV("--timeout", "20s", "--ignore-daemonsets", "--pods", path)),
	       0, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(cg_remove(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("it returns after the last of 500 containers, and never before",
		      it_returns_after_the_last_of_500_and_never_before),
		CLAIM("a process that moves about in its container is found",
		      a_process_that_moves_about_is_found),
		CLAIM("a node without containers is empty", a_node_without_containers_is_empty),
		CLAIM("a container that has a process is named when the time is over",
		      a_container_that_has_a_process_is_named_when_the_time_is_over),
		CLAIM("a process deep in a container is one of it",
		      a_process_deep_in_a_container_is_one_of_it),
		CLAIM("an interrupted wait has proven nothing",
		      an_interrupted_wait_has_proven_nothing),
		CLAIM("cgroups that are not watched prove nothing",
		      cgroups_that_are_not_watched_prove_nothing),
		CLAIM("a root that is not there proves nothing",
		      a_root_that_is_not_there_proves_nothing),
		CLAIM("without privilege nothing is proven", without_privilege_nothing_is_proven),
		CLAIM("the pods of a DaemonSet count unless they are to be ignored",
		      what_a_drain_leaves_counts_unless_it_is_to_be_ignored),
		CLAIM("a static pod counts unless it is to be ignored",
		      a_static_pod_counts_unless_it_is_to_be_ignored),
	};

	return attach_run(tests, setup);
}
