// SPDX-License-Identifier: Apache-2.0
// Plays inits under audit, from the audit to the truth.
#include "lib/kernel/audited.h"

#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/run.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

json_t *audited_any(const struct box *box)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("audit", "-o", "json", "--exit-zero", "-c", box->id)};
	struct run_result result;
	json_t *rec;

	assert_int_equal(run(&spec, &result), 0);
	rec = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
	if (!rec || result.status || result.err_len)
		fail_msg("status %d: %s%s", result.status, result.out, result.err);
	run_done(&result);
	return rec;
}

json_t *audited_any_by(const struct box *box, int signal)
{
	char number[16];
	const struct run_spec spec = {.args = BOX_ARGV("audit", "-o", "json", "--exit-zero", "-s",
						       number, "-c", box->id)};
	struct run_result result;
	json_t *rec;

	snprintf(number, sizeof(number), "%d", signal ? signal : SIGTERM);
	assert_int_equal(run(&spec, &result), 0);
	rec = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
	run_done(&result);
	return rec;
}

json_t *audited(const struct box *box, int status)
{
	const struct run_spec spec = {.args = BOX_ARGV("audit", "-o", "json", "-c", box->id)};
	struct run_result result;
	json_t *rec;

	assert_int_equal(run(&spec, &result), 0);
	rec = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
	if (!rec || result.status != status || result.err_len)
		fail_msg("status %d, not %d: %s%s", result.status, status, result.out, result.err);
	run_done(&result);
	return rec;
}

static void check_common(const struct box *box, const json_t *rec)
{
	assert_string_equal(jrec_text(rec, "container.id"), box->id);
	assert_string_equal(jrec_text(rec, "container.cgroup"), box->path);
	assert_string_equal(jrec_text(rec, "pod.uid"), box->uid);
	assert_int_equal(jrec_int(rec, "process.pid", 0), box->init_pid);
	assert_int_equal(jrec_int(rec, "process.ns_pid", 0), box->init_ns_pid);
	judge_match(rec, "{'type':'audit','schema':1,'signal':{'number':15,'name':'SIGTERM'}}");
	assert_true(jrec_parse_time(jrec_text(rec, "time")) > 0);
}

static bool is_pending(pid_t pid, int sig)
{
	char path[64], line[256];
	uint64_t pending = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, "ShdPnd:", 7))
			pending = strtoull(line + 7, NULL, 16);
	fclose(in);
	return pending >> (sig - 1) & 1;
}

void audited_await_taken(pid_t pid, int sig)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;

	while (is_pending(pid, sig)) {
		assert_true(page_clock_ns() < until);
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}

/* Whom a signal wakes is runnable before kill(2) returns. */
static bool sleeps(pid_t pid, const char *tid)
{
	char path[512], line[256];
	bool found = false;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, tid);
	in = fopen(path, "re");
	while (in && !found && fgets(line, sizeof(line), in))
		found = !strncmp(line, "State:\tS", strlen("State:\tS")) ||
			!strncmp(line, "State:\tZ", strlen("State:\tZ"));
	if (in)
		fclose(in);
	return found;
}

static bool all_sleep(pid_t pid)
{
	struct dirent *entry;
	bool all = true;
	char path[64];
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	list = opendir(path);
	assert_non_null(list);
	while (all && (entry = readdir(list)))
		all = entry->d_name[0] == '.' || sleeps(pid, entry->d_name);
	closedir(list);
	return all;
}

/* Who hears it leaves, and does not sleep before. */
static void await_sleep(pid_t pid)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;

	while (!all_sleep(pid)) {
		assert_true(page_clock_ns() < until);
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}

/* It is there as before, and heard nothing. */
static void check_unheard(const struct audited_role *role, struct box *box)
{
	struct proc_end end;

	if (role->then == AUDITED_STAYS)
		audited_await_taken(box->init_pid, SIGTERM);
	await_sleep(box->init_pid);
	assert_int_equal(is_pending(box->init_pid, SIGTERM), role->then == AUDITED_KEEPS);
	assert_int_equal(kill(box->init_pid, SIGKILL), 0);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
	assert_null(page_find(box->proc.page, NOTE_HEARD, 0));
}

static void check_either(struct box *box)
{
	struct proc_end end;

	kill(box->init_pid, SIGKILL);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_true(WIFSIGNALED(end.status));
	assert_true(WTERMSIG(end.status) == SIGTERM || WTERMSIG(end.status) == SIGKILL);
	assert_null(page_find(box->proc.page, NOTE_HEARD, 0));
}

static void check_truth(struct fixture *f, const struct audited_role *role, struct box *box)
{
	struct proc_end end;
	struct sent sent;

	judge_send(f, SEND_HOST, box, SIGTERM, &sent);
	if (role->then == AUDITED_EITHER) {
		check_either(box);
		return;
	}
	if (role->then >= AUDITED_STAYS) {
		check_unheard(role, box);
		return;
	}
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	if (role->then == AUDITED_DIES)
		assert_true(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM);
	else
		assert_int_equal(end.status, 0);
	assert_int_equal(page_find(box->proc.page, NOTE_HEARD, 0) != NULL,
			 role->then == AUDITED_ENDS);
}

static bool is_called(pid_t pid, const char *name)
{
	char comm[16];
	pid_t parent;

	return peek_parent(pid, &parent, comm) == 0 && !strcmp(comm, name);
}

/* A shell waits before its child has come to exec what it is to be. */
static void await_sleep_below(pid_t pid)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	pid_t child = peek_first_child(pid);

	while (!child || !is_called(child, "sleep")) {
		assert_true(page_clock_ns() < until);
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		pid = child && peek_first_child(child) ? child : pid;
		child = peek_first_child(pid);
	}
}

void audited_start(struct fixture *f, const struct audited_role *role, struct box *ret)
{
	const struct box_spec spec = {
		.prog = role->prog ? role->prog : "stopper",
		.argv = role->argv,
		.host_pidns = role->host_pidns,
	};

	print_message("%s %s %s %s\n", role->argv[0], role->argv[1] ? role->argv[1] : "",
		      role->argv[1] && role->argv[2] ? role->argv[2] : "",
		      role->host_pidns ? "without a shield" : "");
	judge_start(f, &spec, ret);
	assert_true(ret->proc.ready);
	if (!strcmp(role->argv[0], "leader-gone"))
		assert_int_equal(peek_await_leader_gone(ret->init_pid), 0);
	if (role->in_call)
		assert_int_equal(peek_await_syscall(ret->init_pid, role->in_call), 0);
	if (role->sleeps)
		await_sleep_below(ret->init_pid);
}

void audited_play(void **state, const struct audited_role *roles, size_t n)
{
	struct fixture *f = judge_need(state);
	struct box box;
	json_t *rec;

	for (size_t i = 0; i < n; i++) {
		audited_start(f, roles + i, &box);
		rec = audited(&box, roles[i].status);
		check_common(&box, rec);
		judge_match(rec, roles[i].says);
		check_truth(f, roles + i, &box);
		/* No namespace takes what the shell leaves behind with it. */
		if (roles[i].host_pidns && jrec_int(rec, "shell.app.pid", 0))
			kill((pid_t)jrec_int(rec, "shell.app.pid", 0), SIGKILL);
		json_decref(rec);
		assert_int_equal(box_remove(&box), 0);
	}
}

int audited_setup(void **state)
{
	const char *why = box_unavailable();
	struct fixture *f;

	*state = NULL;
	if (why) {
		fprintf(stderr, "SKIP audit: %s\n", why);
		return 0;
	}
	f = calloc(1, sizeof(*f));
	if (!f || box_tree_open(&f->tree, "audit") < 0)
		return -1;
	*state = f;
	return 0;
}

int audited_teardown(void **state)
{
	struct fixture *f = *state;
	int r = f ? box_tree_close(&f->tree) : 0;

	free(f);
	return r ? -1 : 0;
}
