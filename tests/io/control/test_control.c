// SPDX-License-Identifier: Apache-2.0
/* Claims about io/control: who may ask is answered, who may not receives the reason, and no peer
 * holds the loop up or fills it. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "lib/claim.h"
#include "lib/daemon/ctlsite.h"

#define REQUEST	 "{\"version\":1,\"command\":\"pods\"}\n"
#define SHORT_NS 200000000ull
#define MS	 1000000
#define REFUSED	 "{\"version\":1,\"error\":\"only root may ask, and not from a container\"}\n"

static void a_question_is_answered_whole_however_long(void **state)
{
	static const uint64_t lines[] = {0, 1, 2, 500, 100000};
	struct ctlsite *s = *state;

	for (size_t i = 0; i < LEN(lines); i++) {
		s->lines = lines[i];
		assert_int_equal(ctlsite_query(s, 0), 0);
	}
	assert_int_equal(ctlsite_stats(s).answered, LEN(lines));
	assert_int_equal(ctlsite_stats(s).failed + ctlsite_stats(s).refused, 0);
}

static void a_request_may_come_in_pieces(void **state)
{
	struct ctlsite *s = *state;
	int fd = ctlsite_join(s);

	s->lines = 0;
	for (const char *at = REQUEST; *at; at++) {
		assert_int_equal(send(fd, at, 1, MSG_NOSIGNAL), 1);
		ctlsite_settle(s);
	}
	ctlsite_hears(s, fd, "{\"version\":1,\"lines\":0}\n");
}

static void who_the_daemon_does_not_admit_receives_the_reason(void **state)
{
	struct ctlsite *s = *state;
	int fd;

	s->admits = false;
	fd = ctlsite_join(s);
	ctlsite_hears(s, fd, REFUSED);
	assert_int_equal(s->asked_by, getpid());
	assert_int_equal(ctlsite_query(s, 0), -EREMOTEIO);
	assert_int_equal(ctlsite_stats(s).answered, 0);
	assert_int_equal(ctlsite_stats(s).refused, 2);
}

/* A connection made by a process that is gone; its pid. */
static pid_t join_and_end(const struct ctlsite *s, int *ret)
{
	/* With the same table of descriptors, which outlives it. */
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	int status;

	if (pid == 0)
		_exit(ctlsite_join(s));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	*ret = WEXITSTATUS(status);
	return pid;
}

/* By its number another process might be judged in its place. */
static void who_has_ended_meanwhile_gets_no_answer(void **state)
{
	struct ctlsite *s = *state;
	struct utsname kernel;
	pid_t pid;
	int fd;

	uname(&kernel);
	if (strverscmp(kernel.release, "6.5") < 0)
		skip();
	pid = join_and_end(s, &fd);
	ctlsite_hears(s, fd, REFUSED);
	assert_int_equal(s->asked_by, pid);
}

/* The directory keeps others out; were it open, the kernel's word of who they are would. */
static void another_user_gets_no_answer(void **state)
{
	struct ctlsite *s = *state;
	char run[80];

	if (geteuid() != 0)
		skip();
	assert_int_equal(ctlsite_query(s, 65534), -EACCES);
	snprintf(run, sizeof(run), "%s/run", s->dir);
	assert_int_equal(chmod(s->dir, 0755) | chmod(run, 0755) | chmod(s->path, 0666), 0);
	assert_int_equal(ctlsite_query(s, 65534), -EREMOTEIO);
	assert_int_equal(s->asked_by, 0);
	assert_int_equal(ctlsite_stats(s).refused, 1);
}

static void what_is_no_request_gets_one_clear_error(void **state)
{
	static const struct {
		const char *request, *reply;
	} cases[] = {
		{"hello\n",
		 "{\"version\":1,\"error\":\"this is not the control protocol of graced\"}\n"},
		{"\n",
		 "{\"version\":1,\"error\":\"this is not the control protocol of graced\"}\n"},
		{"{\"version\":1,\"command\":\"stop\"}\n",
		 "{\"version\":1,\"error\":\"there is no command 'stop' here\"}\n"},
		{"{\"version\":9,\"command\":\"pods\"}\n",
		 "{\"version\":1,\"error\":\"version 9 of the control protocol is not known here, "
		 "only 1\"}\n"},
	};
	struct ctlsite *s = *state;

	for (size_t i = 0; i < LEN(cases); i++) {
		int fd = ctlsite_join(s);

		ctlsite_say(fd, cases[i].request);
		ctlsite_hears(s, fd, cases[i].reply);
	}
	assert_int_equal(ctlsite_stats(s).failed, LEN(cases));
}

static void a_flood_is_cut_off_at_its_first_kilobyte(void **state)
{
	struct ctlsite *s = *state;
	_cleanup_(buf_free) struct buf flood = {};
	int fd = ctlsite_join(s);

	for (int i = 0; i < 100000; i++)
		buf_addc(&flood, '{');
	send(fd, flood.data, flood.len, MSG_NOSIGNAL);
	ctlsite_hears(s, fd, "{\"version\":1,\"error\":\"the request is too long\"}\n");
}

static void what_comes_behind_a_request_is_not_read(void **state)
{
	struct ctlsite *s = *state;
	int fd = ctlsite_join(s);

	s->lines = 0;
	ctlsite_say(fd, REQUEST REQUEST REQUEST);
	ctlsite_hears(s, fd, "{\"version\":1,\"lines\":0}\n");
	assert_int_equal(ctlsite_stats(s).answered, 1);
}

static void silence_half_lines_and_slow_readers_are_cut_off(void **state)
{
	_cleanup_(cleanup_close) int silent = -1, half = -1, slow = -1;
	_cleanup_(buf_free) struct buf got = {};
	struct ctlsite *s = *state;
	struct control_why why;
	uint64_t began;

	control_free(s->control);
	s->timeout_ns = SHORT_NS;
	assert_int_equal(ctlsite_listen(s, &why), 0);
	began = ctlsite_now_ms();
	silent = ctlsite_join(s);
	half = ctlsite_join(s);
	slow = ctlsite_join(s);
	s->lines = 100000;
	ctlsite_say(half, "{\"version\":1,");
	ctlsite_say(slow, REQUEST);
	while (ctlsite_stats(s).failed < 3 && ctlsite_now_ms() < began + 5000)
		sd_event_run(s->event, 10000);
	assert_int_equal(ctlsite_stats(s).failed, 3);
	assert_true(ctlsite_now_ms() - began >= SHORT_NS / MS);
	ctlsite_hear(s, slow, &got);
	assert_true(got.len < 64 * s->lines);
}

static void a_peer_that_leaves_early_costs_nothing(void **state)
{
	struct ctlsite *s = *state;
	int fd = ctlsite_join(s);

	ctlsite_settle(s);
	close(fd);
	ctlsite_settle(s);
	assert_int_equal(ctlsite_stats(s).failed, 1);
	s->lines = 100000;
	fd = ctlsite_join(s);
	ctlsite_say(fd, REQUEST);
	ctlsite_settle(s);
	close(fd);
	ctlsite_settle(s);
	assert_int_equal(ctlsite_stats(s).failed, 2);
	s->lines = 2;
	assert_int_equal(ctlsite_query(s, 0), 0);
}

static void one_too_many_is_turned_away_and_the_others_are_not(void **state)
{
	struct ctlsite *s = *state;
	int fds[CONTROL_CONNECTIONS], more;

	s->lines = 0;
	for (size_t i = 0; i < LEN(fds); i++)
		fds[i] = ctlsite_join(s);
	ctlsite_settle(s);
	more = ctlsite_join(s);
	ctlsite_hears(s, more,
		      "{\"version\":1,\"error\":\"too many ask at once; try again later\"}\n");
	for (size_t i = 0; i < LEN(fds); i++) {
		ctlsite_say(fds[i], REQUEST);
		ctlsite_hears(s, fds[i], "{\"version\":1,\"lines\":0}\n");
	}
	assert_int_equal(ctlsite_stats(s).refused, 1);
}

static void replies_that_nobody_reads_are_bounded_in_sum(void **state)
{
	struct ctlsite *s = *state;
	_cleanup_(cleanup_close) int first = ctlsite_join(s);
	int second;

	s->lines = 100000;
	ctlsite_say(first, REQUEST);
	ctlsite_settle(s);
	second = ctlsite_join(s);
	ctlsite_say(second, REQUEST);
	ctlsite_hears(
		s, second,
		"{\"version\":1,\"error\":\"too many replies wait to be read; try again later\"}\n");
}

static void an_answer_that_cannot_be_had_is_an_error(void **state)
{
	struct ctlsite *s = *state;
	int fd = ctlsite_join(s);

	s->error = -ENOMEM;
	ctlsite_say(fd, REQUEST);
	ctlsite_hears(s, fd, "{\"version\":1,\"error\":\"Cannot allocate memory\"}\n");
	s->why = "it is not allowed here";
	fd = ctlsite_join(s);
	ctlsite_say(fd, REQUEST);
	ctlsite_hears(s, fd, "{\"version\":1,\"error\":\"it is not allowed here\"}\n");
	s->error = 0;
	s->lines = 200000;
	fd = ctlsite_join(s);
	ctlsite_say(fd, REQUEST);
	ctlsite_hears(s, fd,
		      "{\"version\":1,\"error\":\"the answer is larger than one reply may be\"}\n");
}

static void a_thousand_connections_do_not_keep_the_next_one_out(void **state)
{
	struct ctlsite *s = *state;

	s->lines = 1;
	for (int i = 0; i < 1000; i++) {
		int fd = ctlsite_join(s);

		/* Half of a request, which most do not even get to send. */
		(void)send(fd, REQUEST, 5, MSG_NOSIGNAL);
		ctlsite_settle(s);
		if (i % 2)
			close(fd);
	}
	assert_int_equal(ctlsite_stats(s).answered, 0);
	/* Those that are left say no more, and are cut off. */
	for (uint64_t end = ctlsite_now_ms() + 60000; ctlsite_now_ms() < end;) {
		ctlsite_settle(s);
		if (ctlsite_query(s, 0) == 0)
			return;
	}
	fail_msg("nobody is answered any more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CTLSITE_CLAIM("a question is answered whole, however long",
			      a_question_is_answered_whole_however_long),
		CTLSITE_CLAIM("a request may come in pieces", a_request_may_come_in_pieces),
		CTLSITE_CLAIM("who the daemon does not admit receives the reason",
			      who_the_daemon_does_not_admit_receives_the_reason),
		CTLSITE_CLAIM("who has ended meanwhile gets no answer",
			      who_has_ended_meanwhile_gets_no_answer),
		CTLSITE_CLAIM("another user gets no answer", another_user_gets_no_answer),
		CTLSITE_CLAIM("what is no request gets one clear error",
			      what_is_no_request_gets_one_clear_error),
		CTLSITE_CLAIM("a flood is cut off at its first kilobyte",
			      a_flood_is_cut_off_at_its_first_kilobyte),
		CTLSITE_CLAIM("what comes behind a request is not read",
			      what_comes_behind_a_request_is_not_read),
		CTLSITE_CLAIM("silence, half lines and slow readers are cut off",
			      silence_half_lines_and_slow_readers_are_cut_off),
		CTLSITE_CLAIM("a peer that leaves early costs nothing",
			      a_peer_that_leaves_early_costs_nothing),
		CTLSITE_CLAIM("one too many is turned away, and the others are not",
			      one_too_many_is_turned_away_and_the_others_are_not),
		CTLSITE_CLAIM("replies that are not read are bounded in sum",
			      replies_that_nobody_reads_are_bounded_in_sum),
		CTLSITE_CLAIM("an answer that cannot be had is an error",
			      an_answer_that_cannot_be_had_is_an_error),
		CTLSITE_CLAIM("a thousand connections do not keep the next one out",
			      a_thousand_connections_do_not_keep_the_next_one_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
