// SPDX-License-Identifier: Apache-2.0
// A container without an init that execs is looked at after a while: the init is taken from /proc.
#include "lib/box/hangfs.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LOOK_S 60 /* it is due after 20 */

static int setup(void **state)
{
	return attach_open(state, "lookedfor");
}

/* How many lines of a recording have both texts. */
static unsigned int count_lines(const char *path, const char *one, const char *other)
{
	FILE *in = fopen(path, "re");
	unsigned int n = 0;
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0)
		n += strstr(line, one) && strstr(line, other);
	free(line);
	if (in)
		fclose(in);
	return n;
}

static void await_line(const char *path, const char *one, const char *other)
{
	for (int i = 0; i < LOOK_S * 10 && !count_lines(path, one, other); i++)
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	if (!count_lines(path, one, other))
		fail_msg("%s has no line with %s and %s", path, one, other);
}

static struct hangfs *slow;

/* However the test has ended, nothing waits for it any more. */
static int end_slow(void **state)
{
	struct fixture *f = *state;
	char dir[HIER_PATH_MAX];

	slow = hangfs_close(slow);
	if (f) {
		snprintf(dir, sizeof(dir), "%s/slow", f->tree.tmp);
		rmdir(dir);
	}
	return 0;
}

/* Its file system closes its files: while that takes long on a busy machine, it is not empty. */
static void judge_slow(struct fixture *f, struct box *box)
{
	struct proc_end end;
	const json_t *rec;
	json_t *empty;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	rec = tracer_await_stop(f->tracer, box);
	assert_int_equal(box_remove(box), 0);
	judge_match(rec, "{'outcome':'killed','cause':'no-grace'}");
	empty = json_pack("[s]", "not-empty");
	if (!json_equal((json_t *)jrec_get(rec, "evidence.gaps"), empty))
		judge_match(rec, "{'evidence':{'complete':true,'gaps':[]}}");
	json_decref(empty);
}

static void look_for(struct fixture *f, const struct box_spec *look_at, const char *gaps)
{
	char path[HIER_PATH_MAX], pid[32], id[32];
	struct tracer_spec spec = {.record = path, .tree = &f->tree};
	struct sent sent;
	struct stat st;
	struct box box;

	snprintf(path, sizeof(path), "%s/found.rec", f->tree.tmp);
	assert_int_equal(tracer_start(&spec, &f->tracer), 0);
	judge_start(f, look_at, &box);
	snprintf(pid, sizeof(pid), "\"pid\":%d,", (int)box.init_pid);
	await_line(path, "\"type\":\"init\"", pid);
	assert_int_equal(stat(box.dir, &st), 0);
	snprintf(id, sizeof(id), "\"id\":%llu", (unsigned long long)st.st_ino);
	assert_int_equal(count_lines(path, "\"type\":\"no_init\"", id), 0);
	if (slow) {
		hangfs_go_on(slow);
		assert_int_equal(proc_await_ready(&box.proc), 0);
		snprintf(box.comm, sizeof(box.comm), "program");
	}
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	if (slow)
		judge_slow(f, &box);
	else
		judge_box(f, &box,
			  (struct truth){.outcome = "killed",
					 .cause = "no-grace",
					 .kill = &sent,
					 .gaps = gaps});
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(tracer_stop(f->tracer), 0);
	f->tracer = tracer_free(f->tracer);
	remove(path);
}

static void an_init_that_never_execs_is_found(void **state)
{
	look_for(judge_need(state), &(struct box_spec){.run = page_exit_at_go, .host_pidns = true},
		 "['attached-late','init-guessed']");
}

/* A box's init is made outside its cgroup, and may have been signalled there. */
static void what_was_moved_in_is_late(void **state)
{
	look_for(judge_need(state), &(struct box_spec){.run = page_exit_at_go},
		 "['attached-late']");
}

/* /proc shows the program before the exec is seen. */
static void a_slow_exec_is_complete(void **state)
{
	struct fixture *f = judge_need(state);
	char dir[HIER_PATH_MAX], program[HIER_PATH_MAX + 16];
	const struct hangfs_spec spec = {
		.dir = dir, .program = program, .argument = "graceful", .slow = true};

	if (hangfs_unavailable()) {
		fprintf(stderr, "skipped: %s\n", hangfs_unavailable());
		skip();
	}
	snprintf(dir, sizeof(dir), "%s/slow", f->tree.tmp);
	snprintf(program, sizeof(program), "%s/workload", f->tree.helpers);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(hangfs_open(&spec, &slow), 0);
	look_for(f, &(struct box_spec){.run = hangfs_run, .no_wait = true}, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an init that never execs is found although nothing happens to it",
		      an_init_that_never_execs_is_found),
		CLAIM("PID 1 that may have been moved in has the gap", what_was_moved_in_is_late),
		{"one whose exec is under way has lost nothing", a_slow_exec_is_complete, NULL,
		 end_slow, NULL},
	};

	return attach_run(tests, setup);
}
