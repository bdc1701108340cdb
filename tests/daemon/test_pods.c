// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about `graced pods` with a real daemon and pods laid out as the kubelet lays them out:
 * what runs is shown, what has gone is not, and nobody in a container gets an answer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/podstage.h"
#include "lib/jrec.h"
#include "lib/patience.h"
#include "lib/run.h"

#define STEP_MS 50

static json_t *await_running(const char *socket, const char *uid, int64_t running)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;
	json_t *line;

	while (!(line = podstage_ask(socket, uid)) ||
	       jrec_int(line, "containers.running", -1) != running) {
		json_decref(line);
		assert_true(podstage_now_ms() < until);
		usleep(STEP_MS * 1000);
	}
	return line;
}

static void await_gone(const char *socket, const char *uid)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;
	json_t *line;

	while ((line = podstage_ask(socket, uid))) {
		json_decref(line);
		assert_true(podstage_now_ms() < until);
		usleep(STEP_MS * 1000);
	}
}

static void what_runs_is_shown_and_what_has_gone_is_not(void **state)
{
	struct podstage *s = podstage_of(state);
	struct box first, second;
	json_t *line;

	podstage_box(s, NULL, &first);
	line = await_running(s->socket, first.uid, 1);
	assert_string_equal(jrec_text(line, "type"), "pods");
	assert_string_equal(jrec_text(line, "state"), "sync");
	assert_string_equal(jrec_text(line, "pod.uid"), first.uid);
	assert_string_equal(jrec_text(line, "pod.qos"), "burstable");
	assert_true(jrec_is_null(line, "desired"));
	json_decref(line);
	podstage_box(s, &first, &second);
	line = await_running(s->socket, first.uid, 2);
	assert_int_equal(jrec_int(line, "containers.all", -1), 2);
	json_decref(line);
	assert_int_equal(box_remove(&second), 0);
	json_decref(await_running(s->socket, first.uid, 1));
	assert_int_equal(box_remove(&first), 0);
	await_gone(s->socket, first.uid);
}

static void the_table_has_a_row_for_each_pod(void **state)
{
	struct podstage *s = podstage_of(state);
	const struct run_spec spec = {.args = BOX_ARGV("pods", "--control.socket", s->socket)};
	struct run_result result;
	struct box boxes[2];

	for (size_t i = 0; i < LEN(boxes); i++) {
		podstage_box(s, NULL, &boxes[i]);
		json_decref(await_running(s->socket, boxes[i].uid, 1));
	}
	assert_int_equal(run(&spec, &result), 0);
	assert_int_equal(result.status, 0);
	assert_string_equal(result.err, "");
	assert_int_equal(strncmp(result.out, "POD ", 4), 0);
	for (size_t i = 0; i < LEN(boxes); i++) {
		const char *row = strstr(result.out, boxes[i].uid);

		assert_non_null(row);
		assert_true(strstr(row, " sync ") < strchr(row, '\n'));
		assert_int_equal(box_remove(&boxes[i]), 0);
	}
	run_done(&result);
}

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddee"

/* Whether `graced ps` has a line for that container, in that state. */
static bool is_listed(const struct podstage *s, const char *id, const char *state)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("ps", "-o", "json", "-c", id, "--control.socket", s->socket)};
	struct run_result result;
	json_t *line;
	bool is;

	assert_int_equal(run(&spec, &result), 0);
	line = json_loads(result.out, 0, NULL);
	is = line && strcmp(jrec_text(line, "container.id"), id) == 0 &&
	     strcmp(jrec_text(line, "state"), state) == 0 && jrec_is_null(line, "pod");
	assert_true(line || result.status == 1);
	json_decref(line);
	run_done(&result);
	return is;
}

static void await_listed(const struct podstage *s, const char *id, const char *state)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;

	while (!is_listed(s, id, state)) {
		assert_true(podstage_now_ms() < until);
		usleep(STEP_MS * 1000);
	}
}

static void a_container_in_no_pod_is_listed_running_and_stopping(void **state)
{
	struct podstage *s = podstage_of(state);
	const struct box_spec spec = {.argv = BOX_ARGV("sigign"),
				      .slice = "system.slice",
				      .leaf = "docker-" HEX "01.scope"};
	const struct run_spec ask = {.args = BOX_ARGV("ps", "--control.socket", s->socket)};
	struct run_result result;
	struct sent sent;
	struct box box;

	assert_int_equal(box_start(&s->tree, &spec, &box), 0);
	await_listed(s, HEX "01", "running");
	assert_int_equal(run(&ask, &result), 0);
	assert_int_equal(strncmp(result.out, "CONTAINER     STATE    SINCE", 28), 0);
	assert_non_null(strstr(result.out, "\n001122334455  running  "));
	run_done(&result);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	await_listed(s, HEX "01", "stopping");
	assert_int_equal(box_remove(&box), 0);
}

/* The answer to a process of this cgroup; its exit status. */
static int ask_in(const char *dir, const char *socket, char *text, size_t size)
{
	char procs[HIER_PATH_MAX + 16];
	int out[2], status;
	ssize_t n;
	pid_t pid;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	assert_int_equal(pipe(out), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int fd = open(procs, O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "0", 1) != 1 || dup2(out[1], STDERR_FILENO) < 0 ||
		    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0)
			_exit(126);
		execl(getenv("GRACED"), "graced", "pods", "--control.socket", socket, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	n = read(out[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(out[0]);
	return WEXITSTATUS(status);
}

static const char refused[] = "only root may ask, and not from a container\n";

/* Its root is root of the container, whatever it may see of the host. */
static void nobody_in_a_container_gets_an_answer(void **state)
{
	struct podstage *s = podstage_of(state);
	char inner[HIER_PATH_MAX + 16], text[512];
	struct box box;

	podstage_box(s, NULL, &box);
	json_decref(await_running(s->socket, box.uid, 1));
	snprintf(inner, sizeof(inner), "%s/inner", box.dir);
	assert_int_equal(mkdir(inner, 0755), 0);
	assert_int_equal(ask_in(box.dir, s->socket, text, sizeof(text)), 1);
	assert_non_null(strstr(text, refused));
	assert_int_equal(ask_in(inner, s->socket, text, sizeof(text)), 1);
	assert_non_null(strstr(text, refused));
	assert_int_equal(ask_in(box.pod_dir, s->socket, text, sizeof(text)), 0);
	assert_int_equal(rmdir(inner), 0);
	assert_int_equal(box_remove(&box), 0);
}

static void put_into(const char *dir, pid_t pid)
{
	char procs[HIER_PATH_MAX + 16];
	FILE *file;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	file = fopen(procs, "we");
	assert_non_null(file);
	assert_true(fprintf(file, "%d", pid) > 0);
	assert_int_equal(fclose(file), 0);
}

/* As who runs it as a DaemonSet does, by kubectl exec. */
static void a_daemon_in_a_container_answers_in_there(void **state)
{
	struct podstage *s = podstage_of(state);
	struct service *service = podstage_service(s, NULL);
	const char *socket = service_socket(service);
	struct box own, other;
	char text[512];

	podstage_box(s, NULL, &own);
	podstage_box(s, NULL, &other);
	json_decref(await_running(socket, other.uid, 1));
	put_into(own.dir, service_pid(service));
	assert_int_equal(ask_in(own.dir, socket, text, sizeof(text)), 0);
	assert_int_equal(ask_in(other.dir, socket, text, sizeof(text)), 1);
	assert_non_null(strstr(text, refused));
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	assert_int_equal(box_remove(&own), 0);
	assert_int_equal(box_remove(&other), 0);
}

static void another_user_gets_advice(void **state)
{
	struct podstage *s = podstage_of(state);
	const struct run_spec spec = {.args = BOX_ARGV("pods", "--control.socket", s->socket),
				      .uid = 65534};
	struct run_result result;

	assert_int_equal(run(&spec, &result), 0);
	assert_int_equal(result.status, 1);
	assert_non_null(strstr(result.err, "run graced pods as root\n"));
	run_done(&result);
}

static void no_daemon_is_an_error_with_advice(void **state)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("pods", "--control.socket", "/tmp/graced-no-such.sock")};
	struct run_result result;

	podstage_of(state);
	assert_int_equal(run(&spec, &result), 0);
	assert_int_equal(result.status, 1);
	assert_string_equal(result.out, "");
	assert_string_equal(result.err,
			    "graced: no daemon answers at /tmp/graced-no-such.sock; start graced "
			    "run, or name its socket with --control.socket\n");
	run_done(&result);
}

static void a_second_daemon_goes_on_without_and_the_first_still_answers(void **state)
{
	struct podstage *s = podstage_of(state);
	struct service *second = podstage_service(s, s->socket);
	struct box box;

	assert_true(service_await_log(second, "another graced daemon listens there"));
	podstage_box(s, NULL, &box);
	json_decref(await_running(s->socket, box.uid, 1));
	assert_int_equal(service_stop(second), 0);
	service_free(second);
	json_decref(await_running(s->socket, box.uid, 1));
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("what runs is shown, and what has gone is not",
		      what_runs_is_shown_and_what_has_gone_is_not),
		CLAIM("the table has a row for each pod", the_table_has_a_row_for_each_pod),
		CLAIM("a container in no pod is listed, running and stopping",
		      a_container_in_no_pod_is_listed_running_and_stopping),
		CLAIM("nobody in a container gets an answer", nobody_in_a_container_gets_an_answer),
		CLAIM("a daemon in a container answers in there",
		      a_daemon_in_a_container_answers_in_there),
		CLAIM("another user gets advice", another_user_gets_advice),
		CLAIM("no daemon is an error, with advice", no_daemon_is_an_error_with_advice),
		CLAIM("a second daemon goes on without, and the first still answers",
		      a_second_daemon_goes_on_without_and_the_first_still_answers),
	};

	return cmocka_run_group_tests(tests, podstage_open, podstage_close);
}
