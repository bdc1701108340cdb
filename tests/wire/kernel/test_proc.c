// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kernel/proc: masks, signalfds and calls are read from /proc's text, and only
 * from the lines that the kernel writes; so are sockets of /proc/PID/net, and /proc/locks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/claim.h"
#include "wire/kernel/proc.h"

#define STATE "State:\tS (sleeping)\n"
#define PND   "SigPnd:\t0000000000000001\nShdPnd:\t0000000000004000\n"
#define BLK   "SigBlk:\t7be3c0fe28014a03\n"
#define IGN   "SigIgn:\t0000000000001000\n"
#define CGT   "SigCgt:\t00000001000004ec\n"

static const struct {
	const char *what, *text;
	int r;
} statuses[] = {
	{"a whole one", "Name:\tx\n" STATE PND BLK IGN CGT "CapInh:\t0\n", 0},
	{"no newline at the end", STATE PND BLK IGN "SigCgt:\t00000001000004ec", 0},
	{"a name that looks like a line", "Name:\tSigBlk:\\nSigBlk:\t0\n" STATE PND BLK IGN CGT, 0},
	{"another order", CGT IGN BLK PND STATE, 0},
	{"nothing", "", -EBADMSG},
	{"no state", PND BLK IGN CGT, -EBADMSG},
	{"an empty state", "State:\t\n" PND BLK IGN CGT, -EBADMSG},
	{"no mask of blocked ones", STATE PND IGN CGT, -EBADMSG},
	{"a mask cut short", STATE PND BLK IGN "SigCgt:\t", -EBADMSG},
	{"a mask of 17 digits", STATE PND BLK IGN "SigCgt:\t00000001000004ec0", -EBADMSG},
	{"a mask and something else", STATE PND BLK IGN "SigCgt:\t04ec 1", -EBADMSG},
	{"a mask in capitals", STATE PND BLK IGN "SigCgt:\t04EC", -EBADMSG},
	{"a negative mask", STATE PND BLK IGN "SigCgt:\t-4ec", -EBADMSG},
};

static void masks_are_read_or_refused(void **state)
{
	for (size_t i = 0; i < LEN(statuses); i++) {
		struct procsig_status s = {.state = '?'};
		int r = procsig_parse_status(statuses[i].text, strlen(statuses[i].text), &s);

		print_message("# %s\n", statuses[i].what);
		assert_int_equal(r, statuses[i].r);
		assert_int_equal(s.state, r ? '?' : 'S');
		if (r)
			continue;
		assert_int_equal(s.thread_pending, 1);
		assert_int_equal(s.shared_pending, 0x4000);
		assert_true(s.blocked == 0x7be3c0fe28014a03);
		assert_int_equal(s.ignored, 0x1000);
		assert_true(s.caught == 0x1000004ec);
	}
}

static void how_often_it_slept_is_read_where_it_is_there(void **state)
{
	static const char without[] = STATE PND BLK IGN CGT;
	static const char with[] = STATE PND BLK IGN CGT "voluntary_ctxt_switches:\t150\n"
							 "nonvoluntary_ctxt_switches:\t7\n";
	static const char hostile[] = STATE PND BLK IGN CGT
		"voluntary_ctxt_switches:\t1111111111111111111111111111111111\n";
	struct procsig_status s;

	assert_int_equal(procsig_parse_status(with, strlen(with), &s), 0);
	assert_int_equal(s.sleeps, 150);
	assert_int_equal(procsig_parse_status(without, strlen(without), &s), 0);
	assert_int_equal(s.sleeps, 0);
	assert_int_equal(procsig_parse_status(hostile, strlen(hostile), &s), 0);
	assert_int_equal(s.sleeps, 0);
}

static void no_prefix_of_a_status_is_one(void **state)
{
	static const char whole[] = STATE PND BLK IGN CGT;
	/* The last digits may be missing unnoticed: the kernel does not cut, the reader has room. */
	size_t enough = strlen(whole) - strlen("00000001000004ec\n");
	struct procsig_status s;

	for (size_t len = 0; len <= enough; len++)
		assert_int_equal(procsig_parse_status(whole, len, &s), -EBADMSG);
}

static const struct {
	const char *text;
	int r;
	uint64_t mask;
} fdinfos[] = {
	{"pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t7\nsigmask:\t0000000000004000\n", 0,
	 0x4000},
	{"sigmask:\tffffffffffffffff", 0, UINT64_MAX},
	{"pos:\t0\nflags:\t02\nmnt_id:\t15\n", -ENOENT, 0},
	{"pos:\tsigmask:\t1\n", -ENOENT, 0},
	{"sigmask:\t\n", -EBADMSG, 0},
	{"sigmask:\tx\n", -EBADMSG, 0},
	{"", -ENOENT, 0},
};

static void a_signalfd_tells_its_mask(void **state)
{
	for (size_t i = 0; i < LEN(fdinfos); i++) {
		uint64_t mask = 0;

		assert_int_equal(procsig_parse_signalfd(fdinfos[i].text, strlen(fdinfos[i].text),
							&mask),
				 fdinfos[i].r);
		assert_true(mask == fdinfos[i].mask);
	}
}

#define ARGS	 " 0x7ffd10 0x0 0x7ffd90 0x8 0x1 0x7f 0x7ffcf8 0x7f12\n"
#define BAD_SIZE " 0x7ffd10 0x0 0x7ffd90 0x10 0x1 0x7f 0x7ffcf8 0x7f12\n"

static const struct {
	const char *what, *text;
	long number; /* prefixed to the text when not 0 */
	int r;
	bool signal, child;
} calls[] = {
	{"it runs", "running\n", 0, 0, false, false},
	{"it sleeps outside of a call", "-1 0x7ffcf8 0x7f12\n", 0, 0, false, false},
	{"rt_sigtimedwait", ARGS, SYS_rt_sigtimedwait, 0, true, false},
	{"that of a 32-bit process", ARGS, 177, 0, true, false},
	{"that of a newer 32-bit process", ARGS, 421, 0, true, false},
	{"a set of another size", BAD_SIZE, SYS_rt_sigtimedwait, 0, false, false},
	{"wait4", ARGS, SYS_wait4, 0, false, true},
	{"waitid", ARGS, SYS_waitid, 0, false, true},
	{"futex", ARGS, SYS_futex, 0, false, false},
	{"nothing", "", 0, -EBADMSG, false, false},
	{"a word", "sleeping\n", 0, -EBADMSG, false, false},
	{"a number alone", "128", 0, -EBADMSG, false, false},
	{"one argument too few", "128 0x1 0x0 0x0 0x8 0x1", 0, -EBADMSG, false, false},
	{"an argument of 17 digits", "128 0x11111111111111111 0x0 0x0 0x8 0x1 0x1", 0, -EBADMSG,
	 false, false},
	{"a number of 19 digits", ARGS, 1000000000000000000, -EBADMSG, false, false},
};

static void a_call_tells_what_is_waited_for(void **state)
{
	for (size_t i = 0; i < LEN(calls); i++) {
		struct procsig_call call = {};
		uint64_t set = 0;
		char text[256] = "";
		int r;

		print_message("# %s\n", calls[i].what);
		if (calls[i].number)
			snprintf(text, sizeof(text), "%ld", calls[i].number);
		strcat(text, calls[i].text);
		r = procsig_parse_call(text, strlen(text), &call);
		assert_int_equal(r, calls[i].r);
		assert_int_equal(procsig_awaits_signal(&call, &set), calls[i].signal);
		assert_int_equal(procsig_awaits_child(&call), calls[i].child);
		assert_int_equal(set, calls[i].signal ? 0x7ffd10 : 0);
	}
}

static void who_makes_a_child_runs_or_sleeps_for_a_time_is_not_settled(void **state)
{
	static const struct {
		const char *call;
		long number;	  /* negative: of 32 bits */
		const char *args; /* NULL: that is the whole line */
		bool settled;
	} rows[] = {
		{"running", 0, NULL, false},
		{"-1 0x7ff 0x7ff", 0, NULL, false},
		{"read", SYS_read, "0x0 0x0 0x0 0x0 0x0", true},
		{"wait4", SYS_wait4, "0x0 0x0 0x0 0x0 0x0", true},
		{"sigwaitinfo", SYS_rt_sigtimedwait, "0x0 0x0 0x8 0x0 0x0", true},
		{"sigtimedwait", SYS_rt_sigtimedwait, "0x0 0x7ff 0x8 0x0 0x0", false},
		{"ppoll", SYS_ppoll, "0x1 0x0 0x0 0x0 0x0", true},
		{"ppoll for a time", SYS_ppoll, "0x1 0x7ff 0x0 0x0 0x0", false},
		{"pselect", SYS_pselect6, "0x1 0x1 0x1 0x0 0x0", true},
		{"pselect for a time", SYS_pselect6, "0x1 0x1 0x1 0x7ff 0x0", false},
		{"epoll_pwait", SYS_epoll_pwait, "0x7ff 0x1 0xffffffff 0x0 0x0", true},
		{"epoll_pwait for a time", SYS_epoll_pwait, "0x7ff 0x1 0x3e8 0x0 0x0", false},
		{"futex", SYS_futex, "0x80 0x0 0x0 0x0 0x0", true},
		{"futex for a time", SYS_futex, "0x80 0x0 0x7ff 0x0 0x0", false},
		{"nanosleep", SYS_nanosleep, "0x0 0x0 0x0 0x0 0x0", false},
		{"clock_nanosleep", SYS_clock_nanosleep, "0x0 0x7ff 0x0 0x0 0x0", false},
		{"clone", SYS_clone, "0x0 0x0 0x0 0x0 0x0", false},
		{"clone3", SYS_clone3, "0x0 0x0 0x0 0x0 0x0", false},
		{"clone of 32 bits", -120, "0x0 0x0 0x0 0x0 0x0", false},
		{"vfork of 32 bits", -190, "0x0 0x0 0x0 0x0 0x0", false},
		{"epoll_wait of 32 bits", -256, "0x7ff 0x1 0x3e8 0x0 0x0", false},
		{"sigprocmask", SYS_rt_sigprocmask, "0x0 0x0 0x0 0x0 0x0", false},
#ifdef SYS_vfork
		{"vfork", SYS_vfork, "0x0 0x0 0x0 0x0 0x0", false},
		{"poll", SYS_poll, "0x1 0xffffffff 0x0 0x0 0x0", true},
		{"poll for a time", SYS_poll, "0x1 0x3e8 0x0 0x0 0x0", false},
		{"epoll_wait", SYS_epoll_wait, "0x7ff 0x1 0xffffffffffffffff 0x0 0x0", true},
#endif
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct procsig_call call;
		char text[128];

		snprintf(text, sizeof(text), "%ld 0x3 %s 0x%s 0x7ff\n", labs(rows[i].number),
			 rows[i].args ? rows[i].args : "",
			 rows[i].number < 0 ? "7ff" : "7ffd00000000");
		if (!rows[i].args)
			snprintf(text, sizeof(text), "%s\n", rows[i].call);
		assert_int_equal(procsig_parse_call(text, strlen(text), &call), 0);
		if (procsig_is_settled(&call) != rows[i].settled)
			fail_msg("%s", rows[i].call);
	}
}

static const struct {
	const char *text;
	enum procsig_wchan wchan;
} wchans[] = {
	{"0", PROCSIG_WCHAN_NONE},
	{"", PROCSIG_WCHAN_NONE},
	{"do_sigtimedwait", PROCSIG_WCHAN_SIGNAL},
	{"do_sigtimedwait.isra.0", PROCSIG_WCHAN_SIGNAL},
	{"__x64_sys_rt_sigtimedwait", PROCSIG_WCHAN_SIGNAL},
	{"futex_wait_queue", PROCSIG_WCHAN_OTHER},
	{"sigtimedwai", PROCSIG_WCHAN_OTHER},
};

static void a_wait_channel_tells_a_wait(void **state)
{
	for (size_t i = 0; i < LEN(wchans); i++)
		assert_int_equal(procsig_parse_wchan(wchans[i].text, strlen(wchans[i].text)),
				 wchans[i].wchan);
}

#define TCP_END \
	":00000000 00:00000000 00000000     0        0 25478103 1 00000000f065ce5c 100 0 0 10 0\n"

static void test_tcp(void **state)
{
	static const struct {
		const char *line;
		struct net_socket want;
	} rows[] = {
		{"   0: 0100007F:1F90 00000000:0000 0A 00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .listens = true}},
		{"  12: 0100007F:1F90 0200007F:C350 01 00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .to = 50000, .is_established = true}},
		{"   1: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C350 01 "
		 "00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .to = 50000, .is_established = true}},
		{"   2: 0100007F:1F90 0200007F:C350 08 00000000" TCP_END,
		 {.inode = 25478103, .port = 8080, .to = 50000}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct net_socket got;

		assert_true(net_parse_tcp(rows[i].line, &got));
		assert_int_equal(got.inode, rows[i].want.inode);
		assert_int_equal(got.port, rows[i].want.port);
		assert_int_equal(got.to, rows[i].want.to);
		assert_int_equal(got.listens, rows[i].want.listens);
		assert_int_equal(got.is_established, rows[i].want.is_established);
	}
}

#define UNIX "0000000000000000: 00000003 00000000 "

static void test_unix(void **state)
{
	struct net_socket got;

	assert_true(net_parse_unix(UNIX "00000000 0001 03 23225 /run/app.sock\n", &got));
	assert_int_equal(got.inode, 23225);
	assert_true(got.is_established && got.is_accepted);
	assert_true(net_parse_unix(UNIX "00010000 0001 01 7 /run/app.sock\n", &got));
	assert_false(got.is_established);
	assert_true(net_parse_unix(UNIX "00000000 0001 03 7\n", &got));
	assert_false(got.is_accepted);
	/* Clients of a bus have names. */
	assert_true(net_parse_unix(UNIX "00000000 0001 03 7 @1234/bus/systemd/system\n", &got));
	assert_false(got.is_accepted);
	assert_false(net_parse_unix(UNIX "00000000 0002 03 7 /run/log\n", &got));
}

static void test_odd(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n",
		"Num       RefCount Protocol Flags    Type St Inode Path\n",
		": : : :",
		"0: x:y z",
		"   0: 0100007F:1F90 0200007F",
		"\xff\xfe\x00",
	};
	struct net_socket got;

	for (size_t i = 0; i < LEN(lines); i++) {
		assert_false(net_parse_tcp(lines[i], &got));
		assert_false(net_parse_unix(lines[i], &got));
	}
}

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		struct locks_line want;
	} rows[] = {
		{"1: POSIX  ADVISORY  WRITE 4242 08:01:131 0 EOF\n",
		 {.number = 1, .pid = 4242, .inode = 131}},
		{"17: FLOCK  ADVISORY  READ  7 fe:00:131 0 EOF\n",
		 {.number = 17, .pid = 7, .inode = 131}},
		{"1: -> FLOCK  ADVISORY  WRITE 4243 08:01:131 0 EOF\n",
		 {.number = 1, .waits = true, .pid = 4243, .inode = 131}},
		{"1:  -> POSIX  ADVISORY  WRITE 4244 08:01:131 0 EOF\n",
		 {.number = 1, .waits = true, .pid = 4244, .inode = 131}},
		{"2: OFDLCK ADVISORY  READ -1 fe:00:403324 100 101\n",
		 {.number = 2, .inode = 403324}},
		{"3: LEASE  ACTIVE    READ 9 08:01:131 0 EOF\n",
		 {.number = 3, .pid = 9, .inode = 131}},
		{"4: FLOCK  ADVISORY  WRITE 5 <none>:0 0 EOF\n", {.number = 4, .pid = 5}},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct locks_line got;

		assert_true(locks_parse(rows[i].line, &got));
		assert_int_equal(got.number, rows[i].want.number);
		assert_int_equal(got.waits, rows[i].want.waits);
		assert_int_equal(got.pid, rows[i].want.pid);
		assert_int_equal(got.inode, rows[i].want.inode);
	}
}

static void test_others(void **state)
{
	static const char *const lines[] = {"",
					    "\n",
					    "1:",
					    "1: ->",
					    "x: FLOCK ADVISORY WRITE 1",
					    "1: FLOCK ADVISORY",
					    "1: FLOCK ADVISORY WRITE many"};
	struct locks_line got;

	for (size_t i = 0; i < LEN(lines); i++)
		assert_false(locks_parse(lines[i], &got));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("masks are read, or the text is refused", masks_are_read_or_refused),
		CLAIM("how often it slept is read where it is there",
		      how_often_it_slept_is_read_where_it_is_there),
		CLAIM("no prefix of a status is one", no_prefix_of_a_status_is_one),
		CLAIM("a signalfd tells its mask", a_signalfd_tells_its_mask),
		CLAIM("a call tells what is waited for", a_call_tells_what_is_waited_for),
		CLAIM("a thread that makes a child, runs or sleeps for a time is not settled",
		      who_makes_a_child_runs_or_sleeps_for_a_time_is_not_settled),
		CLAIM("a wait channel tells a wait for signals", a_wait_channel_tells_a_wait),
		CLAIM("of TCP the ports, the state and the inode are read", test_tcp),
		CLAIM("of UNIX sockets those are accepted that have a path and a peer", test_unix),
		CLAIM("what is no line of a table is none", test_odd),
		CLAIM("a lock has who took it, and who waits", test_lines),
		CLAIM("another line is none", test_others),
	};

	return cmocka_run_group_tests_name("wire/kernel/proc", tests, NULL, NULL);
}
