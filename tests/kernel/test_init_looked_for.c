// SPDX-License-Identifier: Apache-2.0
// A container without an init that execs is looked at after a while: the init is taken from /proc.
#include "lib/claim.h"
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

static void run_default(struct page *page)
{
	page_ready(page);
	page_await_go(page, 1);
	_exit(3);
}

static void look_for(struct fixture *f, bool host_pidns, const char *gaps)
{
	char path[HIER_PATH_MAX], pid[32], id[32];
	struct tracer_spec spec = {.record = path, .tree = &f->tree};
	struct sent sent;
	struct stat st;
	struct box box;

	snprintf(path, sizeof(path), "%s/found.rec", f->tree.tmp);
	assert_int_equal(tracer_start(&spec, &f->tracer), 0);
	judge_start(f, &(struct box_spec){.run = run_default, .host_pidns = host_pidns}, &box);
	snprintf(pid, sizeof(pid), "\"pid\":%d,", (int)box.init_pid);
	await_line(path, "\"type\":\"init\"", pid);
	assert_int_equal(stat(box.dir, &st), 0);
	snprintf(id, sizeof(id), "\"id\":%llu", (unsigned long long)st.st_ino);
	assert_int_equal(count_lines(path, "\"type\":\"no_init\"", id), 0);
	judge_send(f, SEND_RUNTIME, &box, SIGKILL, &sent);
	judge_box(f, &box,
		  (struct truth){
			  .outcome = "killed", .cause = "no-grace", .kill = &sent, .gaps = gaps});
	assert_int_equal(judge_count(f, &box, "stop"), 1);
	assert_int_equal(tracer_stop(f->tracer), 0);
	f->tracer = tracer_free(f->tracer);
	remove(path);
}

static void an_init_that_never_execs_is_found(void **state)
{
	look_for(judge_need(state), true, "['attached-late','init-guessed']");
}

/* As one whose program takes long to be read: /proc shows it before its exec is seen. */
static void a_pid_1_is_complete(void **state)
{
	look_for(judge_need(state), false, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("an init that never execs is found although nothing happens to it",
		      an_init_that_never_execs_is_found),
		CLAIM("PID 1 that is found so has lost nothing", a_pid_1_is_complete),
	};

	return attach_run(tests, setup);
}
