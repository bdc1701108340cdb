// SPDX-License-Identifier: Apache-2.0
// What graced audit says of containers in special states, and to whom: shared namespaces, stopped
// and frozen ones, scripts, users that may not look.
#include "lib/box/hangfs.h"
#include "lib/box/peek.h"
#include "lib/box/v1freezer.h"
#include "lib/claim.h"
#include "lib/kernel/audited.h"
#include "lib/patience.h"
#include "lib/run.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HANDLER "'verdict':'hears','reason':'handler','disposition':'handler','waiters':0"

static void a_shared_pid_namespace_gives_no_shield(void **state)
{
	struct fixture *f = judge_need(state);
	struct box pause, app;
	json_t *rec;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &pause);
	judge_start(
		f,
		&(struct box_spec){.argv = BOX_ARGV("deaf"), .pod_of = &pause, .pidns_of = &pause},
		&app);
	rec = audited(&app, 0);
	judge_match(rec, "{'verdict':'dies','reason':'default','shielded':false}");
	json_decref(rec);
	rec = audited(&pause, 0);
	judge_match(rec, "{" HANDLER ",'shielded':true}");
	json_decref(rec);
	assert_int_equal(box_remove(&app), 0);
	assert_int_equal(box_remove(&pause), 0);
}

/* --- one that is woken and gets no CPU --------------------------------------------------------- */

#define WOKEN_LOOKS 25

static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Waits for its stop signal a millisecond at a time, when nobody else wants the CPU. */
static void wait_at_leisure(struct page *page)
{
	const struct timespec wait = {.tv_nsec = 1000000};
	const struct sched_param none = {};
	sigset_t set;

	(void)page;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	stay_on_one_cpu();
	sched_setscheduler(0, SCHED_IDLE, &none);
	while (sigtimedwait(&set, NULL, &wait) != SIGTERM)
		;
	_exit(0);
}

static pid_t want_that_cpu(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stay_on_one_cpu();
	for (;;)
		;
}

static void *wait_in_thread(void *arg)
{
	wait_at_leisure(NULL);
	return NULL;
}

/* Its first thread blocks the signal, and another one waits for it. */
static void wait_beside(struct page *page)
{
	pthread_t thread;
	sigset_t set;

	(void)page;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, wait_in_thread, NULL);
	pthread_join(thread, NULL);
	_exit(1);
}

static void look_at_woken(const struct box *box)
{
	for (int i = 0; i < WOKEN_LOOKS; i++) {
		json_t *rec = audited_any_by(box, SIGTERM);
		const char *verdict = jrec_text(rec, "verdict");

		if (strcmp(verdict, "hears") != 0 && strcmp(verdict, "unknown") != 0)
			fail_msg("look %d: %s, %s", i, verdict, jrec_text(rec, "reason"));
		json_decref(rec);
	}
}

static void who_is_woken_in_a_wait_is_not_deaf(void **state)
{
	struct fixture *f = judge_need(state);
	pid_t others[] = {want_that_cpu(), want_that_cpu()};
	struct box box;

	judge_start(f, &(struct box_spec){.run = wait_at_leisure, .no_wait = true}, &box);
	assert_int_equal(peek_await_syscall(box.init_pid, SYS_rt_sigtimedwait), 0);
	look_at_woken(&box);
	assert_int_equal(box_remove(&box), 0);
	judge_start(f, &(struct box_spec){.run = wait_beside, .no_wait = true, .host_pidns = true},
		    &box);
	assert_int_equal(peek_await_syscall(box.init_pid, SYS_futex), 0);
	look_at_woken(&box);
	for (size_t i = 0; i < LEN(others); i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	assert_int_equal(box_remove(&box), 0);
}

static void what_is_stopped_hears_later(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_end end;
	struct sent sent;
	struct box box;
	json_t *rec;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	judge_send(f, SEND_HOST, &box, SIGSTOP, &sent);
	assert_int_equal(waitpid(box.init_pid, NULL, WUNTRACED), box.init_pid);
	rec = audited(&box, 0);
	judge_match(rec, "{" HANDLER ",'warnings':['stopped']}");
	json_decref(rec);
	judge_send(f, SEND_HOST, &box, SIGTERM, &sent);
	rec = audited(&box, 0);
	judge_match(rec, "{" HANDLER ",'warnings':['stopped','pending']}");
	json_decref(rec);
	judge_send(f, SEND_HOST, &box, SIGCONT, &sent);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(end.status, 0);
	assert_int_equal(box_remove(&box), 0);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[2 * HIER_PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) > 0);
	close(fd);
}

static void await_text(const char *dir, const char *name, const char *text)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	char path[2 * HIER_PATH_MAX], line[256];
	bool found = false;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	while (!found) {
		assert_true(page_clock_ns() < until);
		in = fopen(path, "re");
		assert_non_null(in);
		while (!found && fgets(line, sizeof(line), in))
			found = strstr(line, text) != NULL;
		fclose(in);
	}
}

static void expect_warnings(const struct box *box, const char *warnings)
{
	json_t *rec = audited(box, 0);
	char want[128];

	snprintf(want, sizeof(want), "{%s,'warnings':[%s]}", HANDLER, warnings);
	judge_match(rec, want);
	json_decref(rec);
}

static void what_is_frozen_hears_when_thawed(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful"), .twin = true}, &box);
	expect_warnings(&box, "");
	write_file(box.kill_dir, "cgroup.freeze", "1");
	await_text(box.kill_dir, "cgroup.events", "frozen 1");
	expect_warnings(&box, "'frozen'");
	write_file(box.kill_dir, "cgroup.freeze", "0");
	await_text(box.kill_dir, "cgroup.events", "frozen 0");
	expect_warnings(&box, "");
	assert_int_equal(box_remove(&box), 0);
}

static void the_older_freezer_is_one_too(void **state)
{
	struct fixture *f = judge_need(state);
	struct box box;

	if (!v1freezer_is_here(&f->tree.hier))
		skip();
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	assert_int_equal(v1freezer_hold(box.dir), 0);
	expect_warnings(&box, "'frozen'");
	assert_int_equal(v1freezer_let_out(getpid()), 0);
	expect_warnings(&box, "");
	assert_int_equal(box_remove(&box), 0);
}

/* What is held there cannot even be killed: it is let out, however the test has ended. */
static int let_out(void **state)
{
	return v1freezer_let_out(getpid());
}

/* As scripts use it. */
static void the_exit_status_tells_of_one_deaf_container(void **state)
{
	static const char none[] = "graced: no container whose names are known matches; ";
	struct fixture *f = judge_need(state);
	struct run_result result;
	struct box box;
	struct {
		const char *const *args;
		int status;
		bool row;
		const char *err;
	} rows[] = {
		{BOX_ARGV("audit", "-p", box.uid), 1, true, ""},
		{BOX_ARGV("audit", "-p", box.uid, "--exit-zero"), 0, true, ""},
		{BOX_ARGV("audit", "-p", box.uid, "-s", "KILL"), 0, true, ""},
		{BOX_ARGV("audit", "-p", box.uid, "-n", "elsewhere"), 1, false, none},
		{BOX_ARGV("audit", "-p", box.uid, "-c", "typo", "--exit-zero"), 1, false, none},
		{BOX_ARGV("audit", "-p", "typo", "-o", "json"), 1, false, none},
		{BOX_ARGV("audit", "-p", box.uid, "-s", "TERM,INT"), 2, false,
		 "graced audit: --signal wants one"},
	};

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	for (size_t i = 0; i < LEN(rows); i++) {
		assert_int_equal(run(&(struct run_spec){.args = rows[i].args}, &result), 0);
		assert_int_equal(result.status, rows[i].status);
		assert_int_equal(result.out_len > 0, rows[i].row);
		assert_int_equal(result.err_len > 0, *rows[i].err != 0);
		assert_int_equal(strncmp(result.err, rows[i].err, strlen(rows[i].err)), 0);
		run_done(&result);
	}
	assert_int_equal(box_remove(&box), 0);
}

/* "named" is what "stage" execs, from a file of the container's root. */
static void a_stage_of_the_runtime_is_starting(void **state)
{
	const struct {
		const char *const *argv;
		const char *says;
	} rows[] = {
		{BOX_ARGV("stage", "memory"), "{'verdict':'unknown','reason':'starting'}"},
		{BOX_ARGV("stage", "mount"), "{'verdict':'unknown','reason':'starting'}"},
		{BOX_ARGV("named"), "{" HANDLER "}"},
	};
	struct fixture *f = judge_need(state);
	struct box box;
	json_t *rec;

	for (size_t i = 0; i < LEN(rows); i++) {
		judge_start(f, &(struct box_spec){.prog = "stopper", .argv = rows[i].argv}, &box);
		rec = audited(&box, 0);
		judge_match(rec, "{'process':{'comm':'runc:[2:INIT]'}}");
		judge_match(rec, rows[i].says);
		json_decref(rec);
		assert_int_equal(box_remove(&box), 0);
	}
}

static struct hangfs *hanging;

/* However the test has ended, nothing waits for it any more. */
static int end_hanging(void **state)
{
	struct fixture *f = *state;
	char dir[HIER_PATH_MAX];

	hanging = hangfs_close(hanging);
	if (f) {
		snprintf(dir, sizeof(dir), "%s/hangs", f->tree.tmp);
		rmdir(dir);
	}
	return 0;
}

static void look_as_it_closes(const struct box *box)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	json_t *rec;

	page_go(box->proc.page, 1);
	while (!hangfs_was_asked(hanging)) {
		assert_true(page_clock_ns() < until);
		usleep(1000);
	}
	rec = audited_any(box);
	judge_match(rec, "{'verdict':'unknown','reason':'starting'}");
	json_decref(rec);
}

static void look_as_it_runs(const struct box *box, const char *says)
{
	json_t *rec = audited_any(box);

	judge_match(rec, says);
	json_decref(rec);
	assert_false(hangfs_was_asked(hanging));
}

/* Its program is on a file system that answers nothing any more, wherever that is mounted. */
static void a_file_system_that_hangs_is_not_asked(void **state)
{
	static const struct {
		enum hangfs_place place;
		const char *program, *argument, *says;
	} rows[] = {
		{HANGFS_MOUNTED, "workload", "deaf",
		 "{'verdict':'deaf','reason':'no-handler','process':{'comm':'program'}}"},
		/* As a stage of runc looks. */
		{HANGFS_DETACHED, "stopper", "named",
		 "{'verdict':'unknown','reason':'starting','process':{'comm':'runc:[2:INIT]'}}"},
		/* The link to its program reads as that of one in memory. */
		{HANGFS_ROOT, "stopper", "named",
		 "{" HANDLER ",'process':{'comm':'runc:[2:INIT]'}}"},
		/* It is about to run, and a file of that file system is closed before. */
		{HANGFS_OPEN, "workload", "deaf", NULL},
	};
	struct fixture *f = judge_need(state);
	char dir[HIER_PATH_MAX], program[HIER_PATH_MAX + 16];

	if (hangfs_unavailable()) {
		fprintf(stderr, "skipped: %s\n", hangfs_unavailable());
		skip();
	}
	snprintf(dir, sizeof(dir), "%s/hangs", f->tree.tmp);
	assert_int_equal(mkdir(dir, 0755), 0);
	for (size_t i = 0; i < LEN(rows); i++) {
		const struct hangfs_spec spec = {.dir = dir,
						 .program = program,
						 .argument = rows[i].argument,
						 .place = rows[i].place};
		struct box box;

		snprintf(program, sizeof(program), "%s/%s", f->tree.helpers, rows[i].program);
		assert_int_equal(hangfs_open(&spec, &hanging), 0);
		judge_start(f, &(struct box_spec){.run = hangfs_run}, &box);
		assert_true(box.proc.ready);
		if (rows[i].says)
			assert_int_equal(peek_await_syscall(box.init_pid, PEEK_PAUSE), 0);
		hangfs_hang(hanging);
		if (rows[i].says)
			look_as_it_runs(&box, rows[i].says);
		else
			look_as_it_closes(&box);
		hanging = hangfs_close(hanging);
		assert_int_equal(box_remove(&box), 0);
	}
}

/* An init is known by its program: bash plays it, from a file of that name. */
static void a_child_that_ignores_what_its_init_passes_on_is_a_warning(void **state)
{
#define PASSES_ON                                                                         \
	"trap 'kill -TERM $c' TERM; (%s echo r >&4; exec 4>&-; exec sleep 1000) & c=$!; " \
	"exec 4>&-; while :; do wait; done"
	static const struct {
		const char *name, *child, *warnings;
	} rows[] = {
		{"tini", "trap '' TERM;", "{'warnings':['child-ignored']}"},
		{"tini", "", "{'warnings':[]}"},
		{"another", "trap '' TERM;", "{'warnings':[]}"},
	};
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < LEN(rows); i++) {
		char init[128], copy[256], script[512];
		struct box box;
		json_t *rec;

		snprintf(init, sizeof(init), "%s/%s", f->tree.tmp, rows[i].name);
		snprintf(copy, sizeof(copy), "cp /bin/bash %s", init);
		assert_int_equal(system(copy), 0);
		snprintf(script, sizeof(script), PASSES_ON, rows[i].child);
		judge_start(f,
			    &(struct box_spec){.prog = "stopper",
					       .argv = BOX_ARGV("run", init, "-c", script)},
			    &box);
		rec = audited(&box, 0);
		judge_match(rec, "{" HANDLER "}");
		judge_match(rec, rows[i].warnings);
		json_decref(rec);
		assert_int_equal(box_remove(&box), 0);
	}
}

/* Around each fork bash blocks every signal; dash does so for as long as its vfork takes. */
static void a_shell_between_two_commands_does_not_block(void **state)
{
	static const char script[] = "echo r >&4; exec 4>&-; while :; do /bin/true; done";
	static const char *const shells[] = {"/bin/bash", "/bin/dash"};
	struct fixture *f = judge_need(state);
	struct box box;

	for (size_t i = 0; i < 2 * 20; i++) {
		const char *shell = shells[i / 20];
		json_t *rec;

		if (i % 20 == 0)
			judge_start(
				f,
				&(struct box_spec){.prog = "stopper",
						   .argv = BOX_ARGV("run", shell, "-c", script)},
				&box);
		rec = audited_any(&box);
		/* Where it was found in its vfork each time, that is what is said of it. */
		if (strcmp(jrec_text(rec, "reason"), "busy") != 0)
			judge_match(rec, "{'verdict':'deaf'}");
		assert_string_not_equal(jrec_text(rec, "reason"), "blocked");
		json_decref(rec);
		if (i % 20 == 19)
			assert_int_equal(box_remove(&box), 0);
	}
}

/* Its mask may be one of the moment. */
static void a_process_that_never_sleeps_is_not_blocked(void **state)
{
	static const char *const manners[][2] = {
		{"spins"}, {"vforks", "blocked"}, {"vforks", "handler"}};
	struct fixture *f = judge_need(state);
	struct box box;
	json_t *rec;

	for (size_t i = 0; i < LEN(manners); i++) {
		judge_start(f,
			    &(struct box_spec){.prog = "stopper",
					       .argv = BOX_ARGV(manners[i][0], manners[i][1])},
			    &box);
		rec = audited(&box, 0);
		judge_match(rec, i < 2 ? "{'verdict':'unknown','reason':'busy','blocked':true}"
				       : "{'verdict':'unknown','reason':'busy'}");
		json_decref(rec);
		assert_int_equal(box_remove(&box), 0);
	}
}

/* cgroup.procs lists no process of another pid namespace: the container looks empty from there. */
static void outside_the_hosts_pid_namespace_there_is_no_all_clear(void **state)
{
	static const char *const namespaces[] = {"--mount-proc", "--"};
	struct fixture *f = judge_need(state);
	struct run_result result;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box);
	for (size_t i = 0; i < LEN(namespaces); i++) {
		const char *graced = getenv("GRACED");
		const struct {
			const char *const *args;
			const char *err;
		} rows[] = {
			{BOX_ARGV("-pf", namespaces[i], graced, "audit"),
			 "graced audit: this is not"},
			{BOX_ARGV("-pf", namespaces[i], graced, "audit", "--exit-zero"),
			 "graced audit: this is not"},
			{BOX_ARGV("-pf", namespaces[i], graced, "trace", "--duration", "1s"),
			 "graced trace: this is not"},
			{BOX_ARGV("-pf", namespaces[i], graced, "record", "--duration", "1s",
				  "/dev/null"),
			 "graced record: this is not"},
			{BOX_ARGV("-pf", namespaces[i], graced, "resolve", "1"),
			 "graced resolve: this is not"},
			{BOX_ARGV("-pf", namespaces[i], graced, "check", "--no-names.enabled"),
			 NULL},
		};

		for (size_t k = 0; k < LEN(rows); k++) {
			const struct run_spec spec = {.exe = "/usr/bin/unshare",
						      .args = rows[k].args};

			assert_int_equal(run(&spec, &result), 0);
			assert_int_equal(result.status, 1);
			if (rows[k].err) {
				assert_int_equal(result.out_len, 0);
				assert_int_equal(
					strncmp(result.err, rows[k].err, strlen(rows[k].err)), 0);
			} else {
				assert_non_null(strstr(result.out, "fail  pid namespace"));
			}
			run_done(&result);
		}
	}
	assert_int_equal(box_remove(&box), 0);
}

/* What needs no permission is reported, the rest is not guessed. */
static void who_may_not_look_gets_no_guess(void **state)
{
	static const struct {
		const char *behaviour, *says;
	} rows[] = {
		{"graceful", "{'verdict':'hears','reason':'handler'}"},
		{"deaf",
		 "{'verdict':'unknown','reason':'no-access','blocked':null,'waiters':null}"},
		{"blocked",
		 "{'verdict':'unknown','reason':'no-access','blocked':true,'waiters':0}"},
	};
	struct fixture *f = judge_need(state);
	struct run_result result;
	struct box box;
	json_t *rec;

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct run_spec spec = {
			.args = BOX_ARGV("audit", "-o", "json", "-p", box.uid), .uid = 65534};

		judge_start(f, &(struct box_spec){.argv = BOX_ARGV(rows[i].behaviour)}, &box);
		assert_int_equal(run(&spec, &result), 0);
		assert_int_equal(result.status, i > 0);
		assert_int_equal(result.err_len > 0, i > 0);
		rec = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
		judge_match(rec, rows[i].says);
		json_decref(rec);
		run_done(&result);
		assert_int_equal(box_remove(&box), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("who is woken in a wait for signals, and gets no CPU, is not deaf, nor dies",
		      who_is_woken_in_a_wait_is_not_deaf),
		CLAIM("a child that ignores what its init passes on is a warning",
		      a_child_that_ignores_what_its_init_passes_on_is_a_warning),
		CLAIM("a shared pid namespace gives no shield",
		      a_shared_pid_namespace_gives_no_shield),
		CLAIM("what is stopped hears once it goes on", what_is_stopped_hears_later),
		CLAIM("what is frozen hears when it is thawed", what_is_frozen_hears_when_thawed),
		{"the older freezer is one, too", the_older_freezer_is_one_too, NULL, let_out,
		 NULL},
		CLAIM("the exit status tells of one deaf container, and of none by that name",
		      the_exit_status_tells_of_one_deaf_container),
		CLAIM("a stage of the runtime is starting, and not what calls itself one",
		      a_stage_of_the_runtime_is_starting),
		{"a file system that hangs is not asked for a container's program",
		 a_file_system_that_hangs_is_not_asked, NULL, end_hanging, NULL},
		CLAIM("a shell between two commands does not block",
		      a_shell_between_two_commands_does_not_block),
		CLAIM("a process that never sleeps is not reported as blocked",
		      a_process_that_never_sleeps_is_not_blocked),
		CLAIM("outside the host's pid namespace there is no all-clear",
		      outside_the_hosts_pid_namespace_there_is_no_all_clear),
		CLAIM("who may not look into a process gets no guess",
		      who_may_not_look_gets_no_guess),
	};

	return cmocka_run_group_tests(tests, audited_setup, audited_teardown);
}
