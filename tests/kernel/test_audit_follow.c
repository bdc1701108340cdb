// SPDX-License-Identifier: Apache-2.0
// What graced audit says of one process, and of containers that begin or change while it watches.
#include "base/buf.h"
#include "lib/claim.h"
#include "lib/kernel/audited.h"
#include "lib/patience.h"
#include "lib/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- --pid --- */

static json_t *audited_pid(pid_t pid, int status)
{
	struct run_result result;
	char text[16];
	json_t *rec;

	snprintf(text, sizeof(text), "%d", (int)pid);
	assert_int_equal(
		run(&(struct run_spec){.args = BOX_ARGV("audit", "-o", "json", "--pid", text)},
		    &result),
		0);
	rec = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
	if (!rec || result.status != status || result.err_len)
		fail_msg("status %d, not %d: %s%s", result.status, status, result.out, result.err);
	run_done(&result);
	return rec;
}

static void refuses_pid(const char *pid, int status, const char *err)
{
	struct run_result result;

	assert_int_equal(run(&(struct run_spec){.args = BOX_ARGV("audit", "--pid", pid)}, &result),
			 0);
	if (result.status != status || result.out_len || !strstr(result.err, err))
		fail_msg("%s: status %d: %s%s", pid, result.status, result.out, result.err);
	run_done(&result);
}

static void one_process_of_a_container_has_its_names(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;
	json_t *rec;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	rec = audited_pid(box.init_pid, 1);
	judge_match(rec, "{'verdict':'deaf','reason':'no-handler','shielded':true,'warnings':[]}");
	assert_string_equal(jrec_text(rec, "container.id"), box.id);
	assert_string_equal(jrec_text(rec, "container.cgroup"), box.path);
	assert_string_equal(jrec_text(rec, "pod.uid"), box.uid);
	assert_int_equal(jrec_int(rec, "process.pid", 0), box.init_pid);
	json_decref(rec);
	assert_int_equal(box_remove(&box), 0);
}

static void the_app_behind_a_shell_is_examined_by_itself(void **state)
{
	const struct audited_role role = {{"run", "/bin/sh", "-c",
					   "echo r >&4; exec 4>&-; sleep 1000; true"},
					  .in_call = SYS_wait4,
					  .sleeps = true};
	struct fixture *f = judge_need(state);
	json_t *rec, *app;
	struct box box;

	audited_start(f, &role, &box);
	rec = audited_pid(box.init_pid, 1);
	judge_match(rec, "{'verdict':'deaf','reason':'shell','shell':{'app':{'comm':'sleep'}}}");
	app = audited_pid((pid_t)jrec_int(rec, "shell.app.pid", 0), 0);
	judge_match(app, "{'verdict':'dies','reason':'default','shielded':false,"
			 "'process':{'comm':'sleep'},'warnings':[]}");
	json_decref(app);
	json_decref(rec);
	assert_int_equal(box_remove(&box), 0);
}

static void a_process_outside_of_containers_is_examined_too(void **state)
{
	json_t *rec;

	judge_need(state);
	rec = audited_pid(getpid(), 0);
	judge_match(rec,
		    "{'pod':null,'container':{'id':null},'verdict':'dies','reason':'default'}");
	assert_int_equal(jrec_int(rec, "process.pid", 0), getpid());
	json_decref(rec);
}

static void *show_tid(void *fd)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	int *pipe = fd;

	assert_int_equal(write(pipe[1], &tid, sizeof(tid)), sizeof(tid));
	pause();
	return NULL;
}

static void a_thread_and_what_is_gone_are_refused(void **state)
{
	char text[16], wanted[64];
	int status, fds[2];
	pthread_t thread;
	pid_t pid;

	judge_need(state);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, show_tid, fds), 0);
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	snprintf(text, sizeof(text), "%d", (int)pid);
	snprintf(wanted, sizeof(wanted), "%d is a thread", (int)pid);
	refuses_pid(text, 1, wanted);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(0);
	/* First a zombie, then gone. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){}, WEXITED | WNOWAIT), 0);
	snprintf(text, sizeof(text), "%d", (int)pid);
	snprintf(wanted, sizeof(wanted), "there is no process %d", (int)pid);
	refuses_pid(text, 1, wanted);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	refuses_pid(text, 1, wanted);
	refuses_pid("0", 2, "--pid wants the pid of a process");
	refuses_pid("-1", 2, "--pid wants the pid of a process");
	refuses_pid("2147483648", 2, "--pid wants the pid of a process");
	assert_int_equal(pthread_cancel(thread), 0);
	pthread_join(thread, NULL);
	close(fds[0]);
	close(fds[1]);
}

/* --- --watch --- */

struct watcher {
	pid_t pid;
	int fd;
	struct buf text;
};

static void exec_watch(const char *format) __attribute__((noreturn));
static void exec_watch(const char *format)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl(getenv("GRACED"), "graced", "audit", "--watch", "-o", format, (char *)NULL);
	_exit(127);
}

static void watch(const char *format, struct watcher *ret)
{
	int out[2];

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fflush(stdout);
	*ret = (struct watcher){.pid = fork(), .fd = out[0]};
	if (ret->pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		exec_watch(format);
	}
	close(out[1]);
}

/* Takes what it prints; false: nothing more comes. */
static bool watcher_read(struct watcher *w)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};
	char bytes[4096];
	ssize_t n;

	if (poll(&p, 1, 50) <= 0)
		return true;
	n = read(w->fd, bytes, sizeof(bytes));
	if (n > 0)
		buf_add(&w->text, bytes, (size_t)n);
	return n > 0;
}

/* The nth line with that text, once it is whole; NULL: there is none. */
static char *find_line(const struct watcher *w, const char *text, size_t nth)
{
	const char *at = buf_str(&w->text), *end;

	for (; (end = strchr(at, '\n')); at = end + 1) {
		char *line = strndup(at, (size_t)(end - at));

		assert_non_null(line);
		if (strstr(line, text) && nth-- == 0)
			return line;
		free(line);
	}
	return NULL;
}

static char *await_line(struct watcher *w, const char *text, size_t nth)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	char *line = NULL;

	while (!(line = find_line(w, text, nth)) && page_clock_ns() < until)
		assert_true(watcher_read(w));
	if (!line)
		fail_msg("no line %zu with '%s' in: %s", nth, text, buf_str(&w->text));
	return line;
}

static size_t count_lines(const struct watcher *w, const char *text)
{
	size_t n = 0;

	for (char *line; (line = find_line(w, text, n)); n++)
		free(line);
	return n;
}

static json_t *await_record(struct watcher *w, const struct box *box, size_t nth)
{
	char *line = await_line(w, box->id, nth);
	json_t *rec = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(rec);
	free(line);
	return rec;
}

static void end_watch(struct watcher *w, int sig)
{
	int status;

	assert_int_equal(kill(w->pid, sig), 0);
	while (watcher_read(w))
		;
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(w->fd);
	buf_free(&w->text);
}

#define CHANGES                                                                                \
	"mkfifo q; exec 5<>q; rm q; trap 'trap \"exit 0\" TERM' USR1; echo r >&4; exec 4>&-; " \
	"while :; do read line <&5; done"

static void a_watch_prints_who_begins_and_whose_verdict_changes(void **state)
{
	const struct audited_role role = {{"run", "/bin/sh", "-c", CHANGES}, .in_call = SYS_read};
	struct fixture *f = judge_need(state);
	struct watcher w;
	struct box first, later;
	json_t *rec;
	char *line;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &first);
	watch("json", &w);
	rec = await_record(&w, &first, 0);
	judge_match(rec, "{'verdict':'deaf','reason':'no-handler'}");
	json_decref(rec);
	audited_start(f, &role, &later);
	rec = await_record(&w, &later, 0);
	judge_match(rec, "{'verdict':'deaf','reason':'no-handler'}");
	json_decref(rec);
	assert_int_equal(kill(later.init_pid, SIGUSR1), 0);
	rec = await_record(&w, &later, 1);
	judge_match(rec, "{'verdict':'hears','reason':'handler'}");
	json_decref(rec);
	/* The first one has not changed. */
	line = find_line(&w, first.id, 1);
	assert_null(line);
	end_watch(&w, SIGTERM);
	assert_int_equal(box_remove(&later), 0);
	assert_int_equal(box_remove(&first), 0);
}

static void its_table_has_titles_once_and_a_paragraph_for_each_row(void **state)
{
	struct fixture *f = judge_need(state);
	struct box first, later;
	struct watcher w;
	size_t titles;
	char id[13];

	watch("table", &w);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &first);
	free(await_line(&w, "VERDICT", 0));
	snprintf(id, sizeof(id), "%.12s", first.id);
	free(await_line(&w, id, 0));
	free(await_line(&w, "  no-handler: workload (pid ", 0));
	/* Another test's container may have come first: outside of pods, whose column has come
	 * since. */
	titles = count_lines(&w, "VERDICT");
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &later);
	snprintf(id, sizeof(id), "%.12s", later.id);
	free(await_line(&w, id, 0));
	assert_int_equal(count_lines(&w, "VERDICT"), titles);
	end_watch(&w, SIGINT);
	assert_int_equal(box_remove(&later), 0);
	assert_int_equal(box_remove(&first), 0);
}

static void it_ends_when_its_reader_leaves(void **state)
{
	struct fixture *f = judge_need(state);
	struct watcher w;
	struct box box;
	int status;

	watch("json", &w);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	free(await_line(&w, box.id, 0));
	close(w.fd);
	assert_int_equal(waitpid(w.pid, &status, 0), w.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	buf_free(&w.text);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("one process of a container has its names",
		      one_process_of_a_container_has_its_names),
		CLAIM("the app behind a shell is examined by itself",
		      the_app_behind_a_shell_is_examined_by_itself),
		CLAIM("a process outside of containers is examined, too",
		      a_process_outside_of_containers_is_examined_too),
		CLAIM("a thread, and what is gone, are refused",
		      a_thread_and_what_is_gone_are_refused),
		CLAIM("a watch prints who begins, and whose verdict changes",
		      a_watch_prints_who_begins_and_whose_verdict_changes),
		CLAIM("its table has titles once, and a paragraph for each row",
		      its_table_has_titles_once_and_a_paragraph_for_each_row),
		CLAIM("it ends when its reader leaves", it_ends_when_its_reader_leaves),
	};

	return cmocka_run_group_tests(tests, audited_setup, audited_teardown);
}
