// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kernel/proc: masks, signalfds and calls are read from /proc's text, and
 * only from the lines that the kernel writes. */
#include <errno.h>
#include <stdio.h>
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

static void who_makes_a_child_or_runs_is_not_settled(void **state)
{
	static const char args[] = " 0x0 0x0 0x0 0x0 0x0 0x0 0x7ff 0x7ff";
	static const struct {
		long number; /* -2: it runs */
		bool settled;
	} rows[] = {
		{SYS_ppoll, true},  {SYS_wait4, true},		 {SYS_rt_sigtimedwait, true},
		{SYS_clone, false}, {SYS_clone3, false},	 {120, false},
		{190, false},	    {SYS_rt_sigprocmask, false}, {-1, false},
		{-2, false},
#ifdef SYS_vfork
		{SYS_vfork, false},
#endif
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct procsig_call call;
		char text[128] = "running\n";

		if (rows[i].number == -1)
			snprintf(text, sizeof(text), "-1 0x7ff 0x7ff\n");
		else if (rows[i].number >= 0)
			snprintf(text, sizeof(text), "%ld%s\n", rows[i].number, args);
		assert_int_equal(procsig_parse_call(text, strlen(text), &call), 0);
		if (procsig_is_settled(&call) != rows[i].settled)
			fail_msg("call %ld", rows[i].number);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("masks are read, or the text is refused", masks_are_read_or_refused),
		CLAIM("how often it slept is read where it is there",
		      how_often_it_slept_is_read_where_it_is_there),
		CLAIM("no prefix of a status is one", no_prefix_of_a_status_is_one),
		CLAIM("a signalfd tells its mask", a_signalfd_tells_its_mask),
		CLAIM("a call tells what is waited for", a_call_tells_what_is_waited_for),
		CLAIM("a thread that makes a child, or runs, is not settled",
		      who_makes_a_child_or_runs_is_not_settled),
		CLAIM("a wait channel tells a wait for signals", a_wait_channel_tells_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
