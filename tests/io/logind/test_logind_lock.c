// SPDX-License-Identifier: Apache-2.0
/* Claims about io/logind's lock: whose number it is, who hands it on, and that there is one. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/logind/logind.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/shutdown/logindscene.h"

static const struct logind_options plain = {.lock = -1};

#define FDS 64

static void list_fds(bool ret[static FDS])
{
	for (int fd = 0; fd < FDS; fd++)
		ret[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* Lets go of the lock; the number it had. */
static int drop(struct logindscene *s)
{
	bool before[FDS], after[FDS];
	int number = -1;

	list_fds(before);
	logind_drop(s->logind);
	list_fds(after);
	for (int fd = 0; fd < FDS; fd++)
		if (before[fd] && !after[fd])
			number = fd;
	assert_true(number >= 0);
	return number;
}

static void test_cancelled(void **state)
{
	struct logindscene *s = logindscene_of(state);
	int number;

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logindmock_announce(&s->mock, true, "reboot");
	logindscene_await(s, "announced=5000:reboot ");
	number = drop(s);
	assert_false(logindscene_state(s).held);
	assert_int_equal(dup2(STDERR_FILENO, number), number);
	logind_drop(s->logind);
	logindscene_forget(s);
	logindmock_announce(&s->mock, false, "reboot");
	logindscene_await(s, "cancelled taken ");
	assert_true(fcntl(number, F_GETFD) >= 0);
	assert_true(drop(s) != number);
	assert_true(fcntl(number, F_GETFD) >= 0);
	close(number);
	assert_int_equal(logindscene_state(s).counts.inhibits, 2);
}

static void test_held_on(void **state)
{
	struct logindscene *s = logindscene_of(state);

	/* Cancelled before it was released: it is the same one all the time. */
	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logindmock_announce(&s->mock, true, "reboot");
	logindmock_announce(&s->mock, false, "reboot");
	logindmock_announce(&s->mock, true, "kexec");
	logindscene_await(s, ":kexec ");
	logindscene_settle(s);
	assert_int_equal(logindscene_count(s, "taken "), 1);
	assert_int_equal(logindscene_state(s).counts.inhibits, 1);
	assert_int_equal(logindmock_locks(&s->mock), 1);
}

static void test_taken_back(void **state)
{
	struct logindscene *s = logindscene_of(state);
	struct logind_options back = plain;

	s->no_lock = true;
	back.lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
	logindscene_open(s, &back);
	assert_true(logindscene_state(s).held);
	/* logind knows nothing of that one. */
	logindscene_await(s, "lost ");
	assert_false(logindscene_state(s).held);
	assert_int_equal(fcntl(back.lock, F_GETFD), -1);
}

static void test_renewed(void **state)
{
	struct logindscene *s = logindscene_of(state);

	/* The new one is taken before the old one is released. */
	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	logindscene_forget(s);
	logind_take(s->logind);
	logind_take(s->logind);
	logindscene_await(s, "taken ");
	logindscene_await_locks(s, 1);
	assert_int_equal(logindscene_count(s, "taken "), 1);
	assert_int_equal(logindscene_state(s).counts.inhibits, 2);
	/* One that is called off is none. */
	logindscene_forget(s);
	logind_take(s->logind);
	logind_drop(s->logind);
	logindscene_settle(s);
	assert_int_equal(logindscene_count(s, "taken "), 0);
	logindscene_await_locks(s, 0);
}

static void test_handed_over(void **state)
{
	struct logindscene *s = logindscene_of(state);
	struct logind_options back = plain;

	/* One that logind does know. */
	logindmock_run(&s->mock, "global inhibitors\ninhibitors = "
				 "[('shutdown', 'graced', 'before', 'delay', 0, 99)]");
	back.lock = dup(STDERR_FILENO);
	back.lock_pid = 99;
	logindscene_open(s, &back);
	logindscene_await(s, "limit=5000 ");
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=1 own:graced/before ");
	assert_true(logindscene_state(s).held);
	assert_int_equal(logindscene_count(s, "taken"), 0);
	assert_int_equal(logindscene_state(s).counts.inhibits, 0);
}

/* A lock that was handed over, where logind lists that one; whether it still counts as held. */
static bool is_held_on(struct logindscene *s, uint32_t lock_pid, const char *listed)
{
	struct logind_options back = {.lock = dup(STDERR_FILENO), .lock_pid = lock_pid};
	char python[256];
	bool held;

	snprintf(python, sizeof(python), "global inhibitors\ninhibitors = [%s]", listed);
	logindmock_run(&s->mock, python);
	logindscene_forget(s);
	s->no_lock = true;
	logindscene_open(s, &back);
	logindscene_await(s, "limit=5000 ");
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=");
	held = logindscene_state(s).held;
	assert_int_equal(logindscene_count(s, "lost "), !held);
	s->logind = logind_free(s->logind);
	return held;
}

static void test_handed_over_to_another(void **state)
{
	struct logindscene *s = logindscene_of(state);

	if (geteuid() != 0)
		skip();
	assert_true(is_held_on(s, 99, "('shutdown', 'graced', '', 'delay', 0, 99)"));
	assert_false(is_held_on(s, 99, "('shutdown', 'graced', '', 'delay', 0, 98)"));
	assert_false(is_held_on(s, 99, "('shutdown', 'graced', '', 'delay', 1000, 99)"));
	assert_false(is_held_on(s, 99, "('shutdown', 'graces', '', 'delay', 0, 99)"));
	/* By one that did not write its pid down. */
	assert_true(is_held_on(s, 0, "('shutdown', 'graced', '', 'delay', 0, 99)"));
	assert_false(is_held_on(s, 0, "('shutdown', 'graced', '', 'delay', 1000, 99)"));
}

static void test_foreign(void **state)
{
	struct logindscene *s = logindscene_of(state);
	char python[512];

	logindscene_open(s, &plain);
	logindscene_await(s, "limit=5000 ");
	snprintf(python, sizeof(python),
		 "global inhibitors\ninhibitors[:0] = ["
		 "('shutdown', 'graced', 'user', 'delay', 1000, %d),"
		 "('shutdown', 'graced', 'pid', 'delay', %d, 99),"
		 "('shutdown', 'other', 'name', 'delay', %d, %d)]",
		 getpid(), geteuid(), geteuid(), getpid());
	logindmock_run(&s->mock, python);
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=4 ");
	assert_int_equal(logindscene_count(s, "own:"), 1);
	assert_int_equal(logindscene_count(s, "own:graced/It sees the shutdown through "), 1);
}

/* logind may list the lock of the process before a moment longer than it is held. */
static void test_renewed_after(void **state)
{
	struct logindscene *s = logindscene_of(state);
	struct logind_options back = plain;

	if (geteuid() != 0)
		skip();
	s->no_lock = true;
	logindmock_run(&s->mock, "global inhibitors\ninhibitors = "
				 "[('shutdown', 'graced', 'before', 'delay', 0, 99)]");
	back.lock = dup(STDERR_FILENO);
	back.lock_pid = 99;
	logindscene_open(s, &back);
	logindscene_await(s, "limit=5000 ");
	logind_drop(s->logind);
	logind_list_holders(s->logind);
	logindscene_await(s, "holders=1 own:graced/before ");
}

/* Where this process and logind number processes differently. */
static int hold_as_another_number(struct logindscene *s)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	s->event = NULL;
	if (getpid() != 1 || sd_event_new(&s->event) < 0)
		return 1;
	logindscene_open(s, &plain);
	while (!strstr(s->events, "limit=5000 ") && clock_boot_ns() < end_ns)
		sd_event_run(s->event, 20000);
	logind_list_holders(s->logind);
	while (!strstr(s->events, "holders=") && clock_boot_ns() < end_ns)
		sd_event_run(s->event, 20000);
	return strstr(s->events, "holders=1 own:graced/") ? 0 : 2;
}

static void test_pid_namespace(void **state)
{
	struct logindscene *s = logindscene_of(state);
	int before = open("/proc/self/ns/pid_for_children", O_RDONLY | O_CLOEXEC), status;
	pid_t pid;

	assert_true(before >= 0);
	if (unshare(CLONE_NEWPID) < 0)
		skip();
	pid = fork();
	if (pid == 0)
		_exit(hold_as_another_number(s));
	assert_int_equal(setns(before, CLONE_NEWPID), 0);
	close(before);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The next of the notifications; "" for none. */
static void receive(int fd, char ret[static 128])
{
	ssize_t n = recv(fd, ret, 127, MSG_DONTWAIT);

	ret[n > 0 ? n : 0] = '\0';
}

static int listen_as_systemd(struct logindscene *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", s->mock.dir);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	return fd;
}

static void test_kept(void **state)
{
	static const struct logind_options options = {.lock = -1, .store = "shutdown-lock"};
	struct logind_options back = {.store = "shutdown-lock", .lock_pid = 99};
	struct logindscene *s = logindscene_of(state);
	int fd = listen_as_systemd(s);
	char text[128], put[128], removed[128];

	snprintf(put, sizeof(put), "FDSTORE=1\nFDNAME=shutdown-lock.%d\nFDPOLL=0", getpid());
	snprintf(removed, sizeof(removed), "FDSTOREREMOVE=1\nFDNAME=shutdown-lock.%d", getpid());
	logindscene_open(s, &options);
	logindscene_await(s, "limit=5000 ");
	receive(fd, text);
	assert_string_equal(text, put);
	/* A new one takes the place of the old one, which must not stay behind. */
	logindscene_forget(s);
	logind_take(s->logind);
	logindscene_await(s, "taken ");
	receive(fd, text);
	assert_string_equal(text, removed);
	receive(fd, text);
	assert_string_equal(text, put);
	/* The end of the process is not the end of the lock. */
	s->logind = logind_free(s->logind);
	receive(fd, text);
	assert_string_equal(text, "");
	logindscene_open(s, &options);
	logindscene_forget(s);
	logindscene_await(s, "taken ");
	receive(fd, text);
	logind_drop(s->logind);
	receive(fd, text);
	assert_string_equal(text, removed);
	/* One that an earlier process took is there under that process's number. */
	s->logind = logind_free(s->logind);
	back.lock = dup(STDERR_FILENO);
	logindscene_open(s, &back);
	logind_drop(s->logind);
	receive(fd, text);
	assert_string_equal(text, "FDSTOREREMOVE=1\nFDNAME=shutdown-lock.99");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

#define TEST(sentence, function)                                                  \
	{                                                                         \
		sentence, function, logindscene_setup, logindscene_teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("after a cancellation the lock is taken anew, and no other file closed",
		     test_cancelled),
		TEST("a cancellation while it is held changes nothing about it", test_held_on),
		TEST("a lock that logind does not know is no lock", test_taken_back),
		TEST("a lock is renewed without a gap, and not twice", test_renewed),
		TEST("a lock that was handed over is kept", test_handed_over),
		TEST("a lock that was handed over is lost where logind lists only others' of its "
		     "name",
		     test_handed_over_to_another),
		TEST("a lock of the same name is another's by its user or its process",
		     test_foreign),
		TEST("a lock that was handed over is no other's while logind still lists it",
		     test_renewed_after),
		TEST("its own lock is known where logind numbers processes differently",
		     test_pid_namespace),
		TEST("systemd keeps the lock until it is released", test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
