// SPDX-License-Identifier: Apache-2.0
/* Claims about io/control/control: the socket is the daemon's alone and goes
 * with it, and who asks gets all of an answer or the reason why not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/control/control.h"
#include "lib/claim.h"
#include "lib/daemon/ctlsite.h"

static void the_directory_is_made_for_nobody_else(void **state)
{
	struct ctlsite *s = *state;
	struct stat st;
	char run[80];

	snprintf(run, sizeof(run), "%s/run", s->dir);
	assert_int_equal(stat(run, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void a_live_daemons_socket_is_left_alone(void **state)
{
	struct ctlsite *s = *state, other = *s;
	struct control_why why;
	char expected[256];

	assert_int_equal(ctlsite_listen(&other, &why), -EADDRINUSE);
	snprintf(expected, sizeof(expected), "%s: another graced daemon listens there", s->path);
	assert_string_equal(why.text, expected);
	ctlsite_settle(s);
	assert_int_equal(ctlsite_query(s, 0), 0);
}

/* It dies without a chance to clean up. */
static void leave_socket_behind(struct ctlsite *s)
{
	struct control_why why;
	int status;
	pid_t pid;

	s->control = control_free(s->control);
	pid = fork();
	if (pid == 0) {
		sd_event_new(&s->event);
		_exit(ctlsite_listen(s, &why) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(s->path, F_OK), 0);
}

static void a_dead_daemons_socket_is_replaced(void **state)
{
	struct ctlsite *s = *state;
	struct control_answer got = {};
	struct control_why why;

	leave_socket_behind(s);
	assert_int_equal(control_query(s->path, &(struct control_request){.command = CONTROL_PODS},
				       1000, -1, &got, &why),
			 -ECONNREFUSED);
	assert_int_equal(ctlsite_listen(s, &why), 0);
	assert_int_equal(ctlsite_query(s, 0), 0);
}

static void what_is_no_socket_is_left_alone(void **state)
{
	struct ctlsite *s = *state;
	struct control_why why;
	char expected[256];

	s->control = control_free(s->control);
	close(open(s->path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(ctlsite_listen(s, &why), -EEXIST);
	snprintf(expected, sizeof(expected), "%s: what is there is no socket", s->path);
	assert_string_equal(why.text, expected);
	unlink(s->path);
	assert_int_equal(symlink("/etc/hostname", s->path), 0);
	assert_int_equal(ctlsite_listen(s, &why), -EEXIST);
}

static void a_directory_that_others_may_enter_is_refused(void **state)
{
	struct ctlsite *s = *state;
	struct control_why why;
	char run[80], expected[256];

	s->control = control_free(s->control);
	snprintf(run, sizeof(run), "%s/run", s->dir);
	snprintf(expected, sizeof(expected), "%s: others may enter the directory; chmod 0700 it",
		 run);
	for (mode_t mode = 1; mode < 0100; mode <<= 1) {
		assert_int_equal(chmod(run, 0700 | mode), 0);
		assert_int_equal(ctlsite_listen(s, &why), -EPERM);
		assert_string_equal(why.text, expected);
	}
	chmod(run, 0700);
	if (geteuid() == 0) {
		assert_int_equal(chown(run, 65534, 65534), 0);
		assert_int_equal(ctlsite_listen(s, &why), -EPERM);
	}
}

static void an_invalid_path_is_refused(void **state)
{
	struct ctlsite *s = *state;
	struct control_why why;
	char path[200];

	s->control = control_free(s->control);
	snprintf(s->path, sizeof(s->path), "control.sock");
	assert_int_equal(ctlsite_listen(s, &why), -EINVAL);
	snprintf(s->path, sizeof(s->path), "%s/", s->dir);
	assert_int_equal(ctlsite_listen(s, &why), -EINVAL);
	snprintf(s->path, sizeof(s->path), "%s/a/b/control.sock", s->dir);
	assert_int_equal(ctlsite_listen(s, &why), -ENOENT);
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[108] = '\0';
	assert_int_equal(control_new(s->event, &(struct control_config){.path = path}, &s->control,
				     &why),
			 -ENAMETOOLONG);
	snprintf(s->path, sizeof(s->path), "%s/run/control.sock", s->dir);
}

static void the_socket_goes_with_its_daemon_and_no_other(void **state)
{
	struct ctlsite *s = *state;
	struct control_why why;
	struct control *first;

	s->control = control_free(s->control);
	assert_int_equal(access(s->path, F_OK), -1);
	assert_int_equal(ctlsite_listen(s, &why), 0);
	first = s->control;
	unlink(s->path);
	assert_int_equal(ctlsite_listen(s, &why), 0);
	control_free(first);
	assert_int_equal(ctlsite_query(s, 0), 0);
}

/* A daemon whose loop stands still. */
static void a_client_waits_no_longer_than_it_wants_to(void **state)
{
	struct ctlsite *s = *state;
	struct control_answer got = {};
	uint64_t began = ctlsite_now_ms();
	struct control_why why;
	int stop[2];

	assert_int_equal(control_query(s->path, &(struct control_request){.command = CONTROL_PODS},
				       300, -1, &got, &why),
			 -ETIMEDOUT);
	assert_true(ctlsite_now_ms() - began >= 300 && ctlsite_now_ms() - began < 5000);
	assert_int_equal(pipe(stop), 0);
	assert_int_equal(write(stop[1], "", 1), 1);
	assert_int_equal(control_query(s->path, &(struct control_request){.command = CONTROL_PODS},
				       30000, stop[0], &got, &why),
			 -ECANCELED);
	close(stop[0]);
	close(stop[1]);
}

/* In place of a daemon, in a process of its own. */
static pid_t play(const struct ctlsite *s, const char *reply)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char request[256];
	pid_t pid;
	int fd;

	strcpy(address.sun_path, s->path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	pid = fork();
	if (pid == 0) {
		fd = accept(listener, NULL, NULL);
		if (recv(fd, request, sizeof(request), 0) > 0)
			send(fd, reply, strlen(reply), MSG_NOSIGNAL);
		_exit(0);
	}
	close(listener);
	return pid;
}

static void a_client_takes_no_reply_but_a_whole_one(void **state)
{
	static const struct {
		const char *reply;
		int result;
		const char *why;
	} cases[] = {
		{"{\"version\":1,\"lines\":1}\nx\n", 0, ""},
		{"", -EBADMSG, "the connection was closed without a reply"},
		{"{\"version\":1,\"lines\":1}", -EBADMSG,
		 "the connection was closed without a reply"},
		{"{\"version\":1,\"lines\":2}\nx\n", -EBADMSG, "the reply was cut short"},
		{"{\"version\":1,\"lines\":2}\nx\ny", -EBADMSG, "the reply was cut short"},
		{"{\"version\":1,\"lines\":1}\nx\ny", -EBADMSG, "the reply was cut short"},
		{"HTTP/1.1 400 Bad Request\n", -EBADMSG,
		 "this is not the control protocol of graced"},
		{"{\"version\":1,\"error\":\"no\"}\n", -EREMOTEIO, "no"},
	};
	struct ctlsite *s = *state;

	s->control = control_free(s->control);
	for (size_t i = 0; i < LEN(cases); i++) {
		struct control_answer got = {};
		struct control_why why = {};
		pid_t pid = play(s, cases[i].reply);

		assert_int_equal(control_query(s->path,
					       &(struct control_request){.command = CONTROL_PODS},
					       5000, -1, &got, &why),
				 cases[i].result);
		assert_string_equal(why.text, cases[i].why);
		buf_free(&got.text);
		waitpid(pid, NULL, 0);
		unlink(s->path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTLSITE_CLAIM("the directory is made for no other user",
			      the_directory_is_made_for_nobody_else),
		CTLSITE_CLAIM("a live daemon's socket is left alone",
			      a_live_daemons_socket_is_left_alone),
		CTLSITE_CLAIM("a dead daemon's socket is replaced",
			      a_dead_daemons_socket_is_replaced),
		CTLSITE_CLAIM("what is no socket is left alone", what_is_no_socket_is_left_alone),
		CTLSITE_CLAIM("a directory that others may enter is refused",
			      a_directory_that_others_may_enter_is_refused),
		CTLSITE_CLAIM("an invalid path is refused", an_invalid_path_is_refused),
		CTLSITE_CLAIM("the socket goes with its daemon and no other",
			      the_socket_goes_with_its_daemon_and_no_other),
		CTLSITE_CLAIM("a client waits no longer than it wants to",
			      a_client_waits_no_longer_than_it_wants_to),
		CTLSITE_CLAIM("a client takes no reply but a whole one",
			      a_client_takes_no_reply_but_a_whole_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
