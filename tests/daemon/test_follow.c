// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced trace` beside a daemon: it follows it where it watches the same, with its
 * evidence and without programs of its own, and attaches otherwise. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/podstage.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

#define ENDED                                                                                   \
	"graced: the daemon that was followed has ended, and later stops are not shown; begin " \
	"again to follow the next one, or to attach\n"

static struct tracer *start(const struct podstage *s, const char *const *args)
{
	struct tracer *tracer;

	assert_int_equal(
		tracer_start(&(struct tracer_spec){.tree = &s->tree, .args = args}, &tracer), 0);
	return tracer;
}

/* BPF programs that a process holds. */
static unsigned int count_programs(pid_t pid)
{
	char path[300], link[64];
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, e->d_name);
		len = readlink(path, link, sizeof(link) - 1);
		link[len < 0 ? 0 : len] = '\0';
		n += strstr(link, "bpf-prog") != NULL;
	}
	closedir(dir);
	return n;
}

static void ask_to_stop(struct podstage *s, struct box *box)
{
	struct sent sent;

	assert_int_equal(send_signal(&s->tree, SEND_HOST, NULL, box->init_pid, SIGTERM, &sent), 0);
}

static void is_stop(const json_t *record, const char *expected)
{
	char why[256] = "it did not come";

	if (!record || jrec_match(record, expected, why, sizeof(why)) != 0)
		fail_msg("%s", why);
}

static void evidence_is_the_daemons(void **state)
{
	struct podstage *s = podstage_of(state);
	struct tracer *follows, *attached;
	struct box box;

	podstage_box(s, NULL, &box);
	follows = start(s, BOX_ARGV("--control.socket", s->socket));
	attached = start(s, BOX_ARGV("--attach"));
	assert_int_equal(count_programs(tracer_pid(follows)), 0);
	assert_true(count_programs(tracer_pid(attached)) > 0);
	ask_to_stop(s, &box);
	is_stop(tracer_await_stop(follows, &box),
		"{'outcome':'graceful','cause':'stop-signal','evidence':{'complete':true,"
		"'gaps':[]}}");
	is_stop(tracer_await_stop(attached, &box), "{'evidence':{'complete':false}}");
	assert_int_equal(tracer_count(follows, &(struct tracer_want){.type = "signal"}), 0);
	assert_int_equal(tracer_bad_lines(follows), 0);
	assert_int_equal(tracer_stop(follows), 0);
	assert_int_equal(tracer_stop(attached), 0);
	tracer_free(follows);
	tracer_free(attached);
	assert_int_equal(box_remove(&box), 0);
}

static void filters_are_the_same(void **state)
{
	struct podstage *s = podstage_of(state);
	struct tracer *one, *two;
	struct box first, second;

	podstage_box(s, NULL, &first);
	podstage_box(s, NULL, &second);
	one = start(s, BOX_ARGV("--control.socket", s->socket, "-c", second.id));
	two = start(s, BOX_ARGV("--control.socket", s->socket, "--signals", "-s", "TERM", "--count",
				"2", "-c", second.id));
	ask_to_stop(s, &first);
	assert_int_equal(box_remove(&first), 0);
	ask_to_stop(s, &second);
	assert_non_null(tracer_await_stop(one, &second));
	assert_int_equal(tracer_count(one, &(struct tracer_want){.type = "stop"}), 1);
	/* With a row of the signal, which no sink has, and an end of its own. */
	assert_int_equal(tracer_wait(two), 0);
	assert_int_equal(tracer_count(two, &(struct tracer_want){.type = "signal"}), 1);
	assert_int_equal(tracer_count(two, &(struct tracer_want){.type = "stop"}), 1);
	assert_string_equal(jrec_text(tracer_record(two, 0), "type"), "attached");
	assert_int_equal(tracer_stop(one), 0);
	tracer_free(one);
	tracer_free(two);
	assert_int_equal(box_remove(&second), 0);
}

static void table_is_the_same(void **state)
{
	struct podstage *s = podstage_of(state);
	const struct run_spec spec = {
		.args = BOX_ARGV("trace", "--control.socket", s->socket, "--container-roots",
				 box_tree_relative(&s->tree, s->tree.root), "--duration", "1s",
				 "-p", "nothing-is-called-so")};
	struct run_result result;
	struct box box;

	podstage_box(s, NULL, &box);
	assert_int_equal(run(&spec, &result), 0);
	assert_int_equal(result.status, 0);
	assert_non_null(strstr(result.out, "POD"));
	assert_non_null(strstr(result.out, "OUTCOME"));
	assert_string_equal(
		result.err,
		"graced: no container that runs now matches; waiting for one that does\n");
	run_done(&result);
	assert_int_equal(box_remove(&box), 0);
}

static void daemon_ends(const struct podstage *s, int number)
{
	struct service *service = podstage_service(s, NULL);
	struct tracer *tracer = start(s, BOX_ARGV("--control.socket", service_socket(service)));

	kill(service_pid(service), number);
	assert_int_equal(tracer_wait(tracer), 1);
	tracer_free(tracer);
	service_free(service);
}

static void end_of_the_daemon_ends_it(void **state)
{
	daemon_ends(podstage_of(state), SIGTERM);
	daemon_ends(podstage_of(state), SIGKILL);
}

static void other_terms_attach(void **state)
{
	struct podstage *s = podstage_of(state);
	const struct run_spec asked = {
		.args = BOX_ARGV("trace", "--control.socket", s->socket, "--scope", "all")};
	struct tracer *same, *other, *none;
	struct run_result result;

	setenv("GRACED_CONTROL_SOCKET", s->socket, 1);
	other = start(s, BOX_ARGV("--scope", "all"));
	assert_true(count_programs(tracer_pid(other)) > 0);
	setenv("GRACED_CONTROL_SOCKET", "/nonexistent/control.sock", 1);
	none = start(s, NULL);
	assert_true(count_programs(tracer_pid(none)) > 0);
	unsetenv("GRACED_CONTROL_SOCKET");
	assert_int_equal(run(&asked, &result), 0);
	assert_int_equal(result.status, 1);
	assert_non_null(strstr(result.err, "it watches other containers than are asked for"));
	run_done(&result);
	same = start(s, BOX_ARGV("--control.socket", s->socket));
	assert_int_equal(tracer_stop(same), 0);
	assert_int_equal(tracer_stop(other), 0);
	assert_int_equal(tracer_stop(none), 0);
	tracer_free(same);
	tracer_free(other);
	tracer_free(none);
}

/* --- peers that are no daemon ------------------------------------------------------------------ */

static void play(int listener, const struct buf *text, bool stays) __attribute__((noreturn));
static void play(int listener, const struct buf *text, bool stays)
{
	char request[1024];
	size_t done = 0;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = accept(listener, NULL, NULL);
	if (recv(fd, request, sizeof(request), 0) < 0)
		_exit(1);
	while (done < text->len) {
		ssize_t n = send(fd, text->data + done, text->len - done, MSG_NOSIGNAL);

		if (n < 0)
			break;
		done += (size_t)n;
	}
	if (stays)
		pause();
	_exit(0);
}

/* name: of the container that is asked for; NULL: all. */
static void traces(const struct buf *text, bool stays, const char *env, const char *name,
		   struct run_result *ret)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct run_spec explicit = {.args = BOX_ARGV("trace", "-o", "json",
							   "--control.socket", address.sun_path,
							   name ? "-c" : NULL, name)};
	const struct run_spec implicit = {
		.args = BOX_ARGV("trace", "-o", "json", "--duration", "1ms")};
	pid_t pid;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/graced-follow-%d", getpid());
	unlink(address.sun_path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 4), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		play(fd, text, stays);
	if (env)
		setenv(env, address.sun_path, 1);
	assert_int_equal(run(env ? &implicit : &explicit, ret), 0);
	if (env)
		unsetenv(env);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(address.sun_path);
	close(fd);
}

#define TERMS \
	"{\"version\":1,\"terms\":\"scope containers\\nnames all\\nassumed-grace 0\\nroots\\nnested\"}\n"

#define DROPPED                                                                               \
	"{\"type\":\"dropped\",\"schema\":1,\"time\":\"2026-11-25T10:01:00Z\",\"boot_ns\":9," \
	"\"node\":\"n\",\"records\":7}\n"

static void what_is_no_record_is_counted(void **state)
{
	_cleanup_(buf_free) struct buf text = {}, flood = {};
	struct run_result result;

	podstage_of(state);
	buf_adds(&text, TERMS "nonsense\n{}\n[]\n{\"type\":\"stop\"}\n"
			      "{\"type\":\"of a later graced\"}\n" DROPPED "\xff\xfe\n");
	traces(&text, false, NULL, NULL, &result);
	assert_int_equal(result.status, 1);
	assert_string_equal(result.out, DROPPED);
	assert_string_equal(result.err,
			    ENDED "graced: 7 records were dropped, as they were read too slowly\n"
				  "graced: 1 record is of a newer graced, and was left out\n"
				  "graced: 5 lines are no records\n");
	run_done(&result);
	buf_adds(&flood, TERMS);
	while (flood.len < 3u << 20)
		buf_adds(&flood, "{\"type\":\"stop\",");
	traces(&flood, true, NULL, NULL, &result);
	assert_int_equal(result.status, 1);
	assert_string_equal(result.err, "graced: the daemon sends what is no record, and is "
					"followed no longer\n");
	run_done(&result);
}

static void a_peer_that_does_not_answer_is_not_waited_for(void **state)
{
	_cleanup_(buf_free) struct buf nothing = {}, noise = {};
	struct run_result result;

	podstage_of(state);
	buf_adds(&noise, "hello\n");
	traces(&nothing, true, "GRACED_CONTROL_SOCKET", NULL, &result);
	assert_int_equal(result.status, 0);
	assert_non_null(strstr(result.out, "\"type\":\"attached\""));
	assert_string_equal(result.err, "");
	run_done(&result);
	traces(&noise, true, "GRACED_CONTROL_SOCKET", NULL, &result);
	assert_int_equal(result.status, 0);
	assert_non_null(strstr(result.out, "\"type\":\"attached\""));
	run_done(&result);
}

/* Each question for names is accepted by the kernel, and has no answer. */
static void names_without_an_answer_are_unknown(void **state)
{
	_cleanup_(buf_free) struct buf text = {};
	struct run_result result;

	podstage_of(state);
	buf_adds(&text, TERMS);
	traces(&text, false, NULL, "cart", &result);
	assert_int_equal(result.status, 1);
	assert_non_null(strstr(result.err, ENDED));
	assert_null(strstr(result.err, "that runs now"));
	run_done(&result);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a verdict has the daemon's evidence, and no program is loaded for it",
		      evidence_is_the_daemons),
		CLAIM("filters, --signals and --count are as of a trace that attaches",
		      filters_are_the_same),
		CLAIM("so is the table, and the word on names that nothing has", table_is_the_same),
		CLAIM("with the daemon it ends, by exit status 1", end_of_the_daemon_ends_it),
		CLAIM("it attaches where no daemon watches what is asked for", other_terms_attach),
		CLAIM("lines that are no records are counted, and a flood ends it",
		      what_is_no_record_is_counted),
		CLAIM("a peer that does not answer, or not as a daemon, is left alone",
		      a_peer_that_does_not_answer_is_not_waited_for),
		CLAIM("while the daemon does not list names, none is said to be missing",
		      names_without_an_answer_are_unknown),
	};

	return cmocka_run_group_tests(tests, podstage_open, podstage_close);
}
